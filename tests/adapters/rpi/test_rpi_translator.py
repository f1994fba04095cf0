"""What an RPI client's messages ask for, and what it is told of what happens."""

import pytest
from worlds.events import GAME

from adapters.rpi.messages import (
    Connect,
    Disconnect,
    Error,
    Invalid,
    Observe,
    Opponent,
    Ping,
    Play,
    Ready,
    Reconnect,
    ServerMessage,
    Start,
    Word,
)
from adapters.rpi.translator import RpiTranslator, in_alphabet
from gateway.game.board import FIRST, SECOND, Board, Side
from gateway.game.commands import LOBBY, AtTable, Command, Enter, Introduce, Place, Unfit
from gateway.game.commands import Play as PlayCommand
from gateway.game.events import (
    Dismissed,
    Ended,
    Entered,
    Event,
    Introduced,
    Moved,
    Objection,
    Reason,
    Refused,
    Resumed,
    Started,
    ToMove,
    Why,
)
from gateway.game.manners import Illegal

TABLE = AtTable("green")
BOARD = Board().drop(3)


def told(*events: Event, place: Place = TABLE) -> list[ServerMessage]:
    """Return what a client is told of the last of these events."""
    translator = RpiTranslator(place)
    messages: list[ServerMessage] = []
    for event in events:
        messages = [*translator.observe(event)]
    return messages


def playing(you: Side = FIRST) -> Event:
    return Started(GAME, you, ("ann", "bob"))


@pytest.mark.parametrize(
    ("message", "command"),
    [
        (Connect("ann"), Enter(TABLE, "ann", 7, waits=False, resumes=False)),
        (Reconnect("ann"), Enter(TABLE, "ann", 7, waits=False)),
        (Ready(), Enter(TABLE, None, 7)),
        (Play(3), PlayCommand(3, 7)),
        (Play(-1), PlayCommand(-1, 7)),
        (Play(None), Unfit(7)),
        (Disconnect(), Introduce(None, to=7)),
        *((Connect(name), Unfit(7)) for name in ("", "  ", "a,b", "a|b", "a:b", "a\nb", "a\x7f", "ACK")),
        *((message, Unfit(7)) for message in (Invalid("ERROR:INVALID:GET"), Observe(), Ping())),
    ],
)
def test_message_is_a_command(message: Connect, command: Command) -> None:
    assert RpiTranslator(TABLE).receive(message, 7) == command


def test_illegal_move_costs_the_connection_in_the_lobby_alone() -> None:
    assert RpiTranslator(LOBBY).manners.illegal is Illegal.FORFEIT
    assert RpiTranslator(TABLE).manners.illegal is Illegal.GAME


@pytest.mark.parametrize(
    ("events", "messages"),
    [
        ([Introduced("ann")], [Word.CONNECTED]),
        ([Introduced("ann", resumes=True)], [Word.TERMINATED, Word.RECONNECTED]),
        ([Introduced("ann"), Introduced(None)], [Word.DISCONNECTED]),
        ([Introduced("ann"), Entered("ann")], [Word.READY]),
        ([Entered("ann")], [Word.CONNECTED]),
        ([Introduced("ann"), Introduced(None), Entered("ann")], [Word.CONNECTED]),
        ([Entered("ann", resumes=True)], [Word.RECONNECTED]),
        ([playing(FIRST)], [Start(True)]),
        ([playing(SECOND)], [Start(False)]),
        ([playing(FIRST), ToMove(GAME, 1, Board(), 9.0)], []),
        ([playing(SECOND), Moved(GAME, FIRST, 3, BOARD)], [Opponent(3)]),
        ([playing(FIRST), Moved(GAME, FIRST, 3, BOARD)], []),
    ],
)
def test_client_is_told(events: list[Event], messages: list[ServerMessage]) -> None:
    assert told(*events) == messages


BACK = Resumed(GAME, SECOND, ("ann", "bob"), BOARD, 1.0)


@pytest.mark.parametrize(
    ("events", "messages"),
    [
        ([BACK], []),
        ([BACK, ToMove(GAME, 2, BOARD, None)], [Opponent(3)]),
        ([Resumed(GAME, FIRST, ("ann", "bob"), Board(), 1.0), ToMove(GAME, 1, Board(), None)], [Start(True)]),
        ([BACK, ToMove(GAME, 2, BOARD, None), ToMove(GAME, 4, BOARD, None)], []),
        ([BACK, playing(), ToMove(GAME, 1, Board(), None)], []),
        ([BACK, Moved(GAME, FIRST, 4, BOARD.drop(2).drop(4)), ToMove(GAME, 4, BOARD, None)], []),
    ],
)
def test_client_that_is_back_is_told_the_last_move_if_it_has_the_move(
    events: list[Event], messages: list[ServerMessage]
) -> None:
    assert told(*events) == messages


WON, DREW = Reason.FOUR, Reason.FULL


@pytest.mark.parametrize(
    ("ended", "messages"),
    [
        (Ended(GAME, BOARD, FIRST, WON, 3), [Word.WINS, Word.END]),
        (Ended(GAME, BOARD, SECOND, WON, 3), [Word.LOSS, Word.END]),
        (Ended(GAME, BOARD, None, DREW, 3), [Word.DRAW, Word.END]),
        (Ended(GAME, BOARD, SECOND, Reason.TIME), [Word.LOSS, Word.END]),
        (Ended(GAME, BOARD, FIRST, Reason.LEFT, leaver=SECOND), [Word.WINS, Word.END]),
        (Ended(GAME, BOARD, SECOND, Reason.LEFT, leaver=FIRST), [Word.TERMINATED]),
        (Ended(GAME, BOARD, None, Reason.ABORTED, leaver=SECOND), [Word.TERMINATED, Word.END]),
        (Ended(GAME, BOARD, None, Reason.REPLAYED, leaver=SECOND), [Word.TERMINATED, Word.END]),
        (Ended(GAME, BOARD, FIRST, Reason.ILLEGAL), [Word.WINS, Word.END]),
    ],
)
@pytest.mark.parametrize("place", [LOBBY, TABLE])
def test_end_of_a_game_is_told(ended: Ended, messages: list[ServerMessage], place: Place) -> None:
    assert told(playing(), ended, place=place) == messages


@pytest.mark.parametrize(("place", "messages"), [(LOBBY, [Word.TERMINATED]), (TABLE, [Word.LOSS, Word.END])])
def test_illegal_move_is_told_as_in_and_out_of_a_tournament(
    place: Place, messages: list[ServerMessage]
) -> None:
    assert told(playing(), Ended(GAME, BOARD, SECOND, Reason.ILLEGAL), place=place) == messages


@pytest.mark.parametrize(
    ("asked", "objections", "messages"),
    [
        (Play(9), Objection.OUTSIDE, ["ERROR:INVALID:MOVE"]),
        (Connect("ann"), Objection.NAME_TAKEN, ["ERROR:INVALID:CONNECT:ann"]),
        (Reconnect("ann"), Objection.TOKEN_WRONG, ["ERROR:INVALID:RECONNECT:ann"]),
        (Ready(), Objection.WAITING, ["READY:ACK"]),
        (Ready(), Objection.NO_NAME | Objection.NOT_ENTERED, ["ERROR:INVALID"]),
        (Ready(), Objection.PLAYING, ["ERROR:INVALID:READY"]),
        (Disconnect(), Objection.NO_NAME, ["ERROR:INVALID:DISCONNECT"]),
        (Invalid("ERROR:INVALID:AUTH"), Objection.UNFIT, ["ERROR:INVALID:AUTH"]),
        (Ping(), Objection.UNFIT, []),
        ("hello", Objection.UNREADABLE, ["ERROR:UNKNOWN"]),
    ],
)
def test_refusal_is_told(asked: Connect | str, objections: Objection, messages: list[str]) -> None:
    answers = [*RpiTranslator(TABLE).observe(Refused(objections, 7), asked)]
    assert [each.text if isinstance(each, Error) else str(each) for each in answers] == messages


@pytest.mark.parametrize(("why", "code"), [(Why.STOPPED, 1001), (Why.FAULT, 1011), (Why.FORFEIT, 1000)])
def test_close_frame_says_why(why: Why, code: int) -> None:
    assert RpiTranslator(LOBBY).farewell(Dismissed(why)).code == code


@pytest.mark.parametrize(
    ("name", "written"),
    [("ann b", "ann b"), ("a:b,c|d\ne\x85", "a_b_c_d_e_"), ("", "_"), ("ACK", "ACK_"), ("\ud800x", "_x")],
)
def test_name_cannot_add_a_word_or_an_entry(name: str, written: str) -> None:
    assert in_alphabet(name) == written
