"""Shapes of charts: numbers in, numbers out."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.web.page import charts
from adapters.web.page.charts import Scale
from gateway.store.records import LATEST, moment
from gateway.store.statistics import Point, Score, Spread
from gateway.store.totals import Rating

SCORES = st.tuples(*[st.integers(0, 500)] * 3).map(lambda each: Score(sum(each), each[0], each[1]))
VALUES = st.floats(-1000, 1000)


def test_scale_maps_its_ends_and_one_value_to_the_middle() -> None:
    assert [Scale(0, 50, 10, 110)(value) for value in (0, 25, 50)] == [10, 60, 110]
    assert Scale(3, 3, 0, 100)(3) == 50


def test_rating_scale_has_room_for_the_guides_and_for_three_deviations() -> None:
    scale = charts.rating_scale([Rating(25, 2), Rating(-10, 3), Rating(60, 1)])
    assert (scale.low, scale.high) == (-19, 63)
    assert all(0 < scale(value) < 100 for value in (-19, 63))
    assert (charts.rating_scale([]).low, charts.rating_scale([]).high) == (0, 50)


@given(SCORES)
def test_parts_of_a_bar_stand_side_by_side_and_fill_it(score: Score) -> None:
    parts = charts.outcome(score, 150)
    assert [part.what for part in parts] == [
        what for what in ("won", "drawn", "lost") if getattr(score, what)
    ]
    for one, other in pairwise(parts):
        assert other.x >= one.x + one.width - 0.2 or one.width == 1
    if parts:
        assert parts[-1].x + parts[-1].width == pytest.approx(150, abs=1.2)
    assert all(part.label == "" or part.width >= 12 for part in parts)


def test_bars_are_on_one_scale_and_only_those_of_0_vanish() -> None:
    assert [bar.width for bar in charts.bars({"a": 1000, "b": 500, "c": 1, "d": 0})] == [100, 50, 1, 0]
    assert charts.bars({}) == []
    assert [bar.width for bar in charts.bars({"a": 0})] == [0]


@pytest.mark.parametrize(
    ("score", "step"),
    [
        (Score(2, 2, 0), "won-3"),
        (Score(4, 2, 2), "won-2"),
        (Score(3, 2, 0), "won-1"),
        (Score(2, 1, 0), "even"),
        (Score(0, 0, 0), "even"),
        (Score(1, 0, 1), "even"),
        (Score(3, 1, 0), "lost-1"),
        (Score(4, 0, 1), "lost-2"),
        (Score(3, 0, 0), "lost-3"),
        (Score(3, 1, 1), "even"),
    ],
)
def test_score_has_one_of_seven_steps(score: Score, step: str) -> None:
    assert charts.step(score) == step


@given(SCORES)
def test_step_of_the_other_side_is_the_opposite(score: Score) -> None:
    swapped = charts.step(score).replace("won", "x").replace("lost", "won").replace("x", "lost")
    assert charts.step(score.opposite) == swapped


@given(VALUES, VALUES, st.integers(1, 8))
def test_ticks_are_within_and_not_too_many(one: float, other: float, most: int) -> None:
    low, high = sorted((one, other))
    found = charts.ticks(low, high, most)
    assert len(found) <= most + 1
    assert all(low - 1e-6 <= each <= high + 1e-6 for each in found)


def test_ticks_are_round() -> None:
    assert charts.ticks(-3, 27) == [0, 10, 20]
    assert charts.ticks(0, 100) == [0, 25, 50, 75, 100]
    assert charts.ticks(5, 5) == [5]


def test_labels_keep_apart_and_inside() -> None:
    assert charts.spread([10, 12, 50], 16, 100) == [10, 26, 50]
    assert charts.spread([98, 95, 10], 16, 100) == [100, 84, 10]
    assert charts.spread([], 16, 100) == []


def test_tiles_of_an_opening_lie_below_what_they_follow() -> None:
    openings = {"3": Score(6, 3, 0), "33": Score(4, 3, 0), "32": Score(2, 0, 0), "0": Score(2, 0, 2)}
    tiles = {tile.moves: tile for tile in charts.icicle(openings, 80)}
    assert {name: (tile.x, tile.width, tile.depth) for name, tile in tiles.items()} == {
        "3": (0, 58.5, 0),
        "33": (0, 38.5, 1),
        "32": (40, 18.5, 1),
        "0": (60, 18.5, 0),
    }
    assert (tiles["32"].column, tiles["32"].step) == ("2", "lost-3")


def test_tiles_too_narrow_to_be_read_are_left_out_with_what_follows() -> None:
    openings = {"3": Score(99, 0, 0), "0": Score(1, 0, 0), "00": Score(1, 0, 0)}
    assert [tile.moves for tile in charts.icicle(openings, 100)] == ["3"]
    assert charts.icicle({}, 100) == []


def points(*ratings: tuple[int, float, float]) -> list[Point]:
    """Return points with a time, a mean and a deviation each."""
    return [Point(at, Rating(mean, apart)) for at, mean, apart in ratings]


def test_ratings_over_time_are_read_at_the_same_moments() -> None:
    curves = {
        "a": points((4700, 30, 2), (0, 10, 1)),  # the older game was imported later
        "late": points((2350, 20, 5), (2400, 20, 5)),
        "one": points((0, 3, 1)),
    }
    found = charts.over_time(curves)
    assert found is not None
    assert [each.name for each in found.lines] == ["a", "late"]
    assert [(row.x, row.at) for row in found.rows[:: charts.MOMENTS - 1]] == [(0, 0), (100, 4700)]
    middle = found.rows[24].marks  # at 2400 ms
    assert [each and round(each.value, 1) for each in middle] == [20.2, 20]
    assert [each and round(each.apart, 1) for each in middle] == [4.5, 15]
    assert found.rows[23].marks[1] is None  # it had not begun
    assert found.lines[1].path.startswith("M51.1,")
    assert found.rows[-1].marks[1] == middle[1]  # it goes on as it was
    assert charts.over_time({"one": curves["one"]}) is None


def test_times_are_ranges_on_one_scale_the_slowest_first() -> None:
    found = charts.ranges({"a": Spread(10, 20, 100), "b": Spread(0, 50, 50)})
    assert [(each.label, each.median, each.places) for each in found] == [
        ("b", "50 ms", (0, 50, 50)),
        ("a", "20 ms", (10, 20, 100)),
    ]
    assert found[1].middle == "10 ms to 100 ms"
    assert charts.ranges({}) == []


def test_times_by_move_have_a_place_for_each_move() -> None:
    found = charts.times([Spread(0, 1, 2)] * 10)
    assert found is not None
    assert found.marks == [(5, 1), (45, 5), (95, 10)]
    assert [each.label for _, each in found.ranges][::9] == ["move 1", "move 10"]
    assert charts.times([]) is None


LENGTHS = {"second": (11, 19), "minute": (11, 16), "day and minute": (5, 16), "day": (0, 10), "month": (0, 7)}
"""The part of a moment that is shown with each precision."""


@given(st.integers(0, LATEST), st.floats(0, 1))
def test_dates_of_an_axis_are_few_and_do_not_repeat(low: int, share: float) -> None:
    high = low + round((LATEST - low) * share**9)  # also short spans
    found, precision = charts.dates(low, high)
    start, end = LENGTHS[precision]
    texts = [moment(at)[start:end] for at in found]
    assert len({*texts}) == len(texts) <= 6
    assert all(low <= at <= high for at in found)


@pytest.mark.parametrize(
    ("hours", "precision"),
    [
        *((0.001, "second"), (0.2, "minute"), (23.9, "minute"), (25, "day and minute"), (72, "day")),
        *((24 * 30, "day"), (24 * 60, "month"), (24 * 3000, "month")),
    ],
)
def test_dates_suit_the_range(hours: float, precision: str) -> None:
    found, known = charts.dates(1_700_000_000_000, 1_700_000_000_000 + round(3_600_000 * hours))
    assert known == precision
    assert len(found) >= 2
    if precision in ("day", "month"):
        assert {at % 86_400_000 for at in found} == {43_200_000}, "noon is on the same day nearly everywhere"
