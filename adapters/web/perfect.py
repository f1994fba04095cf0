"""Perfect play: the result of each column, in every position of a stored game.

Knows the solver and its time limit. Does not know HTTP. The solver has a process of its own, so it never
blocks the event loop. One game is solved at a time, and at most `WAITING` requests wait. A position that was
not solved in time is tried again at the next request for the game.
"""

import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

import trio
import trio_parallel

from adapters.web.solving import solve
from gateway.engines import EngineUnavailable
from gateway.engines.perfect import last_move, require
from gateway.game.board import COLUMNS
from gateway.game.ids import GameId
from gateway.store.records import GameRecord

GAME_LIMIT = 25.0
"""The most seconds for one game. On an idle processor a game takes about three seconds."""
WAITING = 3
"""The most requests that wait while a game is solved."""
KEPT = 200
"""The most games whose results are remembered."""
IDLE = 60.0
"""Seconds after which an idle worker ends. A worker with the solver's book takes 200 MB."""
GRACE = 0.1
"""Seconds that a worker has to end when the web process ends."""

Scores: TypeAlias = Mapping[int, int]
"""The value of each column to the side to move; see `gateway.engines.perfect.score_columns`."""

_LOST = (trio_parallel.BrokenWorkerError, OSError, ImportError)
"""The exceptions of a worker that has died or cannot be started."""

logger = logging.getLogger(__name__)


class BusyError(Exception):
    """Too many requests wait already."""


class NotInstalledError(Exception):
    """The solver is not installed. The text says how to install it."""


class Solver:
    """A worker process that scores positions. Games and house players have priority over it."""

    def __init__(self) -> None:
        self._is_running = trio.Event()
        self._workers: trio_parallel.WorkerContext

    async def run(self) -> None:
        """Run a worker until cancelled, and then end it."""
        with suppress(trio_parallel.BrokenWorkerError):  # it was killed while it worked
            async with trio_parallel.open_worker_context(idle_timeout=IDLE, grace_period=GRACE) as workers:
                self._workers = workers
                self._is_running.set()
                await trio.sleep_forever()

    async def scores(self, columns: str) -> Scores:
        """Return the scores of a position. Raises NotInstalledError. Cancelling kills the worker."""
        try:
            require()
        except EngineUnavailable as error:
            raise NotInstalledError(str(error)) from error
        await self._is_running.wait()
        alone = trio.CapacityLimiter(1)
        found: Scores = await self._workers.run_sync(solve, columns, kill_on_cancel=True, limiter=alone)
        return found


class Perfect:
    """Solves positions, one game after the other."""

    def __init__(self, work: Callable[[str], Awaitable[Scores]]) -> None:
        """`work` scores a position, such as `Solver.scores`."""
        self._work = work
        self._turn = trio.Lock()
        self._known: OrderedDict[GameId, dict[int, Scores]] = OrderedDict()

    async def scores(self, record: GameRecord) -> list[Scores | None]:
        """Return the scores of each position in which a move was due; None for a position not solved in time.

        Raises BusyError, and what `work` raises.
        """
        wanted = range(len(record.moves) + (not record.board().over))
        known = self._known.get(record.game, {})
        lacks = any(number not in known for number in wanted)
        if lacks and self._turn.statistics().tasks_waiting >= WAITING:
            raise BusyError  # before `_keep`, which might drop the results of another game
        self._keep(record.game, known)
        if lacks:
            async with self._turn:
                with trio.move_on_after(GAME_LIMIT):
                    await self._find(record.moves, wanted, known)
        return [known.get(number) for number in wanted]

    async def _find(self, moves: str, wanted: range, known: dict[int, Scores]) -> None:
        """Solve the positions that are not known yet, the latest first.

        Late positions are solved fastest, and their results help to solve the earlier ones.
        """
        for number in reversed(wanted):
            if number in known:
                continue
            try:
                known[number] = await self._work(moves[:number])
            except _LOST as error:
                logger.warning(
                    "a position cannot be solved: %s",
                    error,
                    extra={"event": "solver_lost", "error": str(error)},
                )
                return

    def _keep(self, game: GameId, known: dict[int, Scores]) -> None:
        self._known[game] = known
        self._known.move_to_end(game)
        if len(self._known) > KEPT:
            self._known.popitem(last=False)


def as_object(moves: str, found: Sequence[Scores | None]) -> dict[str, Any]:
    """Return the positions of a game as plain values for JSON."""
    return {
        "positions": [
            None if scores is None else [_worth(scores.get(column), number) for column in range(COLUMNS)]
            for number, scores in enumerate(found)
        ],
        "turned": list(_turns(moves, found)),
    }


def _worth(score: int | None, moves: int) -> dict[str, Any] | None:
    return None if score is None else {"result": _result(score), "at": last_move(score, moves)}


def _result(score: int) -> str:
    return "win" if score > 0 else "lose" if score < 0 else "draw"


def _turns(moves: str, found: Sequence[Scores | None]) -> Iterator[dict[str, Any]]:
    """Yield the moves that turned a win into a draw or a loss, or a draw into a loss."""
    for number, (column, scores) in enumerate(zip(moves, found, strict=False), 1):
        if scores is None:
            continue
        best, played = (_sign(score) for score in (max(scores.values()), scores[int(column)]))
        if played < best:
            better = [each for each, score in sorted(scores.items()) if _sign(score) == best]
            yield {"move": number, "was": _result(best), "became": _result(played), "better": better}


def _sign(score: int) -> int:
    return (score > 0) - (score < 0)
