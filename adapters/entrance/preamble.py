"""What precedes a client's first message: a proxy's header, and TLS.

Knows sockets, and the first bytes of each protocol. Does not know what a client sends after them. All that is
read before a client is served is bounded in bytes and in seconds.
"""

import logging
import ssl
from collections import Counter
from collections.abc import Sequence

import trio

from adapters.entrance.admission import Admitted
from adapters.net.socket import BROKEN, Socket
from adapters.net.tls import TLS, Session, whole_records
from gateway.access.certificates import Certificate
from gateway.access.heads import answer, is_http
from gateway.access.proxies import begins_with_header, header_in, is_trusted
from gateway.runtime.addresses import Network
from gateway.runtime.throttle import Throttle

SILENCE = 300.0
"""Seconds until the first byte of a client that may send lines: a person may type them."""
FIRST_BYTES = 1.0
"""Seconds in which a refused client can show that it begins TLS, if the port takes TLS."""
PROXY_LIMIT = 5.0
"""Seconds that a proxy has for its header."""
HANDSHAKE_LIMIT = 60.0
"""Seconds for a handshake of TLS, from its first byte, which includes the delays of a busy server."""
HANDSHAKES = 8
"""The most handshakes that are computed at once. A finished one makes room only in the next turn of the event
loop, which may take long. With a single one, clients that begin handshakes and leave would delay others by a
minute."""
HANDSHAKE_BYTES = 64 * 1024
"""The most bytes that a client may send in a handshake."""

_BY_HTTP = answer(
    426,
    b"This server wants TLS: use https:// or wss:// instead.\n",
    {"Upgrade": "TLS/1.2, HTTP/1.1", "Connection": "Upgrade, close"},
)
_BY_LINE = b"Error TLS_REQUIRED\n"
_ACCESS_DENIED = b"\x15\x03\x03\0\2\2\x31"
"""A fatal alert of TLS (RFC 8446, 6.2), in a record of its own."""

logger = logging.getLogger(__name__)


class Preamble:
    """What may precede the dialect on a connection.

    A port takes both TLS and plain connections, for clients without TLS, unless TLS is demanded.
    """

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

        `trusted` proxies give their client's address later, by HTTP. Refused connections are counted in
        `counts`, as ``entry_refused`` and the reason.
        """
        self.certificate = certificate
        """The certificate for new connections with TLS. It may be reloaded."""
        self.tls_only = tls_only
        self._counts = counts
        self._proxied = proxied
        self._trusted = trusted
        self._threads = trio.CapacityLimiter(HANDSHAKES)
        self._log = Throttle()

    @property
    def is_plain(self) -> bool:
        """Whether connections need neither TLS nor a header."""
        return self.certificate is None and not self._proxied

    async def passed(self, sock: Socket, entry: Admitted, silence: float = SILENCE) -> bool:
        """Read what precedes a client's first message; return whether the client may go on.

        If TLS is possible, the client has `silence` seconds for its first byte. Raises NotLetIn if the PROXY
        header gives an address that has reached its limit.
        """
        try:
            if self._proxied and not await self._read_header(sock, entry):
                return False
            return self.certificate is None or await self._begin_tls(sock, self.certificate, silence)
        except BROKEN:
            return False

    async def refuse(self, sock: Socket, words: bytes, *, has_passed: bool = False) -> None:
        """Send a refused client the reason, and hang up. A client that begins TLS gets an alert instead.

        With `has_passed`, the client is known to be past the preamble.
        """
        try:
            data = b""
            if self.certificate is not None and not sock.is_secure and not has_passed:
                with trio.move_on_after(FIRST_BYTES):
                    data = await sock.receive_some()
            if data.startswith(TLS):
                words = _ACCESS_DENIED
            if not begins_with_header(data):  # after a broken PROXY header, bytes have no meaning
                sock.write(words)
        except BROKEN:
            pass
        await sock.linger()

    async def _read_header(self, sock: Socket, entry: Admitted) -> bool:
        """Remove the PROXY header; return whether there was a valid one."""
        why, data = "no PROXY header came in time", b""
        with trio.move_on_after(PROXY_LIMIT):
            try:
                while (header := header_in(data)) is None:
                    if not (more := await sock.receive_some()):
                        raise ValueError("the PROXY header has no end")
                    data += more
            except ValueError as error:
                why = str(error)
            else:
                why, sock.address = "", header.address or sock.address
                sock.push_back(header.rest)
        if why:
            self._count("no_proxy_header")
            if self._log.passes(trio.current_time()):
                logger.warning(
                    "a connection from %s was refused: %s",
                    *(sock.address or "nowhere", why),
                    extra={"event": "no_proxy_header", "address": sock.address, "error": why},
                )
            return False
        if not is_trusted(sock.address, self._trusted):
            await entry.move_to(sock.origin)
        return True

    async def _begin_tls(self, sock: Socket, certificate: Certificate, silence: float) -> bool:
        """Begin TLS if the client does; return whether the client may go on."""
        data = b""
        with trio.move_on_after(silence):
            data = await sock.receive_some()
        if not data:
            return False
        sock.push_back(data)
        if data.startswith(TLS):
            return await self._shake_hands(sock, certificate.context)
        if self.tls_only:
            self._count("no_tls")
            await sock.send_all(_BY_LINE if is_http(data) is False else _BY_HTTP)
        return not self.tls_only

    async def _shake_hands(self, sock: Socket, context: ssl.SSLContext) -> bool:
        """Do the handshake; return whether it succeeded.

        Threads compute it, for a few clients at a time, because that takes a millisecond or more. They start
        only when a whole record has arrived, not for each byte. Games go on meanwhile.
        """
        session, size, rest = Session(context), 0, b""
        with trio.move_on_after(HANDSHAKE_LIMIT):
            try:
                while data := await sock.receive_some():
                    size += len(data)
                    if size > HANDSHAKE_BYTES:
                        break
                    rest += data
                    if (end := whole_records(rest)) == 0:
                        continue
                    records, rest = rest[:end], rest[end:]
                    is_done = await trio.to_thread.run_sync(
                        session.shake_hands, records, limiter=self._threads
                    )
                    await sock.send_all(session.outgoing())
                    if is_done:
                        sock.secure(session, rest)
                        return True
            except ssl.SSLError as error:
                # One of trio's frames in it refers to the error: a cycle that keeps the socket and the
                # session.
                error.__traceback__ = None
                await sock.send_all(session.outgoing())  # the alert with the reason
        self._count("no_handshake")
        return False

    def _count(self, why: str) -> None:
        self._counts["entry_refused", why] += 1
