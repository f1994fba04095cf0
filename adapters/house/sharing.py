"""How worker processes are shared: by client first, then by waiting time.

Knows the opponent in each game of the house, and how many seconds a move takes. Does not know engines or
boards. A client is an origin, the address that it comes from, and a name there. Origins take turns, the
names of one origin take turns, and among the games of one name the move that has waited longest comes first.
So a client with many games slows down its own games, and no others.

A pool has workers and a queue of its own. Moves that take about as long share a pool, so that none waits
behind a move that takes twenty times as long.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count

import trio

from gateway.matchmaking.matchmaker import Opponent


@dataclass(eq=False, slots=True)
class _Name:
    """A client's name at one origin."""

    turn: int = 0
    """When a move against it last began; the lowest number is the longest ago."""
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
    """What a move takes."""
    origin: _Origin
    name: _Name

    @property
    def rank(self) -> tuple[int, int]:
        """The claim with the lowest rank comes first."""
        return self.origin.turn, self.name.turn


@dataclass(eq=False, slots=True)
class _Ticket:
    """A move that waits for a worker."""

    claim: Claim
    served: trio.Event = field(default_factory=trio.Event)


class WorkerPool:
    """Some workers, and the moves that wait for one."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._free = workers
        self._turns = count(1)
        self._origins: dict[str, _Origin] = {}
        self._waiting: dict[_Ticket, None] = {}

    @property
    def waiting(self) -> int:
        """How many moves wait for a worker."""
        return len(self._waiting)

    def wait_with(self, opponent: Opponent, seconds: float) -> float:
        """Return how many seconds a move could take if a game with moves of `seconds` joined.

        It takes that long when all games against this client want a move at once, and all other clients use
        up their shares.
        """
        origin = self._origins.get(opponent.origin, _Origin())
        name = origin.names.get(opponent.name, _Name())
        own = seconds + sum(claim.seconds for claim in name.claims)
        names = len(origin.names.keys() | {opponent.name})
        origins = len(self._origins.keys() | {opponent.origin})
        return own * names * origins / self._workers

    def enter(self, opponent: Opponent, seconds: float) -> Claim:
        """Let a game have its share, until it leaves."""
        origin = self._origins.setdefault(opponent.origin, _Origin())
        name = origin.names.setdefault(opponent.name, _Name())
        claim = Claim(self, opponent, seconds, origin, name)
        name.claims[claim] = None
        return claim

    def leave(self, claim: Claim) -> None:
        """Give a game's share back to the others."""
        del claim.name.claims[claim]
        if not claim.name.claims:
            del claim.origin.names[claim.opponent.name]
        if not claim.origin.names:
            del self._origins[claim.opponent.origin]

    def part(self) -> float:
        """Return the part of its time that a move may be thought about.

        All of it where a worker is free. Otherwise a part so small that all that wait now, if they have as
        much time, are done after half of it: the other half is for the moves that have a worker already.
        """
        if self._free:
            return 1.0
        return self._workers / (2 * (self._workers + len(self._waiting)))

    @asynccontextmanager
    async def worker(self, claim: Claim) -> AsyncIterator[None]:
        """Hold a worker, from this game's turn on."""
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
