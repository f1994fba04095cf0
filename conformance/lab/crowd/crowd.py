"""The loop that many bots share: who can be read, what is to be done later, who is still on the way in.

Knows members and the time. Between two looks at the sockets at most `NAP` seconds pass, plus what the work
takes, so that how long ago a message may have come is always known to that.
"""

from collections.abc import Callable, Iterable
from heapq import heappop, heappush
from itertools import count
from time import perf_counter

from conformance.lab.bench.poller import poller
from conformance.lab.bench.script import OutOfStep
from conformance.lab.crowd.member import Look, Member

NAP = 0.01
"""Seconds that one look waits at most."""
_MOST_FOUND = 1000
"""A look that finds so many sockets may have left some out."""


class Crowd:
    """Members, and what they have in mind."""

    def __init__(self) -> None:
        self._poller = poller()
        self._members: dict[int, Member] = {}
        self._numbers: dict[Member, int] = {}
        self._on_the_way: list[Member] = []
        self._later: list[tuple[float, int, Callable[[], None]]] = []
        self._order = count()
        self._looked = perf_counter()

    def __len__(self) -> int:
        return len(self._members)

    def admit(self, member: Member) -> None:
        """Let a member connect. Raises OutOfStep."""
        number = member.connect()
        self._members[number], self._numbers[member] = member, number
        self._poller.add(number)
        self._on_the_way.append(member)

    def dismiss(self, member: Member) -> None:
        """Hang up, if that was not done yet."""
        number = self._numbers.pop(member, None)
        if number is not None:
            self._poller.remove(number)
            del self._members[number]
            member.close()

    def at(self, when: float, what: Callable[[], None]) -> None:
        """Have something done when it is time."""
        heappush(self._later, (when, next(self._order), what))

    def run(self, is_over: Callable[[], bool], limit: float) -> None:
        """Let everybody act until it is over. Raises OutOfStep, also after `limit` seconds."""
        end = perf_counter() + limit
        while not is_over():
            self.turn()
            if perf_counter() > end:
                raise OutOfStep(f"{len(self)} bots were not done within {limit:g} s")

    def run_for(self, seconds: float) -> None:
        """Let everybody act for so long. Raises OutOfStep."""
        end = perf_counter() + seconds
        while perf_counter() < end:
            self.turn()

    def turn(self) -> None:
        """Do what is due, look at the sockets once, and deal with what they bring. Raises OutOfStep."""
        self._push()
        self._do(perf_counter())
        found = self._poller.wait(self._nap(perf_counter()))
        now = perf_counter()
        before = self._looked
        if len(found) < _MOST_FOUND:
            self._looked = now
        look = Look(now, before)
        for number, _ in found:
            member = self._members.get(number)
            if member is not None:  # another one may have sent it away just now
                member.take(Look(perf_counter(), look.before))

    def close(self, members: Iterable[Member] | None = None) -> None:
        """Hang up, all of them or some."""
        for member in list(self._numbers if members is None else members):
            self.dismiss(member)

    def _nap(self, now: float) -> float:
        due = self._later[0][0] - now if self._later else NAP
        return max(0.0, min(NAP, due))

    def _do(self, now: float) -> None:
        while self._later and self._later[0][0] <= now:
            heappop(self._later)[2]()

    def _push(self) -> None:
        if self._on_the_way:
            waiting, self._on_the_way = self._on_the_way, []
            self._on_the_way += [
                member for member in waiting if member in self._numbers and not member.push()
            ]
