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
from gateway.match.tally import Player as Counted
from gateway.match.tally import Tally
from gateway.store.records import WORDS, Participant, record_of

SYNC = 1.0
"""Seconds at least from one wait for the disk to the next."""
MOST_TOLD = 5
"""Failures of a bot that are told, one line each."""
TRIES = 3
"""Failures before the first move, without a game between them, after which a player plays no more."""
PATIENCE = 60.0
"""Seconds that an engine has until it is loaded, and a bot until it asks for a game, or for the next one."""


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
    strict: bool
    """Whether an engine that thinks for longer than that loses the game."""
    recover: bool
    """Whether games that a player left count as lost, however many they are."""
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

    def not_played(self, side: int, why: str) -> None:
        """Note that a player, 0 or 1 in its pairing, ended a game before it had begun to play."""

    def late_moves(self) -> tuple[int, int]:
        """Return how many late moves the players, 0 and 1 in their pairing, made in the game that is on."""

    def stop_if_dropped(self, player: int) -> None:
        """Play no more if that is one of its players."""


def has_moved(side: int, moves: int, opening: int = 0) -> bool:
    """Whether a side has made a move of its own, after so many moves of which the first were given."""
    return (moves + 1 - side) // 2 > (opening + 1 - side) // 2


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
        self._told: Counter[int] = Counter()
        self._latest: dict[int, str] = {}
        """What was last told of a player, and in which log there is more."""
        self._dropped: dict[int, str] = {}
        """Players that play no more, and why."""
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

    @property
    def failed(self) -> dict[int, str]:
        """The players whose games say nothing of their strength, and why."""
        found = dict(self._dropped)
        for number, player in enumerate(self.tally.players):
            if number not in found and player.leaves_most and not self.plan.recover:
                found[number] = _left(player)
        logs = f"(logs: {self._logs})"
        return {number: f"{why}; {self._latest.get(number, logs)}" for number, why in found.items()}

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
        for player in self.schedule.pairings[played.pairing]:
            if self.tally.players[player].goes_on_leaving and not self.plan.recover:
                self.drop(player, _left(self.tally.players[player]))
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
        if player in self._dropped:
            return
        self._dropped[player] = why
        theirs = [number for number, pairing in enumerate(self.schedule.pairings) if player in pairing]
        games = sum(map(self.schedule.drop, theirs))
        rest = f", {games} games are left out" if games else ""
        self._tell(f"{self.plan.names[player]}: {why}; it plays no more{rest}")
        for table in self._tables:
            table.stop_if_dropped(player)

    def complain(self, player: int, what: str, log: Path) -> None:
        """Tell what went wrong with a player, unless that has been told often enough."""
        self._latest[player] = f"{what} (log: {log})"
        self._told[player] += 1
        if self._told[player] <= MOST_TOLD:
            more = "; more of this is not told" if self._told[player] == MOST_TOLD else ""
            self._tell(f"{self.plan.names[player]}: {what}{more}")

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
        if finished.reason is Reason.ABORTED and finished.leaver is not None:
            table.not_played((finished.leaver + number) % 2, "left a game before both players had moved")
        if finished.reason in WITHOUT_RESULT:
            return
        late, reason = table.late_moves(), finished.reason
        if finished.winner is not None and reason is not Reason.FOUR:
            side = (1 - finished.winner + number) % 2
            if self.plan.strict and late[side]:  # its move was taken for a forfeit
                reason = Reason.TIME
            elif not has_moved(1 - finished.winner, len(finished.board.moves)):
                table.not_played(side, f"lost a game before its first move ({WORDS[reason]})")
                return
        names = [self.plan.names[each] for each in self.schedule.pairings[table.pairing]]
        record = record_of(finished, self._epoch)
        kinds = [each.kind for each in record.players]
        order = names if number % 2 == 0 else names[::-1]
        one, two = (Participant(name, kind) for name, kind in zip(order, kinds, strict=True))
        record = replace(
            record, players=(one, two), reason=reason, table=None, series=0, round=1, counted=True
        )
        table.unplayed.remove(number)
        table.ended()
        self.add(Played(table.pairing, number, 0, record, late if number % 2 == 0 else late[::-1]))


def _left(player: Counted) -> str:
    """Return why the games of a player that left most of them say nothing."""
    return f"left {sum(player.left)} of {player.total.games} games, which --recover would count as lost"
