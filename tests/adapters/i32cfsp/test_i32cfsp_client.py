"""The I32CFSP dialect as a player hears it: messages in, news out."""

import pytest
from worlds.events import played

from adapters.client.contract import WireError
from adapters.client.talk import Asked, Began, News, Over, Refused, Result, Spent
from adapters.i32cfsp.client import I32cfspTalk
from adapters.i32cfsp.codec import I32cfspClientCodec
from adapters.i32cfsp.messages import AiGame, ClientMessage, Drop, Hello
from gateway.game.board import FIRST, Board


def news(talk: I32cfspTalk, *lines: str) -> list[News | ClientMessage]:
    codec = I32cfspClientCodec()
    return [item for line in lines for item in talk.hear(codec.decode(f"{line}\r"))]


def after(*moves: int) -> I32cfspTalk:
    """Return a talk in a game after these moves, counted from 0, with the player to move."""
    talk = I32cfspTalk("ann")
    news(talk, "WELCOME ann", "READY")
    for mine, other in zip(moves[::2], moves[1::2], strict=True):
        talk.move(mine)
        news(talk, "OKAY", f"DROP {other + 1}", "READY")
    return talk


def test_player_asks_for_a_game_and_begins() -> None:
    talk = I32cfspTalk("ann", "secret")
    assert talk.hello() == [Hello("ann", "secret")]
    assert news(talk, "WELCOME ann") == [AiGame()]
    assert news(talk, "READY") == [Began(FIRST), Asked(Board())]
    assert talk.again() == (0, [])


def test_board_is_kept_from_the_moves_of_both() -> None:
    talk = after()
    assert talk.move(3) == Drop(4)
    assert news(talk, "OKAY", "DROP 1", "READY") == [Asked(played([3, 0]))]


def test_move_that_is_invalid_is_asked_for_again() -> None:
    talk = after(3, 0)
    talk.move(3)
    assert news(talk, "INVALID", "READY") == [Asked(played([3, 0]))]


def test_win_has_the_winning_disc_and_ends_the_connection() -> None:
    talk = after(0, 1, 0, 1, 0, 1)
    talk.move(0)
    assert not talk.may_end
    assert news(talk, "WINNER_RED") == [Over(Result.WON, played([0, 1, 0, 1, 0, 1, 0]), FIRST), Spent()]
    assert talk.may_end


def test_loss_has_the_opponent_s_disc() -> None:
    talk = after(6, 1, 0, 1, 0, 1)
    talk.move(6)
    board = played([6, 1, 0, 1, 0, 1, 6, 1])
    assert news(talk, "OKAY", "DROP 2", "WINNER_YELLOW") == [Over(Result.LOST, board, FIRST), Spent()]


@pytest.mark.parametrize("answered", [True, False])
def test_winner_may_come_without_four_in_a_row(answered: bool) -> None:
    talk = after(3, 3)
    talk.move(2)
    board = played([3, 3, 2] if answered else [3, 3])
    lines = ["OKAY", "WINNER_RED"] if answered else ["WINNER_RED"]
    assert news(talk, *lines) == [Over(Result.WON, board, FIRST), Spent()]


def test_full_board_is_a_draw_without_a_word() -> None:
    moves = [int(column) for column in "146660203633536103043506522512202545444111"]
    talk = after(*moves[:40])
    talk.move(moves[40])
    assert news(talk, "OKAY", "DROP 2") == [Over(Result.DRAWN, played(moves), FIRST), Spent()]


def test_error_is_a_refusal_before_the_game_and_a_loss_in_it() -> None:
    with pytest.raises(Refused, match="ERROR"):
        news(I32cfspTalk("random"), "ERROR")
    assert news(after(3, 3), "ERROR") == [Over(Result.LOST, played([3, 3]), FIRST, "ERROR"), Spent()]


def test_illegal_move_of_the_server_is_none() -> None:
    talk = after(3, 3)
    talk.move(2)
    with pytest.raises(WireError, match="9"):
        news(talk, "OKAY", "DROP 9")
