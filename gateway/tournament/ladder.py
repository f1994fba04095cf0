"""The ladder: an order of the players that changes with each meeting, and the pairings that follow from it.

Has no end and no rounds. Reads no clock: who is free, and has rested, is up to the caller.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from functools import partial
from itertools import islice

NEAR = 3
"""How many places a player may be above or below its opponent."""


class Ladder:
    """The state of a ladder. The same calls in the same order give the same state.

    Its cost does not grow with the number of meetings. If a result is changed later, make a new ladder and
    repeat the calls.
    """

    def __init__(self, players: int = 0) -> None:
        """Players 0 to `players` - 1 begin in the order of their numbers, which is that of the seeds."""
        self.order = [*range(players)]
        """All players, from the top of the ladder to its end. Only to be read."""
        self._met = Counter[frozenset[int]]()
        """How often each two have been paired."""
        self._playing = set[int]()
        """The players in an open pairing."""
        self._latest = dict[int, int]()
        """The latest opponent of each player."""
        self._finished = 0
        """The number of meetings that are over."""
        self._since = dict.fromkeys(self.order, 0)
        """The value of `_finished` when each player was added, or its latest meeting ended."""

    def add(self, player: int) -> None:
        """Add a player at the end. Raises ValueError if it is on the ladder already."""
        if player in self._since:
            raise ValueError(f"player {player} is on the ladder already")
        self.order.append(player)
        self._since[player] = self._finished

    def copy(self) -> "Ladder":
        """Return a ladder in the same state."""
        other = Ladder()
        other.order = [*self.order]
        other._met = self._met.copy()
        other._playing = {*self._playing}
        other._latest = {**self._latest}
        other._finished, other._since = self._finished, {**self._since}
        return other

    def met(self, one: int, two: int) -> int:
        """Return how often two players have been paired."""
        return self._met[frozenset((one, two))]

    def pair(self, one: int, two: int) -> None:
        """Begin a meeting. Raises ValueError if a player is not on the ladder or is in another meeting."""
        if one == two or not {one, two} <= self._since.keys() - self._playing:
            raise ValueError(f"players {one} and {two} cannot meet now")
        self._playing |= {one, two}
        self._latest[one], self._latest[two] = two, one
        self._met[frozenset((one, two))] += 1

    def finish(self, one: int, two: int, score: tuple[float, float]) -> None:
        """End the meeting of two players, with the match points of each.

        If the lower player has more, it takes the place of the upper one, and that one and all between them
        go down one place. Otherwise nothing changes. Raises ValueError if the two are not in a meeting.
        Source: rules of squash ladders, such as http://www.eldonleisuresquash.co.uk/squash-ladder.
        """
        if not {one, two} <= self._playing or self._latest[one] != two:
            raise ValueError(f"players {one} and {two} are not in a meeting")
        self._playing -= {one, two}
        self._finished += 1
        self._since[one] = self._since[two] = self._finished
        if score[0] != score[1]:
            winner, loser = (one, two) if score[0] > score[1] else (two, one)
            lower, upper = self.order.index(winner), self.order.index(loser)
            if lower > upper:
                self.order.insert(upper, self.order.pop(lower))

    def next_pairings(
        self,
        free: Iterable[int],
        forbidden: AbstractSet[frozenset[int]] = frozenset(),
        resting: AbstractSet[int] = frozenset(),
    ) -> list[tuple[int, int]]:
        """Return pairings of `free` players: the first mover of each, and its opponent. Changes nothing.

        `resting` are players that will be free without a further meeting. Only they, free players, and those
        in a meeting count for places. Two players are near each other if one is among the next `NEAR` players
        above or below the other that it may meet.

        From the top of the ladder to its end, each free player gets another one near it that was not its
        latest opponent: of these the one that it has met least often, and then the nearest. Players that are
        left over wait for others near them. Two of them meet, again from the top, if

        - they are near each other, and nobody near them plays or rests; or
        - one has waited for long: since its latest meeting, as many others have ended as there are players
          that count for places. That takes about two meetings of each. It gets the nearest player, but its
          latest opponent only if nobody else is left.

        Without waiting, two that become free at the same time would meet each other for ever.

        The first mover of a pairing has the second move in the next pairing of the same two.
        """
        left = {*free} & self._since.keys() - self._playing
        if len(left) < 2:
            return []
        here = left | self._playing | resting
        ranked = [each for each in self.order if each in here]
        waiting = [each for each in ranked if each in left]
        place = {player: number for number, player in enumerate(ranked)}
        near = defaultdict[int, set[int]](set)
        for one in waiting:
            for others in (ranked[place[one] + 1 :], ranked[: place[one]][::-1]):
                allowed = (two for two in others if frozenset((one, two)) not in forbidden)
                for two in islice(allowed, NEAR):
                    near[one].add(two)
                    near[two].add(one)

        def have_just_met(one: int, two: int) -> bool:
            return self._latest.get(one) == two or self._latest.get(two) == one

        def has_waited(player: int) -> bool:
            return self._finished - self._since[player] >= len(ranked)

        def preference(one: int, two: int) -> tuple[int, ...]:
            distance = abs(place[one] - place[two])
            far = 0 if two in near[one] else distance
            return have_just_met(one, two), far, self.met(one, two), distance, place[two]

        rules: list[Callable[[int, int], bool]] = [
            lambda one, two: two in near[one] and not have_just_met(one, two),
            lambda one, two: two in near[one] and near[one] | near[two] <= left,
            lambda one, two: (has_waited(one) or has_waited(two)) and frozenset((one, two)) not in forbidden,
        ]
        pairings = list[tuple[int, int]]()
        for may_meet in rules:
            for one in waiting:
                others = [two for two in left if one in left and one != two and may_meet(one, two)]
                if others:
                    two = min(others, key=partial(preference, one))
                    left -= {one, two}
                    first = (min, max)[self.met(one, two) % 2]((one, two))
                    pairings.append((first, one + two - first))
        return pairings
