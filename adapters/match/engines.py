"""A table at which two engines play, in a process of theirs and without a server."""

from collections.abc import Sequence
from typing import Any

from adapters.match import bots
from adapters.match.match import PATIENCE, TRIES, Match, has_moved
from gateway.engines.catalogue import runs_user_code
from gateway.game.board import CELLS
from gateway.match.journal import Played
from gateway.runtime import children
from gateway.store.records import REASONS, GameRecord, Participant

SPARE = 20.0
"""Seconds that a game may take beside its moves: while an opening is drawn."""
ENGINE = "engine"
"""The kind of a player here."""


class EngineTable:
    """Two engines, in a process of theirs."""

    def __init__(self, match: Match, number: int, pairing: int) -> None:
        self.pairing = pairing
        self.unplayed: list[int] = []
        self._match = match
        self._pair = match.schedule.pairings[pairing]
        self._players = [match.plan.players[each] for each in self._pair]
        self._log = match.log("-".join(name for name, _ in self._players))
        self._failures = [0, 0]
        """Of each player, without a game of this table between them."""
        self._since = 0
        """The size of the log when the process started."""

    async def run(self) -> None:
        """Play until the pairing has no more games. Raises OSError."""
        while self._has_more():
            self._since = children.size(self._log)
            try:
                async with children.process(bots.WORKER, self._log, talks=True) as process:
                    worker = bots.Worker(process)
                    if await self._load(worker):
                        await self._play(worker)
            except bots.Died as death:  # and nobody knows by whose fault
                self._failed((0, 1), f"the process of both engines {death}: {self._last_words()}")

    def _has_more(self) -> bool:
        self.unplayed = self.unplayed or self._match.schedule.take(self.pairing)
        return bool(self.unplayed) and self._match.schedule.wants(self.pairing, self.unplayed[0])

    async def _load(self, worker: bots.Worker) -> bool:
        """Let the process have its engines; return whether it has."""
        plan = self._match.plan
        engines = [text for _, text in self._players]
        limits = {"think": plan.think, "idle": plan.idle, "strict": plan.strict}
        await worker.say({"engines": engines, **limits})
        for side in (0, 1):
            try:
                why = await worker.answer(PATIENCE)
            except bots.Late:
                why = f"the engine could not be loaded within {PATIENCE:g} s"
            except bots.Died as death:
                why = f"the process that loads the engine {death}: {self._last_words()}"
            if why is not None:
                self._failed((side,), why)
                return False
        return True

    async def _play(self, worker: bots.Worker) -> None:
        """Play until there are no more games, or the process is of no more use. Raises Died."""
        plan = self._match.plan
        moves = 2 if any(runs_user_code(text) for _, text in self._players) else CELLS
        while self._has_more():
            number = self.unplayed[0]
            opening, lot = self._match.pair_opening(self.pairing, number)
            asked = {"opening": opening, "discs": plan.discs, "lot": lot, "first": number % 2}
            await worker.say(asked)
            found: dict[str, Any] | None = None
            try:
                while found is None or not found["over"]:
                    found = await worker.answer(moves * plan.idle + SPARE)
            except bots.Late:
                if found is None:
                    raise bots.Died(f"has not played a game within {moves} x {plan.idle:g} s") from None
                why = f"the engine chose nothing within {plan.idle:g} s, and could not be stopped"
                self._add(number, {**found, "reason": "time", "said": why})
                return
            except bots.Died as death:
                if found is None:
                    raise
                self._add(number, {**found, "said": f"the engine's process {death}: {self._last_words()}"})
                return
            self._add(number, found)

    def _add(self, number: int, found: dict[str, Any]) -> None:
        """Count a game, unless who lost it failed before its first move."""
        if not self._match.schedule.wants(self.pairing, number):  # another table has given up meanwhile
            return
        names = [name for name, _ in self._players]
        one, two = (Participant(name, ENGINE) for name in (names if number % 2 == 0 else names[::-1]))
        opening, moves, winner = len(found["opening"]), found["moves"], found["winner"]
        for side in (0, 1):
            if (late := found["late"][side]) and not found["said"]:
                what = f"{late} of its moves in a game took longer than --think allows"
                self._match.complain(self._pair[(side + number) % 2], what, self._log)
        if why := found["said"]:
            loser = (1 - winner + number) % 2
            if self._players[loser][1].startswith("exec:"):
                why += f": {self._last_words()}"
            has_played = has_moved(1 - winner, len(moves), opening)
            if not has_played and not (self._match.plan.strict and found["late"][1 - winner]):
                self._failed((loser,), why)
                return
            self._match.complain(self._pair[loser], why, self._log)
        self.unplayed.remove(number)
        self._failures = [0, 0]
        record = GameRecord(
            game=self._match.next_id(),
            began=found["began"],
            ended=found["ended"],
            players=(one, two),
            moves=moves,
            winner=winner,
            reason=REASONS[found["reason"]],
            thought=(found["thought"][0], found["thought"][1]),
        )
        late = found["late"][0], found["late"][1]
        self._match.add(Played(self.pairing, number, opening, record, late))

    def _last_words(self) -> str:
        return children.last_words(self._log, self._since)

    def _failed(self, sides: Sequence[int], why: str) -> None:
        """Count a failure before the first move; after a few in a row the player plays no more."""
        for side in sides:
            self._failures[side] += 1
            self._match.complain(self._pair[side], why, self._log)
            if self._failures[side] == TRIES:
                self._match.drop(self._pair[side], f"failed {TRIES} times in a row before its first move")
