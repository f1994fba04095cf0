"""Hands a browser's connection to the web process, which serves the page.

Knows sockets, and how to pass one to that process. The socket of a plain connection is passed on, and this
process closes its own copy. A TLS connection stays in this process, which relays its bytes to a socket that
it has passed on. Each relay buffers few bytes. The number of relays is limited, in total and for each
address. Relays use the same time budget as clients that send many messages at once.
"""

import resource
import socket
from collections import Counter
from collections.abc import Sequence

import trio

from adapters.client.accepted import TURN
from adapters.entrance.admission import Admitted
from adapters.entrance.handshake import PlainRequest
from adapters.net.fd_passing import FdPassing
from adapters.net.socket import BROKEN, Socket
from gateway.access.heads import try_later
from gateway.access.proxies import is_trusted
from gateway.runtime.addresses import Network

MOST_RELAYS = 256
"""The most connections that are relayed at once."""
SHARES = 4
"""A single address may use at most 1 / `SHARES` of the relays."""
FILES_PER_RELAY = 32
"""One relay is allowed for each 32 files that the process may have open. A relay needs one more file than a
client does."""
SEND_LIMIT = 30.0
"""Seconds that either end has to accept one piece."""
_PIECE = 1 << 14

_BUSY = "The page is busy. Try again in a while."


class WebHandoff:
    """Hands connections that this process accepted to the web process."""

    def __init__(
        self,
        passing: FdPassing,
        counts: Counter[tuple[str, str]],
        trusted: Sequence[Network] = (),
        *,
        has_hsts: bool = False,
    ) -> None:
        """Hand connections over by `passing`. Count refused connections in `counts`.

        Proxies in `trusted` may use more relays than other addresses.
        """
        self.passing = passing
        self._has_hsts = has_hsts
        self._counts = counts
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        self._most = (
            MOST_RELAYS if files == resource.RLIM_INFINITY else min(MOST_RELAYS, files // FILES_PER_RELAY)
        )
        self._trusted = trusted
        self._relays = Counter[str]()
        """The number of relays, by the address of the client."""

    async def serve(self, sock: Socket, entry: Admitted) -> None:
        """Serve a connection to the page's own port."""
        try:
            data = b""
            with trio.move_on_after(entry.limits.request):
                data = await sock.receive_some()
            if data:
                await self.take(sock, entry, PlainRequest(data, sock.is_secure))
        except BROKEN:
            pass
        finally:
            await sock.linger()

    async def take(self, sock: Socket, entry: Admitted, request: PlainRequest) -> None:
        """Hand a connection to the web process, which answers its requests.

        Raises the exceptions of `Socket`.
        """
        try:
            if sock.is_secure:
                await self._relay(sock, entry, request)
            else:
                await self._hand_over(sock.fileno(), sock, request)
                sock.close()  # `close` does not end the stream, which the other process now serves
        except OSError:
            self._counts["page_refused", ""] += 1
            await sock.send_all(try_later(503, _BUSY, hsts=self._has_hsts and sock.is_secure))

    async def _hand_over(self, number: int, sock: Socket, request: PlainRequest) -> None:
        marks = {"is_secure": request.is_secure, "is_single": request.is_single}
        await self.passing.give(number, request.begun, sock.address, **marks)

    async def _relay(self, sock: Socket, entry: Admitted, request: PlainRequest) -> None:
        origin, relays = sock.origin, self._relays
        most = self._most if is_trusted(sock.address, self._trusted) else max(1, self._most // SHARES)
        if relays[origin] >= most or relays.total() >= self._most:
            raise BlockingIOError
        relays[origin] += 1
        try:
            entry.leave()  # from now on the connection counts as a relay, not as a bot's connection
            ours, theirs = socket.socketpair()
            async with trio.SocketStream(trio.socket.from_stdlib_socket(ours)) as stream:
                with theirs:
                    await self._hand_over(theirs.fileno(), sock, request)
                await _exchange(sock, stream)
        finally:
            relays[origin] -= 1
            if not relays[origin]:
                del relays[origin]


async def _exchange(sock: Socket, stream: trio.SocketStream) -> None:
    """Relay both ways until the page's stream has ended, or either end is gone."""

    async def to_page() -> None:
        while data := await sock.receive_some():
            await sock.turns.wait(TURN)
            with trio.fail_after(SEND_LIMIT):
                await stream.send_all(data)
        await stream.send_eof()

    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(to_page)
            while data := await stream.receive_some(_PIECE):
                await sock.turns.wait(TURN)
                with trio.fail_after(SEND_LIMIT):
                    await sock.send_all(data)
            nursery.cancel_scope.cancel()
    except* (*BROKEN, trio.TooSlowError):
        pass
