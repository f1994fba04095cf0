"""Bars, tiles and lines: numbers in, shapes out, for templates to draw as SVG.

Pure. Lengths are in pixels, y goes down. Knows nothing of colours: a shape says what it means ("won"), and
the style sheet says what that looks like.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gateway.store.statistics import Score
from gateway.store.totals import Rating

LEGIBLE = 13.0
"""Pixels from which on a part of a bar has its number inside."""
GUIDES = (0, 25, 50)
"""Ratings at which every rating bar has a line."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Values from `low` to `high` on pixels from `start` to `end`, which may be the smaller."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Return the pixel of a value, to a tenth; the middle where all values are one."""
        share = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return round(self.start + share * (self.end - self.start), 1)


def rating_scale(ratings: Iterable[Rating], width: float) -> Scale:
    """Return the one scale of all rating bars of a view: the guides and three deviations fit in."""
    low, high = float(GUIDES[0]), float(GUIDES[-1])
    for rating in ratings:
        low, high = min(low, rating.sure), max(high, rating.mean + 3 * rating.deviation)
    return Scale(low, high, 5.0, width - 5.0)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a bar."""

    what: str
    """``won``, ``drawn`` or ``lost``."""
    x: float
    width: float
    label: str
    """The number, where there is room for it."""


def outcome(score: Score, width: float) -> list[Part]:
    """Return the won/drawn/lost bar of some games; there is a gap of a pixel between two parts."""
    counts = {"won": score.won, "drawn": score.drawn, "lost": score.lost}
    parts, x = [], 0.0
    for what, count in counts.items():
        if count:
            size = width * count / score.games
            label = str(count) if size > max(LEGIBLE, 8 * len(str(count))) else ""
            gap = 1.0 if x + size < width - 0.1 else 0.0
            parts.append(Part(what, round(x, 1), round(max(1.0, size - gap), 1), label))
            x += size
    return parts


@dataclass(frozen=True, slots=True)
class Bar:
    """One of several bars below each other."""

    label: str
    value: float
    width: float
    """Hundredths of what is there for the bar and its number."""


def bars(values: Mapping[str, float]) -> list[Bar]:
    """Return a bar for each value; the longest leaves room for a number, none is too short to be seen."""
    most = max(values.values(), default=0) or 1
    return [Bar(name, value, round(max(1.0, 70 * value / most), 1)) for name, value in values.items()]


def points(score: Score) -> str:
    """Return the points of a score as ``2½``."""
    whole, half = divmod(2 * score.won + score.drawn, 2)
    return f"{whole or ('' if half else 0)}{'½' if half else ''}"


def share(score: Score) -> float:
    """Return the points of a score for each game, 0 to 1; a half where there are no games."""
    return (score.won + score.drawn / 2) / score.games if score.games else 0.5


def step(score: Score) -> str:
    """Return which of seven steps a score is: ``lost-3`` for nothing, ``even``, ``won-3`` for everything."""
    of_one = share(score)
    if of_one == 0.5:
        return "even"
    side, distance = ("won", of_one) if of_one > 0.5 else ("lost", 1 - of_one)
    return f"{side}-{3 if distance == 1 else 2 if distance >= 0.7 else 1}"


def shade(count: int, most: int) -> int:
    """Return how dark a tile for `count` is: 0 for none, 1 to 5 by share of the most."""
    return math.ceil(5 * count / most) if count else 0


def ticks(low: float, high: float, most: int = 4) -> list[float]:
    """Return up to `most` + 1 round values from `low` to `high`, evenly apart."""
    if high <= low:
        return [low]
    raw = (high - low) / most
    size = 10.0 ** math.floor(math.log10(raw))
    size *= next(factor for factor in (1, 2, 2.5, 5, 10) if size * factor >= raw * 0.999)
    return [number * size for number in range(math.ceil(low / size), math.floor(high / size) + 1)]


def path(places: Iterable[tuple[float, float]]) -> str:
    """Return a line through these places, as the ``d`` of a path."""
    return "M" + "L".join(f"{x:g},{y:g}" for x, y in places)


def area(above: Sequence[tuple[float, float]], below: Sequence[tuple[float, float]]) -> str:
    """Return what is between two lines from left to right, as the ``d`` of a path."""
    return f"{path([*above, *reversed(below)])}Z"


def spread(wanted: Sequence[float], apart: float, end: float) -> list[float]:
    """Return where labels stand that want to be at these places: in order, `apart`, none beyond `end`."""
    order = sorted(range(len(wanted)), key=wanted.__getitem__)
    found, last = [0.0] * len(wanted), -math.inf
    for number in order:
        found[number] = last = max(wanted[number], last + apart)
    limit = end
    for number in reversed(order):
        found[number] = min(found[number], limit)
        limit = found[number] - apart
    return [round(each, 1) for each in found]


@dataclass(frozen=True, slots=True)
class Tile:
    """A beginning of games in an icicle."""

    moves: str
    x: float
    width: float
    score: Score

    @property
    def depth(self) -> int:
        """0 for the first move."""
        return len(self.moves) - 1

    @property
    def column(self) -> str:
        """The column of its last move."""
        return self.moves[-1]

    @property
    def step(self) -> str:
        """How the games went; of a single game, or two, as of any other number."""
        return step(self.score)


def icicle(openings: Mapping[str, Score], width: float, least: float = 12.0) -> list[Tile]:
    """Return the tiles of a tree of beginnings: below each what followed it, as wide as it has games.

    Those that would be narrower than `least` pixels are left out, and what follows them.
    """
    return [*_below("", 0.0, width, openings, least)]


def _below(start: str, x: float, width: float, openings: Mapping[str, Score], least: float) -> Iterable[Tile]:
    following = [start + str(column) for column in range(7) if start + str(column) in openings]
    following.sort(key=lambda moves: -openings[moves].games)
    games = openings[start].games if start else sum(openings[moves].games for moves in following)
    for moves in following:
        size = width * openings[moves].games / games
        if size >= least:
            yield Tile(moves, round(x, 1), round(size - 1.5, 1), openings[moves])
            yield from _below(moves, x, size, openings, least)
        x += size


@dataclass(frozen=True, slots=True)
class Frame:
    """A picture's size, and how much of it lies around the plot."""

    width: float
    height: float
    left: float
    right: float
    top: float
    bottom: float


@dataclass(frozen=True, slots=True)
class Series:
    """A line, and its name at its right end."""

    name: str
    path: str
    label_y: float


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines over time."""

    frame: Frame
    series: list[Series]
    levels: list[tuple[float, str]]
    """Where a horizontal line stands, and for what."""
    times: list[tuple[float, int]]
    """Where a point in time is, and which, in milliseconds of Unix time."""


def lines(series: Mapping[str, Sequence[tuple[float, float]]], frame: Frame) -> Lines | None:
    """Return lines through points of time and value, one for each name; None where there is none of two."""
    shown = {name: points for name, points in series.items() if len(points) > 1}
    if not shown:
        return None
    times = [at for points in shown.values() for at, _ in points]
    values = [value for points in shown.values() for _, value in points]
    x = Scale(min(times), max(times), frame.left, frame.width - frame.right)
    y = Scale(min(*values, 0), max(values), frame.height - frame.bottom, frame.top)
    ends = spread([y(points[-1][1]) for points in shown.values()], 18, frame.height - frame.bottom)
    return Lines(
        frame,
        [
            Series(name, path((x(at), y(value)) for at, value in points), label_y)
            for (name, points), label_y in zip(shown.items(), ends, strict=True)
        ],
        [(y(value), f"{value:g}".replace("-", "\N{MINUS SIGN}")) for value in ticks(y.low, y.high)],
        [(x(at), round(at)) for at in (x.low, (x.low + x.high) / 2, x.high)],
    )
