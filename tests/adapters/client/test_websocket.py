"""Frames of a websocket as clients send them, and what the server answers (RFC 6455)."""

import logging

import pytest
import trio
import trio.testing
from frame_strategies import streams as frame_streams
from hypothesis import given, settings
from trials import FEW
from worlds.connection import (
    BEGIN,
    BINARY,
    CLOSE,
    END,
    GO_ON,
    PING,
    PONG,
    TEXT,
    answered,
    connections,
    frame,
)

from gateway.game.events import Dismissed, Why

pytestmark = pytest.mark.trio

MOST = 65_536
"""Bytes that a message may have."""
FRAGMENTS = 1024
"""Frames that a message may have."""
HELLO = frame(TEXT, "hello")


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


# Messages.


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (frame(TEXT, "play 3\r\n"), "play 3\r\n"),
        (frame(BINARY, "play 3\r\n"), "play 3\r\n"),
        (frame(TEXT, "\u00e4\u20ac", b"mask"), "\u00e4\u20ac"),
        (frame(BINARY, b"a\xff"), "a\\udcff"),
        (frame(TEXT), ""),
        (frame(TEXT, "x" * 125), "x" * 125),
        (frame(TEXT, "x" * 126), "x" * 126),
        (frame(TEXT, "x" * MOST), "x" * MOST),
        (frame(BEGIN, "a") + frame(GO_ON, "b") + frame(GO_ON | END, "c"), "abc"),
        (frame(BEGIN, b"\xc3") + frame(GO_ON | END, b"\xa4"), "\u00e4"),
        (frame(BEGIN, "a") + frame(PING) + frame(PONG) + frame(GO_ON | END, "b"), "ab"),
        (frame(BEGIN) + frame(GO_ON, "x" * 64) * (FRAGMENTS - 2) + frame(GO_ON | END), "x" * 65_408),
        (
            frame(BEGIN) + (frame(GO_ON, "a") + frame(PING)) * (FRAGMENTS - 2) + frame(GO_ON | END),
            "a" * (FRAGMENTS - 2),
        ),
    ],
)
async def test_message_is_a_text_in_whatever_frames_it_comes(data: bytes, text: str) -> None:
    async with connections() as world:
        ann = await world.connect("websocket")
        ann.send(data + HELLO + data)
        await world.quiet()
        assert answered(ann.texts) == [text, "hello", text]
        assert not ann.is_hung_up_on


async def test_text_of_any_length_is_sent_as_one_frame() -> None:
    async with connections() as world:
        ann = await world.connect("websocket")
        for size in (1, 90, 91, 92, 125, 126, 127, 65_450, MOST):
            ann.say("x" * size)
        await world.quiet()
        assert [len(text) for text in answered(ann.texts)] == [1, 90, 91, 92, 125, 126, 127, 65_450, MOST]


@pytest.mark.parametrize("payload", ["", "abc", "x" * 125])
async def test_ping_is_answered_by_a_pong_with_its_payload(payload: str) -> None:
    async with connections() as world:
        ann = await world.connect("websocket")
        ann.send(frame(PING, payload) + frame(BEGIN, "a") + frame(PING, payload) + frame(GO_ON | END, "b"))
        await world.quiet()
        assert ann.frames == [(PONG, payload.encode())] * 2
        assert answered(ann.texts) == ["ab"]


# Messages that are none.


async def closed_with(data: bytes) -> int | None:
    """Return the code with which a client is closed that sends `data`."""
    async with connections() as world:
        ann = await world.connect("websocket")
        ann.send(data)
        await world.quiet()
        assert ann.socket.is_closed
        assert not ann.socket.was_cut_off
        assert len(ann.frames) == 1
        return None if ann.close_frame is None else ann.close_frame[0]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"\x81\x05hello", 1002),  # not masked
        (frame(TEXT, b"\xc3\x28"), 1007),  # a text that is no UTF-8
        (frame(BEGIN, b"\xc3") + frame(GO_ON | END, b"\x28"), 1007),
        (frame(0x83), 1002),  # an opcode that is none
        (frame(0x8B), 1002),
        (frame(0xF1), 1002),  # reserved bits
        (frame(GO_ON | END), 1002),  # goes on with a message that never began
        (frame(BEGIN, "a") + HELLO, 1002),  # begins one within another
        (frame(CLOSE, "x"), 1002),  # half a close code
        (frame(CLOSE, b"\x03\xe8\xff"), 1007),  # a reason that is no UTF-8
        (frame(CLOSE, b"\x03\xed"), 1002),  # a code that no frame has
        (frame(PING, "x" * 126), 1002),  # a ping too long
        (frame(PING & 0x7F), 1002),  # half a ping
        (frame(TEXT, "x" * (MOST + 1)), 1009),
        (frame(BINARY, "x" * (MOST + 1)), 1009),
        (frame(TEXT, "x" * 1_000_000), 1009),
        (frame(TEXT, "x" * 1_000_000)[: MOST + 1000], 1009),  # while it is still being sent
        (frame(BEGIN, "x" * MOST) + frame(GO_ON, "x"), 1009),
        (frame(BEGIN) + frame(GO_ON) * FRAGMENTS, 1009),
        (frame(BEGIN) + frame(GO_ON, "a") * FRAGMENTS, 1009),
    ],
)
async def test_broken_frame_is_closed_with_a_fitting_code_and_is_never_our_bug(
    data: bytes, code: int, caplog: pytest.LogCaptureFixture, autojump_clock: trio.testing.MockClock
) -> None:
    assert await closed_with(data) == code
    assert await closed_with(data + HELLO + data) == code
    assert warnings(caplog) == []


async def test_texts_before_a_broken_frame_are_answered_first() -> None:
    async with connections() as world:
        ann = await world.connect("websocket")
        ann.send(HELLO + frame(BINARY, "a") + HELLO + frame(TEXT, b"\xff") + HELLO)
        await world.quiet()
        assert answered(ann.texts) == ["hello", "a", "hello"]
        assert ann.frames == [(CLOSE, b"\x03\xef")]


# Closing.


@pytest.mark.parametrize("payload", [b"", b"\x03\xe8", b"\x03\xe9", b"\x03\xea", b"\x0f\xa0", b"\x03\xe8bye"])
async def test_close_frame_is_answered_by_its_like_after_all_before_it(payload: bytes) -> None:
    async with connections() as world:
        ann = await world.connect("websocket", "ann")
        ann.send(HELLO + frame(BINARY, "x") + frame(CLOSE, payload))
        await world.quiet()
        assert answered(ann.texts) == ["hello", "x"]
        assert [(kind, data[:2]) for kind, data in ann.frames] == [(CLOSE, payload[:2])]
        assert ann.socket.is_closed
        assert len(world.hub) == 0


async def test_client_that_has_closed_its_websocket_is_told_nothing_more() -> None:
    async with connections() as world:
        ann, bob = await world.game("websocket")
        world.results.hold()
        bob.send(frame(CLOSE, b"\x03\xe8"))
        await world.quiet()
        ann.say("x")
        world.results.store()
        await world.quiet()
        assert bob.texts == []
        assert bob.frames == [(CLOSE, b"\x03\xe8")]
        assert ann.texts[0] == "Ended"


BEHIND = {
    "fragments": frame(BEGIN) + frame(GO_ON) * (FRAGMENTS + 100),
    "close, fragments": frame(BEGIN) + frame(GO_ON) * (FRAGMENTS - 1) + frame(CLOSE) + frame(GO_ON) * 10,
    "close, few fragments": frame(BEGIN) + frame(GO_ON) * 10 + frame(CLOSE) + frame(GO_ON) * 10 + HELLO,
    "close, all kinds": frame(CLOSE) + HELLO + frame(PING) + frame(PONG) + frame(BEGIN),
    "closes": frame(CLOSE) + frame(CLOSE),
    "close, junk": frame(CLOSE) + frame(0x83),
}


@pytest.mark.parametrize("closes_first", [False, True], ids=["client closes", "server closes"])
@pytest.mark.parametrize("said", BEHIND.values(), ids=BEHIND)
async def test_what_comes_behind_a_close_frame_is_dropped(
    said: bytes, closes_first: bool, caplog: pytest.LogCaptureFixture, autojump_clock: trio.testing.MockClock
) -> None:
    async with connections() as world:
        ann = await world.connect("websocket", "ann")
        ann.answers = False
        if closes_first:
            world.tell(ann, Dismissed(Why.STOPPED))
            await world.quiet()
        ann.send(said)
        await trio.sleep(3)
        assert [kind for kind, _ in ann.frames] == [CLOSE]
        assert ann.texts == ["Entered"]
        assert ann.socket.is_closed
    assert warnings(caplog) == []


@pytest.mark.parametrize(
    "said",
    [
        frame(PING) * 3,
        frame(TEXT, "x" * (MOST + 1)),
        frame(BEGIN) + frame(GO_ON) * FRAGMENTS,
        frame(0x83),
        HELLO,
    ],
    ids=["pings", "too long", "fragments", "junk", "text"],
)
@pytest.mark.parametrize("then", [b"", frame(CLOSE, b"\x03\xe8")], ids=["", "close"])
async def test_server_that_has_sent_its_close_frame_sends_nothing_more(
    said: bytes, then: bytes, caplog: pytest.LogCaptureFixture, autojump_clock: trio.testing.MockClock
) -> None:
    async with connections() as world:
        ann = await world.connect("websocket", "ann")
        ann.answers = False
        world.tell(ann, Dismissed(Why.STOPPED))
        await world.quiet()
        ann.send(said + then)
        await trio.sleep(3)
        assert ann.frames == [(CLOSE, b"\x03\xe8server stopped")]
        assert ann.texts == ["Entered"]
    assert warnings(caplog) == []


# However the bytes come.


async def conversation(*pieces: bytes) -> tuple[list[str], list[tuple[int, bytes]]]:
    """Let a client send some pieces, then hang up; return what it was told."""
    async with connections() as world:
        ann = await world.connect("websocket")
        ann.answers = False
        for piece in pieces:
            ann.send(piece)
            await world.quiet()
        ann.hangs_up()
        await world.quiet()
        return ann.texts, ann.frames


@settings(max_examples=FEW)
@given(frame_streams)
async def test_frames_mean_the_same_however_their_bytes_come(data: bytes) -> None:
    whole = await conversation(data)
    assert await conversation(*(data[index : index + 1] for index in range(len(data)))) == whole


@settings(max_examples=FEW)
@given(frame_streams)
async def test_frames_mean_the_same_behind_a_frame_of_an_unusual_kind(data: bytes) -> None:
    """Usual ones are read without the library; the first of another kind makes it the reader."""
    assert await conversation(frame(BINARY, "a"), data) == await conversation(frame(TEXT, "a"), data)


@pytest.mark.parametrize("cut", range(1, len(HELLO)))
@pytest.mark.parametrize("begin", [b"", HELLO, frame(BINARY, "a"), frame(BEGIN, "a")])
async def test_frame_that_never_ends_is_no_text(
    cut: int, begin: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    texts, frames = await conversation(begin + HELLO[:cut])
    assert "hello" not in answered(texts)[1 if begin == HELLO else 0 :]
    assert [kind for kind, _ in frames] in ([], [CLOSE])
    assert warnings(caplog) == []


async def test_text_counts_though_the_pong_to_what_came_before_it_cannot_be_sent() -> None:
    async with connections() as world:
        ann, bob = await world.game("websocket")
        ann.socket.is_deaf = True
        ann.send(frame(PING) + frame(TEXT, "play 3"))
        await world.quiet()
        assert bob.texts[0] == "Moved"
