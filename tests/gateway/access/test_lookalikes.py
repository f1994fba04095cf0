"""Which names look alike."""

import pytest

from gateway.access.lookalikes import Lookalikes, looks_of
from gateway.game.commands import LONGEST_NAME, folded


def like(added: str, name: str) -> bool:
    lookalikes = Lookalikes()
    lookalikes.add(added)
    return lookalikes.like(name, folded(name)) == added


@pytest.mark.parametrize(
    ("added", "name"),
    [
        *(("alice", "\u0430lice"), ("Alice", "\u0410LICE"), ("alice", "al\u0456ce"), ("alice", "aIice")),
        *(
            ("alice", "ALlCE"),
            ("alice", "\U0001d41alice"),
            ("bot1", "botl"),
            ("bot1", "BOTI"),
            ("tom", "torn"),
        ),
        *(("\u0430lice", "alice"), ("rene\u0301", "r\u0435n\u00e9"), ("a b", "\u0430  b"), ("bot0", "botO")),
        ("\u05d5", "l"),  # from right to left
        *(
            ("tom", "\u0422om"),
            ("hans", "\u041dans"),
            ("eva", "\u0395va"),
            ("tom", "\u0422orn"),
        ),  # one capital
        *(("Bob", "b0b"), ("tom", "t0m"), ("alice", "ali\u03f2e")),
    ],
)
def test_names_look_alike(added: str, name: str) -> None:
    assert like(added, name)


@pytest.mark.parametrize(
    ("added", "name"),
    [
        *(
            ("alice", "bob"),
            ("alice", "al\u00edce"),
            ("bot1", "bot2"),
            ("bot1", "boti"),
            ("TIM", "tlm"),
            ("tom", "Tim"),
        ),
        *(("a b", "ab"), ("alice", "alice2"), ("alice", "")),
    ],
)
def test_names_look_different(added: str, name: str) -> None:
    assert not like(added, name)


def test_name_that_becomes_too_long_when_its_signs_are_written_out_looks_like_none() -> None:
    name = "\ufdfa" * LONGEST_NAME
    assert not like(name, name)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        *(("Ada", "ada"), ("Ada", "\u0430da"), ("\u0410DA", "ada"), ("\uff21da", "ada"), ("aIice", "alice")),
        *(("bot1", "botl"), ("bot0", "botO"), ("a  b", "A b"), ("tom", "Torn"), ("Ada", "Ada")),
    ],
)
def test_names_that_look_alike_have_a_look_in_common(name: str, other: str) -> None:
    assert looks_of(name) & looks_of(other)


@pytest.mark.parametrize(
    ("name", "other"), [("Ada", "Adam"), ("bot1", "bot2"), ("tim", "tom"), ("", "x"), ("\ufdfa" * 256,) * 2]
)
def test_names_that_look_different_have_none(name: str, other: str) -> None:
    assert not looks_of(name) & looks_of(other)


def test_names_can_be_let_go() -> None:
    lookalikes = Lookalikes()
    lookalikes.add("alice")
    lookalikes.clear()
    assert lookalikes.like("\u0430lice", "\u0430lice") is None
