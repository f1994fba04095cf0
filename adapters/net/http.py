"""HTTP as far as it is read and written without a library: how a request begins, and an answer in one piece.

Pure. Of other protocols it knows only how TLS begins. What a client speaks is decided as early as can be, by
eight bytes at most, so that nobody has to wait for more. The answers are for clients that are not served, and
short, as many may get one when the server has much to do.
"""

TLS = b"\x16"
"""The first byte of every handshake of TLS (RFC 8446, 5.1)."""
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


def is_http(data: bytes) -> bool | None:
    """Whether `data` begins a request by HTTP, and not lines or anything else; None if both may be."""
    if data.startswith(_REQUESTS):
        return True
    return None if any(each.startswith(data) for each in _REQUESTS) else False


HSTS = (b"strict-transport-security", b"max-age=15552000")
"""Lets a browser come by TLS alone for the next 180 days (RFC 6797). It holds for all ports of the host."""


def by_http(status: str, text: str, headers: str = "Retry-After: 5\r\nConnection: close") -> bytes:
    """Return an answer by HTTP that says a sentence, in ASCII, and by default that the connection ends."""
    return (
        f"HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\n"
        f"Content-Length: {len(text) + 1}\r\n{headers}\r\n\r\n{text}\n"
    ).encode("ascii")


def with_hsts(answer: bytes) -> bytes:
    """Return an answer with the header `HSTS`, which MUST only go over TLS."""
    status, end, rest = answer.partition(b"\r\n")
    return b"%s%s%s: %s%s%s" % (status, end, *HSTS, end, rest)
