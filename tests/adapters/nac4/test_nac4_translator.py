"""What a nac4 client asks for, and the words for what it is told. Whole games are in the transcripts."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds.events import GAME, NAMES, Told, objections, played, refused
from worlds.events import told as messages_told

from adapters.nac4.codec import Nac4Codec
from adapters.nac4.messages import Connect, PlayMove
from adapters.nac4.translator import Nac4Translator
from gateway.game.board import FIRST, SECOND, Board, Side
from gateway.game.commands import AtTable, Enter, InLobby, Place, Play, Wish
from gateway.game.events import (
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

LOBBY = InLobby()
EMPTY = "." * 42
ANN = Connect("ann")


def told(translator: Nac4Translator, *events: Told) -> list[str]:
    """What a client reads of `events`, message by message, without CRLF."""
    codec = Nac4Codec()
    return [codec.encode(message).removesuffix("\r\n") for message in messages_told(translator, *events)]


def playing(side: Side, *, original: bool = False) -> Nac4Translator:
    """A translator whose client is in a game, on `side`."""
    translator = Nac4Translator(LOBBY, original=original)
    told(translator, Entered(NAMES[side]), Started(GAME, side, NAMES))
    return translator


@pytest.mark.parametrize("place", [LOBBY, InLobby(Wish("bob")), AtTable("green")])
def test_client_enters_where_its_url_said_and_plays_any_integer(place: Place) -> None:
    translator = Nac4Translator(place)
    assert translator.receive(ANN, 5) == Enter(place, "ann", 5)
    assert [translator.receive(PlayMove(move), 6) for move in (3, -1)] == [Play(3, 6), Play(-1, 6)]


@pytest.mark.parametrize(
    ("against", "asked", "info"),
    [
        (Objection.NOT_ENTERED | Objection.NAME_TAKEN, ANN, "ann already used"),
        (Objection.NAME_RESERVED, Connect("Aima"), "Aima already used"),
        (Objection.NAME_TAKEN | Objection.TABLE_FULL, ANN, "ann already used"),
        (Objection.BANNED, ANN, "ann is banned"),
        (Objection.TOKEN_WRONG, Connect("ann", "secret"), "ann needs its token"),
        (Objection.NOT_REGISTERED, ANN, "ann is not registered"),
        (Objection.TABLE_FULL, ANN, "table is full"),
        (Objection.NOT_AVAILABLE, ANN, "this player is not available now"),
        (Objection.TOO_LONG, ANN, "table and against have at most 256 characters"),
        (Objection.NOT_ENTERED, PlayMove(3), None),
        (Objection.NOT_ENTERED | Objection.UNREADABLE, "garbage", None),
        (Objection.UNREADABLE, "\r\nconnected hello eve", None),
    ],
)
def test_refusal_says_the_first_of_all_reasons_or_else_what_is_expected(
    against: Objection, asked: object, info: str | None
) -> None:
    expected = "expected connect and a name of 1 to 64 letters digits minus or underscore"
    assert told(Nac4Translator(LOBBY), refused(against, asked)) == [f"not-connected {info or expected}"]


@given(objections, st.sampled_from([ANN, PlayMove(3), "garbage"]))
def test_who_was_let_in_hears_of_no_refusal(against: Objection, asked: object) -> None:
    translator = Nac4Translator(LOBBY)
    assert told(translator, Entered("ann")) == ["connected hello ann"]
    assert told(translator, refused(against, asked)) == []


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("alice-_9", "alice-_9"),
        ("", "_"),
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


def test_request_shows_the_board_row_by_row_the_own_colour_and_the_rest() -> None:
    cells = "R.....YY.....RR" + "." * 27
    assert told(playing(SECOND), ToMove(GAME, 1, played("06600"), 9.0)) == [f"genmove {cells} Y PlayY 9.0"]
    assert told(playing(FIRST), ToMove(GAME, 1, Board(), 41.96)) == [f"genmove {EMPTY} R PlayR 42.0"]


def test_colour_is_that_of_the_latest_game() -> None:
    left = Ended(GAME, Board(), FIRST, Reason.LEFT)
    assert told(playing(FIRST), Started(GAME, SECOND, NAMES), left) == [
        "newgame ann bob",
        f"endgame {EMPTY} Y WinR Disconnected",
    ]


def test_moves_and_what_a_client_need_not_know_are_not_told() -> None:
    events = Moved(GAME, SECOND, 3, played("3")), Shown(GAME, Board()), Overlooked(GAME), Introduced("ann")
    assert told(playing(FIRST), *events, *map(Dismissed, Why)) == []


@pytest.mark.parametrize(
    ("winner", "reason", "words", "to_original"),
    [
        (FIRST, Reason.FOUR, "WinR Ok", "WinR Ok"),
        (SECOND, Reason.FOUR, "WinY Ok", "WinY Ok"),
        (None, Reason.FULL, "Tie Ok", "Tie Ok"),
        (FIRST, Reason.TIME, "WinR Timeout", "WinR Timeout"),
        (SECOND, Reason.LEFT, "WinY Disconnected", "WinY Ok"),
        (FIRST, Reason.ILLEGAL, "WinR Disconnected", "WinR Ok"),
        (None, Reason.ABORTED, "PlayY Disconnected", "PlayY Ok"),
        (None, Reason.STOPPED, "PlayY Disconnected", "PlayY Ok"),
    ],
)
def test_end_has_the_winner_and_the_reason_and_clients_of_the_original_know_fewer(
    winner: Side | None, reason: Reason, words: str, to_original: str
) -> None:
    ended, cells = Ended(GAME, played("3"), winner, reason), "...R" + "." * 38
    assert told(playing(SECOND), ended) == [f"endgame {cells} Y {words}"]
    assert told(playing(FIRST, original=True), ended) == [f"endgame {cells} R {to_original}"]


@pytest.mark.parametrize(
    ("code", "why", "against"),
    [
        (1001, Why.STOPPED, []),
        (1011, Why.FAULT, []),
        *((1008, Why.REFUSED, [each]) for each in (Objection.NAME_TAKEN, Objection.NAME_RESERVED)),
        *((1008, Why.REFUSED, [each]) for each in (Objection.TOKEN_WRONG, Objection.NOT_REGISTERED)),
        *((1008, Why.REFUSED, [each]) for each in (Objection.TABLE_FULL, Objection.TOO_LONG)),
        *((1002, Why.REFUSED, [each]) for each in (Objection.UNREADABLE, Objection.NOT_ENTERED)),
        (1002, Why.SILENT, []),
        (1000, Why.LEFT, []),
    ],
)
def test_close_code_says_why(code: int, why: Why, against: list[Objection]) -> None:
    assert Nac4Translator(LOBBY).farewell(Dismissed(why, *against)).code == code
