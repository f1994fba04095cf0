"""Games that are over but not stored, and the players that wait for their results.

Knows trio; does not know where games are stored. The rules it keeps:

- Nobody waits for longer than `patience`. A game that is not stored by then is late: players hear the result
  all the same, and the game goes on waiting. Time in which the server stood still does not count: it tells
  nothing about the database, and another server may have stored another end meanwhile.
- A mistake of one that waits is logged, and costs no other game its result.
"""

import logging
from collections import deque
from collections.abc import Callable, Iterable
from math import inf

import trio

from gateway.game.ids import GameId
from gateway.portion import Portions
from gateway.store.outage import Count
from gateway.store.records import GameRecord

STOOD_STILL = 0.25
"""Seconds by which the event loop is late only if the whole server stood still."""
MOST_OTHERWISE = 5_000
"""Games with another end that are kept, about 1 KB each: a player that has gone, or is late, never asks."""

logger = logging.getLogger("gateway.store")


class OpenGames:
    """Games that are not stored yet, by their ids, the oldest first. For the event loop."""

    def __init__(self, patience: float, remind: float) -> None:
        """Let players wait for `patience` seconds; tell the operator every `remind` seconds that they did."""
        self._patience = patience
        self._games: dict[GameId, _Game] = {}
        self._timely: deque[_Game] = deque()
        """Games that are not late, the oldest first; among them may be some that are settled."""
        self._otherwise: dict[GameId, GameRecord] = {}
        self._came = trio.Event()
        self._told_late = Count(remind, _say_late)

    @property
    def waiting(self) -> int:
        """How many there are."""
        return len(self._games)

    @property
    def behind(self) -> bool:
        """Whether one of them is late."""
        oldest = next(iter(self._games.values()), None)
        return oldest is not None and oldest.is_late

    def add(self, record: GameRecord) -> None:
        """Note that a game is over."""
        game = self._games[record.game] = _Game(record, trio.current_time() + self._patience)
        self._timely.append(game)
        self._came.set()

    def settle(self, game: GameId) -> None:
        """Note that a game is stored, or in the log: it is not open any more."""
        self._games.pop(game).settle()

    def settle_all(self) -> list[GameRecord]:
        """Settle all games and return them, the oldest first."""
        games = [*self._games.values()]
        self._games.clear()
        for game in games:
            game.settle()
        return [game.record for game in games]

    def is_open(self, game: GameId) -> bool:
        """Whether the game is neither stored nor late."""
        found = self._games.get(game)
        return found is not None and not found.is_late

    def when_stored(self, game: GameId, then: Callable[[], object]) -> None:
        """Call `then` once the game is stored or late, or at once if it is. It MUST NOT block or raise."""
        found = self._games.get(game)
        if found is None or found.is_late:
            then()
        else:
            found.waiting.append(then)

    def note_otherwise(self, records: Iterable[GameRecord]) -> None:
        """Note shared games that were stored with another end; call it before they are settled."""
        self._otherwise |= {record.game: record for record in records}
        for game in [*self._otherwise][:-MOST_OTHERWISE]:
            del self._otherwise[game]

    def take_otherwise(self, game: GameId) -> GameRecord | None:
        """Return a game, once, if it was stored with another end."""
        return self._otherwise.pop(game, None)

    async def watch(self) -> None:
        """Let games become late in time, until cancelled; of many at the same time a few in each turn."""
        portions, told_at = Portions(1), -inf
        while True:
            while self._timely and self._timely[0].is_settled:
                self._timely.popleft()
            if self._timely:
                until = max(self._timely[0].until, told_at)  # those before it are no standstill
                await trio.sleep_until(until)
                now = trio.current_time()
                if now - until > STOOD_STILL:
                    self._wait_anew()
                    continue
                portions.begin(until)
                told_at = now
                self._let_be_late(portions.next(now), now)
            else:
                self._came = trio.Event()
                await self._came.wait()

    def _let_be_late(self, most: int, now: float) -> None:
        """Let those games become late whose time is over, the oldest `most` of them."""
        for _ in range(most):
            if self._timely and self._timely[0].until <= now:
                for _ in range(self._timely.popleft().become_late()):
                    self._told_late.one_more(now)

    def _wait_anew(self) -> None:
        """Let players wait as long as if all games had ended just now."""
        until = trio.current_time() + self._patience
        for game in self._timely:
            game.until = until

    def close(self) -> None:
        """Tell the operator of late games that were not logged yet."""
        self._told_late.close()


class _Game:
    """A game that is not stored yet."""

    __slots__ = ("is_late", "is_settled", "record", "until", "waiting")

    def __init__(self, record: GameRecord, until: float) -> None:
        self.record = record
        self.until = until
        """When it becomes late."""
        self.is_late = self.is_settled = False
        self.waiting: list[Callable[[], object]] = []
        """Called once the game is settled or late."""

    def settle(self) -> None:
        self.is_settled = True
        self._tell()

    def become_late(self) -> int:
        """Tell those that wait, and return their number, 0 if the game is settled."""
        if self.is_settled:
            return 0
        self.is_late = True
        return self._tell()

    def _tell(self) -> int:
        waiting, self.waiting = self.waiting, []
        for then in waiting:
            try:
                then()
            except Exception as error:  # a mistake of ours; it must cost no other game its result
                about = {"event": "waiting_failed", "error": str(error)}
                logger.exception("what waits for a result has failed: %s", error, extra=about)
        return len(waiting)


def _say_late(times: int) -> None:
    about = {"event": "results_told_unstored", "times": times}
    logger.error("players hear of results that are not stored yet, %d times so far", times, extra=about)
