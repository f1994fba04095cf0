"""The test of a hypothesis: held against the figures of fastchess's own tests."""

import pytest

from gateway.match.sprt import LOGISTIC, NORMAL, Sprt, Verdict

# Counts and ratios of app/tests/sprt_test.cpp of fastchess: of games that were won, lost and drawn, and of
# pairs that were LL, LD, WL, DD, WD and WW.


@pytest.mark.parametrize(
    ("model", "elos", "counts", "ratio"),
    [
        (NORMAL, (0, 2), (36433, 36027, 68692), 0.92),
        (NORMAL, (-1.75, 0.25), (10871, 10650, 20431), 2.30),
        (NORMAL, (0, 10), (4250, 0, 0), 120.56),
        (LOGISTIC, (0.5, 2.5), (21404, 21184, 40708), -1.57),
        (LOGISTIC, (0, 2), (57433, 57030, 106593), -2.59),
        (NORMAL, (0, 2), (365, 16618, 36029, 200, 16974, 390), 2.25),
        (NORMAL, (-1.75, 0.25), (127, 4883, 10311, 401, 5150, 104), 3.01),
        (NORMAL, (0, 5), (0, 0, 0, 0, 0, 5550), 111.82),
        (LOGISTIC, (0.5, 2.5), (223, 9863, 20279, 1000, 10037, 246), -3.07),
        (LOGISTIC, (0, 2), (871, 26175, 55003, 980, 26678, 821), -4.98),
    ],
)
def test_ratio_of_games_and_of_pairs_is_fastchess_s(
    model: str, elos: tuple[float, float], counts: tuple[int, ...], ratio: float
) -> None:
    if len(counts) == 3:
        won, lost, drawn = counts
        cells: tuple[int, ...] = (lost, drawn, won)
    else:
        ll, ld, wl, dd, wd, ww = counts
        cells = (ll, ld, wl + dd, wd, ww)
    assert Sprt(*elos, model=model).ratio(cells) == pytest.approx(ratio, rel=0.01)
    opposite = Sprt(-elos[1], -elos[0], model=model).ratio(cells[::-1])
    assert opposite == pytest.approx(-ratio, rel=0.01)


def test_bounds_are_wald_s() -> None:
    assert Sprt(alpha=0.05, beta=0.1).bounds == pytest.approx((-2.2513, 2.8904), abs=1e-4)
    test = Sprt()
    assert test.decision(2.9) is Verdict.GOES_ON
    assert test.decision(2.95) is Verdict.H1
    assert test.decision(-2.95) is Verdict.H0


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"elo0": 5, "elo1": 5}, "less than elo1"),
        ({"alpha": 0.0}, "more than 0"),
        ({"alpha": 0.5, "beta": 0.5}, "less than 1 together"),
        ({"model": "bayesian"}, "not 'bayesian'"),
    ],
)
def test_figures_that_make_no_test_are_refused(wrong: dict[str, object], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Sprt(**wrong)  # type: ignore[arg-type]
