"""What a player does at each message of an RPI server."""

import pytest

from adapters.client.contract import WireError
from adapters.client.talk import Asked, Began, Over, Refused, Result
from adapters.rpi.client import RpiTalk
from adapters.rpi.messages import Connect, Error, Opponent, Play, PlayerMessage, Ready, Start, Word
from gateway.game.board import FIRST, SECOND, Board


def heard(*messages: PlayerMessage, moves: tuple[int, ...] = ()) -> tuple[RpiTalk, list[object]]:
    """Return a talk, and the news of the last of these messages; the player moves at each request."""
    talk, columns, news = RpiTalk("ann"), iter(moves), list[object]()
    for message in (Word.CONNECTED, Word.READY, *messages):
        news = [*talk.hear(message)]
        if any(isinstance(item, Asked) for item in news) and message is not messages[-1]:
            talk.move(next(columns))
    return talk, news


def test_player_connects_and_is_ready() -> None:
    talk = RpiTalk("ann")
    assert talk.hello() == [Connect("ann")]
    assert [*talk.hear(Word.CONNECTED)] == [Ready()]
    assert talk.again() == (0, [Ready()])
    assert talk.replays


def test_player_that_opens_is_asked_at_the_start() -> None:
    assert heard(Start(True))[1] == [Began(FIRST), Asked(Board())]


def test_player_keeps_the_board() -> None:
    assert heard(Start(False), Opponent(3))[1] == [Asked(Board().drop(3))]
    talk, news = heard(Start(True), Opponent(3), moves=(4,))
    assert news == [Asked(Board().drop(4).drop(3))]
    assert talk.move(5) == Play(5)


@pytest.mark.parametrize(
    ("word", "result"),
    [
        (Word.WINS, Result.WON),
        (Word.LOSS, Result.LOST),
        (Word.DRAW, Result.DRAWN),
        (Word.TERMINATED, Result.LEFT),
    ],
)
def test_result_ends_the_game_once(word: Word, result: Result) -> None:
    talk, news = heard(Start(False), Opponent(3), word, moves=(4,))
    assert news == [Over(result, Board().drop(3).drop(4), SECOND)]
    assert [*talk.hear(Word.END)] == [*talk.hear(Word.TERMINATED)] == []
    assert [*talk.hear(Start(True))] == [Began(FIRST), Asked(Board())]


def test_game_that_begins_in_a_game_cuts_that_off() -> None:
    assert heard(Start(False), Start(False))[1] == [Over(Result.CUT_OFF, Board(), SECOND), Began(SECOND)]


def test_error_refuses_a_name_and_else_is_the_reason_of_a_loss() -> None:
    with pytest.raises(Refused, match="ERROR:INVALID:CONNECT:ann"):
        list(RpiTalk("ann").hear(Error("ERROR:INVALID:CONNECT:ann")))
    with pytest.raises(Refused) as refusal:
        heard(Error("ERROR:INVALID:READY"))
    assert refusal.value.passes
    assert heard(Error("ERROR:INVALID:MOVE"))[1] == []
    _, news = heard(Start(True), Error("ERROR:INVALID:MOVE"), Word.LOSS, moves=(3,))
    assert news == [Over(Result.LOST, Board().drop(3), FIRST, "ERROR:INVALID:MOVE")]


def test_illegal_move_of_the_opponent_is_none() -> None:
    with pytest.raises(WireError):
        heard(Start(False), Opponent(7))
