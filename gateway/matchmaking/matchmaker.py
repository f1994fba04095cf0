"""What pairs players: the question and answer between the hub and a matchmaker.

A matchmaker decides who may enter, who plays whom, who opens and how many games. It knows a seat by its
number, which the hub gives out and never uses again. It hears what happens from the hub, and the hub asks it
for `answers` whenever something has happened, and at the latest at `next_due`.

An answer may come later than its question. Until a player who asks to enter has its answer, the hub carries
out nothing else of that player. A pair may be out of date when it comes: a seat may have left, or it may wait
anew. So a pair names turns, each of which stands for one wait of one seat. The hub starts a pair only if both
turns are still open and both players can be reached; otherwise it opens a new turn for each seat that still
waits. A matchmaker may forget a turn once it has named it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, TypeAlias

from gateway.game.commands import Place
from gateway.game.events import Objection
from gateway.game.facts import Obstacle
from gateway.game.manners import Manners
from gateway.game.results import Player


class Turn(NamedTuple):
    """One wait of one seat."""

    seat: int
    number: int
    """No two turns have the same number."""


@dataclass(frozen=True, slots=True)
class Opponent:
    """A player whom a house player is to meet."""

    origin: str
    """Where the player's client comes from."""
    name: str
    clocked: bool
    """Whether the player's games are played on a clock."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A player who asks to enter."""

    seat: int
    name: str
    place: Place
    counted: bool
    """Whether the player's games count in statistics."""
    manners: Manners
    origin: str
    """Where the client comes from: what clients have in common that may be one and the same."""
    against: Objection
    """What the hub objects to; the player is refused if there is anything."""
    home: str = ""
    """Which node of a cluster the seat is on."""
    proven: bool = False
    """Whether the client has brought the token of its name."""

    def may_replace(self, other: "Entry") -> bool:
        """Whether the client may be that of another entry of its name: it has the token or the address."""
        return self.proven or (self.origin == other.origin != "" and not other.proven)


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a player may enter."""

    seat: int
    against: Objection
    """Everything that stands against it, the hub's own objections included. Nothing: the player enters."""


@dataclass(frozen=True, slots=True)
class Probe:
    """A seat whose client may have vanished: the hub says that it is `alive`, or lets it leave."""

    seat: int


@dataclass(frozen=True, slots=True)
class Pair:
    """Two seats that are to play a series."""

    first: Turn
    """The seat that opens."""
    second: Turn
    rounds: int | None = None
    """How many games; None for the longer wish of the two players (`Manners.rounds`)."""
    table: str | None = None
    """The name of the table, for those who keep results; None for the lobby."""


@dataclass(frozen=True, slots=True)
class Visit:
    """A seat that is to play a series against a house player."""

    host: Turn
    visitor: str
    """The name of the house player."""
    opens: bool
    """Whether the host opens."""
    rounds: int | None = None
    """As in `Pair`."""


@dataclass(frozen=True, slots=True)
class Hindered:
    """Why nobody who is here can be paired with a seat that waits; None: somebody can, as far as is known.

    It holds until another one follows for this wait. The same may be said again.
    """

    turn: Turn
    obstacle: Obstacle | None


Match: TypeAlias = Pair | Visit
Answer: TypeAlias = Decision | Probe | Match | Hindered


@dataclass(frozen=True, slots=True)
class Hosting:
    """A seat that is to play a series, held here, against a seat of another node. It opens."""

    turn: Turn
    node: str
    guest: Turn
    """The turn of the other seat, on its node."""
    player: Player
    """Who sits there."""
    origin: str
    """Where that player's client comes from."""
    rounds: int | None = None
    table: str | None = None
    """Both as in `Pair`."""


@dataclass(frozen=True, slots=True)
class Hosted:
    """A seat whose series another node holds, and has begun."""

    turn: Turn
    node: str
    player: Player
    """Who sits opposite, there."""
    table: str | None = field(default=None, compare=False)
    """As in `Pair`."""


@dataclass(frozen=True, slots=True)
class Deserted:
    """A series with another node whose guest is not there: it ends, and its game does not count."""

    match: Hosting


@dataclass(frozen=True, slots=True)
class Again:
    """A turn whose match came to nothing before the hub heard of it: its seat is to wait in a new one."""

    turn: Turn


Elsewhere: TypeAlias = Hosting | Hosted | Deserted | Again
"""What a node of a cluster answers besides. The hub treats `Hosting` and `Hosted` as it does a `Pair`: it
starts the series at once and says that it `began`, or lets the seat wait in a new turn."""
AnyMatch: TypeAlias = Match | Hosting | Hosted


class Visitors(Protocol):
    """What a matchmaker may ask about house players."""

    def has(self, name: str, opponent: Opponent) -> bool:
        """Whether the player called `name` can come to `opponent`, and would have the time to think."""

    def lobby_player(self, opponent: Opponent) -> str | None:
        """Return the player who is to meet an opponent that nobody else meets, another one each time."""


class Matchmaker(Protocol):
    """Decides who plays whom. Makes no calls, and blocks nobody."""

    def engage(self, visitors: Visitors) -> None:
        """Use house players from now on. Until then there are none."""

    def enter(self, entry: Entry) -> None:
        """Answer with a `Decision`, sooner or later. From then on a seat that was let in has its place."""

    def rename(self, seat: int, name: str, *, counted: bool) -> None:
        """Note the name of a seat that has entered. It holds for the series to come."""

    def wait(self, turn: Turn, since: float) -> None:
        """Find an opponent for a seat that has entered. It has waited `since` then: not always since now."""

    def leave(self, seat: int) -> None:
        """Forget a seat: it has no place any more, or is gone."""

    def alive(self, seat: int) -> None:
        """Note that the client of a seat has answered a `Probe`."""

    def began(self, match: AnyMatch, game: int) -> None:
        """Note that a game of a series began: number 1 is the first. The opening swaps with every game."""

    def finished(self, match: AnyMatch) -> None:
        """Note that a series is over, even if no game of it has begun."""

    def answers(self, now: float) -> Iterable[Answer | Elsewhere]:
        """Return the answers there are now. The hub carries out each before it takes the next."""

    def suspect(self) -> int | None:
        """Return, once, the seat that `answers` was about when it raised an exception, if there was one."""

    def next_due(self) -> float | None:
        """Return when there may be answers though nothing happens before; None if there will be none."""
