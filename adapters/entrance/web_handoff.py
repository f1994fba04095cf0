"""Taking a browser's connection to the process that serves the page.

Knows wires; does not know that process, but how to give it a socket. A plain connection is given away, and
costs this process nothing from then on. One with TLS stays: its bytes are relayed to a socket of which the
process has the other end. The rules it keeps:

- Relays are bounded, in bytes and in number, for each address and for all.
- A relay does its work in turns with clients that send much.
- A relay ends when either end does, or does not take what it is sent.
"""

import resource
import socket
from collections import Counter
from collections.abc import Sequence

import trio

from adapters.client.upgrade import PlainRequest
from adapters.net.fd_passing import FdPassing
from adapters.net.http import by_http, with_hsts
from adapters.net.wire import Wire
from gateway.access.proxies import Network, is_trusted

MOST_RELAYS = 256
"""Connections that are relayed at once."""
SHARES = 4
"""One of so many parts of them is what a single address may have."""
FILES_PER_RELAY = 32
"""Of so many files that the process may have open, one is for a relay: each takes one more than a client."""
SEND_LIMIT = 30.0
"""Seconds that either end has to take one piece."""
_PIECE = 1 << 14

_BUSY = by_http("503 Service Unavailable", "The page is busy. Try again in a while.")


class WebHandoff:
    """The way to the page, for connections that this process accepted."""

    def __init__(
        self, passing: FdPassing, counts: Counter[tuple[str, str]], trusted: Sequence[Network] = ()
    ) -> None:
        """Connections that are not taken are counted into `counts`.

        `trusted` proxies may have more relays than other addresses.
        """
        self.passing = passing
        self._counts = counts
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        self._most = (
            MOST_RELAYS if files == resource.RLIM_INFINITY else min(MOST_RELAYS, files // FILES_PER_RELAY)
        )
        self._trusted = trusted
        self._relays = Counter[str]()
        """By the address of the client."""

    async def serve(self, wire: Wire) -> None:
        """Serve a connection to the page's own port."""
        try:
            data = b""
            with trio.move_on_after(wire.limits.request):
                data = await wire.receive_some()
            if data:
                await self.take(wire, PlainRequest(data, wire.is_secure))
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        finally:
            await wire.linger()

    async def take(self, wire: Wire, request: PlainRequest) -> None:
        """Let the page's process answer a request, and all that follow. Raises what wires raise."""
        try:
            if wire.is_secure:
                await self._relay(wire, request)
            else:
                await self._hand_over(wire.fileno(), wire, request)
                wire.close()  # without a word to the client, whom another serves now
        except OSError:
            self._counts["page_refused", ""] += 1
            await wire.send_all(with_hsts(_BUSY) if wire.only_tls else _BUSY)

    async def _hand_over(self, number: int, wire: Wire, request: PlainRequest) -> None:
        marks = {"is_secure": request.is_secure, "is_single": request.is_single}
        await self.passing.give(number, request.begun, wire.address, **marks)

    async def _relay(self, wire: Wire, request: PlainRequest) -> None:
        origin, relays = wire.origin, self._relays
        most = self._most if is_trusted(wire.address, self._trusted) else max(1, self._most // SHARES)
        if relays[origin] >= most or relays.total() >= self._most:
            raise BlockingIOError
        relays[origin] += 1
        try:
            await wire.count_at(None)  # it has a place here in place of a bot's
            ours, theirs = socket.socketpair()
            async with trio.SocketStream(trio.socket.from_stdlib_socket(ours)) as stream:
                with theirs:
                    await self._hand_over(theirs.fileno(), wire, request)
                await _exchange(wire, stream)
        finally:
            relays[origin] -= 1
            if not relays[origin]:
                del relays[origin]


async def _exchange(wire: Wire, stream: trio.SocketStream) -> None:
    """Relay both ways until the page's end has ended, or either is gone."""

    async def to_page() -> None:
        while data := await wire.receive_some():
            await wire.turn()
            with trio.fail_after(SEND_LIMIT):
                await stream.send_all(data)
        await stream.send_eof()

    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(to_page)
            while data := await stream.receive_some(_PIECE):
                await wire.turn()
                with trio.fail_after(SEND_LIMIT):
                    await wire.send_all(data)
            nursery.cancel_scope.cancel()
    except* (trio.BrokenResourceError, trio.ClosedResourceError, trio.TooSlowError):
        pass
