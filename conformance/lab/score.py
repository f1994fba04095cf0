"""What games between engines come to: points, times, and a table for people.

Arithmetic and text, no I/O. A win is a point, a draw half of one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from conformance.lab.figures import aligned


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
