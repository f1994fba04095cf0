"""The lobby: seekers that wait for any opponent or for a certain one, and how they are paired.

Knows names, wishes, how often two have met, since when a seeker has been waiting, and how long its games
take. Does not know seats, games or dialects. Pairing is by name: *a player is its name*, so all rules about
who may meet whom are questions about two names, and seekers of one name are a queue.

Nothing looks through all seekers. Seekers that would meet anyone leave the pool as soon as two of them may
meet, so they are few. Of the seekers that wish for the same one, the first are looked at.
"""

import random
from collections import Counter, OrderedDict, deque
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import TypeAlias

from gateway.game.deadlines import Deadlines
from gateway.matchmaking.pool import Hold, Pool, Seeker

MEETINGS_LIMIT = 100_000
"""Ordered pairs of names whose games are remembered, and names whose pace is."""
LONGEST_KEY = 32
"""Characters of the longest name that is remembered as it is."""
CHOICE = 100
"""Partners at most among which the one met least is looked for. The others get their turn later."""
LONGEST_HOLD = 1.0
"""Seconds for which a seeker is held back at most, whatever its games take."""
MUCH_LESS = 0.7
"""A seeker is held back for one who has met it less than so many times as often. Nearer to 1 the lobby idles
for longer; below, of those who are about equally fast some meet more than twice as often as others."""
ABOUT = 1.25
"""A seeker is held back for so many times as long as its own games usually take, at most: the game of the one
that it is held back for may take a little longer than that."""
LATEST = 1 / 4
"""The weight of the latest time in what is usual."""

Key: TypeAlias = str
"""What stands for a name, on every server: itself, or a digest that is longer than any name that is kept."""


class Meetings:
    """How often two names have met, over the life of the server.

    If there are more than `limit` pairs, the one that met longest ago is forgotten first. A long name is
    remembered by a digest, which bounds the memory for a name.
    """

    def __init__(self, limit: int = MEETINGS_LIMIT) -> None:
        self._limit = limit
        self._counts: OrderedDict[tuple[Key, Key], int] = OrderedDict()

    def add(self, first: str, second: str) -> None:
        """Count a game that `first` opens."""
        pair = (key(first), key(second))
        self._counts[pair] = self._counts.pop(pair, 0) + 1
        if len(self._counts) > self._limit:
            self._counts.popitem(last=False)

    def learn(self, first: Key, second: Key, times: int) -> None:
        """Add games, longer ago than all that is known: so the latest are to come first."""
        pair = first, second
        if pair in self._counts:
            self._counts[pair] += times
        elif len(self._counts) < self._limit:
            self._counts[pair] = times
            self._counts.move_to_end(pair, last=False)

    def latest(self) -> list[tuple[Key, Key]]:
        """Return the pairs that have met, first movers first; the latest come first."""
        return [*reversed(self._counts)]

    def ordered(self, first: str, second: str) -> int:
        """Return in how many games of the two `first` had the first move."""
        return self._counts.get((key(first), key(second)), 0)

    def known(self, first: Key, second: Key) -> int:
        """Return the same for what stands for two names."""
        return self._counts.get((first, second), 0)

    def between(self, one: str, two: str) -> int:
        """Return how many games the two have had."""
        return self.ordered(one, two) + self.ordered(two, one)


class Pace:
    """How long it usually takes each name from a pairing until it waits again: its series, and its way back.

    If there are more than `limit` names, the one that came back longest ago is forgotten first.
    """

    def __init__(self, limit: int = MEETINGS_LIMIT) -> None:
        self._limit = limit
        self._usual: OrderedDict[Key, float] = OrderedDict()

    def add(self, name: str, seconds: float) -> None:
        """Record how long it took a name this time."""
        usual = self._usual.pop(key(name), seconds)
        self._usual[key(name)] = usual + (seconds - usual) * LATEST
        if len(self._usual) > self._limit:
            self._usual.popitem(last=False)

    def usual(self, name: str) -> float | None:
        """Return how long it takes a name; None for one that has not come back yet."""
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
        """The others who are here, and those of `_gone`."""
        self._gone: dict[str, Seeker] = {}
        """Who left after a pairing, by name, while they may be back: some players leave after each series."""
        self._returns: Deadlines[str] = Deadlines()
        """When they are expected no more."""
        self._leavers: list[str] = []
        """Those of them for whom that is not known yet."""
        self._busy: Counter[tuple[str, str]] = Counter()
        self._unsettled: deque[Seeker] = deque()
        self._freed: deque[tuple[str, str]] = deque()
        self._held: dict[Seeker, float] = {}
        """Until when."""
        self.apart: dict[tuple[str, str], float] = {}
        """Two homes, in order, whose seekers cannot meet, and until when."""
        self.considered: Seeker | None = None
        """The seeker that a partner is looked for; a mistake that is made there is about this one."""

    def admit(self, seeker: Seeker, now: float) -> None:
        """Add a seeker that waits from `now` on, new in the lobby or back from a game."""
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
        """Put a seeker whose pair was not started back in its place."""
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
        """Record that the two play each other, here or on another node."""
        self._busy[_pair(one, two)] += 1

    def played(self, one: str, two: str) -> None:
        """Record that a series of the two is over."""
        pair = _pair(one, two)
        self._busy[pair] -= 1
        if not self._busy[pair]:
            del self._busy[pair]
            self._freed.append((one, two))

    def pair(self, now: float) -> Iterator[tuple[Seeker, Seeker]]:
        """Yield the pairs that are to play now, the first mover first, and let them wait no longer."""
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
            # Only these two names can have become a pair, and a pair that is started makes them busy again.
            names = self._freed.popleft()
            while pair := next(self._matched(self._waiting.bearers(*names), now), None):
                yield self._unseated(*pair, now)
        self.considered = None

    def pair_with_house(self, seeker: Seeker, name: str, now: float) -> bool | None:
        """Pair a seeker that waits with a player called `name` of another node.

        Return whether the seeker moves first; None where the two have had their games.
        """
        if self._is_capped(seeker, seeker.name, name):
            return None
        opens = self._opens(seeker.name, name)
        self._unseat(seeker, now)
        return opens

    def has_namesake(self, seeker: Seeker) -> bool:
        """Whether another seeker waits that would meet this one, were it not of the same name."""
        return self._waiting.has_namesake(seeker)

    def next_retry(self) -> float | None:
        """Return when to try again for those who are held back."""
        return min(self._held.values(), default=None)

    def _matched(self, seekers: Iterable[Seeker], now: float) -> Iterator[tuple[Seeker, Seeker]]:
        for seeker in seekers:
            self.considered = seeker
            match = self._match(seeker, now) if seeker.waiting else None
            if match is not None:
                yield seeker, match

    def _least_met(self, seekers: Iterable[Seeker], now: float) -> tuple[Seeker, Seeker] | None:
        """Return the pair with one of `seekers` that met least, of these the longest waiting."""
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
        """Yield partners for `seeker` in a pool, the first few of whom it may meet."""
        choice = CHOICE
        for partner in pool.partners(seeker):
            if self._may_meet(seeker, partner):
                yield partner
                choice -= 1
                if not choice:
                    return

    def _may_meet(self, one: Seeker, two: Seeker) -> bool:
        """Whether nothing stands against two who suit each other by name and wish."""
        if one.name != two.name and _pair(one.name, two.name) in self._busy:
            return False
        return two.asked or not self._is_capped(one, one.name, two.name)

    def _is_capped(self, seeker: Seeker, one: str, two: str) -> bool:
        """Whether the two have had their games, where `seeker` has not asked for another."""
        if not self._cap or seeker.asked:
            return False
        return min(self.meetings.ordered(one, two), self.meetings.ordered(two, one)) >= self._cap

    def _held_until(self, one: Seeker, two: Seeker, now: float) -> float:
        """Return until when two wait for others; a time that is over, if they may meet."""
        apart: float = self.apart.get(_pair(one.home, two.home), now) if self.apart else now
        met = self.meetings.between(one.name, two.name)
        if apart > now or not met:
            return apart
        holds = self._hold(one, now), self._hold(two, now)
        if any(hold.least is not None and hold.least < MUCH_LESS * met for hold in holds):
            return min(hold.until for hold in holds)  # neither is held for longer than its own games take
        return now

    def _hold(self, seeker: Seeker, now: float) -> Hold:
        """Return how long a seeker is held back, and for whom, which is decided once in each wait."""
        if seeker.hold is None:
            least = None
            own = self._pace.usual(seeker.name) or 0.0  # a newcomer is not held
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
        """Whether one who plays, usually for as long as `otherwise` if that is not known, soon waits again.

        One who should have done so `within` seconds ago is slow this time, or has gone for good.
        """
        assert seeker.paired is not None
        usual = self._pace.usual(seeker.name)
        return abs(seeker.paired + (otherwise if usual is None else usual) - now) <= within

    def _forget(self, name: str) -> None:
        """Expect a seeker who has gone no more, if there is one of the name."""
        seeker = self._gone.pop(name, None)
        if seeker is not None:
            self._playing.discard(seeker)

    def _in_order(self, one: Seeker, two: Seeker) -> tuple[Seeker, Seeker]:
        return (one, two) if self._opens(one.name, two.name) else (two, one)

    def _opens(self, one: str, two: str) -> bool:
        """Whether `one` moves first against `two`: who did so less often, or else the lot's choice."""
        ahead = self.meetings.ordered(one, two) - self.meetings.ordered(two, one)
        return ahead < 0 or (ahead == 0 and self._lot.random() < 0.5)


def _pair(one: str, two: str) -> tuple[str, str]:
    """Return two names in the same order whichever comes first."""
    return (one, two) if one < two else (two, one)


def key(name: str) -> Key:
    """Return what stands for a name where it is remembered for long."""
    if len(name) <= LONGEST_KEY:
        return name
    return "#" + blake2b(name.encode("utf-8", "surrogatepass"), digest_size=LONGEST_KEY // 2).hexdigest()
