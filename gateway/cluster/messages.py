"""What nodes say to each other so that players of any two of them are paired, and its form as bytes.

A *report* goes from a node to the one that pairs, an *order* back. Both bear the epoch of the one that
pairs, so that what was meant for another, or came from it, is void. The two nodes of a pair agree on their
series by `Hosting`, which asks, and `Hosted`, which confirms. What cannot be read is an `EncodingError`,
and nothing else.

A seat goes by the number that its own hub gave it, a wait by the number of its turn there. No turn is used
twice, so it names the proposal that it is used for. Times are written as how long ago something was.
"""

from dataclasses import dataclass
from typing import TypeAlias

from gateway.game.encoding import decode as decode_any
from gateway.game.encoding import encode_unchecked, kinds_of
from gateway.hub.seats import Hosted, Hosting
from gateway.matchmaking.matchmaker import Decision, Entry, Hindered, HousePair, Pair, Probe, Turn
from gateway.matchmaking.tables import Position


@dataclass(frozen=True, slots=True)
class Unmatched:
    """Nothing comes of the match that takes this turn of a seat of `node`.

    A node says so to the one that pairs, which passes it on, and to the other node of the pair.
    """

    node: str
    turn: Turn


# Reports.


@dataclass(frozen=True, slots=True)
class Joined:
    """The node reports from now on, and all that it reported before in this epoch is void."""

    run: int
    """A number that no other run of a node has."""


@dataclass(frozen=True, slots=True)
class Announced:
    """The node has announced all that there was when it began to report."""


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
    """A player who was probed is there."""

    seat: int


@dataclass(frozen=True, slots=True)
class Playing:
    """A series is on, which the reporting node holds."""

    series: int
    """A number of that node's, which it gives to no other."""
    turn: Turn
    """The turn from which the series began, of a seat of that node."""
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
class Met:
    """How many games this run of the node has held in which a name had the first move against another."""

    first: str
    second: str
    """Both as `lobby.key` makes them."""
    times: int


Fact: TypeAlias = (
    Joined | Announced | Asked | Present | Renamed | Waits | Left | Alive | Playing | Over | Met | Unmatched
)


@dataclass(frozen=True, slots=True)
class Report:
    """What happened at a node, for the one that pairs in an epoch."""

    epoch: int
    fact: Fact


# Orders: the answers of a matchmaker, in the numbers of the node that gets them, and three more.


@dataclass(frozen=True, slots=True)
class Proposed:
    """A seat is to play a series, which the other node is to hold. It is sent to the seat's own node."""

    turn: Turn
    node: str
    """The other node."""
    other: Turn
    """The turn of the other seat, there. That seat opens."""
    rounds: int | None
    table: str | None
    """Both as in `Pair`."""


@dataclass(frozen=True, slots=True)
class Sits:
    """How a player sits at its table now, for the next one that pairs."""

    seat: int
    position: Position
    games: int


Instruction: TypeAlias = Decision | Probe | Pair | HousePair | Hindered | Proposed | Unmatched | Sits


@dataclass(frozen=True, slots=True)
class Order:
    """What the one that pairs in an epoch wants of a node."""

    epoch: int
    instruction: Instruction


# All messages.

Message: TypeAlias = Report | Order | Hosting | Hosted | Unmatched

_KINDS = kinds_of(Message)


def encode(message: Message) -> bytes:
    """Return the bytes of a message with no name that is too long. Raises EncodingError, and only that."""
    return encode_unchecked(message)


def decode(data: bytes) -> Message:
    """Return the message that `data` is. Raises EncodingError, and only that."""
    message: Message = decode_any(data, _KINDS)
    return message
