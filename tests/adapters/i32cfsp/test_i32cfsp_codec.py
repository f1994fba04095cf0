"""How lines of I32CFSP are read and written. What all dialects promise is in `test_dialects.py`."""

import pytest

from adapters.client.contract import HangUp, WireError
from adapters.i32cfsp.codec import I32cfspClientCodec, I32cfspCodec
from adapters.i32cfsp.messages import AiGame, Blank, ClientMessage, Drop, Hello, Pop, Welcome, Word


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("DROP 3", Drop(3)),
        (" DROP \t 03 ", Drop(3)),
        ("DROP +8", Drop(8)),
        ("DROP 00000000000000000001", Drop(1)),
        ("DROP 12345", Drop(-1)),
        ("POP 1\r", Pop(1)),
        ("I32CFSP_HELLO \udcff\udcc3", Hello("\ufffd\ufffd")),
        ("AI_GAME", AiGame(sized=False)),
        ("AI_GAME 07 +6", AiGame()),
        (" \t\r", Blank()),
    ],
)
def test_line_is_read(line: str, message: ClientMessage) -> None:
    assert I32cfspCodec().decode(line) == message


def test_second_word_of_the_first_line_is_a_token() -> None:
    read = I32cfspCodec().decode("I32CFSP_HELLO ann secret")
    assert isinstance(read, Hello)
    assert (read.name, read.token, "secret" in repr(read)) == ("ann", "secret", False)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("AI_GAME 8 9", "asked for a board of 8 columns and 9 rows"),
        ("AI_GAME 6 7", "asked for a board of 6 columns and 7 rows"),
        (f"AI_GAME {'9' * 400} 6", "asked for a board of 999999999 columns and 6 rows"),
        ("AI_GAME 7", "sent a line that the protocol does not have"),
        ("drop 3", "sent a line that the protocol does not have"),
        ("DROP \u0663", "sent a line that the protocol does not have"),
    ],
)
def test_other_lines_hang_up_and_the_log_says_why(line: str, words: str) -> None:
    with pytest.raises(HangUp, match=f"^{words}$"):
        I32cfspCodec().decode(line)


def test_each_line_that_is_written_ends_with_the_first_half_of_its_end() -> None:
    server, client = I32cfspCodec(), I32cfspClientCodec()
    assert [server.encode(each) for each in (Welcome("boo"), Word.OKAY, Drop(4), Drop(-1))] == [
        "WELCOME boo\r",
        "OKAY\r",
        "DROP 4\r",
        "DROP -1\r",
    ]
    assert client.encode(Hello("ann", "secret")) == "I32CFSP_HELLO ann secret\r"


def test_name_is_a_single_line_whoever_has_it() -> None:
    assert I32cfspCodec().encode(Welcome("a\r\nb c")) == "WELCOME a__b c\r"
    assert I32cfspClientCodec().decode("WELCOME a__b c\r") == Welcome("a__b c")


@pytest.mark.parametrize("line", ["", "DROP x", "DROP", "WELCOME", "okay", "POP 3"])
def test_client_understands_no_other_line(line: str) -> None:
    with pytest.raises(WireError):
        I32cfspClientCodec().decode(line)
