"""EDN within its bounds: read as edn-format reads it; beyond them, unreadable without a look at the rest."""

import re
from typing import Any

import edn_format
import pytest
from edn_format import ImmutableList
from hypothesis import given
from hypothesis import strategies as st

from adapters.arena import edn, forms


def is_read(text: str) -> bool:
    try:
        edn.read(text)
    except ValueError:
        return False
    return True


def loads(text: str) -> Any:
    return edn_format.loads(text, write_ply_tables=False)


TOKENS = [
    *["1", "-2.5", "7N", "1e9M", "0x1f", ":k", ":n/k", "s", "n/s", "nil", "true", '"a b"', '"\\n\\u00e9"'],
    *["\\a", "\\newline", "\\u00e9", "##Inf", "[]", "{}", "()", "#{}", "#_ 1", "^:m 1", '#inst "2020"', "/"],
]


@pytest.mark.parametrize("token", TOKENS)
def test_as_many_tokens_as_may_be_are_read_and_not_one_more(token: str) -> None:
    size = {"-2.5": 2, "1e9M": 2, "#_ 1": 2, "^:m 1": 3, '#inst "2020"': 3}.get(
        token, 2 if token[-1] in "])}" else 1
    )
    count, rest = divmod(forms.MAX_TOKENS - 2, size)
    inside = f" {token}" * count + " 1" * rest
    assert is_read(f"({inside})")
    assert not is_read(f"({inside}) 1")
    assert not is_read(f"({inside} 1)")


@pytest.mark.parametrize(
    ("token", "cost"),
    [("1/2", 4), ("1.5", 2), ("1e9", 2), ("1M", 2), ("0x1", 1), ('#inst "2020"', 3), ("#:a{:b 1}", 36)],
)
def test_what_is_slow_to_read_counts_as_several_tokens(token: str, cost: int) -> None:
    count = (forms.MAX_TOKENS - 2) // cost
    assert is_read("[" + f"{token} " * count + "]")
    assert not is_read("[" + f"{token} " * (count + 1) + "]")


def test_many_escapes_count_as_tokens() -> None:
    escapes = r"\n" * (10 * forms.CHEAP_ESCAPES)
    assert edn.read(f'["{escapes}"' + " 1" * (forms.MAX_TOKENS - 13) + "]")[0] == "\n" * 320
    assert not is_read(f'["{escapes}"' + " 1" * (forms.MAX_TOKENS - 12) + "]")
    assert is_read('"' + r"\n" * 2047 + '"')


def test_gaps_and_comments_are_no_tokens() -> None:
    assert edn.read(",\r\n\t ;[\n" * 400 + "[1;2]\n3]") == [1, 3]


@pytest.mark.parametrize(
    ("letter", "most"),
    [("9", forms.MAX_NUMBER), ("x", forms.MAX_NAME), (":", forms.MAX_NAME), ("-", forms.MAX_NAME)],
)
def test_a_number_or_a_name_may_have_a_length_and_not_one_more(letter: str, most: int) -> None:
    assert is_read(letter * most)
    assert not is_read(letter * (most + 1))


def test_a_string_or_a_comment_may_be_as_long_as_a_text() -> None:
    digits = "0" * (forms.LIMIT - 2)
    assert edn.read(f'"{digits}"') == digits
    assert edn.read(f"1;{digits}") == 1
    assert not is_read(f'"{digits}0"')


@pytest.mark.parametrize(
    ("escapes", "text"),
    [
        (r"\\n", r"\n"),
        (r"\\\n", "\\\n"),
        (r"\a\b\f\n\r\t\v\"\'", "\a\b\f\n\r\t\v\"'"),
        (r"\q\/\e", r"\q\/\e"),
        (r"\101\60\0", "A0\0"),
        (r"\x41\u00e9\U0001F600", "Aé😀"),
        (r"\N{BULLET}\N{latin small letter a with ring above}", "•å"),
        (r"\N{ \N \N{x", r"\N{ \N \N{x"),
        (r"\N{}\U\u\x", r"\N{}\U\u\x"),
    ],
)
def test_escapes_mean_what_they_mean_to_edn_format(escapes: str, text: str) -> None:
    assert edn.read(f'"{escapes}"') == loads(f'"{escapes}"') == text


@pytest.mark.parametrize(
    "escape", [r"\xzz", r"\x4 ", r"\u+123", r"\u00 1", r"\U00110000", r"\N{NO SUCH}", r"\N{" + "x" * 101]
)
def test_an_escape_that_means_nothing_is_unreadable(escape: str) -> None:
    assert not is_read(f'"{escape}"')
    assert edn.read(r'"\777"') == "\u01ff"  # without the warning of newer Pythons


NO_EDN = r"""
    [ | (] | #{) | {] | ] | {:a} | [#_] | [#_ #_ 1] | [^:a] | ^ | ^1 | #inst | [#uuid] | #uuid 5 | #what 1
    #:a | #:a 1 | #:a [1] | #:a #_ 1 {} | #:a #:b {} | #{1 #_} | " | "\ | ## | ##inf | # | @ ~ | 1 ]
    "open | \ | 1/0 | [ \x00
"""


@pytest.mark.parametrize("text", [text.strip() for text in re.split("[|\n]", NO_EDN)[1:-1]])
def test_what_is_no_edn_is_unreadable(text: str) -> None:
    with pytest.raises(Exception):  # noqa: B017  edn-format has many
        loads(text)
    assert not is_read(text)
    assert edn.read("[1 {:a 2}] x") == loads("[1 {:a 2}]")  # the one lexer is as it was


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("#_ #_ 1 2 3", 3),
        ("[#_ 1 #_ 2]", ImmutableList([])),
        ("#_ ^:a b 1", 1),
        ("#_ #:a{} 1", 1),
        ('#_ #inst "2020" 1', 1),
        ("; only a comment", None),
        ("#_ dropped", None),
        ("[[1 (2)] {3 #{4}}]", loads("[[1 (2)] {3 #{4}}]")),
        ("#:a{:b 1 :_/c 2 :d/e 3 f 4}", loads("#:a{:b 1 :_/c 2 :d/e 3 f 4}")),
        ("^ #_ x {:m 1} ^n [v]", loads("^ #_ x {:m 1} ^n [v]")),
    ],
)
def test_forms_are_put_together_as_edn_format_does(text: str, value: object) -> None:
    assert edn.read(text) == value == loads(text)


@given(
    st.lists(
        st.sampled_from([*TOKENS, *"[](){}^", "#{", "#_", "#:n", "#uuid", "1/2", ",", "; x\n"]), max_size=40
    )
)
def test_any_tokens_read_as_edn_format_reads_them(tokens: list[str]) -> None:
    text = " ".join(tokens)
    if is_read(text):
        assert edn.read(text) == loads(text)
    else:
        assert edn.read("") is None
