"""Connections that are no bot's of the dialect, told by what came first on them.

Pure. Knows how TLS and HTTP begin, and asks other dialects whether a text is theirs.
"""

from collections.abc import Iterable

from adapters.client.contract import WireError
from adapters.client.dialect import Dialect
from adapters.net.first_bytes import TLS, is_http

_SHOWN = 60
"""Bytes that are shown of what was said."""


def in_words(first: bytes, dialect: Dialect, others: Iterable[Dialect], *, takes_tls: bool) -> str:
    """Return what is wrong with a connection that begins so; empty if a client of the dialect may.

    Where the port takes TLS, what begins TLS has failed at it.
    """
    if first.startswith(TLS) and takes_tls:
        return "its handshake of TLS failed; let it trust the certificate"
    if first.startswith(TLS):
        return "it began TLS, which this port does not take; connect without, or give the check --tls-cert"
    begins_http = bool(is_http(first))
    if begins_http and not dialect.scheme:
        asks = b"upgrade: websocket" in first.lower()
        return f"it asked by HTTP{' for a websocket' if asks else ''}; this dialect is plain lines over TCP"
    said = first[:_SHOWN].decode("latin-1").splitlines()[:1]
    if begins_http and dialect.scheme:
        return f"it said {said[0]!r}, and asked for no websocket, or not as it should"
    if first and dialect.scheme:
        return f"it said {said[0]!r}, and asked for no websocket{hint(said[0], others)}"
    return ""


def hint(text: str, others: Iterable[Dialect]) -> str:
    """Return which other dialect a text is of, as the end of a sentence; empty if of none."""
    for other in others:
        try:
            other.book().codec().decode(text)
        except WireError:
            continue
        return f"; that is {other.short}: c4gateway check {other.name}"
    return ""
