"""Engines: positions of kinds, the share of moves that keep their value, and how often a test is wrong."""

import operator

import pytest

from conformance.lab.engines import KINDS, Chances, Position, errors, moved, positions, shares
from gateway.game.board import Board, board_at
from gateway.match.elo import SCORES, expected
from gateway.match.sprt import LOGISTIC, NORMAL, Sprt


@pytest.mark.parametrize(
    ("discs", "remaining", "kind"),
    [
        (0, 42, "begin-hard"),
        (13, 28, "begin-hard"),
        (13, 27, "begin-medium"),
        (13, 13, "begin-easy"),
        (14, 28, None),
        (27, 14, "middle-medium"),
        (14, 13, "middle-easy"),
        (28, 14, None),
        (41, 1, "end-easy"),
    ],
)
def test_kinds_are_those_of_pons_sets(discs: int, remaining: int, kind: str | None) -> None:
    assert [each.name for each in KINDS if each.has(discs, remaining)] == ([] if kind is None else [kind])


def test_same_seed_deals_the_same_positions_in_which_a_move_can_be_a_mistake() -> None:
    pytest.importorskip("bitbully", reason="the solver of the extra 'perfect' is not installed")
    end = KINDS[-1]
    one, again, other = ([*positions(end, 5, seed)] for seed in ("1", "1", "2"))
    assert one == again != other
    for each in one:
        assert 28 <= len(each.board.moves) < 42
        assert each.good < {column for column in range(7) if each.board.has_room(column)}
    assert len({each.board.discs for each in one}) == 5


def middle(_board: Board, _budget: float) -> int:
    """Play in the middle: an engine whose move does not depend on the time it is given."""
    return 3


def test_share_is_that_of_the_moves_that_keep_the_value() -> None:
    dealt = {
        "begin-easy": [Position(Board(), frozenset({3})), Position(board_at("4"), frozenset({0}))],
        "end-easy": [Position(board_at("11"), frozenset(range(7)))],
    }
    found = {row.what: row.found for row in moved(f"{__name__}:middle", 0.01, dealt)}
    assert (found["begin-easy"], found["end-easy"], found["all"]) == (50.0, 100.0, 75.0)


# Matches that nobody plays.


@pytest.mark.parametrize("difference", [-50.0, 0.0, 120.0])
def test_simulated_pairs_score_what_they_should(difference: float) -> None:
    likely = shares(difference, Chances())
    assert sum(likely) == pytest.approx(1)
    assert sum(map(operator.mul, likely, SCORES)) == pytest.approx(expected(difference))


def test_games_that_cannot_be_are_not_simulated() -> None:
    with pytest.raises(ValueError, match="so many draws"):
        shares(400, Chances(drawn=0.5))


@pytest.mark.parametrize(("model", "times"), [(LOGISTIC, 80), (NORMAL, 20)])
def test_verdicts_are_wrong_as_rarely_as_promised(model: str, times: int) -> None:
    test = Sprt(0, 120, model=model)
    zero, one, pairs = errors(test, Chances(), times, "seed")
    assert zero <= 0.1
    assert one <= 0.1
    assert 10 < pairs < 100
