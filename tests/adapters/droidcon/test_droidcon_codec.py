"""Lines to messages and back, in both directions."""

import string
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.client.contract import HangUp, WireError
from adapters.client.name_check import without_tokens
from adapters.droidcon.codec import BEFORE_TOKEN, DroidconClientCodec, DroidconCodec, _command
from adapters.droidcon.messages import ClientMessage, Error, Join, Name, Put, ServerMessage, Word

SERVER = DroidconCodec()
CLIENT = DroidconClientCodec()

characters = st.characters(codec="utf-8")
words = st.text(characters, min_size=1).filter(lambda text: len(text.split()) == 1 and text == text.strip())
phrases = st.lists(words, min_size=1).map(" \t".join)
blanks = st.text(" \t\r", max_size=3)
columns = st.integers(0, 6)
client_messages = st.one_of(words.map(Name), phrases.map(Join), columns.map(Put), st.just(Put(None)))
server_messages = st.one_of(st.sampled_from(Word), st.sampled_from(Error), columns.map(Put))
anything = st.text(st.characters(), max_size=40)
"""Lone surrogates included, as which bytes arrive that are no UTF-8."""
lines = st.one_of(
    anything, st.builds("{} {}".format, st.sampled_from(["NAME", "JOIN", "PUT", "Error"]), anything)
)


@given(client_messages)
def test_command_reads_back_as_it_was_written(message: ClientMessage) -> None:
    assert SERVER.decode(CLIENT.encode(message)) == message


@given(server_messages)
def test_server_message_reads_back_as_it_was_written(message: ServerMessage) -> None:
    assert CLIENT.decode(SERVER.encode(message)) == message


@given(client_messages, blanks, blanks)
def test_blanks_around_a_command_do_not_count(message: ClientMessage, before: str, behind: str) -> None:
    assert SERVER.decode(before + CLIENT.encode(message) + behind) == message


@given(st.sampled_from(["NAME x", "JOIN x", "PUT 3"]), st.data())
def test_case_of_a_command_does_not_count(line: str, data: st.DataObject) -> None:
    mixed = "".join(data.draw(st.sampled_from([letter.lower(), letter.upper()])) for letter in line[:4])
    assert SERVER.decode(mixed + line[4:]) == SERVER.decode(line)


def meaning(decode: Callable[[str], ClientMessage], line: str) -> ClientMessage | None:
    try:
        return decode(line)
    except WireError:
        return None


@given(lines | st.builds("{}{}{}".format, blanks, st.sampled_from(["PUT 3", "put 03", "PUT x"]), anything))
def test_line_heard_before_is_read_as_if_it_were_new(line: str) -> None:
    new = meaning(_command, line)
    assert [meaning(DroidconCodec().decode, line) for _ in range(2)] == [new, new]


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


@pytest.mark.parametrize("line", ["GET / HTTP", "GET /", "GET", "HTTP/1.1 200 OK", "Host: HTTP/1.1"])
def test_what_is_no_request_by_http_is_a_line_as_any_other(line: str) -> None:
    with pytest.raises(WireError) as refused:
        SERVER.decode(line)
    assert not isinstance(refused.value, HangUp)


@pytest.mark.parametrize("line", ["NAME HTTP/1.1", "JOIN HTTP/1.1", "JOIN / HTTP/1.1 x"])
def test_names_and_channels_may_look_a_little_like_http(line: str) -> None:
    assert isinstance(SERVER.decode(line), Name | Join)


@given(lines)
def test_garbage_from_a_client_raises_only_wire_error(line: str) -> None:
    try:
        message = SERVER.decode(line)
    except WireError:
        return
    assert isinstance(message, Name | Join | Put)


@given(lines)
def test_garbage_from_a_server_raises_only_wire_error(line: str) -> None:
    try:
        message = CLIENT.decode(line)
    except WireError:
        return
    assert isinstance(message, Word | Error | Put)


@given(lines)
def test_what_was_read_can_always_be_written_as_utf8(line: str) -> None:
    try:
        message = SERVER.decode(line)
    except WireError:
        return
    CLIENT.encode(message).encode()


@given(server_messages)
def test_server_message_is_one_line_of_one_or_two_words(message: ServerMessage) -> None:
    line = SERVER.encode(message)
    assert line == " ".join(line.split())
    assert len(line.split(" ")) in (1, 2)
    assert set(line) <= set(string.ascii_letters + string.digits + "_ ")


@pytest.mark.parametrize("line", ["", " ", "hello", "NAME", "JOIN", "JOIN  \r", "PUT3", "NAMES x", "\ufffd"])
def test_any_other_line_is_no_command(line: str) -> None:
    with pytest.raises(WireError):
        SERVER.decode(line)


@pytest.mark.parametrize("line", ["PUT  3", "put\t3", " \tPUT \t 3\t "])
def test_any_number_of_blanks_and_tabs_divides_words(line: str) -> None:
    assert SERVER.decode(line) == Put(3)


@pytest.mark.parametrize("space", ["\u00a0", "\u2003", "\x0b", "\x1c", "\x85", "\u2028"])
def test_no_other_space_divides_words(space: str) -> None:
    assert SERVER.decode(f"NAME a{space}b c") == Name(f"a{space}b")
    assert SERVER.decode(f"PUT 3{space}") == Put(3)
    assert SERVER.decode(f"PUT 3{space}4") == Put(None)
    with pytest.raises(WireError):
        SERVER.decode(f"PUT{space}3")


def test_first_word_is_the_name_and_keeps_its_spelling() -> None:
    assert SERVER.decode("name Alice von Wunderland") == Name("Alice")


def test_second_word_behind_name_is_the_token_and_never_shown() -> None:
    name = DroidconCodec().decode("NAME Alice  sEcret more")
    assert isinstance(name, Name)
    assert name.token == "sEcret"
    assert "sEcret" not in repr(name)
    assert DroidconClientCodec().encode(Name("Alice", "sEcret")) == "NAME Alice sEcret"


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


def test_all_of_the_rest_of_the_line_is_the_channel() -> None:
    assert SERVER.decode("JOIN  two  spaces \r") == Join("two  spaces")


def test_first_word_behind_put_is_the_column() -> None:
    assert SERVER.decode("PUT 1 2") == Put(1)


@pytest.mark.parametrize(
    ("digits", "column"), [("3", 3), ("+3", 3), ("03", 3), ("-0", 0), ("+" + "0" * 5000, 0)]
)
def test_integer_may_bear_a_sign_and_zeros(digits: str, column: int) -> None:
    assert SERVER.decode(f"PUT {digits}") == Put(column)


@pytest.mark.parametrize("digits", ["7", "-1", "99", "99999999999999", "-" + "9" * 5000, "1" + "0" * 5000])
def test_integer_of_any_length_outside_the_board_stays_outside(digits: str) -> None:
    match SERVER.decode(f"PUT {digits}"):
        case Put(int(column)):
            assert not 0 <= column <= 6
        case other:
            pytest.fail(f"{other} is no integer")


@pytest.mark.parametrize("words", ["", " ", "x", "1.0", "1e0", "0x1", "1_0", "+", "--1", "٣", "²", "three 3"])
def test_put_of_no_integer_is_put_all_the_same(words: str) -> None:
    assert SERVER.decode(f"PUT {words}") == Put(None)


def test_byte_that_is_no_utf8_becomes_a_replacement_character() -> None:
    text = b"NAME a\xff\xe9b".decode("utf-8", "surrogateescape")
    assert SERVER.decode(text) == Name("a\ufffd\ufffdb")


def test_client_understands_the_original_servers_longer_error() -> None:
    assert CLIENT.decode("Error WRONG_COLUMN_FORMAT X") is Error.WRONG_COLUMN_FORMAT


@pytest.mark.parametrize(
    "line", ["", "PUT", "PUT x", "PUT 1_0", "PUT 1 2", "Error", "Error OTHER", "HELLO", "a b"]
)
def test_any_other_line_is_no_server_message(line: str) -> None:
    with pytest.raises(WireError):
        CLIENT.decode(line)
