"""Obstacles: a waiting player wishes for an absent player, has only namesakes, or is alone at its table.

Each waiting player is checked every few seconds, a few players at a time. Names are indexed by their looks,
so the time for a check does not depend on the number of players.
"""

from collections.abc import Callable, Iterable, Iterator, Set
from itertools import islice
from typing import TypeAlias

from gateway.game.commands import Wish, folded
from gateway.game.deadlines import Deadlines
from gateway.game.facts import Cause, Obstacle
from gateway.matchmaking.lobby import Lobby
from gateway.matchmaking.members import Member, house_wish

PERIOD = 2.5
"""Seconds between two checks of a player. An obstacle is reported once two checks in a row have found it."""
AT_ONCE = 10
"""The most players that are checked in one step."""

Looks: TypeAlias = Callable[[str], Set[str]]
"""Returns the looks of a name, as a set of texts. Two names look alike if they have a text in common."""


def folded_only(name: str) -> Set[str]:
    """Return the folded name as the only look: names look alike if they differ only in case and width."""
    return {folded(name)}


class Names:
    """The names of all players, indexed by their looks."""

    def __init__(self, looks: Looks) -> None:
        self._looks = looks
        self._spelled: dict[str, dict[str, int]] = {}
        """By casefolded name: each spelling, with the number of players who use it."""
        self._alike: dict[str, dict[str, None]] = {}
        """The names in order of arrival, by each of their looks."""

    def add(self, name: str) -> None:
        """Add a player with this name."""
        bearers = self._spelled.setdefault(name.casefold(), {})
        bearers[name] = bearers.get(name, 0) + 1
        if bearers[name] == 1:
            for look in self._looks(name):
                self._alike.setdefault(look, {})[name] = None

    def discard(self, name: str) -> None:
        """Remove a player with this name."""
        folded = name.casefold()
        bearers = self._spelled[folded]
        bearers[name] -= 1
        if bearers[name]:
            return
        del bearers[name]
        if not bearers:
            del self._spelled[folded]
        for look in self._looks(name):
            del self._alike[look][name]
            if not self._alike[look]:
                del self._alike[look]

    def grant(self, wish: Wish, besides: str) -> bool:
        """Whether one of the names, other than `besides`, is the name in the wish."""
        bearers = self._spelled.get(wish.name.casefold(), {})
        if wish.any_case:
            return any(name != besides for name in islice(bearers, 2))
        return wish.name in bearers and wish.name != besides

    def like(self, name: str, besides: str) -> str | None:
        """Return one of the names, other than `besides`, that looks like `name`; None if there is none."""
        groups: list[Iterable[str]] = [self._spelled.get(name.casefold(), ())]
        groups += [self._alike.get(look, ()) for look in self._looks(name)]
        found = (each for group in groups for each in islice(group, 2))
        return next((each for each in found if each != besides), None)


class Obstacles:
    """Finds the obstacles of waiting players."""

    def __init__(self, lobby: Lobby, looks: Looks) -> None:
        self.names = Names(looks)
        self._lobby = lobby
        self._looks_due: Deadlines[Member] = Deadlines()

    def watch(self, player: Member, since: float) -> None:
        """Begin to check a player that has been waiting since the time `since`."""
        player.forget_obstacle()
        self._looks_due.set(player, since + PERIOD)

    def forget(self, player: Member) -> None:
        """Stop checking a player."""
        self._looks_due.cancel(player)

    def next_due(self) -> float | None:
        """Return a time before which no check is due; None if no checks are planned."""
        return self._looks_due.next_due()

    def due(self, now: float) -> Iterator[Member]:
        """Yield the players to check now, and schedule their next checks."""
        for player in islice(self._looks_due.due(now), AT_ONCE):
            self._looks_due.set(player, now + PERIOD)
            if player.turn is not None:  # a player without a turn is matched
                yield player

    def look(self, player: Member) -> bool:
        """Check a player; return whether its obstacle, or the end of it, has to be reported."""
        before, player.obstacle = player.obstacle, self._found(player)
        if player.is_answered and player.obstacle == player.answered:
            return False
        is_new = player.obstacle is not None and player.answered is None
        if is_new and player.obstacle != before:  # the missing player may be back in a moment
            return False
        player.answered, player.is_answered = player.obstacle, True
        return True

    def _found(self, player: Member) -> Obstacle | None:
        """Return the current obstacle of a player; None if there is none."""
        if player.table is not None and not player.table.is_full:
            return Obstacle(Cause.ALONE, player.table.name)
        seeker, found = player.seeker, None
        if seeker is None or house_wish(player.entry) is not None:
            return None
        if seeker.wish is None:
            return Obstacle(Cause.NAMESAKE, player.name) if self._lobby.has_namesake(seeker) else None
        if self.names.grant(seeker.wish, player.name):
            return None
        if not seeker.wish.grants(player.name):
            alike = self.names.like(seeker.wish.name, player.name)
            found = Obstacle(Cause.ABSENT, seeker.wish.name, alike)
        elif player.counted:
            found = Obstacle(Cause.NAMESAKE, player.name)
        return found
