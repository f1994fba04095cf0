"""The names of wsproto that adapters/client/framing.py uses, of which not all are documented.

A new version that changes one fails here, and the failure says what to look at. Then adapt framing.py, run
test_framing.py, which holds all of it against wsproto's documented connection, and only then raise the upper
bound of the version in pyproject.toml.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from wsproto import frame_protocol

TEXT, BEGUN_TEXT, CONTINUATION = b"\x81\x85\0\0\0\0Hello", b"\x01\x83\0\0\0\0Hel", b"\x80\x82\0\0\0\0lo"
PING, CLOSE = b"\x89\x81\0\0\0\0p", b"\x88\x82\0\0\0\0\x03\xe8"


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


def test_frame_decoder_of_a_server_takes_bytes_and_refuses_frames_without_a_mask() -> None:
    with in_use(
        "FrameDecoder", "makes one with `client=False` for each message, and feeds it `receive_bytes`"
    ):
        assert decoder(TEXT).process_buffer() is not None
        with pytest.raises(frame_protocol.ParseFailed):
            decoder(b"\x81\x01a").process_buffer()


def test_process_buffer_gives_a_frame_at_a_time_and_none_where_more_is_needed() -> None:
    with in_use("FrameDecoder.process_buffer", "calls it for each frame, until it is None"):
        frames = decoder(PING + TEXT)
        found = [frames.process_buffer(), frames.process_buffer(), frames.process_buffer()]
        assert [each and each.opcode for each in found] == [9, 1, None]


def test_process_buffer_gives_what_has_come_of_a_message_and_control_frames_whole() -> None:
    with in_use(
        "FrameDecoder.process_buffer", "counts on parts of frames, so that nothing large gathers in it"
    ):
        frames = decoder(TEXT[:-2])
        first = frames.process_buffer()
        frames.receive_bytes(TEXT[-2:])
        assert [first, frames.process_buffer()] == [(1, b"Hel", False, True), (0, b"lo", True, True)]
    with in_use("FrameDecoder.process_buffer", "takes every ping, pong and close frame as whole"):
        assert decoder(PING[:-1]).process_buffer() is None


def test_frame_has_its_fields() -> None:
    with in_use("Frame", "reads opcode, payload (as bytes), frame_finished and message_finished"):
        frame = decoder(BEGUN_TEXT).process_buffer()
        assert frame is not None
        assert (type(frame.opcode), frame.opcode) == (frame_protocol.Opcode, 1)
        assert (type(frame.payload), frame.payload) == (bytes, b"Hel")
        assert (frame.frame_finished, frame.message_finished) == (True, False)


def test_header_is_none_between_frames_alone() -> None:
    with in_use(
        "FrameDecoder.header", "asks it whether a frame has begun, and drops a decoder in which none has"
    ):
        frames = decoder()
        assert frames.header is None
        frames.receive_bytes(TEXT[:-1])
        frames.process_buffer()
        assert frames.header is not None
        frames.receive_bytes(TEXT[-1:])
        frames.process_buffer()
        assert frames.header is None


def test_buffer_has_the_length_of_what_is_not_decoded() -> None:
    with in_use(
        "FrameDecoder.buffer", "asks for its len() whether bytes are left, and drops a decoder without"
    ):
        frames = decoder(PING + TEXT[:1])
        frames.process_buffer()
        frames.process_buffer()
        assert len(frames.buffer) == 1
        frames.receive_bytes(TEXT[1:])
        frames.process_buffer()
        assert len(frames.buffer) == 0


def test_message_decoder_puts_frames_together_and_names_the_opcode_of_the_message() -> None:
    with in_use("MessageDecoder.process_frame", "takes from it the opcode and the end of the message"):
        frames, messages = decoder(BEGUN_TEXT + CONTINUATION), frame_protocol.MessageDecoder()
        found = []
        while (frame := frames.process_buffer()) is not None:
            part = messages.process_frame(frame)
            found.append((part.opcode, part.message_finished))
        assert found == [(frame_protocol.Opcode.TEXT, False), (frame_protocol.Opcode.TEXT, True)]


def test_opcode_of_a_message_decoder_is_none_between_messages_alone() -> None:
    with in_use("MessageDecoder.opcode", "asks it whether a message has begun, and drops a decoder without"):
        frames, messages = decoder(BEGUN_TEXT + CONTINUATION), frame_protocol.MessageDecoder()
        opcodes = [messages.opcode]
        while (frame := frames.process_buffer()) is not None:
            messages.process_frame(frame)
            opcodes.append(messages.opcode)
        assert [opcode is None for opcode in opcodes] == [True, False, True]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"\x81\x82\0\0\0\0\xc3\x28", 1007),
        (b"\x01\x82\0\0\0\0\xc3\x28", 1007),
        (CONTINUATION, 1002),
        (BEGUN_TEXT + TEXT, 1002),
    ],
    ids=["no UTF-8", "no UTF-8 in a fragment", "continuation of nothing", "text in a text"],
)
def test_message_decoder_refuses_what_makes_no_message(data: bytes, code: int) -> None:
    with in_use(
        "MessageDecoder.process_frame", "leaves to it the order of fragments, and whether a text is UTF-8"
    ):
        frames, messages = decoder(data), frame_protocol.MessageDecoder()

        def read() -> None:
            while (frame := frames.process_buffer()) is not None:
                messages.process_frame(frame)

        assert code_of(read) == code


@pytest.mark.parametrize(
    "data",
    [
        b"\xc1\x80\0\0\0\0",
        b"\x83\x80\0\0\0\0",
        b"\x09\x80\0\0\0\0",
        b"\x89\xfe\0\x7e\0\0\0\0",
        b"\x81\xfe\0\1\0\0\0\0",
    ],
    ids=["reserved bit", "opcode", "ping in fragments", "long ping", "longer length than needed"],
)
def test_frame_decoder_refuses_what_is_no_frame(data: bytes) -> None:
    with in_use("FrameDecoder.process_buffer", "leaves to it what a frame may be"):
        assert code_of(lambda: decoder(data).process_buffer()) == 1002


def code_of(read: Callable[[], object]) -> int:
    """Return the close code of what is refused."""
    with pytest.raises(frame_protocol.ParseFailed) as failed:
        read()
    return failed.value.code.value


def test_parse_failed_has_a_close_code_which_is_1002_unless_told() -> None:
    with in_use("ParseFailed", "raises it too, and says its code.value to the client"):
        reasons = frame_protocol.CloseReason
        assert frame_protocol.ParseFailed("words").code is reasons.PROTOCOL_ERROR
        assert frame_protocol.ParseFailed("words", reasons.MESSAGE_TOO_BIG).code is reasons.MESSAGE_TOO_BIG


def test_close_reasons_and_opcodes_are_those_of_rfc_6455() -> None:
    with in_use("CloseReason", "names two of them"):
        reasons = frame_protocol.CloseReason
        assert (reasons.MESSAGE_TOO_BIG.value, reasons.INVALID_FRAME_PAYLOAD_DATA.value) == (1009, 1007)
    with in_use("Opcode", "compares them by `is`, and asks `iscontrol()`"):
        opcodes = frame_protocol.Opcode
        frames = decoder(PING + CLOSE)
        assert [frame.opcode for frame in (frames.process_buffer(), frames.process_buffer()) if frame] == [
            opcodes.PING,
            opcodes.CLOSE,
        ]
        assert [each.value for each in opcodes if each.iscontrol()] == [8, 9, 10]
        assert frame_protocol.Opcode(9) is opcodes.PING
