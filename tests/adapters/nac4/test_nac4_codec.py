from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.client.contract import WireError
from adapters.client.name_check import without_tokens
from adapters.nac4.codec import (
    BEFORE_TOKEN,
    USER_LIMIT,
    Nac4ClientCodec,
    Nac4Codec,
    TokenCodec,
    _client_message,
)
from adapters.nac4.messages import (
    ClientMessage,
    Connect,
    Connected,
    EndGame,
    GenMove,
    NewGame,
    NotConnected,
    PlayMove,
    ServerMessage,
)

EMPTY = "." * 42
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

users = st.text(ALPHABET, min_size=1, max_size=USER_LIMIT)
infos = st.lists(users, max_size=4).map(" ".join)
boards = st.text(".RY", min_size=42, max_size=42)
colors = st.sampled_from("RY")
client_messages: st.SearchStrategy[ClientMessage] = st.one_of(
    st.builds(Connect, users), st.builds(PlayMove, st.integers(-99, 99))
)
requests = st.builds(
    lambda board, color, tenths: GenMove(board, color, f"Play{color}", tenths / 10),
    boards,
    colors,
    st.integers(0, 10_000_000),
)
endings = st.builds(
    EndGame,
    boards,
    colors,
    st.sampled_from(["WinR", "WinY", "Tie"]),
    st.sampled_from(["Ok", "Timeout", "Disconnected"]),
)
server_messages: st.SearchStrategy[ServerMessage] = st.one_of(
    requests,
    endings,
    st.builds(NewGame, users, users),
    st.builds(Connected, infos),
    st.builds(NotConnected, infos),
)
blanks = st.text(" \t\r\n\u00a0", min_size=1, max_size=4)


def spaced(text: str, gaps: list[str]) -> str:
    """`text` with other blanks around its words."""
    words = text.split()
    return "".join(gap + word for gap, word in zip(gaps, words, strict=False)) + gaps[-1]


@given(client_messages)
def test_client_message_is_read_as_it_was_meant(message: ClientMessage) -> None:
    assert Nac4Codec().decode(Nac4ClientCodec().encode(message)) == message


@given(server_messages)
def test_server_message_is_read_as_it_was_meant(message: ServerMessage) -> None:
    assert Nac4ClientCodec().decode(Nac4Codec().encode(message)) == message


@given(server_messages)
def test_server_message_is_one_line_with_single_blanks_and_crlf(message: ServerMessage) -> None:
    text = Nac4Codec().encode(message)
    assert text.endswith("\r\n")
    assert text[:-2].rstrip(" ") == " ".join(text.split())


@given(client_messages, st.lists(blanks, min_size=3, max_size=3))
def test_blanks_around_words_change_nothing(message: ClientMessage, gaps: list[str]) -> None:
    assert Nac4Codec().decode(spaced(Nac4ClientCodec().encode(message), gaps)) == message


@given(client_messages, client_messages)
def test_two_messages_in_one_text_are_none(one: ClientMessage, two: ClientMessage) -> None:
    codec = Nac4ClientCodec()
    with pytest.raises(WireError):
        Nac4Codec().decode(codec.encode(one) + codec.encode(two))


def meaning(decode: Callable[[str], ClientMessage], text: str) -> ClientMessage | None:
    try:
        return decode(text)
    except WireError:
        return None


moves = st.integers(-1, 10).map(str) | st.sampled_from(["03", "+3", "3 4", "3.0", "\uff13", "-0"])
usual = st.builds("{} {}".format, st.sampled_from(["playmove", "connect", "PLAYMOVE"]), moves | users)


@given(st.text() | st.builds(spaced, usual, st.lists(blanks, min_size=3, max_size=3)))
def test_text_heard_before_is_read_as_if_it_were_new(text: str) -> None:
    new = meaning(_client_message, text)
    assert [meaning(Nac4Codec().decode, text) for _ in range(2)] == [new, new]


@given(st.text() | st.text(ALPHABET + " ") | st.builds("playmove {}".format, st.text()))
def test_garbage_raises_only_wire_error(text: str) -> None:
    for codec in (Nac4Codec(), Nac4ClientCodec()):
        with suppress(WireError):
            codec.decode(text)


@given(st.binary())
def test_bytes_that_are_no_utf8_raise_only_wire_error(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    for codec, start in ((Nac4Codec(), "connect "), (Nac4ClientCodec(), "genmove ")):
        with suppress(WireError):
            codec.decode(start + text)


@given(st.lists(st.sampled_from(["genmove", "endgame", EMPTY, "R", "PlayR", "WinY", "Ok", "1.0", "nan"])))
def test_words_of_a_server_message_in_any_order_raise_only_wire_error(words: list[str]) -> None:
    try:
        message = Nac4ClientCodec().decode(" ".join(words))
    except WireError:
        return
    assert Nac4Codec().encode(message).split() == words


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\r\n",
        "connect",
        "connect ",
        "connect a b",
        "CONNECT a",
        "connect a.b",
        "connect \u00e9",
        "connect \u0661",
        "connect " + "n" * 65,
        "\0connect a",
        "hello world",
        "connected a",
    ],
)
def test_what_is_no_connect_with_one_name_of_the_alphabet_raises(text: str) -> None:
    with pytest.raises(WireError):
        Nac4Codec().decode(text)


def test_token_may_follow_a_name_where_names_are_protected() -> None:
    message = TokenCodec().decode(" connect  ann\tsecret\r\n")
    assert isinstance(message, Connect)
    assert (message.user, message.token) == ("ann", "secret")
    assert "secret" not in repr(message)


@pytest.mark.parametrize("text", ["connect ann", "playmove 3", "playmove -3\r\n"])
def test_without_a_token_the_same_is_read_where_names_are_protected(text: str) -> None:
    assert TokenCodec().decode(text) == Nac4Codec().decode(text)


@pytest.mark.parametrize("text", ["connect a b c", "connect a/b secret", "connect", "x", "playmove 3 4"])
def test_what_is_no_message_is_none_where_names_are_protected(text: str) -> None:
    with pytest.raises(WireError):
        TokenCodec().decode(text)


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("connect ann secret\r\n", "connect ann ..."),
        (" connect  ann  secret more", " connect  ann ..."),
        ("connect ann", "connect ann"),
        ("playmove 3", "playmove 3"),
    ],
)
def test_token_in_a_text_is_hidden(text: str, hidden: str) -> None:
    assert without_tokens(BEFORE_TOKEN, text) == hidden


def test_name_has_up_to_64_characters() -> None:
    assert Nac4Codec().decode("connect " + "n" * 64) == Connect("n" * 64)


@pytest.mark.parametrize(
    "move", ["", "x", "3 4", "3.0", "+3", "1e0", "0x3", "0o3", "(3)", "--3", "-", "\uff13", "3\ud800"]
)
def test_move_that_is_no_integer_raises(move: str) -> None:
    with pytest.raises(WireError):
        Nac4Codec().decode(f"playmove {move}")


@pytest.mark.parametrize(
    ("move", "column"), [("0", 0), ("6", 6), ("03", 3), ("-0", 0), ("0" * 5000 + "5", 5)]
)
def test_integer_that_is_a_column_is_read_however_it_is_written(move: str, column: int) -> None:
    assert Nac4Codec().decode(f"playmove {move}\r\n") == PlayMove(column)


@pytest.mark.parametrize("move", ["7", "-1", "99", "18446744073709551618", "-" + "9" * 5000])
def test_integer_of_any_length_is_read_and_is_no_column(move: str) -> None:
    message = Nac4Codec().decode(f"playmove {move}")
    assert isinstance(message, PlayMove)
    assert not 0 <= message.move <= 6


@pytest.mark.parametrize(
    ("seconds", "text"), [(42.0, "42.0"), (10, "10.0"), (9.96, "10.0"), (0.04, "0.0"), (41.849, "41.8")]
)
def test_time_is_written_with_one_decimal(seconds: float, text: str) -> None:
    assert Nac4Codec().encode(GenMove(EMPTY, "R", "PlayR", seconds)) == f"genmove {EMPTY} R PlayR {text}\r\n"


@pytest.mark.parametrize(("text", "seconds"), [("42.0", 42.0), (".5", 0.5), ("9.8765", 9.8765)])
def test_client_reads_a_time_of_any_number_of_decimals(text: str, seconds: float) -> None:
    assert Nac4ClientCodec().decode(f"genmove {EMPTY} Y PlayY {text}") == GenMove(
        EMPTY, "Y", "PlayY", seconds
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        f"genmove {EMPTY} R PlayR",
        f"genmove {EMPTY} R PlayY 1.0",
        f"genmove {EMPTY} B PlayB 1.0",
        f"genmove {EMPTY} R PlayR nan",
        f"genmove {EMPTY} R PlayR 1",
        f"genmove {EMPTY}. R PlayR 1.0",
        f"genmove {EMPTY[1:]}x R PlayR 1.0",
        f"genmove {EMPTY} R PlayR 1.0 x",
        f"endgame {EMPTY} R PlayB Ok",
        f"endgame {EMPTY} R WinR",
        f"endgame {EMPTY} R WinR Forfeit",
        f"endgame {EMPTY} x WinR Ok",
        f"endgame {EMPTY[1:]} R WinR Ok",
        "newgame alice",
        "newgame alice bob carol",
        "playmove 3",
    ],
)
def test_client_raises_at_what_no_server_says(text: str) -> None:
    with pytest.raises(WireError):
        Nac4ClientCodec().decode(text)
