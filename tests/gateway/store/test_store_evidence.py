"""What is kept of the exchange on the wire, and that nobody can make it grow."""

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.store.evidence import HEAD, LONGEST, TAIL, Line, Recorder, pack, size, unpack

lines = st.builds(Line, st.integers(0, 2**40), st.sampled_from(["in", "out", "note"]), st.text(), st.text())


def recorded(count: int, text: str = "x") -> Recorder:
    recorder = Recorder()
    for at in range(count):
        recorder.add(at, "in", text)
    return recorder


@given(st.lists(lines).map(tuple))
def test_exchange_is_unpacked_as_it_was_packed(exchange: tuple[Line, ...]) -> None:
    assert unpack(pack(exchange)) == exchange


@pytest.mark.parametrize(
    "data", [b"", b"x", zlib.compress(b"{"), zlib.compress(b"[[1]]"), zlib.compress(b"[1]")]
)
def test_what_is_no_exchange_is_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError):
        unpack(data)


def test_lines_come_in_the_order_they_were_added() -> None:
    assert [line.at for line in recorded(HEAD + TAIL).exchange()] == list(range(HEAD + TAIL))


def test_beginning_and_end_of_a_long_exchange_are_kept_and_the_gap_is_told() -> None:
    exchange = recorded(HEAD + TAIL + 1000).exchange()
    assert [line.at for line in exchange[:HEAD]] == list(range(HEAD))
    assert exchange[HEAD] == Line(HEAD + 1000, "note", "", "1000 lines left out")
    assert [line.at for line in exchange[HEAD + 1 :]] == list(range(HEAD + 1000, HEAD + TAIL + 1000))


def test_long_text_is_cut_and_its_length_told() -> None:
    recorder = Recorder()
    recorder.add(0, "in", "a" * 5000, "b" * 5000)
    [line] = recorder.exchange()
    assert line.text == "a" * LONGEST + "... (5000 characters)"
    assert line.verdict == "b" * LONGEST + "... (5000 characters)"


def test_no_client_makes_an_exchange_grow_beyond_its_bound() -> None:
    bound = size(recorded(HEAD + TAIL + 1, "x" * 10_000).exchange())
    assert bound < 500_000
    assert size(recorded(10_000, "x" * 10_000).exchange()) <= bound + 10
