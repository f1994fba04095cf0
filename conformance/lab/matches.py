"""`python -m conformance matches`: every engine against every engine, across the dialects, as a table.

Knows the command c4bot, by its options and what it says at its end, and a gateway as a subprocess. Each
game has two processes and a table of its own, the first mover sits down before the other is started, and
the two speak different dialects, every pair of dialects in its turn. Games are played one after the other, so
that no engine takes another one's time to think. A win is a point, a draw half of one.
"""

import argparse
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import cycle, permutations
from statistics import fmean

import trio

from conformance.arguments import Parser, write_json
from conformance.lab.figures import aligned
from conformance.lab.jobs import LoadError
from conformance.launch import COMMAND, running
from conformance.targets import Address


@dataclass(frozen=True, slots=True)
class Game:
    """One game; what is of two players has the first mover's part first."""

    first: str
    second: str
    dialects: tuple[str, str]
    points: float
    """The first mover's: 1, 1/2 or 0."""
    seconds: tuple[float, float]
    """Each one's mean time of a move."""


@dataclass(frozen=True, slots=True)
class Total:
    """All games of one engine."""

    engine: str
    games: int
    score: float
    seconds: float
    """Mean time of a move, every game counting the same."""


def totals(engines: Sequence[str], games: Iterable[Game]) -> list[Total]:
    """Return each engine's total, in the order of `engines`; each of them has played."""
    played: dict[str, list[tuple[float, float]]] = {engine: [] for engine in engines}
    for game in games:
        played[game.first].append((game.points, game.seconds[0]))
        played[game.second].append((1 - game.points, game.seconds[1]))
    return [
        Total(engine, len(each), sum(points for points, _ in each), fmean(seconds for _, seconds in each))
        for engine, each in played.items()
    ]


def table(engines: Sequence[str], games: Sequence[Game]) -> str:
    """Return the table: what a row's engine scored moving first against each column's, then its total."""
    rows = [["first \\ second", *engines, "games", "score", "s a move"]]
    for total in totals(engines, games):
        cells = [_cell(total.engine, second, games) for second in engines]
        rows.append([total.engine, *cells, str(total.games), f"{total.score:g}", f"{total.seconds:.3f}"])
    return aligned(rows) + "\n"


def _cell(first: str, second: str, games: Iterable[Game]) -> str:
    points = [game.points for game in games if (game.first, game.second) == (first, second)]
    return f"{sum(points):g}/{len(points)}" if points else "-"


BOT = (sys.executable, "-m", "adapters.bot")
OPTIONS = ("--rounds", "1", "--clock", "1000000")
"""One game at each table, and no clock that cuts a thought short."""
ENGINES = "random,aimafast,mc:100,mcts:100"
MOVES = 42
STARTING = 60.0
"""Seconds that a game may take beside all its thoughts."""

_SPOKEN = {"nac4": "nac4", "arena": "arena", "droidcon": "tcp"}
"""c4bot's words for the dialects."""
_WAITS = b"waits for a game"
_POINTS = {"won": 1.0, "drawn": 0.5, "lost": 0.0}


@dataclass(frozen=True, slots=True)
class Seat:
    """Who sits at a table."""

    engine: str
    dialect: str

    def __str__(self) -> str:
        return f"{self.engine} ({self.dialect})"


@dataclass(frozen=True, slots=True)
class Summary:
    """What a bot says of its one game."""

    points: float
    """1, 1/2 or 0."""
    order: str
    """`first` or `second`."""
    seconds: float
    """Mean time of a move."""


def summary_in(text: str) -> Summary:
    """Return what c4bot's last words say about one game. Raises ValueError where they do not."""
    game = re.search(r"^moving (first|second), 1 game: (.*)$", text, re.MULTILINE)
    mean = re.search(r"^mean time a move: ([0-9.]+) s$", text, re.MULTILINE)
    result = re.search(r"\b1 (won|lost|drawn)\b", game[2]) if game else None
    if not (game and mean and result):
        raise ValueError("it does not say how its one game went")
    return Summary(_POINTS[result[1]], game[1], float(mean[1]))


def pairings(engines: Sequence[str], games: int) -> Iterator[tuple[Seat, Seat]]:
    """Yield who meets whom, the first mover first: so many games for each ordered pair of engines."""
    dialects = cycle(permutations(_SPOKEN, 2))
    for one, two in permutations(engines, 2):
        for _ in range(games):
            first, second = next(dialects)
            yield Seat(one, first), Seat(two, second)


def main(argv: Sequence[str]) -> int:
    """Run the command line; returns the exit status."""
    options = _parse(argv)
    games = trio.run(play_all, list(pairings(options.engines, options.games)), options.think)
    print(table(options.engines, games), end="")
    report = {
        "think": options.think,
        "engines": [asdict(total) for total in totals(options.engines, games)],
        "games": [asdict(game) for game in games],
    }
    write_json(options.json, report)
    return 0


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = Parser.of("matches", __doc__)
    parser.count("--games", 2, "games of a pair and order")
    parser.add_argument("--engines", type=_engines, default=ENGINES, help=f"two or more ({ENGINES})")
    parser.seconds("--think", 0.1, "most for a move")
    parser.report()
    return parser.parse_args(argv)


def _engines(text: str) -> list[str]:
    engines = [word.strip() for word in text.split(",")]
    if len(engines) < 2 or len(set(engines)) < len(engines) or "" in engines or "manual" in engines:
        raise argparse.ArgumentTypeError(f"{text!r} are not two or more different engines")
    return engines


async def play_all(
    seats: Iterable[tuple[Seat, Seat]], think: float, command: Sequence[str] = COMMAND
) -> list[Game]:
    """Play one game after the other. Raises LoadError, ServerError, wrapped."""
    async with running(OPTIONS, command) as server:
        return [
            await _Match(pair, f"match{number}", think, server.addresses).play()
            for number, pair in enumerate(seats)
        ]


class _Match:
    """One game."""

    def __init__(
        self, seats: tuple[Seat, Seat], name: str, think: float, addresses: dict[str, Address]
    ) -> None:
        self._seats = seats
        self._name = name
        self._think = think
        self._addresses = addresses
        self._first_sits = trio.Event()
        self._summaries: dict[str, Summary] = {}
        """The messages about the game, in order."""

    async def play(self) -> Game:
        limit = STARTING + MOVES * self._think
        with trio.move_on_after(limit) as scope:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._bot, "first", self._seats[0])
                await self._first_sits.wait()
                nursery.start_soon(self._bot, "second", self._seats[1])
        who = " against ".join(map(str, self._seats))
        if scope.cancelled_caught:
            raise LoadError(f"{who}: no end within {limit:g} s")
        first, second = self._summaries["first"], self._summaries["second"]
        if first.points + second.points != 1:
            raise LoadError(f"{who}: the two do not agree on who won")
        return Game(
            first=self._seats[0].engine,
            second=self._seats[1].engine,
            dialects=(self._seats[0].dialect, self._seats[1].dialect),
            points=first.points,
            seconds=(first.seconds, second.seconds),
        )

    async def _bot(self, order: str, seat: Seat) -> None:
        words = (_SPOKEN[seat.dialect], self._addresses[seat.dialect].authority, "--table", self._name)
        player = ("--engine", seat.engine, "--think", str(self._think), "--name", f"{self._name}-{order}")
        # Its stderr is in its stdout: what it complains of is among its last words.
        process = await trio.lowlevel.open_process(
            [*BOT, *words, *player, "--verbose"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        try:
            text = await self._heard(process)
            status = await process.wait()
        finally:
            with trio.CancelScope(shield=True):
                if process.poll() is None:
                    process.kill()
                await process.wait()
        if status != 0:
            raise LoadError(f"{seat} exited with status {status}: {_last_line(text)}")
        try:
            summary = summary_in(text)
        except ValueError as error:
            raise LoadError(f"{seat}: {error}: {_last_line(text)}") from None
        if summary.order != order:
            raise LoadError(f"{seat} sat down {order} and moved {summary.order}")
        self._summaries[order] = summary

    async def _heard(self, process: trio.Process) -> str:
        """Return all that a bot says; the second may come when the first has said that it waits."""
        assert process.stdout is not None
        text = b""
        async with process.stdout as stdout:
            async for data in stdout:
                text += data
                if _WAITS in text:
                    self._first_sits.set()
        return text.decode(errors="backslashreplace")


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else "it said nothing"
