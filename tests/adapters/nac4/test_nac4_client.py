"""nac4 as a player hears it: messages in, news out."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds.events import boards, played

from adapters.client.contract import WireError
from adapters.client.talk import Asked, Began, News, Over, Refused, Result
from adapters.nac4.client import Nac4Talk, followed, rebuilt
from adapters.nac4.messages import (
    Connect,
    Connected,
    EndGame,
    GenMove,
    NewGame,
    NotConnected,
    PlayMove,
    ServerMessage,
)
from gateway.game.board import CELLS, COLUMNS, FIRST, SECOND, Board

EMPTY = "." * CELLS


def shown(*moves: int) -> str:
    cells = ["."] * CELLS
    for column, row, side in played(moves).placed():
        cells[COLUMNS * row + column] = "RY"[side]
    return "".join(cells)


def news(talk: Nac4Talk, *messages: ServerMessage) -> list[News]:
    return [item for message in messages for item in talk.hear(message)]


def ask(color: str, *moves: int) -> GenMove:
    return GenMove(shown(*moves), color, f"Play{color}", 42.0)


def test_player_comes_in_by_name_and_says_nothing_between_games() -> None:
    talk = Nac4Talk("ann")
    assert talk.hello() == [Connect("ann")]
    assert news(talk, Connected("hello ann")) == []
    assert talk.again() == (0, [])
    assert talk.doubt() == []
    assert talk.move(3) == PlayMove(3)


@pytest.mark.parametrize(
    ("info", "passes"),
    [
        ("ann already used", True),
        ("table is full", True),
        ("this player is not available now", True),
        ("ann is banned", False),
        ("ann needs its token", False),
        ("expected connect and a name", False),
    ],
)
def test_server_that_does_not_let_a_player_in_is_quoted_and_may_do_so_later(info: str, passes: bool) -> None:
    with pytest.raises(Refused, match=f"^{info}$") as refused:
        news(Nac4Talk("ann"), NotConnected(info))
    assert refused.value.passes is passes


@pytest.mark.parametrize(("red", "side", "other"), [("ann", FIRST, "bob"), ("bob", SECOND, "bob")])
def test_new_game_tells_side_and_opponent(red: str, side: int, other: str) -> None:
    yellow = "bob" if red == "ann" else "ann"
    assert news(Nac4Talk("ann"), NewGame(red, yellow)) == [Began(side, other)]


def test_namesakes_learn_their_sides_from_the_board() -> None:
    talk = Nac4Talk("ann")
    assert news(talk, NewGame("ann", "ann")) == [Began()]
    assert news(talk, ask("Y", 3)) == [Asked(played([3]), 42.0)]
    assert news(talk, EndGame(shown(3), "Y", "WinY", "Disconnected")) == [
        Over(Result.WON, played([3]), SECOND, "disconnected")
    ]


def test_moves_are_found_by_following_the_boards_which_may_be_shown_again() -> None:
    talk = Nac4Talk("ann")
    news(talk, NewGame("ann", "bob"))
    assert news(talk, ask("R"), ask("R", 3, 3), ask("R", 3, 3), ask("R", 3, 3, 2, 6)) == [
        Asked(Board(), 42.0),
        Asked(played([3, 3]), 42.0),
        Asked(played([3, 3]), 42.0),
        Asked(played([3, 3, 2, 6]), 42.0),
    ]


@pytest.mark.parametrize(
    ("color", "status", "battle", "result", "why"),
    [
        ("R", "WinR", "Ok", Result.WON, ""),
        ("R", "WinY", "Ok", Result.LOST, ""),
        ("Y", "WinY", "Ok", Result.WON, ""),
        ("Y", "Tie", "Ok", Result.DRAWN, ""),
        ("R", "WinY", "Timeout", Result.LOST, "out of time"),
        ("Y", "PlayR", "Disconnected", Result.LEFT, "disconnected"),
    ],
)
def test_result_is_that_of_the_player(color: str, status: str, battle: str, result: Result, why: str) -> None:
    talk = Nac4Talk("ann")
    news(talk, NewGame("ann", "bob"))
    assert news(talk, EndGame(shown(3), color, status, battle)) == [
        Over(result, played([3]), FIRST if color == "R" else SECOND, why)
    ]


def test_game_of_which_nothing_more_was_said_is_cut_off_by_the_next() -> None:
    """The original is silent when the opponent leaves."""
    talk = Nac4Talk("ann")
    news(talk, NewGame("ann", "bob"), ask("R"))
    assert news(talk, NewGame("carl", "ann"), ask("Y", 6)) == [
        Over(Result.CUT_OFF, Board(), FIRST),
        Began(SECOND, "carl"),
        Asked(played([6]), 42.0),
    ]


def test_result_counts_even_with_a_board_that_follows_from_nothing() -> None:
    talk = Nac4Talk("ann")
    news(talk, NewGame("ann", "bob"))
    (over,) = news(talk, EndGame("Y" * CELLS, "R", "WinR", "Ok"))
    assert over == Over(Result.WON, Board(), FIRST)
    assert news(talk, EndGame(EMPTY, "R", "WinR", "Ok")) == []


def test_player_that_comes_back_hears_the_whole_board_and_knows_the_moves_that_it_saw() -> None:
    moves = (3, 3, 2, 4, 5, 0, 3)
    talk = Nac4Talk("ann")
    talk.recall(played(moves[:5]))
    assert news(talk, Connected("hello ann"), NewGame("bob", "ann"), ask("Y", *moves)) == [
        Began(SECOND, "bob"),
        Asked(played(moves), 42.0),
    ]


def test_player_that_never_saw_the_game_finds_moves_that_lead_to_the_board() -> None:
    talk = Nac4Talk("ann")
    _, asked = news(talk, NewGame("ann", "bob"), ask("R", 3, 3, 2, 4, 5, 0))
    assert isinstance(asked, Asked)
    assert asked.board.discs == played((3, 3, 2, 4, 5, 0)).discs
    (again,) = news(talk, ask("R", 3, 3, 2, 4, 5, 0, 6, 6))
    assert isinstance(again, Asked)
    assert again.board.moves == (*asked.board.moves, 6, 6)
    assert news(talk, EndGame(shown(3, 3, 2, 4, 5, 0, 6, 6, 3), "R", "WinY", "Ok")) == [
        Over(Result.LOST, again.board.drop(3), FIRST)
    ]


@given(boards)
def test_board_is_rebuilt_by_moves_in_some_order(board: Board) -> None:
    found = rebuilt(shown(*board.moves))
    assert (found.discs, found.winner) == (board.discs, board.winner)


@pytest.mark.parametrize(
    "cells",
    [
        "Y" + EMPTY[1:],  # the second mover has begun
        "R" + EMPTY[2:] + "Y",  # a disc that hangs in the air
        "YYYYYYY" + "RRRRRRR" + "." * 28,  # nobody can have moved first
        "RRRR..." + "YYYY..." + "." * 28,  # a win after a win
    ],
)
def test_board_that_no_moves_lead_to_is_no_message(cells: str) -> None:
    with pytest.raises(WireError, match="come about"):
        rebuilt(cells)


def test_board_that_would_take_too_long_to_rebuild_is_no_message() -> None:
    cells = [*"RY" * 21]
    Random(0).shuffle(cells)
    with pytest.raises(WireError, match="come about"):
        rebuilt("".join(cells))


@given(boards, st.integers(0, 2))
def test_board_a_move_or_two_later_is_found(board: Board, later: int) -> None:
    before = played(board.moves[: max(0, len(board.moves) - later)])
    found = followed(before, shown(*board.moves))
    assert found.discs == board.discs
    assert found.moves[: len(before.moves)] == before.moves


@pytest.mark.parametrize("cells", ["Y" + EMPTY[1:], "." * 7 + "R" + "." * 34, shown(0, 1, 2)])
def test_board_that_cannot_follow_is_no_message(cells: str) -> None:
    with pytest.raises(WireError, match="follow"):
        followed(Board(), cells)
