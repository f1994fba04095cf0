"""What others made up, made fit to be shown."""

import ast
import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.game.text import (
    COMPARED,
    described,
    did_you_mean,
    is_visible,
    json_text,
    only_visible,
    printable,
    quoted,
    visible,
)

UNSEEN = [
    *map(chr, range(0x20)),
    *map(chr, range(0x7F, 0xA1)),
    *"\u061c\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e",
    *"\u2060\u2066\u2067\u2068\u2069\ufeff\xad\u034f\u115f\u1160\u2800\u3164\uffa0\ufe0f\ud800\udfff",
    "\U000e0041",
    "\U000e0100",
]
texts = st.text(st.characters() | st.sampled_from([*UNSEEN, "\\", "'", "x", "u"]))


@pytest.mark.parametrize("shown", [visible, printable])
def test_character_that_nobody_sees_is_escaped(shown: Callable[[str], str]) -> None:
    assert not any(map(is_visible, UNSEEN))
    escaped = [f"a{ascii(character)[1:-1]}b" for character in UNSEEN]
    assert [shown(f"a{character}b") for character in UNSEEN] == escaped
    assert all(map(str.isascii, escaped))


@pytest.mark.parametrize("text", ["", "ann", "Jürgen 2", "漢字", "🙂", "=1+1;'\"", "a b"])
def test_text_that_can_be_seen_stays_as_it_is(text: str) -> None:
    assert visible(text) == printable(text) == text


def test_escape_that_a_client_wrote_is_not_taken_for_ours() -> None:
    assert printable("\\u202e") == "\\\\u202e"
    assert printable("\u202e") == "\\u202e"
    assert visible("\\u202e") == "\\u202e"


@given(texts, texts)
def test_texts_that_differ_still_do(one: str, other: str) -> None:
    assert (printable(one) == printable(other)) == (one == other)
    assert (quoted(one) == quoted(other)) == (one == other)


@given(texts)
def test_what_is_shown_is_visible_and_says_what_it_was(text: str) -> None:
    shown = quoted(text)
    assert all(map(is_visible, shown))
    assert all(map(is_visible, visible(text)))
    assert ast.literal_eval(shown) == text


@given(texts)
def test_json_is_visible_ascii_and_says_what_it_was(text: str) -> None:
    line = json_text([text])
    assert line.isascii()
    assert line.isprintable()
    assert json.loads(line) == json.loads(json.dumps([text]))


@given(st.text(st.characters() | st.sampled_from("\u200b\u202e\u3164 a")))
def test_only_what_is_visible_is_left(text: str) -> None:
    assert only_visible(text) == "".join(filter(is_visible, text))


# Which name somebody may have meant.


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        ("Robot", "; did you mean 'robot'?"),
        ("robto", "; did you mean 'robot'?"),
        ("ROBOTX", "; did you mean 'robot'?"),
        ("ANN", "; did you mean 'Ann' or 'ann'?"),
        ("it's-me", "; did you mean 'it\\'s me'?"),
        ("bb", r"; did you mean 'b\x1bb'?"),
        ("zzz", ""),
        ("", ""),
    ],
)
def test_names_that_are_similar_are_proposed(typed: str, hint: str) -> None:
    assert did_you_mean(typed, ["robot", "Ann", "ann", "it's me", "b\x1bb"]) == hint


def test_among_very_many_names_case_is_looked_at_in_all_and_letters_in_the_first() -> None:
    many = [f"{number:0>40}" for number in range(COMPARED)]
    assert did_you_mean("ROBOT", [*many, "robot"]) == "; did you mean 'robot'?"
    assert did_you_mean("robto", [*many, "robot"]) == ""


class Mute(Exception):
    """Cannot say what it is."""

    def __str__(self) -> str:
        raise self


def test_exception_is_one_line_whatever_its_text() -> None:
    errors = (ValueError("two\n lines"), SystemExit(3), KeyError(), Mute())
    assert [*map(described, errors)] == ["ValueError: two lines", "SystemExit: 3", "KeyError", "Mute"]
