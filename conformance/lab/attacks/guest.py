"""An honest client that plays a house player, on and on: how long do its opponent's moves take?

Knows a few lines of the Droidcon dialect and a stopwatch.
"""

import time

import trio

from conformance.lab.attacks.figures import Spread
from conformance.lab.house_load import Bot, LoadError, connected
from conformance.targets import Address

PLAYER = "aimafast"
PAUSE = 0.2
"""Seconds before each of its own moves."""
_AGAIN = 1.0
_NAME = "guest"


class Guest:
    """Plays until cancelled, and comes back when it is hung up on."""

    def __init__(self, address: Address) -> None:
        self.lost: list[str] = []
        """What ended its games otherwise than by the rules."""
        self._address = address
        self._times: list[float] = []
        self._asked: float | None = None
        """When it made the move that is not answered yet."""

    async def run(self) -> None:
        """Play."""
        while True:
            try:
                async with connected(self._address, _NAME) as bot:
                    await bot.say(b"JOIN @%s\n" % PLAYER.encode())
                    await self._play(bot)
            except LoadError as error:
                self.lost.append(f"{_NAME} against {PLAYER}: {error}")
                self._asked = None
            await trio.sleep(_AGAIN)

    def begin(self) -> None:
        """Begin to measure."""
        self._times.clear()
        self.lost.clear()

    def spread(self) -> Spread:
        """Return how long moves took since then, the one that is owed included."""
        owed = [] if self._asked is None else [time.perf_counter() - self._asked]
        return Spread.of([*self._times, *owed])

    async def _play(self, bot: Bot) -> None:
        """Play at any column with room. Raises LoadError."""
        room = [6] * 7
        while True:
            line = await bot.line()
            if line == b"NEW_GAME":
                room, self._asked = [6] * 7, None
            elif line == b"YOUR_MOVE":
                column = max(range(7), key=room.__getitem__)
                room[column] -= 1
                await trio.sleep(PAUSE)
                self._asked = time.perf_counter()
                await bot.say(b"PUT %d\n" % column)
            elif line.startswith(b"PUT "):
                room[int(line[4:])] -= 1
                if self._asked is not None:
                    self._times.append(time.perf_counter() - self._asked)
                    self._asked = None
            elif line in (b"YOU_WON", b"YOU_LOST", b"DRAW"):
                self._asked = None
