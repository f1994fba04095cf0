"""The service that runs tournaments: it reads news from the store, and writes what the director decides.

Knows trio, the hub and the batcher. The director and the tables are pure. The service reads each second,
since commands write to the database, too, and as soon as something happens at a table.
"""

import logging
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeVar

import trio
import trio_parallel

from gateway.engines import EngineUnavailable
from gateway.game.commands import Leave
from gateway.game.text import plural, quoted
from gateway.hub.hub import Hub
from gateway.hub.seats import Seat
from gateway.options.terminal import listed
from gateway.runtime.throttle import Throttle
from gateway.store import StoreError
from gateway.store.batcher import Batcher
from gateway.store.process import StoreProcess
from gateway.tournament.director import Director
from gateway.tournament.log import (
    Begun,
    Ended,
    Entered,
    Entry,
    Forfeited,
    Paired,
    Returned,
    Withdrawn,
    written,
)
from gateway.tournament.table import TournamentTable
from gateway.tournament.tournament import Tournament

PERIOD = 1.0
"""Seconds between two readings if nothing happens."""
PAUSE = 0.05
"""The least seconds between two readings."""
PATIENCE = 5.0
"""Seconds after which a request to the store is withdrawn; it is made again."""
_FAILURES = (trio_parallel.BrokenWorkerError, ImportError, OSError)
"""The errors if a worker process has ended or cannot be started."""

T = TypeVar("T")

logger = logging.getLogger(__name__)


class TournamentService:
    """Runs the tournaments of a server. Implements `gateway.server.app.Service`."""

    def __init__(
        self,
        director: Director,
        hub: Hub,
        batcher: Batcher,
        seat_house: Callable[[str, str, float], Seat],
    ) -> None:
        """`seat_house(name, table, now)` seats one of the server's own players at a tournament's table.

        It raises EngineUnavailable if the engine of that player is not installed.
        """
        self._director = director
        self._hub = hub
        self._batcher = batcher
        self._seat_house = seat_house
        self._stopped = trio.CancelScope()
        self._throttle = Throttle()
        self._woken = trio.Event()
        self._seated: dict[tuple[TournamentTable, str], Seat] = {}
        """The seats of the own players that this server has seated, by their tables and names."""
        director.wake = self._wake

    async def run(self) -> None:
        """Run tournaments until `stop` is called."""
        with self._stopped:
            while True:
                is_changed = False
                with self._logging_failures():
                    is_changed = await self._take_turn()
                await trio.sleep(PAUSE)
                if not is_changed:
                    with trio.move_on_after(PERIOD):
                        await self._woken.wait()
                self._woken = trio.Event()

    def stop(self) -> None:
        """End `run`."""
        self._stopped.cancel()

    def _wake(self) -> None:
        self._woken.set()

    @contextmanager
    def _logging_failures(self, key: str | None = None) -> Iterator[None]:
        """Log errors in the block, and go on after it: they are tried again, and stop no other tournament."""
        try:
            yield
        except (StoreError, *_FAILURES) as error:
            if self._throttle.passes(trio.current_time(), key):
                extra = {"event": "tournaments_wait", "error": str(error)}
                logger.error("tournaments wait, since something they need fails: %s", error, extra=extra)
        except Exception as error:  # a bug
            if self._throttle.passes(trio.current_time(), key):
                extra = {"event": "tournaments_failed", "tournament": key or "", "error": str(error)}
                logger.exception("a tournament has failed, and is tried again: %s", error, extra=extra)

    async def _take_turn(self) -> bool:
        """Read, and add to the logs what is due; return whether there is something to read soon."""
        epoch, known = self._director.epoch, self._director.known
        news = await self._ask(lambda store: store.tournaments(known))
        is_pairing = self._hub.matchmaker.pairs_all and not self._hub.is_draining
        unreadable = self._director.take(news, trio.current_time(), epoch if is_pairing else None)
        log_unreadable(unreadable)
        self._dismiss_house_players()
        self._hub.settle(trio.current_time())
        is_changed = False
        for table in [*self._director.tables.values()] if is_pairing else ():
            if table.tournament.state != "over":
                with self._logging_failures(table.key):
                    self._seat_house_players(table)
                    is_changed |= await self._decide(table)
        return is_changed

    async def _ask(self, work: Callable[[StoreProcess], Awaitable[T]]) -> T:
        """Ask the store process, when all results up to now are stored. Raises StoreError."""
        try:
            with trio.fail_after(PATIENCE):
                return await self._batcher.ask(work).result()
        except trio.TooSlowError as error:
            raise StoreError(f"the database has not answered for {PATIENCE:g} s") from error

    async def _decide(self, table: TournamentTable) -> bool:
        """Add to the log of a tournament what is due; return whether there is something to read soon."""
        try:
            entries = await self._due(table)
            if entries:
                await self._add(table.tournament, entries)
        except BaseException:
            table.tournament.ask_again()  # pairings that could not be stored are computed again
            raise
        return bool(entries) or table.awaits_results

    async def _due(self, table: TournamentTable) -> Sequence[Entry]:
        tournament = table.tournament
        now, unix = trio.current_time(), time.time()
        entries = self._director.entries(table, now, unix, is_paused=self._hub.is_paused)
        if entries:
            return entries
        if tournament.is_to_begin({*table.here}, unix):
            names = [each.name for each in tournament.entrants]
            ratings = await self._ask(lambda store: store.ratings(names))
            return [tournament.beginning(ratings, table.seen(trio.current_time()))]
        question = tournament.question()
        if question is None:
            return []
        return self._director.pairings(table, await trio_parallel.run_sync(question, cancellable=True))

    async def _add(self, tournament: Tournament, entries: Sequence[Entry]) -> None:
        """Add entries to a log, unless it has other ones now, or a game that they forfeit is over."""
        key, known, texts = tournament.settings.key, tournament.known, [*map(written, entries)]
        pairings = [entry.pairing for entry in entries if isinstance(entry, Forfeited)]
        is_added = await self._ask(lambda store: store.add_to_log(key, known, texts, pairings))
        for entry in entries if is_added else ():
            extra = {"event": "tournament", "tournament": key, "entry": type(entry).__name__}
            logger.info("tournament %s: %s", quoted(key), _in_words(entry, tournament), extra=extra)

    def _seat_house_players(self, table: TournamentTable) -> None:
        """Seat the server's own players that take part and are not here."""
        now = trio.current_time()
        for name in table.tournament.settings.house:
            if table.admits(name):
                try:
                    self._seated[table, name] = self._seat_house(name, table.name, now)
                except EngineUnavailable as error:
                    if self._throttle.passes(now, (table.key, name)):
                        extra = {
                            "event": "tournament_player_missing",
                            "tournament": table.key,
                            "player": name,
                        }
                        text = "tournament %s: %s cannot play: %s"
                        logger.error(text, quoted(table.key), name, error, extra=extra)

    def _dismiss_house_players(self) -> None:
        """Disconnect own players whose tournament is over, with all its games, or was removed."""
        for table, name in [*self._seated]:
            current = self._director.tables.get(table.key)
            is_there = current is not None and current.tournament is table.tournament
            if current is None or not is_there or (current.is_over and not current.is_busy):
                self._hub.submit(self._seated.pop((table, name)), Leave(), trio.current_time())


def log_unreadable(found: Mapping[str, str]) -> None:
    """Log the keys of tournaments that cannot be read, and the reasons, as `Director.take` returns them."""
    for key, why in found.items():
        extra = {"event": "tournament_unreadable", "tournament": key, "error": why}
        logger.error("the tournament %s cannot be read: %s", quoted(key), why, extra=extra)


def _in_words(entry: Entry, tournament: Tournament) -> str:
    """Return an entry for the log; the tournament does not have it yet."""

    def named(players: Sequence[int]) -> str:
        return listed([quoted(tournament.entrants[player].name) for player in players], "and")

    match entry:
        case Entered(name):
            words = f"{quoted(name)} has entered"
        case Begun(order):
            words = f"begins with {plural(len(order), 'player')}"
        case Paired(pairings):
            rounds = {round for _, _, round in pairings}
            words = f"{plural(len(pairings), 'pairing')} added in {plural(len(rounds), 'round')}"
        case Forfeited(pairing, games, absent):
            count = plural(len(games), "game")
            words = f"{named(absent)} loses {count} of pairing {pairing} by not being there"
        case Withdrawn(player, why):
            words = f"{named([player])} is withdrawn: {why}"
        case Returned(player):
            words = f"{named([player])} takes part again"
        case Ended():
            words = "is over"
        case _:
            words = type(entry).__name__
    return words
