"""What happened, for those who do not play: the log, a page, another machine.

Plain values that name their game or their player, so that each can be written down and means the same
elsewhere. The hub's feed tells them; this module does not know to whom.

A player is named by its seat's number, since two players may bear one name. It waits from `Waits` until
`GameStarted` or `Left` names it. A game lasts from `GameStarted` until `Finished`, which
is kept as well.
"""

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from gateway.game.board import Side
from gateway.game.ids import GameId
from gateway.game.results import Finished
from gateway.game.values import value


@dataclass(frozen=True, slots=True)
class Came:
    """A player has a name: its first one, or another than before."""

    player: int
    name: str
    kind: str
    """The kind of its manners."""


@dataclass(frozen=True, slots=True)
class Waits:
    """A player waits for an opponent."""

    player: int
    table: str | None
    """None for the lobby."""
    waited: float = field(default=0.0, compare=False)
    """Seconds that it has waited already."""


class Cause(Enum):
    """Why no player who is here can be paired with one that waits."""

    ABSENT = "absent"
    """It wishes for a player who is not here."""
    NAMESAKE = "namesake"
    """The other one has the same name."""
    ALONE = "alone"
    """Nobody else sits at its table."""


@dataclass(frozen=True, slots=True)
class Obstacle:
    """What keeps a player waiting."""

    cause: Cause
    name: str
    """The name that it wishes for, its own name, or its table's."""
    alike: str | None = None
    """The name of a player who is here, where that looks like the one wished for."""

    @property
    def characters(self) -> int:
        """How long the names in it are together."""
        return len(self.name) + len(self.alike or "")


@dataclass(frozen=True, slots=True)
class Hindered:
    """It has become known why a player that waits has no opponent, or that is so no longer."""

    player: int
    name: str
    obstacle: Obstacle | None
    """None: nothing keeps it from being paired any more."""
    is_first: bool
    """Whether none was known before, since the player began to wait."""


@dataclass(frozen=True, slots=True)
class Left:
    """A player that had come is gone for good."""

    player: int


@dataclass(frozen=True, slots=True)
class GameStarted:
    """A game began. The first mover's part comes first."""

    game: GameId
    players: tuple[int, int]
    names: tuple[str, str]
    kinds: tuple[str, str]
    table: str | None
    round: int
    """1 for the first game of a series."""
    clock: float | None
    """Seconds that each side has for the whole game; None where it is not played on a clock."""


@value
class MoveMade:
    """Someone dropped a disc."""

    game: GameId
    side: Side
    column: int
    used: float
    """Seconds from when the latest request to move left to when the move arrived."""
    left: float | None
    """Seconds that remain to the side; None where the game is not played on a clock."""


Fact: TypeAlias = Came | Waits | Hindered | Left | GameStarted | MoveMade | Finished


@dataclass(frozen=True, slots=True)
class Missed:
    """Stands where facts were dropped, because the subscriber had not taken those before them."""

    facts: int


@dataclass(frozen=True, slots=True)
class Vanished:
    """Players of whom no more can be told, since their machine is lost, and all games that they are in."""

    first: int
    last: int
    """The players' numbers are from `first` up to `last`."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How a game stands. The first mover's part comes first."""

    moves: tuple[int, ...]
    """The columns played so far, oldest first."""
    thought: tuple[float, float]
    """Seconds that each side has thought, those since the latest request to move left out."""
    left: tuple[float, float] | None
    """Seconds that remain to each side, as above; None where the game is not played on a clock."""
    thinking: float
    """Seconds since the latest request to move left."""


Shown: TypeAlias = Fact | Vanished | tuple[GameStarted, Standing]
"""A fact, or a game that was on before."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All that is on. A subscriber that takes it in the step in which it was told to take facts has no gap.

    That holds for a part of it too, which tells of some players and of the games that these are in.

    A game that is over is not in it, even where its end is still to be told.
    """

    players: tuple[Came, ...]
    waiting: tuple[Waits, ...]
    games: tuple[tuple[GameStarted, Standing], ...]
    hindered: tuple[Hindered, ...] = ()
    """Those of `waiting` for whom no opponent is here, as far as that is known."""
