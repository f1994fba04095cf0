"""What the API and the page show: the stored games, and where players meet."""

from dataclasses import dataclass, field

from adapters.web.live.live import Live
from adapters.web.perfect import Perfect
from adapters.web.streaming import Threads
from gateway.store.reader import Reader


@dataclass(frozen=True, slots=True)
class Front:
    """A dialect, as the page tells of it to people."""

    name: str
    """As in `Participant.kind`."""
    title: str
    mark: str
    """A letter that stands for it."""
    scheme: str
    """Of its URLs, such as ``ws``; empty where an address is no more than host and port."""
    port: int | None
    """Where the server listens for it; None where it does not."""


@dataclass(frozen=True, slots=True)
class Site:
    """One server's site."""

    reader: Reader
    threads: Threads
    live: Live
    fronts: tuple[Front, ...] = ()
    """All dialects, in the order in which they are listed."""
    house: tuple[str, ...] = ()
    """The players of the server's own that can be asked for."""
    idle: float = 300.0
    """Seconds that a player has for a move in games without a clock."""
    perfect: Perfect = field(kw_only=True)
