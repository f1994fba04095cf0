"""When a check is over, and what it says of bots that did not come."""

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

NAC4 = next(each for each in DIALECTS if each.name == "nac4")


def check_of(bots: int, wait: float = 1.0) -> Check:
    """Return a check of nac4 bots."""
    return Check(NAC4, CheckOptions(patience=1.0, slow=1.0, wait=wait, bots=bots, own=Nac4Options()))


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
        listener = (await trio.open_tcp_listeners(0, host="127.0.0.1"))[0]
        stream = await trio.testing.open_stream_to_socket_listener(listener)
        ours = await listener.accept()
        await stream.aclose()
        await check.serve(ours)
        await listener.aclose()
    assert check.bots.is_done.is_set() == (probes == 3)
    (found,) = check.conclude()
    assert (found.name, found.connections) == (NAMELESS, probes)
    assert found.faults[0].words == "it hung up without a word"


@pytest.mark.parametrize("answers", [False, True])
async def test_who_says_nothing_until_the_server_hangs_up_said_nothing_in_time(answers, autojump_clock):
    check = check_of(1)
    listener = (await trio.open_tcp_listeners(0, host="127.0.0.1"))[0]
    stream = await trio.testing.open_stream_to_socket_listener(listener)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(check.serve, await listener.accept())
        while await stream.receive_some():
            pass
        if answers:
            await stream.aclose()
    await stream.aclose()
    await listener.aclose()
    assert check.bots.is_done.is_set()
    (found,) = check.conclude()
    assert [each.words for each in found.faults] == ["it said nothing in time"]


OPENING = (
    b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
CLOSE = b"\x88\x80\0\0\0\0"


@pytest.mark.parametrize("farewell", [b"", CLOSE])
async def test_bot_that_hangs_up_before_its_first_message_has_come_by_websocket(farewell, autojump_clock):
    check = check_of(1)
    listener = (await trio.open_tcp_listeners(0, host="127.0.0.1"))[0]
    stream = await trio.testing.open_stream_to_socket_listener(listener)
    async with trio.open_nursery() as nursery:
        await stream.send_all(OPENING)
        nursery.start_soon(check.serve, await listener.accept())
        assert (await stream.receive_some()).startswith(b"HTTP/1.1 101")
        await stream.send_all(farewell)
        await stream.aclose()
    await listener.aclose()
    assert check.bots.is_done.is_set()
    (found,) = check.conclude()
    assert [(each.topic, each.words) for each in found.faults] == [
        (Topic.ENTRY, "it hung up before its first message")
    ]


async def test_who_looks_whether_the_port_is_open_keeps_no_check_from_its_end(autojump_clock):
    check = Check(
        next(each for each in DIALECTS if not each.scheme),
        CheckOptions(patience=5.0, slow=1.0, wait=1.0, own=DroidconOptions(rounds=1)),
    )
    listener = (await trio.open_tcp_listeners(0, host="127.0.0.1"))[0]
    async with trio.open_nursery() as nursery:

        async def come() -> trio.SocketStream:
            stream = await trio.testing.open_stream_to_socket_listener(listener)
            nursery.start_soon(check.serve, await listener.accept())
            return stream

        bot = await come()
        await bot.send_all(b"NAME ann\n")
        await trio.testing.wait_all_tasks_blocked()
        await bot.aclose()
        await trio.sleep(0.5)
        probe = await come()
        await trio.sleep(1.0)  # the bot does not come again, but somebody is there
        assert not check.bots.is_done.is_set()
        await probe.aclose()
    await listener.aclose()
    assert check.bots.is_done.is_set()


async def hear_out(stream: trio.SocketStream) -> None:
    async with stream:
        while await stream.receive_some():
            pass


@pytest.mark.parametrize("kinds", [1, 25])
async def test_of_many_strangers_a_few_are_kept(kinds, autojump_clock):
    check = check_of(1)
    listener = (await trio.open_tcp_listeners(0, host="127.0.0.1"))[0]
    async with trio.open_nursery() as nursery:
        for number in range(25):
            stream = await trio.testing.open_stream_to_socket_listener(listener)
            await stream.send_all(b"what %d\r\n\r\n" % (number % kinds))
            await stream.send_eof()
            nursery.start_soon(check.serve, await listener.accept())
            nursery.start_soon(hear_out, stream)
    await listener.aclose()
    (found,) = check.conclude()
    assert (found.connections, len(found.faults)) == (25, 20)


def test_bot_with_another_name_each_time_is_told_and_keeps_no_check_from_its_end():
    check = check_of(2)
    found = [check.bots.of(name) for name in ("ann", "bob1", "bob2", "bob3", "ann", None)]
    assert [each.name for each in found] == ["ann", "bob1", *["(further names)"] * 2, "ann", NAMELESS]
    assert [each.mixed for each in found] == ["", "", *["more names than bots"] * 2, "", ""]


async def test_same_last_words_are_kept_once():
    check = check_of(1)
    for words in (["line 1", "KeyError"], ["line 2", "KeyError"], [], []):
        check.bots.failed("bot", "ended with status 1", words)
    assert list(as_last_words(check.bots.failures)) == [
        "\n'bot' ended with status 1, and said last:",
        "    line 1",
        "    KeyError",
        "\n'bot' ended with status 1, and said nothing",
    ]
