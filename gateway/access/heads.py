"""The heads of the HTTP messages that the server itself reads, with h11, and writes.

Does no I/O. Heads are read strictly, since a client may write anything in them.
"""

import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from http import HTTPStatus
from ipaddress import ip_address

import h11

from gateway.options.names import ALL_ORIGINS
from gateway.runtime.addresses import ip_address_in

LONGEST_HEAD = 16_384
"""The largest head of a request, in bytes."""
HSTS = (b"strict-transport-security", b"max-age=15552000")
"""Makes a browser use only TLS for 180 days (RFC 6797). It applies to all ports of the host."""
NOT_KNOWN = "the server does not know this name; use localhost, or start it with --allow-origin http://NAME"
"""The answer to a request whose Host is not this server's."""
TOO_LONG = "the head of the request is too long"
"""The answer, with status 431, to a request with a head of more than `LONGEST_HEAD` bytes."""
TWO_LENGTHS = "a request has Content-Length or Transfer-Encoding, not both"
"""The answer, with status 400, to a request with both headers."""

_HOST = re.compile(r"(\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]{1,253})(:[0-9]{1,5})?")
_REQUESTS = (
    b"GET ",
    b"HEAD ",
    b"POST ",
    b"PUT /",  # with the slash, since a line of another protocol may begin with PUT and a blank
    b"DELETE ",
    b"OPTIONS ",
    b"PATCH ",
    b"TRACE ",
    b"CONNECT ",
    b"PRI ",
)
_LENGTHS = {b"content-length", b"transfer-encoding"}
_THIS_MACHINE = "localhost"


def is_http(data: bytes) -> bool | None:
    """Whether `data` is the start of an HTTP request; None if more bytes are needed.

    Eight bytes are always enough, so that a client of another protocol is never kept waiting.
    """
    if data.startswith(_REQUESTS):
        return True
    return None if any(each.startswith(data) for each in _REQUESTS) else False


async def read_request(http: h11.Connection, receive: Callable[[], Awaitable[bytes]]) -> h11.Request | None:
    """Return the next request on a connection; None if the client has closed it.

    Raises h11.RemoteProtocolError if the request is not valid; the status of the answer is in its
    `error_status_hint`. Exceptions of `receive` pass through.
    """
    try:
        while (event := http.next_event()) is h11.NEED_DATA:
            http.receive_data(await receive())
    except h11.RemoteProtocolError as error:
        # A frame in the traceback refers to the error. This cycle would keep the client's socket open.
        error.__traceback__ = None
        raise
    if not isinstance(event, h11.Request):
        return None
    if has_two_lengths(event.headers):
        raise h11.RemoteProtocolError(TWO_LENGTHS, error_status_hint=400)
    length = len(event.target) + sum(len(name) + len(value) for name, value in event.headers)
    if length > LONGEST_HEAD:  # h11 limits only heads that arrive in parts
        raise h11.RemoteProtocolError(TOO_LONG, error_status_hint=431)
    return event


def value_of(request: h11.Request, header: bytes) -> str:
    """Return the value of a header, its lines joined by commas (RFC 9110, 5.3). `header` is in lower case."""
    return b",".join(value for name, value in request.headers if name == header).decode("latin-1")


def head(status: int, headers: Mapping[str, str]) -> bytes:
    """Return the head of an answer. The headers have to be ASCII."""
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n{lines}\r\n".encode("ascii")


def answer(
    status: int, body: bytes, headers: Mapping[str, str] | None = None, *, is_bare: bool = False
) -> bytes:
    """Return an answer, by default plain text and the last one on its connection.

    With `is_bare`, for the method HEAD, the answer has the length of the body, but no body.
    """
    own = dict(headers or {})
    usual = {
        "Content-Type": "text/plain; charset=utf-8",
        "Content-Length": str(len(body)),
        "Connection": "close",
    }
    return head(status, own | usual | own) + (b"" if is_bare else body)  # the caller's headers come first


def try_later(status: int, text: str, *, hsts: bool = False) -> bytes:
    """Return an answer with one sentence and Retry-After. It is short, since many clients may get it."""
    refusal = answer(status, f"{text}\n".encode(), {"Retry-After": "5"})
    return with_hsts(refusal) if hsts else refusal


def with_hsts(text: bytes) -> bytes:
    """Return an answer with the header `HSTS`, which must be sent over TLS only."""
    status, end, rest = text.partition(b"\r\n")
    return b"%s%s%s: %s%s%s" % (status, end, *HSTS, end, rest)


def is_known(header: str, allowed: Collection[str]) -> bool:
    """Whether a Host header is acceptable to a server that listens on loopback addresses only.

    A domain name is acceptable only if an origin in `allowed` has it. Otherwise a website could point its
    name at this machine, and pages of the website could read the answers (DNS rebinding).
    """
    if not header:  # a browser always sends one
        return True
    host = host_in(header)
    if host is None:  # browsers accept host names that do not match here, such as ``a+b.example``
        return False
    return not is_domain(host) or host.lower() in {_host_of(origin) for origin in allowed}


def may_play(origin: str, hosts: Iterable[str], allowed: Collection[str]) -> bool:
    """Whether a page of the website `origin` may open a websocket.

    A page of a foreign website must not: it would play as the user who visits it. The host of `origin` has to
    be one of `hosts`, the names of this server in the request, or `origin` has to be in `allowed`. The port
    does not matter, and localhost and all loopback addresses count as one host.
    """
    if origin.lower() in allowed and origin != ALL_ORIGINS:
        return True
    host = _host_of(origin)
    named = {_plain(name) for each in hosts if (name := host_in(each)) is not None}
    return host is not None and _plain(host) in named


def has_two_lengths(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Whether a request gives the length of its body in two ways (RFC 9112, 6.1).

    A proxy and this server may then disagree where the next request begins. The names in `headers` are in
    lower case.
    """
    return {name for name, _ in headers} >= _LENGTHS


def host_in(header: str) -> str | None:
    """Return the host of a Host header, an IPv6 address in brackets; None if it has no valid host."""
    match = _HOST.fullmatch(header)
    return match[1] if match else None


def port_in(header: str) -> int | None:
    """Return the port of a Host header; None if it has none, or no valid host."""
    match = _HOST.fullmatch(header)
    return int(match[2][1:]) if match and match[2] else None


def is_domain(host: str) -> bool:
    """Whether a host is a domain name. Addresses and names without a dot or under ``localhost`` are not.

    The owner of a domain name decides to which address it leads.
    """
    try:
        ip_address(host.strip("[]"))
    except ValueError:
        name = host.rstrip(".")
        return "." in name and not name.lower().endswith(".localhost")
    return False


def _host_of(origin: str) -> str | None:
    """Return the host of an origin, which libraries may write with a path; None if it has none."""
    return host_in(origin.partition("://")[2].partition("/")[0])


def _plain(host: str) -> str:
    """Return a normalized host: ``localhost`` for all names and addresses that always mean this machine."""
    name = host.lower().rstrip(".")
    try:
        address = ip_address_in(name.strip("[]"))
    except ValueError:
        return name
    return _THIS_MACHINE if address.is_loopback else str(address)
