"""The lobby: seekers that wait for any opponent or for a certain one, and the rules that pair them.

Knows names, wishes, the number of games of two names, and times. Does not know seats, games or dialects. All
rules are about names; seekers with the same name form a queue. No step goes through all seekers.
"""

import random
from collections import Counter, OrderedDict, deque
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import TypeAlias

from gateway.game.deadlines import Deadlines
from gateway.matchmaking.pool import Hold, Pool, Seeker

MEETINGS_LIMIT = 100_000
"""The most ordered pairs of names in `Meetings`, and the most names in `Pace`."""
LONGEST_KEY = 32
"""The longest name, in characters, that is remembered without a digest."""
CHOICE = 100
"""The most partners that are compared to find the one that the seeker has met least."""
LONGEST_HOLD = 1.0
"""The longest time, in seconds, for which a seeker is held back."""
MUCH_LESS = 0.7
"""A seeker that has met a partner n times is held back from it if another partner will be free soon, and the
seeker has met that one less than `MUCH_LESS` * n times. With a value near 1, seekers wait longer. With a much
lower value, some of several equally fast players meet at least twice as often as others."""
ABOUT = 1.25
"""A seeker is held back for at most its own usual time, multiplied by this. The factor is more than 1 because
the game of the awaited player may take a little longer."""
LATEST = 1 / 4
"""The weight of the latest time in the moving average that `Pace.usual` returns."""

Key: TypeAlias = str
"""The key of a name, the same on every server. A long name is replaced by a digest, which is longer than
`LONGEST_KEY`."""


class Meetings:
    """Counts the games between each two names.

    At most `limit` pairs are remembered; the pair that met longest ago is forgotten first. A digest replaces
    a long name, which limits the memory for each name.
    """

    def __init__(self, limit: int = MEETINGS_LIMIT) -> None:
        self._limit = limit
        self._counts: OrderedDict[tuple[Key, Key], int] = OrderedDict()

    def add(self, first: str, second: str) -> None:
        """Count a game with `first` as first mover."""
        pair = (key(first), key(second))
        self._counts[pair] = self._counts.pop(pair, 0) + 1
        if len(self._counts) > self._limit:
            self._counts.popitem(last=False)

    def learn(self, first: Key, second: Key, times: int) -> None:
        """Add `times` games, older than all known games. To add several pairs, add the latest first."""
        pair = first, second
        if pair in self._counts:
            self._counts[pair] += times
        elif len(self._counts) < self._limit:
            self._counts[pair] = times
            self._counts.move_to_end(pair, last=False)

    def latest(self) -> list[tuple[Key, Key]]:
        """Return the pairs (first mover, second mover) that have met, the latest first."""
        return [*reversed(self._counts)]

    def ordered(self, first: str, second: str) -> int:
        """Return the number of games of two names with `first` as first mover."""
        return self._counts.get((key(first), key(second)), 0)

    def known(self, first: Key, second: Key) -> int:
        """Return the number of games as `ordered` does, for the keys of two names."""
        return self._counts.get((first, second), 0)

    def between(self, one: str, two: str) -> int:
        """Return the number of games of two names, whichever moved first."""
        return self.ordered(one, two) + self.ordered(two, one)


class Pace:
    """The usual time, for each name, from a pairing until the next wait.

    At most `limit` names are remembered; the name whose last time was recorded longest ago is forgotten
    first.
    """

    def __init__(self, limit: int = MEETINGS_LIMIT) -> None:
        self._limit = limit
        self._usual: OrderedDict[Key, float] = OrderedDict()

    def add(self, name: str, seconds: float) -> None:
        """Record the latest time of a name, in seconds."""
        usual = self._usual.pop(key(name), seconds)
        self._usual[key(name)] = usual + (seconds - usual) * LATEST
        if len(self._usual) > self._limit:
            self._usual.popitem(last=False)

    def usual(self, name: str) -> float | None:
        """Return the usual time of a name, in seconds; None if no time was recorded."""
        return self._usual.get(key(name))


class Lobby:
    """The open pool."""

    def __init__(self, lot: random.Random, games_per_pair: int, longest_hold: float = LONGEST_HOLD) -> None:
        self.meetings = Meetings()
        self._pace = Pace()
        self._lot = lot
        self._cap = games_per_pair
        self._longest_hold = longest_hold
        self._waiting = Pool()
        self._playing = Pool()
        """The seekers that do not wait, and those in `_gone`."""
        self._gone: dict[str, Seeker] = {}
        """Seekers that left after a pairing, by name. Some clients leave and come back after each series."""
        self._returns: Deadlines[str] = Deadlines()
        """When the seekers in `_gone` are forgotten."""
        self._leavers: list[str] = []
        """The names in `_gone` that have no deadline in `_returns` yet."""
        self._busy: Counter[tuple[str, str]] = Counter()
        """The number of current series of two names."""
        self._unsettled: deque[Seeker] = deque()
        """Seekers for which a partner still has to be searched."""
        self._freed: deque[tuple[str, str]] = deque()
        """Pairs of names whose series is over, so that the two may meet again."""
        self._held: dict[Seeker, float] = {}
        """The seekers that are held back, each with the end of its hold."""
        self.apart: dict[tuple[str, str], float] = {}
        """Pairs of nodes whose seekers cannot meet, each with the time when this ends. The names of a pair
        are in alphabetical order."""
        self.considered: Seeker | None = None
        """The seeker whose partner is being searched for. An exception is attributed to this seeker."""

    def admit(self, seeker: Seeker, now: float) -> None:
        """Add a seeker that waits from `now` on. The seeker may be new, or may have played before."""
        before = self._gone.pop(seeker.name, seeker) if seeker.paired is None else seeker
        if before.paired is not None:
            self._pace.add(seeker.name, now - before.paired)
        for one in (before, seeker):
            self._playing.discard(one)
        seeker.waiting, seeker.since = True, now
        seeker.paired = seeker.hold = None
        self._waiting.add(seeker)
        self._unsettled.append(seeker)

    def take_back(self, seeker: Seeker) -> None:
        """Queue a seeker again, ahead of others of its kind, since its pair was not started."""
        if seeker.waiting:
            return
        self._playing.discard(seeker)
        seeker.waiting, seeker.paired = True, None
        self._waiting.add(seeker, ahead=True)
        self._unsettled.append(seeker)

    def remove(self, seeker: Seeker) -> None:
        """Remove a seeker, whether it waits or plays."""
        self._pool_of(seeker).discard(seeker)
        self._held.pop(seeker, None)
        seeker.waiting = False
        if seeker.paired is not None:
            self._forget(seeker.name)
            self._gone[seeker.name] = seeker
            self._playing.add(seeker)
            self._leavers.append(seeker.name)

    def rename(self, seeker: Seeker, name: str, *, counted: bool) -> None:
        """Rename a seeker, which keeps its place in the queue."""
        pool = self._pool_of(seeker)
        pool.discard(seeker)
        seeker.rename(name, counted=counted)
        pool.add(seeker)
        if seeker.waiting:
            self._unsettled.append(seeker)

    def playing(self, one: str, two: str) -> None:
        """Record that a series of the two names has begun, here or on another node."""
        self._busy[_pair(one, two)] += 1

    def played(self, one: str, two: str) -> None:
        """Record that a series of the two names is over."""
        pair = _pair(one, two)
        self._busy[pair] -= 1
        if not self._busy[pair]:
            del self._busy[pair]
            self._freed.append((one, two))

    def pair(self, now: float) -> Iterator[tuple[Seeker, Seeker]]:
        """Yield the pairs that play now, the first mover first. The seekers of a pair stop waiting."""
        for seeker in [seeker for seeker, until in self._held.items() if until <= now]:
            del self._held[seeker]
            self._unsettled.append(seeker)
        while self._leavers:
            self._returns.set(self._leavers.pop(), now + LONGEST_HOLD)
        for name in self._returns.due(now):
            self._forget(name)
        while self._unsettled and (pair := self._least_met((*self._unsettled,), now)):
            yield self._unseated(*pair, now)
        self._unsettled.clear()
        while self._freed:
            # Only these two names can form a new pair now. If that pair starts, the names are busy again.
            names = self._freed.popleft()
            while pair := next(self._matched(self._waiting.bearers(*names), now), None):
                yield self._unseated(*pair, now)
        self.considered = None

    def pair_with_house(self, seeker: Seeker, name: str, now: float) -> bool | None:
        """Pair a waiting seeker with a house player called `name`.

        Return whether the seeker moves first; None if the two have had all games that `games_per_pair`
        allows.
        """
        if self._is_capped(seeker, seeker.name, name):
            return None
        opens = seeker.opens or self._opens(seeker.name, name)
        self._unseat(seeker, now)
        return opens

    def has_namesake(self, seeker: Seeker) -> bool:
        """Whether another waiting seeker could meet this one if their names were different."""
        return self._waiting.has_namesake(seeker)

    def next_retry(self) -> float | None:
        """Return when the next hold of a seeker ends; None if no seeker is held back."""
        return min(self._held.values(), default=None)

    def _matched(self, seekers: Iterable[Seeker], now: float) -> Iterator[tuple[Seeker, Seeker]]:
        for seeker in seekers:
            self.considered = seeker
            match = self._match(seeker, now) if seeker.waiting else None
            if match is not None:
                yield seeker, match

    def _least_met(self, seekers: Iterable[Seeker], now: float) -> tuple[Seeker, Seeker] | None:
        """Match each of `seekers`, and return the pair whose two players have met least.

        Of several such pairs, return the one with the player who has waited longest.
        """
        return min(
            self._matched(seekers, now),
            key=lambda pair: (
                self.meetings.between(pair[0].name, pair[1].name),
                *sorted(seeker.since for seeker in pair),
            ),
            default=None,
        )

    def _unseated(self, one: Seeker, two: Seeker, now: float) -> tuple[Seeker, Seeker]:
        self.considered = one
        ordered = self._in_order(one, two)
        self._unseat(one, now)
        self._unseat(two, now)
        return ordered

    def _unseat(self, seeker: Seeker, now: float) -> None:
        self._waiting.discard(seeker)
        self._held.pop(seeker, None)
        seeker.waiting, seeker.paired = False, now
        self._playing.add(seeker)

    def _pool_of(self, seeker: Seeker) -> Pool:
        return self._waiting if seeker.waiting else self._playing

    def _match(self, seeker: Seeker, now: float) -> Seeker | None:
        best: Seeker | None = None
        lowest = 0, True, 0.0
        for candidate in self._suiting(seeker, self._waiting):
            until = self._held_until(seeker, candidate, now)
            if now < until:
                for held in (seeker, candidate):
                    self._held[held] = min(until, self._held.get(held, until))
                continue
            met = self.meetings.between(seeker.name, candidate.name)
            rank = met, candidate.home != seeker.home, candidate.since
            if best is None or rank < lowest:
                best, lowest = candidate, rank
        return best

    def _suiting(self, seeker: Seeker, pool: Pool) -> Iterator[Seeker]:
        """Yield the first `CHOICE` partners in a pool that `seeker` may meet."""
        choice = CHOICE
        for partner in pool.partners(seeker):
            if self._may_meet(seeker, partner):
                yield partner
                choice -= 1
                if not choice:
                    return

    def _may_meet(self, one: Seeker, two: Seeker) -> bool:
        """Whether two matching seekers may meet: not while they play each other, and only with games left."""
        if one.name != two.name and _pair(one.name, two.name) in self._busy:
            return False
        return two.asked or not self._is_capped(one, one.name, two.name)

    def _is_capped(self, seeker: Seeker, one: str, two: str) -> bool:
        """Whether the two names have had all their games. Always False if `seeker` has asked for a game."""
        if not self._cap or seeker.asked:
            return False
        return min(self.meetings.ordered(one, two), self.meetings.ordered(two, one)) >= self._cap

    def _held_until(self, one: Seeker, two: Seeker, now: float) -> float:
        """Return when two seekers may meet: `now` or earlier if they are not held back from each other."""
        apart: float = self.apart.get(_pair(one.home, two.home), now) if self.apart else now
        met = self.meetings.between(one.name, two.name)
        if apart > now or not met:
            return apart
        holds = self._hold(one, now), self._hold(two, now)
        if any(hold.least is not None and hold.least < MUCH_LESS * met for hold in holds):
            return min(hold.until for hold in holds)  # neither waits beyond the end of its own hold
        return now

    def _hold(self, seeker: Seeker, now: float) -> Hold:
        """Return the hold of a seeker, which is computed once in each wait."""
        if seeker.hold is None:
            least = None
            own = self._pace.usual(seeker.name) or 0.0  # a new seeker is not held back
            longest = min(self._longest_hold, ABOUT * own)
            for partner in self._suiting(seeker, self._playing) if longest else ():
                if self._is_soon_free(partner, now, longest, own):
                    met = self.meetings.between(seeker.name, partner.name)
                    least = met if least is None else min(least, met)
                    if not least:
                        break
            seeker.hold = Hold(now + longest, least)
        return seeker.hold

    def _is_soon_free(self, seeker: Seeker, now: float, within: float, otherwise: float) -> bool:
        """Whether a playing seeker is expected to wait again within `within` seconds before or after `now`.

        `otherwise` replaces the usual time of the seeker if that is not known.
        """
        assert seeker.paired is not None
        usual = self._pace.usual(seeker.name)
        return abs(seeker.paired + (otherwise if usual is None else usual) - now) <= within

    def _forget(self, name: str) -> None:
        """Forget the seeker of this name that has left, if there is one."""
        seeker = self._gone.pop(name, None)
        if seeker is not None:
            self._playing.discard(seeker)

    def _in_order(self, one: Seeker, two: Seeker) -> tuple[Seeker, Seeker]:
        if one.opens or two.opens:
            return (one, two) if one.opens else (two, one)
        return (one, two) if self._opens(one.name, two.name) else (two, one)

    def _opens(self, one: str, two: str) -> bool:
        """Whether `one` moves first against `two`.

        The name that has moved first less often moves first. If both did so equally often, chance decides.
        """
        ahead = self.meetings.ordered(one, two) - self.meetings.ordered(two, one)
        return ahead < 0 or (ahead == 0 and self._lot.random() < 0.5)


def _pair(one: str, two: str) -> tuple[str, str]:
    """Return two names in alphabetical order."""
    return (one, two) if one < two else (two, one)


def key(name: str) -> Key:
    """Return the key of a name."""
    if len(name) <= LONGEST_KEY:
        return name
    return "#" + blake2b(name.encode("utf-8", "surrogatepass"), digest_size=LONGEST_KEY // 2).hexdigest()
