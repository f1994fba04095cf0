"""A player's place in the hub.

A seat is a mailbox, not a socket: the hub cannot tell a client on a wire from a player inside this
process. The hub and its hall alone change what stands here.
"""

from dataclasses import dataclass
from enum import Enum, auto
from typing import Protocol

from gateway.commands import Place
from gateway.events import Event
from gateway.lobby import Guest
from gateway.manners import Afterwards, Manners
from gateway.session import Number, Player, Session
from gateway.tables import Table


class Mailbox(Protocol):
    """Where a player's events go."""

    def deliver(self, event: Event) -> None:
        """Queue an event. MUST NOT block, MUST keep order, MUST NOT call the hub."""

    async def settle(self) -> None:
        """Return when all that the player had sent before the call has been submitted.

        For the timekeeper, before a flag falls; the hub itself never calls it.
        """


class House(Protocol):
    """Where the server's own players come from."""

    def has(self, name: str) -> bool:
        """Whether the player called `name` can come."""

    def summon(self, name: str, now: float) -> "Seat":
        """Open a seat in the hub for the player called `name`, and return it."""

    def lobby_player(self) -> str | None:
        """Return who is to meet a player whom nobody else meets, somebody else each time, or nobody."""


class Stance(Enum):
    """What a player is about."""

    OUT = auto()
    """Has not asked for an opponent, or not again."""
    WAITING = auto()
    """Waits for an opponent."""
    SEATED = auto()
    """In a series."""
    GONE = auto()
    """Hung up on; its commands are void."""


@dataclass(eq=False, slots=True)
class Seat:
    """A player as the hub knows it."""

    mailbox: Mailbox
    manners: Manners
    stance: Stance = Stance.OUT
    name: str | None = None
    counted: bool = True
    place: Place | None = None
    """Where it asked to play; None before it has entered."""
    guest: Guest | None = None
    """Its stay in the lobby."""
    table: "Table[Seat] | None" = None
    """The table where a seat is kept for it."""
    session: Session | None = None
    number: Number = 0
    """Its number in the session."""
    ready: bool = True
    """Whether it is ready for the next round of its series."""
    resting: bool = False
    """Whether it gets no game yet, because a move for its last one may be under way."""
    crossing: bool = False
    """Whether that move, should it still come, is to be dropped."""

    def deliver(self, event: Event) -> None:
        """Tell the player of an event."""
        self.mailbox.deliver(event)

    def player(self) -> Player:
        """Return who plays here; a series keeps the name that it began with."""
        assert self.name is not None
        return Player(self.name, self.manners, self.counted)

    @property
    def steps_out(self) -> bool:
        """Whether the player must ask again for each game."""
        return self.manners.afterwards is Afterwards.STEP_OUT

    @property
    def stands_by(self) -> bool:
        """Whether the player takes any opponent that the server finds, for as long as it stays."""
        return self.manners.afterwards is Afterwards.STAND_BY
