"""Where a game was lost, in a sentence."""

import pytest
from game_records import FOUR, drawn, game

from adapters.web.page.mistakes import Mistake, mistake_in
from adapters.web.page.sentences import plain
from adapters.web.page.timeline import Attempt
from gateway.game.evaluation import Scores
from gateway.game.events import Reason
from gateway.store.analyses import Analysis, analysis_of
from gateway.store.records import GameRecord

WON, EVEN, LOST = 5, 0, -5
"""The scores of columns for the side to move."""


def analysed(record: GameRecord, *values: int) -> Analysis:
    """Return an analysis of a game whose positions are worth so much to the side to move."""
    scores: list[Scores] = []
    for number, value in enumerate(values):
        position = dict.fromkeys((2, 6), value)
        if number < len(record.moves):
            following = values[number + 1] if number + 1 < len(values) else LOST
            position[int(record.moves[number])] = -following
        scores.append(position)
    return analysis_of(record.moves, record.winner, scores)


def words(found: Mistake | None) -> tuple[str, int, str]:
    assert found is not None
    return found.kind, found.move, plain(found.words)


def test_last_move_that_gave_away_a_draw_is_named_with_what_held_it() -> None:
    record = game()
    analysis = analysed(record, EVEN, EVEN, EVEN, EVEN, WON, LOST, WON)
    assert words(mistake_in(record, analysis, None)) == (
        *("turn", 4),
        "Move 4 gave away a draw, by column 1; columns 2 and 6 held it.",
    )


def test_win_that_was_given_away_says_when_it_would_have_been() -> None:
    record = game()
    analysis = analysed(record, EVEN, WON, WON, LOST, WON, LOST, WON)
    kind, move, text = words(mistake_in(record, analysis, None))
    assert (kind, move) == ("turn", 2)
    assert text == "Move 2 gave away a win at move 34."


def test_game_that_was_lost_from_the_start_has_no_mistake() -> None:
    record = game()
    analysis = analysed(record, WON, LOST, WON, LOST, WON, LOST, WON)
    assert words(mistake_in(record, analysis, None)) == ("none", 0, "None: it was lost from the start.")


def test_mistake_is_unknown_before_the_analysis_and_there_is_none_without_a_loser() -> None:
    assert mistake_in(game(), None, None) is None
    assert mistake_in(drawn(), None, None) is None
    assert mistake_in(game(winner=None, reason=Reason.STOPPED), None, None) is None


@pytest.mark.parametrize(
    ("reason", "attempt", "text"),
    [
        (Reason.TIME, Attempt(34_300), "No move for 34.3 s"),
        (Reason.TIME, None, "No move in time"),
        (Reason.LEFT, None, "Left after 2 moves"),
        (Reason.ILLEGAL, None, "Its move was illegal"),
        (Reason.ILLEGAL, Attempt(1, "move 3", "column is full", "3"), "Said column 3, which was full"),
        (Reason.ILLEGAL, Attempt(1, "9", "outside the board", "9"), "Said column 9, which does not exist"),
        (
            *(Reason.ILLEGAL, Attempt(1, "hello", "not a column")),
            "Sent hello, which was refused: not a column",
        ),
    ],
)
def test_fault_is_said_with_what_the_game_was_worth(
    reason: Reason, attempt: Attempt | None, text: str
) -> None:
    record = game(moves=FOUR[:2], winner=1, reason=reason)
    assert words(mistake_in(record, None, attempt)) == ("fault", 2, f"{text}.")
    comma = "" if reason is Reason.TIME else ","
    for value, worth in ((WON, "winning at move 33"), (EVEN, "a draw"), (LOST, "losing")):
        analysis = analysed(record, EVEN, EVEN, value)
        assert words(mistake_in(record, analysis, attempt))[2] == f"{text}{comma} while it was {worth}."
