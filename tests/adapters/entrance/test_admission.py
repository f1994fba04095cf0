"""Clients that are let in, have to wait, or hear why not, on streams in memory."""

import logging
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ipaddress import ip_network

import pytest
import trio
import trio.testing
from adapters.net.pacing import ClientLimits, NotLetIn
from adapters.net.wire import Wire
from shell_fakes import drained
from wires import wired

from adapters.entrance import admission
from adapters.entrance.admission import LOG_PERIOD, PARTING, Admission
from gateway.access.limits import AddressLimits, Doors

WORD = b"Error CHANNEL_IS_FULL\n"


class Port:
    """A front end that says hello, and goodbye when it is told to."""

    def __init__(self, nursery: trio.Nursery, limits: Admission, refusal: bytes) -> None:
        self.end = trio.Event()
        self.wires: list[Wire] = []
        self._nursery = nursery
        self._serve = limits.guard("toy", refusal, self._greet)

    async def _greet(self, wire: Wire) -> None:
        self.wires.append(wire)
        await wire.send_all(b"hello\n")
        await self.end.wait()
        await wire.linger()

    async def dial(self, address: str = "192.0.2.1") -> trio.StapledStream:
        client, server = trio.testing.memory_stream_pair()
        wire = wired(server)
        wire.address = address
        self._nursery.start_soon(self._serve_and_close, wire)
        await trio.testing.wait_all_tasks_blocked()  # tasks begin in no order
        return client

    async def _serve_and_close(self, wire: Wire) -> None:
        await self._serve(wire)
        await trio.aclose_forcefully(wire)


@asynccontextmanager
async def port(doors: Doors, refusal: bytes = WORD) -> AsyncIterator[tuple[Port, Admission]]:
    limits = Admission(doors, Counter(), ClientLimits(rate=7.0))
    async with trio.open_nursery() as nursery:
        yield Port(nursery, limits, refusal), limits
        nursery.cancel_scope.cancel()


async def test_client_that_is_not_let_in_hears_a_word_and_is_counted() -> None:
    async with port(Doors(1)) as (front, limits):
        inside, outside = await front.dial(), await front.dial()
        assert await inside.receive_some() == b"hello\n"
        assert await drained(outside) == WORD
        assert limits.counts == {("limit_max-connections", "toy"): 1}


async def test_one_that_leaves_makes_room() -> None:
    async with port(Doors(1)) as (front, limits):
        first = await front.dial()
        assert await first.receive_some() == b"hello\n"
        front.end.set()
        assert await drained(first) == b""
        await first.aclose()
        await trio.testing.wait_all_tasks_blocked()
        assert await (await front.dial()).receive_some() == b"hello\n"
        assert not limits.counts


async def test_where_the_dialect_has_no_word_http_says_why() -> None:
    async with port(Doors(there=AddressLimits(connections=0)), b"") as (front, _):
        head, _, body = (await drained(await front.dial())).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
        assert body == b"Too many connections from your address are open. Close one first.\n"
        assert b"Content-Length: %d\r\n" % len(body) in head


async def test_answer_by_http_keeps_browsers_with_tls_where_there_is_nothing_else() -> None:
    client, server = trio.testing.memory_stream_pair()
    wire = wired(server)
    wire.only_tls = True
    await client.send_eof()
    await Admission(Doors(0), Counter()).guard("toy", b"", Wire.linger)(wire)
    heard = await drained(client)
    assert heard.startswith(b"HTTP/1.1 503 Service Unavailable\r\nstrict-transport-security: max-age=")


@pytest.mark.parametrize(
    ("begin", "heard"),
    [
        (b"\x16\x03\x01", b"\x15\x03\x03\0\2\2\x31"),
        (b"NAME ann\n", WORD),
        (b"", WORD),
        (b"PROXY TCP4 203.0.113.7 192.0.2.1 12345 443\r\n", b""),  # TLS may come next
        (b"\r\n\r\n\0\r\nQUIT\n", b""),
    ],
)
async def test_client_that_is_not_let_in_and_uses_tls_hears_no_plaintext(
    begin: bytes, heard: bytes, autojump_clock: trio.testing.MockClock
) -> None:
    async with port(Doors(0)) as (front, limits):
        limits.takes_tls = True
        client = await front.dial()
        await client.send_all(begin)
        assert await drained(client) == heard


async def test_client_of_a_proxy_counts_at_no_address_until_that_is_known() -> None:
    async with port(Doors(2, AddressLimits(connections=1))) as (front, limits):
        limits.trusted = (ip_network("192.0.2.0/24"),)
        for _ in range(2):
            await front.dial()
        first, second = front.wires
        await first.count_at("203.0.113.7")
        await first.count_at("203.0.113.7")
        with pytest.raises(NotLetIn, match="Too many connections from your address"):
            await second.count_at("203.0.113.7")
        assert limits.counts == {("limit_max-per-address", "toy"): 1}
        front.end.set()
    assert not limits.doors._inside


async def test_client_that_counts_no_more_makes_room_for_another_once() -> None:
    async with port(Doors(1, AddressLimits(connections=1))) as (front, limits):
        await front.dial()
        [first] = front.wires
        await first.count_at(None)
        await first.count_at(None)
        await front.dial()
        assert len(front.wires) == 2
        assert await drained(await front.dial())
        front.end.set()
    assert not limits.doors._inside


async def test_of_many_that_are_not_let_in_at_once_only_some_hear_a_word() -> None:
    async with port(Doors(0)) as (front, limits):
        clients = [await front.dial() for _ in range(PARTING + 8)]
        await trio.testing.wait_all_tasks_blocked()
        local = await front.dial("127.0.0.1")
        assert await drained(local) == WORD
        heard = [await drained(client) for client in clients]
        assert sorted(heard, reverse=True) == [WORD] * PARTING + [b""] * 8
        for client in (*clients, local):
            await client.aclose()
        await trio.testing.wait_all_tasks_blocked()
        assert limits._parting == 0
        assert limits.counts["limit_max-connections", "toy"] == PARTING + 9


async def test_address_that_connects_too_fast_waits(autojump_clock: trio.testing.MockClock) -> None:
    async with port(Doors(there=AddressLimits(connects=1))) as (front, limits):
        begin = trio.current_time()
        clients = [await front.dial() for _ in range(4)]
        times = []
        for client in clients:
            assert await client.receive_some() == b"hello\n"
            times.append(trio.current_time() - begin)
        assert times == pytest.approx([0, 0, 1, 2], abs=0.1)
        assert limits.counts == {("limit_connects-per-second", "toy"): 2}


async def test_what_is_held_against_a_client_goes_with_its_wire() -> None:
    async with port(Doors()) as (front, limits):
        await front.dial()
        assert front.wires[0].limits.rate == 7.0
        front.wires[0].limits.reached("messages-per-second", "192.0.2.1")
        assert limits.counts == {("limit_messages-per-second", "toy"): 1}


async def test_limit_that_is_reached_is_logged_once_in_a_while(
    autojump_clock: trio.testing.MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with port(Doors(0)) as (front, _):
        for _ in range(10):
            await drained(await front.dial())
            await trio.sleep(LOG_PERIOD / 5)
    records = [record for record in caplog.records if record.name == admission.__name__]
    assert len(records) == 2
    assert records[0].getMessage() == "a client reached the limit --max-connections: toy, from 192.0.2.1"
