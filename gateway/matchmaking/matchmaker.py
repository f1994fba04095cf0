"""The interface between the hub and a matchmaker: the hub's reports and the matchmaker's answers.

A matchmaker decides who may enter, who plays whom, who has the first move, and how many games. It knows seats
by number only. The hub asks for its `answers` after each report, and at `next_due`.
"""

# A question may be answered later. Until then, the only command of the player that is carried out is `Leave`.
# A pair may be out of date when it comes, so it names turns. A turn is one wait of one seat, and its number
# is never used again. The hub starts a pair if both seats still wait in these turns and can be reached. If
# not, the hub calls `finished` for the pair, and each seat that still waits gets a new turn.

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias

from gateway.game.commands import Place
from gateway.game.events import Objection
from gateway.game.facts import Obstacle
from gateway.game.manners import Manners
from gateway.game.results import Scheduled
from gateway.matchmaking.tables import Position


class Turn(NamedTuple):
    """One wait of one seat."""

    seat: int
    number: int
    """The number of the turn, unique in the hub."""


@dataclass(frozen=True, slots=True)
class Opponent:
    """The opponent of a house player."""

    origin: str
    """The origin of the player's client."""
    name: str
    clocked: bool
    """Whether the player's games are played on a clock."""
    needs_house: bool = False
    """Whether the player gets a house player of the lobby although the server offers none there."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A player's request to enter."""

    seat: int
    name: str
    place: Place
    counted: bool
    """Whether the player's games count in statistics."""
    manners: Manners
    origin: str
    """The address or network of the client (`addresses.origin_at`)."""
    against: Objection
    """The hub's own objections. If there are any, the player is refused."""
    home: str = ""
    """The node of the seat; empty without a cluster."""
    proven: bool = False
    """Whether the client has sent the token of its name."""
    is_first: bool = False
    """Whether the client has never entered before, so that it may come back after its connection broke."""
    waits: bool = True
    """Whether the player will wait at its place. If not, it gets only its name, or its earlier seat."""
    resumes: bool = True
    """Whether a player that comes back goes on with its game. If not, the game is played again."""

    def may_replace(self, other: "Entry") -> bool:
        """Whether this entry may come from the client of `other`, judging by token or address.

        Both entries have the same name.
        """
        return self.proven or (self.origin == other.origin != "" and not other.proven)


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision on a player's request to enter."""

    seat: int
    against: Objection
    """All objections, including the hub's own. If there are none, the player enters."""


@dataclass(frozen=True, slots=True)
class Returning:
    """A player whose connection broke asks to enter with a new connection, and gets its kept seat back."""

    seat: int
    """The seat of the new connection."""
    kept: int
    origin: str
    proven: bool
    resumes: bool = True
    """`origin`, `proven` and `resumes` are as in the `Entry` of the new connection."""


@dataclass(frozen=True, slots=True)
class Probe:
    """A request to probe the client of a seat. Later the hub calls `alive`, `away` or `leave` for the
    seat."""

    seat: int


@dataclass(frozen=True, slots=True)
class Pair:
    """A match of two seats."""

    first: Turn
    """The turn of the seat with the first move."""
    second: Turn
    rounds: int | None = None
    """The number of games; None for the higher `Manners.rounds` of the two players."""
    table: str | None = None
    """The name of the table, for results; None for the lobby."""
    scheduled: Scheduled | None = None
    """The games of a tournament that the series plays; None for other matches."""

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The waits that end with this match."""
        return self.first, self.second


@dataclass(frozen=True, slots=True)
class HousePair:
    """A match of a seat with a house player."""

    turn: Turn
    house: str
    """The name of the house player."""
    opens: bool
    """Whether the seat has the first move. If not, the house player has it."""
    rounds: int | None = None
    """As in `Pair`."""

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The waits that end with this match."""
        return (self.turn,)


@dataclass(frozen=True, slots=True)
class Hindered:
    """The reason why a waiting seat cannot be paired now.

    `obstacle` is None if the last known obstacle is gone. Replaces the previous `Hindered` about the same
    turn, and may be equal to it.
    """

    turn: Turn
    obstacle: Obstacle | None


Match: TypeAlias = Pair | HousePair
Answer: TypeAlias = Decision | Returning | Probe | Match | Hindered


class HousePlayers(Protocol):
    """The part of `House` that matchmakers use."""

    def has(self, name: str, opponent: Opponent) -> bool:
        """Whether the house player `name` is available for `opponent` and would have enough time to think."""

    def lobby_player(self, opponent: Opponent) -> str | None:
        """Return the name of a house player for a lobby player, or None. The house players take turns."""


class Matchmaker:
    """Decides who plays whom. Never blocks. A subclass has to define the first four methods."""

    def enter(self, entry: Entry) -> None:
        """Decide about a request to enter. `answers` yields the `Decision`, at once or later.

        A player that enters has a place from that decision on.
        """
        raise NotImplementedError

    def wait(self, turn: Turn, since: float) -> None:
        """Find an opponent for a seat that has entered and has been waiting since the time `since`."""
        raise NotImplementedError

    def leave(self, seat: int) -> None:
        """Forget a seat, which has left its place or the server."""
        raise NotImplementedError

    def answers(self, now: float) -> Iterable[Answer]:
        """Return the current answers. The hub carries out each answer before it takes the next one."""
        raise NotImplementedError

    # Optional methods, which do nothing by default.

    def engage(self, house: HousePlayers) -> None:
        """Use house players from now on."""

    def stand_aside(self, seat: int) -> None:
        """Free the place of a seat, which keeps its name. By default, it loses its name, too."""
        self.leave(seat)

    def rename(self, seat: int, name: str, *, counted: bool) -> None:
        """Set the name of a seat that has entered, for further series."""

    def alive(self, seat: int) -> None:
        """Record that the client of a seat has answered a `Probe`."""

    def away(self, seat: int) -> None:
        """Record that the connection of a seat broke during a game, and that the seat is kept for the player.

        It keeps its place, too. A `Returning` gives the seat back.
        """

    def returned(self, seat: int, origin: str, *, proven: bool) -> None:
        """Record that the player of a kept seat has come back; `origin` and `proven` are as in `Entry`."""

    def began(self, match: Match, game: int, *, is_again: bool = False) -> None:
        """Record that a game of a series began, numbered from 1. The first move swaps with every game.

        With `is_again`, a game that began before is played again. It has the same number.
        """

    def finished(self, match: Match) -> None:
        """Record that a series is over, or that its match was not started. May be called twice."""

    def suspect(self) -> int | None:
        """Return the seat that `answers` was working on when it raised an error, and forget that seat.

        Returns None if no seat is known.
        """
        return None

    def next_due(self) -> float | None:
        """Return the time of the next answers if nothing else happens; None if there will be none."""
        return None

    @property
    def pairs_all(self) -> bool:
        """Whether this matchmaker pairs all players there are; False on a node of a cluster that does not."""
        return True

    # Methods for the matchmaker of a cluster, which may take over from another node's.

    def readmit(self, entry: Entry, sat: tuple[Position, int]) -> None:
        """Admit a player that another matchmaker has admitted, without regard to objections.

        `sat` is the player's position at its table, and the number of games there. The caller ignores a
        `Decision` about this player. By default, the method calls `enter`.
        """
        self.enter(entry)

    def resume(self, match: Match, names: tuple[str, str], seat: int | None) -> None:
        """Record a current series: at the table of `seat`, or in the lobby if `seat` is None.

        `names` begins with the first mover of the first game. Another matchmaker may have made the match, so
        its turns may be unknown.
        """

    def learn(self, first: str, second: str, games: int) -> None:
        """Add earlier games, with `first` as first mover. Both names are keys from `lobby.key`."""

    def seated(self, seat: int) -> Sequence[tuple[int, Position, int]]:
        """Return the seats at the table of a seat, with their positions and the number of games there."""
        return ()

    def keep_apart(self, one: str, other: str, until: float | None) -> None:
        """Make no pairs between the nodes `one` and `other` until the time `until`; None allows them again.

        The two nodes cannot reach each other, so such matches would fail.
        """
