"""Where the server's own players think: worker processes, so that no engine holds up the event loop.

Knows engines by name, how many may think at once, and how long a move may take. Workers give way to the
server, and a search that nobody waits for any more is killed.

The rule it keeps: waiting for a worker is part of a move's time. `sharing.py` decides which game is next; a
game that could not be served in time is refused here, before it begins. No search is cut short for another,
and a search waits only for those of its own kind. An engine plays what it sees at a glance, instead of
losing on time, if it finds no worker in time, or if its workers are lost again and again or cannot be
started.
"""

import logging
import math
from dataclasses import dataclass
from enum import Enum, auto

import trio
import trio_parallel

from adapters.house.sharing import Claim, WorkerPool
from adapters.house.worker import think
from gateway.engines.catalogue import SECONDS, engine_named
from gateway.game.board import Board
from gateway.game.clock import Terms
from gateway.matchmaking.matchmaker import Opponent
from gateway.runtime.throttle import Throttle

INSTANT = frozenset({"random"})
"""Engines that are too fast to need a worker."""
UNHURRIED = frozenset({"perfect"})
"""Engines that would rather be late than wrong."""
PART = 20
"""With a clock, a move takes at most this fraction of the time that is left, as its denominator."""
LONGEST = 120.0
"""Seconds without a clock after which a move is played at a glance, if no worker was free."""
PATIENCE = 10.0
"""Seconds that a move may take without a clock, as far as that is known before the game."""
TRIES = 3
"""How often a search is started whose worker is lost."""
LOG_PERIOD = 60.0
"""Seconds for which it is not logged again that a worker was lost."""

_SECONDS = SECONDS | {"random": 0.01, "perfect": 0.5}
"""Seconds that a move of each player counts as; `random` needs no worker, but its games have a limit."""
_CONTENT = 4
"""With a clock, an engine is content with a quarter of a move's time."""
_QUICK = 0.05
_SHORT = 1.0
_HASTY = "aima"
_GLANCE = 0.001

_LOST = (trio_parallel.BrokenWorkerError, OSError, ImportError)
"""The errors of a worker that has died or cannot be started. The first worker's start imports modules; that
fails where no file can be opened."""

logger = logging.getLogger(__name__)


class Kind(Enum):
    """The kind of a game's moves. Moves of one kind take about as long, and have about as much time."""

    QUICK = auto()
    SHORT = auto()
    CLOCKED = auto()
    """Short, and on a clock."""
    LONG = auto()


@dataclass(eq=False, slots=True)
class Game:
    """A game that an engine plays."""

    engine: str
    claim: Claim


class Thinker:
    """Engines that think, at most `workers` moves of each kind at the same time."""

    def __init__(self, workers: int, terms: Terms) -> None:
        self._terms = terms
        self._pools = {kind: WorkerPool(workers) for kind in Kind}
        self.lost = 0
        """How often a worker was lost."""
        self._words = Throttle(LOG_PERIOD)

    def fits(self, engine: str, opponent: Opponent) -> bool:
        """Whether `engine`, in one more game, would find the time to think."""
        time = self._time(self._terms.clock if opponent.clocked else None)
        seconds = self._seconds(engine, opponent)
        wait = self._pools[_kind(seconds, opponent)].wait_with(opponent, seconds)
        return wait <= min(time, max(PATIENCE, 3 * seconds))

    def begin(self, engine: str, opponent: Opponent) -> Game:
        """Let `engine` have its share of the workers for a game, until that ends."""
        seconds = self._seconds(engine, opponent)
        return Game(engine, self._pools[_kind(seconds, opponent)].enter(opponent, seconds))

    def waiting(self) -> dict[str, int]:
        """Return how many moves of each kind wait for a worker."""
        return {kind.name.lower(): pool.waiting for kind, pool in self._pools.items()}

    def end(self, game: Game) -> None:
        """End a game, once."""
        game.claim.pool.leave(game.claim)

    async def column(self, game: Game, board: Board, rest: float | None) -> int:
        """Return the column that the game's engine plays, which has `rest` seconds left, or no clock."""
        engine, pool = game.engine, game.claim.pool
        if engine in INSTANT:
            return engine_named(engine)(board, _GLANCE)
        time = self._time(rest)
        budget, late = pool.part() * time, trio.current_time() + time
        with trio.CancelScope(deadline=math.inf if engine in UNHURRIED else late) as waiting:
            async with pool.worker(game.claim):
                waiting.deadline = math.inf
                for _ in range(TRIES):
                    seconds = max(_GLANCE, min(budget, late - trio.current_time()))
                    column = await self._thought(engine, board, seconds)
                    if column is not None:
                        return column
        return engine_named(_HASTY)(board, _GLANCE)

    async def _thought(self, engine: str, board: Board, budget: float) -> int | None:
        """Return the column that `engine` finds in a worker process; None where the worker is lost."""
        try:
            column: int = await trio_parallel.run_sync(
                think, engine, board, budget, kill_on_cancel=True, limiter=trio.CapacityLimiter(1)
            )
        except _LOST as error:
            self._log(engine, error)
            return None
        return column

    def _log(self, engine: str, error: Exception) -> None:
        """Log now and then that a worker was lost: where none can be started, each move loses one."""
        self.lost += 1
        if self._words.passes(trio.current_time()):
            logger.warning(
                "a worker was lost while %s thought, %d times so far: %s",
                *(engine, self.lost, error),
                extra={"event": "worker_lost", "engine": engine, "times": self.lost, "error": str(error)},
            )

    def _time(self, rest: float | None) -> float:
        """Return the seconds that a move may take at most."""
        return min(LONGEST, self._terms.idle / 2) if rest is None else rest / PART

    def _seconds(self, engine: str, opponent: Opponent) -> float:
        """Return the seconds that a move of `engine` needs."""
        if opponent.clocked:
            return min(_SECONDS[engine], self._time(self._terms.clock) / _CONTENT)
        return min(_SECONDS[engine], self._time(None))


def _kind(seconds: float, opponent: Opponent) -> Kind:
    if seconds <= _QUICK:
        return Kind.QUICK
    if seconds > _SHORT:
        return Kind.LONG
    return Kind.CLOCKED if opponent.clocked else Kind.SHORT
