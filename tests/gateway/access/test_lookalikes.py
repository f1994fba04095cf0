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
        *(("a b", "ab"), ("alice", "alice2"), ("alice", ""), ("tim", "tom"), ("Ada", "Adam")),
        ("\ufdfa" * LONGEST_NAME,) * 2,  # too long when its signs are written out
    ],
)
def test_names_look_different(added: str, name: str) -> None:
    assert not like(added, name)
    assert not looks_of(name) & looks_of(added)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        *(("Ada", "ada"), ("Ada", "\u0430da"), ("\u0410DA", "ada"), ("\uff21da", "ada"), ("aIice", "alice")),
        *(("bot1", "botl"), ("bot0", "botO"), ("a  b", "A b"), ("tom", "Torn"), ("Ada", "Ada")),
    ],
)
def test_names_that_look_alike_have_a_look_in_common(name: str, other: str) -> None:
    assert looks_of(name) & looks_of(other)
