"""The tutorial dialect as a player hears it: messages in, news out."""

import pytest
from worlds.events import played

from adapters.client.contract import WireError
from adapters.client.talk import Asked, Began, Over, Refused, Result, Spent
from adapters.tutorial.client import PATIENCE, TutorialTalk
from adapters.tutorial.messages import (
    FULL,
    IS_FULL,
    NO_RESULT,
    NOT_FOUND,
    NOT_YOUR_TURN,
    OVER,
    Color,
    Error,
    Init,
    InitRequest,
    Play,
    PlayRequest,
    ServerMessage,
    Win,
)
from gateway.game.board import FIRST, SECOND, Board

RED, YELLOW = Color.RED, Color.YELLOW
KEYS = Init("green", "w")
AS_RED, AS_YELLOW = (Init("green", "w", color) for color in (RED, YELLOW))
DRAWN = "146660203633536103043506522512202545444111"


def discs(columns: str, since: int = 0) -> list[ServerMessage]:
    """Return what a server tells of these moves, from one of them on."""
    placed = list(played(columns).placed())
    return [Play((RED, YELLOW)[side], column, row) for column, row, side in placed][since:]


def heard(talk: TutorialTalk, *messages: ServerMessage) -> list[object]:
    return [item for message in messages for item in talk.hear(message)]


def talking(*messages: ServerMessage) -> TutorialTalk:
    talk = TutorialTalk("ann", "green")
    heard(talk, *messages)
    return talk


def test_init_says_who_and_which_game_to_join() -> None:
    assert TutorialTalk("ann", "green").hello() == [InitRequest(name="ann")]
    assert TutorialTalk("ann", None, "k").hello() == [InitRequest("k", name="ann")]
    assert TutorialTalk("ann").again() == (0, [InitRequest(name="ann")])
    assert TutorialTalk("ann").move(3) == PlayRequest(3)


def test_keys_of_the_own_table_or_of_the_lobby_begin_no_game() -> None:
    assert heard(TutorialTalk("ann", "GREEN"), KEYS) == []
    assert heard(TutorialTalk("ann", "Lobby"), Init(None, None)) == []


def test_red_is_asked_at_once_and_after_the_other_s_disc() -> None:
    talk = talking(KEYS)
    assert heard(talk, AS_RED) == [Began(FIRST), Asked(Board())]
    assert heard(talk, *discs("3")) == []
    assert heard(talk, *discs("33", 1)) == [Asked(played("33"))]


def test_yellow_waits_for_red() -> None:
    talk = talking(KEYS)
    assert heard(talk, AS_YELLOW) == [Began(SECOND)]
    assert heard(talk, *discs("3")) == [Asked(played("3"))]


@pytest.mark.parametrize(("color", "result"), [(RED, Result.WON), (YELLOW, Result.LOST)])
def test_win_ends_the_game(color: Color, result: Result) -> None:
    game = discs("0101010")
    own = Init("green", "w", color)
    assert heard(talking(KEYS, own, *game), Win(RED)) == [Over(result, played("0101010"), own_side(color))]
    early = heard(talking(KEYS, own, *game[:2]), Win(color))
    assert early == [Over(Result.WON, played("01"), own_side(color), "left, or out of time")]


def own_side(color: Color) -> int:
    return FIRST if color is RED else SECOND


def test_full_board_is_a_draw_although_nothing_is_said() -> None:
    talk = talking(KEYS, AS_RED, *discs(DRAWN)[:-1])
    assert heard(talk, discs(DRAWN)[-1]) == [Over(Result.DRAWN, played(DRAWN), FIRST)]
    assert heard(talk, Win(RED), *discs("3")) == []


def test_player_that_comes_back_is_asked_on_the_present_board_alone() -> None:
    talk = talking(KEYS)
    assert heard(talk, Init("green", "w", RED, 2), *discs("33")) == [Began(FIRST), Asked(played("33"))]


def test_who_joins_is_yellow_from_the_first_disc_on() -> None:
    talk = TutorialTalk("ann", None, "k")
    assert talk.may_be_silent
    assert heard(talk, *discs("3")) == [Began(SECOND), Asked(played("3"))]
    assert heard(talk, *discs("3344", 1), Win(YELLOW))[-1] == Over(
        Result.WON, played("3344"), SECOND, "left, or out of time"
    )


def test_game_of_the_original_begins_with_its_key_and_needs_a_new_connection_afterwards() -> None:
    talk = TutorialTalk("ann", "lobby")
    assert heard(talk, Init("k", "w")) == [Began(FIRST), Asked(Board())]
    assert heard(talk, *discs("0101010"), Win(RED))[-2:] == [
        Over(Result.WON, played("0101010"), FIRST),
        Spent(),
    ]
    assert heard(talk, Play(YELLOW, 3, 0), Win(RED)) == []  # the original lets the players go on


def test_game_that_begins_anew_cuts_off_the_one_before() -> None:
    talk = talking(KEYS, AS_RED, *discs("01"))
    assert heard(talk, AS_YELLOW) == [Over(Result.CUT_OFF, played("01"), FIRST), Began(SECOND)]


def test_game_without_a_result_is_left() -> None:
    talk = talking(KEYS, AS_RED, *discs("01"))
    assert heard(talk, Error(NO_RESULT)) == [
        Over(Result.LEFT, played("01"), FIRST, "left, or out of time"),
    ]


def test_player_is_asked_again_after_an_error_but_not_for_ever() -> None:
    talk = talking(KEYS, AS_RED)
    for _ in range(PATIENCE):
        assert heard(talk, Error(FULL)) == [Asked(Board())]
    with pytest.raises(Refused, match="slot"):
        heard(talk, Error(FULL))


@pytest.mark.parametrize("words", [OVER, FULL, NOT_YOUR_TURN])
def test_error_about_a_move_that_was_late_for_its_game_is_nothing(words: str) -> None:
    assert heard(talking(KEYS, AS_RED, *discs("01"), Win(RED)), Error(words)) == []


@pytest.mark.parametrize(("words", "passes"), [(IS_FULL, True), (NOT_FOUND, True), ("Banned.", False)])
def test_error_before_a_game_is_a_refusal(words: str, passes: bool) -> None:
    with pytest.raises(Refused) as refusal:
        heard(TutorialTalk("ann"), Error(words))
    assert refusal.value.passes is passes


@pytest.mark.parametrize("disc", [Play(YELLOW, 3, 0), Play(RED, 3, 1)])
def test_disc_that_does_not_fit_the_board_is_an_error(disc: Play) -> None:
    with pytest.raises(WireError):
        heard(talking(KEYS, AS_RED), disc)
