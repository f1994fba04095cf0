"""The load's own frames: what is sent, and how what comes is cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.dialects.frames import cut_frames, frame
from conformance.dialects.script import OutOfStep
from conformance.frames import Opcode


def test_mask_is_there_and_is_nought() -> None:
    assert frame(b"Hello") == b"\x81\x85\0\0\0\0Hello"


HEADS = [(125, b"\x81\xfd"), (126, b"\x81\xfe\0\x7e"), (300, b"\x81\xfe\x01\x2c")]


@pytest.mark.parametrize(("size", "head"), HEADS)
def test_length_is_written_as_the_standard_has_it(size: int, head: bytes) -> None:
    assert frame(b"x" * size) == head + b"\0\0\0\0" + b"x" * size


@given(st.lists(st.binary(max_size=300), max_size=4), st.integers(0, 1300))
def test_frames_cut_anywhere_are_the_same_frames(payloads: list[bytes], at: int) -> None:
    data = b"".join(received(payload) for payload in payloads)
    first = cut_frames(data[:at])
    second = cut_frames(first.rest + data[at:])
    assert [*first.messages, *second.messages] == payloads
    assert second.rest == b""


def received(payload: bytes, first: int = 0x81) -> bytes:
    size = len(payload)
    return bytes([first]) + (bytes([size]) if size < 126 else b"\x7e" + size.to_bytes(2, "big")) + payload


def test_ping_is_answered_and_pong_is_not() -> None:
    cut = cut_frames(received(b"1", 0x89) + received(b"text") + received(b"2", 0x8A))
    assert (cut.messages, cut.answer) == ([b"text"], frame(b"1", Opcode.PONG))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (received(b"\x03\xf0already used", 0x88), "1008 already used"),
        (received(b"", 0x88), "no reason given"),
        (received(b"part", 0x01), "0x01"),
        (b"\x81\x85\0\0\0\0Hello", "masked"),
        (b"\x81\x7f" + bytes(8), "more than"),
    ],
)
def test_whatever_else_comes_is_out_of_step(data: bytes, words: str) -> None:
    with pytest.raises(OutOfStep, match=words):
        cut_frames(data)
