"""What a client speaks, by the first bytes that it sends.

Pure. Knows how TLS, requests by HTTP, and nothing else begin. The rule it keeps: it decides as early as it
can, by eight bytes at most, so that nobody has to wait for more and little is read on suspicion.
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
