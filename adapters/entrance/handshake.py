"""Reads the head of an HTTP request, and opens the websocket that it asks for.

A valid request for a websocket is accepted (RFC 6455, 4.2). A browser is redirected to the page, any other
client gets a short text that says how to connect, and an invalid request gets an error. If the page shares
the port, requests for the page are passed on unchanged.
"""

import logging
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import h11
import trio
from wsproto.utilities import generate_accept_token

from adapters.client.accepted import Accepted
from adapters.client.framing import WebSocket
from adapters.entrance.admission import Admitted
from adapters.net.socket import BROKEN, Socket
from gateway.access.heads import (
    LONGEST_HEAD,
    answer,
    head,
    host_in,
    may_play,
    read_request,
    try_later,
    value_of,
    with_hsts,
)
from gateway.access.proxies import client_behind, is_trusted
from gateway.runtime.addresses import Network
from gateway.runtime.throttle import Throttle

_METHODS = (b"GET", b"HEAD")
_HEADERS = {
    405: {"Allow": "GET, HEAD"},
    426: {"Upgrade": "websocket", "Sec-WebSocket-Version": "13"},
}
"""Additional headers of an answer, by its status."""
_PROXIED = frozenset((b"forwarded", b"via", b"x-forwarded-for"))
"""Headers that only a proxy adds."""
_FOREIGN = (
    "A page of another website may not play here, unless the server is started with --allow-origin and the"
    " page's origin, such as https://example.org; a bot needs no header Origin.\n"
)
_LONGEST_LOGGED = 100
_KEY = re.compile(rb"[A-Za-z0-9+/]{22}==")
"""16 bytes in base64 (RFC 6455, 4.2.1)."""
_BEARER = re.compile(rb"bearer +([^ ]+)", re.IGNORECASE)
"""A token in a header (RFC 6750, 2.1)."""

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Websites:
    """The websites whose pages may open a websocket: the host of the request, and those in `allowed`.

    Without this check, any website could make its visitors' browsers play here (RFC 6455, 10.2).
    """

    allowed: Collection[str] = ()
    """Origins such as ``https://example.org``."""
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Counts refused pages under the key ``("entry_refused", "foreign_origin")``."""
    _log: Throttle = field(default_factory=Throttle)

    def may_open(self, origin: str, hosts: Iterable[str], address: str) -> bool:
        """Return whether a page of the website `origin` may open a websocket; count and log a refusal.

        Return True for an empty `origin`: the client is not a browser. `hosts` are this server's names in the
        request.
        """
        if not origin or may_play(origin, hosts, self.allowed):
            return True
        self.counts["entry_refused", "foreign_origin"] += 1
        if self._log.passes(trio.current_time()):
            website = origin[:_LONGEST_LOGGED]
            logger.info(
                "a page of the website %r, in a browser at %s, may not play here: see --allow-origin",
                *(website, address or "nowhere"),
                extra={"event": "foreign_origin", "website": website, "address": address},
            )
        return False


@dataclass(frozen=True, slots=True)
class PlainRequest:
    """A connection whose request does not ask for a websocket."""

    begun: bytes
    """The bytes of the request that were read so far."""
    is_secure: bool = False
    """Whether the client uses HTTPS, to this server or to a trusted proxy."""
    is_single: bool = False
    """Whether the connection is passed on for this request only, because a proxy sent it. The proxy's next
    request may ask for a websocket."""


PassOn: TypeAlias = Callable[[Socket, Admitted, PlainRequest], Awaitable[None]]
"""Passes a connection on to the process that serves plain requests."""


@dataclass(frozen=True, slots=True)
class HttpPort:
    """How a port answers requests."""

    text: str = ""
    """The answer to a client that does not ask for a websocket."""
    page: int | None = None
    """The port of the page on the same host, for browsers; None without a page."""
    trusted: Sequence[Network] = ()
    """Proxies that are trusted to give a client's address."""
    websites: Websites = field(default_factory=Websites)
    """The websites whose pages may open a websocket."""
    pass_on: PassOn | None = None
    """Passes on requests that do not ask for a websocket. If it is None, this port answers them."""
    is_closed: Callable[[], bool] = lambda: False
    """Returns whether the server is stopping, and therefore refuses requests for a websocket."""
    has_hsts: bool = False
    """Whether answers over TLS have the header Strict-Transport-Security (``--tls-only``)."""


async def accept_websocket(sock: Socket, entry: Admitted, port: HttpPort) -> Accepted | None:
    """Read a request; return the websocket that it asks for. Otherwise answer the request and return None.

    Raises NotLetIn if a proxy gives the client's address, and that address has reached its limit.
    """
    peer = sock.address
    try:
        with trio.move_on_after(entry.limits.request) as patience:
            found = await _read_request(sock, port)
        if patience.cancelled_caught:
            entry.limits.reached("request-seconds", sock.origin)
            found = try_later(408, "The request did not come in time.")
        if sock.address != peer:
            await entry.move_to(sock.origin)
        if isinstance(found, _Wanted) and port.is_closed():
            found = try_later(503, "The server is stopping. Try again later.")
        has_hsts = port.has_hsts and sock.is_secure
        if isinstance(found, _Wanted):
            sock.write(with_hsts(found.switch) if has_hsts else found.switch)
            sock.push_back(found.early)
            return Accepted(sock, WebSocket(), entry.limits, found.target, found.token)
        if isinstance(found, PlainRequest):
            assert port.pass_on is not None
            await port.pass_on(sock, entry, found)
        else:
            await sock.send_all(with_hsts(found) if found and has_hsts else found)
    except BROKEN:
        pass
    await sock.linger()
    return None


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A request for a websocket."""

    target: str
    switch: bytes
    """The answer that opens the websocket."""
    early: bytes
    """The bytes that were read after the head."""
    token: str | None = field(default=None, repr=False)
    """The token in ``Authorization: Bearer``."""


async def _read_request(sock: Socket, port: HttpPort) -> bytes | _Wanted | PlainRequest:
    """Read a request; return the answer to it.

    Instead return a `_Wanted` if the request asks for a websocket, or a `PlainRequest` to pass it on.
    """
    http, begun = h11.Connection(h11.SERVER, LONGEST_HEAD), bytearray()

    async def receive() -> bytes:
        data = await sock.receive_some()
        begun.extend(data)
        return data

    try:
        request = await read_request(http, receive)
    except h11.RemoteProtocolError as error:
        return answer(error.error_status_hint, f"{error}\n".encode())
    if request is None:
        return b""
    is_secure, hosts = sock.is_secure, [value_of(request, b"host")]
    if is_trusted(sock.address, port.trusted):
        is_secure = is_secure or value_of(request, b"x-forwarded-proto").lower() == "https"
        hosts += [each.strip() for each in value_of(request, b"x-forwarded-host").split(",")]
        sock.address = client_behind(sock.address, value_of(request, b"x-forwarded-for"), port.trusted)
    refusal = _refusal(request)
    if refusal is None and not port.websites.may_open(value_of(request, b"origin"), hosts, sock.address):
        refusal = 403, _FOREIGN
    if refusal is None:
        headers = dict(request.headers)
        bearer = _BEARER.fullmatch(headers.get(b"authorization", b""))
        token = None if bearer is None else bearer[1].decode("latin-1")
        accept = generate_accept_token(headers[b"sec-websocket-key"]).decode()
        switch = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Accept": accept}
        return _Wanted(request.target.decode("ascii"), head(101, switch), http.trailing_data[0], token)
    status, text = refusal
    if status in (200, 405) and port.pass_on is not None:
        is_single = any(name in _PROXIED for name, _ in request.headers)
        return PlainRequest(bytes(begun), is_secure, is_single)
    more = _HEADERS.get(status, {})
    if status == 200 and port.page is not None and _reads_html(request):
        host = host_in(hosts[0]) or sock.host
        status, place = 303, f"{'https' if is_secure else 'http'}://{host}:{port.page}/"
        more, text = {"Location": place}, f"The page is at {place}\n"
    return answer(status, (text or port.text).encode(), more, is_bare=request.method == b"HEAD")


def _reads_html(request: h11.Request) -> bool:
    """Return whether the client is a browser that shows pages."""
    return any(name == b"accept" and b"text/html" in value for name, value in request.headers)


def _refusal(request: h11.Request) -> tuple[int, str] | None:
    """Return the status and the text of the answer; None for a valid request for a websocket."""
    headers = dict(request.headers)
    if "websocket" not in _tokens(request, b"upgrade") or "upgrade" not in _tokens(request, b"connection"):
        return (200, "") if request.method in _METHODS else (405, "This port speaks websocket.\n")
    if headers.get(b"sec-websocket-version") != b"13":
        return 426, "This port speaks version 13 of the websocket protocol.\n"
    if request.method != b"GET" or not _KEY.fullmatch(headers.get(b"sec-websocket-key", b"")):
        return 400, "This is no websocket handshake.\n"
    return None


def _tokens(request: h11.Request, header: bytes) -> set[str]:
    """Return the items of a header that is a list, in lower case."""
    return {token.strip().lower() for token in value_of(request, header).split(",")}
