"""What a tutorial client asks for, and what it is told. Whole games are in the transcripts."""

import pytest
from worlds.events import GAME, NAMES, Told, moved, played, refused
from worlds.events import told as messages_told

from adapters.client.contract import Farewell
from adapters.tutorial.messages import (
    FULL,
    NO_RESULT,
    NOT_FOUND,
    NOT_YOUR_TURN,
    OVER,
    ClientMessage,
    Color,
    Error,
    Init,
    InitRequest,
    Play,
    PlayRequest,
    ServerMessage,
    Win,
)
from adapters.tutorial.translator import TutorialTranslator, guest, new_key, place_in, watch_key
from gateway.game.board import FIRST, SECOND, Side
from gateway.game.commands import AtTable, Command, Enter, InLobby, Place, Unfit, Wish
from gateway.game.commands import Play as PlayCommand
from gateway.game.events import (
    NOTHING,
    Dismissed,
    Ended,
    Entered,
    Objection,
    Reason,
    Resumed,
    Shown,
    Started,
    ToMove,
    Why,
)

RED, YELLOW = Color.RED, Color.YELLOW
KEY, NAME = "ownkey", "guest-0"
INIT, PLAY = InitRequest(), PlayRequest(3)
GREEN, LOBBY = AtTable("green"), InLobby()
DRAWN = played("146660203633536103043506522512202545444111")
OWN, JOINED = Entered(NAME, table=KEY), Entered(NAME, table="other")


def translator(place: Place | None = None) -> TutorialTranslator:
    return TutorialTranslator(NAME, KEY, place)


def told(*events: Told, place: Place | None = None) -> list[ServerMessage]:
    """Return what a client hears of the last event."""
    own = translator(place)
    messages_told(own, *events[:-1])
    return messages_told(own, events[-1])


def started(side: Side) -> Started:
    return Started(GAME, side, NAMES)


@pytest.mark.parametrize(
    ("message", "place", "command"),
    [
        (PlayRequest(None), None, PlayCommand(None, 5)),
        (PlayRequest(-1), None, PlayCommand(-1, 5)),
        (INIT, None, Enter(AtTable(KEY), NAME, 5)),
        (INIT, GREEN, Enter(GREEN, NAME, 5)),
        (INIT, LOBBY, Enter(LOBBY, NAME, 5)),
        (InitRequest(name="ann"), None, Enter(AtTable(KEY), "ann", 5)),
        (InitRequest(name="  "), None, Enter(AtTable(KEY), NAME, 5)),
        (InitRequest(" k "), None, Enter(AtTable("k", must_be_taken=True), NAME, 5)),
        (InitRequest("k"), GREEN, Enter(AtTable("k", must_be_taken=True), NAME, 5)),
        (InitRequest("lobby"), None, Enter(AtTable("lobby", must_be_taken=True), NAME, 5)),
        (InitRequest("  "), None, Unfit(5)),
        (InitRequest(None, "w"), None, Unfit(5)),
        (InitRequest("k", "w"), None, Unfit(5)),
    ],
)
def test_message_is_a_command(message: ClientMessage, place: Place | None, command: Command) -> None:
    assert translator(place).receive(message, 5) == command


@pytest.mark.parametrize(
    ("table", "against", "place"),
    [
        (None, None, None),
        ("green", None, GREEN),
        ("LOBBY", None, LOBBY),
        ("", None, LOBBY),
        (None, "bob", InLobby(Wish("bob"))),
        ("green", "bob", GREEN),
    ],
)
def test_url_asks_for_a_place(table: str | None, against: str | None, place: Place | None) -> None:
    assert place_in(table, against) == place


@pytest.mark.parametrize(
    ("place", "entered", "messages"),
    [
        (None, OWN, [Init(KEY, watch_key(KEY))]),
        (None, JOINED, []),
        (GREEN, Entered(NAME, table="green"), [Init("green", watch_key("green"))]),
        (LOBBY, Entered(NAME), [Init(None, None)]),
    ],
)
def test_who_has_entered_is_told_the_keys_unless_it_has_joined_by_one(
    place: Place | None, entered: Entered, messages: list[ServerMessage]
) -> None:
    assert told(entered, place=place) == messages


@pytest.mark.parametrize(
    ("place", "entered", "side", "messages"),
    [
        (None, OWN, FIRST, []),
        (None, JOINED, SECOND, []),
        (None, OWN, SECOND, [Init(KEY, watch_key(KEY), YELLOW)]),
        (None, JOINED, FIRST, [Init("other", watch_key("other"), RED)]),
        (GREEN, OWN, FIRST, [Init(KEY, watch_key(KEY), RED)]),
        (LOBBY, Entered(NAME), SECOND, [Init(None, GAME, YELLOW)]),
    ],
)
def test_who_cannot_know_its_colour_is_told_it_at_the_beginning(
    place: Place | None, entered: Entered, side: Side, messages: list[ServerMessage]
) -> None:
    assert told(entered, started(side), place=place) == messages


def test_who_comes_back_is_told_all_discs() -> None:
    board = played("33")
    discs = [Play(RED, 3, 0), Play(YELLOW, 3, 1)]
    back = Resumed(GAME, FIRST, NAMES, board, 9.0)
    assert told(OWN, back) == [Init(KEY, watch_key(KEY), RED, 2), *discs]


def test_disc_is_told_with_its_colour_and_row() -> None:
    assert told(OWN, started(FIRST), moved(played("330"))) == [Play(RED, 0, 0)]
    assert told(OWN, started(FIRST), moved(played("3331"))) == [Play(YELLOW, 1, 0)]
    assert told(OWN, started(FIRST), moved(played("3333"))) == [Play(YELLOW, 3, 3)]


@pytest.mark.parametrize("event", [ToMove(GAME, 1, played(""), None), Shown(GAME, played("3"))])
def test_nothing_is_told_of_other_events(event: Told) -> None:
    assert told(OWN, started(FIRST), event) == []


@pytest.mark.parametrize(
    ("ended", "messages"),
    [
        (Ended(GAME, played("0101010"), FIRST, Reason.FOUR, 0), [Play(RED, 0, 3), Win(RED)]),
        (Ended(GAME, DRAWN, None, Reason.FULL, 1), [Play(YELLOW, 1, 5)]),
        (Ended(GAME, played("01"), SECOND, Reason.TIME), [Win(YELLOW)]),
        (Ended(GAME, played("01"), FIRST, Reason.LEFT, None, SECOND), [Win(RED)]),
        (Ended(GAME, played("01"), FIRST, Reason.ILLEGAL), [Win(RED)]),
        (Ended(GAME, played("0"), None, Reason.ABORTED, None, FIRST), [Win(YELLOW)]),
        (Ended(GAME, played("01"), None, Reason.REPLAYED), [Error(NO_RESULT)]),
        (Ended(GAME, played("01"), None, Reason.LEFT, None, SECOND), [Error(NO_RESULT)]),
    ],
)
def test_end_of_a_game_is_told(ended: Ended, messages: list[ServerMessage]) -> None:
    assert told(OWN, started(FIRST), ended) == messages


@pytest.mark.parametrize(
    ("objections", "asked", "words"),
    [
        (Objection.NOT_ENTERED, PLAY, "Send init first."),
        (Objection.NOT_YOUR_TURN | Objection.COLUMN_FULL, PLAY, NOT_YOUR_TURN),
        (Objection.NOT_YOUR_TURN | Objection.OUTSIDE, PLAY, NOT_YOUR_TURN),
        (Objection.NOT_YOUR_TURN, None, NOT_YOUR_TURN),
        (Objection.COLUMN_FULL, PLAY, FULL),
        (Objection.OUTSIDE, PLAY, "Column has to be an integer from 0 to 6."),
        (Objection.WAITING | Objection.NOT_A_COLUMN, PLAY, "Column has to be an integer from 0 to 6."),
        (Objection.TABLE_EMPTY, INIT, NOT_FOUND),
        (Objection.UNFIT | Objection.NOT_ENTERED, InitRequest(None, "w"), NOT_FOUND),
        (Objection.WAITING, INIT, "You wait for an opponent."),
        (Objection.PLAYING, INIT, "You are in a game."),
        (Objection.TABLE_FULL, INIT, "This game has two players."),
        (Objection.NOT_AVAILABLE, INIT, "This player is not available now."),
        (Objection.TOO_LONG, INIT, "A name or a key is too long."),
        (Objection.BANNED | Objection.NOT_REGISTERED, INIT, "This player is banned."),
        (Objection.TOKEN_WRONG, INIT, "The token for this name is missing or wrong."),
        (Objection.UNREADABLE | Objection.PLAYING, "{", "Send a JSON object with the type init or play."),
    ],
)
def test_objection_has_its_words(
    objections: Objection, asked: ClientMessage | str | None, words: str
) -> None:
    assert messages_told(translator(), refused(objections, asked)) == [Error(words)]


@pytest.mark.parametrize(
    ("side", "ended", "error"),
    [
        (FIRST, Ended(GAME, DRAWN, None, Reason.FULL, 1), Error(FULL)),
        (SECOND, Ended(GAME, DRAWN, None, Reason.FULL, 1), Error(NOT_YOUR_TURN)),
        (FIRST, Ended(GAME, played("0101010"), FIRST, Reason.FOUR, 0), Error(OVER)),
        (SECOND, Ended(GAME, played("01"), SECOND, Reason.TIME), Error(OVER)),
    ],
)
def test_play_after_a_game_is_answered_by_its_end(side: Side, ended: Ended, error: Error) -> None:
    late = refused(Objection.NOT_ENTERED, PLAY)
    assert told(OWN, started(side), ended, late) == [error]
    assert told(OWN, started(side), ended, OWN, started(side), late) == [Error(OVER)]


@pytest.mark.parametrize(
    ("code", "why", "objections"),
    [
        (1001, Why.STOPPED, NOTHING),
        (1011, Why.FAULT, NOTHING),
        (1000, Why.REFUSED, Objection.TABLE_EMPTY),
        (1000, Why.REFUSED, Objection.UNFIT | Objection.NOT_ENTERED),
        *((1008, Why.REFUSED, each) for each in (Objection.TABLE_FULL, Objection.BANNED, Objection.TOO_LONG)),
        (1002, Why.REFUSED, Objection.NOT_ENTERED),
        (1002, Why.REFUSED, Objection.NOT_ENTERED | Objection.UNREADABLE),
        (1000, Why.LEFT, NOTHING),
    ],
)
def test_websocket_is_closed_with_a_code(code: int, why: Why, objections: Objection) -> None:
    farewell: Farewell = translator().farewell(Dismissed(why, objections))
    assert farewell.code == code


def test_names_and_keys_are_new_each_time_and_fit_all_dialects() -> None:
    for make in (guest, new_key):
        some = {make() for _ in range(100)}
        assert len(some) == 100
        assert all(each.isascii() and each.replace("-", "").replace("_", "").isalnum() for each in some)


def test_key_for_spectators_is_the_same_for_a_table_in_any_case_and_no_other_s() -> None:
    assert watch_key("Green") == watch_key("gREEN") != watch_key("green2")
    assert len({"Green", watch_key("Green"), watch_key(watch_key("Green"))}) == 3
