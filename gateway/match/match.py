"""A match that is on: what is to be played and how, what was played, and who plays no more.

Each game is written down before it counts. One that ended without a result, as where a bot left before both
had moved, is played again. Does not know processes or sockets: where games are played is a `Table`'s.
"""

import secrets
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Self

import trio

from gateway.game.events import Reason
from gateway.game.ids import RUNS, game_ids
from gateway.match.journal import Journal, Played
from gateway.match.sprt import Decision, Sprt
from gateway.match.tally import Tally
from gateway.store.records import GameRecord
from gateway.tournament.formats import gauntlet, round_robin
from gateway.tournament.schedule import Schedule

SYNC = 1.0
"""Seconds at least from one wait for the disk to the next."""
MOST_SHOWN = 5
"""Failures of a player that are shown, a line each."""
TRIES = 3
"""Failures before the first move, without a game between them, after which a player plays no more."""
PATIENCE = 60.0
"""Seconds that an engine has until it is loaded, and a bot until it asks for a game, or for the next one."""
_KEYS = {"counts_left": "recover"}
"""Fields of a plan that have another name in the file of a match."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is to be played, and how: what stands in the file of the match."""

    players: Sequence[tuple[str, str]]
    """Names, and commands or engines."""
    games: int
    """Of each two players."""
    gauntlet: bool = False
    clock: float = 42.0
    idle: float = 60.0
    think: float | None = None
    strict: bool = False
    """Whether an engine that thinks for longer than that loses the game."""
    seed: str
    sprt: Sprt | None = None
    """The test of a hypothesis that the match is for."""
    counts_left: bool = False
    """Whether games that a player left count as lost, however many they are (``--recover``)."""
    discs: int = 0
    """Of the openings that are drawn by lot; 0 for the empty board."""
    openings: Sequence[str] = ()
    """The openings, where they are given."""

    @classmethod
    def of(cls, settings: dict[str, Any]) -> Self:
        """Return what the file of a match says. Raises ValueError."""
        try:
            optional = {"strict": False, "recover": False}  # files of version 0.2.0 have neither of the two
            found = optional | settings
            values = {each.name: found[_KEYS.get(each.name, each.name)] for each in fields(cls)}
            values["players"] = [(name, who) for name, who in values["players"]]
            if values["sprt"] is not None:
                values["sprt"] = Sprt(**values["sprt"])
            return cls(**values)
        except (KeyError, TypeError) as error:
            raise ValueError(f"the file of the match lacks something: {error}") from None

    def settings(self) -> dict[str, Any]:
        """Return what the file of the match is to say."""
        return {_KEYS.get(name, name): value for name, value in asdict(self).items()}


class Match:
    """A match that is on: the one round of a round robin or a gauntlet.

    For a format of several rounds its tally would have to follow the pairings, and its file to keep who has
    withdrawn.
    """

    def __init__(self, plan: Plan, journal: Journal, logs: Path, tell: Callable[[str], None]) -> None:
        """`tell` shows a line: what went wrong with a player. Raises OSError, ValueError."""
        self.plan = plan
        self.names = [name for name, _ in plan.players]
        form = gauntlet if plan.gauntlet else round_robin
        self.tally = Tally(self.names, form(range(len(plan.players)), []))
        self.schedule = Schedule(len(plan.players), plan.games, form, journal, self.tally.add)
        self.played = 0
        """Games of this run."""
        self.ids = game_ids(secrets.randbelow(RUNS))
        self._tell = tell
        self._complaints: Counter[int] = Counter()
        self._latest: dict[int, str] = {}
        """The last complaint about a player, and in which log there is more."""
        self._dropped: dict[int, str] = {}
        """Players that play no more, and why."""
        self._journal = journal
        self._added = trio.Event()
        """Whether a game was written that nobody has waited for."""
        self._logs = logs
        self._playing = trio.CancelScope()
        self._tables: dict[trio.CancelScope, int] = {}
        """Where games are played, and the pairing there."""
        self._failure: Exception | None = None

    @property
    def games(self) -> int:
        """How many games the match has."""
        return self.plan.games * len(self.schedule.pairings)

    @property
    def is_decided(self) -> bool:
        """Whether no further game is needed: the test is decided, or cannot be, and nobody has failed."""
        test, meeting = self.plan.sprt, self.tally.meetings[0]
        if test is None or self.failed:
            return False
        return bool(meeting.repeats) or test.decision(test.ratio(meeting.cells)) is not Decision.GOES_ON

    @property
    def failed(self) -> dict[int, str]:
        """The players whose games say nothing of their strength, and why."""
        reasons = dict(self._dropped)
        for number, player in enumerate(self.tally.players):
            if number not in reasons and player.leaves_most and not self.plan.counts_left:
                reasons[number] = self._left(number)
        logs = f"(logs: {self._logs})"
        return {number: f"{why}; {self._latest.get(number, logs)}" for number, why in reasons.items()}

    async def run(self, tables: int, table_of: "Callable[[Match, int], Table]") -> None:
        """Play at so many tables at once, until no further game is needed. Raises OSError, perhaps wrapped.

        `table_of` returns a table for a pairing.
        """
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._sync)
            with self._playing:
                async with trio.open_nursery() as playing:
                    for _ in range(0 if self.is_decided else tables):
                        playing.start_soon(self._play, table_of)
            nursery.cancel_scope.cancel()
        if self._failure is not None:
            raise self._failure

    def stop(self, failure: Exception | None = None) -> None:
        """Play no more; with a `failure`, as where a game cannot be written down, `run` raises it."""
        self._failure = self._failure or failure
        self._playing.cancel()

    def add(self, played: Played) -> None:
        """Write a game down, and count it, unless the match is over. Raises OSError."""
        if self._playing.cancel_called:
            return
        try:
            self.schedule.record(played)
        except OSError as error:  # no other table may write behind a line that is perhaps not whole
            self.stop(error)
            raise
        self._added.set()
        self.played += 1
        for player in self.schedule.pairings[played.pairing]:
            if self.tally.players[player].goes_on_leaving and not self.plan.counts_left:
                self.drop(player, self._left(player))
        if self.is_decided:
            self.stop()

    def drop(self, player: int, why: str) -> None:
        """Play no more games of a player, until the match goes on after a stop."""
        if player in self._dropped:
            return
        self._dropped[player] = why
        games = self.schedule.withdraw(player)
        rest = f", {games} games are left out" if games else ""
        self._tell(f"{self.names[player]}: {why}; it plays no more{rest}")
        for scope, pairing in self._tables.items():
            if player in self.schedule.pairings[pairing]:
                scope.cancel()

    def complain(self, player: int, what: str, log: Path) -> None:
        """Show what went wrong with a player, unless that was often enough, or it plays no more."""
        self._latest[player] = f"{what} (log: {log})"
        if player in self._dropped:
            return
        self._complaints[player] += 1
        if self._complaints[player] <= MOST_SHOWN:
            more = "; more of this is not told" if self._complaints[player] == MOST_SHOWN else ""
            self._tell(f"{self.names[player]}: {what}{more}")

    def log(self, name: str) -> Path:
        """Return where the stderr of a player, or of two engines, is kept."""
        return self._logs / f"{name}.log"

    async def _play(self, table_of: "Callable[[Match, int], Table]") -> None:
        """Play at one table, a pairing after the other."""
        while (pairing := self.schedule.assign()) is not None:
            table = table_of(self, pairing)
            with trio.CancelScope() as scope:
                self._tables[scope] = pairing
                await table.run()
            del self._tables[scope]
            self.schedule.release(pairing, table.unplayed)

    async def _sync(self) -> None:
        """See to it that a power cut costs no games but the latest. Raises OSError."""
        while True:
            await self._added.wait()
            self._added = trio.Event()
            await trio.to_thread.run_sync(self._journal.sync)
            await trio.sleep(SYNC)

    def _left(self, player: int) -> str:
        """Return why the games of a player that left most of them say nothing."""
        counted = self.tally.players[player]
        return f"left {sum(counted.left)} of {counted.total.games} games, which --recover would count as lost"


class Table:
    """Where two players play games of their pairing, one after the other."""

    def __init__(self, match: Match, pairing: int) -> None:
        self.pairing = pairing
        """Its number in the schedule."""
        self.unplayed: list[int] = []
        """The games that the table has taken and that are not over."""
        self._match = match
        self._pair = match.schedule.pairings[pairing]
        self._players = [match.plan.players[each] for each in self._pair]
        self._failures = [0, 0]
        """Of each player before its first move, without a game of this table between them."""

    async def run(self) -> None:
        """Play until the pairing has no more games. Raises OSError."""
        raise NotImplementedError

    def next_game(self) -> int | None:
        """Return the number of the next game; None where there is none."""
        self.unplayed = self.unplayed or self._match.schedule.take(self.pairing)
        return self.unplayed[0] if self.unplayed and self.is_wanted(self.unplayed[0]) else None

    def not_begun(self, number: int, record: GameRecord, late: Sequence[int], opening: int = 0) -> int | None:
        """Return the side that lost a game before it had made a move of its own; None if neither did.

        `late` are moves that took too long, the first mover's first; `opening` is how many moves were given.
        """
        if record.winner is None or record.reason is Reason.FOUR:
            return None
        loser = 1 - record.winner
        own_moves = (len(record.moves) + 1 - loser) // 2 - (opening + 1 - loser) // 2
        was_late = self._match.plan.strict and late[loser]  # it made a move, which is no move
        return None if own_moves or was_late else (loser + number) % 2

    def count(self, number: int, record: GameRecord, late: Sequence[int], opening: int = 0) -> None:
        """Count a game between the two, who get the names that they have in the match. Raises OSError."""
        one, two = (
            replace(participant, name=self._players[(mover + number) % 2][0])
            for mover, participant in enumerate(record.players)
        )
        self.unplayed.remove(number)
        self._failures = [0, 0]
        record = replace(record, players=(one, two))
        self._match.add(Played(self.pairing, number, opening, record, (late[0], late[1])))

    def is_wanted(self, number: int) -> bool:
        """Whether a game of the pairing is still to be played: a player may have been given up meanwhile."""
        return self._match.schedule.is_wanted(self.pairing, number)

    def fail(self, side: int, why: str, log: Path) -> None:
        """Count a failure of a player before its first move; after a few in a row it plays no more."""
        self._failures[side] += 1
        self._match.complain(self._pair[side], why, log)
        if self._failures[side] == TRIES:
            self._match.drop(self._pair[side], f"failed {TRIES} times in a row before its first move")
