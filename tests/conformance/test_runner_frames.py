"""Websocket frames: split anywhere, joined right, and strict about what a server may send."""

import itertools
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.frames import Frame, FrameError, FrameReader, Handshake, Opcode, close_reason, encode


def from_server(opcode: int, payload: bytes, first: int = 0x80) -> bytes:
    size = len(payload)
    if size < 126:
        return bytes((first | opcode, size)) + payload
    if size < 1 << 16:
        return bytes((first | opcode, 126)) + struct.pack("!H", size) + payload
    return bytes((first | opcode, 127)) + struct.pack("!Q", size) + payload


def unmasked(frame: bytes) -> bytes:
    """What a server reads from a short client frame."""
    mask, payload = frame[2:6], frame[6:]
    return bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))


STREAM = (
    from_server(1, b"genmo", first=0)
    + from_server(9, b"ping")
    + from_server(0, b"ve\r\n")
    + from_server(2, b"\xff" * 300)
    + from_server(1, b"x" * 70000)
    + from_server(8, struct.pack("!H", 1008) + b"already used")
)
FRAMES = [
    Frame(Opcode.PING, b"ping"),
    Frame(Opcode.TEXT, b"genmove\r\n"),
    Frame(Opcode.BINARY, b"\xff" * 300),
    Frame(Opcode.TEXT, b"x" * 70000),
    Frame(Opcode.CLOSE, struct.pack("!H", 1008) + b"already used"),
]


def test_stream_is_cut_into_messages_and_control_frames() -> None:
    assert list(FrameReader().feed(STREAM)) == FRAMES


@given(st.lists(st.integers(0, len(STREAM)), max_size=8))
def test_stream_split_anywhere_reads_the_same(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(STREAM)]
    reader = FrameReader()
    found = [frame for i, j in itertools.pairwise(edges) for frame in reader.feed(STREAM[i:j])]
    assert found == FRAMES


@pytest.mark.parametrize("size", [0, 1, 125])
def test_frames_of_a_client_are_masked(size: int) -> None:
    frame = encode(Opcode.TEXT, b"x" * size)
    assert frame[:2] == bytes((0x81, 0x80 | size))
    assert unmasked(frame) == b"x" * size


def test_long_frames_say_their_length_in_two_or_eight_bytes() -> None:
    assert encode(Opcode.TEXT, b"x" * 126)[:4] == b"\x81\xfe\x00\x7e"
    assert encode(Opcode.TEXT, b"x" * 65536)[:10] == b"\x81\xff\x00\x00\x00\x00\x00\x01\x00\x00"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x81\x80\x00\x00\x00\x00", "a masked frame"),
        (b"\xc1\x00", "a frame with reserved bits set"),
        (b"\x83\x00", "a frame with the unknown opcode 3"),
        (b"\x80\x00", "a fragment out of order"),
        (b"\x01\x00\x81\x00", "a fragment out of order"),
        (b"\x09\x00", "a control frame in fragments or over 125 bytes"),
        (b"\x88\x7e\x00\x80", "a control frame in fragments or over 125 bytes"),
    ],
)
def test_what_no_server_may_send_is_told(data: bytes, message: str) -> None:
    with pytest.raises(FrameError) as raised:
        list(FrameReader().feed(data))
    assert str(raised.value) == message


def test_close_without_a_code_is_1005() -> None:
    assert close_reason(b"") == (1005, "")
    assert close_reason(struct.pack("!H", 1001) + b"bye") == (1001, "bye")


@pytest.mark.parametrize("payload", [b"\x03", struct.pack("!H", 1000) + b"\xff"])
def test_broken_close_frame_is_told(payload: bytes) -> None:
    with pytest.raises(FrameError, match="a close frame"):
        close_reason(payload)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (b"HTTP/1.1 404 Not Found", "the handshake was answered 'HTTP/1.1 404 Not Found'"),
        (b"", "the handshake was answered ''"),
        (
            b"HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: x",
            "the handshake was answered with a wrong Sec-WebSocket-Accept",
        ),
    ],
)
def test_refused_handshake_is_told(answer: bytes, message: str) -> None:
    with pytest.raises(FrameError) as raised:
        Handshake("localhost:1", "/").accept(answer)
    assert str(raised.value) == message
