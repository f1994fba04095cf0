"""`python -m conformance house-load`: do house players that think hold up those who play each other?

Knows a few lines of the Droidcon dialect, a gateway as a subprocess, and a stopwatch. Bots keep house
players busy; two more, at a table of their own, answer at once, and each of their moves is timed from its
`PUT` to the opponent's receipt of it. All bots share one event loop, so what the load costs this side is in
the figures too: they may be too high, never too low.
"""

import argparse
import math
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

import trio

from conformance.arguments import Parser, count, guarded, seconds
from conformance.launch import COMMAND, ServerError, running
from conformance.targets import Address

LIMIT = 20.0
"""Milliseconds within which 99 of 100 moves have to arrive."""
PATIENCE = 15.0
"""Seconds in which anything that is no house player's move has to come."""
SERIES = ("--rounds", "1000000")
"""So many that no series ends while it is measured."""
DRAWN = "146660203633536103043506522512202545444111"
"""All columns of a game without a winner, so that as few rounds as possible begin between the moves."""

_PUTS = [b"PUT %d\n" % column for column in range(7)]
_RESULTS = (b"YOU_WON", b"YOU_LOST", b"DRAW")


class LoadError(Exception):
    """The load, or the game that is timed, did not come about; says why."""


class Refusal(LoadError):
    """The server told an error."""


@dataclass(slots=True)
class Load:
    """What the games with house players came to."""

    on: int = 0
    """Games that have begun and not ended."""
    finished: int = 0
    answers: int = 0
    """Moves of house players."""
    all_on: trio.Event = field(default_factory=trio.Event)


@dataclass(frozen=True, slots=True)
class Figures:
    """What a run came to. Times are in milliseconds."""

    load: Load
    times: Sequence[float]

    @property
    def good(self) -> bool:
        """Whether moves arrive in time."""
        return percentile(self.times, 99) <= LIMIT

    def __str__(self) -> str:
        p50, p99 = percentile(self.times, 50), percentile(self.times, 99)
        return (
            f"games on:        {self.load.on}\n"
            f"games finished:  {self.load.finished}\n"
            f"house moves:     {self.load.answers}\n"
            f"moves measured:  {len(self.times)}\n"
            f"p50:             {p50:.2f} ms\n"
            f"p99:             {p99:.2f} ms (limit {LIMIT:g} ms)\n"
            f"max:             {max(self.times):.2f} ms\n"
        )


def percentile(values: Sequence[float], percent: int) -> float:
    """Return the least of `values`, which are not empty, that `percent` (1 to 100) in 100 do not exceed."""
    return sorted(values)[math.ceil(len(values) * percent / 100) - 1]


def main(argv: Sequence[str]) -> int:
    """Run the command line; returns the exit status."""
    return guarded(_main, argv, LoadError, ServerError)


def _main(argv: Sequence[str]) -> int:
    figures = trio.run(measure, _parse(argv))
    print(figures, end="")
    return 0 if figures.good else 1


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = Parser(prog="conformance house-load", description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--games", type=count, default=20, metavar="N", help="games with house players (20)")
    parser.add_argument("--seconds", type=seconds, default=20.0, help="how long to measure (20)")
    parser.add_argument("--player", default="aima", metavar="NAME", help="the house player (aima)")
    return parser.parse_args(argv)


async def measure(options: argparse.Namespace, command: Sequence[str] = COMMAND) -> Figures:
    """Return what a run with these options came to. Raises LoadError, ServerError, wrapped."""
    load = Load()
    times: list[float] = []

    def begun() -> None:
        if load.on == options.games:
            load.all_on.set()

    async with running(SERIES, command) as server, AsyncExitStack() as stack, trio.open_nursery() as nursery:
        address = server.addresses["droidcon"]
        for number in range(options.games):
            bot = await stack.enter_async_context(connected(address, f"load{number}"))
            nursery.start_soon(keep_busy, bot, options.player, load, begun)
        with trio.move_on_after(PATIENCE):
            await load.all_on.wait()
        if not load.all_on.is_set():
            doubt = "" if load.on else f"; is {options.player!r} a player of the server's own?"
            raise LoadError(f"{load.on} of {options.games} games began within {PATIENCE:g} s{doubt}")
        left = await stack.enter_async_context(connected(address, "left"))
        right = await stack.enter_async_context(connected(address, "right"))
        for bot in (left, right):
            await bot.say(b"JOIN measured\n")
            await bot.until(b"SUCCESS")
        with trio.move_on_after(options.seconds):
            await time_moves((left, right), times)
        nursery.cancel_scope.cancel()
    if not times:
        raise LoadError(f"no move arrived within {options.seconds:g} s")
    return Figures(load, times)


class Bot:
    """One Droidcon connection."""

    def __init__(self, stream: trio.SocketStream) -> None:
        self._stream = stream
        self._lines: list[bytes] = []
        """Lines that were received and not yet read, the next one last."""
        self._rest = b""

    async def say(self, data: bytes) -> None:
        """Send. Raises LoadError."""
        try:
            await self._stream.send_all(data)
        except trio.BrokenResourceError:
            raise LoadError("the server hung up") from None

    async def line(self) -> bytes:
        """Return the next line without its end. Raises LoadError; Refusal for an error that it tells."""
        while not self._lines:
            try:
                data = await self._stream.receive_some()
            except trio.BrokenResourceError:
                data = b""
            if not data:
                raise LoadError("the server hung up")
            *lines, self._rest = (self._rest + data).split(b"\n")
            self._lines = lines[::-1]
        line = self._lines.pop()
        if line.startswith(b"Error"):
            raise Refusal(f"the server said {line.decode(errors='replace')!r}")
        return line

    async def until(self, wanted: bytes) -> None:
        """Read up to this line, which is to come soon. Raises LoadError."""
        with trio.move_on_after(PATIENCE):
            while await self.line() != wanted:
                pass
            return
        raise LoadError(f"no {wanted.decode()!r} within {PATIENCE:g} s")


@asynccontextmanager
async def connected(address: Address, name: str) -> AsyncIterator[Bot]:
    """Return a connection with a name, for as long as the block lasts. Raises LoadError."""
    try:
        stream = await trio.open_tcp_stream(address.host, address.port)
    except OSError as error:
        raise LoadError(f"{name} cannot connect: {error}") from None
    async with stream:
        bot = Bot(stream)
        await bot.say(b"NAME %s\n" % name.encode())
        await bot.until(b"SUCCESS")
        yield bot


async def keep_busy(bot: Bot, player: str, load: Load, begun: Callable[[], object]) -> None:
    """Play a house player without end, at once and at any column with room; say when a game begins.

    Raises LoadError.
    """
    await bot.say(b"JOIN @%s\n" % player.encode())
    room = [6] * 7
    while True:
        line = await bot.line()
        if line == b"NEW_GAME":
            room = [6] * 7
            load.on += 1
            begun()
        elif line == b"YOUR_MOVE":
            await put(bot, room)
        elif line.startswith(b"PUT "):
            load.answers += 1
            room[int(line[4:])] -= 1
        elif line in _RESULTS:
            load.on -= 1
            load.finished += 1


async def put(bot: Bot, room: list[int]) -> None:
    """Move in the column with most room, of which there is less then. Raises LoadError."""
    column = max(range(7), key=room.__getitem__)
    room[column] -= 1
    await bot.say(_PUTS[column])


async def time_moves(pair: tuple[Bot, Bot], times: list[float]) -> None:
    """Play drawn games without end; note how many milliseconds each move takes. Raises LoadError."""
    mover, other = pair
    while True:
        for digit in DRAWN:
            put = _PUTS[int(digit)]
            await mover.until(b"YOUR_MOVE")
            start = time.perf_counter()
            await mover.say(put)
            await other.until(put.rstrip())
            times.append(1000 * (time.perf_counter() - start))
            mover, other = other, mover
        mover, other = other, mover  # 42 moves are made, and the first move swaps
