"""A last word by HTTP, for clients that are not served.

Pure, and as short as can be: it is said to many at once, when the server has much to do.
"""


def by_http(status: str, text: str, headers: str = "Retry-After: 5\r\nConnection: close") -> bytes:
    """Return an answer by HTTP that says a sentence, in ASCII, and by default that the connection ends."""
    return (
        f"HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\n"
        f"Content-Length: {len(text) + 1}\r\n{headers}\r\n\r\n{text}\n"
    ).encode("ascii")
