"""A player's place in the hub, and its situation.

A seat is a mailbox, not a socket: the hub cannot tell a client on a wire from a player inside this
process. The hub and what it is made of alone change what stands here. What a player is about is one of
four situations, and what belongs to one of them alone is kept in it.
"""

from dataclasses import dataclass
from enum import Enum, auto
from math import inf
from typing import Protocol, TypeAlias

from gateway.game.commands import Place
from gateway.game.events import Dismissed, Event
from gateway.game.ids import GameId
from gateway.game.manners import Afterwards, Manners
from gateway.game.results import Player
from gateway.game.session import Number, Session
from gateway.matchmaking.pool import Guest
from gateway.matchmaking.tables import Table

NEVER = inf
"""A time that does not come."""


class Mailbox(Protocol):
    """Where a player's events go."""

    @property
    def is_reachable(self) -> bool:
        """Whether nothing says that the player has vanished. Asked before each series: MUST be cheap."""

    def deliver(self, event: Event) -> None:
        """Queue an event. MUST NOT block, MUST keep order, MUST NOT call the hub."""

    async def settle(self) -> None:
        """Return when all that the player had sent before the call has been submitted.

        For the timekeeper, before a flag falls; the hub itself never calls it.
        """


class Nowhere:
    """The mailbox of one who is gone. Drops whatever comes."""

    is_reachable = False

    def deliver(self, event: Event) -> None:
        """Drop an event."""

    async def settle(self) -> None:
        """Return at once."""


@dataclass(frozen=True, slots=True)
class Opponent:
    """Whom a player of the server's own is to play."""

    origin: str
    """Where the opponent comes from; see `Seat.origin`."""
    name: str
    clocked: bool
    """Whether the opponent's games are played on a clock."""


class House(Protocol):
    """Where the server's own players come from."""

    def has(self, name: str, opponent: Opponent) -> bool:
        """Whether the player called `name` can come to `opponent`, and would find the time to think."""

    def summon(self, name: str, opponent: Opponent, now: float) -> "Seat":
        """Open a seat in the hub for the player called `name`, who is to play `opponent`, and return it."""

    def lobby_player(self, opponent: Opponent) -> str | None:
        """Return who is to meet a player whom nobody else meets, somebody else each time, or nobody."""


@dataclass(frozen=True, slots=True)
class Out:
    """Has not asked for an opponent, or not again."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """Waits for an opponent."""


@dataclass(frozen=True, slots=True)
class Seated:
    """In a series."""

    series: "Series"
    number: Number
    """The seat's number in the session."""
    ready: bool = True
    """Whether the player is ready for the next round."""


@dataclass(frozen=True, slots=True)
class Gone:
    """Hung up on; its commands are void."""


Situation: TypeAlias = Out | Waiting | Seated | Gone


class Owed(Enum):
    """Whether a move for a game that is over may still come from the player. It is to hit no other game.

    Asked for a move when the game ended, a player owes it `SOON`; after a while without a game, `LATE`;
    and none any more once it has come, or another move is asked for.
    """

    SOON = auto()
    """It may be under way: the player gets no game, and the move is dropped."""
    LATE = auto()
    """It was waited for in vain; should it still come, it is dropped."""


@dataclass(eq=False, slots=True)
class Seat:
    """A player as the hub knows it."""

    mailbox: Mailbox
    manners: Manners
    situation: Situation = Out()
    owed: Owed | None = None
    owed_game: GameId = ""
    """The game that a move was owed for last. While its result is open, its end is not told yet."""
    name: str | None = None
    counted: bool = True
    place: Place | None = None
    """Where it asked to play; None before it has entered."""
    guest: Guest | None = None
    """Its stay in the lobby."""
    table: "Table[Seat] | None" = None
    """The table where a seat is kept for it."""
    origin: str = ""
    """Where the client comes from: what clients have in common that may be one and the same."""

    def deliver(self, event: Event) -> None:
        """Tell the player of an event."""
        self.mailbox.deliver(event)

    def dismiss(self, farewell: Dismissed) -> None:
        """Tell the player of its going, after which it hears nothing more.

        Mailbox and seat mostly know each other. The seat lets go, or every connection would leave a heap of
        things that only the cyclic garbage collector clears away, which looks for them seldom.
        """
        self.situation = Gone()
        mailbox, self.mailbox = self.mailbox, Nowhere()
        mailbox.deliver(farewell)

    def player(self) -> Player:
        """Return who plays here; a series keeps the name that it began with."""
        assert self.name is not None
        return Player(self.name, self.manners, self.counted)

    @property
    def waits(self) -> bool:
        """Whether the player waits for an opponent and could play at once."""
        return isinstance(self.situation, Waiting) and self.owed is not Owed.SOON

    @property
    def is_asked(self) -> bool:
        """Whether a move is asked of the player."""
        situation = self.situation
        return isinstance(situation, Seated) and situation.series.session.to_move == situation.number

    @property
    def steps_out(self) -> bool:
        """Whether the player must ask again for each game."""
        return self.manners.afterwards is Afterwards.STEP_OUT

    @property
    def stands_by(self) -> bool:
        """Whether the player takes any opponent that the server finds, for as long as it stays."""
        return self.manners.afterwards is Afterwards.STAND_BY


@dataclass(eq=False, slots=True)
class Series:
    """A series that is on, and the seats of its session by their numbers."""

    session: Session
    seats: tuple[Seat, Seat]
    watched: float = NEVER
    """When the timers look at its clock; no later than its flag falls."""

    @property
    def numbered(self) -> tuple[tuple[Number, Seat], tuple[Number, Seat]]:
        """The two seats with their numbers."""
        return (0, self.seats[0]), (1, self.seats[1])

    @property
    def is_playing(self) -> bool:
        """Whether a game is on."""
        return self.session.to_move is not None
