"""What a score means, and which moves turned a game."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.game.board import boards_of
from gateway.game.evaluation import (
    Evaluation,
    Scores,
    Turned,
    better_columns,
    evaluation,
    evaluation_of_end,
    evaluations,
    turned,
)

FIRST, SECOND, DRAW = Evaluation(0, 41), Evaluation(1, 40), Evaluation(None, None)
SCORES = st.integers(-18, 18)


@given(SCORES, st.integers(0, 41))
def test_score_of_a_column_is_that_of_the_position_after_it_for_the_other_side(
    score: int, moves: int
) -> None:
    found = evaluation(score, moves)
    assert found == evaluation(-score, moves + 1)
    assert found.winner is None if not score else found.winner == (moves + (score < 0)) % 2


@pytest.mark.parametrize(
    ("score", "moves", "found"),
    [
        *((18, 6, Evaluation(0, 7)), (18, 7, Evaluation(1, 8))),
        *((1, 0, Evaluation(0, 41)), (-1, 0, Evaluation(1, 42)), (0, 5, DRAW)),
    ],
)
def test_score_says_who_wins_and_at_which_move(score: int, moves: int, found: Evaluation) -> None:
    assert evaluation(score, moves) == found


@pytest.mark.parametrize(
    ("moves", "end"),
    [("0101010", Evaluation(0, 7)), ("146660203633536103043506522512202545444111", DRAW)],
)
def test_end_of_a_game_is_its_evaluation(moves: str, end: Evaluation) -> None:
    assert evaluation_of_end(boards_of(moves)[-1]) == end


@given(st.lists(st.fixed_dictionaries(dict.fromkeys(range(7), SCORES)) | st.none(), max_size=9))
def test_position_that_was_not_solved_has_the_evaluation_of_the_column_that_led_to_it(
    scores: Sequence[Scores | None],
) -> None:
    moves = "6" * (len(scores) - 1)
    found = evaluations(moves, scores)
    assert len(found) == len(moves) + 1
    for number, each in enumerate(found):
        before = scores[number - 1] if number else None
        if number < len(scores) and (own := scores[number]):
            assert each == evaluation(max(own.values()), number)
        else:
            assert each == (evaluation(before[6], number - 1) if before else None)


@pytest.mark.parametrize(
    ("known", "found"),
    [
        ([FIRST, FIRST, FIRST], []),
        ([FIRST, DRAW, DRAW, SECOND], [Turned(1, "win", "draw"), Turned(3, "draw", "lose")]),
        ([FIRST, SECOND, FIRST], [Turned(1, "win", "lose"), Turned(2, "win", "lose")]),
        ([DRAW, FIRST, SECOND], []),  # who moved is better off, which perfect play never allows
        ([FIRST, Evaluation(0, 39)], []),  # only the end is another one
        ([FIRST, None, SECOND, None], []),
        ([], []),
    ],
)
def test_move_turns_the_game_if_it_costs_who_made_it_the_win_or_the_draw(
    known: list[Evaluation | None], found: list[Turned]
) -> None:
    assert [*turned(known)] == found
    assert all(each.side == (each.move - 1) % 2 for each in found)


def test_better_columns_have_the_best_result_however_late() -> None:
    assert better_columns({0: -1, 1: 5, 3: 1, 4: 0}) == [1, 3]
    assert better_columns({6: 0, 2: 0, 5: -3}) == [2, 6]
