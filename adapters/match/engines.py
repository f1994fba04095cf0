"""A table at which two engines play, in a process of theirs and without a server."""

from typing import Any

import trio

from adapters import children
from adapters.match import bots
from adapters.match.match import Match
from gateway.game.board import CELLS
from gateway.match.journal import Played
from gateway.store.records import REASONS, GameRecord, Participant

TRIES = 3
"""Deaths of the process without a game between them, after which the two play no more."""
SPARE = 20.0
"""Seconds that a game may take beside its moves: while the process starts, and draws an opening."""
ENGINE = "engine"
"""The kind of a player here."""


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
            since, games = children.size(self._log), self._match.played
            try:
                async with children.process(bots.WORKER, self._log, talks=True) as process:
                    await self._play(bots.Worker(process))
                return
            except bots.Died as death:
                failures = failures + 1 if games == self._match.played else 1
                names = " and ".join(name for name, _ in self._players)
                self._match.complain(names, f"their process {death}: {children.last_words(self._log, since)}")
        self._match.drop_pairing(self.pairing, f"their process failed {TRIES} times in a row")

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
            with trio.move_on_after(CELLS * plan.idle + SPARE) as patience:
                found = await worker.answer()
            if patience.cancelled_caught:
                raise bots.Died(f"has not played a game within {CELLS} x {plan.idle:g} s")
            self.unplayed.remove(number)
            if not self._match.schedule.wants(self.pairing, number):  # another table has given up meanwhile
                return
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
