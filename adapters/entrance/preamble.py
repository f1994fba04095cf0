"""Reads the bytes that precede a client's first message: a proxy's header, and the TLS handshake.

Knows sockets, and the first bytes of each protocol. Does not know what a client sends after them. All reading
here has limits in bytes and in seconds.
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
"""Seconds that a client has for its first byte if it may send lines. A person may be typing them."""
FIRST_BYTES = 1.0
"""Seconds to wait for the first byte of a refused client, if the port takes TLS. That byte shows whether the
client begins TLS."""
PROXY_LIMIT = 5.0
"""Seconds that a proxy has for its header."""
HANDSHAKE_LIMIT = 60.0
"""Seconds that a TLS handshake may take after its first byte, including the delays of a busy server."""
HANDSHAKES = 8
"""The most handshakes that are computed at once. A finished handshake makes room for another only in the next
turn of the event loop, and a turn may take long. If the limit were 1, clients that begin handshakes and leave
could delay other clients by a minute."""
HANDSHAKE_BYTES = 64 * 1024
"""The most bytes that a client may send in a handshake."""

_BY_HTTP = answer(
    426,
    b"This server wants TLS: use https:// or wss:// instead.\n",
    {"Upgrade": "TLS/1.2, HTTP/1.1", "Connection": "Upgrade, close"},
)
_BY_LINE = b"Error TLS_REQUIRED\n"
_ACCESS_DENIED = b"\x15\x03\x03\0\2\2\x31"
"""A fatal alert of TLS (RFC 8446, 6.2), as a whole record."""

logger = logging.getLogger(__name__)


class Preamble:
    """Reads what may precede the dialect on a connection.

    A port with a certificate takes both TLS and plain connections, unless TLS is required.
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
        """Require a PROXY header if `proxied`, and TLS if `tls_only`; TLS needs a `certificate`.

        Proxies in `trusted` give a client's address later, in an HTTP header. Refused connections are counted
        in `counts`, as ``entry_refused`` and the reason.
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
        """Whether the server takes neither TLS nor PROXY headers."""
        return self.certificate is None and not self._proxied

    async def passed(self, sock: Socket, entry: Admitted, silence: float = SILENCE) -> bool:
        """Read the bytes that precede a client's first message; return whether to serve the client.

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

        `has_passed` says whether the client's preamble was already read.
        """
        try:
            data = b""
            if self.certificate is not None and not sock.is_secure and not has_passed:
                with trio.move_on_after(FIRST_BYTES):
                    data = await sock.receive_some()
            if data.startswith(TLS):
                words = _ACCESS_DENIED
            if not begins_with_header(data):  # a client behind a PROXY header may expect TLS
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
        """Begin TLS if the client does; return whether to serve the client."""
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
        """Do the TLS handshake; return whether it succeeded.

        A step takes a millisecond or more. So that games go on, threads compute the steps, for at most
        `HANDSHAKES` clients at once. A step begins only when a whole record has arrived, not for each byte.
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
                # The traceback has a frame of trio that refers to the error. This cycle would keep the socket
                # and the session alive.
                error.__traceback__ = None
                await sock.send_all(session.outgoing())  # the alert with the reason
        self._count("no_handshake")
        return False

    def _count(self, why: str) -> None:
        self._counts["entry_refused", why] += 1
