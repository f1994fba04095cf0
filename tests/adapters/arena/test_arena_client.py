"""The arena dialect as a player hears it: messages in, news out."""

import pytest
from worlds.events import played

from adapters.arena.client import PATIENCE, ArenaTalk
from adapters.arena.messages import (
    Disconnected,
    End,
    Ignored,
    Move,
    Said,
    ServerMessage,
    Start,
    State,
    StateRequest,
)
from adapters.client.contract import WireError
from adapters.client.dial import Endpoint
from adapters.client.talk import Asked, Began, Entry, Over, Refused, Result, Spent
from gateway.game.board import FIRST, SECOND, Board

HERE = Endpoint("127.0.0.1", 8001)
SAID = Said("{}")
START = Start(SAID, "ann")
REQUEST = StateRequest(SAID)
UNHEARD = "Only start messages allowed in current state"


def state(you: int, *moves: int, winner: int | None = None, last_move: int | None = None) -> State:
    turn = 0 if winner is not None else 1 + len(moves) % 2
    return State(turn, you, (0,) * 42, moves, last_move, winner)


def moved(you: int, *moves: int, winner: int | None = None) -> State:
    return state(you, *moves, winner=winner, last_move=moves[-1])


def ignored(reason: str) -> Ignored:
    return Ignored(SAID, reason)


def heard(talk: ArenaTalk, *messages: ServerMessage) -> list[object]:
    return [item for message in messages for item in talk.hear(message)]


def talking(*messages: ServerMessage) -> ArenaTalk:
    talk = ArenaTalk(Entry(HERE, "ann"))
    talk.hello()
    heard(talk, *messages)
    return talk


def test_start_says_who_where_and_against_whom() -> None:
    assert ArenaTalk(Entry(HERE, "ann", against="aima")).hello() == [Start(SAID, "ann", "aima")]
    assert ArenaTalk(Entry(HERE, "ann", table="green")).hello() == [Start(SAID, "ann", None, "green")]


def test_first_player_is_asked_at_once() -> None:
    talk = talking()
    assert heard(talk, state(1)) == [Began(FIRST), Asked(Board())]
    assert talk.move(3) == Move(SAID, 3)
    assert heard(talk, moved(1, 3), moved(1, 3, 2)) == [Asked(played([3, 2]))]


def test_second_player_is_asked_after_the_first_move() -> None:
    assert heard(talking(), state(2), moved(2, 3)) == [Began(SECOND), Asked(played([3]))]


def test_player_that_comes_back_sees_the_board_whoever_has_the_move() -> None:
    assert heard(talking(), moved(2, 3, 3, 2)) == [Began(SECOND), Asked(played([3, 3, 2]))]
    assert heard(talking(), moved(1, 3, 3, 2), moved(1, 3, 3, 2, 4)) == [
        Began(FIRST),
        Asked(played([3, 3, 2, 4])),
    ]


@pytest.mark.parametrize(
    ("you", "winner", "result"),
    [
        (1, 1, Result.WON),
        (1, 2, Result.LOST),
        (2, 2, Result.WON),
        (2, 1, Result.LOST),
        (1, 0, Result.DRAWN),
        (2, 0, Result.DRAWN),
    ],
)
def test_result_is_that_of_the_player_and_comes_with_the_end(you: int, winner: int, result: Result) -> None:
    talk = talking(state(you))
    assert heard(talk, moved(you, 3, winner=winner)) == []
    (over,) = heard(talk, End())
    assert isinstance(over, Over)
    assert (over.result, over.board, over.side) == (result, played([3]), you - 1)


def test_result_without_four_in_a_row_has_a_reason() -> None:
    talk = talking(state(1), state(1, winner=2))
    assert heard(talk, End()) == [Over(Result.LOST, Board(), FIRST, "out of time, or forfeited")]


def test_every_game_is_asked_for_and_the_sides_do_not_ask_at_the_same_moment() -> None:
    pauses = []
    for you in (1, 2):
        pause, messages = talking(state(you), moved(you, 3, winner=1), End()).again()
        assert messages == [START]
        pauses.append(pause)
    assert 0 < pauses[0] < pauses[1] < 1


def test_opponent_that_left_is_said_to_have_lost_by_nobody() -> None:
    talk = talking(state(1), moved(1, 3))
    assert heard(talk, Disconnected()) == [Over(Result.LEFT, played([3]), FIRST, "disconnected")]
    assert talk.again()[1] == [START]
    assert heard(talk, state(2)) == [Began(SECOND)]


@pytest.mark.parametrize("moves", [(), (3,), (3, 3)])
def test_connection_that_the_originals_disconnected_has_spoilt_is_given_up(moves: tuple[int, ...]) -> None:
    """The original says how the game stands, then that it is over, and then takes every second message."""
    talk = talking(state(1), *([moved(1, *moves)] if moves else []))
    assert heard(talk, state(1, *moves), Disconnected())[-2:] == [
        Over(Result.LEFT, played(moves), FIRST, "disconnected"),
        Spent(),
    ]


def test_end_without_a_result_is_none_and_without_a_game_gives_the_connection_up() -> None:
    talk = talking(state(1))
    assert heard(talk, End(), End()) == [Over(Result.CUT_OFF, Board(), FIRST), Spent()]
    assert heard(talk, Disconnected()) == []


def test_silence_after_a_start_is_doubted_once() -> None:
    talk = talking()
    assert talk.doubt() == [REQUEST]
    assert talk.doubt() == []
    assert heard(talk, ignored("Waiting for match")) == []
    assert talk.doubt() == []
    assert talking(state(2)).doubt() == []


def test_start_that_was_not_heard_is_said_again() -> None:
    """The original may lose the first message of a connection."""
    talk = talking()
    talk.doubt()
    assert heard(talk, ignored(UNHEARD)) == [START]
    assert talk.doubt() == [REQUEST]


@pytest.mark.parametrize("is_lost", [False, True])
def test_move_that_crosses_the_end_of_its_game_asks_for_no_second_game(is_lost: bool) -> None:
    """It is ignored behind `disconnected`, and the player has started again by then."""
    talk = talking(state(1))
    talk.move(3)
    if is_lost:  # and the player has asked how the game stands
        assert heard(talk, ignored("Invalid move")) == [REQUEST]
    heard(talk, Disconnected())
    assert talk.again()[1] == [START]
    assert heard(talk, ignored(UNHEARD)) == []
    assert heard(talk, state(2)) == [Began(SECOND)]


def test_answer_to_a_doubt_does_not_spoil_the_connection() -> None:
    talk = talking()
    talk.doubt()
    assert heard(talk, state(1), Disconnected())[-1] == Over(Result.LEFT, Board(), FIRST, "disconnected")


@pytest.mark.parametrize(
    "reason", ['"aima" is a reserved id used for a reference player', "Table is full", "whatever"]
)
def test_start_that_is_ignored_is_a_refusal(reason: str) -> None:
    with pytest.raises(Refused, match=reason) as refused:
        heard(talking(), ignored(reason))
    assert refused.value.passes is (reason == "Table is full")


def test_move_is_asked_for_once_unless_it_is_ignored() -> None:
    talk = talking(state(1))
    talk.move(3)
    assert heard(talk, state(1)) == []
    assert heard(talk, ignored(UNHEARD)) == [REQUEST]
    assert heard(talk, state(1)) == [Asked(Board())]


def test_server_that_ignores_everything_is_given_up() -> None:
    talk = talking(state(1))
    heard(talk, *[ignored("Invalid move")] * PATIENCE)
    with pytest.raises(Refused, match="Invalid move"):
        heard(talk, ignored("Invalid move"))


def test_moves_that_are_none_are_no_message() -> None:
    with pytest.raises(WireError, match="column 7"):
        heard(talking(), state(1, 7))
