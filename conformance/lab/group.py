"""The loop that many bots share: which can be read, what is to be done later, which are still on the way in.

Knows bots and the time. Between two looks at the sockets at most `NAP` seconds pass, plus what the work
takes, so that how long ago a message may have come is always known to that.
"""

import select
from collections.abc import Callable, Iterable
from heapq import heappop, heappush
from itertools import count
from time import perf_counter
from typing import Generic, Protocol, TypeVar

from conformance.dialects.script import OutOfStep
from conformance.lab.bots import Bot

NAP = 0.01
"""Seconds that one look waits at most."""
_MOST_FOUND = 1000
"""A look that finds so many sockets may have left some out."""
_HAS_EPOLL = hasattr(select, "epoll")

B = TypeVar("B", bound=Bot)


class Ready(Protocol):
    """What can be read from."""

    def ready(self) -> None:
        """Take in what has arrived."""


class Group(Generic[B]):
    """Bots, and what they have in mind."""

    def __init__(self) -> None:
        self.looked_before = perf_counter()
        """When the sockets were looked at before the latest time: what that found had not come by then."""
        self._poll = select.epoll() if _HAS_EPOLL else select.poll()
        self._readers: dict[int, Ready] = {}
        self._numbers: dict[B, int] = {}
        self._coming: list[B] = []
        self._later: list[tuple[float, int, Callable[[], None]]] = []
        self._order = count()
        self._looked = perf_counter()

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def members(self) -> Iterable[B]:
        """All bots that are connected, or are about to be."""
        return self._numbers

    @property
    def is_waiting_for_connections(self) -> bool:
        """Whether some bots have not said their first words yet."""
        return bool(self._coming)

    def watch(self, number: int, reader: Ready) -> None:
        """Tell `reader` when there is something to read at a file descriptor."""
        self._readers[number] = reader
        self._poll.register(number, select.EPOLLIN if _HAS_EPOLL else select.POLLIN)

    def admit(self, bot: B) -> None:
        """Let a bot connect. Raises OutOfStep."""
        number = bot.connect()
        self._numbers[bot] = number
        self.watch(number, bot)
        self._coming.append(bot)

    def dismiss(self, bot: B) -> None:
        """Hang up, if that was not done yet."""
        number = self._numbers.pop(bot, None)
        if number is not None:
            self._poll.unregister(number)
            del self._readers[number]
            bot.close()

    def at(self, when: float, what: Callable[[], None]) -> None:
        """Have something done when it is time."""
        heappush(self._later, (when, next(self._order), what))

    def hurry(self) -> None:
        """Do at once what was to be done later."""
        self._do(float("inf"))

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

    def turn(self, longest: float = NAP) -> bool:
        """Do what is due, look at the sockets once, and deal with what they bring. Raises OutOfStep.

        Returns whether there was something to read.
        """
        if self._coming:
            coming, self._coming = self._coming, []
            self._coming += [bot for bot in coming if bot in self._numbers and not bot.push()]
        now = perf_counter()
        if self._later:
            self._do(now)
            if self._later:
                longest = max(0.0, min(longest, self._later[0][0] - now))
        found = self._poll.poll(longest if _HAS_EPOLL else 1000 * longest)
        self.looked_before = self._looked
        if len(found) < _MOST_FOUND:
            self._looked = perf_counter()
        readers = self._readers
        for number, _ in found:
            if number in readers:  # another bot may have sent it away just now
                readers[number].ready()
        return bool(found)

    def close(self, bots: Iterable[B] | None = None) -> None:
        """Hang up, all of them or some."""
        for bot in list(self._numbers if bots is None else bots):
            self.dismiss(bot)

    def _do(self, now: float) -> None:
        while self._later and self._later[0][0] <= now:
            heappop(self._later)[2]()
