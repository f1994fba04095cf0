"""One port for all dialects: what is read before anybody knows what a client wants."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
import trio
import trio.testing
from worlds.connection import (
    CLOSE,
    GET,
    HANDSHAKE,
    PING,
    PONG,
    Client,
    Framing,
    World,
    connections,
    frame,
)

from adapters.client.accepted import Accepted, Serve, hang_up
from adapters.client.contract import Farewell
from adapters.client.dialect import Dialect
from adapters.dialects import DIALECTS
from adapters.entrance.handshake import HttpPort
from adapters.entrance.one_port import OnePort, receiving

WEBSOCKETS = [each for each in DIALECTS if each.scheme]
[REST] = [each for each in DIALECTS if not each.scheme and not each.begins]
GREETS = replace(REST, name="greets", begins=lambda text: text.startswith("HELLO "))
SEVERAL = [GREETS, *DIALECTS, replace(GREETS, name="calls", begins=lambda text: text.startswith("CALL"))]
"""Dialects of which three use lines; of these, all but one say how a first line begins."""


def answering(name: str) -> Serve:
    """Return what says who serves a client, and where its request goes, and then the texts that come."""

    async def serve(client: Accepted) -> None:
        texts, framing = client.texts, client.framing
        client.socket.write(framing.frame([f"{name} {client.target}".rstrip()]))
        while not framing.ended:
            if texts:
                client.socket.write(framing.frame(texts))
            texts = framing.feed(await client.socket.receive_some())
            if client.socket.ended:
                texts += framing.end()
        if texts:
            client.socket.write(framing.frame(texts))
        await hang_up(client.socket, framing, Farewell())

    return serve


def dial(world: World, framing: Framing = "lines", dialects: Sequence[Dialect] = DIALECTS) -> Client:
    """Return a client that has sent nothing."""
    port = OnePort.of([(each, answering(each.name)) for each in dialects], HttpPort(""))
    return world.dial(framing, receive=port.receive)


async def opened(world: World, target: str, dialects: Sequence[Dialect] = DIALECTS) -> Client:
    """Return a client that has its websocket."""
    client = dial(world, "websocket", dialects)
    client.send(HANDSHAKE.replace(b"/?table=x", target.encode()))
    await world.quiet()
    assert client.response[0] == 101
    return client


# Lines or HTTP.


@pytest.mark.parametrize(
    "data", [b"NAME ann\nx\n", b"PUT 3\n", b"PUT 3", b"PU", b"GETS\n", b"\n", b"\xff\xfd\x01x\n"]
)
@pytest.mark.parametrize("size", [1, 100])
async def test_what_is_no_request_goes_to_the_dialect_that_has_lines_whole(data: bytes, size: int) -> None:
    async with connections() as world:
        client = dial(world)
        for at in range(0, len(data), size):
            client.send(data[at : at + size])
            await world.quiet()
        client.hangs_up()
        await world.quiet()
        said = data.replace(b"\xff\xfd\x01", b"").decode().removesuffix("\n").split("\n")
        assert client.texts == ["droidcon", *said]


async def test_request_is_answered_by_what_the_port_takes() -> None:
    async with connections() as world:
        client = dial(world, "websocket")
        client.send(GET[:1])
        await world.quiet()
        client.send(GET[1:])
        await world.quiet()
        status, _, body = client.response
        assert status == 200
        assert all(each.title in body for each in DIALECTS)
        assert [line.rpartition(", at ")[2] for line in body.splitlines()[1:3]] == ["/nac4", "/arena"]


@pytest.mark.parametrize("begun", [b"", b"P"])
async def test_client_that_says_nothing_is_hung_up_on_after_five_minutes_and_served_by_nobody(
    begun: bytes, autojump_clock: trio.testing.MockClock
) -> None:
    async with connections() as world:
        client, broken = dial(world), dial(world)
        client.send(begun)
        broken.send(begun)
        broken.resets()
        await trio.sleep(299)
        assert (client.is_hung_up_on, broken.socket.is_closed) == (False, True)
        await trio.sleep(2)
        assert client.is_hung_up_on
        assert (client.received, broken.received) == (b"", b"")


async def test_where_no_dialect_has_lines_all_is_a_request() -> None:
    async with connections() as world:
        client = dial(world, "websocket", WEBSOCKETS)
        client.send(b"NAME ann\n\n")
        await world.quiet()
        assert client.response[0] == 400


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda each: each.name)
async def test_dialect_on_a_port_of_its_own_takes_all_that_comes(dialect: Dialect) -> None:
    receive = receiving(dialect, answering(dialect.name), HttpPort(""))
    async with connections() as world:
        clients = [world.dial("websocket" if dialect.scheme else "lines", receive=receive) for _ in range(2)]
        for client, data in zip(clients, (b"x\n\n", GET), strict=True):
            client.send(data)
        await world.quiet()
        if dialect.scheme:
            assert clients[0].response[0] == 400
            assert clients[1].response[::2] == (200, dialect.answer)
        else:
            assert clients[0].texts == [dialect.name, "x", ""]
            assert clients[1].texts[:2] == [dialect.name, "GET / HTTP/1.1"]


# Which dialect lines are for.


@pytest.mark.parametrize(
    ("data", "dialect"),
    [
        (b"HELLO ann\nx\n", "greets"),
        (b"HELLO ann\r\nx\r\n", "greets"),
        (b"\xff\xfd\x01HELLO ann\r\n", "greets"),
        (b"HELLO ann", "greets"),
        (b"CALL\nHELLO ann\n", "calls"),
        (b"NAME ann\nHELLO bob\n", "droidcon"),
        (b"\nHELLO ann\n", "droidcon"),
        (b"hello ann\n", "droidcon"),
        (b"PUT 3\n", "droidcon"),
        (b"HELL", "droidcon"),
    ],
)
@pytest.mark.parametrize("size", [1, 100])
async def test_first_line_says_which_dialect_it_is_for_and_is_not_lost(
    data: bytes, dialect: str, size: int
) -> None:
    async with connections() as world:
        client = dial(world, dialects=SEVERAL)
        for at in range(0, len(data), size):
            client.send(data[at : at + size])
            await world.quiet()
        client.hangs_up()
        await world.quiet()
        said = data.replace(b"\xff\xfd\x01", b"").replace(b"\r", b"").decode().removesuffix("\n").split("\n")
        assert client.texts == [dialect, *said]


async def test_line_that_several_dialects_claim_is_for_the_last() -> None:
    later = replace(GREETS, name="later", begins=lambda text: text.startswith("HELLO you"))
    for line, name in ((b"HELLO you\n", "later"), (b"HELLO\n", "droidcon"), (b"HELLO me\n", "greets")):
        async with connections() as world:
            client = dial(world, dialects=[*SEVERAL, later])
            client.send(line)
            await world.quiet()
            assert client.texts[0] == name


async def test_line_that_no_dialect_claims_is_for_the_first_where_each_says_how_it_begins() -> None:
    async with connections() as world:
        client = dial(world, dialects=[each for each in SEVERAL if each is not REST])
        client.send(b"NAME ann\n")
        await world.quiet()
        assert client.texts == ["greets", "NAME ann"]


async def test_request_is_no_first_line() -> None:
    async with connections() as world:
        client = dial(world, "websocket", SEVERAL)
        client.send(GET)
        await world.quiet()
        assert client.response[0] == 200


async def test_one_dialect_with_lines_is_not_kept_waiting_for_a_whole_line() -> None:
    async with connections() as world:
        clients = [dial(world, dialects=each) for each in ([*WEBSOCKETS, REST], SEVERAL)]
        for client in clients:
            client.send(b"HELL")
        await world.quiet()
        assert [client.texts for client in clients] == [["droidcon"], []]


@pytest.mark.parametrize("begun", [b"HELLO an", b"x" * 5000])
async def test_line_without_an_end_is_for_the_dialect_that_takes_the_rest(
    begun: bytes, autojump_clock: trio.testing.MockClock
) -> None:
    async with connections() as world:
        client, broken = dial(world, dialects=SEVERAL), dial(world, dialects=SEVERAL)
        broken.send(b"HELLO an")
        await world.quiet()
        broken.resets()
        client.send(begun)
        await world.quiet()
        assert (broken.received, broken.socket.is_closed) == (b"", True)
        if len(begun) < 4096:
            await trio.sleep(299)
            assert client.received == b""
            await trio.sleep(2)
            client.send(b"n\n")
            await world.quiet()
            assert client.texts == ["droidcon", "HELLO ann"]
        else:
            assert client.texts == ["droidcon"]


# Which dialect a websocket is for.


@pytest.mark.parametrize("dialect", [each.name for each in WEBSOCKETS])
@pytest.mark.parametrize("path", ["/{}", "/{}/", "/{}?table=x", "/{}/?table=x"])
async def test_path_names_the_dialect_and_nothing_is_read_before(dialect: str, path: str) -> None:
    target = path.format(dialect)
    async with connections() as world:
        client = await opened(world, target)
        assert client.texts == [f"{dialect} {target}"]
        client.say("{}")  # which begins another one, where no path is named
        await world.quiet()
        assert client.texts[1:] == ["{}"]


@pytest.mark.parametrize("target", ["/", "/?table=x", "/other", "/arena/x", "/droidcon", "/nac45"])
@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("{}", "arena"),
        (' ,{"type": "start"}', "arena"),
        ("#:x{:a 1}", "arena"),
        ('{"id": "init", "type": "start"}', "arena"),
        ('{"type": "initial"}', "arena"),
        (' { "type":"init"}', "tutorial"),
        ('{"type": "init", "join": "k"}', "tutorial"),
        ("connect ann\r\n", "nac4"),
        ("", "nac4"),
        ("[1]", "nac4"),
    ],
)
async def test_first_message_says_what_the_path_does_not_and_is_not_lost(
    target: str, text: str, dialect: str
) -> None:
    async with connections() as world:
        client = await opened(world, target)
        assert client.texts == []
        client.say(text, "second")
        await world.quiet()
        assert client.texts == [f"{dialect} {target}", text, "second"]


async def test_message_that_no_dialect_claims_is_for_the_first_where_each_says_how_it_begins() -> None:
    arena = [each for each in WEBSOCKETS if each.begins]
    async with connections() as world:
        client = await opened(world, "/", [*arena, replace(arena[0], name="other")])
        client.say("connect ann")
        await world.quiet()
        assert client.texts == [f"{arena[0].name} /", "connect ann"]


async def test_ping_before_the_first_message_is_answered_and_puts_off_no_end(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with connections() as world:
        client = await opened(world, "/")
        await trio.sleep(290)
        client.send(frame(PING, "p"))
        await world.quiet()
        assert client.frames == [(PONG, b"p")]
        await trio.sleep(11)
        assert client.is_dismissed(1002, "no message came")
        assert client.texts == []


@pytest.mark.parametrize("how", ["closes", "resets", "hangs up"])
async def test_client_that_leaves_before_its_first_message_is_served_by_nobody(how: str) -> None:
    async with connections() as world:
        client = await opened(world, "/")
        if how == "closes":
            client.send(frame(CLOSE, b"\x03\xe9bye"))
        else:
            client.resets() if how == "resets" else client.hangs_up()
        await world.quiet()
        assert client.frames == ([(CLOSE, b"\x03\xe9bye")] if how == "closes" else [])
        assert client.socket.is_closed
        assert client.texts == []
