"""A running match: its plan, its games, and its players, some of which may be dropped.

A game is written to the file before it is counted. A game without a result is played again. This module does
not know processes or sockets; a `MatchTable` plays the games.
"""

import secrets
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import combinations
from pathlib import Path
from typing import Any, Self

import trio

from gateway.game.events import Reason
from gateway.game.ids import RUNS, game_ids
from gateway.match.journal import Journal, Played
from gateway.match.sprt import Sprt, Verdict
from gateway.match.tally import MatchTally
from gateway.store.records import GameRecord
from gateway.tournament.schedule import Schedule

SYNC = 1.0
"""The minimum number of seconds between two syncs of the file."""
MOST_SHOWN = 5
"""The maximum number of failures of a player that are shown, each in one line."""
TRIES = 3
"""A player that fails before its first move in this many games in a row is dropped."""
PATIENCE = 60.0
"""The number of seconds that an engine has to load, or a bot to ask for its first or next game."""
_KEYS = {"counts_left": "recover"}
"""The fields of a plan that have another name in the file of a match."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The settings of a match, which are also in its file. Times are in seconds."""

    players: Sequence[tuple[str, str]]
    """The name of each player, and its command or engine."""
    games: int
    """The number of games in each pairing of two players."""
    gauntlet: bool = False
    clock: float = 42.0
    idle: float = 60.0
    think: float | None = None
    strict: bool = False
    """Whether an engine that takes longer than `think` for a move loses the game."""
    seed: str
    sprt: Sprt | None = None
    """The sequential test that ends the match."""
    counts_left: bool = False
    """Whether a player's result is valid even if it left most of its games (``--recover``)."""
    discs: int = 0
    """The number of discs in random openings; 0 for the empty board."""
    openings: Sequence[str] = ()
    """The openings of ``--openings``, as columns counted from 0; empty without that option."""

    @classmethod
    def of(cls, settings: dict[str, Any]) -> Self:
        """Return the plan that has these settings, which are from the file of a match. Raises ValueError."""
        try:
            optional = {"strict": False, "recover": False}  # missing in files of version 0.2.0
            found = optional | settings
            values = {each.name: found[_KEYS.get(each.name, each.name)] for each in fields(cls)}
            values["players"] = [(name, who) for name, who in values["players"]]
            if values["sprt"] is not None:
                values["sprt"] = Sprt(**values["sprt"])
            return cls(**values)
        except (KeyError, TypeError) as error:
            raise ValueError(f"the file of the match lacks something: {error}") from None

    def settings(self) -> dict[str, Any]:
        """Return the settings for the file of the match."""
        return {_KEYS.get(name, name): value for name, value in asdict(self).items()}


class Match:
    """A running match: each two players meet, or in a gauntlet the first player meets each other."""

    def __init__(self, plan: Plan, journal: Journal, logs: Path, tell: Callable[[str], None]) -> None:
        """Load the games in the file. `tell` shows a line about a player's failure.

        Raises OSError or ValueError.
        """
        self.plan = plan
        self.names = [name for name, _ in plan.players]
        # The file of a match has the numbers of pairings, so their order must never change.
        pairings = list(combinations(range(len(plan.players)), 2))
        if plan.gauntlet:
            pairings = pairings[: len(plan.players) - 1]
        self.tally = MatchTally(self.names, pairings)
        self.schedule = Schedule(plan.games)
        self.schedule.add(pairings)
        for played in journal.load():
            self._count(played)
        self.played = 0
        """The number of games played by this run of the command."""
        self.ids = game_ids(secrets.randbelow(RUNS))
        self._tell = tell
        self._complaints: Counter[int] = Counter()
        self._latest: dict[int, str] = {}
        """The latest failure of each player, with the path of the player's log."""
        self._dropped: dict[int, str] = {}
        """The dropped players, and the reasons."""
        self._journal = journal
        self._added = trio.Event()
        """Set when a game has been written and not synced yet."""
        self._logs = logs
        self._playing = trio.CancelScope()
        self._tables: dict[trio.CancelScope, int] = {}
        """The cancel scope of each table, and its pairing."""
        self._failure: Exception | None = None

    @property
    def games(self) -> int:
        """The number of games of the match."""
        return self.plan.games * len(self.schedule.pairings)

    @property
    def is_decided(self) -> bool:
        """Whether the test has a verdict, or can have none because pairs of games repeat each other.

        False if a player failed.
        """
        test, meeting = self.plan.sprt, self.tally.meetings[0]
        if test is None or self.failed:
            return False
        return bool(meeting.repeats) or test.decision(test.ratio(meeting.cells)) is not Verdict.GOES_ON

    @property
    def failed(self) -> dict[int, str]:
        """The numbers of the players whose games do not show their strength, and the reasons."""
        reasons = dict(self._dropped)
        for number, player in enumerate(self.tally.players):
            if number not in reasons and player.leaves_most and not self.plan.counts_left:
                reasons[number] = self._left(number)
        logs = f"(logs: {self._logs})"
        return {number: f"{why}; {self._latest.get(number, logs)}" for number, why in reasons.items()}

    async def run(self, tables: int, table_of: "Callable[[Match, int], MatchTable]") -> None:
        """Play at `tables` tables at the same time until no further game is needed.

        `table_of` returns a table for a pairing. Raises OSError, possibly in an exception group.
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
        """Stop playing. If a `failure` is given, such as an error of the file, `run` raises it."""
        self._failure = self._failure or failure
        self._playing.cancel()

    def add(self, played: Played) -> None:
        """Write a game to the file and count it, unless the match is over. Raises OSError."""
        if self._playing.cancel_called:
            return
        try:
            self._journal.append(played)
        except OSError as error:  # the last line may be incomplete, so no table may write another one
            self.stop(error)
            raise
        self._count(played)
        self._added.set()
        self.played += 1
        for player in self.schedule.pairings[played.pairing]:
            if self.tally.players[player].goes_on_leaving and not self.plan.counts_left:
                self.drop(player, self._left(player))
        if self.is_decided:
            self.stop()

    def drop(self, player: int, why: str) -> None:
        """Drop a player. This run of the command then plays no more games with it."""
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
        """Show a failure of a player, unless `MOST_SHOWN` were shown or the player is dropped."""
        self._latest[player] = f"{what} (log: {log})"
        if player in self._dropped:
            return
        self._complaints[player] += 1
        if self._complaints[player] <= MOST_SHOWN:
            more = "; further ones are not shown" if self._complaints[player] == MOST_SHOWN else ""
            self._tell(f"{self.names[player]}: {what}{more}")

    def log(self, name: str) -> Path:
        """Return the path of the log file `name`, which has the stderr of a player or of two engines."""
        return self._logs / f"{name}.log"

    def _count(self, played: Played) -> None:
        """Count a game of the file. Raises ValueError if its game is unknown or was counted before."""
        self.schedule.count(played.pairing, played.number, played.points)
        self.tally.add(played)

    async def _play(self, table_of: "Callable[[Match, int], MatchTable]") -> None:
        """Play at one table, one pairing after the other."""
        while (pairing := self.schedule.assign()) is not None:
            table = table_of(self, pairing)
            with trio.CancelScope() as scope:
                self._tables[scope] = pairing
                await table.run()
            del self._tables[scope]
            self.schedule.release(pairing, table.unplayed)

    async def _sync(self) -> None:
        """Sync the file after games were written, at most once in `SYNC` seconds. Raises OSError."""
        while True:
            await self._added.wait()
            self._added = trio.Event()
            await trio.to_thread.run_sync(self._journal.sync)
            await trio.sleep(SYNC)

    def _left(self, player: int) -> str:
        """Return the text about a player that has no result because it left most of its games."""
        counted = self.tally.players[player]
        return f"left {sum(counted.left)} of {counted.total.games} games, which --recover would count as lost"


class MatchTable:
    """Plays games of one pairing, one after the other."""

    def __init__(self, match: Match, pairing: int) -> None:
        self.pairing = pairing
        """The number of the pairing in the schedule."""
        self.unplayed: list[int] = []
        """The numbers of the games that the table has taken and that are not over."""
        self._match = match
        self._pair = match.schedule.pairings[pairing]
        self._players = [match.plan.players[each] for each in self._pair]
        self._failures = [0, 0]
        """Each player's number of failures before its first move, since the table's last counted game."""

    async def run(self) -> None:
        """Play until the pairing has no more games. Raises OSError."""
        raise NotImplementedError

    def next_game(self) -> int | None:
        """Return the number of the next game; None if no game is left."""
        self.unplayed = self.unplayed or self._match.schedule.take(self.pairing)
        return self.unplayed[0] if self.unplayed and self.is_wanted(self.unplayed[0]) else None

    def not_begun(self, number: int, record: GameRecord, late: Sequence[int], opening: int = 0) -> int | None:
        """Return the player, 0 or 1, that lost a game before its own first move; None if neither did.

        `late` has the numbers of moves of the first and the second mover that took too long. `opening` is the
        number of moves in the opening.
        """
        if record.winner is None or record.reason is Reason.FOUR:
            return None
        loser = 1 - record.winner
        own_moves = (len(record.moves) + 1 - loser) // 2 - (opening + 1 - loser) // 2
        was_late = self._match.plan.strict and late[loser]  # the loser chose a move, but too late
        return None if own_moves or was_late else (loser + number) % 2

    def count(self, number: int, record: GameRecord, late: Sequence[int], opening: int = 0) -> None:
        """Count a game, in which the players get their names in the match. Raises OSError."""
        one, two = (
            replace(participant, name=self._players[(mover + number) % 2][0])
            for mover, participant in enumerate(record.players)
        )
        self.unplayed.remove(number)
        self._failures = [0, 0]
        record = replace(record, players=(one, two))
        self._match.add(Played(self.pairing, number, opening, record, (late[0], late[1])))

    def is_wanted(self, number: int) -> bool:
        """Whether a game must still be played. It must not if one of its players was dropped."""
        return self._match.schedule.is_wanted(self.pairing, number)

    def fail(self, side: int, why: str, log: Path) -> None:
        """Count a failure of a player before its first move. After `TRIES` in a row, drop the player."""
        self._failures[side] += 1
        self._match.complain(self._pair[side], why, log)
        if self._failures[side] == TRIES:
            self._match.drop(self._pair[side], f"failed {TRIES} times in a row before its first move")
