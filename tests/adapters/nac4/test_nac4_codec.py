"""Words of the nac4 dialect. What its codec has in common with others is in test_dialects.py."""

import pytest

from adapters.client.contract import WireError
from adapters.client.name_check import without_tokens
from adapters.nac4.codec import BEFORE_TOKEN, Nac4ClientCodec, Nac4Codec, TokenCodec
from adapters.nac4.messages import Connect, GenMove, PlayMove

EMPTY = "." * 42


@pytest.mark.parametrize(
    "text",
    [
        *("", "\r\n", "connect", "connect ", "connect a b", "CONNECT a", "connect a.b", "connect \u00e9"),
        *("connect \u0661", "connect " + "n" * 65, "\0connect a", "hello world", "connected a"),
        *("connect a\r\nconnect b\r\n", "playmove 3\r\nplaymove 3\r\n", "playmove", "playmove 3 4"),
        *(
            f"playmove {move}"
            for move in ("x", "3.0", "+3", "1e0", "0x3", "(3)", "--3", "-", "\uff13", "3\ud800")
        ),
    ],
)
def test_text_that_is_no_message_raises(text: str) -> None:
    for codec in (Nac4Codec(), TokenCodec()):
        if text != "connect a b":
            with pytest.raises(WireError):
                codec.decode(text)


def test_name_has_up_to_64_characters_and_blanks_around_it() -> None:
    assert Nac4Codec().decode(f"\u00a0 connect\t{'n' * 64}\r\n") == Connect("n" * 64)


@pytest.mark.parametrize("move", ["0", "6", "03", "-0", "7", "-1", "99"])
def test_move_is_any_integer_however_it_is_written(move: str) -> None:
    assert Nac4Codec().decode(f"playmove {move}\r\n") == PlayMove(int(move))


def test_token_may_follow_a_name_where_names_are_protected() -> None:
    with pytest.raises(WireError):
        Nac4Codec().decode("connect ann secret")
    message = TokenCodec().decode(" connect  ann\tsecret\r\n")
    assert isinstance(message, Connect)
    assert (message.user, message.token) == ("ann", "secret")
    assert "secret" not in repr(message)
    assert TokenCodec().decode("connect ann") == Connect("ann")
    for text in ("connect a b c", "connect a/b secret"):
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


@pytest.mark.parametrize(
    ("seconds", "text"), [(42.0, "42.0"), (10, "10.0"), (9.96, "10.0"), (0.04, "0.0"), (41.849, "41.8")]
)
def test_time_is_written_with_one_decimal_and_read_with_any_number(seconds: float, text: str) -> None:
    assert Nac4Codec().encode(GenMove(EMPTY, "R", "PlayR", seconds)) == f"genmove {EMPTY} R PlayR {text}\r\n"
    for time in (".5", "9.8765"):
        request = Nac4ClientCodec().decode(f"genmove {EMPTY} Y PlayY {time}")
        assert request == GenMove(EMPTY, "Y", "PlayY", float(time))


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
