"""Who waits in the open pool, and who meets whom.

Knows names, wishes, who met whom how often, and since when someone has been waiting. Does not know
seats, games or dialects. Pairing is by name: *a player is its name*, so all rules about who may meet
whom are questions about two names, and guests of one name are a queue.

The pool of guests who would meet anyone stays short, because any two who may meet leave it at once.
So looking through its names costs little, and nothing looks through all guests.
"""

import random
from collections import Counter, OrderedDict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias, TypeVar

from gateway.commands import Wish

K = TypeVar("K", str, tuple[str, bool])

MEETINGS_LIMIT = 100_000
"""Ordered pairs of names whose games are remembered."""
REMATCH_HOLD = 1.0
"""Seconds for which two who have just met wait for somebody they met less often."""


@dataclass(eq=False, slots=True)
class Guest:
    """Somebody in the lobby, waiting or playing."""

    name: str
    wish: Wish | None = None
    asked: bool = True
    """Whether the guest asked for this game, rather than standing by for any."""
    counted: bool = True
    """Whether its games count; two uncounted players may meet though their names are the same."""
    house: bool = False
    """Whether it is a player of the server's own."""
    since: float = 0.0
    """When it began to wait."""
    waiting: bool = False


class Meetings:
    """How often who met whom, over the life of the server.

    What was longest ago is forgotten first, where there are more names than a server should remember.
    """

    def __init__(self, limit: int = MEETINGS_LIMIT) -> None:
        self._limit = limit
        self._counts: OrderedDict[tuple[str, str], int] = OrderedDict()
        self._last: OrderedDict[str, str] = OrderedDict()

    def add(self, first: str, second: str) -> None:
        """Count a game that `first` opens."""
        pair = (first, second)
        self._counts[pair] = self._counts.pop(pair, 0) + 1
        for one, two in (pair, (second, first)):
            self._last.pop(one, None)
            self._last[one] = two
        for memory in (self._counts, self._last):
            if len(memory) > self._limit:
                memory.popitem(last=False)

    def ordered(self, first: str, second: str) -> int:
        """Return in how many games of the two `first` had the first move."""
        return self._counts.get((first, second), 0)

    def between(self, one: str, two: str) -> int:
        """Return how many games the two have had."""
        return self.ordered(one, two) + self.ordered(two, one)

    def were_last(self, one: str, two: str) -> bool:
        """Whether each was the other's latest opponent."""
        return self._last.get(one) == two and self._last.get(two) == one


class Lobby:
    """The open pool."""

    def __init__(self, lot: random.Random, games_per_pair: int) -> None:
        self.meetings = Meetings()
        self._lot = lot
        self._cap = games_per_pair
        self._present = _Index()
        self._waiting = _Index()
        self._busy: Counter[frozenset[str]] = Counter()
        self._unsettled: deque[Guest] = deque()
        self._freed: deque[str] = deque()
        self._held: dict[Guest, float] = {}
        """Until when."""

    def admit(self, guest: Guest, now: float) -> None:
        """Let a guest wait from `now` on, be it new in the lobby or back from a game."""
        guest.waiting = True
        guest.since = now
        self._present.add(guest)
        self._waiting.add(guest)
        self._unsettled.append(guest)

    def remove(self, guest: Guest) -> None:
        """Let a guest go, whether it waits or plays."""
        self._present.discard(guest)
        self._unseat(guest)

    def rename(self, guest: Guest, name: str, *, counted: bool) -> None:
        """Let a guest go on under another name, without losing its place in the queue."""
        for index in (self._present, self._waiting):
            if guest in index:
                index.discard(guest)
        guest.name, guest.counted = name, counted
        self._present.add(guest)
        if guest.waiting:
            self._waiting.add(guest)
            self._unsettled.append(guest)

    def playing(self, one: str, two: str) -> None:
        """Note that the two play each other, wherever that is."""
        self._busy[frozenset((one, two))] += 1

    def played(self, one: str, two: str) -> None:
        """Note that a series of the two is over."""
        pair = frozenset((one, two))
        self._busy[pair] -= 1
        if not self._busy[pair]:
            del self._busy[pair]
            self._freed.append(min(one, two, key=self._waiting.count))

    def pair(self, now: float) -> Iterator[tuple[Guest, Guest]]:
        """Yield the pairs that are to play now, the first mover first, and let them wait no longer."""
        unsettled = (*self._unsettled, *self._held)
        self._unsettled.clear()
        self._held.clear()
        while pair := self._least_met(unsettled, now):
            yield self._unseated(*pair)
        while self._freed:
            # Only these two names can have become a pair, and one pair makes them busy again.
            for freed in islice(self._matched(self._waiting.named(self._freed.popleft()), now), 1):
                yield self._unseated(*freed)

    def next_retry(self) -> float | None:
        """Return when to try again for those who wait only because they have just met."""
        return min(self._held.values(), default=None)

    def _matched(self, guests: Iterable[Guest], now: float) -> Iterator[tuple[Guest, Guest]]:
        for guest in guests:
            match = self._match(guest, now) if guest.waiting else None
            if match is not None:
                yield guest, match

    def _least_met(self, guests: Iterable[Guest], now: float) -> tuple[Guest, Guest] | None:
        """Return the pair with one of `guests` that met least, of these the longest waiting."""
        return min(
            self._matched(guests, now),
            key=lambda pair: (
                self.meetings.between(pair[0].name, pair[1].name),
                *sorted(guest.since for guest in pair),
            ),
            default=None,
        )

    def _unseated(self, one: Guest, two: Guest) -> tuple[Guest, Guest]:
        self._unseat(one)
        self._unseat(two)
        return self._in_order(one, two)

    def _unseat(self, guest: Guest) -> None:
        guest.waiting = False
        self._waiting.discard(guest)
        self._held.pop(guest, None)

    def _match(self, guest: Guest, now: float) -> Guest | None:
        best: Guest | None = None
        fewest = 0
        for candidate in self._waiting.partners(guest):
            if not self._may_meet(guest, candidate):
                continue
            if self._is_held(guest, candidate, now):
                until = max(guest.since, candidate.since) + REMATCH_HOLD
                for held in (guest, candidate):
                    self._held[held] = min(until, self._held.get(held, until))
                continue
            met = self.meetings.between(guest.name, candidate.name)
            if best is None or (met, candidate.since) < (fewest, best.since):
                best, fewest = candidate, met
        return best

    def _may_meet(self, one: Guest, two: Guest) -> bool:
        if one.house or two.house:
            return self._may_be_entertained(one, two)
        if one.name == two.name:
            if one is two or one.counted or two.counted:
                return False
        elif frozenset((one.name, two.name)) in self._busy:
            return False
        return _is_granted(one, two) and _is_granted(two, one) and not self._is_capped(one, two)

    def _may_be_entertained(self, one: Guest, two: Guest) -> bool:
        """Whether one of the two is a player of the server's own who has come to the other.

        That is whoever of its name asked for it, and somebody else of its name where nobody did.
        """
        if one.house and two.house:
            return False
        house, guest = (one, two) if one.house else (two, one)
        if house.wish is not None and house.wish.name != guest.name:
            return False
        if guest.wish is not None:
            return guest.wish.grants(house.name)
        asked = any(
            other.wish is not None and other.wish.grants(house.name)
            for other in self._waiting.named(guest.name)
            if other.name == guest.name and not other.house
        )
        return not asked and not self._is_capped(one, two)

    def _is_capped(self, one: Guest, two: Guest) -> bool:
        if not self._cap or one.asked or two.asked:
            return False
        ordered = self.meetings.ordered
        return min(ordered(one.name, two.name), ordered(two.name, one.name)) >= self._cap

    def _is_held(self, one: Guest, two: Guest, now: float) -> bool:
        if one.house or two.house or not self.meetings.were_last(one.name, two.name):
            return False
        if now >= max(one.since, two.since) + REMATCH_HOLD:
            return False
        return self._meets_others(one, two) or self._meets_others(two, one)

    def _meets_others(self, guest: Guest, latest: Guest) -> bool:
        """Whether `guest` has a partner in the lobby that it met less often than `latest`."""
        met = self.meetings.between(guest.name, latest.name)
        return any(
            partner.name != latest.name
            and self.meetings.between(guest.name, partner.name) < met
            and self._may_meet(guest, partner)
            for partner in self._present.partners(guest)
        )

    def _in_order(self, one: Guest, two: Guest) -> tuple[Guest, Guest]:
        ahead = self.meetings.ordered(one.name, two.name) - self.meetings.ordered(two.name, one.name)
        if ahead < 0 or (ahead == 0 and self._lot.random() < 0.5):
            return one, two
        return two, one


def _is_granted(guest: Guest, partner: Guest) -> bool:
    """Whether a client is the opponent that the guest wishes for."""
    return guest.wish is None or (guest.wish.grants(partner.name) and not guest.wish.is_for_house)


_Queue: TypeAlias = OrderedDict[Guest, None]


class _Index:
    """Guests in order of arrival, found by their name and by the name that they wish for."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, bool], _Queue] = {}
        self._named: dict[str, _Queue] = {}
        self._wishing: dict[str, _Queue] = {}

    def __contains__(self, guest: Guest) -> bool:
        return guest in self._named.get(guest.name.casefold(), ())

    def add(self, guest: Guest) -> None:
        self._named.setdefault(guest.name.casefold(), OrderedDict())[guest] = None
        if guest.wish is None:
            self._open.setdefault((guest.name, guest.asked), OrderedDict())[guest] = None
        else:
            self._wishing.setdefault(guest.wish.name.casefold(), OrderedDict())[guest] = None

    def discard(self, guest: Guest) -> None:
        _drop(self._named, guest.name.casefold(), guest)
        if guest.wish is None:
            _drop(self._open, (guest.name, guest.asked), guest)
        else:
            _drop(self._wishing, guest.wish.name.casefold(), guest)

    def count(self, name: str) -> int:
        return len(self._named.get(name.casefold(), ()))

    def named(self, name: str) -> Iterator[Guest]:
        return iter(self._named.get(name.casefold(), ()))

    def partners(self, guest: Guest) -> Iterator[Guest]:
        """Yield who may suit `guest`: those of each name who would meet anyone, and who wish for it.

        Of several alike the first come is the one, except for the guest's own name, which is its
        partner's only where games do not count.
        """
        if guest.wish is not None:
            yield from self._named.get(guest.wish.name.casefold(), ())
            return
        for (name, _), queue in self._open.items():
            if name != guest.name:
                yield next(iter(queue))
            elif not guest.counted:
                yield from queue
        yield from self._wishing.get(guest.name.casefold(), ())


def _drop(index: dict[K, _Queue], key: K, guest: Guest) -> None:
    queue = index.get(key)
    if queue is not None:
        queue.pop(guest, None)
        if not queue:
            del index[key]
