"""What a game's end is called, where the evidence says more than the reason."""

import pytest
from game_records import BEGAN, game

from gateway.game.events import Reason
from gateway.store.evidence import Exchange, Line
from gateway.store.presentation import of_exchange, outcome, refusal

OUTSIDE, STRANGE = "refused: outside the board", "refused: cannot be read"
FIRST = Line(100, "in", "PUT 3")
"""The first move of a game that goes on by 3."""


def how(*lines: Line, reason: Reason = Reason.LEFT, moves: str = "33", seconds: float = 20.0) -> str:
    """Return how the first mover lost, who said and heard these lines."""
    record = game(moves=moves, winner=1, reason=reason, ended=BEGAN + round(1000 * seconds))
    both: tuple[Exchange | None, Exchange | None] = (lines, None)
    said = outcome(record, both)
    assert (said.subject, said.verb) == (0, "lost to")
    return said.how


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([FIRST, Line(2_000, "in", "PUT 9\r\n", OUTSIDE)], "by leaving, 18 s after a refused move"),
        ([FIRST, Line(18_700, "in", "PUT 9", OUTSIDE)], "by leaving, 1.3 s after a refused move"),
        ([FIRST, Line(2_000, "in", "hm", STRANGE)], "by leaving, 18 s after a refused message"),
        (
            [
                FIRST,
                Line(2_000, "in", "PUT 9", OUTSIDE),
                Line(2_001, "in", "state?"),
                Line(2_002, "out", "no"),
            ],
            "by leaving, 18 s after a refused move",
        ),
        ([Line(50, "in", "PUT 9", OUTSIDE), FIRST], "by leaving"),
        ([Line(50, "in", "PUT 9", OUTSIDE)], "by leaving"),  # its own move is not in the evidence
        ([FIRST, Line(2_000, "out", "genmove")], "by leaving"),
        ([], "by leaving"),
    ],
)
def test_who_leaves_with_a_refused_text_behind_its_last_move_is_said_to(
    lines: list[Line], words: str
) -> None:
    assert how(*lines) == words


def test_time_may_run_out_after_a_refused_move_too() -> None:
    refused = Line(2_000, "in", "9", "refused: not your turn, outside the board")
    assert how(FIRST, refused, reason=Reason.TIME) == "on time, 18 s after a refused move"
    assert how(refused, moves="", reason=Reason.TIME) == "on time, 18 s after a refused move"
    assert how(FIRST, refused, reason=Reason.ILLEGAL) == "by an illegal move"


def test_opponents_refused_move_says_nothing_of_who_left() -> None:
    left = game(moves="3", winner=1, reason=Reason.LEFT)
    assert refusal(left, ((FIRST,), (Line(500, "in", "9", OUTSIDE),))) is None
    assert refusal(game(), ((Line(500, "in", "9", OUTSIDE),), None)) is None


def test_refused_text_is_shown_with_every_character_visible() -> None:
    found = refusal(
        game(moves="", winner=1, reason=Reason.LEFT), ((Line(5, "in", "\x1b[2J\n", STRANGE),), None)
    )
    assert found is not None
    assert (found.text, found.why, found.before) == (r"\x1b[2J", "cannot be read", 1_495)


def test_exchange_as_json_says_all_that_is_kept() -> None:
    line = {"at": 12, "direction": "in", "text": "PUT 9", "verdict": OUTSIDE}
    assert of_exchange((Line(**line),)) == [line]  # type: ignore[arg-type]
    assert of_exchange(None) is None
