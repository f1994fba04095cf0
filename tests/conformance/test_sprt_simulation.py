"""Matches that nobody plays: pairs come out as they should, and verdicts on them are as right as promised."""

import operator

import pytest

from conformance.lab.sprt_simulation import Kind, errors, shares
from gateway.match.elo import SCORES, expected
from gateway.match.sprt import LOGISTIC, NORMAL, Sprt


@pytest.mark.parametrize("difference", [-50.0, 0.0, 120.0])
def test_simulated_pairs_score_what_they_should(difference: float) -> None:
    likely = shares(difference, Kind())
    assert sum(likely) == pytest.approx(1)
    assert sum(map(operator.mul, likely, SCORES)) == pytest.approx(expected(difference))


def test_games_that_cannot_be_are_not_simulated() -> None:
    with pytest.raises(ValueError, match="so many draws"):
        shares(400, Kind(drawn=0.5))


@pytest.mark.parametrize(("model", "times"), [(LOGISTIC, 80), (NORMAL, 20)])
def test_verdicts_are_wrong_as_rarely_as_promised(model: str, times: int) -> None:
    test = Sprt(0, 120, model=model)
    zero, one, pairs = errors(test, Kind(), times, "seed")
    assert zero <= 0.1
    assert one <= 0.1
    assert 10 < pairs < 100
