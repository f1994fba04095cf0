"""The games that are played while the server is killed, and the comparison with what is stored."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.boards import CELLS, COLUMNS, ROWS, drops
from conformance.dialects.script import Game
from conformance.lab.kills.games import LENGTH, Result, course, judge

GAMES = (Game("0101010", 1, "four"), Game("11203040", 2, "four"), Game("0123", 2, "left"))
FIRST, SECOND, LAST = (Result("t1a", "t1b", game) for game in GAMES)
PLAYED = {"t1": GAMES}


def winners(moves: str) -> Iterator[int]:
    """Yield whoever has four in a row, line by line."""
    board = drops(moves)
    for column in range(COLUMNS):
        for row in range(ROWS):
            for right, up in ((0, 1), (1, 0), (1, 1), (1, -1)):
                line = {board.get((column + step * right, row + step * up)) for step in range(4)}
                if len(line) == 1:
                    yield from line - {None}


@given(st.text(), st.booleans())
def test_games_end_as_they_say_and_not_before(seed: str, is_left: bool) -> None:
    for game in course(seed, is_left=is_left):
        assert not list(winners(game.moves[:-1]))
        ends = set(winners(game.moves))
        match game.reason:
            case "four":
                assert ends == {game.winner} == {2 - len(game.moves) % 2}
            case "full":
                assert not ends
                assert len(game.moves) == CELLS
                assert game.winner == 0
            case "left":
                assert not ends
                assert game.winner == 2 - len(game.moves) % 2  # whoever moved last


@given(st.text(), st.booleans())
def test_no_two_games_of_a_course_are_alike_and_only_the_last_is_left(seed: str, is_left: bool) -> None:
    games = course(seed, is_left=is_left)
    assert len(set(games)) == len({game.moves for game in games}) == LENGTH
    assert "left" not in {game.reason for game in games[:-1]}
    assert games[-1].reason == "left" or not is_left


@given(st.text())
def test_course_is_the_same_for_the_same_seed(seed: str) -> None:
    assert course(seed, is_left=True) == course(seed, is_left=True)


def test_courses_differ_and_have_every_end() -> None:
    courses = {course(str(seed), is_left=False) for seed in range(200)}
    assert len(courses) == 200
    assert {(game.reason, game.winner) for games in courses for game in games} == {
        ("four", 1),
        ("four", 2),
        ("full", 0),
        ("left", 1),
        ("left", 2),
    }


def test_all_that_was_told_stored_once_is_good() -> None:
    verdict = judge([FIRST, FIRST, SECOND], [SECOND, FIRST], PLAYED)
    assert verdict.is_good
    assert (verdict.told, verdict.stored, verdict.untold) == (2, 2, 0)


def test_stored_game_that_nobody_was_told_of_is_counted_and_good() -> None:
    verdict = judge([FIRST], [FIRST, LAST], PLAYED)
    assert verdict.is_good
    assert verdict.untold == 1


def test_told_and_not_stored_is_missing() -> None:
    verdict = judge([FIRST, SECOND], [FIRST], PLAYED)
    assert verdict.missing == [SECOND]
    assert not verdict.is_good


@pytest.mark.parametrize("result", [FIRST, LAST])
def test_stored_twice_is_not_good_told_or_not(result: Result) -> None:
    verdict = judge([FIRST], [FIRST, result, LAST], PLAYED)
    assert verdict.twice == [result]
    assert not verdict.is_good


@pytest.mark.parametrize(
    "stored",
    [
        Result("t1a", "t1b", Game("0101010", 2, "four")),
        Result("t1a", "t1b", Game("0101012", 1, "four")),
        Result("t1a", "t1b", Game("0101010", 1, "time")),
        Result("t2a", "t1b", GAMES[0]),
        Result("t2a", "t2b", GAMES[0]),
        Result("t1a", "t1a", GAMES[0]),
        Result("", "", GAMES[0]),
    ],
)
def test_stored_otherwise_is_missing_and_strange(stored: Result) -> None:
    verdict = judge([FIRST], [stored], PLAYED)
    assert (verdict.missing, verdict.strange) == ([FIRST], [stored])
    assert not verdict.is_good


def test_sides_that_were_swapped_are_missing() -> None:
    assert judge([FIRST], [Result("t1b", "t1a", GAMES[0])], PLAYED).missing == [FIRST]
