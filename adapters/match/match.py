"""A match that is on: what is to be played, what was, and what each game of the server's is in it.

Each game is written down before it counts. One that ended without a result, as where a bot left before both
had moved, is played again. Does not know processes.
"""

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import trio

from adapters.match.server import Server
from gateway.game.clock import Terms
from gateway.game.events import Reason
from gateway.game.ids import GameId
from gateway.game.results import WITHOUT_RESULT, Finished
from gateway.match.journal import Journal, Played
from gateway.match.schedule import Schedule
from gateway.match.tally import Tally
from gateway.store.records import Participant, record_of

SYNC = 1.0
"""Seconds at least from one wait for the disk to the next."""
MOST_TOLD = 5
"""Failures of a bot that are told, one line each."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be played, and how."""

    players: Sequence[tuple[str, str]]
    """Names, and commands or engines."""
    games: int
    """Of each two players."""
    gauntlet: bool
    clock: float
    idle: float
    think: float | None
    discs: int
    """Of the openings that are drawn by lot; 0 for the empty board."""
    openings: Sequence[str]
    """The openings, where they are given."""
    seed: str

    @property
    def names(self) -> list[str]:
        """The players' names."""
        return [name for name, _ in self.players]


class Sitting(Protocol):
    """A table with bots on a wire, as the match sees it."""

    pairing: int
    unplayed: list[int]
    """The games that the table has taken and that are not over."""

    def ended(self) -> None:
        """Note that a game has a result."""

    def aborted(self, leaver: int) -> None:
        """Note that a player, 0 or 1 in its pairing, left a game before both had moved."""

    def stop_if_dropped(self, player: int) -> None:
        """Play no more if that is one of its players."""


class Match:
    """A match that is on."""

    def __init__(
        self,
        plan: Plan,
        journal: Journal,
        logs: Path,
        ids: Iterator[GameId],
        tell: Callable[[str], None],
    ) -> None:
        """`tell` is told, in one line, what went wrong with a bot. Raises OSError, ValueError."""
        self.plan = plan
        self.schedule = Schedule(len(plan.players), plan.games, gauntlet=plan.gauntlet)
        self.tally = Tally(plan.names, self.schedule.pairings)
        self.played = 0
        """Games of this run."""
        self.over: Callable[[], bool] = lambda: False
        """Whether no further game is needed; is asked after each."""
        self._tell = tell
        self._told: Counter[str] = Counter()
        self.dropped: set[int] = set()
        """Players that play no more."""
        self.is_whole = True
        """Whether no game was left out because a player failed."""
        self._tables: set[Sitting] = set()
        self._journal = journal
        self._added = trio.Event()
        """Whether a game was written that nobody has waited for."""
        self._logs = logs
        self._ids = ids
        self._openings: dict[tuple[int, int], str] = {}
        """Of each pair of engines' games that is half played."""
        self._by_game: dict[GameId, tuple[Sitting, int]] = {}
        self.enough = trio.Event()
        """Whether no further game is needed, as `over` said or because none is left."""
        self._epoch = time.time() - trio.current_time()
        self.failure: Exception | None = None
        """Why the match cannot go on: as where a game cannot be written down."""
        terms = Terms(clock=plan.clock, idle=plan.idle)
        self.server = Server(terms, ids, self._finished, self._failed)
        for played in journal.games():
            self.schedule.done(played.pairing, played.number)
            self._count(played)

    @property
    def wanted(self) -> int:
        """How many games the match has."""
        return self.plan.games * len(self.schedule.pairings)

    def log(self, name: str) -> Path:
        """Return where a player's stderr is kept."""
        return self._logs / f"{name}.log"

    def pair_opening(self, pairing: int, number: int) -> tuple[str | None, str]:
        """Return the opening of a game; None, and a lot to draw it by, where nobody knows it yet."""
        pair = number // 2
        given = self.plan.openings
        if given:
            return given[pair % len(given)], ""
        if not self.plan.discs:
            return "", ""
        return self._openings.get((pairing, pair)), f"{self.plan.seed} {pairing} {pair}"

    def add(self, played: Played) -> None:
        """Write a game down, and count it, unless the match is decided."""
        if self.enough.is_set():
            return
        self.schedule.done(played.pairing, played.number)
        self._journal.add(played)
        self._added.set()
        self.played += 1
        self._count(played)
        if self.over():
            self.enough.set()

    async def keep(self) -> None:
        """See to it that a power cut costs no games but the latest. Raises OSError."""
        while True:
            await self._added.wait()
            self._added = trio.Event()
            await trio.to_thread.run_sync(self._journal.sync)
            await trio.sleep(SYNC)

    def drop(self, player: int, why: str) -> None:
        """Play no more games of a player."""
        if player in self.dropped:
            return
        self.dropped.add(player)
        theirs = [number for number, pairing in enumerate(self.schedule.pairings) if player in pairing]
        self._leave_out(theirs, f"{self.plan.names[player]}: {why}; it plays no more")
        for table in self._tables:
            table.stop_if_dropped(player)

    def drop_pairing(self, pairing: int, why: str) -> None:
        """Play no more games of two players against each other."""
        one, two = (self.plan.names[each] for each in self.schedule.pairings[pairing])
        self._leave_out([pairing], f"{one} and {two}: {why}; they play each other no more")

    def _leave_out(self, pairings: Sequence[int], why: str) -> None:
        self.is_whole = False
        games = sum(map(self.schedule.drop, pairings))
        if games:  # none where another table of theirs has told it
            self._tell(f"{why}, {games} games are left out")

    def complain(self, name: str, what: str) -> None:
        """Tell what went wrong with a bot, unless that has been told often enough."""
        self._told[name] += 1
        if self._told[name] <= MOST_TOLD:
            more = "; more of this is not told" if self._told[name] == MOST_TOLD else ""
            self._tell(f"{name}: {what}{more}")

    def opened(self, table: "Sitting") -> None:
        """Note that a table has sat down."""
        self._tables.add(table)

    def closed(self, table: "Sitting") -> None:
        """Note that a table has risen."""
        self._tables.discard(table)

    def next_id(self) -> GameId:
        """Return the id of another game."""
        return next(self._ids)

    def started(self, game: GameId, table: "Sitting", number: int) -> None:
        """Note which game of the schedule a game of the server is."""
        self._by_game[game] = table, number

    def _count(self, played: Played) -> None:
        self.tally.add(played)
        key = played.pairing, played.number // 2
        if self._openings.pop(key, None) is None and played.opening:
            self._openings[key] = played.record.moves[: played.opening]

    def _failed(self, error: Exception) -> None:
        self.failure = error
        self.enough.set()

    def _finished(self, finished: Finished) -> None:
        """Take in a game of the server's.

        One that ended because we end its connections is no game: the task that reports it is cancelled.
        """
        found = self._by_game.pop(finished.game, None)
        is_ours = trio.current_effective_deadline() == -math.inf
        if found is None or is_ours or found[1] not in found[0].unplayed:
            return
        table, number = found
        if finished.leaver is not None and finished.reason is Reason.ABORTED:
            table.aborted(finished.leaver if number % 2 == 0 else 1 - finished.leaver)
        if finished.reason in WITHOUT_RESULT:
            return
        names = [self.plan.names[each] for each in self.schedule.pairings[table.pairing]]
        record = record_of(finished, self._epoch)
        kinds = [each.kind for each in record.players]
        order = names if number % 2 == 0 else names[::-1]
        one, two = (Participant(name, kind) for name, kind in zip(order, kinds, strict=True))
        record = replace(record, players=(one, two), table=None, series=0, round=1, counted=True)
        table.unplayed.remove(number)
        table.ended()
        self.add(Played(table.pairing, number, 0, record))
