"""What the standard matchmaker keeps of a player whom it has let in.

Knows the player's place and its latest wait. Does not know who else is there.
"""

from dataclasses import dataclass

from gateway.game.commands import AtTable, InLobby, Place, Wish
from gateway.game.facts import Obstacle
from gateway.game.manners import Afterwards
from gateway.matchmaking.matchmaker import Entry, Opponent, Turn
from gateway.matchmaking.pool import Seeker
from gateway.matchmaking.tables import Table


@dataclass(eq=False, slots=True)
class Member:
    """A player who was let in: into the lobby, or to a table."""

    entry: Entry
    name: str
    counted: bool
    seeker: Seeker | None = None
    table: Table[int] | None = None
    turn: Turn | None = None
    """The wait that no match has been found for."""
    since: float | None = None
    """When the latest wait began."""
    obstacle: Obstacle | None = None
    """What the latest look found to keep it waiting in this wait."""
    answered: Obstacle | None = None
    """What was answered last about it."""
    is_answered: bool = False
    """Whether anything was, in this wait."""

    @property
    def stands_by(self) -> bool:
        """Whether the player takes any opponent that the server finds, for as long as it stays."""
        return self.entry.manners.afterwards is Afterwards.STAND_BY

    def forget_obstacle(self) -> None:
        """Forget why it waits."""
        self.obstacle = self.answered = None
        self.is_answered = False

    def as_opponent(self) -> Opponent:
        return Opponent(self.entry.origin, self.name, self.entry.manners.clocked)

    def is_at(self, place: Place) -> bool:
        """Whether the player has its place there."""
        if isinstance(place, AtTable):
            return self.table is not None and self.table.key == place.key
        return self.seeker is not None


def house_wish(entry: Entry) -> Wish | None:
    """Return the wish of a player for a house player, if it is one."""
    wish = entry.place.wish if isinstance(entry.place, InLobby) else None
    return wish if wish is not None and wish.is_for_house else None
