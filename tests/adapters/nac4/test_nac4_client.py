"""nac4 as a player hears it: messages in, news out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.client.contract import WireError
from adapters.client.talk import Asked, Began, News, Over, Refused, Result
from adapters.nac4.client import Nac4Talk, followed
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
    for column, row, side in played(*moves).placed():
        cells[COLUMNS * row + column] = "RY"[side]
    return "".join(cells)


def played(*moves: int) -> Board:
    board = Board()
    for column in moves:
        board = board.drop(column)
    return board


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


def test_server_that_does_not_let_a_player_in_is_quoted() -> None:
    with pytest.raises(Refused, match=r"^ann already used$"):
        news(Nac4Talk("ann"), NotConnected("ann already used"))


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
def test_refusal_may_be_gone_later(info: str, passes: bool) -> None:
    with pytest.raises(Refused) as refused:
        news(Nac4Talk("ann"), NotConnected(info))
    assert refused.value.passes is passes


@pytest.mark.parametrize(("red", "side", "other"), [("ann", FIRST, "bob"), ("bob", SECOND, "bob")])
def test_new_game_tells_side_and_opponent(red: str, side: int, other: str) -> None:
    yellow = "bob" if red == "ann" else "ann"
    assert news(Nac4Talk("ann"), NewGame(red, yellow)) == [Began(side, other)]


def test_namesakes_learn_their_sides_from_the_board() -> None:
    talk = Nac4Talk("ann")
    assert news(talk, NewGame("ann", "ann")) == [Began()]
    assert news(talk, ask("Y", 3)) == [Asked(played(3), 42.0)]
    assert news(talk, EndGame(shown(3), "Y", "WinY", "Disconnected")) == [
        Over(Result.WON, played(3), SECOND, "disconnected")
    ]


def test_moves_are_found_by_following_the_boards() -> None:
    talk = Nac4Talk("ann")
    news(talk, NewGame("ann", "bob"))
    assert news(talk, ask("R"), ask("R", 3, 3), ask("R", 3, 3, 2, 6)) == [
        Asked(Board(), 42.0),
        Asked(played(3, 3), 42.0),
        Asked(played(3, 3, 2, 6), 42.0),
    ]


def test_move_that_was_not_taken_is_asked_for_again() -> None:
    talk = Nac4Talk("ann")
    news(talk, NewGame("ann", "bob"), ask("R"))
    assert news(talk, ask("R")) == [Asked(Board(), 42.0)]


@pytest.mark.parametrize(
    ("color", "status", "result"),
    [
        ("R", "WinR", Result.WON),
        ("R", "WinY", Result.LOST),
        ("Y", "WinY", Result.WON),
        ("Y", "WinR", Result.LOST),
        ("R", "Tie", Result.DRAWN),
        ("Y", "Tie", Result.DRAWN),
    ],
)
def test_result_is_that_of_the_player(color: str, status: str, result: Result) -> None:
    talk = Nac4Talk("ann")
    news(talk, NewGame("ann", "bob"))
    (over,) = news(talk, EndGame(shown(3), color, status, "Ok"))
    assert isinstance(over, Over)
    assert (over.result, over.board, over.why) == (result, played(3), "")


def test_time_that_was_up_is_told() -> None:
    talk = Nac4Talk("ann")
    news(talk, NewGame("ann", "bob"))
    assert news(talk, EndGame(EMPTY, "R", "WinY", "Timeout")) == [
        Over(Result.LOST, Board(), FIRST, "out of time")
    ]


def test_game_of_which_nothing_more_was_said_is_cut_off_by_the_next() -> None:
    """The original is silent when the opponent leaves."""
    talk = Nac4Talk("ann")
    news(talk, NewGame("ann", "bob"), ask("R"))
    assert news(talk, NewGame("carl", "ann"), ask("Y", 6)) == [
        Over(Result.CUT_OFF, Board(), FIRST),
        Began(SECOND, "carl"),
        Asked(played(6), 42.0),
    ]


def test_result_counts_even_with_a_board_that_follows_from_nothing() -> None:
    talk = Nac4Talk("ann")
    news(talk, NewGame("ann", "bob"))
    (over,) = news(talk, EndGame("Y" * CELLS, "R", "WinR", "Ok"))
    assert over == Over(Result.WON, Board(), FIRST)
    assert news(talk, EndGame(EMPTY, "R", "WinR", "Ok")) == []


@given(st.lists(st.integers(0, 6), max_size=42), st.integers(0, 2))
def test_board_a_move_or_two_later_is_found(columns: list[int], later: int) -> None:
    boards = [Board()]
    for column in columns:
        if not boards[-1].over and boards[-1].has_room(column):
            boards.append(boards[-1].drop(column))
    before = boards[max(0, len(boards) - 1 - later)]
    found = followed(before, shown(*boards[-1].moves))
    assert found.discs == boards[-1].discs
    assert found.moves[: len(before.moves)] == before.moves


@pytest.mark.parametrize("cells", ["Y" + EMPTY[1:], "." * 7 + "R" + "." * 34, shown(0, 1, 2)])
def test_board_that_cannot_follow_is_no_message(cells: str) -> None:
    with pytest.raises(WireError, match="follow"):
        followed(Board(), cells)
