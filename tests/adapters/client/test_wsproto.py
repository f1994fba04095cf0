"""The names of wsproto that adapters/client/framing.py uses, of which not all are documented.

A new version that changes one fails here, and the failure says what to look at. Then adapt framing.py, run
test_framing.py, which holds all of it against wsproto's documented connection, and only then raise the upper
bound of the version in pyproject.toml.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from wsproto import frame_protocol

TEXT, BEGUN_TEXT, CONTINUATION = b"\x81\x85\0\0\0\0Hello", b"\x01\x83\0\0\0\0Hel", b"\x80\x82\0\0\0\0lo"
PING = b"\x89\x81\0\0\0\0p"


@contextmanager
def in_use(name: str, use: str) -> Iterator[None]:
    """Say of a failure that the name has changed, and what framing.py uses it for."""
    try:
        yield
    except (Exception, pytest.fail.Exception) as error:
        pytest.fail(
            f"wsproto.frame_protocol.{name} has changed: adapters/client/framing.py {use}. Adapt it, and see "
            f"that test_framing.py passes. ({error!r})"
        )


def decoder(data: bytes = b"") -> frame_protocol.FrameDecoder:
    made = frame_protocol.FrameDecoder(client=False)
    made.receive_bytes(data)
    return made


def read(data: bytes) -> list[tuple[frame_protocol.Opcode, bool, bool]]:
    """Return opcode and end of each part of a message, and whether none is open behind it."""
    frames, messages, found = decoder(data), frame_protocol.MessageDecoder(), []
    while (frame := frames.process_buffer()) is not None:
        part = messages.process_frame(frame)
        found.append((part.opcode, part.message_finished, messages.opcode is None))
    return found


def test_frame_decoder_gives_each_frame_or_what_has_come_of_a_message() -> None:
    with in_use("FrameDecoder.process_buffer", "calls it for each frame, until it is None"):
        frames = decoder(PING + TEXT[:-2])
        ping, begun, none = frames.process_buffer(), frames.process_buffer(), frames.process_buffer()
        assert ping is not None
        assert begun is not None
        assert none is None
        assert (ping.opcode, ping.payload) == (frame_protocol.Opcode.PING, b"p")
        assert type(begun.payload) is bytes
        assert begun == (frame_protocol.Opcode.TEXT, b"Hel", False, True)
        frames.receive_bytes(TEXT[-2:])
        assert frames.process_buffer() == (frame_protocol.Opcode.CONTINUATION, b"lo", True, True)
    with in_use("FrameDecoder.process_buffer", "takes every ping, pong and close frame as whole"):
        assert decoder(PING[:-1]).process_buffer() is None


def test_frame_decoder_says_whether_a_frame_has_begun() -> None:
    with in_use("FrameDecoder.header and buffer", "drops a decoder without a header and with no bytes left"):
        frames = decoder()
        for data, has_header, left in (
            (PING + TEXT[:1], False, 1),
            (TEXT[1:-1], True, 0),
            (TEXT[-1:], False, 0),
        ):
            frames.receive_bytes(data)
            while frames.process_buffer() is not None:
                pass
            assert (frames.header is not None, len(frames.buffer)) == (has_header, left)


def test_message_decoder_puts_frames_together_and_says_whether_a_message_is_open() -> None:
    with in_use(
        "MessageDecoder", "takes from it the opcode and the end of a message, and whether one is open"
    ):
        text = frame_protocol.Opcode.TEXT
        assert read(BEGUN_TEXT + CONTINUATION) == [(text, False, False), (text, True, True)]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"\x81\x82\0\0\0\0\xc3\x28", 1007),
        (b"\x01\x82\0\0\0\0\xc3\x28", 1007),
        (CONTINUATION, 1002),
        (BEGUN_TEXT + TEXT, 1002),
        (b"\x81\x01a", 1002),
        (b"\xc1\x80\0\0\0\0", 1002),
        (b"\x83\x80\0\0\0\0", 1002),
        (b"\x09\x80\0\0\0\0", 1002),
        (b"\x89\xfe\0\x7e\0\0\0\0", 1002),
        (b"\x81\xfe\0\1\0\0\0\0", 1002),
    ],
    ids=[
        *("no UTF-8", "no UTF-8 in a fragment", "continuation of nothing", "text in a text", "no mask"),
        *("reserved bit", "opcode", "ping in fragments", "long ping", "longer length than needed"),
    ],
)
def test_what_is_no_frame_or_makes_no_message_is_refused_with_its_close_code(data: bytes, code: int) -> None:
    with in_use(
        "ParseFailed", "leaves to the decoders what is refused, and says its code.value to the client"
    ):
        with pytest.raises(frame_protocol.ParseFailed) as failed:
            read(data)
        assert failed.value.code.value == code


def test_close_reasons_and_opcodes_are_those_of_rfc_6455() -> None:
    with in_use("CloseReason, Opcode and ParseFailed", "names two reasons, and asks opcodes `iscontrol()`"):
        reasons, opcodes = frame_protocol.CloseReason, frame_protocol.Opcode
        assert (reasons.MESSAGE_TOO_BIG.value, reasons.INVALID_FRAME_PAYLOAD_DATA.value) == (1009, 1007)
        assert frame_protocol.ParseFailed("words").code is reasons.PROTOCOL_ERROR
        assert frame_protocol.ParseFailed("words", reasons.MESSAGE_TOO_BIG).code is reasons.MESSAGE_TOO_BIG
        assert [each.value for each in opcodes if each.iscontrol()] == [8, 9, 10]
        assert opcodes(8) is opcodes.CLOSE
