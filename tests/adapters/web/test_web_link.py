"""What the server and its web process tell each other, over memory streams."""

import errno
import resource
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from itertools import pairwise

import pytest
import trio
import trio.testing
from worlds.hub import World

from adapters.web import serving
from adapters.web.link import (
    LONGEST,
    WRONG_TOKEN,
    Act,
    Analysed,
    Answered,
    Ask,
    Begun,
    Complete,
    Condition,
    Done,
    Facts,
    Failed,
    Message,
    Messages,
    Orders,
    Reached,
    Removed,
    Stop,
    Watch,
    Withdraw,
    decode,
    encode,
)
from adapters.web.live import sender
from adapters.web.process import WebProcess
from adapters.web.remote import Remote
from gateway.game.board import Board
from gateway.game.commands import LONGEST_NAME
from gateway.game.events import Reason
from gateway.game.fact_encoding import encode_fact
from gateway.game.facts import GameStarted, Standing
from gateway.game.manners import Afterwards, Illegal, Manners
from gateway.game.results import Finished, Player
from gateway.runtime.accepting import room_for_connections
from gateway.runtime.child import Link, LinkError
from gateway.runtime.processes import frame
from gateway.server.acts import NotDoneError, Notice, Parameters
from gateway.server.metrics.requests import Requests
from gateway.store import StoreError
from gateway.store.records import Cleared, Solved

ORDERS = Orders("games.db", (1, 2), "sesame", "info", True)
EACH = [ORDERS, Orders("postgresql://x", None, None, "info", False), Stop(2.5), Ask(1, "clear"), Withdraw(1)]
LIVE = [Watch(0), Watch(7), Begun(3), Complete()]
ACTED = [Act(1, "kick", {"who": "\udcff"}), Done(1, "b", "{}"), Done(1), Notice("x", True, 1.5)]
ANSWERS = [Condition(1, 2, True, {"node": "a"}, True), Removed(1, 2, 3), Failed(1, "no")]
MANNERS = Manners(illegal=Illegal.RETRY, afterwards=Afterwards.STEP_OUT)
COUNTED = [Reached("x", 2), Answered((["page", 200, [0, 1], 0.25],)), Analysed("1", "33", "00ff")]


def links() -> tuple[Messages, Messages]:
    one, other = trio.testing.memory_stream_pair()
    return Messages(Link(one)), Messages(Link(other))


def framed(message: Message | Facts) -> bytes:
    return frame(encode(message))


@pytest.mark.parametrize("message", [*EACH, *LIVE, *ACTED, *COUNTED, *ANSWERS, Facts([b"m 1", b"v {}"])])
async def test_message_arrives_as_it_was_sent_however_it_is_cut(message: Message | Facts) -> None:
    one, other = trio.testing.memory_stream_pair()
    link = Messages(Link(other))
    async with trio.open_nursery() as nursery:
        for byte in framed(message) * 2:
            nursery.start_soon(one.send_all, bytes([byte]))
            await trio.testing.wait_all_tasks_blocked()
    assert [await link.receive(), await link.receive()] == [message, message]
    await one.aclose()
    assert await link.receive() is None


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"{}", b"1", b'{"kind": "os"}', b'{"kind": "stop"}', b'{"kind": []}', b"\xff", b"[" * 99999],
)
def test_what_is_no_message_is_a_link_error(body: bytes) -> None:
    with pytest.raises(LinkError):
        decode(body)


class Store:
    """What the server has: a queue, and a clear that is done, or withdrawn, when a test says so."""

    waiting = 7
    behind = True

    def __init__(self) -> None:
        self.settled = trio.Event()
        self.asked = trio.Event()
        self.is_begun = False
        self.is_withdrawn = False

    def clear(self) -> "Store":
        self.asked.set()
        return self

    def withdraw(self) -> bool:
        if self.is_begun:
            return False
        self.is_withdrawn = True
        self.settled.set()
        return True

    async def result(self) -> Cleared:
        try:
            await self.settled.wait()
        except trio.Cancelled:
            self.withdraw()
            raise
        if self.is_withdrawn:
            raise StoreError("it was withdrawn")
        return Cleared(5, 3)


@dataclass
class Cluster:
    """A cluster that says of itself how it is."""

    said: dict[str, object]

    def condition(self) -> dict[str, object]:
        return self.said


@asynccontextmanager
async def joined(
    store: Store, cluster: Cluster | None = None, operator: "Operator | None" = None
) -> AsyncIterator[tuple[Remote, list[Message]]]:
    """Give the web's end of a server that is at work, and what is told without being asked for."""
    here, there = links()
    world, told = World(), list[Message]()
    world.hub.cluster = cluster  # type: ignore[assignment]
    service, remote = WebProcess(ORDERS, (), store, store.clear, world.hub), Remote(there)
    service.operator = operator  # type: ignore[assignment]

    async def hear() -> None:
        while (message := await there.receive()) is not None:
            if isinstance(message, Condition | Removed | Done | Failed):
                remote.hear(message)
            else:
                told.append(message)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(service.serve, here)
        nursery.start_soon(hear)
        yield remote, told
        nursery.cancel_scope.cancel()


async def test_server_tells_what_waits_and_how_its_cluster_is() -> None:
    async with joined(Store(), Cluster({"node": "a", "linked": ["b"]})) as (remote, _):
        assert await remote.condition() == Condition(1, 7, True, {"node": "a", "linked": ["b"]})


@pytest.mark.parametrize(
    ("is_begun", "gives_up"),
    [(True, False), (True, True), (False, True)],
    ids=["done", "late", "withdrawn"],
)
async def test_clear_is_withdrawn_when_it_is_given_up_before_it_is_begun(
    is_begun: bool, gives_up: bool
) -> None:
    store, given_up, cleared = Store(), trio.Event(), list[Cleared]()
    store.is_begun = is_begun
    async with joined(store) as (remote, _), trio.open_nursery() as nursery:

        async def clear() -> None:
            with suppress(StoreError):
                cleared.append(await remote.clear(given_up))

        nursery.start_soon(clear)
        await trio.testing.wait_all_tasks_blocked()
        if gives_up:
            given_up.set()
            await trio.testing.wait_all_tasks_blocked()
        assert (store.is_withdrawn, cleared) == (not is_begun, [])
        store.settled.set()
    assert cleared == ([Cleared(5, 3)] if is_begun else [])


@pytest.mark.parametrize("words", [b"", b"\0\0\0\2{}", framed(ORDERS), b"GET / HTTP/1.1\r\n\r\n"])
async def test_clear_of_a_process_that_died_or_went_mad_is_withdrawn(words: bytes) -> None:
    store, (here, there) = Store(), trio.testing.memory_stream_pair()
    service = WebProcess(ORDERS, (), store, store.clear, None)  # type: ignore[arg-type]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(service.serve, Messages(Link(here)))
        await there.send_all(framed(Ask(1, "clear")))
        await store.asked.wait()
        await there.send_all(words)
        await there.aclose()
    assert store.is_withdrawn


async def test_server_tells_what_happens_while_it_is_asked_to_and_the_link_lasts() -> None:
    world, (here, end) = World(), trio.testing.memory_stream_pair()
    service = WebProcess(ORDERS, (), Store(), Store().clear, world.hub)  # type: ignore[arg-type]
    there = Messages(Link(end))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(service.serve, Messages(Link(here)))
        assert await there.receive() == ORDERS
        assert not world.hub.feed.moves
        await there.send(Watch(3))
        assert [await there.receive(), await there.receive()] == [Begun(3), Complete()]
        assert world.hub.feed.moves
        await end.aclose()
    assert not world.hub.feed.moves


async def test_server_counts_the_limits_that_the_process_tells_of_and_nothing_else() -> None:
    world, (here, there) = World(), links()
    service = WebProcess(ORDERS, (), Store(), Store().clear, world.hub)  # type: ignore[arg-type]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(service.serve, here)
        limit = "limit_max-per-address"
        for what, times in [(limit, 2), (limit, 1), (WRONG_TOKEN, 4), ("limit_name", 1), ("name", 1)]:
            await there.send(Reached(what, times))
    assert world.hub.feed.counts == {(limit, "page"): 3, (WRONG_TOKEN, "page"): 4}


async def test_server_adds_up_the_requests_that_processes_answered() -> None:
    counted, total = Requests(), Requests()
    service = WebProcess(ORDERS, (), Store(), Store().clear, World().hub)  # type: ignore[arg-type]
    for _ in range(2):
        here, there = trio.testing.memory_stream_pair()
        counted.add("page", 404, 0.25)
        total.add("page", 404, 0.25)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(service.serve, Messages(Link(here)))
            await Messages(Link(there)).send(Answered(counted.take()))
            await trio.testing.wait_all_tasks_blocked()
            await there.aclose()
    assert service.requests.take() == total.take()


@pytest.mark.parametrize(
    "wrong",
    [{}, {"game": "x"}, {"game": 1}, {"moves": "37"}, {"moves": "3" * 43}, {"moves": 3}, {"scores": "0"}],
)
async def test_server_stores_an_analysis_that_can_be_one(wrong: dict[str, str]) -> None:
    found, (here, there) = list[Solved](), links()
    service = WebProcess(ORDERS, (), Store(), Store().clear, World().hub, found.append)  # type: ignore[arg-type]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(service.serve, here)
        await there.send(Analysed(**{"game": "9k3fm-00002a", "moves": "33", "scores": "00ff"} | wrong))
        await trio.testing.wait_all_tasks_blocked()
        assert found == ([] if wrong else [Solved("9k3fm-00002a", "33", b"\0\xff")])
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError("no more processes"), "no process to serve the web can be started: no more processes"),
        (RuntimeError("can't start new thread"), "the process that serves the web cannot be served"),
    ],
)
async def test_process_that_cannot_be_started_is_tried_again_after_growing_pauses(
    autojump_clock: trio.abc.Clock,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
    words: str,
) -> None:
    tries: list[float] = []
    service = WebProcess(ORDERS, (), Store(), Store().clear, None)  # type: ignore[arg-type]
    begun = trio.current_time()

    async def refuse(*_: object) -> None:
        tries.append(trio.current_time() - begun)
        raise error

    monkeypatch.setattr(trio.to_thread, "run_sync", refuse)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(service.run)
        await trio.sleep(30)
        service.stop()
    assert [after - before for before, after in pairwise(tries)] == pytest.approx([0, 0.5, 1, 2, 4, 8, 10])
    assert words in caplog.text
    assert service.restarts == len(tries) - 1


class Room:
    """A port of the page, and what its clients are served with."""

    def __init__(self, places: int) -> None:
        self.room = trio.Semaphore(places)
        self.asked = 0
        """How often somebody was to make room."""
        self.pauses = 0
        self.accepted, self._accepted = trio.open_memory_channel[trio.SocketStream](9)
        self._listener = socket.create_server(("127.0.0.1", 0))

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[trio.MemoryReceiveChannel[trio.SocketStream]]:
        """Accept clients, and give those that were."""
        listener = trio.SocketListener(trio.socket.from_stdlib_socket(self._listener))
        with trio.fail_after(20):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(
                    serving.accept, listener, self.accepted.send, nursery, self.room, self._make, self._pause
                )
                yield self._accepted
                nursery.cancel_scope.cancel()

    async def dial(self) -> trio.SocketStream:
        return await trio.open_tcp_stream(*self._listener.getsockname())

    def _make(self) -> None:
        self.asked += 1

    def _pause(self) -> None:
        self.pauses += 1


async def test_system_is_to_find_out_whether_a_web_client_has_vanished() -> None:
    room = Room(1)
    async with room.opened() as accepted, await room.dial(), await accepted.receive() as stream:
        assert stream.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)


@pytest.mark.parametrize(
    ("refusal", "words"),
    [
        (OSError(errno.EMFILE, "cannot"), "cannot"),
        (OSError(errno.EIO, "cannot"), "cannot"),
        (MemoryError(), "Cannot allocate memory"),
    ],
)
async def test_no_error_of_accept_ends_the_process_or_writes_a_traceback(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, refusal: Exception, words: str
) -> None:
    refusals, real = [refusal] * 3, trio.SocketListener.accept

    async def accept(listener: trio.SocketListener) -> trio.SocketStream:
        if refusals:
            raise refusals.pop()
        return await real(listener)

    monkeypatch.setattr(trio.SocketListener, "accept", accept)
    monkeypatch.setattr(serving, "PAUSE", 0.001)
    room = Room(1)
    async with room.opened() as accepted, await room.dial(), await accepted.receive():
        pass
    assert room.pauses == 3
    assert [(each.getMessage(), each.exc_info) for each in caplog.records] == [
        (f"cannot accept connections: {words}", None)
    ]


async def test_nobody_is_accepted_for_whom_there_is_no_room() -> None:
    room = Room(1)
    async with room.opened() as accepted, await room.dial(), await accepted.receive(), await room.dial():
        while not room.asked:
            await trio.lowlevel.checkpoint()
        with pytest.raises(trio.WouldBlock):
            accepted.receive_nowait()
        room.room.release()
        async with await accepted.receive():
            pass


def test_connections_leave_the_page_files_for_its_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    for most in (1024, 1 << 20):
        monkeypatch.setattr(resource, "getrlimit", lambda _, most=most: (most, most))
        assert serving.places() == min(serving.MOST, room_for_connections().value)


class Operator:
    """Carries out acts, and has a notice that a test changes."""

    def __init__(self) -> None:
        self.acts: list[tuple[str, Parameters]] = []
        self.stops = 0
        self.notices, self._next = trio.open_memory_channel[Notice](1)

    async def everywhere(self, what: str, about: Parameters) -> Mapping[str, str]:
        if about.get("who") == "nobody":
            raise NotDoneError("nobody is called so")
        self.acts.append((what, about))
        return {"": "{}", "b": '{"error": "x"}'}

    async def next_notice(self, known: Notice) -> Notice:
        return await self._next.receive()

    def stop(self) -> None:
        self.stops += 1


async def test_act_is_passed_on_and_what_came_of_it_on_each_node_comes_back() -> None:
    operator = Operator()
    async with joined(Store(), operator=operator) as (remote, _):
        assert await remote.act("kick", {"who": "eve"}) == {"": "{}", "b": '{"error": "x"}'}
        with pytest.raises(NotDoneError, match="nobody is called so"):
            await remote.act("kick", {"who": "nobody"})
    assert operator.acts == [("kick", {"who": "eve"})]
    assert operator.stops == 0


async def test_drain_begins_once_it_is_answered() -> None:
    operator = Operator()
    async with joined(Store(), operator=operator) as (remote, _):
        await remote.act("drain", {"seconds": "5"})
        await trio.testing.wait_all_tasks_blocked()
        assert operator.stops == 1


async def test_web_is_told_of_each_notice() -> None:
    operator = Operator()
    async with joined(Store(), operator=operator) as (_, told):
        notices = [Notice("Round 2", False, 1.0), Notice("", True, 2.0)]
        for notice in notices:
            await operator.notices.send(notice)
        await trio.testing.wait_all_tasks_blocked()
        assert told == [ORDERS, *notices]


async def test_longest_facts_are_not_too_long_for_the_link() -> None:
    worst = "\0" * LONGEST_NAME
    players = (1 << 40, 1 << 40)
    started = GameStarted("00000-000003", players, (worst, worst), ("house", "house"), worst, 1, 1e6)
    fact = encode_fact((started, Standing((3,) * 42, (1e6,) * 42, (1e6, 1e6), 1e6)))
    over = Finished(
        "00000-000003", (Player(worst, MANNERS),) * 2, Board(), 0, Reason.FOUR, (1e6, 1e6), 1, 1, worst
    )
    for each in (fact, encode_fact(over)):
        assert len(b"\n".join([each] * sender.MOST)) < LONGEST
