"""How much of everything is measured, and what is not to be exceeded."""

from collections.abc import Sequence
from dataclasses import dataclass

from conformance.launch import COMMAND


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much of everything. Times in seconds."""

    games: int
    """At once."""
    rate: int
    """Paced moves a second."""
    waiting: int
    many: int
    """Games over a server's life."""
    seconds: float
    """For which each figure is measured."""
    times: int
    """How often, where two are compared."""
    command: Sequence[str] = COMMAND


@dataclass(frozen=True, slots=True)
class Goals:
    """What is not to be exceeded."""

    cpu: float = 1.3
    """CPU of a move with many games over that with few."""
    p99_ms: float = 50.0
    kb: float = 40.0
    """Of the server's memory, a connection."""
    connect: float = 10.0
    """Seconds until all are in their games."""
    waiting: float = 1.2
    """CPU of a game with many who wait over that with few: the same, but for the noise."""
    idle_ms: float = 2.0
    """CPU milliseconds by which an idle second may cost more with many: too few for a look at each."""
    memory: float = 1.05
    start: float = 0.7


GOALS = Goals()
