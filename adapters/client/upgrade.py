"""The endpoint of a websocket port.

It reads the head of an HTTP request and decides. A client that asks for a websocket gets one from
trio-websocket, a browser is redirected to the page, any other client gets a short text that says how to
connect, and nonsense gets an error. The head is parsed here; trio-websocket gets a plain one in its place.
"""

import logging
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TypeAlias, cast
from urllib.parse import parse_qs

import h11
import trio
import trio_websocket
from wsproto import ConnectionType, WSConnection
from wsproto.events import BytesMessage, Ping, TextMessage

from adapters.client.websocket import LibraryStream, WebSocketTransport
from adapters.net.http import HSTS, by_http, with_hsts
from adapters.net.wire import Wire
from gateway.access.heads import TWO_LENGTHS, has_two_lengths, host_in, may_play
from gateway.access.proxies import Network, client_behind, is_trusted
from gateway.runtime.throttle import Throttle

MESSAGE_LIMIT = 65_536
"""Bytes that a websocket message may have; the close code for more is 1009."""
FRAME_LIMIT = 1024
"""Frames that a websocket message may consist of; the close code for more is 1009."""
HANDSHAKE_LIMIT = 60.0
"""Seconds for the library's part of a handshake."""
LOG_PERIOD = 60.0
"""Seconds between two lines of the log about pages of other websites."""

_CHUNK = 4096
_PARTS = 64
"""Pieces in which an unfinished message may lie; beyond that they are put together."""
_HEAD_LIMIT = 16_384
_METHODS = (b"GET", b"HEAD")
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

Talk: TypeAlias = Callable[[WebSocketTransport, str], Awaitable[None]]
"""What to do with a websocket: gets the transport and the request's target, such as ``/?table=x``."""

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Websites:
    """The websites whose pages may open a websocket: that of the request's own host, and some by name.

    Otherwise any website could make the browser of whoever looks at it play here (RFC 6455, 10.2).
    """

    allowed: Collection[str] = ()
    """Origins such as ``https://example.org``."""
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How many pages were refused, as ``entry_refused`` and ``foreign_origin``."""
    _log: Throttle = field(default_factory=lambda: Throttle(LOG_PERIOD))

    def admit(self, origin: str, hosts: Iterable[str], address: str) -> bool:
        """Return whether a page of the website `origin` may open a websocket; count and log one that may not.

        Only what is no browser gives none. `hosts` are the names by which the request reached this server.
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
class Endpoint:
    """What a websocket port serves."""

    talk: Talk
    text: str
    """The answer to a client that does not ask for a websocket."""
    page: int | None = None
    """The port of the page on the same host, for browsers; None without a page."""
    trusted: Sequence[Network] = ()
    """Proxies that are believed where a client is."""
    pass_on: "PassOn | None" = None
    """Takes requests that ask for no websocket, instead of an answer."""
    is_closed: Callable[[], bool] = lambda: False
    """Whether no websocket is opened any more."""
    websites: Websites = field(default_factory=Websites)
    """Whose pages may open a websocket."""


@dataclass(frozen=True, slots=True)
class PlainRequest:
    """A connection on which a request has begun that asks for no websocket."""

    begun: bytes
    """All that was read of it."""
    is_secure: bool = False
    """Whether the client uses HTTPS, be it as far as a trusted proxy."""
    is_single: bool = False
    """Whether a proxy sends it, which may ask for a websocket next, on the same connection."""


PassOn: TypeAlias = Callable[[Wire, PlainRequest], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A request for a websocket."""

    head: bytes
    """A plain request, without what trio-websocket could stumble over."""
    early: bytes
    """What came after it, too early."""
    token: str | None = field(default=None, repr=False)
    """What it has in ``Authorization: Bearer``."""


async def serve_websocket(wire: Wire, endpoint: Endpoint) -> None:
    """Serve one connection to a websocket port; return when it is over and `wire` is closed.

    Raises `NotLetIn` where a proxy has said where the client is, and that address has too much already.
    """
    peer = wire.address
    answer = await _asked(wire, endpoint)
    if wire.address != peer:
        await wire.count_at(wire.origin)
    try:
        if isinstance(answer, _Wanted) and endpoint.is_closed():
            answer = by_http("503 Service Unavailable", "The server is stopping. Try again later.")
        if isinstance(answer, _Wanted):
            await _upgrade(wire, answer, endpoint)
        elif isinstance(answer, PlainRequest):
            assert endpoint.pass_on is not None
            await endpoint.pass_on(wire, answer)
        else:
            await wire.send_all(with_hsts(answer) if answer and wire.only_tls else answer)
    except* (trio.BrokenResourceError, trio.ClosedResourceError, trio_websocket.ConnectionClosed):
        pass
    finally:
        await wire.linger()


async def _asked(wire: Wire, endpoint: Endpoint) -> bytes | _Wanted | PlainRequest:
    """Do as `_answer` while the request comes in time."""
    try:
        with trio.move_on_after(wire.limits.request):
            return await _answer(wire, endpoint)
    except (trio.BrokenResourceError, trio.ClosedResourceError):
        return b""
    wire.limits.reached("request-seconds", wire.origin)
    return by_http("408 Request Timeout", "The request did not come in time.")


def wanted_place(target: str) -> tuple[str | None, str | None]:
    """Return the table and the opponent that a request target names, such as ``/?against=ann``."""
    query = parse_qs(target.partition("?")[2])
    return query.get("table", [None])[0], query.get("against", [None])[0]


async def _upgrade(wire: Wire, wanted: _Wanted, endpoint: Endpoint) -> None:
    feed = LibraryStream(wire)
    feed.give(wanted.head)
    wire.push_back(wanted.early)
    protocol = WSConnection(ConnectionType.SERVER)
    async with trio.open_nursery() as nursery:
        try:
            websocket = None
            with trio.move_on_after(HANDSHAKE_LIMIT):
                request = await _requested(nursery, feed, protocol)
                websocket = await request.accept(extra_headers=[HSTS] if wire.only_tls else [])
            if websocket is not None:
                transport = WebSocketTransport(websocket, wire, feed)
                transport.token = wanted.token
                nursery.start_soon(transport.keep_pinging)
                await endpoint.talk(transport, request.path)
        finally:
            # Left to the nursery, the cancelling would leave an error in a cycle with its own traceback.
            nursery.cancel_scope.cancel()
            if protocol.connection is not None:
                # Its parser and the generator of that refer to each other.
                protocol.connection._proto._parse_more.close()


class _Websocket(trio_websocket.WebSocketConnection):
    """A websocket that keeps little of an unfinished message.

    It drops what crosses our close frame: the library would answer a ping, or close once more for a message
    that becomes too long, and neither is allowed any more. The library answers no other frames, and reads
    none after a client's close frame.
    """

    _frames = 0
    """The frames of the message that is arriving."""

    async def _handle_ping_event(self, event: Ping) -> None:
        if self.closed is None:
            await super()._handle_ping_event(event)

    async def _handle_message_event(self, event: BytesMessage | TextMessage) -> None:
        if self.closed is not None:
            return
        self._frames += event.frame_finished
        if self._frames > FRAME_LIMIT:
            self._message_size = MESSAGE_LIMIT + 1
        if event.message_finished:
            self._frames = 0
        if len(self._message_parts) > _PARTS:  # there may be one for each byte
            parts = cast("list[str]", self._message_parts)  # or of bytes, all of them
            self._message_parts = [parts[0][:0].join(parts)]
        await super()._handle_message_event(event)


async def _requested(
    nursery: trio.Nursery, feed: LibraryStream, protocol: WSConnection
) -> trio_websocket.WebSocketRequest:
    """Do what trio_websocket.wrap_server_stream does, with a websocket of our own."""
    websocket = _Websocket(feed, protocol, max_message_size=MESSAGE_LIMIT, receive_buffer_size=_CHUNK)
    nursery.start_soon(websocket._reader_task)
    return await websocket._get_request()


async def _answer(wire: Wire, endpoint: Endpoint) -> bytes | _Wanted | PlainRequest:
    """Read a request; return the answer to it, unless it asks for a websocket or is to be passed on."""
    http = h11.Connection(h11.SERVER, max_incomplete_event_size=_HEAD_LIMIT)
    begun = b""
    try:
        while (event := http.next_event()) is h11.NEED_DATA:
            data = await wire.receive_some(_CHUNK)
            begun += data
            http.receive_data(data)
    except h11.RemoteProtocolError as error:
        return _response(http, error.error_status_hint, f"{error}\n")
    if not isinstance(event, h11.Request):
        return b""
    if has_two_lengths(event.headers):
        return _response(http, 400, f"{TWO_LENGTHS}\n")
    is_secure, hosts = wire.is_secure, [_value(event, b"host")]
    if is_trusted(wire.address, endpoint.trusted):
        is_secure = is_secure or _value(event, b"x-forwarded-proto").lower() == "https"
        hosts += [each.strip() for each in _value(event, b"x-forwarded-host").split(",")]
        wire.address = client_behind(wire.address, _value(event, b"x-forwarded-for"), endpoint.trusted)
    refusal = _refusal(event)
    if refusal is None and not endpoint.websites.admit(_value(event, b"origin"), hosts, wire.address):
        refusal = 403, _FOREIGN
    if refusal is None:
        return _Wanted(_handshake(event), http.trailing_data[0], _token(event))
    status, text = refusal
    if status in (200, 405) and endpoint.pass_on is not None:
        is_single = any(name in _PROXIED for name, _ in event.headers)
        return PlainRequest(begun, is_secure, is_single)
    headers = []
    if status == 200 and endpoint.page is not None and _reads_html(event):
        scheme = "https" if is_secure else "http"
        status, place = 303, f"{scheme}://{_host(event) or wire.host}:{endpoint.page}/"
        headers, text = [("Location", place)], f"The page is at {place}\n"
    return _response(http, status, text or endpoint.text, headers, bare=event.method == b"HEAD")


def _reads_html(request: h11.Request) -> bool:
    """Whether the client is a browser that shows pages."""
    return any(name == b"accept" and b"text/html" in value for name, value in request.headers)


def _host(request: h11.Request) -> str | None:
    return host_in(dict(request.headers).get(b"host", b"").decode("latin-1"))


def _handshake(request: h11.Request) -> bytes:
    """Return the head of a request for a websocket, without what trio-websocket could stumble over."""
    key = dict(request.headers)[b"sec-websocket-key"]
    return (
        b"GET %s HTTP/1.1\r\nHost: gateway\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n\r\n" % (request.target, key)
    )


def _token(request: h11.Request) -> str | None:
    found = _BEARER.fullmatch(dict(request.headers).get(b"authorization", b""))
    return None if found is None else found[1].decode("latin-1")


def _refusal(request: h11.Request) -> tuple[int, str] | None:
    """Return status and text of an answer, unless the request asks for a websocket as it should."""
    headers = dict(request.headers)
    if "websocket" not in _tokens(request, b"upgrade") or "upgrade" not in _tokens(request, b"connection"):
        return (200, "") if request.method in _METHODS else (405, "This port speaks websocket.\n")
    if headers.get(b"sec-websocket-version") != b"13":
        return 426, "This port speaks version 13 of the websocket protocol.\n"
    if request.method != b"GET" or not _KEY.fullmatch(headers.get(b"sec-websocket-key", b"")):
        return 400, "This is no websocket handshake.\n"
    return None


def _value(request: h11.Request, header: bytes) -> str:
    """Return a header that is a list, however often it is given (RFC 9110, 5.3)."""
    return b",".join(value for name, value in request.headers if name == header).decode("latin-1")


def _tokens(request: h11.Request, header: bytes) -> set[str]:
    """Return the words of a header that is a list."""
    return {token.strip().lower() for token in _value(request, header).split(",")}


def _response(
    http: h11.Connection, status: int, text: str, more: Sequence[tuple[str, str]] = (), *, bare: bool = False
) -> bytes:
    """Return an answer as it goes over the wire; a bare one has the length of its text, but no text."""
    body = text.encode()
    headers = [
        *more,
        ("Content-Type", "text/plain; charset=utf-8"),
        ("Content-Length", str(len(body))),
        ("Connection", "close"),
    ]
    if status == 405:
        headers.append(("Allow", "GET, HEAD"))
    if status == 426:
        headers += [("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13")]
    reason = HTTPStatus(status).phrase.encode()
    head = http.send(h11.Response(status_code=status, headers=headers, reason=reason)) or b""
    return head if bare else head + body
