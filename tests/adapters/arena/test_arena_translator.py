"""What an arena client asks for, and the words for what it is told. Whole games are in the transcripts."""

import pytest
from worlds.events import GAME, NAMES, Told, played, refused, told

from adapters.arena.messages import (
    ClientMessage,
    Disconnected,
    Encoding,
    End,
    Ignored,
    Move,
    Other,
    Said,
    ServerMessage,
    Start,
    State,
    StateRequest,
)
from adapters.arena.translator import ArenaTranslator
from adapters.client.contract import Farewell
from gateway.game.board import CELLS, FIRST, SECOND, Board, Side
from gateway.game.commands import (
    HOUSE_PLAYERS,
    Ask,
    AtTable,
    Command,
    Enter,
    InLobby,
    Place,
    Play,
    Unfit,
    Wish,
)
from gateway.game.events import (
    Dismissed,
    Ended,
    Entered,
    Moved,
    Objection,
    Overlooked,
    Reason,
    Shown,
    Started,
    ToMove,
    Why,
)

ONLY_START = "Only start messages allowed in current state"
NO_ID = "You need to include an id"
NO_AGAINST = "against has to be an id or null"
WAITS = "Waiting for match"
UNKNOWN = "Unknown message type"

SAID = Said('{"some": "map"}', Encoding.JSON)
START, MOVE, STATE_REQUEST, OTHER = Start(SAID, "ann"), Move(SAID, 3), StateRequest(SAID), Other(SAID)
NOT_ENTERED, WAITING, PLAYING = Objection.NOT_ENTERED, Objection.WAITING, Objection.PLAYING
NOT_YOUR_TURN, NOT_A_COLUMN = Objection.NOT_YOUR_TURN, Objection.NOT_A_COLUMN


def started(you: Side) -> ArenaTranslator:
    translator = ArenaTranslator()
    told(translator, Entered("ann"), Started(GAME, you, NAMES))
    return translator


def reason_for(message: object, objections: Objection) -> str:
    [ignored] = told(ArenaTranslator(), refused(objections, message))
    assert isinstance(ignored, Ignored)
    assert ignored.said == (message if isinstance(message, str) else SAID)
    return ignored.reason


# What a client asks for.


@pytest.mark.parametrize(
    ("message", "command"),
    [
        (Start(SAID, " Ann\n\u2603 "), Enter(InLobby(), " Ann\n\u2603 ", 5)),
        (STATE_REQUEST, Ask(5)),
        (OTHER, Unfit(5)),
        *((Move(SAID, move), Play(move, 5)) for move in (0, 7, -1, 10**30)),
        *((Move(SAID, move), Play(None, 5)) for move in (None, "3", 3.0, True, False, [3], {})),
    ],
)
def test_message_asks_for_something(message: ClientMessage, command: Command) -> None:
    assert ArenaTranslator().receive(message, 5) == command


@pytest.mark.parametrize(
    ("table", "against", "start", "place"),
    [
        (None, None, START, InLobby()),
        (None, None, Start(SAID, "ann", "Bob"), InLobby(Wish("Bob"))),
        (None, None, Start(SAID, "ann", ""), InLobby(Wish(""))),
        (None, "bob", START, InLobby(Wish("bob"))),
        (None, "bob", Start(SAID, "ann", "eve"), InLobby(Wish("eve"))),
        ("blue", None, START, AtTable("blue")),
        ("blue", None, Start(SAID, "ann", table="red"), AtTable("red")),
        *(("blue", None, Start(SAID, "ann", table=blank), AtTable("blue")) for blank in ("", " \t")),
        (None, None, Start(SAID, "ann", table=" \t"), InLobby()),
        # A table goes before a wish, wherever the two are named.
        ("blue", "bob", START, AtTable("blue")),
        ("blue", None, Start(SAID, "ann", "bob"), AtTable("blue")),
        (None, "bob", Start(SAID, "ann", None, "blue"), AtTable("blue")),
        (None, None, Start(SAID, "ann", "bob", "LOBBY"), InLobby()),
    ],
)
def test_start_enters_where_it_says_or_else_where_the_url_said(
    table: str | None, against: str | None, start: Start, place: Place
) -> None:
    assert ArenaTranslator(table, against).receive(start, 5) == Enter(place, "ann", 5)


NO_STRINGS: list[object] = [5, False, ["x"], {}]


@pytest.mark.parametrize(
    ("start", "reason"),
    [
        *((Start(SAID, id, 5, 5), NO_ID) for id in (None, "", "  \t", *NO_STRINGS, 1.5)),
        (Start(SAID, "a" * 257), "id has to be at most 256 characters"),
        *(
            (Start(SAID, name, 5, 5), f'"{name}" is a reserved id used for a reference player')
            for name in (*sorted(HOUSE_PLAYERS), "Random", " aima ", "ai\0ma")
        ),
        *((Start(SAID, "ann", against, 5), NO_AGAINST) for against in NO_STRINGS),
        *((Start(SAID, "ann", None, table), "table has to be a string") for table in NO_STRINGS),
    ],
)
def test_bad_start_is_told_its_first_fault_unless_there_is_a_wait_or_a_game(
    start: Start, reason: str
) -> None:
    assert ArenaTranslator().receive(start, 5) == Unfit(5)
    assert reason_for(start, NOT_ENTERED | Objection.UNFIT) == reason
    assert reason_for(start, WAITING | Objection.UNFIT) == WAITS
    assert reason_for(start, PLAYING | Objection.UNFIT) == UNKNOWN


# What is ignored, and why.


@pytest.mark.parametrize(
    ("message", "objections", "reason"),
    [
        *(
            ("{broken", standing | Objection.UNREADABLE, "Malformed message")
            for standing in (NOT_ENTERED, PLAYING)
        ),
        *((message, NOT_ENTERED, ONLY_START) for message in (MOVE, STATE_REQUEST, OTHER)),
        (MOVE, NOT_ENTERED | NOT_A_COLUMN, ONLY_START),
        *((message, WAITING, WAITS) for message in (MOVE, STATE_REQUEST, OTHER, START)),
        (MOVE, WAITING | NOT_A_COLUMN, WAITS),
        (START, WAITING | Objection.TABLE_FULL, WAITS),
        (START, WAITING | Objection.TOKEN_WRONG, WAITS),
        *((message, PLAYING, UNKNOWN) for message in (START, OTHER)),
        (START, PLAYING | Objection.TABLE_FULL, UNKNOWN),
        (START, Objection.TABLE_FULL, "Table is full"),
        (START, Objection.NOT_AVAILABLE, "This player is not available now"),
        (START, Objection.TOKEN_WRONG, "The token for this id is missing or wrong"),
        (START, Objection.NOT_REGISTERED, "Only registered ids are let in"),
        (START, Objection.BANNED, "This player is banned"),
        (START, Objection.TOO_LONG, "table and against have to be at most 256 characters"),
        (MOVE, NOT_YOUR_TURN | NOT_A_COLUMN, "Not your turn"),
        (MOVE, NOT_YOUR_TURN | Objection.COLUMN_FULL, "Not your turn"),
        *((MOVE, each, "Invalid move") for each in (NOT_A_COLUMN, Objection.OUTSIDE, Objection.COLUMN_FULL)),
    ],
)
def test_ignored_says_the_first_of_all_reasons_and_what_was_said(
    message: ClientMessage | str, objections: Objection, reason: str
) -> None:
    assert reason_for(message, objections) == reason


REPEATED = refused(NOT_ENTERED, STATE_REQUEST)


@pytest.mark.parametrize(
    "between",
    [
        refused(NOT_ENTERED, MOVE),
        refused(NOT_ENTERED | Objection.UNREADABLE, "{broken"),
        Entered("ann"),
        Started(GAME, FIRST, NAMES),
        Shown(GAME, Board()),
        Ended(GAME, Board(), SECOND, Reason.LEFT),
    ],
)
def test_state_request_outside_a_game_is_answered_once_until_anything_else_happens(between: Told) -> None:
    translator = ArenaTranslator()
    for _ in range(2):
        assert len(told(translator, REPEATED)) == 1
        assert told(translator, REPEATED, refused(NOT_ENTERED, StateRequest(Said("{}")))) == []
        told(translator, between)
    assert len(told(translator, REPEATED, refused(NOT_ENTERED, MOVE))) == 2  # which is nothing repeated


# What a game looks like.


@pytest.mark.parametrize("you", [FIRST, SECOND])
def test_each_change_of_a_game_is_a_state(you: Side) -> None:
    """Cells go column by column from the bottom up."""
    translator = ArenaTranslator()
    events = Entered("ann"), Started(GAME, you, NAMES), ToMove(GAME, 1, Board(), None), Overlooked(GAME)
    assert told(translator, *events) == [State(1, you + 1, bytes(CELLS), ())]
    first, second, shown = played("3"), played("36"), played("00166")
    assert told(translator, Moved(GAME, FIRST, 3, first), Moved(GAME, SECOND, 6, second)) == [
        State(2, you + 1, bytes(18) + b"\1" + bytes(23), (3,), 3),
        State(1, you + 1, bytes(18) + b"\1" + bytes(17) + b"\2" + bytes(5), (3, 6), 6),
    ]
    cells = b"\1\2\0\0\0\0\1" + bytes(29) + b"\2\1" + bytes(4)
    assert (
        told(translator, Shown(GAME, shown), Shown(GAME, shown))
        == [State(2, you + 1, cells, (0, 0, 1, 6, 6))] * 2
    )


@pytest.mark.parametrize(
    ("winner", "reason", "column", "leaver", "number"),
    [
        (FIRST, Reason.FOUR, 0, None, 1),
        (SECOND, Reason.FOUR, 0, None, 2),
        (SECOND, Reason.TIME, None, None, 2),
        (FIRST, Reason.ILLEGAL, None, None, 1),
        (None, Reason.FULL, 2, None, 0),
        (FIRST, Reason.LEFT, None, SECOND, None),
        (SECOND, Reason.LEFT, None, FIRST, None),
        (None, Reason.ABORTED, None, SECOND, None),
        (None, Reason.STOPPED, None, None, None),
    ],
)
def test_result_is_a_state_with_a_winner_and_an_end_and_without_one_the_other_is_disconnected(
    winner: Side | None, reason: Reason, column: int | None, leaver: Side | None, number: int | None
) -> None:
    board = played("01")
    last = State(0, 1, b"\1" + bytes(5) + b"\2" + bytes(35), (0, 1), column, number)
    expected: list[ServerMessage] = [Disconnected()] if number is None else [last, End()]
    translator = started(FIRST)
    assert told(translator, Ended(GAME, board, winner, reason, column, leaver)) == expected
    assert told(translator, Started(GAME, SECOND, NAMES)) == [State(1, 2, bytes(CELLS), ())]


@pytest.mark.parametrize("why", list(Why))
def test_close_code_says_why_the_server_hangs_up(why: Why) -> None:
    words = {
        Why.STOPPED: Farewell(1001, "server stops"),
        Why.FAULT: Farewell(1011, "internal error"),
        Why.SILENT: Farewell(1002, "start expected"),
    }
    assert ArenaTranslator().farewell(Dismissed(why)) == words.get(why, Farewell(1000))
    assert told(ArenaTranslator(), Dismissed(why)) == []
