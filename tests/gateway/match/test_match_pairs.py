"""What pairs say about two players: held against the figures of fastchess's own tests."""

from random import Random

import pytest

from conformance.lab.engines import Chances, shares
from gateway.match.pairs import bounded, elo, expected, strength

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


@pytest.mark.parametrize("pairs", [5, 10, 50])
def test_interval_of_equal_players_is_without_0_in_a_twentieth_of_all_matches(pairs: int) -> None:
    lot, likely, matches = Random(1), shares(0.0, Chances()), 4000
    wrong = 0
    for _ in range(matches):
        cells = [0] * 5
        for cell in lot.choices(range(5), likely, k=pairs):
            cells[cell] += 1
        low, high = strength(cells).interval
        wrong += low > 0 or high < 0
    assert 0.04 < wrong / matches < 0.06


@pytest.mark.parametrize("cells", [(0, 0, 0, 0, 50), (50, 0, 0, 0, 0), (0, 0, 50, 0, 0), (1, 0, 0, 0, 0)])
def test_elo_is_finite_where_all_pairs_went_alike(cells: tuple[int, ...]) -> None:
    found = strength(cells)
    assert all(abs(each) < 1500 for each in (found.elo, *found.interval))
    assert found.superiority == (0.5 if cells[2] else float(cells[4] > 0))


def test_all_points_of_more_games_are_more_elo() -> None:
    assert elo(bounded(1.0, 1000)) > elo(bounded(1.0, 100)) > 500


def test_expected_score_undoes_elo() -> None:
    assert expected(elo(0.7)) == pytest.approx(0.7)
    assert expected(400) == pytest.approx(10 / 11)
