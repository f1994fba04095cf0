"""The standard matchmaker's record of a player that has entered: its place and its latest wait."""

from dataclasses import dataclass

from gateway.game.commands import AtTable, InLobby, Place, Wish
from gateway.game.facts import Obstacle
from gateway.game.manners import Afterwards
from gateway.matchmaking.matchmaker import Entry, Opponent, Turn
from gateway.matchmaking.pool import Seeker
from gateway.matchmaking.tables import LargeTable, Table


@dataclass(eq=False, slots=True)
class Member:
    """A player in the lobby or at a table, or one that has only a name."""

    entry: Entry
    name: str
    counted: bool
    seeker: Seeker | None = None
    table: Table[int] | None = None
    large: LargeTable | None = None
    """The table of a tournament where the player sits."""
    turn: Turn | None = None
    """The turn in which the player waits; None if it does not wait, or is matched."""
    since: float | None = None
    """When the latest wait began."""
    obstacle: Obstacle | None = None
    """The obstacle that the latest check in this wait found."""
    answered: Obstacle | None = None
    """The obstacle in the last report about this wait."""
    is_answered: bool = False
    """Whether there was a report about obstacles in this wait."""

    @property
    def stands_by(self) -> bool:
        """Whether the player is ready for any opponent, without asking, while it is connected."""
        return self.entry.manners.afterwards is Afterwards.STAND_BY

    def forget_obstacle(self) -> None:
        """Forget the obstacle of this wait."""
        self.obstacle = self.answered = None
        self.is_answered = False

    def as_opponent(self) -> Opponent:
        manners = self.entry.manners
        return Opponent(self.entry.origin, self.name, manners.clocked, manners.house_at_once)

    def is_at(self, place: Place) -> bool:
        """Whether the player is at this table, or in the lobby if `place` is the lobby."""
        if isinstance(place, AtTable):
            here = self.table or self.large
            return here is not None and here.key == place.key
        return self.seeker is not None


def house_wish(entry: Entry) -> Wish | None:
    """Return a player's wish, if it is for a house player; otherwise None."""
    wish = entry.place.wish if isinstance(entry.place, InLobby) else None
    return wish if wish is not None and wish.is_for_house else None
