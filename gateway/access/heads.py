"""The heads of HTTP messages that the server reads and writes itself, by h11 and by hand.

Pure. A client may write anything there, so it is read strictly. The rules it keeps:

- A server that only its own machine can reach answers to no foreign domain name. Otherwise a website could
  point its name at this machine, and its pages could read the answers (DNS rebinding).
- Pages of other websites open no websocket: they would play in the name of whoever looks at them.
- A body has one length. Where there are two, a proxy and this server may not see the same requests.
"""

import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from http import HTTPStatus
from ipaddress import ip_address

import h11

from gateway.options.names import ALL_ORIGINS
from gateway.runtime.addresses import ip_address_in

LONGEST_HEAD = 16_384
"""Bytes that the head of a request may have."""
HSTS = (b"strict-transport-security", b"max-age=15552000")
"""Lets a browser come by TLS alone for the next 180 days (RFC 6797). It holds for all ports of the host."""
NOT_KNOWN = "the server does not know this name; use localhost, or start it with --allow-origin http://NAME"
"""The answer to a request that names a foreign host."""
TOO_LONG = "the head of the request is too long"
"""The answer to a request with such a one, status 431."""
TWO_LENGTHS = "a request has Content-Length or Transfer-Encoding, not both"
"""The answer to a request with two lengths, status 400."""

_HOST = re.compile(r"(\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]{1,253})(:[0-9]{1,5})?")
_REQUESTS = (
    b"GET ",
    b"HEAD ",
    b"POST ",
    b"PUT /",  # lines may begin with PUT and a blank, too
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
    """Whether `data` begins a request by HTTP, and not lines or anything else; None if both may be.

    That is decided by eight bytes at most, so that nobody has to wait for more.
    """
    if data.startswith(_REQUESTS):
        return True
    return None if any(each.startswith(data) for each in _REQUESTS) else False


async def read_request(http: h11.Connection, receive: Callable[[], Awaitable[bytes]]) -> h11.Request | None:
    """Return the next request on a connection; None where the client has ended it.

    Raises h11.RemoteProtocolError, whose `error_status_hint` is the status to answer with, for what is no
    request, and whatever `receive` raises.
    """
    try:
        while (event := http.next_event()) is h11.NEED_DATA:
            http.receive_data(await receive())
    except h11.RemoteProtocolError as error:
        # A frame of h11's in it refers to the error: a cycle, with the client's socket in it.
        error.__traceback__ = None
        raise
    if not isinstance(event, h11.Request):
        return None
    if has_two_lengths(event.headers):
        raise h11.RemoteProtocolError(TWO_LENGTHS, error_status_hint=400)
    length = len(event.target) + sum(len(name) + len(value) for name, value in event.headers)
    if length > LONGEST_HEAD:  # h11 bounds only what it has to keep until a head is complete
        raise h11.RemoteProtocolError(TOO_LONG, error_status_hint=431)
    return event


def value_of(request: h11.Request, header: bytes) -> str:
    """Return a header, in lower case, that is a list, however often it is given (RFC 9110, 5.3)."""
    return b",".join(value for name, value in request.headers if name == header).decode("latin-1")


def head(status: int, headers: Mapping[str, str]) -> bytes:
    """Return the head of an answer. All of it is ASCII."""
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n{lines}\r\n".encode("ascii")


def answer(
    status: int, body: bytes, headers: Mapping[str, str] | None = None, *, is_bare: bool = False
) -> bytes:
    """Return an answer that by default is text, and after which the connection ends.

    A bare one, to the method HEAD, has the length of its body, but no body.
    """
    own = dict(headers or {})
    usual = {
        "Content-Type": "text/plain; charset=utf-8",
        "Content-Length": str(len(body)),
        "Connection": "close",
    }
    return head(status, own | usual | own) + (b"" if is_bare else body)  # in this order, by these values


def try_later(status: int, text: str, *, hsts: bool = False) -> bytes:
    """Return an answer, short as many may get it, that says a sentence and when to come again."""
    refusal = answer(status, f"{text}\n".encode(), {"Retry-After": "5"})
    return with_hsts(refusal) if hsts else refusal


def with_hsts(text: bytes) -> bytes:
    """Return an answer with the header `HSTS`, which MUST only go over TLS."""
    status, end, rest = text.partition(b"\r\n")
    return b"%s%s%s: %s%s%s" % (status, end, *HSTS, end, rest)


def is_known(header: str, allowed: Collection[str]) -> bool:
    """Return whether the header ``Host`` may name a server that only its own machine can reach.

    No domain name does, but those of origins in `allowed`.
    """
    if not header:  # a browser always gives one
        return True
    host = host_in(header)
    if host is None:  # browsers take names for hosts that cannot be read here, such as ``a+b.example``
        return False
    return not is_domain(host) or host.lower() in {_host_of(origin) for origin in allowed}


def may_play(origin: str, hosts: Iterable[str], allowed: Collection[str]) -> bool:
    """Return whether a page of the website `origin` may open a websocket.

    Its host has to be one of `hosts`, by which the request names this server, or `allowed` has it. The port
    makes no difference, and localhost and all loopback addresses are one host.
    """
    if origin.lower() in allowed and origin != ALL_ORIGINS:
        return True
    host = _host_of(origin)
    named = {_plain(name) for each in hosts if (name := host_in(each)) is not None}
    return host is not None and _plain(host) in named


def has_two_lengths(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Return whether a request says in two ways how long its body is (RFC 9112, 6.1); names in lower case."""
    return {name for name, _ in headers} >= _LENGTHS


def host_in(header: str) -> str | None:
    """Return the host without its port, an IPv6 address in brackets; None if it is not a host."""
    match = _HOST.fullmatch(header)
    return match[1] if match else None


def port_in(header: str) -> int | None:
    """Return the port; None if there is none, or it is not a host."""
    match = _HOST.fullmatch(header)
    return int(match[2][1:]) if match and match[2] else None


def is_domain(host: str) -> bool:
    """Whether the host is a domain name, whose owner decides to which address it leads.

    An address is not one, nor is a name without a dot or under ``localhost``.
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
    """Return a host in one spelling, the same for all that always lead to this machine."""
    name = host.lower().rstrip(".")
    try:
        address = ip_address_in(name.strip("[]"))
    except ValueError:
        return name
    return _THIS_MACHINE if address.is_loopback else str(address)
