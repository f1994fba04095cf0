"""Bars, tiles and lines, as shapes that templates draw in SVG.

Pure. Lengths are in pixels, and y grows downwards. In a chart that is as wide as its place, x is in percent
of the width. Does not know colours: a shape has a meaning ("won"), and the style sheet gives it a colour.
"""

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from adapters.web.page.sentences import thought
from gateway.store.statistics import Point, Score, Spread
from gateway.store.totals import Rating

LEGIBLE = 13.0
"""Pixels that a part of a bar needs to show its number."""
NARROWEST = 12.0
"""The least width of a tile of an icicle, in pixels."""
GUIDES = (0, 25, 50)
"""Ratings at which every rating bar has a line."""
HEIGHT = 250.0
"""The height of the chart of ratings of several players."""
LOW = 150.0
"""The height of a chart of one player."""
MOMENTS = 48
"""The number of moments at which a chart has ratings."""
APART = 18.0
"""The least distance between two labels at the ends of lines."""
_HOUR = 3_600_000
_DAY = 24 * _HOUR
_STEPS = (
    *((1000 * seconds, "second") for seconds in (1, 2, 5, 10, 15, 30)),
    *((60_000 * minutes, "minute") for minutes in (1, 2, 5, 10, 15, 30, 60, 120, 180, 360)),
    (12 * _HOUR, "day and minute"),
    *((_DAY * days, "day") for days in (1, 2, 5, 10)),
)
"""The distances between two dates of an axis, in milliseconds, and the precision of the dates."""


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


def rating_scale(ratings: Iterable[Rating]) -> Scale:
    """Return the scale for all rating bars of a view, in percent of a bar's width.

    It includes `GUIDES`, and each rating from its sure value to three deviations above its mean.
    """
    low, high = _extremes(ratings)
    return Scale(low, high, 3.0, 97.0)


def _extremes(ratings: Iterable[Rating]) -> tuple[float, float]:
    """Return the lowest and the highest value of `GUIDES` and of ratings with three deviations each way."""
    low, high = float(GUIDES[0]), float(GUIDES[-1])
    for rating in ratings:
        low, high = min(low, rating.sure), max(high, rating.mean + 3 * rating.deviation)
    return low, high


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
    """The length, in percent of the longest bar."""


def bars(values: Mapping[str, float]) -> list[Bar]:
    """Return a bar for each value; if it is not 0, wide enough to be seen."""
    most = max(values.values(), default=0) or 1
    widths = {name: max(1.0, 100 * value / most) if value else 0.0 for name, value in values.items()}
    return [Bar(name, value, round(widths[name], 1)) for name, value in values.items()]


def step(score: Score) -> str:
    """Return the step of a score, one of seven from ``lost-3`` (all lost) to ``won-3`` (all won)."""
    of_one = score.share
    if of_one == 0.5:
        return "even"
    side, distance = ("won", of_one) if of_one > 0.5 else ("lost", 1 - of_one)
    return f"{side}-{3 if distance == 1 else 2 if distance >= 0.7 else 1}"


def ticks(low: float, high: float, most: int = 4) -> list[float]:
    """Return up to `most` + 1 round values from `low` to `high`, at equal distances."""
    if high <= low:
        return [low]
    raw = (high - low) / most
    size = 10.0 ** math.floor(math.log10(raw))
    size *= next(factor for factor in (1, 2, 2.5, 5, 10) if size * factor >= raw * 0.999)
    return [number * size for number in range(math.ceil(low / size), math.floor(high / size) + 1)]


def dates(low: int, high: int) -> tuple[list[int], str]:
    """Return up to six dates from `low` to `high`, and their precision.

    Times are in milliseconds of Unix time. Within a day the dates are times of the day, within some weeks
    days, and otherwise months. Days and months are at noon in UTC, so that they have the same date in nearly
    all time zones. The precision is as in the macro `time`.
    """
    if high <= low:
        return [low], "day and minute"
    for size, precision in _STEPS:
        if (high - low) / size <= 5 and (precision != "minute" or high - low < _DAY):
            start = _DAY // 2 if precision == "day" else 0
            first = -((start - low) // size)
            return [*range(first * size + start, high + 1, size)], precision
    first, last = _month(low), _month(high)
    step = next(size for size in (1, 2, 3, 6, 12, 24, 60, 120, 1200, 24_000) if (last - first) / size <= 5)
    months = [
        round(1000 * datetime(month // 12, month % 12 + 1, 1, 12, tzinfo=UTC).timestamp())
        for month in range(-(-first // step) * step, last + 1, step)
    ]
    return [month for month in months if low <= month <= high], "month"


def _month(at: int) -> int:
    """Return the number of the month of a time, counted from the year 0."""
    day = datetime.fromtimestamp(at / 1000, UTC)
    return 12 * day.year + day.month - 1


def path(places: Sequence[tuple[float, float]]) -> str:
    """Return a line through points, as the attribute ``d`` of an SVG path. A line of one point is a dot."""
    through = "L".join(f"{x:g},{y:g}" for x, y in places)
    return f"M{through}{'h0' if len(places) == 1 else ''}"


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
class Mark:
    """What a line has at one place of the axis."""

    y: float
    value: float
    apart: float
    """Three deviations."""


@dataclass(frozen=True, slots=True)
class Row:
    """One place of the axis, with what each line has there."""

    x: float
    at: int
    """The time, in milliseconds of Unix time."""
    marks: list[Mark | None]
    """In the order of the lines. None before a line begins."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line, with a band around it, and with its name at the right end."""

    name: str
    path: str
    band: str
    label_y: float


@dataclass(frozen=True, slots=True)
class Plot:
    """A picture with horizontal lines, and marks below it."""

    height: float
    levels: list[tuple[float, str]]
    """The position and the label of each horizontal line."""
    marks: list[tuple[float, int]]
    """The position and value of each mark. The value is the number of a move, or a time."""


@dataclass(frozen=True, slots=True)
class Lines(Plot):
    """Ratings over time."""

    lines: list[Line]
    rows: list[Row]
    precision: str
    """The precision of the times at the marks."""


def over_time(curves: Mapping[str, Sequence[Point]], height: float = HEIGHT) -> Lines | None:
    """Return the ratings of players over time; None if no player has two or more points."""
    # Games that were imported may be older than those that were stored before.
    ordered = {name: sorted(points, key=lambda point: point.ended) for name, points in curves.items()}
    shown = {name: points for name, points in ordered.items() if len(points) > 1}
    if not shown:
        return None
    low = min(points[0].ended for points in shown.values())
    high = max(points[-1].ended for points in shown.values())
    moments = [*dict.fromkeys(low + (high - low) * number // (MOMENTS - 1) for number in range(MOMENTS))]
    ratings = [[_at(points, at) for points in shown.values()] for at in moments]
    least, most = _extremes(each for row in ratings for each in row if each is not None)
    x, y = Scale(low, high, 0, 100), Scale(least, most, height, 0)
    rows = [
        Row(x(at), at, [each and Mark(y(each.mean), each.mean, 3 * each.deviation) for each in row])
        for at, row in zip(moments, ratings, strict=True)
    ]
    ends = spread([each.y for each in rows[-1].marks if each is not None], APART, height)
    lines = []
    for index, (name, label_y) in enumerate(zip(shown, ends, strict=True)):
        through = [(x(at), row[index]) for at, row in zip(moments, ratings, strict=True)]
        points = [(place, each) for place, each in through if each is not None]
        top = [(place, y(each.mean + 3 * each.deviation)) for place, each in points]
        sure = [(place, y(each.sure)) for place, each in points]
        mean = path([(place, y(each.mean)) for place, each in points])
        lines.append(Line(name, mean, area(top, sure), label_y))
    levels = [(y(value), f"{value:g}".replace("-", "\N{MINUS SIGN}")) for value in ticks(least, most)]
    found, precision = dates(low, high)
    return Lines(height, levels, [(x(at), at) for at in found], lines, rows, precision)


def _at(points: Sequence[Point], at: int) -> Rating | None:
    """Return a rating between the points around the time `at`; None before the first one."""
    number = bisect_right(points, at, key=lambda point: point.ended)
    if number in (0, len(points)):
        return points[-1].rating if number else None
    one, other = points[number - 1 : number + 1]
    share = (at - one.ended) / (other.ended - one.ended)
    return Rating(
        one.rating.mean + share * (other.rating.mean - one.rating.mean),
        one.rating.deviation + share * (other.rating.deviation - one.rating.deviation),
    )


@dataclass(frozen=True, slots=True)
class Range:
    """A ring at the median of some times, and a line over the middle 80 %."""

    label: str
    median: str
    """The median as text."""
    middle: str
    """The middle 80 % as text."""
    places: tuple[float, float, float]
    """The positions of the low end, the median and the high end."""


def ranges(spreads: Mapping[str, Spread]) -> list[Range]:
    """Return a range on one scale for each spread of times, in percent of the width, the slowest first."""
    scale = Scale(0, max((each.high for each in spreads.values()), default=0) or 1, 0, 100)
    order = sorted(spreads, key=lambda name: -spreads[name].median)
    return [_range_of(name, spreads[name], scale) for name in order]


def _range_of(label: str, each: Spread, scale: Scale) -> Range:
    places = (scale(each.low), scale(each.median), scale(each.high))
    return Range(label, thought(each.median), f"{thought(each.low)} to {thought(each.high)}", places)


@dataclass(frozen=True, slots=True)
class Uprights(Plot):
    """Ranges side by side, each with its position."""

    ranges: list[tuple[float, Range]]


def times(taken: Sequence[Spread]) -> Uprights | None:
    """Return the ranges of a player's times by the number of the move; None if there are none."""
    if not taken:
        return None
    # Levels have whole milliseconds, so that there have to be two of them at least.
    y = Scale(0, max(*(each.high for each in taken), 2), LOW, 0)
    apart = 100 / max(len(taken), 8)
    x = [round((number + 0.5) * apart, 2) for number in range(len(taken))]
    return Uprights(
        LOW,
        [(y(level), thought(level) if level else "0") for level in ticks(0, y.high, 2)],
        [(place, number) for number, place in enumerate(x, 1) if number == 1 or number % 5 == 0],
        [
            (place, _range_of(f"move {number}", each, y))
            for number, (place, each) in enumerate(zip(x, taken, strict=True), 1)
        ],
    )
