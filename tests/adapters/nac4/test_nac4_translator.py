import re
from functools import reduce
from operator import or_

import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import Told, observed, refused

from adapters.nac4.codec import Nac4ClientCodec, Nac4Codec
from adapters.nac4.messages import Connect, NewGame, PlayMove
from adapters.nac4.translator import Nac4Translator
from gateway.game.board import FIRST, SECOND, Board, Side
from gateway.game.commands import AtTable, Enter, InLobby, Place, Play, Wish
from gateway.game.events import (
    NOTHING,
    Dismissed,
    Ended,
    Entered,
    Introduced,
    Moved,
    Objection,
    Overlooked,
    Reason,
    Shown,
    Started,
    ToMove,
    Why,
)
from gateway.game.manners import Afterwards, Illegal, Manners
from gateway.game.results import WITHOUT_RESULT

GAME = "00007-00000a"

LOBBY = InLobby()
EMPTY = "." * 42
NAMES = ("alice", "bob")
ALICE = Connect("alice")
EXPECTED = "not-connected expected connect and a name of 1 to 64 letters digits minus or underscore"


def board_after(columns: str) -> Board:
    return reduce(lambda board, digit: board.drop(int(digit)), columns, Board())


def told(translator: Nac4Translator, *events: Told) -> list[str]:
    """What a client reads of `events`, message by message, without CRLF."""
    codec = Nac4Codec()
    texts = [codec.encode(message) for event in events for message in observed(translator, event)]
    return [text.removesuffix("\r\n") for text in texts]


def playing(side: Side, *, original: bool = False) -> Nac4Translator:
    """A translator whose client is in a game, on `side`."""
    translator = Nac4Translator(LOBBY, original=original)
    told(translator, Entered(NAMES[side]), Started(GAME, side, NAMES))
    return translator


@st.composite
def boards(draw: st.DrawFn) -> Board:
    board = Board()
    for column in draw(st.lists(st.integers(0, 6), max_size=42)):
        if not board.over and board.has_room(column):
            board = board.drop(column)
    return board


sides: st.SearchStrategy[Side] = st.sampled_from((FIRST, SECOND))
objections = st.lists(st.sampled_from(list(Objection))).map(lambda found: reduce(or_, found, NOTHING))
client_messages = st.builds(Connect, st.text()) | st.builds(PlayMove, st.integers())
columns = st.integers(0, 6)
events: st.SearchStrategy[Told] = st.one_of(
    st.builds(Introduced, st.text()),
    st.builds(Entered, st.text()),
    st.builds(Started, st.just(GAME), sides, st.tuples(st.text(), st.text())),
    st.builds(ToMove, st.just(GAME), st.integers(1), boards(), st.none() | st.floats(0, 1e6)),
    st.builds(Moved, st.just(GAME), sides, columns, boards()),
    st.builds(Shown, st.just(GAME), boards()),
    st.builds(refused, objections, client_messages | st.text() | st.none()),
    st.builds(
        Ended, st.just(GAME), boards(), st.none() | sides, st.sampled_from(list(Reason)), st.none() | columns
    ),
    st.builds(Dismissed, st.sampled_from(list(Why)), objections),
)


def test_manners_are_those_of_the_dialect() -> None:
    assert Nac4Translator(LOBBY).manners == Manners(
        kind="nac4",
        illegal=Illegal.PENALTY,
        afterwards=Afterwards.STAND_BY,
        hears_itself=False,
        clocked=True,
        unique_name=True,
        strict_entry=True,
        entry_limit=60.0,
    )


@pytest.mark.parametrize("place", [LOBBY, InLobby(Wish("bob")), AtTable("green")])
def test_connect_asks_to_enter_where_the_url_said(place: Place) -> None:
    assert Nac4Translator(place).receive(ALICE, 5) == Enter(place, "alice", 5)


@given(st.integers())
def test_playmove_asks_to_play_whatever_the_integer(move: int) -> None:
    assert Nac4Translator(LOBBY).receive(PlayMove(move), 5) == Play(move, 5)


def test_who_is_let_in_is_greeted_by_name() -> None:
    assert told(Nac4Translator(LOBBY), Entered("alice")) == ["connected hello alice"]


def test_name_in_use_is_said_to_be() -> None:
    no = refused(Objection.NOT_ENTERED | Objection.NAME_TAKEN, ALICE)
    assert told(Nac4Translator(LOBBY), no) == ["not-connected alice already used"]


def test_full_table_is_said_to_be() -> None:
    assert told(Nac4Translator(AtTable("x")), refused(Objection.TABLE_FULL, ALICE)) == [
        "not-connected table is full"
    ]


def test_name_in_use_is_said_before_full_table() -> None:
    no = refused(Objection.NAME_TAKEN | Objection.TABLE_FULL, ALICE)
    assert told(Nac4Translator(LOBBY), no) == ["not-connected alice already used"]


@pytest.mark.parametrize(
    "no",
    [
        refused(Objection.NOT_ENTERED, PlayMove(3)),
        refused(Objection.NOT_ENTERED | Objection.UNREADABLE, "garbage"),
        refused(Objection.UNREADABLE, "\r\nconnected hello eve"),
    ],
)
def test_any_other_first_message_is_told_what_was_expected(no: Told) -> None:
    assert told(Nac4Translator(LOBBY), no) == [EXPECTED]


def test_name_of_a_house_player_is_in_use() -> None:
    no = refused(Objection.NAME_RESERVED, Connect("Aima"))
    assert told(Nac4Translator(LOBBY), no) == ["not-connected Aima already used"]


def test_protected_name_is_told_that_it_needs_its_token() -> None:
    no = refused(Objection.TOKEN_WRONG, Connect("Ann", "secret"))
    assert told(Nac4Translator(LOBBY), no) == ["not-connected Ann needs its token"]


def test_banned_name_is_told_so() -> None:
    no = refused(Objection.BANNED, Connect("eve"))
    assert told(Nac4Translator(LOBBY), no) == ["not-connected eve is banned"]


def test_name_that_is_not_registered_is_told_so() -> None:
    no = refused(Objection.NOT_REGISTERED, Connect("eve"))
    assert told(Nac4Translator(LOBBY), no) == ["not-connected eve is not registered"]


def test_place_that_is_too_long_is_told_the_limit() -> None:
    words = "not-connected table and against have at most 256 characters"
    assert told(Nac4Translator(LOBBY), refused(Objection.TOO_LONG, ALICE)) == [words]


@given(st.lists(st.builds(refused, objections, client_messages | st.text())))
def test_who_was_let_in_hears_of_no_refusal(refusals: list[Told]) -> None:
    assert told(playing(FIRST), *refusals) == []


def test_start_names_red_then_yellow() -> None:
    translator = Nac4Translator(LOBBY)
    assert told(translator, Started(GAME, FIRST, NAMES)) == ["newgame alice bob"]
    assert told(translator, Started(GAME, SECOND, NAMES)) == ["newgame alice bob"]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("alice-_9", "alice-_9"),
        ("", "_"),
        (" ", "_"),
        ("bob the\tbuilder", "bob_the_builder"),
        ("x\r\nendgame", "x__endgame"),
        ("\u00e9\u0661\ud800", "___"),
        ("n" * 65, "n" * 64),
    ],
)
def test_foreign_name_is_shown_in_the_alphabet(name: str, shown: str) -> None:
    assert told(Nac4Translator(LOBBY), Started(GAME, FIRST, (name, "bob"))) == [f"newgame {shown} bob"]
    assert told(Nac4Translator(LOBBY), Started(GAME, SECOND, ("bob", name))) == [f"newgame bob {shown}"]


@given(st.text(), st.text())
def test_no_name_leaves_the_alphabet_or_makes_a_word_more(red: str, yellow: str) -> None:
    (text,) = told(Nac4Translator(LOBBY), Started(GAME, FIRST, (red, yellow)))
    assert re.fullmatch(r"newgame [A-Za-z0-9_-]{1,64} [A-Za-z0-9_-]{1,64}", text)


def test_request_shows_board_own_colour_and_rest() -> None:
    red = "R......Y" + "." * 34
    assert told(playing(FIRST), ToMove(GAME, 1, board_after("00"), 41.96)) == [f"genmove {red} R PlayR 42.0"]
    yellow = "R" + "." * 41
    assert told(playing(SECOND), ToMove(GAME, 1, board_after("0"), 9.0)) == [f"genmove {yellow} Y PlayY 9.0"]


def test_board_has_row_0_first_and_column_0_first_in_each_row() -> None:
    board = board_after("0660" + "0")
    cells = list(EMPTY)
    cells[0], cells[6], cells[13], cells[7], cells[14] = "RYRYR"
    assert told(playing(SECOND), ToMove(GAME, 1, board, 1.0)) == [f"genmove {''.join(cells)} Y PlayY 1.0"]


def test_colour_is_that_of_the_latest_game() -> None:
    translator = playing(FIRST)
    told(translator, Started(GAME, SECOND, NAMES))
    assert told(translator, Ended(GAME, Board(), FIRST, Reason.LEFT)) == [
        f"endgame {EMPTY} Y WinR Disconnected"
    ]


def test_moves_are_not_told_on_their_own() -> None:
    moved = Moved(GAME, SECOND, 3, board_after("3"))
    assert told(playing(FIRST), moved, Shown(GAME, Board()), Overlooked(GAME), Introduced("alice")) == []


def test_four_in_a_row_is_ok_for_both_colours() -> None:
    board = board_after("0011223")
    cells = "RRRR...YYY" + "." * 32
    ended = Ended(GAME, board, FIRST, Reason.FOUR, 3)
    assert told(playing(FIRST), ended) == [f"endgame {cells} R WinR Ok"]
    assert told(playing(SECOND), ended) == [f"endgame {cells} Y WinR Ok"]


@pytest.mark.parametrize(
    ("winner", "reason", "words"),
    [
        (FIRST, Reason.FOUR, "WinR Ok"),
        (SECOND, Reason.FOUR, "WinY Ok"),
        (None, Reason.FULL, "Tie Ok"),
        (FIRST, Reason.TIME, "WinR Timeout"),
        (SECOND, Reason.TIME, "WinY Timeout"),
        (SECOND, Reason.LEFT, "WinY Disconnected"),
        (FIRST, Reason.ILLEGAL, "WinR Disconnected"),
    ],
)
def test_ending_is_worded_by_winner_and_reason(winner: Side | None, reason: Reason, words: str) -> None:
    assert told(playing(SECOND), Ended(GAME, Board(), winner, reason)) == [f"endgame {EMPTY} Y {words}"]


@pytest.mark.parametrize("leaver", [FIRST, SECOND, None])
@pytest.mark.parametrize("reason", WITHOUT_RESULT)
@pytest.mark.parametrize("columns", [(), (3,)])
def test_game_without_a_result_is_told_as_won_by_nobody(
    leaver: Side | None, reason: Reason, columns: tuple[int, ...]
) -> None:
    board = Board()
    for column in columns:
        board = board.drop(column)
    [text] = told(playing(SECOND), Ended(GAME, board, None, reason, leaver=leaver))
    assert text.split()[2:] == ["Y", ("PlayR", "PlayY")[len(columns)], "Disconnected"]


@pytest.mark.parametrize(
    ("reason", "word"),
    [(Reason.LEFT, "Ok"), (Reason.ILLEGAL, "Ok"), (Reason.TIME, "Timeout"), (Reason.FOUR, "Ok")],
)
def test_client_of_the_originals_making_is_never_told_disconnected(reason: Reason, word: str) -> None:
    translator = playing(FIRST, original=True)
    assert told(translator, Ended(GAME, Board(), FIRST, reason)) == [f"endgame {EMPTY} R WinR {word}"]


@pytest.mark.parametrize("why", list(Why))
def test_hanging_up_is_told_by_no_message(why: Why) -> None:
    assert told(playing(FIRST), Dismissed(why)) == []


@pytest.mark.parametrize(
    ("dismissed", "code"),
    [
        (Dismissed(Why.STOPPED), 1001),
        (Dismissed(Why.FAULT), 1011),
        (Dismissed(Why.REFUSED, Objection.NAME_TAKEN), 1008),
        (Dismissed(Why.REFUSED, Objection.TABLE_FULL), 1008),
        (Dismissed(Why.REFUSED, Objection.NAME_RESERVED), 1008),
        (Dismissed(Why.REFUSED, Objection.TOKEN_WRONG), 1008),
        (Dismissed(Why.REFUSED, Objection.NOT_REGISTERED), 1008),
        (Dismissed(Why.REFUSED, Objection.TOO_LONG), 1008),
        (Dismissed(Why.REFUSED, Objection.UNREADABLE), 1002),
        (Dismissed(Why.REFUSED, Objection.NOT_ENTERED), 1002),
        (Dismissed(Why.SILENT), 1002),
        (Dismissed(Why.LEFT), 1000),
    ],
)
def test_close_code_says_why(dismissed: Dismissed, code: int) -> None:
    assert Nac4Translator(LOBBY).farewell(dismissed).code == code


@given(objections, st.sampled_from(list(Why)))
def test_close_reason_fits_into_a_close_frame(found: Objection, why: Why) -> None:
    assert len(Nac4Translator(LOBBY).farewell(Dismissed(why, found)).reason.encode()) <= 123


@given(st.lists(events), st.booleans())
def test_events_in_any_order_are_told_so_that_a_client_can_read_them(
    found: list[Told], original: bool
) -> None:
    translator = Nac4Translator(LOBBY, original=original)
    client = Nac4ClientCodec()
    for event in found:
        for text in told(translator, event):
            message = client.decode(text)
            if isinstance(message, NewGame):
                assert text.count(" ") == 2
