"""When a check is over, and what it says of bots that did not come."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio
import trio.testing

from adapters.check.bots import NAMELESS
from adapters.check.options import CheckOptions
from adapters.check.report import as_last_words
from adapters.check.serving import Check
from adapters.client.rules import Topic
from adapters.dialects import DIALECTS
from adapters.droidcon.options import DroidconOptions
from adapters.nac4.options import Nac4Options

BY_NAME = {each.name: each for each in DIALECTS}


class Served:
    """A check at a port, and those who come there."""

    def __init__(self, check: Check, listener: trio.SocketListener, nursery: trio.Nursery) -> None:
        self.check, self._listener, self._nursery = check, listener, nursery

    async def come(self) -> trio.SocketStream:
        """Return a client that is served."""
        stream = await trio.testing.open_stream_to_socket_listener(self._listener)
        self._nursery.start_soon(self.check.serve, await self._listener.accept())
        return stream


@asynccontextmanager
async def serving(check: Check) -> AsyncIterator[Served]:
    """Serve until all who came have gone."""
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    async with listener, trio.open_nursery() as nursery:
        yield Served(check, listener, nursery)


def check_of(bots: int, wait: float = 1.0) -> Check:
    """Return a check of nac4 bots."""
    options = CheckOptions(patience=1.0, slow=1.0, wait=wait, bots=bots, own=Nac4Options())
    return Check(BY_NAME["nac4"], options)


async def hear_out(stream: trio.SocketStream) -> None:
    async with stream:
        while await stream.receive_some():
            pass


def test_bot_that_cannot_come_does_not_end_the_check_of_another():
    check = check_of(2)
    check.bots.give_up()
    assert not check.bots.is_done.is_set()
    check.bots.give_up()
    assert check.bots.is_done.is_set()


async def test_check_is_over_if_no_bot_that_was_started_ever_connects(autojump_clock):
    check = check_of(1)
    await check.wait_for_first()
    assert check.bots.is_done.is_set()
    assert check.conclude() == []


@pytest.mark.parametrize("probes", [1, 3])
async def test_who_looks_once_whether_the_port_is_open_ends_nothing(probes):
    check = check_of(1, wait=0.0)
    for _ in range(probes):
        async with serving(check) as served, await served.come():
            pass
    assert check.bots.is_done.is_set() == (probes == 3)
    (found,) = check.conclude()
    assert (found.name, found.connections) == (NAMELESS, probes)
    assert found.faults[0].topic is Topic.TRANSPORT


@pytest.mark.parametrize("answers", [False, True])
async def test_who_says_nothing_until_the_server_hangs_up_said_nothing_in_time(answers, autojump_clock):
    check = check_of(1)
    async with serving(check) as served:
        stream = await served.come()
        while await stream.receive_some():
            pass
        if answers:
            await stream.aclose()
    await stream.aclose()
    assert check.bots.is_done.is_set()
    (found,) = check.conclude()
    assert [each.words for each in found.faults] == ["it sent nothing in time"]


OPENING = (
    b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
CLOSE = b"\x88\x80\0\0\0\0"


@pytest.mark.parametrize("farewell", [b"", CLOSE])
async def test_bot_that_hangs_up_before_its_first_message_has_come_by_websocket(farewell, autojump_clock):
    check = check_of(1)
    async with serving(check) as served, await served.come() as stream:
        await stream.send_all(OPENING)
        assert (await stream.receive_some()).startswith(b"HTTP/1.1 101")
        await stream.send_all(farewell)
    assert check.bots.is_done.is_set()
    (found,) = check.conclude()
    assert [(each.topic, each.words) for each in found.faults] == [
        (Topic.ENTRY, "it hung up before its first message")
    ]


async def test_who_looks_whether_the_port_is_open_keeps_no_check_from_its_end(autojump_clock):
    options = CheckOptions(patience=5.0, slow=1.0, wait=1.0, own=DroidconOptions(rounds=1))
    check = Check(BY_NAME["droidcon"], options)
    async with serving(check) as served:
        async with await served.come() as bot:
            await bot.send_all(b"NAME ann\n")
            await trio.testing.wait_all_tasks_blocked()
        await trio.sleep(0.5)
        async with await served.come():
            await trio.sleep(1.0)  # the bot does not come again, but somebody is there
            assert not check.bots.is_done.is_set()
    assert check.bots.is_done.is_set()


@pytest.mark.parametrize("kinds", [1, 25])
async def test_of_many_strangers_a_few_are_kept(kinds, autojump_clock):
    check = check_of(1)
    async with serving(check) as served, trio.open_nursery() as nursery:
        for number in range(25):
            stream = await served.come()
            await stream.send_all(b"what %d\r\n\r\n" % (number % kinds))
            await stream.send_eof()
            nursery.start_soon(hear_out, stream)
    (found,) = check.conclude()
    assert (found.connections, len(found.faults)) == (25, 20)


def test_bot_with_another_name_each_time_is_told_and_keeps_no_check_from_its_end():
    check = check_of(2)
    found = [check.bots.of(name) for name in ("ann", "bob1", "bob2", "bob3", "ann", None)]
    assert [each.name for each in found] == ["ann", "bob1", *["(further names)"] * 2, "ann", NAMELESS]
    assert [bool(each.mixed) for each in found] == [False, False, True, True, False, False]


async def test_same_last_words_are_kept_once():
    check = check_of(1)
    for words in (["line 1", "KeyError"], ["line 2", "KeyError"], [], []):
        check.bots.failed("bot", "ended with status 1", words)
    lines = list(as_last_words(check.bots.failures))
    assert [line for line in lines if line.startswith("    ")] == ["    line 1", "    KeyError"]
    assert len(lines) == 4
