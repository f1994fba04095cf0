"""What pairs players: the question and answer between the hub and a matchmaker.

A matchmaker decides who may enter, who plays whom, who opens and how many games. It knows a seat by its
number, which is never used again. It is called for what happens, and asked for `answers` whenever something
has happened, and at the latest at `next_due`.

An answer may come later than its question. Until a player who asks to enter has its answer, nothing else of
that player is carried out. A pair may be out of date when it comes: a seat may have left, or it may wait
anew. So a pair names turns, each of which stands for one wait of one seat. A pair is started only if both
turns are still open and both players can be reached; otherwise it is `finished`, and each seat that still
waits gets a new turn. A matchmaker may forget a turn once it has named it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias

from gateway.game.commands import Place
from gateway.game.events import Objection
from gateway.game.facts import Obstacle
from gateway.game.manners import Manners
from gateway.matchmaking.tables import Position


class Turn(NamedTuple):
    """One wait of one seat."""

    seat: int
    number: int
    """No two turns have the same number."""


@dataclass(frozen=True, slots=True)
class Opponent:
    """A player whom a house player is to play."""

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

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns that are over with this match."""
        return self.first, self.second


@dataclass(frozen=True, slots=True)
class HousePair:
    """A seat that is to play a series against a house player."""

    turn: Turn
    house: str
    """The name of the house player."""
    opens: bool
    """Whether the seat opens, and not the house player."""
    rounds: int | None = None
    """As in `Pair`."""

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns that are over with this match."""
        return (self.turn,)


@dataclass(frozen=True, slots=True)
class Hindered:
    """Why no player who is here can be paired with a seat that waits; None: one can, as far as is known.

    It holds until another one follows for this wait. The same may be said again.
    """

    turn: Turn
    obstacle: Obstacle | None


Match: TypeAlias = Pair | HousePair
Answer: TypeAlias = Decision | Probe | Match | Hindered


class HousePlayers(Protocol):
    """What a matchmaker may ask about house players."""

    def has(self, name: str, opponent: Opponent) -> bool:
        """Whether the player called `name` can play `opponent`, and would have the time to think."""

    def lobby_player(self, opponent: Opponent) -> str | None:
        """Return a house player for an opponent who has no other, a different one each time."""


class Matchmaker:
    """Decides who plays whom. Calls nothing and never blocks. A subclass needs the first four methods."""

    def enter(self, entry: Entry) -> None:
        """Answer with a `Decision`, sooner or later. From then on a seat that was let in has its place."""
        raise NotImplementedError

    def wait(self, turn: Turn, since: float) -> None:
        """Find an opponent for a seat that has entered. It has waited `since` then: not always since now."""
        raise NotImplementedError

    def leave(self, seat: int) -> None:
        """Forget a seat: it has no place any more, or is gone."""
        raise NotImplementedError

    def answers(self, now: float) -> Iterable[Answer]:
        """Return the answers there are now. Each is carried out before the next is taken."""
        raise NotImplementedError

    # What not every matchmaker has to know. By default it is ignored.

    def engage(self, house: HousePlayers) -> None:
        """Use house players from now on. Until then there are none."""

    def rename(self, seat: int, name: str, *, counted: bool) -> None:
        """Set the name of a seat that has entered, for the series to come."""

    def alive(self, seat: int) -> None:
        """Record that the client of a seat has answered a `Probe`."""

    def began(self, match: Match, game: int) -> None:
        """Record that a game of a series began: number 1 is the first. The opening swaps with every game."""

    def finished(self, match: Match) -> None:
        """Record that a series is over, or that its match was not started. It may be called twice."""

    def suspect(self) -> int | None:
        """Return, once, the seat that `answers` was about when it raised an exception, if there was one."""
        return None

    def next_due(self) -> float | None:
        """Return when there may be answers though nothing happens before; None if there will be none."""
        return None

    # One that pairs for several servers takes over from an earlier one while players wait and games are on.

    def readmit(self, entry: Entry, sat: tuple[Position, int]) -> None:
        """Give a place to a player whom an earlier matchmaker has let in, whatever is against it here.

        `sat`: its position at its table, and after how many games. A `Decision` may follow, and is not used.
        By default the player enters like any other.
        """
        self.enter(entry)

    def resume(self, match: Match, names: tuple[str, str], seat: int | None) -> None:
        """Record a series that is on under these names: at the table of `seat`, or in the lobby.

        An earlier matchmaker may have paired it, and what `match` names may mean nothing here. The name of
        the first mover of the first game comes first.
        """

    def learn(self, first: str, second: str, games: int) -> None:
        """Add games from before this matchmaker: `first` had the first move against `second` in so many.

        A long name is a digest, as `lobby.key` makes it.
        """

    def seated(self, seat: int) -> Sequence[tuple[int, Position, int]]:
        """Return who sits at the table of a seat, at which position and after how many games."""
        return ()

    def keep_apart(self, one: str, other: str, until: float | None) -> None:
        """Avoid pairs between the homes `one` and `other` until `until`; None: pair them again.

        Their nodes do not reach each other, so these matches would come to nothing.
        """
