"""What is kept of the exchange on the wire, put into words and milliseconds, and read back."""

import zlib
from collections.abc import Sequence
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.game.events import Objection, Spoken
from gateway.store.evidence import Line, objections_in, recorded, stored, unpack

ANY_TEXT = st.text(st.characters())
"""Lone surrogates, too: they stand for bytes that were no UTF-8."""
SAID = st.tuples(st.integers(0, 10**7), st.sampled_from(["in", "out", "note"]), ANY_TEXT, ANY_TEXT)


def pack(said: Sequence[Spoken]) -> bytes:
    return stored(recorded(said))


def verdict(remark: object) -> str:
    ((_, _, _, words),) = unpack(pack([(0.0, "in", "", remark)]))  # type: ignore[list-item]
    return words


@given(st.lists(SAID))
def test_exchange_is_unpacked_as_it_was_said_in_milliseconds_since_the_game_began(
    lines: list[tuple[int, str, str, str]],
) -> None:
    said = [(at / 1000, *rest) for at, *rest in lines]
    times = accumulate((at for at, *_ in lines), max)
    expected = tuple(Line(at, *rest) for at, (_, *rest) in zip(times, lines, strict=True))
    assert unpack(pack(said)) == expected  # type: ignore[arg-type]


def test_answer_is_never_earlier_than_what_it_answers() -> None:
    said: list[Spoken] = [
        (2.0, "out", "your move", None),
        (1.5, "in", "put 3", None),
        (2.5, "out", "ok", None),
    ]
    assert [line.at for line in unpack(pack(said))] == [2000, 2000, 2500]


@pytest.mark.parametrize(
    ("remark", "words"),
    [
        (None, ""),
        (41.5, "41.500 s left"),
        (Objection.NOT_YOUR_TURN | Objection.COLUMN_FULL, "refused: not your turn, column is full"),
    ],
)
def test_remark_is_told_in_words(remark: object, words: str) -> None:
    assert verdict(remark) == words


@pytest.mark.parametrize("objection", Objection)
def test_every_objection_is_told_in_words(objection: Objection) -> None:
    assert verdict(objection).removeprefix("refused: ").strip()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"x",
        *map(
            zlib.compress,
            [
                b"",
                b"{",
                b"\xff",
                b"[1]",
                b"1",
                b'[[1],"i",[],[]]',
                b'[[1],"x",[0],[]]',
                b'[2,[1],"i",[],[],[]]',
                b'[3,[],"",[],[],[]]',
                b"[" * 100_000,
                b'[2,[],"",[],[0,%b],[]]' % (b"9" * 400),
            ],
        ),
    ],
)
def test_what_is_no_exchange_is_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError):
        unpack(data)


WORDS = b'[[1,"refused: not your turn"],[2,"won: four in a row"]]'


@pytest.mark.parametrize("head", [b'[0,250,240],"oin",[5,5,0]', b'2,[0,250,240],"oin",[5,5,0],[]'])
def test_evidence_of_an_older_version_is_read_as_before(head: bytes) -> None:
    older = b"[%b,%b]\ngo onput 3" % (head, WORDS)
    assert unpack(zlib.compress(older)) == (
        Line(0, "out", "go on"),
        Line(250, "in", "put 3", "refused: not your turn"),
        Line(250, "note", "", "won: four in a row"),
    )


@given(st.lists(st.sampled_from([each for each in Objection if each is not Objection.PLAYING])))
def test_words_of_a_refusal_are_read_back(objections: list[Objection]) -> None:
    together = Objection(0)
    for each in objections:
        together |= each
    assert objections_in(verdict(together).removeprefix("refused: ")) == together
