"""What the API and the page are made of: stored games, live games, and the addresses for players."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

import trio

from adapters.web.live.live import Live
from adapters.web.perfect import Perfect
from gateway.game.ids import GameId
from gateway.server.acts import Notice
from gateway.store import NotKeptError
from gateway.store.database import Database, Transaction
from gateway.store.games import one
from gateway.store.records import GameRecord

THREADS = 3
"""Threads for work that waits for the database."""

T = TypeVar("T")


async def in_thread(work: Callable[[], T], threads: trio.CapacityLimiter) -> T:
    """Return the result of `work`, run in one of `threads` once one is free.

    If the caller is cancelled, the work goes on, and its thread stays busy.
    """
    return await trio.to_thread.run_sync(work, limiter=threads, abandon_on_cancel=True)


@dataclass(frozen=True, slots=True)
class Front:
    """A dialect, as the page describes it to people."""

    name: str
    """As in `Participant.kind`."""
    title: str
    mark: str
    """The letter that stands for the dialect."""
    scheme: str
    """The scheme of its URLs, such as ``ws``; empty if an address is only host and port."""
    port: int | None
    """The port on which the server listens for it; None if it does not."""
    is_shared: bool = False
    """Whether the page has the same port: then URLs have a path, which is `name`."""


@dataclass(slots=True, eq=False)
class Site:
    """One server's site."""

    database: Database | None
    """The database of results; None if they are not kept."""
    live: Live
    fronts: tuple[Front, ...] = ()
    """All dialects, in the order in which they are listed."""
    house: tuple[str, ...] = ()
    """The house players that people can choose."""
    idle: float = 300.0
    """Seconds that a player has for a move in games without a clock."""
    perfect: Perfect = field(kw_only=True)
    notice: Notice = field(default=Notice(), kw_only=True)
    """The operator's notice, on every view. Only this field changes while the site is served."""
    threads: trio.CapacityLimiter = field(default_factory=lambda: trio.CapacityLimiter(THREADS), kw_only=True)

    async def do(self, work: Callable[[], T]) -> T:
        """Return the result of `work`, which may wait for the database, from a thread."""
        return await in_thread(work, self.threads)

    def reading(self) -> Transaction:
        """Provide a connection, as `Database.reading` does. Raises NotKeptError if results are not kept."""
        if self.database is None:
            raise NotKeptError
        return self.database.reading()

    def game(self, game: GameId) -> GameRecord:
        """Return a stored game. Raises NoGameError, and NotKeptError if results are not kept."""
        with self.reading() as connection:
            return one(connection, game)
