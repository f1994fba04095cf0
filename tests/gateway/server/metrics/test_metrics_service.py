"""The port for metrics, on memory streams: whoever asks, and however slowly, costs nobody anything."""

import logging
import threading
from collections.abc import Iterator

import pytest
import trio
import trio.testing

from gateway.server.metrics.service import FRESH, MOST, PATIENCE, MetricsService

GET = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"


class Figures:
    """Counts how often it is asked."""

    def __init__(self, parts: int = 2) -> None:
        self.asked = 0
        self._parts = parts

    def __call__(self) -> Iterator[bytes]:
        self.asked += 1
        for number in range(self._parts):
            yield b"figure_%d %d\n" % (number, self.asked)


def service(figures: Figures) -> MetricsService:
    return MetricsService([], figures, "text/plain; version=1.0.0")


async def answer(metrics: MetricsService, request: bytes) -> tuple[bytes, bytes]:
    """Return head and body of the answer to a request."""
    client, server = trio.testing.memory_stream_pair()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(metrics.serve, server)
        await client.send_all(request)
        data = b"".join([chunk async for chunk in client])
        await client.aclose()
    head, _, body = data.partition(b"\r\n\r\n")
    return head, body


async def test_metrics_are_the_text_with_its_type_and_length() -> None:
    head, body = await answer(service(Figures()), GET)
    assert body == b"figure_0 1\nfigure_1 1\n"
    lines = head.lower().split(b"\r\n")
    assert lines[0] == b"http/1.1 200 ok"
    assert {b"content-type: text/plain; version=1.0.0", b"content-length: 22", b"connection: close"} <= {
        *lines
    }


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"404"),
        (b"GET /metrics2 HTTP/1.1\r\nHost: x\r\n\r\n", b"404"),
        (b"POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", b"405"),
        (b"GET /metrics?a=b HTTP/1.0\r\n\r\n", b"200"),
        (b"\x16\x03\x01garbage\r\n\r\n", b"400"),
        (
            b"POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
            b"400",
        ),
        (GET.replace(b"Host: x", b"Content-Length: 0\r\nHost: x\r\nTransfer-Encoding: chunked"), b"400"),
        (b"GET /metrics HTTP/1.1\r\nX: " + b"x" * 20_000, b"431"),
    ],
)
async def test_anything_else_gets_its_status(request_: bytes, status: bytes) -> None:
    head, _ = await answer(service(Figures()), request_)
    assert head.split(b" ")[1] == status


@pytest.mark.parametrize(
    ("host", "status"),
    [
        (b"evil.example", b"421"),
        (b"evil.example:9100", b"421"),
        (b"a+b.evil.example", b"421"),
        (b"c4.example:9100", b"200"),
        (b"localhost:9100", b"200"),
        (b"[::1]", b"200"),
        (b"box", b"200"),
        (b"", b"200"),
    ],
)
async def test_metrics_of_this_machine_alone_are_read_under_no_foreign_name(
    host: bytes, status: bytes
) -> None:
    request = GET.replace(b"Host: x", b"Host: " + host)
    local = MetricsService([], Figures(), "text/plain", allowed=["https://c4.example", "*"])
    assert (await answer(local, request))[0].split(b" ")[1] == status
    listeners = await trio.open_tcp_listeners(0, host="0.0.0.0")
    open_to_all = MetricsService(listeners, Figures(), "text/plain")
    assert (await answer(open_to_all, request))[0].split(b" ")[1] == b"200"
    await listeners[0].aclose()


async def test_head_has_no_body() -> None:
    head, body = await answer(service(Figures()), GET.replace(b"GET", b"HEAD"))
    assert b"content-length: 22" in head.lower()
    assert body == b""


async def test_those_who_ask_at_once_get_one_answer(autojump_clock: trio.testing.MockClock) -> None:
    figures = Figures()
    metrics = service(figures)
    async with trio.open_nursery() as nursery:
        for _ in range(MOST):
            nursery.start_soon(answer, metrics, GET)
    assert figures.asked == 1
    await trio.sleep(FRESH)
    assert (await answer(metrics, GET))[1].startswith(b"figure_0 2")


async def test_loop_turns_between_the_parts_of_an_answer() -> None:
    turns = 0

    async def turn() -> None:
        nonlocal turns
        while True:
            await trio.lowlevel.checkpoint()
            turns += 1

    async with trio.open_nursery() as nursery:
        nursery.start_soon(turn)
        await answer(service(Figures(parts=1000)), GET)
        nursery.cancel_scope.cancel()
    assert turns >= 1000


async def test_what_a_thread_finds_out_comes_last_and_is_asked_for_as_seldom() -> None:
    threads = list[int]()

    def by_thread() -> bytes:
        threads.append(threading.get_ident())
        return b"open_files 7\n"

    metrics = MetricsService([], Figures(), "text/plain", by_thread)
    async with trio.open_nursery() as nursery:
        for _ in range(2):
            nursery.start_soon(answer, metrics, GET)
    assert (await answer(metrics, GET))[1].endswith(b"figure_1 1\nopen_files 7\n")
    assert len(threads) == 1
    assert threading.get_ident() not in threads


@pytest.mark.parametrize("said", [b"", GET[:10], GET])
async def test_client_that_stands_still_is_hung_up_on(
    said: bytes, autojump_clock: trio.testing.MockClock
) -> None:
    client, server = trio.testing.lockstep_stream_pair()
    begin = trio.current_time()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(service(Figures()).serve, server)
        if said:
            await client.send_all(said)
    assert trio.current_time() - begin == PATIENCE


async def test_client_that_vanishes_in_the_middle_is_no_error(caplog: pytest.LogCaptureFixture) -> None:
    for said in (b"", GET[:10], GET):
        client, server = trio.testing.memory_stream_pair()
        await client.send_all(said)
        await client.aclose()
        await service(Figures()).serve(server)
    assert not caplog.records


async def test_of_too_many_the_oldest_is_hung_up_on_and_others_are_answered() -> None:
    metrics = service(Figures())
    clients = []
    async with trio.open_nursery() as nursery:
        for _ in range(MOST):
            client, server = trio.testing.memory_stream_pair()
            clients.append(client)
            nursery.start_soon(metrics.serve, server)
            await trio.testing.wait_all_tasks_blocked()
        assert (await answer(metrics, GET))[1]
        assert await clients[0].receive_some() == b""
        for client in clients:
            await client.aclose()


async def test_mistake_of_ours_costs_one_answer(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(Figures):
        def __call__(self) -> Iterator[bytes]:
            raise KeyError("figures")

    head, body = await answer(service(Broken()), GET)
    assert (head, body) == (b"", b"")
    [record] = caplog.records
    assert (record.levelno, vars(record)["event"]) == (logging.ERROR, "metrics_failed")


async def test_it_listens_until_it_is_stopped() -> None:
    [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
    metrics = MetricsService([listener], Figures(), "text/plain")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(metrics.run)
        stream = await trio.testing.open_stream_to_socket_listener(listener)
        await stream.send_all(GET)
        assert (await stream.receive_some()).startswith(b"HTTP/1.1 200")
        await stream.aclose()
        metrics.stop()
    assert listener.socket.fileno() == -1
