"""A child process: the frames between it and its parent, and the pauses before it is started again."""

import pytest
import trio
import trio.testing

from gateway.runtime.child import LASTING, Backoff, Child, Link, LinkError
from gateway.runtime.processes import frame

FRAMES = [b"", b"a", b"\0\0\0\5hello", bytes(70_000)]


@pytest.mark.parametrize("size", [1, 3, 1 << 20])
async def test_frames_arrive_as_they_were_sent_however_they_are_cut(size: int) -> None:
    one, other = trio.testing.memory_stream_pair()
    link, data = Link(other), b"".join(map(frame, FRAMES[:3] if size == 1 else FRAMES))
    for start in range(0, len(data), size):
        await one.send_all(data[start : start + size])
    await one.aclose()
    found = []
    while (received := await link.receive()) is not None:
        found.append(received)
    assert found == (FRAMES[:3] if size == 1 else FRAMES)


async def test_frames_of_several_tasks_arrive_whole() -> None:
    one, other = trio.testing.lockstep_stream_pair()
    here, there = Link(one), Link(other)
    async with trio.open_nursery() as nursery:
        for number in range(5):
            nursery.start_soon(here.send, b"%d" % number * 100)
        found = [await there.receive() for _ in range(5)]
    assert sorted(found, key=str) == [b"%d" % number * 100 for number in range(5)]


@pytest.mark.parametrize("data", [b"\0", b"\0\0\0\2", b"\0\0\0\2a", frame(b"12345678901")])
async def test_frame_that_is_cut_or_too_long_is_an_error(data: bytes) -> None:
    one, other = trio.testing.memory_stream_pair()
    await one.send_all(data)
    await one.aclose()
    link = Link(other, longest=10)
    if data == b"\0":
        assert await link.receive() is None  # nothing of a message was there
        return
    with pytest.raises(LinkError):
        await link.receive()


async def test_who_sends_to_one_that_is_gone_hears_so() -> None:
    one, other = trio.testing.memory_stream_pair()
    await other.aclose()
    with pytest.raises(LinkError, match="gone"):
        await Link(one).send(b"a")


async def test_child_has_one_link_until_it_is_ended() -> None:
    child = Child("echoing")
    link = await child.start()
    assert child.link is link
    assert child.pid is not None
    assert await child.end(30.0) == 0
    assert (child.link, child.pid, await child.end(0.0)) == (None, None, None)


def test_pauses_grow_from_none_and_begin_anew_after_a_run_that_lasted() -> None:
    backoff = Backoff()
    assert [backoff.after(0.0) for _ in range(9)] == [0, 0.5, 1, 2, 4, 8, 10, 10, 10]
    assert [backoff.after(LASTING + 1), backoff.after(0.0)] == [0, 0.5]
