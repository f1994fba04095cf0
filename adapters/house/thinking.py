"""Runs the engines of house players in worker processes, so that no engine delays the event loop.

Knows engines by name, how many may think at once, and how long a move may take. Workers have a lower priority
than the server. If a search is no longer needed, its worker is killed.
"""

import logging
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import count

import trio
import trio_parallel

from adapters.house.worker import think
from gateway.engines.catalogue import SECONDS, engine_named
from gateway.game.board import Board
from gateway.game.clock import Terms
from gateway.matchmaking.matchmaker import Opponent
from gateway.runtime.throttle import Throttle

# How moves share the worker processes.
#
# Knows the opponent in each game of a house player, and how many seconds a move takes. Does not know engines
# or boards. An origin is the address that clients come from; a client is a name at an origin. Origins take
# turns, and so do the names of one origin. Among the games of one name, the move that has waited longest
# comes first. So a client with many games slows down only its own games.
#
# Each pool has its own workers and its own queue. Moves that take about the same time share a pool, so that
# no move waits for a move that takes twenty times as long.


@dataclass(eq=False, slots=True)
class _Name:
    """A client's name at one origin."""

    turn: int = 0
    """The number of the latest move in a game against this name. A lower number means longer ago."""
    claims: dict["Claim", None] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class _Origin:
    """An address that clients come from."""

    turn: int = 0
    names: dict[str, _Name] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class Claim:
    """A game's right to a share of a pool."""

    pool: "WorkerPool"
    opponent: Opponent
    seconds: float
    """The seconds that a move takes."""
    origin: _Origin
    name: _Name

    @property
    def rank(self) -> tuple[int, int]:
        """The order in which claims are served: the lowest rank comes first."""
        return self.origin.turn, self.name.turn


@dataclass(eq=False, slots=True)
class _Ticket:
    """A move that waits for a worker."""

    claim: Claim
    served: trio.Event = field(default_factory=trio.Event)


class WorkerPool:
    """Workers, and the moves that wait for one."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._free = workers
        self._turns = count(1)
        self._origins: dict[str, _Origin] = {}
        self._waiting: dict[_Ticket, None] = {}

    @property
    def waiting(self) -> int:
        """The number of moves that wait for a worker."""
        return len(self._waiting)

    def wait_with(self, opponent: Opponent, seconds: float) -> float:
        """Return the most seconds, including the wait, that a move could take in one more game.

        `seconds` is the time of one move without the wait. The result assumes that all games against this
        client need a move at once, and that all other clients use their whole shares.
        """
        origin = self._origins.get(opponent.origin, _Origin())
        name = origin.names.get(opponent.name, _Name())
        own = seconds + sum(claim.seconds for claim in name.claims)
        names = len(origin.names.keys() | {opponent.name})
        origins = len(self._origins.keys() | {opponent.origin})
        return own * names * origins / self._workers

    def enter(self, opponent: Opponent, seconds: float) -> Claim:
        """Give a game a share of the workers until `leave`."""
        origin = self._origins.setdefault(opponent.origin, _Origin())
        name = origin.names.setdefault(opponent.name, _Name())
        claim = Claim(self, opponent, seconds, origin, name)
        name.claims[claim] = None
        return claim

    def leave(self, claim: Claim) -> None:
        """Release a game's share of the workers."""
        del claim.name.claims[claim]
        if not claim.name.claims:
            del claim.origin.names[claim.opponent.name]
        if not claim.origin.names:
            del self._origins[claim.opponent.origin]

    def part(self) -> float:
        """Return the fraction of its time that a move may use for thinking, from 0 to 1.

        The fraction is 1 if a worker is free. Otherwise it is so small that all waiting moves are done
        within half of the time, if each has as much time as this one. The other half is for the moves that
        already have a worker.
        """
        if self._free:
            return 1.0
        return self._workers / (2 * (self._workers + len(self._waiting)))

    @asynccontextmanager
    async def worker(self, claim: Claim) -> AsyncIterator[None]:
        """Wait until it is this game's turn. Then hold a worker until the block ends."""
        await self._turn(claim)
        try:
            yield
        finally:
            self._release()

    async def _turn(self, claim: Claim) -> None:
        ticket = _Ticket(claim)
        self._waiting[ticket] = None
        self._serve()
        taken = False
        try:
            await ticket.served.wait()
            taken = True
        finally:
            if ticket in self._waiting:
                del self._waiting[ticket]
            elif not taken:
                self._release()

    def _release(self) -> None:
        self._free += 1
        self._serve()

    def _serve(self) -> None:
        while self._free and self._waiting:
            ticket = min(self._waiting, key=lambda ticket: ticket.claim.rank)
            del self._waiting[ticket]
            self._free -= 1
            ticket.claim.origin.turn = ticket.claim.name.turn = next(self._turns)
            ticket.served.set()


# How a move is found.
#
# The wait for a worker is part of a move's time. A game whose moves would take too long is refused before it
# begins. A search is never stopped for another search, and waits only for searches of its own kind. If no
# worker is free in time, or workers are lost again and again, a fast engine chooses the move in this process,
# so that the game is not lost on time.

INSTANT = frozenset({"random"})
"""Engines that are fast enough to run without a worker."""
UNHURRIED = frozenset({"perfect"})
"""Engines that wait for a worker without a time limit, because a late move is better than a bad one."""
PART = 20
"""With a clock, a move takes at most 1 / `PART` of the time that is left."""
LONGEST = 120.0
"""The most seconds for a move without a clock. If no worker is free by then, the fast engine moves."""
PATIENCE = 10.0
"""One more game is accepted if each of its moves would take at most this many seconds, or three times as long
as the engine needs."""
TRIES = 3
"""The most times that a search is started. It is started again if its worker is lost."""

_SECONDS = SECONDS | {"random": 0.01, "perfect": 0.5}
"""Estimated seconds for a move of each engine. `random` needs no worker; its estimate only limits how many
games it plays at once."""
_ENOUGH_PART = 4
"""With a clock, an engine needs at most 1 / `_ENOUGH_PART` of a move's time."""
_QUICK = 0.05
_SHORT = 1.0
_GLANCE_ENGINE = "aima"
_GLANCE_SECONDS = 0.001

_LOST = (trio_parallel.BrokenWorkerError, OSError, ImportError)
"""The errors that are raised if a worker has died or cannot be started. ImportError is among them because the
start of the first worker imports modules, which fails if no file can be opened."""

logger = logging.getLogger(__name__)


class Kind(Enum):
    """The kind of a game's moves.

    Moves of one kind take about the same time, and have about the same time limit.
    """

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
    """Runs engines, at most `workers` moves of each kind at the same time."""

    def __init__(self, workers: int, terms: Terms) -> None:
        self._terms = terms
        self._pools = {kind: WorkerPool(workers) for kind in Kind}
        self.lost = 0
        """How many times a worker was lost."""
        self._throttle = Throttle()

    def fits(self, engine: str, opponent: Opponent) -> bool:
        """Return whether `engine` would have enough time to think in one more game."""
        time = self._time(self._terms.clock if opponent.clocked else None)
        seconds = self._seconds(engine, opponent)
        wait = self._pools[_kind(seconds, opponent)].wait_with(opponent, seconds)
        return wait <= min(time, max(PATIENCE, 3 * seconds))

    def begin(self, engine: str, opponent: Opponent) -> Game:
        """Reserve a share of the workers for a game of `engine`. Call `end` after the game."""
        seconds = self._seconds(engine, opponent)
        return Game(engine, self._pools[_kind(seconds, opponent)].enter(opponent, seconds))

    def waiting(self) -> dict[str, int]:
        """Return how many moves of each kind wait for a worker."""
        return {kind.name.lower(): pool.waiting for kind, pool in self._pools.items()}

    def end(self, game: Game) -> None:
        """Release the share of a game. Call it once for each game."""
        game.claim.pool.leave(game.claim)

    async def column(self, game: Game, board: Board, rest: float | None) -> int:
        """Return the column that the game's engine plays.

        `rest` is the number of seconds on the engine's clock; None without a clock.
        """
        engine, pool = game.engine, game.claim.pool
        if engine in INSTANT:
            return engine_named(engine)(board, _GLANCE_SECONDS)
        time = self._time(rest)
        budget, late = pool.part() * time, trio.current_time() + time
        with trio.CancelScope(deadline=math.inf if engine in UNHURRIED else late) as waiting:
            async with pool.worker(game.claim):
                waiting.deadline = math.inf
                for _ in range(TRIES):
                    seconds = max(_GLANCE_SECONDS, min(budget, late - trio.current_time()))
                    column = await self._thought(engine, board, seconds)
                    if column is not None:
                        return column
        return engine_named(_GLANCE_ENGINE)(board, _GLANCE_SECONDS)

    async def _thought(self, engine: str, board: Board, budget: float) -> int | None:
        """Return the column that `engine` finds in a worker process; None if the worker is lost."""
        try:
            column: int = await trio_parallel.run_sync(
                think, engine, board, budget, kill_on_cancel=True, limiter=trio.CapacityLimiter(1)
            )
        except _LOST as error:
            self._log(engine, error)
            return None
        return column

    def _log(self, engine: str, error: Exception) -> None:
        """Count that a worker was lost, and log it from time to time.

        If no worker can be started, each move calls this.
        """
        self.lost += 1
        if self._throttle.passes(trio.current_time()):
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
            return min(_SECONDS[engine], self._time(self._terms.clock) / _ENOUGH_PART)
        return min(_SECONDS[engine], self._time(None))


def _kind(seconds: float, opponent: Opponent) -> Kind:
    if seconds <= _QUICK:
        return Kind.QUICK
    if seconds > _SHORT:
        return Kind.LONG
    return Kind.CLOCKED if opponent.clocked else Kind.SHORT
