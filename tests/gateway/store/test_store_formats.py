"""Every export is read back as it was written, but CSV, which is for spreadsheets (test_store_sheet.py)."""

import io

import pytest
from game_records import game
from hypothesis import given
from hypothesis import strategies as st
from store_world import records

from gateway.game.events import Reason
from gateway.game.text import is_visible
from gateway.store.formats import arena, jsonl, pgn, sheet
from gateway.store.formats.arena import Bare
from gateway.store.formats.moments import from_moment, moment
from gateway.store.records import Participant, StoredGame

WHOLE = [jsonl, pgn]
ALL = [*WHOLE, arena]
some_games = st.lists(st.builds(StoredGame, st.integers(1, 2**40), records()), max_size=5)
NASTY = '"x\\" ]\r\n[White "eve"]\n\n\u2028\x85\x00,;\'=1+1\x7f\u202e\u200b\u3164\U000e0041'
STRANGE = StoredGame(
    7,
    game(
        players=(Participant(NASTY, "nac4"), Participant("*", "house", house=True)),
        table=NASTY,
        reason=Reason.STOPPED,
        winner=None,
        moves="",
    ),
)


def lines_of(text: str) -> list[str]:
    """Return the lines of a file, as Python reads one that was opened with newline=''."""
    return list(io.StringIO(text, newline=""))


@pytest.mark.parametrize("form", WHOLE)
@given(games=some_games)
def test_what_is_written_is_read_back_the_same(form, games: list[StoredGame]) -> None:
    pieces = list(form.write(games))
    assert list(form.read(pieces)) == games
    assert list(form.read(lines_of("".join(pieces)))) == games


@given(games=some_games)
def test_arena_lines_are_read_back_as_moves_and_winner(games: list[StoredGame]) -> None:
    expected = [Bare(each.record.moves, each.record.winner) for each in games]
    assert list(arena.read(arena.write(games))) == expected


@pytest.mark.parametrize("form", WHOLE)
def test_name_that_looks_like_the_format_is_read_back_the_same(form) -> None:
    assert list(form.read(lines_of("".join(form.write([STRANGE]))))) == [STRANGE]


@pytest.mark.parametrize("form", [*ALL, sheet])
def test_no_name_brings_a_line_of_its_own(form) -> None:
    usual = StoredGame(7, game(reason=Reason.STOPPED, winner=None, moves=""))
    count = len("".join(form.write([usual])).splitlines())
    text = "".join(form.write([STRANGE]))
    assert len(text.splitlines()) == count
    assert all(is_visible(sign) for line in text.splitlines() for sign in line)


@pytest.mark.parametrize("form", [*ALL, sheet])
def test_formats_hold_one_game_at_a_time(form) -> None:
    drawn = 0

    def endless():
        nonlocal drawn
        while True:
            drawn += 1
            yield StoredGame(drawn, game())

    pieces = form.write(endless())
    for _ in range(10):
        next(pieces)
    assert drawn <= 10
    if form is sheet:
        return
    drawn = 0
    games = form.read(form.write(endless()))
    for _ in range(10):
        next(games)
    assert drawn <= 11


@pytest.mark.parametrize("form", ALL)
@pytest.mark.parametrize(
    "text", ["x", "{}", "[]", "[Event\n", "9123\n", "17\n", '[Event "x"]\n', '[Event "x"]\n1-0\n', "\0"]
)
def test_what_is_no_export_is_a_value_error(form, text: str) -> None:
    with pytest.raises(ValueError):
        list(form.read(lines_of(text)))


def test_arena_line_is_the_winner_and_the_columns() -> None:
    first = StoredGame(1, game(moves="0101010", winner=0))
    second = StoredGame(2, game(moves="3", winner=1, reason=Reason.LEFT))
    nobody = StoredGame(3, game(moves="", winner=None, reason=Reason.STOPPED))
    assert list(arena.write([first, second, nobody])) == ["10101010\n", "23\n", "0\n"]


@pytest.mark.parametrize("reason", [Reason.ABORTED, Reason.STOPPED])
def test_pgn_has_no_result_for_a_game_without_one(reason: Reason) -> None:
    [text] = pgn.write([StoredGame(3, game(moves="3", winner=None, reason=reason))])
    assert '[Result "*"]' in text
    assert text.endswith("\n3 *\n\n")


def test_pgn_begins_with_the_tags_that_it_demands() -> None:
    [text] = pgn.write([StoredGame(3, game(table="t"))])
    assert text.splitlines()[:7] == [
        '[Event "table t"]',
        '[Site "c4gateway"]',
        '[Date "2023.11.14"]',
        '[Round "1"]',
        '[White "alice"]',
        '[Black "bob"]',
        '[Result "1-0"]',
    ]
    assert text.endswith("]\n\n0101010 1-0\n\n")


def test_moments_are_utc_to_the_millisecond() -> None:
    assert moment(1_700_000_000_250) == "2023-11-14T22:13:20.250Z"
    assert from_moment("2023-11-14T22:13:20.250Z") == 1_700_000_000_250
    assert from_moment("2023-11-14") == from_moment("2023-11-14T00:00:00+00:00")
    assert from_moment("2023-11-14T02:00:00+02:00") == from_moment("2023-11-14")
    with pytest.raises(ValueError):
        from_moment("yesterday")
