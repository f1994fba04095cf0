"""What the bots of seven moves hear and say, in each dialect."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.boards import arena_cells, nac4_board
from conformance.lab.bench.script import OutOfStep
from conformance.lab.crowd.dialects import Arena, Droidcon, Nac4, speech_of
from conformance.lab.crowd.speech import Heard, Speech, Wish

ANN = Wish("ann", table="green")


def served(text: str) -> bytes:
    """Return a text frame as a server sends it."""
    data = text.encode()
    head = bytes([0x81, len(data)]) if len(data) < 126 else b"\x81\x7e" + len(data).to_bytes(2, "big")
    return head + data


def heard(speech: Speech, *data: bytes) -> list[Heard]:
    return [news for piece in data for news in speech.hear(piece)]


def state(columns: str, you: int, turn: int, **more: object) -> bytes:
    words = {"type": "state", "you": you, "turn": turn, "moves": [int(digit) for digit in columns]}
    return served(json.dumps({**words, "state": json.loads(arena_cells(columns)), **more}))


# Droidcon.


def test_droidcon_bot_gives_its_name_and_joins() -> None:
    assert Droidcon(ANN).opening() == b"NAME ann\nJOIN green\n"
    assert Droidcon(Wish("ann", against="bob")).opening() == b"NAME ann\nJOIN @bob\n"
    assert Droidcon(Wish("ann")).opening() == b"NAME ann\nJOIN lobby\n"
    assert Droidcon(ANN).resource is None
    assert heard(Droidcon(ANN), b"SUCCESS\nSUCCESS\n") == [Heard.ENTERED]


def test_droidcon_bot_that_opens_fills_column_0() -> None:
    bot = Droidcon(ANN)
    assert heard(bot, b"NEW_GAME\nYOUR_MOVE\n") == [Heard.BEGUN, Heard.ASKED]
    assert bot.move() == b"PUT 0\n"
    assert heard(bot, *[b"PUT 1\nYOUR_MOVE\n"] * 3) == [Heard.ASKED] * 3
    assert bot.move() == b"PUT 0\n"
    assert heard(bot, b"YOU_WON\nNEW_GAME\n") == [Heard.WON, Heard.BEGUN]


def test_droidcon_bot_that_comes_second_fills_column_1_and_loses_on_the_board() -> None:
    bot = Droidcon(ANN)
    assert heard(bot, b"NEW_GAME\n", *[b"PUT 0\nYOUR_MOVE\n"] * 3) == [Heard.BEGUN] + [Heard.ASKED] * 3
    assert bot.move() == b"PUT 1\n"
    assert heard(bot, b"PUT 0\nYOU_LOST\n") == [Heard.LOST]


@pytest.mark.parametrize("before", [b"YOUR_MOVE\n", b"PUT 0\nYOUR_MOVE\n", b"PUT 0\nYOUR_MOVE\n" * 3])
def test_droidcon_bot_that_loses_before_the_last_disc_is_late(before: bytes) -> None:
    assert heard(Droidcon(ANN), b"NEW_GAME\n" + before + b"YOU_LOST\n")[-1] is Heard.LATE


def test_second_game_of_a_droidcon_bot_is_counted_from_its_beginning() -> None:
    bot = Droidcon(ANN)
    first = b"NEW_GAME\n" + b"PUT 0\nYOUR_MOVE\n" * 3 + b"PUT 0\nYOU_LOST\n"
    assert heard(bot, first)[-1] is Heard.LOST
    assert heard(bot, b"NEW_GAME\nYOUR_MOVE\nPUT 1\nYOUR_MOVE\nYOU_LOST\n")[-1] is Heard.LATE


# nac4.


def test_nac4_bot_asks_for_its_place_in_the_path() -> None:
    assert Nac4(ANN).resource == "/?table=green"
    assert Nac4(Wish("ann", against="bob")).resource == "/?against=bob"
    assert Nac4(Wish("ann")).resource == "/"
    assert Nac4(ANN).opening().endswith(b"connect ann\r\n")


@pytest.mark.parametrize(("color", "move"), [("R", b"playmove 0\r\n"), ("Y", b"playmove 1\r\n")])
def test_nac4_bot_moves_by_its_colour(color: str, move: bytes) -> None:
    bot = Nac4(ANN)
    request = served(f"genmove {nac4_board('0101')} {color} Play{color} 41.9\r\n")
    assert heard(bot, served("connected hello ann\r\n"), request) == [Heard.ENTERED, Heard.ASKED]
    assert bot.move().endswith(move)


@pytest.mark.parametrize(
    ("status", "battle", "news"),
    [
        ("WinR", "Ok", Heard.WON),
        ("WinR", "Timeout", Heard.WON),
        ("WinR", "Disconnected", Heard.WON),
        ("WinY", "Ok", Heard.LOST),
        ("WinY", "Timeout", Heard.LATE),
    ],
)
def test_nac4_bot_is_late_where_the_server_says_timeout_of_its_loss(
    status: str, battle: str, news: Heard
) -> None:
    words = f"endgame {nac4_board('0101')} R {status} {battle}\r\n"
    assert heard(Nac4(ANN), served("newgame ann bob\r\n"), served(words)) == [Heard.BEGUN, news]


# arena.


def test_arena_bot_names_itself_and_whom_it_wants() -> None:
    assert json.loads(Arena(Wish("ann", against="bob")).opening()[6:]) == {
        "type": "start",
        "id": "ann",
        "against": "bob",
    }
    assert Arena(ANN).resource == "/?table=green"


@pytest.mark.parametrize("you", [1, 2])
def test_arena_bot_moves_when_it_is_its_turn(you: int) -> None:
    bot = Arena(ANN)
    assert heard(bot, state("", you, 1))[0] is Heard.BEGUN
    news = heard(bot, state("0", you, 2, **{"last-move": 0}), state("01", you, 1, **{"last-move": 1}))
    assert news == [Heard.ASKED]
    assert json.loads(bot.move()[6:]) == {"type": "move", "move": you - 1}


def test_arena_bot_is_late_where_no_column_made_it_lose() -> None:
    won = state("0101010", 1, 0, winner=1, **{"last-move": 0})
    assert heard(Arena(ANN), won, served('{"type":"end"}')) == [Heard.WON, Heard.FREE]
    assert heard(Arena(ANN), state("0101010", 2, 0, winner=1, **{"last-move": 0})) == [Heard.LOST]
    assert heard(Arena(ANN), state("01", 1, 0, winner=2)) == [Heard.LATE]
    assert heard(Arena(ANN), state("01", 2, 0, winner=2)) == [Heard.WON]
    assert heard(Arena(ANN), served('{"type":"disconnected"}')) == [Heard.WON, Heard.FREE]


# All.

GAMES = {
    "droidcon": b"SUCCESS\nSUCCESS\nNEW_GAME\nPUT 0\nYOUR_MOVE\nYOU_LOST\n",
    "nac4": served("connected hello ann\r\n")
    + served("newgame ann bob\r\n")
    + served(f"genmove {nac4_board('')} R PlayR 1.5\r\n")
    + served(f"endgame {nac4_board('')} R WinY Timeout\r\n"),
    "arena": state("", 1, 1) + state("", 1, 0, winner=2) + served('{"type":"end"}'),
}


@given(kind=st.sampled_from(sorted(GAMES)), at=st.integers(0, 400))
def test_bytes_may_be_cut_anywhere(kind: str, at: int) -> None:
    data = GAMES[kind]
    whole, cut = speech_of(kind, ANN), speech_of(kind, ANN)
    assert heard(cut, data[:at], data[at:]) == heard(whole, data)


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("droidcon", b"Error NOT_YOUR_TURN\n"),
        ("nac4", served("not-connected ann already used\r\n")),
        ("arena", served('{"type":"ignored","reason":"Not your turn"}')),
    ],
)
def test_what_does_not_belong_is_not_heard_in_silence(kind: str, data: bytes) -> None:
    with pytest.raises(OutOfStep, match="does not belong"):
        heard(speech_of(kind, ANN), data)


@pytest.mark.parametrize("kind", ["nac4", "arena"])
def test_ping_is_to_be_answered(kind: str) -> None:
    speech = speech_of(kind, ANN)
    assert heard(speech, b"\x89\x01x") == []
    assert speech.answer == b"\x8a\x81\0\0\0\0x"
