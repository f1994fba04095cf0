"""What comes before a client's first word: a proxy's header, and TLS.

Knows wires, and by the first bytes what a client begins with. Does not know what it goes on to say. The rules
it keeps:

- What is read before a client is served is bounded, in bytes and in seconds.
- A port takes both TLS and plain connections, so that no client of old is cut off, unless TLS is demanded.
- The computation of a handshake, which takes a millisecond or more, is done by threads, for a few clients at
  a time, and only where a whole record has come: not for each byte. Games go on meanwhile.
"""

import logging
import ssl
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TypeAlias

import trio

from adapters.client.dialect import Serve
from adapters.net.http import TLS, by_http, is_http
from adapters.net.tls import Session, whole_records
from adapters.net.wire import Wire
from gateway.access.certificates import Certificate
from gateway.access.proxies import LONGEST, Network, header_in, is_trusted
from gateway.runtime.throttle import Throttle

SILENCE = 300.0
"""Seconds until the first byte of a client that may write lines: as long as people may take."""
PROXY_LIMIT = 5.0
"""Seconds that a proxy has for its header."""
HANDSHAKE_LIMIT = 60.0
"""Seconds for a handshake of TLS, from its first byte, in which a busy server answers, too."""
HANDSHAKES = 8
"""How many are computed at once. One that is done makes room in the next turn of the loop only, which may be
long: with a single one, clients that begin handshakes and go would keep others waiting for a minute."""
HANDSHAKE_BYTES = 64 * 1024
"""Bytes that a client may send in a handshake."""
LOG_PERIOD = 60.0
"""Seconds between two lines of the log about headers that are missing."""

_BY_HTTP = by_http(
    "426 Upgrade Required",
    "This server wants TLS: use https:// or wss:// instead.",
    "Upgrade: TLS/1.2, HTTP/1.1\r\nConnection: Upgrade, close",
)
_BY_LINE = b"Error TLS_REQUIRED\n"

Guard: TypeAlias = Callable[[Serve], Serve]
"""Returns what serves a client unless it is refused."""

logger = logging.getLogger(__name__)


def _let_pass(serve: Serve) -> Serve:
    return serve


class Preamble:
    """The way into a server whose clients may come by TLS, or by way of a proxy."""

    def __init__(
        self,
        certificate: Certificate | None,
        counts: Counter[tuple[str, str]],
        *,
        tls_only: bool = False,
        proxied: bool = False,
        trusted: Sequence[Network] = (),
    ) -> None:
        """`proxied` demands the PROXY header, and `tls_only` TLS, for which `certificate` is needed.

        Of `trusted` proxies it is known later for whom they speak.
        Connections that are not let in are counted into `counts`, as ``entry_refused`` and why.
        """
        self.certificate = certificate
        """What new connections with TLS get; it may be read again."""
        self._counts = counts
        self._tls_only = tls_only
        self._proxied = proxied
        self._trusted = trusted
        self._threads = trio.CapacityLimiter(HANDSHAKES)
        self._log = Throttle(LOG_PERIOD)

    @property
    def is_plain(self) -> bool:
        """Whether every connection is served as it comes."""
        return self.certificate is None and not self._proxied

    def before(self, serve: Serve, silence: float = SILENCE, guard: Guard = _let_pass) -> Serve:
        """Return what lets a client in and serves it.

        Where TLS is possible the client has `silence` seconds for its first byte. `guard` may refuse a client
        at once, and again when the PROXY header has said where it is.
        """
        if self.certificate is not None:
            serve = partial(self._serve, partial(self._choose, self.certificate, silence), serve)
        if self._proxied:
            serve = partial(self._serve, self._read_header, serve)
        return guard(serve)

    async def _serve(self, admit: Callable[[Wire], Awaitable[bool]], serve: Serve, wire: Wire) -> None:
        try:
            is_in = await admit(wire)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            is_in = False
        if is_in:
            await serve(wire)
        else:
            await wire.linger()

    async def _read_header(self, wire: Wire) -> bool:
        """Take the PROXY header off; return whether there was one."""
        why, data = "no PROXY header came in time", b""
        with trio.move_on_after(PROXY_LIMIT):
            try:
                while (header := header_in(data)) is None:
                    if len(data) > LONGEST or not (more := await wire.receive_some()):
                        raise ValueError("the PROXY header has no end")
                    data += more
            except ValueError as error:
                why = str(error)
            else:
                why, wire.address = "", header.address or wire.address
                wire.push_back(header.rest)
        if why:
            self._refuse("no_proxy_header")
            self._log_missing(wire.address, why)
            return False
        if not is_trusted(wire.address, self._trusted):
            await wire.count_at(wire.origin)
        return True

    def _log_missing(self, address: str, why: str) -> None:
        if self._log.passes(trio.current_time()):
            logger.warning(
                "a connection from %s was refused: %s",
                *(address or "nowhere", why),
                extra={"event": "no_proxy_header", "address": address, "error": why},
            )

    async def _choose(self, certificate: Certificate, silence: float, wire: Wire) -> bool:
        """Begin TLS if the client does; return whether it may go on."""
        data = b""
        with trio.move_on_after(silence):
            data = await wire.receive_some()
        if not data:
            return False
        wire.push_back(data)
        if data.startswith(TLS):
            return await self._shake_hands(wire, certificate.context)
        if self._tls_only:
            self._refuse("no_tls")
            await wire.send_all(_BY_LINE if is_http(data) is False else _BY_HTTP)
        return not self._tls_only

    async def _shake_hands(self, wire: Wire, context: ssl.SSLContext) -> bool:
        session, size, rest = Session(context), 0, b""
        with trio.move_on_after(HANDSHAKE_LIMIT):
            try:
                is_done = False
                while not is_done and (data := await wire.receive_some()):
                    size += len(data)
                    if size > HANDSHAKE_BYTES:
                        break
                    rest += data
                    if (end := whole_records(rest)) == 0:
                        continue
                    session.incoming.write(rest[:end])
                    rest = rest[end:]
                    is_done = await self._in_thread(session.shake_hands)
                    await wire.send_all(session.outgoing.read())
                if is_done:
                    session.incoming.write(rest)
                    wire.secure(session)
                    wire.only_tls = self._tls_only
                    return True
            except ssl.SSLError:
                await wire.send_all(session.outgoing.read())  # why
        self._refuse("no_handshake")
        return False

    async def _in_thread(self, work: Callable[[], bool]) -> bool:
        return await trio.to_thread.run_sync(work, limiter=self._threads)

    def _refuse(self, why: str) -> None:
        self._counts["entry_refused", why] += 1
