"""`python -m conformance house-hog`: does a client with many wishes slow down another's game?

One client wishes for the slowest house player, over and over and at once, and plays every game that it gets.
Another one, at the same address and under a name of its own, plays a house player too; each move of that is
timed, from the client's `PUT` to the answer. A wish that is refused is in order, a slow move is not.
"""

import argparse
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass

import trio

from conformance.arguments import Parser, count, guarded, seconds
from conformance.lab.house_load import (
    PATIENCE,
    SERIES,
    Bot,
    Load,
    LoadError,
    Refusal,
    connected,
    keep_busy,
    percentile,
    put,
)
from conformance.launch import COMMAND, ServerError, running

PLAYER = "aima10"
"""Whom the hog wishes for."""
LIMIT = 1000.0
"""Milliseconds within which every move has to come."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What a run came to. Times are in milliseconds."""

    load: Load
    refused: int
    times: Sequence[float]

    @property
    def good(self) -> bool:
        """Whether every move came in time."""
        return max(self.times) <= LIMIT

    def __str__(self) -> str:
        return (
            f"hog's games:     {self.load.on}\n"
            f"hog's refusals:  {self.refused}\n"
            f"hog's answers:   {self.load.answers}\n"
            f"moves measured:  {len(self.times)}\n"
            f"median:          {percentile(self.times, 50):.1f} ms\n"
            f"worst:           {max(self.times):.1f} ms (limit {LIMIT:g} ms)\n"
        )


def main(argv: Sequence[str]) -> int:
    """Run the command line; returns the exit status."""
    return guarded(_main, argv, LoadError, ServerError)


def _main(argv: Sequence[str]) -> int:
    figures = trio.run(measure, _parse(argv))
    print(figures, end="")
    return 0 if figures.good else 1


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = Parser(prog="conformance house-hog", description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--wishes", type=count, default=200, metavar="N", help="wishes of the hog (200)")
    parser.add_argument("--seconds", type=seconds, default=20.0, help="how long to measure (20)")
    parser.add_argument(
        "--player", default="aimafast", metavar="NAME", help="whom the other client plays (aimafast)"
    )
    return parser.parse_args(argv)


async def measure(options: argparse.Namespace, command: Sequence[str] = COMMAND) -> Figures:
    """Return what a run with these options came to. Raises LoadError, ServerError, wrapped."""
    hog = Hog(options.wishes)
    times: list[float] = []
    async with running(SERIES, command) as server, AsyncExitStack() as stack, trio.open_nursery() as nursery:
        address = server.addresses["droidcon"]
        for _ in range(options.wishes):
            nursery.start_soon(hog.wish, await stack.enter_async_context(connected(address, "hog")))
        with trio.move_on_after(PATIENCE):
            await hog.answered.wait()
        if not hog.answered.is_set():
            raise LoadError(f"not all wishes for {PLAYER} were answered within {PATIENCE:g} s")
        other = await stack.enter_async_context(connected(address, "other"))
        with trio.move_on_after(options.seconds):
            await time_answers(other, options.player, times)
        nursery.cancel_scope.cancel()
    if not times:
        raise LoadError(f"{options.player} made no move within {options.seconds:g} s")
    return Figures(hog.load, hog.refused, times)


class Hog:
    """A client with many wishes."""

    def __init__(self, wishes: int) -> None:
        self.load = Load()
        self.refused = 0
        self.answered = trio.Event()
        """Set once each wish is granted or refused."""
        self._wishes = wishes

    async def wish(self, bot: Bot) -> None:
        """Wish, and play if that is granted. Raises LoadError."""
        try:
            await keep_busy(bot, PLAYER, self.load, self._heard)
        except Refusal:
            self.refused += 1
            self._heard()

    def _heard(self) -> None:
        if self.load.on + self.refused >= self._wishes:
            self.answered.set()


async def time_answers(bot: Bot, player: str, times: list[float]) -> None:
    """Play `player` without end; note how many milliseconds each of its moves takes. Raises LoadError."""
    await bot.say(b"JOIN @%s\n" % player.encode())
    room = [6] * 7
    asked: float | None = None
    while True:
        line = await bot.line()
        if line == b"NEW_GAME":
            room, asked = [6] * 7, None
        elif line == b"YOUR_MOVE":
            asked = time.perf_counter()
            await put(bot, room)
        elif line.startswith(b"PUT ") and asked is not None:
            times.append(1000 * (time.perf_counter() - asked))
        if line.startswith(b"PUT "):
            room[int(line[4:])] -= 1
