"""What nodes say to each other so that players of any two of them are paired, and its form as bytes.

A *report* goes from a node to the one that pairs, an *order* back. Both bear the epoch of the one that
pairs, so that what was meant for another, or came from it, is void. Four more pass between the two nodes of
a pair. All are values as events and commands are; what cannot be read is an `EncodingError`, and nothing
else.

A seat goes by the number that its own hub gave it, and a wait by the number of its turn there. No turn is
used twice, so it names the proposal that it is used for. Times are written as how long ago something was.
"""

from dataclasses import dataclass
from typing import TypeAlias

from gateway.game.encoding import decode as decode_any
from gateway.game.encoding import encode_unchecked, kinds_of
from gateway.game.events import Objection
from gateway.game.facts import Obstacle
from gateway.game.results import Player
from gateway.matchmaking.matchmaker import Entry
from gateway.matchmaking.tables import Position

# Reports.


@dataclass(frozen=True, slots=True)
class Joined:
    """The node reports from now on, and all that it reported before in this epoch is void."""

    run: int
    """A number that no other run of a node has."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A player asks to enter."""

    entry: Entry


@dataclass(frozen=True, slots=True)
class Present:
    """A player has been let in, by whomever."""

    entry: Entry
    turn: int | None
    """The turn in which it waits; None where it does not."""
    waited: float | None
    """Seconds since its latest wait began; None where a series has begun since."""
    position: Position
    """Where it sat at its table."""
    games: int
    """How many games the two at its table had begun."""


@dataclass(frozen=True, slots=True)
class Renamed:
    """A player has another name for the series to come."""

    seat: int
    name: str
    counted: bool


@dataclass(frozen=True, slots=True)
class Waits:
    """A player waits."""

    seat: int
    turn: int
    anew: bool
    """Whether from now on, rather than since it last began to wait."""


@dataclass(frozen=True, slots=True)
class Left:
    """A player has no place any more."""

    seat: int


@dataclass(frozen=True, slots=True)
class Alive:
    """A player who was `Probed` is there."""

    seat: int


@dataclass(frozen=True, slots=True)
class Playing:
    """A series is on, which the reporting node holds."""

    series: int
    """A number of that node's, which it gives to no other."""
    seat: int
    """A seat of that node that plays in it."""
    turn: int
    """The turn of that seat from which the series began."""
    names: tuple[str, str]
    """The first mover of the first game comes first."""
    at_table: bool
    round: int
    """The number of the latest game."""
    fresh: bool
    """Whether that game has just begun, rather than before the node announced it."""


@dataclass(frozen=True, slots=True)
class Over:
    """A series is over."""

    series: int


@dataclass(frozen=True, slots=True)
class Unmatched:
    """Nothing comes of the proposal that names this turn."""

    seat: int
    turn: int


@dataclass(frozen=True, slots=True)
class Met:
    """How many games this run of the node has held in which a name had the first move against another."""

    first: str
    second: str
    """Both as `lobby.key` makes them."""
    times: int


@dataclass(frozen=True, slots=True)
class Announced:
    """The node has announced all that there was when it began to report."""


@dataclass(frozen=True, slots=True)
class Parted:
    """The node reports to another from now on."""


AboutSeat: TypeAlias = Asked | Present | Renamed | Waits | Left | Alive
Fact: TypeAlias = Joined | AboutSeat | Playing | Over | Unmatched | Met | Announced | Parted


@dataclass(frozen=True, slots=True)
class Report:
    """What happened at a node, for the one that pairs in an epoch."""

    epoch: int
    fact: Fact


# Orders.


@dataclass(frozen=True, slots=True)
class At:
    """One wait of one seat of one node."""

    node: str
    seat: int
    turn: int


@dataclass(frozen=True, slots=True)
class Decided:
    """Whether a player may enter: if nothing stands against it."""

    seat: int
    against: Objection


@dataclass(frozen=True, slots=True)
class Probed:
    """A player may have vanished: its node says that it is `Alive`, or has `Left`."""

    seat: int


@dataclass(frozen=True, slots=True)
class Proposed:
    """Two are to play a series, which the node of the first holds. It is sent to the node of the second."""

    first: At
    """Opens."""
    second: At
    rounds: int | None
    table: str | None


@dataclass(frozen=True, slots=True)
class HouseProposed:
    """A player is to play a series against a house player of its node."""

    seat: int
    turn: int
    house: str
    opens: bool
    """Whether the player opens."""
    rounds: int | None


@dataclass(frozen=True, slots=True)
class Freed:
    """Nothing comes of the proposal that this turn was meant for: it is to be replaced by a new one."""

    seat: int
    turn: int


@dataclass(frozen=True, slots=True)
class Sits:
    """How a player sits at its table now, for the next one that pairs."""

    seat: int
    position: Position
    games: int


@dataclass(frozen=True, slots=True)
class Impeded:
    """Why nobody who is here can be paired with a player that waits; None: somebody can."""

    seat: int
    turn: int
    obstacle: Obstacle | None


Instruction: TypeAlias = Decided | Probed | Proposed | HouseProposed | Freed | Sits | Impeded


@dataclass(frozen=True, slots=True)
class Order:
    """What the one that pairs in an epoch wants of a node."""

    epoch: int
    instruction: Instruction


# Between the nodes of a pair: the host's, which is to hold the series, and the other one, whose seat and
# turn all of them name.


@dataclass(frozen=True, slots=True)
class Invited:
    """To the host: the seat is reserved for a series with a seat of the host."""

    seat: int
    turn: int
    player: Player
    origin: str
    to_seat: int
    to_turn: int
    rounds: int | None
    table: str | None


@dataclass(frozen=True, slots=True)
class Begun:
    """From the host: the series has begun."""

    seat: int
    turn: int
    player: Player
    """The opponent, there."""


@dataclass(frozen=True, slots=True)
class Void:
    """From the host: no series begins."""

    seat: int
    turn: int


@dataclass(frozen=True, slots=True)
class Gone:
    """To the host: the seat was reserved no longer when the series began."""

    seat: int
    turn: int


Message: TypeAlias = Report | Order | Invited | Begun | Void | Gone

_KINDS = kinds_of(Message)


def encode(message: Message) -> bytes:
    """Return the bytes of a message with no name that is too long. Raises EncodingError, and only that."""
    return encode_unchecked(message)


def decode(data: bytes) -> Message:
    """Return the message that `data` is. Raises EncodingError, and only that."""
    message: Message = decode_any(data, _KINDS)
    return message
