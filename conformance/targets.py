"""Where a server listens: addresses from the command line, or from the gateway's output when it starts.

Parses addresses, and does not connect.
"""

import re
from dataclasses import dataclass
from itertools import pairwise
from urllib.parse import urlsplit

from conformance.dialects import dialects

WEB = "web"
"""The name of the front end for browsers: the page, and results by HTTP."""
METRICS = "metrics"
"""The name of the front end for Prometheus: the server's metrics."""
_WORDS = {"page": WEB, "metrics": METRICS}
"""The gateway's words for front ends whose names here are others."""


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a server.

    `path` is a prefix for a client's own request path: empty, or beginning with a slash.
    """

    host: str
    port: int
    path: str = ""

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    def resource(self, own_path: str | None) -> str:
        """Return the path that a websocket requests."""
        return self.path.rstrip("/") + own_path if own_path is not None else self.path or "/"


def parse_target(word: str) -> tuple[str, Address]:
    """Parse `DIALECT=ADDRESS` from the command line. Raises ValueError with a message for the user."""
    dialect, _, address = word.partition("=")
    if dialect not in dialects():
        raise ValueError(f"{word!r}: {dialect!r} is no dialect; there are {', '.join(dialects())}")
    return dialect, parse_address(dialect, address)


def parse_address(dialect: str, text: str) -> Address:
    """Parse `HOST:PORT`, or for websocket dialects also `ws://HOST:PORT/path`. Raises ValueError."""
    scheme, _, rest = text.rpartition("://")
    known = dialects().get(dialect)
    allowed = ("", "http" if known is None else known.scheme)
    if scheme not in allowed:
        raise ValueError(f"{text!r}: a {dialect} server is reached by {allowed[1]}://, not by {scheme}://")
    try:
        parts = urlsplit(f"//{rest}")
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise ValueError(f"{text!r}: {error}") from None
    if not host or not port:
        raise ValueError(f"{text!r} is no address; write HOST:PORT")
    if known is not None and not known.has_paths and parts.path.strip("/"):
        raise ValueError(f"{text!r}: a {dialect} server has no path")
    return Address(host, port, parts.path)


def addresses_in(line: str) -> dict[str, Address]:
    """Return the addresses in a line of the gateway's output. Each follows the word of its front end."""
    words = [word.strip(",;") for word in line.split()]
    found = {}
    for word, following in pairwise(words):
        if (word in _WORDS or word in dialects()) and re.search(r":[0-9]+", following):
            found[_WORDS.get(word, word)] = parse_address(word, following)
    return found
