"""The match: tables take games, processes play them, and each game is written down before it counts.

A table is a pairing, and processes of its two players. It takes some games at a time, so that all tables end
together. A game that ended without a result, as where a bot left before both had moved, is played again. A
bot that ends after a game, as it should or not, is started again; one that fails several times without ending
a game plays no more, and all others go on.
"""

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import trio

from adapters.match import bots
from adapters.match.server import HOST, Server
from adapters.match.tables import Series
from gateway.game.clock import Terms
from gateway.game.ids import GameId
from gateway.game.results import WITHOUT_RESULT, Finished
from gateway.match.journal import Journal, Played
from gateway.match.schedule import Schedule
from gateway.match.tally import Tally
from gateway.store.records import REASONS, GameRecord, Participant, record_of

MOST_TOLD = 5
"""Failures of a bot that are told. All of them are in its log."""
PATIENCE = 60.0
"""Seconds that a bot has until it asks for a game, or for the next one."""
TRIES = 3
"""Failures of a bot without a game between them, after which it plays no more."""
ENGINE = "engine"
"""The kind of a player in a game of two engines."""


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
        self._tables: set[WireTable] = set()
        self._journal = journal
        self._logs = logs
        self._ids = ids
        self._openings: dict[tuple[int, int], str] = {}
        """Of each pair of engines' games that is half played."""
        self._by_game: dict[GameId, tuple[WireTable, int]] = {}
        self._enough = trio.Event()
        self._epoch = time.time() - trio.current_time()
        self.server = Server(Terms(clock=plan.clock, idle=plan.idle), ids, self._finished)
        for played in journal.games():
            self.schedule.done(played.pairing, played.number)
            self._count(played)

    @property
    def wanted(self) -> int:
        """How many games the match has."""
        return self.plan.games * len(self.schedule.pairings)

    async def run(self, tables: int) -> None:
        """Play at so many tables at once, until all is played or no further game is needed."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.server.run)
            nursery.start_soon(self._play, tables)
            await self._enough.wait()
            nursery.cancel_scope.cancel()

    async def _play(self, tables: int) -> None:
        if not self.over():
            async with trio.open_nursery() as nursery:
                for number in range(tables):
                    nursery.start_soon(self._sit, number)
        self._enough.set()

    async def _sit(self, number: int) -> None:
        """Play at one table, a pairing after the other."""
        while (pairing := self.schedule.sit()) is not None:
            texts = [self.plan.players[each][1] for each in self.schedule.pairings[pairing]]
            kind = WireTable if any(map(bots.is_command, texts)) else EngineTable
            table = kind(self, number, pairing)
            await table.run()
            self.schedule.rise(pairing, table.unplayed)

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
        """Write a game down, and count it."""
        self.schedule.done(played.pairing, played.number)
        self._journal.add(played)
        self.played += 1
        self._count(played)
        if self.over():
            self._enough.set()

    def drop(self, player: int, why: str) -> None:
        """Play no more games of a player."""
        if player in self.dropped:
            return
        self.dropped.add(player)
        games = 0
        for number, pairing in enumerate(self.schedule.pairings):
            if player in pairing:
                games += self.schedule.drop(number)
        self._tell(f"{self.plan.names[player]}: {why}; it plays no more, {games} games are left out")
        for table in self._tables:
            table.stop_if_dropped(player)

    def complain(self, name: str, what: str) -> None:
        """Tell what went wrong with a bot, unless that has been told often enough."""
        self._told[name] += 1
        if self._told[name] <= MOST_TOLD:
            more = "; what follows is in its log" if self._told[name] == MOST_TOLD else ""
            self._tell(f"{name}: {what}{more}")

    def opened(self, table: "WireTable") -> None:
        """Note that a table has sat down."""
        self._tables.add(table)

    def closed(self, table: "WireTable") -> None:
        """Note that a table has risen."""
        self._tables.discard(table)

    def next_id(self) -> GameId:
        """Return the id of another game."""
        return next(self._ids)

    def started(self, game: GameId, table: "WireTable", number: int) -> None:
        """Note which game of the schedule a game of the server is."""
        self._by_game[game] = table, number

    def _count(self, played: Played) -> None:
        self.tally.add(played)
        key = played.pairing, played.number // 2
        if self._openings.pop(key, None) is None and played.opening:
            self._openings[key] = played.record.moves[: played.opening]

    def _finished(self, finished: Finished) -> None:
        """Take in a game of the server's.

        One that ended because we end its connections is no game: the task that reports it is cancelled.
        """
        found = self._by_game.pop(finished.game, None)
        is_ours = trio.current_effective_deadline() == -math.inf
        if found is None or finished.reason in WITHOUT_RESULT or is_ours or found[1] not in found[0].unplayed:
            return
        table, number = found
        names = [self.plan.names[each] for each in self.schedule.pairings[table.pairing]]
        record = record_of(finished, self._epoch)
        kinds = [each.kind for each in record.players]
        order = names if number % 2 == 0 else names[::-1]
        one, two = (Participant(name, kind) for name, kind in zip(order, kinds, strict=True))
        record = replace(record, players=(one, two), table=None, series=0, round=1, counted=True)
        table.unplayed.remove(number)
        table.ended()
        self.add(Played(table.pairing, number, 0, record))


class _Seated:
    """What changes of one player at a table: whether it has a place."""

    def __init__(self) -> None:
        self.there = trio.Event()
        self.gone = trio.Event()
        self.gone.set()

    def change(self, *, there: bool) -> None:
        before, after = (self.gone, self.there) if there else (self.there, self.gone)
        if before.is_set():
            if there:
                self.gone = trio.Event()
            else:
                self.there = trio.Event()
        after.set()


class WireTable:
    """Two players of whom at least one is a bot on a wire."""

    def __init__(self, match: Match, number: int, pairing: int) -> None:
        self.pairing = pairing
        self.unplayed: list[int] = []
        """The games that the table has taken and that are not over."""
        self._match = match
        self._number = number
        self._players = match.schedule.pairings[pairing]
        self._seated = (_Seated(), _Seated())
        self._failures = [0, 0]
        self._ended = 0
        self._unreadable = [0, 0]
        self._over = trio.Event()

    async def run(self) -> None:
        """Play until the pairing has no more games. Raises OSError."""
        server = self._match.server
        names = [f"{self._number}.{self.pairing}.{side}" for side in (0, 1)]
        self._match.opened(self)
        try:
            async with trio.open_nursery() as nursery:
                for side, name in enumerate(names):
                    port = await server.listen(nursery, name, self, side)
                    nursery.start_soon(self._keep, side, port)
                await self._over.wait()
                nursery.cancel_scope.cancel()
        finally:
            self._match.closed(self)
            for name in names:
                server.close(name)

    def stop_if_dropped(self, player: int) -> None:
        """Play no more if that is one of its players."""
        if player in self._players:
            self.unplayed = []
            self._over.set()

    # What the matchmaker asks and tells.

    def plan(self) -> Series | None:
        """Return the games that can follow each other: colours swap with each of them."""
        if not self.unplayed:
            self.unplayed = self._match.schedule.take(self.pairing)
        if not self.unplayed:
            self._over.set()
            return None
        first = self.unplayed[0]
        games = 1
        while games < len(self.unplayed) and (self.unplayed[games] - first) % 2 == games % 2:
            games += 1
        return Series(first % 2, games)

    def seated(self, side: int, *, there: bool) -> None:
        """Note that a player has a place, or has none any more."""
        self._seated[side].change(there=there)

    def started(self, game: GameId, opener: int) -> None:
        """Note that a game began: the next one in which this side opens."""
        number = next((each for each in self.unplayed if each % 2 == opener), None)
        if number is not None:
            self._match.started(game, self, number)

    def ended(self) -> None:
        """Note that a game has a result."""
        self._ended += 1
        self._failures = [0, 0]

    def unreadable(self, side: int) -> None:
        """Tell of a message that is none, the first time."""
        self._unreadable[side] += 1
        if self._unreadable[side] == 1:
            self._tell(side, "sent what is no message of its dialect; its log may say why")

    # The processes.

    async def _keep(self, side: int, port: int) -> None:
        """Start a player's process, and start it again when it ends, until it fails too often."""
        name, text = self._match.plan.players[self._players[side]]
        if bots.is_command(text):
            words = bots.command(text, name, HOST, port)
        else:
            words = bots.engine(text, name, f"{HOST}:{port}", self._match.plan.think)
        log = self._match.log(name)
        while self._failures[side] < TRIES:
            since, games = bots.size(log), self._ended
            try:
                async with bots.process(words, log) as process:
                    ending = await self._ending(process, side)
            except OSError as error:
                ending = f"cannot be started: {error.strerror or error}"
            if ending or games == self._ended:
                self._failures[side] += 1
                self._tell(side, f"{ending or 'ended without a game'}: {bots.last_words(log, since)}")
        self._match.drop(self._players[side], f"failed {TRIES} times in a row")

    async def _ending(self, process: trio.Process, side: int) -> str:
        """Wait for a process's end; return what is wrong with it, if anything is."""
        said = ""
        async with trio.open_nursery() as nursery:

            async def watch() -> None:
                nonlocal said
                if await self._stays_away(side):
                    said = f"asked for no game within {PATIENCE:g} s"
                    nursery.cancel_scope.cancel()

            nursery.start_soon(watch)
            status = await process.wait()
            said = bots.how_it_ended(status) if status else ""
            nursery.cancel_scope.cancel()
        return said

    async def _stays_away(self, side: int) -> bool:
        """Return once a player has had no place for too long."""
        seated = self._seated[side]
        while True:
            with trio.move_on_after(PATIENCE):
                await seated.there.wait()
                await seated.gone.wait()
                continue
            if not seated.there.is_set():
                return True
            await seated.gone.wait()

    def _tell(self, side: int, what: str) -> None:
        self._match.complain(self._match.plan.names[self._players[side]], what)


class EngineTable:
    """Two engines, in a process of theirs."""

    def __init__(self, match: Match, number: int, pairing: int) -> None:
        self.pairing = pairing
        self.unplayed: list[int] = []
        self._match = match
        self._players = [match.plan.players[each] for each in match.schedule.pairings[pairing]]
        self._log = match.log("-".join(name for name, _ in self._players))

    async def run(self) -> None:
        """Play until the pairing has no more games, or the process dies too often. Raises OSError."""
        failures = 0
        while failures < TRIES:
            since, games = bots.size(self._log), self._match.played
            try:
                async with bots.process(bots.WORKER, self._log, talks=True) as process:
                    await self._play(bots.Worker(process))
                return
            except bots.Died as death:
                failures = failures + 1 if games == self._match.played else 1
                names = " and ".join(name for name, _ in self._players)
                self._match.complain(names, f"their process {death}: {bots.last_words(self._log, since)}")
        self._match.schedule.drop(self.pairing)

    async def _play(self, worker: bots.Worker) -> None:
        plan = self._match.plan
        engines = [text for _, text in self._players]
        await worker.say({"engines": engines, "think": plan.think, "idle": plan.idle})
        while self.unplayed or (taken := self._match.schedule.take(self.pairing)):
            self.unplayed = self.unplayed or taken
            number = self.unplayed[0]
            opening, lot = self._match.pair_opening(self.pairing, number)
            asked = {"opening": opening, "discs": plan.discs, "lot": lot, "first": number % 2}
            await worker.say(asked)
            found = await worker.answer()
            self.unplayed.remove(number)
            self._add(number, found)

    def _add(self, number: int, found: dict[str, Any]) -> None:
        names = [name for name, _ in self._players]
        one, two = (Participant(name, ENGINE) for name in (names if number % 2 == 0 else names[::-1]))
        if found["said"]:
            self._match.complain((two, one)[found["winner"]].name, found["said"])
        record = GameRecord(
            game=self._match.next_id(),
            began=found["began"],
            ended=found["ended"],
            players=(one, two),
            moves=found["moves"],
            winner=found["winner"],
            reason=REASONS[found["reason"]],
            thought=(found["thought"][0], found["thought"][1]),
        )
        self._match.add(Played(self.pairing, number, len(found["opening"]), record))
