"""The messages of nodes about the pairing of players, and how they are encoded as bytes.

A *report* goes from a node to the node that pairs, an *order* goes back. Both contain the epoch in which that
node pairs, and messages of an earlier epoch are ignored. A seat has the number that its own hub gave it. A
wait has the number of its turn in that hub, which is never used again. A time is sent as the seconds since
then.
"""

from dataclasses import dataclass
from typing import TypeAlias

from gateway.game.encoding import decode as decode_any
from gateway.game.encoding import encode_unchecked, kinds_of
from gateway.game.results import Scheduled
from gateway.hub.seats import Hosted, Hosting
from gateway.matchmaking.matchmaker import Decision, Entry, Hindered, HousePair, Pair, Probe, Returning, Turn
from gateway.matchmaking.tables import Position


@dataclass(frozen=True, slots=True)
class Unmatched:
    """The match with this turn of a seat of `node` has failed.

    A node sends this to the other node of the pair and to the node that pairs, which passes it on.
    """

    node: str
    turn: Turn


# Reports.


@dataclass(frozen=True, slots=True)
class Joined:
    """The node begins to report. Its earlier reports in this epoch are void."""

    run: int
    """The unique number of the node's run."""


@dataclass(frozen=True, slots=True)
class Announced:
    """The node has reported everything that existed when it began to report."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A player asks to enter."""

    entry: Entry


@dataclass(frozen=True, slots=True)
class Present:
    """A player has entered already."""

    entry: Entry
    turn: int | None
    """The turn in which the player waits; None if it does not wait."""
    waited: float | None
    """Seconds since the player's latest wait began; None if a series has begun since."""
    position: Position
    """The player's position at its table."""
    games: int
    """The number of games begun at the player's table."""


@dataclass(frozen=True, slots=True)
class Renamed:
    """A player has changed its name for further series."""

    seat: int
    name: str
    counted: bool


@dataclass(frozen=True, slots=True)
class Waits:
    """A player waits for an opponent."""

    seat: int
    turn: int
    anew: bool
    """Whether the wait begins now. If not, it began with the player's previous turn."""


@dataclass(frozen=True, slots=True)
class Left:
    """A player has lost its place in the lobby or at a table."""

    seat: int


@dataclass(frozen=True, slots=True)
class StoodAside:
    """A player has lost its place in the lobby or at a table, and keeps its name."""

    seat: int


@dataclass(frozen=True, slots=True)
class Alive:
    """The client of a player has answered a probe."""

    seat: int


@dataclass(frozen=True, slots=True)
class Away:
    """The connection of a player in a game broke. Its seat is kept."""

    seat: int


@dataclass(frozen=True, slots=True)
class Returned:
    """The player of a kept seat has come back."""

    seat: int
    origin: str
    proven: bool
    """`origin` and `proven` are as in `Entry`."""


@dataclass(frozen=True, slots=True)
class Playing:
    """A series is being played on the reporting node."""

    series: int
    """The number of the series, unique on that node."""
    turn: Turn
    """The turn of a seat of that node, which ended when the series began."""
    names: tuple[str, str]
    """The names of the players. The first mover of the first game comes first."""
    at_table: bool
    round: int
    """The number of the latest game."""
    fresh: bool
    """Whether that game has just begun. If not, the report is an announcement."""
    again: bool = False
    """Whether it is played again."""
    scheduled: Scheduled | None = None
    """As in `Pair`."""


@dataclass(frozen=True, slots=True)
class Over:
    """A series is over."""

    series: int


@dataclass(frozen=True, slots=True)
class Met:
    """The number of games of two names in this run of the node, with `first` as first mover."""

    first: str
    second: str
    """Both names are keys from `lobby.key`."""
    times: int


Fact: TypeAlias = (
    Joined
    | Announced
    | Asked
    | Present
    | Renamed
    | Waits
    | Left
    | StoodAside
    | Alive
    | Away
    | Returned
    | Playing
    | Over
    | Met
    | Unmatched
)


@dataclass(frozen=True, slots=True)
class Report:
    """A fact about a node, for the node that pairs in an epoch."""

    epoch: int
    fact: Fact


# Orders: answers of a matchmaker, `KeptBy`, `Proposed`, `Unmatched` and `Sits`. Their seat numbers are those
# of the node that gets the order.


@dataclass(frozen=True, slots=True)
class Proposed:
    """A seat has to play a series on another node. The order goes to the seat's own node."""

    turn: Turn
    node: str
    """The other node."""
    other: Turn
    """The turn of the other seat on that node. That seat has the first move."""
    rounds: int | None
    table: str | None
    scheduled: Scheduled | None = None
    """`rounds`, `table` and `scheduled` are as in `Pair`."""


@dataclass(frozen=True, slots=True)
class Sits:
    """The position of a player at its table. The node reports it when another node begins to pair."""

    seat: int
    position: Position
    games: int


@dataclass(frozen=True, slots=True)
class KeptBy:
    """A player that asks to enter has a kept seat on a node. The order goes to the player's new node."""

    seat: int
    """The seat of the new connection, on that node."""
    node: str
    kept: int
    """The kept seat, on `node`."""


Instruction: TypeAlias = Decision | KeptBy | Probe | Pair | HousePair | Hindered | Proposed | Unmatched | Sits


@dataclass(frozen=True, slots=True)
class Order:
    """An instruction of the node that pairs in an epoch."""

    epoch: int
    instruction: Instruction


# Between the nodes of a player that has come back.


@dataclass(frozen=True, slots=True)
class Claim:
    """A player has come back with a connection to the sending node. Its kept seat is on the receiving one."""

    returning: Returning


@dataclass(frozen=True, slots=True)
class Claimed:
    """The answer to a `Claim`. If it is granted, all events for the player are sent to its new node."""

    seat: int
    """The seat of the new connection."""
    is_granted: bool


# All messages.

Message: TypeAlias = Report | Order | Hosting | Hosted | Unmatched | Claim | Claimed

_KINDS = kinds_of(Message)


def encode(message: Message) -> bytes:
    """Encode a message. No name in it may be too long. Raises EncodingError."""
    return encode_unchecked(message)


def decode(data: bytes) -> Message:
    """Decode a message. Raises EncodingError, and no other exception."""
    message: Message = decode_any(data, _KINDS)
    return message
