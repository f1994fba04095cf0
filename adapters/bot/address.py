"""Where a server is, as a person writes it.

Text in, an address out. The rule it keeps: what comes out can be put into a URL, and into the first line of
a websocket's handshake.
"""

from dataclasses import dataclass
from urllib.parse import parse_qs, quote, urlencode, urlsplit

PORTS = {"nac4": 8080, "arena": 8001, "tcp": 4242}
"""Where a dialect's server is when only its host is given."""
_WEB_PORT = 80


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server is."""

    host: str
    port: int
    target: str = "/"
    """Path and query of a URL."""

    @property
    def place(self) -> str:
        """Host and port, as they are written."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def asked(self, name: str) -> str | None:
        """Return what the URL itself asks for: `table` or `against`."""
        return parse_qs(urlsplit(self.target).query).get(name, [None])[0]

    def url(self, **query: str | None) -> str:
        """Return the URL of a websocket, with what in `query` is not None added to the address's own."""
        more = urlencode({name: value for name, value in query.items() if value is not None})
        separator = "" if not more else "&" if "?" in self.target else "?"
        return f"ws://{self.place}{self.target}{separator}{more}"


def address_in(text: str, dialect: str) -> Address:
    """Return the address that `text` is. Raises ValueError with what is wrong in one line."""
    is_url = text.startswith("ws://") and dialect != "tcp"
    if not text.isprintable() or " " in text or ("://" in text and not is_url):
        raise _refusal(text, dialect)
    parts = urlsplit(text if is_url else f"//{text}")
    try:
        port = parts.port
    except ValueError:
        raise ValueError(f"{text!r} has no port from 1 to 65535") from None
    if not parts.hostname or port == 0 or "@" in parts.netloc:
        raise _refusal(text, dialect)
    if dialect == "tcp" and (parts.path or parts.query or parts.fragment):
        raise _refusal(text, dialect)
    target = quote(parts.path or "/", safe="/%")
    if parts.query:
        target += "?" + quote(parts.query, safe="=&%+")
    return Address(parts.hostname, port or (_WEB_PORT if is_url else PORTS[dialect]), target)


def _refusal(text: str, dialect: str) -> ValueError:
    wanted = "HOST:PORT" if dialect == "tcp" else "ws://HOST:PORT or HOST:PORT"
    return ValueError(f"{text!r} is no address, it has to be {wanted}")
