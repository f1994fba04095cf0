"""Lines of the Droidcon dialect. What its codec has in common with others is in test_dialects.py."""

import pytest

from adapters.client.contract import HangUp, WireError
from adapters.client.name_check import without_tokens
from adapters.droidcon.codec import BEFORE_TOKEN, DroidconClientCodec, DroidconCodec
from adapters.droidcon.messages import ClientMessage, Error, Join, Name, Put

SERVER = DroidconCodec()
CLIENT = DroidconClientCodec()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (" \tnAmE \t Alice von Wunderland\r", Name("Alice")),
        ("JoiN  two  spaces \r", Join("two  spaces")),
        ("pUt\t3", Put(3)),
        ("PUT 1 2", Put(1)),
        *((f"PUT {digits}", Put(int(digits))) for digits in ("3", "+3", "03", "-0", "7", "-1", "99")),
        *(
            (f"PUT {words}", Put(None))
            for words in ("", "x", "1.0", "1e0", "0x1", "1_0", "+", "--1", "٣", "²")
        ),
        # No other space divides words, and what is no UTF-8 is a replacement character.
        *((f"NAME a{space}b c", Name(f"a{space}b")) for space in "\u00a0\u2003\x0b\x1c\x85\u2028"),
        ("PUT 3\u00a0", Put(3)),
        ("PUT 3\u00a04", Put(None)),
        ("NAME a\udcff\udce9b", Name("a\ufffd\ufffdb")),
        *((f"NAME {name}", Name(name)) for name in ("HTTP/1.1", "/")),
        ("JOIN / HTTP/1.1 x", Join("/ HTTP/1.1 x")),
    ],
)
def test_line_is_a_command(line: str, message: ClientMessage) -> None:
    assert SERVER.decode(line) == message


@pytest.mark.parametrize(
    "line",
    [
        *("", " ", "hello", "NAME", "JOIN", "JOIN  \r", "PUT3", "PUT\u00a03", "NAMES x", "\ufffd"),
        *("GET / HTTP", "GET /", "GET", "HTTP/1.1 200 OK", "Host: HTTP/1.1"),
    ],
)
def test_any_other_line_is_none(line: str) -> None:
    with pytest.raises(WireError) as refused:
        SERVER.decode(line)
    assert not isinstance(refused.value, HangUp)


@pytest.mark.parametrize(
    "line",
    [
        *(
            "GET / HTTP/1.0",
            "GET / HTTP/1.1\r",
            "POST /?x=y HTTP/1.1",
            "PUT / HTTP/1.1",
            "OPTIONS * HTTP/1.1",
        ),
        *("PRI * HTTP/2.0", "CONNECT c4.example:4242 HTTP/1.1", "GET http://localhost:4242/ HTTP/1.1"),
        *("JOIN lobby HTTP/1.1", "name x HTTP/1.1", "PATCH /" + "x" * 4000 + " HTTP/1.1"),
    ],
)
def test_request_by_http_is_hung_up_on(line: str) -> None:
    for _ in range(2):
        with pytest.raises(HangUp):
            SERVER.decode(line)


def test_second_word_behind_name_is_the_token_and_never_shown() -> None:
    name = SERVER.decode("NAME Alice  sEcret more")
    assert isinstance(name, Name)
    assert name.token == "sEcret"
    assert "sEcret" not in repr(name)
    assert CLIENT.encode(Name("Alice", "sEcret")) == "NAME Alice sEcret"


@pytest.mark.parametrize(
    ("line", "hidden"),
    [
        ("NAME ann secret", "NAME ann ..."),
        (" name\tann\tsecret more", " name\tann\t..."),
        ("NAME ann", "NAME ann"),
        ("JOIN ann secret", "JOIN ann secret"),
        ("PUT 3", "PUT 3"),
    ],
)
def test_token_in_a_line_is_hidden(line: str, hidden: str) -> None:
    assert without_tokens(BEFORE_TOKEN, line) == hidden


def test_client_understands_the_original_servers_longer_error() -> None:
    assert CLIENT.decode("Error WRONG_COLUMN_FORMAT X") is Error.WRONG_COLUMN_FORMAT


@pytest.mark.parametrize(
    "line", ["", "PUT", "PUT x", "PUT 1_0", "PUT 1 2", "Error", "Error OTHER", "HELLO", "a b"]
)
def test_client_raises_at_what_no_server_says(line: str) -> None:
    with pytest.raises(WireError):
        CLIENT.decode(line)
