"""Names, boards and wildcards in braces; escapes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.boards import arena_cells, arena_moves, nac4_board
from conformance.placeholders import (
    Names,
    PlaceholderError,
    TextPattern,
    escaped,
    expand,
    filled,
    parts,
    run_token,
    span,
    unescape,
)

NAMES = Names("x7", {"a": "a", "p": "a"})


def pattern(text: str, ending: str = "") -> TextPattern:
    return TextPattern(parts(text, NAMES), ending)


def test_names_begin_with_the_clients_name_and_are_letters_and_digits() -> None:
    assert expand("connect {a}", NAMES) == "connect ax7"
    assert run_token().isalpha()


def test_name_given_by_lot_is_the_members_own() -> None:
    assert expand("{p}", NAMES) == expand("{a}", NAMES)


def test_table_is_unique_and_a_word_makes_another() -> None:
    assert expand("{table} {table other}", NAMES) == "tablex7 otherx7"


def test_json_and_edn_maps_are_no_placeholders() -> None:
    text = '{"type":"start","id":"{a}","x":{}} {:type "end"}'
    assert expand(text, NAMES) == text.replace("{a}", "ax7")


def test_boards_count_rows_from_the_bottom() -> None:
    assert nac4_board("0012") == "RRY" + "." * 4 + "Y" + "." * 34
    assert arena_cells("0012") == "[1,2,0,0,0,0,1,0,0,0,0,0,2," + ",".join("0" * 29) + "]"
    assert arena_moves("0012") == "[0,0,1,2]"
    assert expand("{board}", NAMES) == "." * 42
    assert expand("{moves}", NAMES) == "[]"


def test_clock_is_what_the_server_gives_with_one_decimal() -> None:
    assert expand("{clock}", NAMES) == "42.0"
    assert expand("{clock}", Names("x7", {}, clock=10)) == "10.0"


@pytest.mark.parametrize(("value", "fits"), [("8.9", False), ("9.0", True), ("9.8", True), ("9.9", False)])
def test_bounds_of_a_time_may_be_in_terms_of_the_clock(value: str, fits: bool) -> None:
    names = Names("x7", {}, clock=10.0)
    told = TextPattern(parts("x {time clock-1.0..clock-0.2}", names)).complaint(f"x {value}")
    assert (told is None) == fits


@pytest.mark.parametrize(
    ("text", "seconds"), [("2", 2.0), ("0.35", 0.35), ("clock", 10.0), ("clock-0.3", 9.7), ("clock-11", 0.0)]
)
def test_span_is_seconds_or_in_terms_of_the_clock(text: str, seconds: float) -> None:
    assert span(text, 10.0) == seconds


def test_repeat_makes_long_payloads() -> None:
    assert expand("{repeat x 70000}", NAMES) == "x" * 70000


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{tabel}", "unknown placeholder {tabel}"),
        ("{b 3}", "unknown placeholder {b 3}"),
        ("{a 3}", "{a 3}: nothing may follow 'a'"),
        ("{any 3}", "{any 3}: nothing may follow 'any'"),
        ("{board 0000000}", "{board 0000000}: column 0 overflows"),
        ("{cells 07}", "{cells 07}: '7' is no column; columns are 0 to 6"),
        ("{time 40}", "{time 40}: expected bounds such as {time 40.0..42.0}"),
        (
            "{time soon..clock}",
            "'soon' is no number of seconds, nor clock, nor clock less seconds",
        ),
        ("{clock 3}", "{clock 3}: nothing may follow 'clock'"),
        ("{table A}", "{table A}: expected a word such as {table other}"),
        ("{repeat xx 3}", "{repeat xx 3}: expected a character and a count such as {repeat x 70000}"),
        ("{repeat}", "{repeat}: expected a character and a count such as {repeat x 70000}"),
        ("playmove {any}", "{any} stands for something received, it cannot be sent"),
    ],
)
def test_placeholder_that_makes_no_sense_is_told(text: str, message: str) -> None:
    with pytest.raises(PlaceholderError) as raised:
        expand(text, NAMES)
    assert str(raised.value) == message


def test_people_read_wildcards_as_they_are_written() -> None:
    assert filled("genmove {board 0} {time 1..2} {a}", NAMES) == f"genmove R{'.' * 41} {{time 1..2}} ax7"


@pytest.mark.parametrize("text", ["x 42.0 y", "x .5 y", "x 0.25 y"])
def test_time_is_a_number_with_a_point(text: str) -> None:
    assert pattern("x {time} y").complaint(text) is None


def test_any_ends_with_the_word_and_rest_with_the_line() -> None:
    assert pattern("a {any} b").complaint("a word b") is None
    assert pattern("a {any} b").complaint("a two words b") is not None
    assert pattern("a {rest}", "\r\n").complaint("a two words\r\n") is None
    assert pattern("a{rest}", "\r\n").complaint("a\r\n") is None
    assert pattern("a {rest}").complaint("a two\r\nlines") is not None


@pytest.mark.parametrize(
    ("expected", "got", "complaint"),
    [
        ("PUT 3", "PUT 4\r\n", "they differ from character 5 on"),
        ("PUT 3", "PUT 33\r\n", "they differ from character 6 on"),
        ("PUT 3", "PUT\r\n", "they differ from character 4 on"),
        ("PUT 3", "PUT 3\n", 'it does not end in "\\r\\n"'),
        ("PUT 3", "PUT 3", 'it does not end in "\\r\\n"'),
        ("x {time 40.0..42.0}", "x 39.9\r\n", "39.9 is not within 40.0..42.0"),
        ("x {time} y", "x 39 y\r\n", "what follows 'x ' does not fit"),
        ("{time}", "soon\r\n", "the placeholders do not fit"),
        ("", "x\r\n", "they differ from character 1 on"),
    ],
)
def test_complaint_says_where_texts_differ(expected: str, got: str, complaint: str) -> None:
    assert pattern(expected, "\r\n").complaint(got) == complaint


def test_escapes_are_pythons() -> None:
    assert unescape(r"\xff\n\u2603é\"") == "\xff\n\u2603é" + '"'
    with pytest.raises(PlaceholderError, match="broken escape"):
        unescape(r"\x")


@given(st.text())
def test_what_is_shown_in_quotes_reads_back_the_same(text: str) -> None:
    assert unescape(escaped(text, quote=True)[1:-1]) == text
