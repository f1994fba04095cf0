"""The facts that the hub's feed publishes for the log, the page and other nodes.

Facts are plain values. They identify a player by the number of its seat, since two players may have the same
name. A player waits from `Waits` to `GameStarted` or `Left`; a game lasts from `GameStarted` to `Finished`.
"""

from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple, TypeAlias

from gateway.game.board import Side
from gateway.game.ids import GameId
from gateway.game.results import Finished, Scheduled
from gateway.game.values import value


@dataclass(frozen=True, slots=True)
class Came:
    """A player has got a name, or has changed it."""

    player: int
    name: str
    kind: str
    """The kind of the player's manners (`Manners.kind`)."""


@dataclass(frozen=True, slots=True)
class Waits:
    """A player waits for an opponent."""

    player: int
    table: str | None
    """None for the lobby."""
    waited: float = field(default=0.0, compare=False)
    """Seconds that the player has waited already."""


class Cause(Enum):
    """Why a waiting player cannot be paired with any connected player."""

    ABSENT = "absent"
    """The waiting player wishes for a player that is not connected."""
    NAMESAKE = "namesake"
    """The only possible opponents have the waiting player's own name."""
    ALONE = "alone"
    """The waiting player is the only one at its table."""


@dataclass(frozen=True, slots=True)
class Obstacle:
    """The reason why a waiting player has no opponent."""

    cause: Cause
    name: str
    """For `ABSENT` the name in the wish, for `NAMESAKE` the player's own name, for `ALONE` the table's
    name."""
    alike: str | None = None
    """The name of a connected player that looks like the name in the wish; None if there is none."""

    @property
    def characters(self) -> int:
        """The number of characters in both names."""
        return len(self.name) + len(self.alike or "")


@dataclass(frozen=True, slots=True)
class Hindered:
    """The obstacle that keeps a waiting player from being paired has changed."""

    player: int
    name: str
    obstacle: Obstacle | None
    """None if there is no obstacle any more."""
    is_first: bool
    """Whether this is the first obstacle in this wait."""


@dataclass(frozen=True, slots=True)
class Left:
    """A player with a name has left the server."""

    player: int


@dataclass(frozen=True, slots=True)
class GameStarted:
    """A game began. In each pair the first mover's value comes first."""

    game: GameId
    players: tuple[int, int]
    names: tuple[str, str]
    kinds: tuple[str, str]
    table: str | None
    round: int
    """1 for the first game of a series."""
    clock: float | None
    """Seconds that each side has for the whole game; None without a clock."""
    scheduled: Scheduled | None = None
    """The games of a tournament that the series plays; None for other games."""


@value
class MoveMade:
    """A player dropped a disc."""

    game: GameId
    side: Side
    column: int
    used: float
    """Seconds from the latest request to move until the move arrived."""
    left: float | None
    """Seconds that remain to the side; None without a clock."""


@dataclass(frozen=True, slots=True)
class Away:
    """The connection of a player in a game broke. Its seat is kept for a while."""

    game: GameId
    side: Side
    name: str
    grace: float
    """Seconds for which the seat is kept, from the beginning of the absence."""
    away: float = 0.0
    """Seconds since the beginning of the absence. 0 unless a game begins while its player is away."""


@dataclass(frozen=True, slots=True)
class Back:
    """A player has come back to its game."""

    game: GameId
    side: Side
    name: str
    away: float
    """Seconds for which it was away."""


Fact: TypeAlias = Came | Waits | Hindered | Left | GameStarted | MoveMade | Away | Back | Finished


@dataclass(frozen=True, slots=True)
class Missed:
    """Facts were dropped, because the subscriber did not take them in time."""

    facts: int
    """The number of dropped facts."""


@dataclass(frozen=True, slots=True)
class Vanished:
    """The node of these players is lost: there are no further facts about them or their games."""

    first: int
    last: int
    """The players' numbers are from `first` to `last`."""


class AwayFor(NamedTuple):
    """The absence of a player whose connection broke and whose seat is kept."""

    seconds: float
    """For how long the player has been away."""
    grace: float
    """For how long its seat is kept, from the beginning of the absence."""


@dataclass(frozen=True, slots=True)
class Standing:
    """The state of a game. In each pair the first mover's value comes first."""

    moves: tuple[int, ...]
    """The columns played so far, oldest first."""
    used: tuple[float, ...]
    """Seconds that each move took."""
    left: tuple[float, float] | None
    """Seconds that remained to each side at the latest request to move; None without a clock."""
    thinking: float
    """Seconds since the latest request to move was sent; 0 if it was not sent yet."""
    away: tuple[AwayFor | None, AwayFor | None] = (None, None)
    """The absence of each side's player; None if it is here."""


Shown: TypeAlias = Fact | Vanished | tuple[GameStarted, Standing]
"""A fact, or a game with its current state."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state of all players, or of some of them and their games. Games that are over are not in it.

    A subscriber that takes a snapshot in the same step as its facts misses nothing.
    """

    players: tuple[Came, ...]
    waiting: tuple[Waits, ...]
    games: tuple[tuple[GameStarted, Standing], ...]
    hindered: tuple[Hindered, ...] = ()
    """The known obstacles of the players in `waiting`."""
