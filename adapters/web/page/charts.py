"""Bars, tiles and lines, as shapes that templates draw in SVG.

Pure. Lengths are in pixels, and y grows downwards. Does not know colours: a shape has a meaning ("won"), and
the style sheet gives it a colour.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from adapters.web.page.sentences import thought
from gateway.store.statistics import Point, Score
from gateway.store.totals import Rating

LEGIBLE = 13.0
"""Pixels that a part of a bar needs to show its number."""
NARROWEST = 12.0
"""The least width of a tile of an icicle, in pixels."""
GUIDES = (0, 25, 50)
"""Ratings at which every rating bar has a line."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps values from `low` to `high` to pixels from `start` to `end`. `end` may be smaller than `start`."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Return the pixel of a value, to a tenth; the middle if `low` and `high` are equal."""
        share = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return round(self.start + share * (self.end - self.start), 1)


def rating_scale(ratings: Iterable[Rating], width: float) -> Scale:
    """Return the scale for all rating bars of a view.

    It includes `GUIDES`, and each rating from its sure value to three deviations above its mean.
    """
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
    """The number, if there is room for it."""


def outcome(score: Score, width: float) -> list[Part]:
    """Return the bar of won, drawn and lost games, with a gap of a pixel between two parts."""
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
    """One bar of a list."""

    label: str
    value: float
    width: float
    """The length, in percent of the room for the bar and its number."""


def bars(values: Mapping[str, float]) -> list[Bar]:
    """Return a bar for each value. Bars are 1 to 70 percent wide, which leaves room for their numbers."""
    most = max(values.values(), default=0) or 1
    return [Bar(name, value, round(max(1.0, 70 * value / most), 1)) for name, value in values.items()]


def step(score: Score) -> str:
    """Return the step of a score, one of seven from ``lost-3`` (all lost) to ``won-3`` (all won)."""
    of_one = score.share
    if of_one == 0.5:
        return "even"
    side, distance = ("won", of_one) if of_one > 0.5 else ("lost", 1 - of_one)
    return f"{side}-{3 if distance == 1 else 2 if distance >= 0.7 else 1}"


def shade(count: int, most: int) -> int:
    """Return the shade of a tile: 0 if `count` is 0, otherwise 1 to 5 in proportion to `most`."""
    return math.ceil(5 * count / most) if count else 0


def ticks(low: float, high: float, most: int = 4) -> list[float]:
    """Return up to `most` + 1 round values from `low` to `high`, at equal distances."""
    if high <= low:
        return [low]
    raw = (high - low) / most
    size = 10.0 ** math.floor(math.log10(raw))
    size *= next(factor for factor in (1, 2, 2.5, 5, 10) if size * factor >= raw * 0.999)
    return [number * size for number in range(math.ceil(low / size), math.floor(high / size) + 1)]


def path(places: Iterable[tuple[float, float]]) -> str:
    """Return a line through points, as the attribute ``d`` of an SVG path."""
    return "M" + "L".join(f"{x:g},{y:g}" for x, y in places)


def area(above: Sequence[tuple[float, float]], below: Sequence[tuple[float, float]]) -> str:
    """Return the area between two lines, as the attribute ``d`` of an SVG path.

    Both lines go from left to right.
    """
    return f"{path([*above, *reversed(below)])}Z"


def spread(wanted: Sequence[float], apart: float, end: float) -> list[float]:
    """Return the positions of labels, near the wanted positions and in the same order.

    Two labels are at least `apart` from each other, and none is beyond `end`.
    """
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
    """A tile of an icicle: an opening and its score."""

    moves: str
    x: float
    width: float
    score: Score

    @property
    def depth(self) -> int:
        """The depth in the tree: 0 for the first move."""
        return len(self.moves) - 1

    @property
    def column(self) -> str:
        """The column of its last move."""
        return self.moves[-1]

    @property
    def step(self) -> str:
        """The result of the function `step` for its score."""
        return step(self.score)


def icicle(openings: Mapping[str, Score], width: float) -> list[Tile]:
    """Return the tiles of a tree of openings.

    A tile is below its parent, and its width is proportional to its number of games. Tiles narrower than
    `NARROWEST` are left out, together with all tiles below them.
    """
    return [*_below("", 0.0, width, openings)]


def _below(start: str, x: float, width: float, openings: Mapping[str, Score]) -> Iterable[Tile]:
    following = [start + str(column) for column in range(7) if start + str(column) in openings]
    following.sort(key=lambda moves: -openings[moves].games)
    games = openings[start].games if start else sum(openings[moves].games for moves in following)
    for moves in following:
        size = width * openings[moves].games / games
        if size >= NARROWEST:
            yield Tile(moves, round(x, 1), round(size - 1.5, 1), openings[moves])
            yield from _below(moves, x, size, openings)
        x += size


@dataclass(frozen=True, slots=True)
class Frame:
    """The size of a picture, and the margins around the plot."""

    width: float
    height: float
    left: float
    right: float
    top: float
    bottom: float

    def x(self, low: float, high: float) -> Scale:
        """Return the scale from left to right."""
        return Scale(low, high, self.left, self.width - self.right)

    def y(self, low: float, high: float) -> Scale:
        """Return the scale from bottom to top."""
        return Scale(low, high, self.height - self.bottom, self.top)


@dataclass(frozen=True, slots=True)
class Plot:
    """A picture with horizontal lines, and marks below it."""

    frame: Frame
    levels: list[tuple[float, str]]
    """The position and the label of each horizontal line."""
    marks: list[tuple[float, int]]
    """The position and value of each mark. The value is the number of a game or a move, or a time.

    A time is in milliseconds of Unix time.
    """


@dataclass(frozen=True, slots=True)
class Series:
    """A line, with its name at the right end."""

    name: str
    path: str
    label_y: float


@dataclass(frozen=True, slots=True)
class Lines(Plot):
    """Lines over time."""

    series: list[Series]
    precision: str
    """The precision of the times at the marks: ``second``, ``minute``, ``day and minute`` or ``day``."""


def lines(series: Mapping[str, Sequence[tuple[float, float]]], frame: Frame) -> Lines | None:
    """Return a line for each name with two or more points of time and value; None if there is no line."""
    shown = {name: points for name, points in series.items() if len(points) > 1}
    if not shown:
        return None
    times = [at for points in shown.values() for at, _ in points]
    values = [value for points in shown.values() for _, value in points]
    x, y = frame.x(min(times), max(times)), frame.y(min(*values, 0), max(values))
    ends = spread([y(points[-1][1]) for points in shown.values()], 18, frame.height - frame.bottom)
    return Lines(
        frame,
        [(y(value), f"{value:g}".replace("-", "\N{MINUS SIGN}")) for value in ticks(y.low, y.high)],
        [(x(at), round(at)) for at in (x.low, (x.low + x.high) / 2, x.high)],
        [
            Series(name, path((x(at), y(value)) for at, value in points), label_y)
            for (name, points), label_y in zip(shown.items(), ends, strict=True)
        ],
        precision(x.high - x.low),
    )


@dataclass(frozen=True, slots=True)
class Curve(Plot):
    """A player's rating, game by game."""

    mean: str
    sure: str
    band: str
    last: tuple[float, float]


def curve(points: Sequence[Point], frame: Frame) -> Curve | None:
    """Return the plot of a player's rating; None for fewer than two games."""
    if len(points) < 2:
        return None
    scale = rating_scale((point.rating for point in points), 0)
    first, last = points[0].number, points[-1].number
    x, y = frame.x(first, last), frame.y(scale.low, scale.high)
    mean = [(x(point.number), y(point.rating.mean)) for point in points]
    sure = [(x(point.number), y(point.rating.sure)) for point in points]
    top = [(x(point.number), y(point.rating.mean + 3 * point.rating.deviation)) for point in points]
    return Curve(
        frame,
        [(y(level), str(level)) for level in GUIDES],
        [(x(number), number) for number in dict.fromkeys((first, (first + last) // 2, last))],
        path(mean),
        path(sure),
        area(top, sure),
        mean[-1],
    )


@dataclass(frozen=True, slots=True)
class Uprights(Plot):
    """Bars side by side."""

    bars: list[tuple[float, float, float, str]]
    """The left edge, top, height and description of each bar."""
    width: float


def times(taken: Sequence[float], frame: Frame) -> Uprights | None:
    """Return bars for the times of moves, in milliseconds; None if there are none."""
    if not taken:
        return None
    y = frame.y(0, max(*taken, 1))
    apart = (frame.width - frame.left - frame.right) / max(len(taken), 8)
    left = [round(frame.left + number * apart, 1) for number in range(len(taken))]
    numbers = [number for number in range(1, len(taken) + 1) if number == 1 or number % 5 == 0]
    return Uprights(
        frame,
        [(y(level), thought(level) if level else "0") for level in ticks(0, y.high, 2)],
        [(round(frame.left + (number - 0.5) * apart, 1), number) for number in numbers],
        [
            (place, y(each), round(y(0) - y(each), 1), f"move {number}: {thought(each)}")
            for number, (place, each) in enumerate(zip(left, taken, strict=True), 1)
        ],
        round(apart - 2, 1),
    )


def precision(span: float) -> str:
    """Return the precision of the times on an axis that spans `span` milliseconds."""
    minutes = span / 60_000
    if minutes < 10:
        return "second"
    if minutes < 23 * 60:
        return "minute"
    return "day and minute" if minutes < 4 * 24 * 60 else "day"
