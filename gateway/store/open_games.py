"""Games that are over and not stored yet, and the players who wait to hear of them.

Knows trio; does not know where games are stored. The rule it keeps: nobody waits for longer than `patience`.
A game that is not stored by then is late: players hear of it all the same, and it goes on waiting.
"""

import logging
from collections import deque

import trio

from gateway.game.ids import GameId
from gateway.store.outage import Count
from gateway.store.records import GameRecord

logger = logging.getLogger("gateway.store")


class OpenGames:
    """Games that are not stored yet, by their ids, the oldest first. For the event loop."""

    def __init__(self, patience: float, remind: float) -> None:
        """Let players wait for `patience` seconds; tell the operator every `remind` seconds that they did."""
        self._patience = patience
        self._games: dict[GameId, _Game] = {}
        self._timely: deque[_Game] = deque()
        """Games that are not late, the oldest first; among them may be some that are settled."""
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
        """Whether the game is not stored yet, and it is worth waiting until it is."""
        found = self._games.get(game)
        return found is not None and not found.is_late

    async def stored(self, game: GameId) -> None:
        """Return once it is not worth waiting for the game any more. Nobody who waits holds up another."""
        found = self._games.get(game)
        if found is not None and not found.is_late:
            await found.over()
            if not found.is_settled:
                self._told_late.one_more(trio.current_time())

    async def watch(self) -> None:
        """Let games become late when it is time, for ever."""
        while True:
            while self._timely and self._timely[0].is_settled:
                self._timely.popleft()
            if self._timely:
                await trio.sleep_until(self._timely[0].until)
                self._timely.popleft().become_late()
            else:
                self._came = trio.Event()
                await self._came.wait()

    def close(self) -> None:
        """Tell the operator what was not told yet."""
        self._told_late.close()


class _Game:
    """A game that is not stored yet."""

    __slots__ = ("_over", "is_late", "is_settled", "record", "until")

    def __init__(self, record: GameRecord, until: float) -> None:
        self.record = record
        self.until = until
        """When it becomes late."""
        self.is_late = self.is_settled = False
        self._over: trio.Event | None = None

    async def over(self) -> None:
        """Return once the game is settled or late."""
        if self._over is None:
            self._over = trio.Event()
        await self._over.wait()

    def settle(self) -> None:
        self.is_settled = True
        self._tell()

    def become_late(self) -> None:
        if not self.is_settled:
            self.is_late = True
            self._tell()

    def _tell(self) -> None:
        if self._over is not None:
            self._over.set()


def _say_late(times: int) -> None:
    about = {"event": "results_told_unstored", "times": times}
    logger.error("players hear of results that are not stored yet, %d times so far", times, extra=about)
