"""The rows of what was said and heard."""

import pytest
from game_records import game

from adapters.web.page.timeline import Attempt, Cell, Row, Timeline, timeline
from gateway.game.events import Reason, Way
from gateway.store.evidence import Exchange, Line, Turn
from gateway.store.records import GameRecord, Participant

HOUSE = (Participant("ann", "line"), Participant("aima", "house", house=True))


def lines(*texts: str) -> Exchange:
    """Return an exchange of texts such as ``12 in PUT 3 | refused: why``."""
    made = []
    for each in texts:
        said, _, verdict = each.partition(" | ")
        at, way, *text = said.split(" ", 2)
        ways: dict[str, Way] = {"in": "in", "out": "out", "note": "note"}
        made.append(Line(int(at), ways[way], *(text or [""]), verdict))  # type: ignore[arg-type]
    return tuple(made)


def table(found: Timeline) -> list[str]:
    """Return the rows as text: what the first side has, what stands in the middle, what the second has."""
    return [f"{row.at} {_side(row.first)}[{_middle(row)}]{_side(row.second)}" for row in found.rows]


def _side(cell: Cell | None) -> str:
    return "" if cell is None else cell.text


def _middle(row: Row) -> str:
    return row.refused or ("end" if row.is_end else str(row.move or ""))


def short(moves: str, **about: object) -> GameRecord:
    return game(moves=moves, **about)


def test_move_stands_once_with_who_said_it_and_who_heard_it_in_the_same_millisecond() -> None:
    one = lines("0 out YOUR_MOVE", "10 in PUT 3", "30 out PUT 4", "30 out YOUR_MOVE")
    other = lines("10 out PUT 3", "11 out YOUR_MOVE", "30 in PUT 4")
    assert table(timeline(short("34"), (one, other))) == [
        "0 YOUR_MOVE[]",
        "10 PUT 3[1]PUT 3",
        "11 []YOUR_MOVE",
        "30 PUT 4[2]PUT 4",
        "30 YOUR_MOVE[]",
    ]


def test_moves_of_one_millisecond_stand_in_the_order_of_play() -> None:
    one = lines("5 in PUT 3", "5 out PUT 4", "5 out YOUR_MOVE", "5 in PUT 3")
    other = lines("5 out PUT 3", "5 out YOUR_MOVE", "5 in PUT 4", "5 out PUT 3")
    assert table(timeline(short("343"), (one, other))) == [
        "5 PUT 3[1]PUT 3",
        "5 []YOUR_MOVE",
        "5 PUT 4[2]PUT 4",
        "5 YOUR_MOVE[]",
        "5 PUT 3[3]PUT 3",
    ]


def test_text_that_was_refused_is_no_move_and_stands_alone() -> None:
    one = lines("5 in PUT 3 | refused: not your turn", "5 out Error", "9 in PUT 3")
    other = lines("5 out hello", "9 out PUT 3")
    found = timeline(short("3"), (one, other))
    assert table(found) == ["5 PUT 3[refused]", "5 Error[]hello", "9 PUT 3[1]PUT 3"]
    assert [row.after for row in found.rows] == [0, 0, 1]


def test_attempt_that_lost_is_below_the_move_of_its_millisecond_that_it_answers() -> None:
    one = lines("5 in PUT 3")
    for objection, rows in (("column is full", ["1", "refused"]), ("not your turn", ["refused", "1"])):
        found = timeline(short("3"), (one, lines(f"5 in PUT 3 | refused: {objection}")))
        assert [_middle(row) for row in found.rows] == rows


def test_text_without_the_column_is_no_move() -> None:
    found = timeline(short("3"), (lines("5 in ping", "7 in PUT 35", "9 in PUT 3"), ()))
    assert [row.move for row in found.rows] == [0, 0, 1]


def test_time_of_a_move_runs_from_the_move_before() -> None:
    one = lines("0 out go | 42.000 s left", "100 in PUT 3", "350 out go | 41.900 s left")
    other = lines("100 out go | 42.000 s left", "350 in PUT 4")
    found = timeline(short("34"), (one, other))
    assert found.turns == (Turn(100, 41_900), Turn(250, 41_750))
    assert [cell.remark for row in found.rows for cell in row.cells if cell.remark] == [
        "42.0 s left",
        "42.0 s left",
        "41.9 s left",
    ]


def test_clock_of_an_earlier_request_says_nothing_of_a_later_move() -> None:
    one = lines("0 out go | 42.000 s left", "100 in PUT 3", "300 in PUT 3")
    found = timeline(short("343"), (one, lines("200 in PUT 4")))
    assert found.turns[2] == Turn(100, None)


def test_move_of_a_player_without_texts_is_when_its_opponent_heard_of_it() -> None:
    one = lines("0 out hello", "10 in PUT 3", "11 out ok", "50 out PUT 4", "50 out go", "60 in PUT 3")
    found = timeline(short("343", players=HOUSE), (one, None))
    assert found.turns == (Turn(10), Turn(40), Turn(10))
    assert [(row.at, row.move) for row in found.rows if row.move] == [(10, 1), (50, 2), (60, 3)]


@pytest.mark.parametrize("beginning", [["5 in PUT 3"], []])
def test_time_that_ran_out_is_not_that_of_the_move_before(beginning: list[str]) -> None:
    mover = len(beginning)
    exchange = lines(*beginning, "5 out PUT 4", "5 out go", "20005 out lost", "20005 note | lost on time")
    both = (exchange, None) if mover else (None, exchange)
    about = {"players": HOUSE if mover else HOUSE[::-1], "thought": (5, 0) if mover else (5, 20_000)}
    record = short("34"[: mover + 1], reason=Reason.TIME, winner=mover, **about)
    found = timeline(record, both)
    assert found.turns[-1] == Turn(0 if mover else 5)
    assert [(row.at, row.move) for row in found.rows if row.move][-1] == (5, mover + 1)


def test_move_whose_texts_are_missing_has_no_time_and_others_keep_theirs() -> None:
    one = lines("10 in PUT 3", "90 note | 20 lines left out", "95 in PUT 3", "99 note | won")
    found = timeline(short("34343"), (one, lines("20 in PUT 4", "94 in PUT 4")))
    assert found.turns == (Turn(10), Turn(10), Turn(None), Turn(None), Turn(1))
    assert "90 20 lines left out[]" in table(found)


def test_nothing_kept_leaves_everything_open() -> None:
    found = timeline(short("34"), (None, None))
    assert found == Timeline((), (Turn(), Turn()))


def test_end_says_how_it_went_for_either_side_below_what_was_heard() -> None:
    one = lines("9 out bye", "9 note | lost: the opponent has four in a row")
    other = lines("9 note | won: four in a row")
    assert table(timeline(short(""), (one, other))) == [
        "9 bye[]",
        "9 Lost: the opponent has four in a row[end]Won: four in a row",
    ]


def test_attempt_that_lost_is_the_last_that_was_refused() -> None:
    one = lines("5 in PUT 3")
    other = lines(
        "9 in what? | refused: cannot be read",
        "25 in PUT 9 | refused: outside the board",
        "26 note | lost by an illegal move",
    )
    found = timeline(short("3", reason=Reason.ILLEGAL), (one, other))
    assert found.attempt == Attempt(20, "PUT 9", "outside the board", "9")
    assert timeline(short("3"), (one, other)).attempt is None
    assert timeline(short("3", reason=Reason.ILLEGAL), (one, None)).attempt is None


def test_time_that_ran_out_is_that_since_the_last_move() -> None:
    found = timeline(short("3", reason=Reason.TIME, winner=0), (lines("100 in PUT 3"), ()))
    assert found.attempt == Attempt(1_400)


def test_silence_that_lost_is_a_row_of_the_loser_below_its_request() -> None:
    one = lines("0 out go", "100 in PUT 3", "1500 note | won: the opponent's time was up")
    other = lines("100 out PUT 3", "101 out go | 1.400 s left", "1500 out lost", "1500 note | lost on time")
    found = timeline(short("3", reason=Reason.TIME, winner=0), (one, other))
    silent = Cell(101, "note", "", "its clock ran out at 0.0", refused="time", silence=1_400)
    assert found.rows[3] == Row(101, None, silent, 1)
    assert [row.at for row in found.rows] == [0, 100, 101, 101, 1500, 1500]


def test_silence_of_a_player_without_a_clock_or_a_move_is_a_row_too() -> None:
    one = lines("0 out go", "1200 in what | refused: not a column", "1500 note | lost on time")
    found = timeline(short("", reason=Reason.TIME, winner=1), (one, ()))
    assert [(row.at, row.refused) for row in found.rows] == [
        (0, ""),
        (0, "time"),
        (1200, "refused"),
        (1500, ""),
    ]
    assert found.rows[1].first == Cell(0, "note", "", refused="time", silence=1_500)


def test_pause_of_more_than_two_seconds_is_told_unless_it_lost_the_game() -> None:
    one = lines("0 out go", "2000 in PUT 3", "5200 out PUT 4", "9900 out lost", "9900 note | lost on time")
    about = {"reason": Reason.TIME, "winner": 1, "began": 0, "ended": 9_900}
    found = timeline(short("34", **about), (one, lines("5200 in PUT 4")))
    assert [(row.at, row.pause) for row in found.rows if row.pause] == [(5_200, 3_200)]


def test_notes_are_what_else_was_noted_of_a_side() -> None:
    one = lines("5 note | hung up", "5 note | lost by leaving")
    assert timeline(short("", reason=Reason.LEFT), (one, ())).notes == ("hung up", "")


@pytest.mark.parametrize("text", ["\x1b[2J", "\u202eabc", "a\0b", "\ud800", "\u200b"])
def test_texts_and_verdicts_are_shown_with_every_character_visible(text: str) -> None:
    found = timeline(short(""), ((Line(1, "in", f"{text}\r\n", text), Line(2, "note", "", text)), ()))
    for row in found.rows:
        for cell in row.cells:
            assert text not in cell.text + cell.refused
            assert cell.text.isprintable()
            assert cell.text.count("\\") == 1
