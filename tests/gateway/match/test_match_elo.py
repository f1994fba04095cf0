"""Elo: of two players against the figures of fastchess's own tests, of several against a published table."""

from math import log
from random import Random

import pytest

from conformance.lab.engines import Chances, shares
from gateway.match.elo import Crosstable, expected, fitted, ratings, strength

# Counts and figures of app/tests/elo_test.cpp of fastchess; its six cells are LL, LD, WL, DD, WD, WW.


@pytest.mark.parametrize(
    ("pairs", "logistic", "normalized", "superiority"),
    [
        ((34, 54, 31, 32, 64, 75), (55.58, 27.65), (57.94, 28.28), 1.0),
        ((332, 433, 457, 41, 333, 334), (-8.64, 10.33), (-9.17, 10.96), 0.0505),
        ((7895, 8757, 5485, 200, 568, 9999), (-21.04, 2.95), (-19.01, 2.65), 0.0),
    ],
)
def test_strength_is_fastchess_s(
    pairs: tuple[int, ...],
    logistic: tuple[float, float],
    normalized: tuple[float, float],
    superiority: float,
) -> None:
    ll, ld, wl, dd, wd, ww = pairs
    found = strength((ll, ld, wl + dd, wd, ww))
    low, high = found.interval
    assert (found.elo, (high - low) / 2) == pytest.approx(logistic, rel=0.01)
    assert (found.normalized, found.normalized_error) == pytest.approx(normalized, rel=0.01)
    assert found.superiority == pytest.approx(superiority, abs=5e-5)


@pytest.mark.parametrize("pairs", [5, 20])
def test_interval_of_equal_players_is_without_0_in_a_twentieth_of_all_matches(pairs: int) -> None:
    lot, likely, matches = Random(1), shares(0.0, Chances()), 2000
    wrong = 0
    for _ in range(matches):
        cells = [0] * 5
        for cell in lot.choices(range(5), likely, k=pairs):
            cells[cell] += 1
        low, high = strength(cells).interval
        wrong += low > 0 or high < 0
    assert 0.035 < wrong / matches < 0.065


@pytest.mark.parametrize("cells", [(0, 0, 0, 0, 50), (50, 0, 0, 0, 0), (0, 0, 50, 0, 0), (1, 0, 0, 0, 0)])
def test_elo_is_finite_where_all_pairs_went_alike(cells: tuple[int, ...]) -> None:
    found = strength(cells)
    assert all(abs(each) < 1500 for each in (found.elo, *found.interval))
    assert found.superiority == (0.5 if cells[2] else float(cells[4] > 0))


# Several players.

TEAMS = ("Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore")
WON = (
    (0, 7, 9, 7, 7, 9, 11),
    (6, 0, 7, 5, 11, 9, 9),
    (4, 6, 0, 7, 7, 8, 12),
    (6, 8, 6, 0, 6, 7, 10),
    (6, 2, 6, 7, 0, 7, 12),
    (4, 4, 5, 6, 6, 0, 6),
    (2, 4, 1, 3, 1, 7, 0),
)
"""Who won how often against whom: the American League of 1987, in Agresti's Categorical Data Analysis."""
ABILITIES = (1.5814, 1.4364, 1.2945, 1.2476, 1.1077, 0.6839, 0.0)
"""What Bradley and Terry's model makes of it, there and in R's package BradleyTerry2."""


def test_published_table_is_reproduced() -> None:
    table = {(one, two): (WON[two][one], 0, 0, 0, WON[one][two]) for one in range(7) for two in range(one)}
    found = fitted(7, table)
    scale = log(10) / 400
    assert [scale * (each - found[-1]) for each in found] == pytest.approx(ABILITIES, abs=5e-4)


def test_everybody_scores_what_the_elo_says() -> None:
    table: Crosstable = {(0, 1): (5, 3, 10, 4, 8), (2, 1): (9, 0, 2, 1, 3), (0, 2): (1, 1, 4, 3, 6)}
    found = fitted(3, table)
    points = {0: 0.0, 1: 0.0, 2: 0.0}
    for (one, two), cells in table.items():
        lead = sum(count * (each - 2) / 2 for each, count in enumerate(cells)) + sum(cells)
        predicted = 2 * sum(cells) * expected(found[one] - found[two])
        points[one] += lead - predicted
        points[two] -= lead - predicted
    assert list(points.values()) == pytest.approx([0, 0, 0], abs=1e-6)
    assert sum(found) == pytest.approx(0)
    assert expected(400) == pytest.approx(10 / 11)


def test_who_wins_or_loses_everything_has_finite_elo_and_an_interval_with_a_width() -> None:
    swept = (0, 0, 0, 0, 20)
    found = ratings(3, {(0, 1): swept, (1, 2): swept, (0, 2): swept}, 100, Random(1))
    assert [round(each.elo) for each in found] == sorted((round(each.elo) for each in found), reverse=True)
    for each in found:
        low, high = each.interval
        assert -2000 < low <= each.elo <= high < 2000
        assert low < high
    assert found[0].superiority[2] == pytest.approx(1)
    found = ratings(3, {(0, 1): (0, 0, 4, 0, 0), (0, 2): (0,) * 5}, 20, Random(1))  # the third met nobody
    assert (found[2].elo, found[2].superiority[2]) == (pytest.approx(0), 0.5)


def test_interval_of_the_bootstrap_is_about_that_of_the_arithmetic() -> None:
    table = {(0, 1): (34, 54, 63, 64, 75)}
    one, two = found = ratings(2, table, 400, Random(1))
    assert ratings(2, table, 400, Random(1)) == found
    low, high = one.interval
    assert one.elo - two.elo == pytest.approx(55.58, rel=0.01)
    assert high - low == pytest.approx(27.65, rel=0.15)  # of half the difference
    assert one.superiority[1] > 0.99
