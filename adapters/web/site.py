"""What the API and the page are made from: stored games, live games, and the addresses for players."""

from dataclasses import dataclass, field

from adapters.web.live.live import Live
from adapters.web.perfect import Perfect
from adapters.web.streaming import Threads
from gateway.game.ids import GameId
from gateway.store import NotKeptError
from gateway.store.database import Database, Transaction
from gateway.store.games import one
from gateway.store.records import GameRecord


@dataclass(frozen=True, slots=True)
class Front:
    """A dialect, as the page describes it to people."""

    name: str
    """As in `Participant.kind`."""
    title: str
    mark: str
    """The letter that stands for it."""
    scheme: str
    """Of its URLs, such as ``ws``; empty if an address is only host and port."""
    port: int | None
    """The port on which the server listens for it, or None."""
    is_shared: bool = False
    """Whether that is the page's port, too: then URLs have a path, which is `name`."""


@dataclass(slots=True)
class Notice:
    """What every view says of the server."""

    announcement: str | None = None
    paused: bool = False
    """Whether nobody is paired."""


@dataclass(frozen=True, slots=True)
class Site:
    """One server's site."""

    database: Database | None
    """Where results are kept; None if they are not."""
    threads: Threads
    live: Live
    fronts: tuple[Front, ...] = ()
    """All dialects, in the order in which they are listed."""
    house: tuple[str, ...] = ()
    """The server's own players that people can choose."""
    idle: float = 300.0
    """Seconds that a player has for a move in games without a clock."""
    perfect: Perfect = field(kw_only=True)
    notice: Notice = field(default_factory=Notice, kw_only=True)

    def reading(self) -> Transaction:
        """Give a connection, as `Database.reading` does. Raises NotKeptError if results are not kept."""
        if self.database is None:
            raise NotKeptError
        return self.database.reading()

    def game(self, game: GameId) -> GameRecord:
        """Return a stored game. Raises NoGameError, and NotKeptError if results are not kept."""
        with self.reading() as connection:
            return one(connection, game)
