"""Shapes of charts: numbers in, numbers out."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.web.page import charts
from adapters.web.page.charts import Frame, Scale
from gateway.store.records import moment
from gateway.store.statistics import Score
from gateway.store.totals import Rating

SCORES = st.tuples(*[st.integers(0, 500)] * 3).map(lambda each: Score(sum(each), each[0], each[1]))
VALUES = st.floats(-1000, 1000)


def test_scale_maps_its_ends_and_one_value_to_the_middle() -> None:
    assert [Scale(0, 50, 10, 110)(value) for value in (0, 25, 50)] == [10, 60, 110]
    assert Scale(3, 3, 0, 100)(3) == 50


def test_rating_scale_has_room_for_the_guides_and_for_three_deviations() -> None:
    scale = charts.rating_scale([Rating(25, 2), Rating(-10, 3), Rating(60, 1)], 150)
    assert (scale.low, scale.high) == (-19, 63)
    assert charts.rating_scale([], 150) == Scale(0, 50, 5, 145)


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


def test_longest_bar_leaves_room_and_none_vanishes() -> None:
    assert [bar.width for bar in charts.bars({"a": 100, "b": 50, "c": 0})] == [70, 35, 1]
    assert charts.bars({}) == []
    assert [bar.width for bar in charts.bars({"a": 0})] == [1]


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
    other = Score(score.games, score.lost, score.drawn)
    swapped = charts.step(score).replace("won", "x").replace("lost", "won").replace("x", "lost")
    assert charts.step(other) == swapped


def test_tiles_are_shaded_by_their_share_of_the_most() -> None:
    assert [charts.shade(count, 10) for count in (0, 1, 2, 3, 10)] == [0, 1, 1, 2, 5]


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


def test_lines_run_from_the_first_time_to_the_last() -> None:
    frame = Frame(120, 100, left=10, right=10, top=10, bottom=10)
    found = charts.lines({"a": [(0, 0), (10, 20)], "b": [(0, 10), (5, -5)], "one": [(0, 3)]}, frame)
    assert found is not None
    assert [each.name for each in found.series] == ["a", "b"]
    assert found.series[0].path == "M10,74L110,10"
    assert found.marks == [(10, 0), (60, 5), (110, 10)]
    assert [text for _, text in found.levels] == ["0", "10", "20"]
    assert found.precision == "second"
    assert charts.lines({"one": [(0, 3)]}, frame) is None


@pytest.mark.parametrize("minutes", [1, 9.9, 10, 60, 22.9 * 60, 23 * 60, 30 * 60, 95 * 60, 96 * 60, 10_000])
def test_times_on_an_axis_are_as_precise_as_it_takes_to_tell_them_apart(minutes: float) -> None:
    """The start, the middle and the end of a span, from whatever moment on."""
    lengths = {"second": (11, 19), "minute": (11, 16), "day and minute": (5, 16), "day": (0, 10)}
    start, end = lengths[charts.precision(60_000 * minutes)]
    for begins in range(0, 86_400_000, 3_599_000):
        texts = [moment(begins + round(60_000 * minutes * part))[start:end] for part in (0, 0.5, 1)]
        assert len({*texts}) == 3
