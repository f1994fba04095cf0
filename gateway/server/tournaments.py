"""The service that runs tournaments: it reads news from the store, and writes what is due.

Knows trio, the hub and the batcher. `Tournaments` and the tables are pure. The service reads each second,
since commands write to the database, too, and as soon as something happens at a table.
"""

import logging
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

import trio
import trio_parallel

from gateway.engines import EngineUnavailable
from gateway.engines.catalogue import house_players
from gateway.game.commands import HOUSE_PLAYERS, AtTable, Leave
from gateway.game.text import did_you_mean, printable, quoted
from gateway.hub.hub import Hub
from gateway.hub.seats import Seat, Seated
from gateway.matchmaking.matchmaker import HousePair
from gateway.runtime.throttle import Throttle
from gateway.server.acts import NotDoneError, Outcome, Parameters
from gateway.server.director import GameOn, seen_by_director
from gateway.store import StoreError
from gateway.store.batcher import Batcher
from gateway.store.process import StoreProcess
from gateway.tournament.acts import decide
from gateway.tournament.log import Entry, Forfeited, Known, written
from gateway.tournament.table import TournamentTable
from gateway.tournament.tournament import Tournament
from gateway.tournament.tournaments import Tournaments
from gateway.tournament.words import in_words

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
        tournaments: Tournaments,
        hub: Hub,
        batcher: Batcher,
        seat_house: Callable[[str, str, float], Seat],
    ) -> None:
        """`seat_house(name, table, now)` seats one of the server's own players at a tournament's table.

        It raises EngineUnavailable if the engine of that player is not installed.
        """
        self._tournaments = tournaments
        self._hub = hub
        self._batcher = batcher
        self._seat_house = seat_house
        self._stopped = trio.CancelScope()
        self._throttle = Throttle()
        self._woken = trio.Event()
        self._seated: dict[tuple[TournamentTable, str], list[Seat]] = {}
        """The seats of the own players that this server has seated, by their tables and names."""
        self._testers: dict[tuple[TournamentTable, str], list[Seat]] = {}
        """The same for those that are there only for tests."""
        self._lock = trio.Lock()
        """Held while tournaments are read and added to, so that two tasks do not read the same twice."""
        tournaments.wake = self._wake

    async def run(self) -> None:
        """Run tournaments until `stop` is called."""
        with self._stopped:
            while True:
                is_changed = False
                with self._logging_failures():
                    async with self._lock:
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
        await self._read()
        is_pairing = self._is_pairing
        self._dismiss_house_players()
        self._hub.settle(trio.current_time())
        is_changed = False
        for table in [*self._tournaments.tables.values()] if is_pairing else ():
            if table.tournament.state != "over":
                with self._logging_failures(table.key):
                    self._seat_house_players(table)
                    is_changed |= await self._decide(table)
        return is_changed

    @property
    def _is_pairing(self) -> bool:
        return self._hub.matchmaker.pairs_all and not self._hub.is_draining

    async def _read(self, wanted: str | None = None) -> None:
        """Read what was added to the tournaments; `wanted` is as in `Tournaments.known`."""
        epoch, known = self._tournaments.epoch, self._tournaments.known(time.time(), wanted)
        news = await self._ask(lambda store: store.tournaments(known))
        unreadable = self._tournaments.take(news, trio.current_time(), epoch if self._is_pairing else None)
        log_unreadable(unreadable)
        for table in self._tournaments.tables.values():
            self._end_decided_games(table)

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
        entries = self._tournaments.entries(table, now, unix, is_paused=self._hub.is_paused)
        if entries:
            return entries
        if tournament.is_to_begin({*table.here}, unix):
            names = [each.name for each in tournament.entrants]
            ratings = await self._ask(lambda store: store.ratings(names))
            return [tournament.beginning(ratings, table.seen(trio.current_time()))]
        question = tournament.question(unix)
        if question is None:
            return []
        return self._tournaments.pairings(table, await trio_parallel.run_sync(question, cancellable=True))

    async def _add(self, tournament: Tournament, entries: Sequence[Entry]) -> None:
        """Add entries to a log, unless it has other ones now, or a game that they forfeit is over."""
        key, known, texts = tournament.settings.key, tournament.known, [*map(written, entries)]
        pairings = [entry.pairing for entry in entries if isinstance(entry, Forfeited)]
        is_added = await self._ask(lambda store: store.add_to_log(key, known, texts, pairings))
        for entry in entries if is_added else ():
            _log(tournament, entry)

    def _seat_house_players(self, table: TournamentTable) -> None:
        """Seat the server's own players that take part or are wanted for tests, and are not here."""
        for name in table.tournament.house_players:
            if name not in table.here:
                self._seat(self._seated, table, name)
        for name in HOUSE_PLAYERS:
            for _ in range(table.testers(name), table.testers_wanted(name)):
                if name in table.tournament.house_players and name not in table.here:
                    break  # the next one to sit down takes part
                self._seat(self._testers, table, name)

    def _seat(
        self, seats: dict[tuple[TournamentTable, str], list[Seat]], table: TournamentTable, name: str
    ) -> None:
        now = trio.current_time()
        try:
            seats.setdefault((table, name), []).append(self._seat_house(name, table.name, now))
        except EngineUnavailable as error:
            if self._throttle.passes(now, (table.key, name)):
                extra = {"event": "tournament_player_missing", "tournament": table.key, "player": name}
                text = "tournament %s: %s cannot play: %s"
                logger.error(text, quoted(table.key), name, error, extra=extra)

    def _dismiss_house_players(self) -> None:
        """Disconnect own players that are not needed any more.

        Either their tournament was removed, or is over with all its games; or they are withdrawn, and do not
        play; or those that came for tests have no further test.
        """
        for seats in (self._seated, self._testers):
            for table, name in [*seats]:
                current = self._tournaments.tables.get(table.key)
                is_there = current is not None and current.tournament is table.tournament
                is_unneeded = current is None or not is_there or (current.is_over and not current.is_busy)
                if seats is self._testers:
                    is_unneeded = is_unneeded or table.testers_wanted(name) == 0
                elif not is_unneeded:
                    is_out = name not in table.tournament.house_players
                    is_unneeded = is_out and table.presence(name) != "plays"
                for seat in seats.pop((table, name)) if is_unneeded else ():
                    self._hub.submit(seat, Leave(), trio.current_time())

    # The director.

    async def act(self, parameters: Parameters) -> Outcome:
        """Carry out an act of the director of a tournament. Raises NotDoneError.

        The outcome has the act in words as ``done``, or a ``fault`` if it is not known whether it was done.
        """
        try:
            async with self._lock:
                outcome = await self._act(parameters)
        except StoreError as error:
            raise NotDoneError(f"the database cannot be used at the moment: {error}") from error
        except ValueError as error:
            raise NotDoneError(str(error)) from error
        self._wake()
        return outcome

    async def _act(self, parameters: Parameters) -> Outcome:
        wanted = self._table(parameters["name"]).key
        while True:
            await self._read(wanted)  # the act depends on all that was added until now
            tournament = self._table(parameters["name"]).tournament
            key, known = tournament.settings.key, tournament.known
            decision = decide(tournament, parameters["act"], parameters, time.time(), house_players())
            text = written(decision.entry, decision.by, decision.reason)
            try:
                is_added = await self._ask(partial(_add_to_log, key, known, text, decision.pairings))
            except StoreError as error:
                return {"fault": f"{error}; the log of the tournament says whether it was done"}
            if is_added:
                words = _log(tournament, decision.entry, decision.by)
                with self._logging_failures():
                    await self._read(wanted)  # from now on it has an effect
                return {"done": words}

    def _table(self, name: str) -> TournamentTable:
        table = self._tournaments.tables.get(name.casefold())
        if table is None:
            raise NotDoneError(
                f"there is no tournament {quoted(name)}{did_you_mean(name, self._tournaments.tables)}"
            )
        return table

    def view(self, name: str) -> Outcome:
        """Return what the director of a tournament sees on this node. Raises NotDoneError."""
        table, now = self._table(name), trio.current_time()
        games = [*self._games(table)]
        kinds = {
            seat.name: seat.manners.kind
            for seat in self._hub.seats()
            if seat.name is not None and isinstance(seat.place, AtTable) and seat.place.key == table.key
        }
        seen = seen_by_director(table, games, kinds, house_players(), now)
        return {**seen, "is_pairing": self._is_pairing}

    def _games(self, table: TournamentTable) -> Iterator[GameOn]:
        """Yield the games of a tournament that are on at this node, test games too."""
        seen = set[int]()
        for seat in self._hub.seats():
            if not isinstance(seat.situation, Seated):
                continue
            series = seat.situation.series
            scheduled = None if isinstance(series.match, HousePair) else series.match.scheduled
            is_ours = scheduled is not None and scheduled.created == table.tournament.created
            if scheduled is None or not is_ours or not series.is_playing or id(series) in seen:
                continue
            seen.add(id(series))
            yield GameOn.of(table.tournament, scheduled, series)

    def _end_decided_games(self, table: TournamentTable) -> None:
        """End the games that are on although the director has awarded them."""
        if table.is_closed(time.time()) or not table.tournament.has_awards:
            return
        for game in [*self._games(table)]:
            loser = table.tournament.loser_by_award(game.pairing, game.number)
            if loser is not None:
                self._hub.adjudicate(game.seat(loser), trio.current_time())


async def _add_to_log(
    key: str, known: Known, text: str, pairings: Sequence[int], store: StoreProcess
) -> bool:
    return await store.add_to_log(key, known, [text], pairings)


def _log(tournament: Tournament, entry: Entry, by: str = "") -> str:
    """Log an entry that was stored and that the tournament does not have yet; return it in words."""
    key, words = tournament.settings.key, in_words(entry, tournament)
    extra = {"event": "tournament", "tournament": key, "entry": type(entry).__name__, "by": by or None}
    shown = printable(f"{words} (by {by})" if by else words)
    logger.info("tournament %s: %s", quoted(key), shown, extra=extra)
    return words


def log_unreadable(found: Mapping[str, str]) -> None:
    """Log the tournaments that cannot be read, by their keys, with the reasons."""
    for key, why in found.items():
        extra = {"event": "tournament_unreadable", "tournament": key, "error": why}
        logger.error("the tournament %s cannot be read: %s", quoted(key), why, extra=extra)
