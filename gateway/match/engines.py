"""A table with two engines, which play in one process (`worker`), without a server."""

import json
from collections.abc import Sequence
from typing import Any

import trio

from gateway.engines.catalogue import is_program, runs_user_code
from gateway.game.board import CELLS
from gateway.match.match import PATIENCE, Match, MatchTable
from gateway.runtime import children
from gateway.runtime.processes import running
from gateway.store.records import REASONS, GameRecord, Participant

SPARE = 20.0
"""The number of seconds that a game may take in addition to its moves, for drawing a random opening."""
ENGINE = "engine"
"""The `kind` of an engine in records."""
PROCESS = running("gateway.match.worker")
"""The command that starts the worker."""


class Died(Exception):
    """The process ended before its work was done."""


class Late(Exception):
    """The process did not answer in time."""


class EngineProcess:
    """The parent's connection to the process in which two engines play. It carries lines of JSON."""

    def __init__(self, started: trio.Process) -> None:
        assert started.stdin is not None
        assert started.stdout is not None
        self._process, self._stdin, self._stdout = started, started.stdin, started.stdout
        self._rest = b""

    async def send(self, message: object) -> None:
        """Send a line. Raises Died."""
        try:
            await self._stdin.send_all(json.dumps(message).encode() + b"\n")
        except trio.BrokenResourceError:
            raise Died(children.how_it_ended(await self._process.wait())) from None

    async def answer(self, seconds: float) -> Any:
        """Wait up to `seconds` for the next line, and return the value in it. Raises Died or Late."""
        while b"\n" not in self._rest:
            data = None
            with trio.move_on_after(seconds):
                data = await self._stdout.receive_some()
            if data is None:
                raise Late
            if not data:
                raise Died(children.how_it_ended(await self._process.wait()))
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return json.loads(line)


class EngineTable(MatchTable):
    """A table at which two engines play."""

    def __init__(self, match: Match, pairing: int, words: Sequence[str] = tuple(PROCESS)) -> None:
        """Set the match, the pairing, and the command that starts the process."""
        super().__init__(match, pairing)
        self._words = words
        self._engines = [text for _, text in self._players]
        self._log = match.log("-".join(name for name, _ in self._players))
        self._since = 0
        """The size of the log file when the process started."""

    async def run(self) -> None:
        """Play until the pairing has no more games. Raises OSError."""
        while self.next_game() is not None:
            self._since = children.size(self._log)
            try:
                async with children.process(self._words, self._log, talks=True) as started:
                    process = EngineProcess(started)
                    if await self._load(process):
                        await self._play(process)
            except Died as death:  # either engine may be the cause, so both get a failure
                why = f"the process of both engines {death}: {self._last_words()}"
                for side in (0, 1):
                    self.fail(side, why, self._log)

    async def _load(self, process: EngineProcess) -> bool:
        """Load the engines in the process; return False if one of them cannot be loaded."""
        plan = self._match.plan
        limits = {"think": plan.think, "idle": plan.idle, "strict": plan.strict}
        await process.send({"engines": self._engines, **limits})
        for side in (0, 1):
            try:
                why = await process.answer(PATIENCE)
            except Late:
                why = f"the engine could not be loaded within {PATIENCE:g} s"
            except Died as death:
                why = f"the process that loads the engine {death}: {self._last_words()}"
            if why is not None:
                self.fail(side, why, self._log)
                return False
        return True

    async def _play(self, process: EngineProcess) -> None:
        """Play games in the process until none is left or the process cannot go on. Raises Died."""
        plan = self._match.plan
        # The process sends a line after the game, and before each move of an engine that is the user's code.
        moves = 2 if any(map(runs_user_code, self._engines)) else CELLS
        while (number := self.next_game()) is not None:
            lot = f"{plan.seed} {self.pairing} {number // 2}"
            asked = {
                "opening": self._opening(number // 2),
                "discs": plan.discs,
                "lot": lot,
                "first": number % 2,
            }
            await process.send(asked)
            stands: dict[str, Any] | None = None
            ended = ""
            try:
                while stands is None or not stands["over"]:
                    stands = await process.answer(moves * plan.idle + SPARE)
            except Late:
                if stands is None:
                    raise Died(f"has not played a game within {moves} x {plan.idle:g} s") from None
                ended = f"the engine chose nothing within {plan.idle:g} s, and could not be stopped"
                stands["reason"] = "time"
            except Died as death:
                if stands is None:
                    raise
                ended = f"the engine's process {death}: {self._last_words()}"
            self._take_in(number, stands, ended or stands["why"])
            if ended:
                return

    def _opening(self, pair: int) -> str | None:
        """Return the opening of a pair of games; None if the worker must draw a random opening."""
        openings, halves = self._match.plan.openings, self._match.tally.meetings[self.pairing].halves
        if openings:
            return openings[pair % len(openings)]
        if not self._match.plan.discs:
            return ""
        other = halves.get(pair)
        return None if other is None else other.record.moves[: other.opening]

    def _take_in(self, number: int, game: dict[str, Any], why: str) -> None:
        """Count a game, or a failure if the loser made no move. `why` describes the loser's fault, if any."""
        if not self.is_wanted(number):
            return
        one, two = (Participant(name, ENGINE) for name, _ in self._players)
        record = GameRecord(
            game=next(self._match.ids),
            began=game["began"],
            ended=game["ended"],
            players=(one, two),
            moves=game["moves"],
            winner=game["winner"],
            reason=REASONS[game["reason"]],
            thought=(game["thought"][0], game["thought"][1]),
        )
        opening, late = len(game["opening"]), game["late"]
        if why:
            loser = (1 - game["winner"] + number) % 2
            if is_program(self._engines[loser]):
                why += f": {self._last_words()}"
            if self.not_begun(number, record, late, opening) is not None:
                self.fail(loser, why, self._log)
                return
            self._match.complain(self._pair[loser], why, self._log)
        else:
            for mover in (0, 1):
                if late[mover]:
                    what = f"{late[mover]} of its moves in a game took longer than --think allows"
                    self._match.complain(self._pair[(mover + number) % 2], what, self._log)
        self.count(number, record, late, opening)

    def _last_words(self) -> str:
        return children.last_words(self._log, self._since)
