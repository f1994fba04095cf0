"""The Droidcon dialect as a player hears it: messages in, news out."""

import pytest
from worlds.events import played

from adapters.client.talk import Asked, Began, News, Over, Refused, Result
from adapters.droidcon.client import DroidconTalk
from adapters.droidcon.codec import DroidconClientCodec
from adapters.droidcon.messages import Join, Name, Put
from gateway.game.board import FIRST, SECOND, Board


def news(talk: DroidconTalk, *lines: str) -> list[News]:
    codec = DroidconClientCodec()
    return [item for line in lines for item in talk.hear(codec.decode(line))]


def talking(*lines: str) -> DroidconTalk:
    talk = DroidconTalk("ann", "green")
    news(talk, "SUCCESS", "SUCCESS", *lines)
    return talk


def test_player_takes_a_name_and_a_channel_and_says_nothing_between_games() -> None:
    talk = DroidconTalk("ann", "green")
    assert talk.hello() == [Name("ann"), Join("green")]
    assert news(talk, "SUCCESS", "SUCCESS") == []
    assert talk.again() == (0, [])
    assert talk.doubt() == []


@pytest.mark.parametrize(("error", "passes"), [("CHANNEL_IS_FULL", True), ("INVALID_COMMAND", False)])
def test_error_before_a_game_is_a_refusal(error: str, passes: bool) -> None:
    with pytest.raises(Refused, match=f"^{error}$") as refused:
        news(DroidconTalk("ann", "green"), "SUCCESS", f"Error {error}")
    assert refused.value.passes is passes


def test_board_is_kept_from_the_moves_of_both() -> None:
    talk = talking()
    assert news(talk, "NEW_GAME", "YOUR_MOVE") == [Began(), Asked(Board())]
    assert talk.move(3) == Put(3)
    assert news(talk, "PUT 2", "YOUR_MOVE") == [Asked(played([3, 2]))]


@pytest.mark.parametrize(
    ("word", "result"), [("YOU_WON", Result.WON), ("YOU_LOST", Result.LOST), ("DRAW", Result.DRAWN)]
)
def test_result_ends_the_game_and_the_server_may_hang_up(word: str, result: Result) -> None:
    talk = talking("NEW_GAME", "YOUR_MOVE")
    assert not talk.may_end
    assert news(talk, word) == [Over(result, Board(), FIRST)]
    assert talk.may_end
    assert news(talk, "NEW_GAME") == [Began()]
    assert not talk.may_end


def test_next_round_begins_with_an_empty_board_and_a_side_of_its_own() -> None:
    talk = talking("NEW_GAME", "YOUR_MOVE")
    talk.move(3)
    news(talk, "PUT 3", "YOU_LOST", "NEW_GAME", "PUT 1", "YOUR_MOVE")
    assert news(talk, "YOU_WON") == [Over(Result.WON, played([1]), SECOND)]


@pytest.mark.parametrize(
    ("moves", "passed_on"),
    [
        ("3", "PUT 9"),
        ("3", "PUT -1"),
        ("3", "PUT 7"),
        ("0000001", "PUT 0"),  # the column is full
        ("", "PUT 1"),  # it is this player's turn
    ],
)
def test_illegal_move_that_is_passed_on_leaves_the_board_alone(moves: str, passed_on: str) -> None:
    """The original passes it on before it says who won."""
    talk = talking("NEW_GAME", "YOUR_MOVE")
    for own, answer in zip(moves[::2], [*moves[1::2], None], strict=False):
        talk.move(int(own))
        if answer is not None:
            news(talk, f"PUT {answer}", "YOUR_MOVE")
    assert news(talk, passed_on, "YOU_WON") == [Over(Result.WON, played(moves), FIRST)]


@pytest.mark.parametrize("line", ["Error WRONG_COLUMN_FORMAT X", "Error NOT_YOUR_TURN"])
def test_error_in_a_game_is_why_it_was_lost(line: str) -> None:
    """The original appends what it could not read."""
    talk = talking("NEW_GAME", "YOUR_MOVE")
    assert news(talk, line, "YOU_LOST") == [Over(Result.LOST, Board(), FIRST, line.split()[1])]


def test_loss_without_a_game_is_none() -> None:
    talk = talking("NEW_GAME", "YOUR_MOVE", "YOU_WON")
    assert news(talk, "Error NOT_YOUR_TURN", "YOU_LOST") == []
    assert talk.may_end


def test_player_that_comes_back_plays_the_game_again_from_the_start() -> None:
    talk = DroidconTalk("ann", "green")
    talk.recall(played([3, 2]))
    assert talk.replays
    assert news(talk, "SUCCESS", "SUCCESS", "NEW_GAME", "YOUR_MOVE") == [Began(), Asked(Board())]


def test_game_of_which_nothing_more_was_said_is_cut_off_by_the_next() -> None:
    """The original is silent when the opponent leaves."""
    talk = talking("NEW_GAME", "PUT 3")
    assert news(talk, "NEW_GAME", "YOUR_MOVE") == [
        Over(Result.CUT_OFF, played([3]), SECOND),
        Began(),
        Asked(Board()),
    ]
