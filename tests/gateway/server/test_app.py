"""Listeners, the timekeeper, and the stop. Real sockets where the subject is sockets."""

import logging
import random
import resource
import signal
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from functools import partial

import pytest
import trio
import trio.testing
from worlds.hub import Heard

import adapters.arena.server
import adapters.droidcon.server
import adapters.nac4.server
from adapters.entrance.admission import without_limits
from adapters.entrance.entrance import Entrance
from adapters.entrance.one_port import receive_lines
from adapters.entrance.preamble import Preamble
from adapters.net.epoll import polling
from adapters.net.socket import Socket, taken
from gateway.game.clock import Terms
from gateway.game.commands import AtTable, Enter, Leave, Play
from gateway.game.events import Dismissed, Ended, Event, Reason, ToMove, Why
from gateway.game.manners import Afterwards, Illegal, Manners
from gateway.game.results import Finished
from gateway.hub.hub import Hub
from gateway.hub.seats import Seat
from gateway.matchmaking.standard import LobbyAndTables
from gateway.runtime.turns import Turns
from gateway.server.app import (
    FrontEnd,
    Service,
    addresses_of,
    drain,
    keep_time,
    open_port,
    run,
    stop_asked_for,
)

pytestmark = pytest.mark.trio
PATIENCE = 20
MANNERS = Manners(illegal=Illegal.RETRY, afterwards=Afterwards.STEP_OUT)


async def greet(stream: trio.SocketStream) -> None:
    async with stream:
        await stream.send_all(b"hello\n")


async def front(serve: Callable[[trio.SocketStream], Awaitable[None]]) -> FrontEnd:
    """Return a front end at a free port."""
    return FrontEnd("x", await open_port(0, ["127.0.0.1"]), serve)


async def closed(listeners: Sequence[trio.SocketListener]) -> None:
    for listener in listeners:
        await listener.aclose()


def has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as sock:
            sock.bind(("::1", 0))
    except OSError:
        return False
    return True


needs_ipv6 = pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")

# Listening.


async def test_port_zero_takes_a_free_port() -> None:
    one, two = [await open_port(0, ["127.0.0.1"]) for _ in range(2)]
    addresses = addresses_of([*one, *two])
    assert all(address.startswith("127.0.0.1:") for address in addresses)
    assert len({*addresses, "127.0.0.1:0"}) == 3
    await closed(one)
    await closed(two)


@needs_ipv6
async def test_every_host_is_listened_on_and_ipv6_stands_in_brackets() -> None:
    listening = await open_port(0, ["127.0.0.1", "::1"])
    four, six = addresses_of(listening)
    assert four.startswith("127.0.0.1:")
    assert six.startswith("[::1]:")
    await closed(listening)


async def test_port_in_use_says_so_and_leaves_nothing_open() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(OSError) as refusal:
            await open_port(port, ["127.0.0.2", "127.0.0.1"])
        assert str(refusal.value) == f"cannot listen on 127.0.0.1, port {port}: Address already in use"
        with socket.socket() as free:
            free.bind(("127.0.0.2", port))


@pytest.mark.parametrize("host", ["256.256.256.256", "a..b", "x" * 64 + ".org", "\udcff", "", "192.0.2.1"])
async def test_host_that_is_none_of_ours_says_so(host: str) -> None:
    with pytest.raises(OSError) as refusal:
        await open_port(0, ["127.0.0.1", host])
    assert str(refusal.value).startswith(f"cannot listen on {host}, port 0: ")
    assert len(str(refusal.value).splitlines()) == 1


# Running and stopping.


class Doorbell:
    """A front end that counts who is there."""

    def __init__(self) -> None:
        self.visitors = 0
        self.rung = trio.Event()

    async def serve(self, stream: trio.SocketStream) -> None:
        self.visitors += 1
        self.rung.set()
        async with stream:
            await stream.receive_some()
        self.visitors -= 1

    async def stay(self, stream: trio.SocketStream) -> None:
        self.rung.set()
        async with stream:
            await trio.sleep_forever()


@pytest.fixture
def handlers() -> Iterator[None]:
    """Let signals do afterwards what they did before."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


async def run_until_asked(
    hub: Hub,
    listening: FrontEnd,
    started: Callable[[], None],
    services: Sequence[Service] = (),
) -> None:
    async with stop_asked_for() as stop:
        await run(hub, [listening], started, stop, services)


async def test_who_asks_again_gets_no_other_answer_behind_the_end_either(handlers: None) -> None:
    async with stop_asked_for() as stop:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.raise_signal(number)
        await stop()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.raise_signal(number)
    await trio.lowlevel.checkpoint()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_signal_ends_what_nobody_asked_to_wait_for_it(number: signal.Signals, handlers: None) -> None:
    async with stop_asked_for():
        signal.raise_signal(number)
        await trio.sleep_forever()


class Beside:
    """A service that ends when it is told to, and notes who was there then."""

    def __init__(self, bell: Doorbell) -> None:
        self.heard: list[int] = []
        self.is_over = False
        self._bell = bell
        self._stopping = trio.Event()

    async def run(self) -> None:
        await self._stopping.wait()
        self.is_over = True

    def stop(self) -> None:
        self.heard.append(self._bell.visitors)
        self._stopping.set()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_signal_ends_services_and_listeners_at_once_and_the_server_when_everybody_has_gone(
    number: signal.Signals, handlers: None
) -> None:
    bell = Doorbell()
    beside, listening = Beside(bell), await front(bell.serve)
    port = listening.listeners[0].socket.getsockname()[1]
    started, hub = trio.Event(), Hub(Terms(), LobbyAndTables(random.Random(0)))
    with trio.fail_after(PATIENCE):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(run_until_asked, hub, listening, started.set, [beside])
            await started.wait()
            client = await trio.open_tcp_stream("127.0.0.1", port)
            await bell.rung.wait()
            assert beside.heard == []
            signal.raise_signal(number)
            with pytest.raises(OSError):  # noqa: PT012 - the first of them may still slip in
                while True:
                    await (await trio.open_tcp_stream("127.0.0.1", port)).aclose()
            assert bell.visitors == 1
            await client.aclose()
    assert (bell.visitors, beside.heard, beside.is_over) == (0, [1], True)


async def test_front_ends_have_room_for_so_many_connections_together(
    handlers: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (4, 4))  # room for one connection
    bells = [Doorbell(), Doorbell()]
    opened = [await front(bell.serve) for bell in bells]
    one, two = (each.listeners[0].socket.getsockname()[1] for each in opened)
    hub = Hub(Terms(), LobbyAndTables(random.Random(0)))
    enough = trio.Event()
    with trio.fail_after(PATIENCE):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(run, hub, opened, lambda: None, enough.wait)
            client = await trio.open_tcp_stream("127.0.0.1", one)
            await bells[0].rung.wait()
            later = await trio.open_tcp_stream("127.0.0.1", two)
            for _ in range(100):
                await trio.lowlevel.checkpoint()
            assert [bell.visitors for bell in bells] == [1, 0]
            await client.aclose()
            await bells[1].rung.wait()
            assert [bell.visitors for bell in bells] == [0, 1]
            await later.aclose()
            enough.set()


async def test_nobody_holds_up_the_stop_for_long(
    handlers: None, autojump_clock: trio.testing.MockClock
) -> None:
    bell = Doorbell()
    listening = await front(bell.stay)
    port = listening.listeners[0].socket.getsockname()[1]
    begin = 0.0

    async def visit() -> None:
        nonlocal begin
        async with await trio.open_tcp_stream("127.0.0.1", port) as client:
            await bell.rung.wait()
            begin = trio.current_time()
            signal.raise_signal(signal.SIGTERM)
            assert await client.receive_some() == b""

    with trio.fail_after(PATIENCE):
        async with trio.open_nursery() as nursery:
            hub = Hub(Terms(), LobbyAndTables(random.Random(0)))
            await run_until_asked(hub, listening, partial(nursery.start_soon, visit))
            assert trio.current_time() - begin < 10


# The timekeeper.


class Box:
    """A mailbox that hands on at once, as if its client were on a perfect line."""

    is_reachable = True

    def __init__(self, hub: Hub, name: str, settling: float = 0, table: str = "table") -> None:
        self.events: list[tuple[float, Event]] = []
        self.on_settle: Play | None = None
        self._settling = settling
        self._hub = hub
        self.seat: Seat = hub.open(self, MANNERS, trio.current_time())
        hub.submit(self.seat, Enter(AtTable(f"{table} of {settling}"), name), trio.current_time())

    def deliver(self, event: Event) -> None:
        self.events.append((trio.current_time(), event))

    async def settle(self) -> None:
        await trio.sleep(self._settling)
        if self.on_settle is not None:
            self._hub.submit(self.seat, self.on_settle, trio.current_time())

    def hand(self) -> None:
        """Let the request to move leave for the client."""
        requests = [event for _, event in self.events if isinstance(event, ToMove)]
        self._hub.handed(self.seat, requests[-1], trio.current_time())

    def ended(self) -> float | None:
        """Return when the game ended; None while it is on."""
        return next((when for when, event in self.events if isinstance(event, Ended)), None)

    def hung_up(self) -> float | None:
        """Return when it got its good-bye; None while it is here."""
        return next((when for when, event in self.events if event == Dismissed(Why.STOPPED)), None)


@asynccontextmanager
async def timekeeping(hub: Hub) -> AsyncIterator[None]:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(keep_time, hub)
        yield
        nursery.cancel_scope.cancel()


async def test_flag_falls_when_time_is_up_and_not_before(autojump_clock: trio.testing.MockClock) -> None:
    hub = Hub(Terms(idle=10), LobbyAndTables(random.Random(0)))
    async with timekeeping(hub):
        ann, _ = Box(hub, "ann"), Box(hub, "bob")
        await trio.sleep(7)
        ann.hand()
        begin = trio.current_time()
        await trio.sleep(17)
        ended = ann.ended()
        assert ended is not None
        assert 10 <= ended - begin <= 10.1


async def test_flag_waits_until_the_stream_has_settled(autojump_clock: trio.testing.MockClock) -> None:
    hub = Hub(Terms(idle=10), LobbyAndTables(random.Random(0)))
    async with timekeeping(hub):
        ann, bob = Box(hub, "ann", settling=0.5), Box(hub, "bob", settling=0.5)
        ann.on_settle = Play(3)
        ann.hand()
        await trio.sleep(17)
        assert ann.ended() is None
        bob.hand()
        await trio.sleep(17)
        assert isinstance(bob.events[-1][1], Ended)
        assert bob.events[-1][1].reason is Reason.TIME


async def test_one_stream_that_settles_slowly_holds_up_no_other_flag(
    autojump_clock: trio.testing.MockClock,
) -> None:
    hub = Hub(Terms(idle=10), LobbyAndTables(random.Random(0)))
    async with timekeeping(hub):
        slow, _ = Box(hub, "ann", settling=5), Box(hub, "bob", settling=5)
        quick, _ = Box(hub, "cid"), Box(hub, "dan")
        slow.hand()
        quick.hand()
        begin = trio.current_time()
        await trio.sleep(17)
        ended = quick.ended(), slow.ended()
        assert ended[0] is not None
        assert ended[1] is not None
        assert ended[0] - begin <= 10.1
        assert ended[1] - begin >= 15


async def test_page_takes_clients_while_the_last_games_are_finished() -> None:
    ports = [
        FrontEnd(name, await open_port(0, ["127.0.0.1"]), greet, stays=name == "page")
        for name in ("x", "page")
    ]
    other, page = (each.listeners[0].socket.getsockname()[1] for each in ports)
    hub = Hub(Terms(), LobbyAndTables(random.Random(0)))
    for name in ("ann", "bob"):
        Box(hub, name)
    asked = 0

    async def stop() -> float:
        nonlocal asked
        asked += 1
        if asked == 2:
            with pytest.raises(OSError):
                await trio.open_tcp_stream("127.0.0.1", other)
            async with await trio.open_tcp_stream("127.0.0.1", page) as stream:
                assert await stream.receive_some() == b"hello\n"
        return PATIENCE

    await run(hub, ports, lambda: None, stop)
    assert asked == 2


class Unsettled(Box):
    """A mailbox whose stream cannot be read empty, by a mistake of ours."""

    async def settle(self) -> None:
        raise ZeroDivisionError


async def test_stream_that_cannot_be_settled_costs_its_game_and_no_other_flag(
    autojump_clock: trio.testing.MockClock,
) -> None:
    faults: list[Sequence[str | None]] = []
    hub = Hub(Terms(idle=10), LobbyAndTables(random.Random(0)), on_fault=faults.append)
    async with timekeeping(hub):
        broken, other = Unsettled(hub, "ann", 5), Unsettled(hub, "bob", 5)
        sound, _ = Box(hub, "cid"), Box(hub, "dan")
        broken.hand()
        sound.hand()
        await trio.sleep(17)
        assert sound.ended() is not None
        assert [box.events[-1][1] for box in (broken, other)] == [Dismissed(Why.FAULT)] * 2
        assert [sorted(map(str, names)) for names in faults] == [["ann", "bob"]]


# Games that are finished before the server stops.


@pytest.fixture
def hub() -> Hub:
    return Hub(Terms(), LobbyAndTables(random.Random(0)))


def told(caplog: pytest.LogCaptureFixture) -> list[tuple[int, str]]:
    return [(record.levelno, record.getMessage()) for record in caplog.records]


async def test_drain_of_a_server_where_nobody_plays_is_over_at_once(
    autojump_clock: trio.testing.MockClock, hub: Hub, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    waiting = [Box(hub, f"ann {number}", table=f"table {number}") for number in range(300)]
    begin = trio.current_time()
    await drain(hub, 60, trio.sleep_forever)
    assert trio.current_time() - begin < 1
    assert all(player.hung_up() == begin for player in waiting)
    assert told(caplog) == [(logging.INFO, "drained: all games are over")]


async def test_drain_ends_soon_after_the_last_game(autojump_clock: trio.testing.MockClock, hub: Hub) -> None:
    ann, _ = Box(hub, "ann"), Box(hub, "bob")

    async def leave() -> None:
        await trio.sleep(20)
        hub.submit(ann.seat, Leave(), trio.current_time())

    begin = trio.current_time()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(leave)
        await drain(hub, 60, trio.sleep_forever)
    assert 20 <= trio.current_time() - begin < 21


async def test_drain_takes_no_longer_than_it_may(
    autojump_clock: trio.testing.MockClock, hub: Hub, caplog: pytest.LogCaptureFixture
) -> None:
    players = [Box(hub, "ann"), Box(hub, "bob")]
    begin = trio.current_time()
    await drain(hub, 60, trio.sleep_forever)
    assert trio.current_time() - begin == 60
    assert [player.hung_up() for player in players] == [None, None]
    assert told(caplog) == [(logging.WARNING, "drained: 2 players are cut off")]


async def test_second_request_ends_the_drain_at_once(
    autojump_clock: trio.testing.MockClock, hub: Hub
) -> None:
    for name in ("ann", "bob"):
        Box(hub, name)
    begin = trio.current_time()
    await drain(hub, 60, partial(trio.sleep, 5))
    assert trio.current_time() - begin == 5


async def test_end_of_a_game_that_is_not_stored_is_published_when_all_is_over(
    autojump_clock: trio.testing.MockClock,
) -> None:
    results: list[Finished] = []
    kept = Heard(results.append)
    kept.is_slow = True
    hub = Hub(Terms(), LobbyAndTables(random.Random(0)), kept)
    published = hub.feed.subscribe(lambda: None, [Finished])
    players = [Box(hub, "ann"), Box(hub, "bob")]

    async def at_once() -> float:
        return 0.0

    await run(hub, [], lambda: None, at_once)
    assert all(player.hung_up() is not None for player in players)
    assert len(results) == 1
    assert published.take() == results


async def test_other_tasks_run_between_two_good_byes(
    autojump_clock: trio.testing.MockClock, hub: Hub
) -> None:
    players = [Box(hub, f"ann {number}", table=f"table {number}") for number in range(50)]
    seen = set[int]()

    async def watch() -> None:
        while (left := sum(player.hung_up() is None for player in players)) > 0:
            seen.add(left)
            await trio.lowlevel.checkpoint()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch)
        await drain(hub, 60, trio.sleep_forever)
    assert len(seen) >= 25  # tasks take their turns in any order, so it may miss every other one


# A move in the socket, a busy server. All dialects have the same sockets; Droidcon's frames are the plainest.


class Results(list[Finished]):
    """The games that are over."""

    def __init__(self) -> None:
        self.some = trio.Event()

    def note(self, game: Finished) -> None:
        self.append(game)
        self.some.set()


class Bot:
    """A Droidcon client on a bare socket, which says things while the server is busy."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock

    async def hears(self, text: bytes) -> None:
        """Return once a text has come by."""
        heard = b""
        while text not in heard:
            await trio.lowlevel.wait_readable(self.sock)
            heard += self.sock.recv(65_536)


@pytest.fixture
def slow_clock() -> trio.testing.MockClock:
    """Let time pass slowly, but for jumps, in which the loop does not run, as on a busy machine.

    So a machine that really is busy costs nobody a game.
    """
    return trio.testing.MockClock(rate=0.1)


@asynccontextmanager
async def asked(results: Results, clock: float) -> AsyncIterator[tuple[Bot, Bot]]:
    """Give two bots in a game on real sockets, the first of which was just asked for its move."""
    hub = Hub(Terms(idle=clock), LobbyAndTables(random.Random(0)), Heard(results.note))
    receive, turns = partial(receive_lines, adapters.droidcon.server.serving(hub, rounds=4)), Turns()
    trio.lowlevel.add_instrument(turns)
    async with polling(turns) as poller, trio.open_nursery() as nursery:
        preamble = Preamble(None, hub.feed.counts)
        entrance = Entrance(
            "x", receive, lambda stream: Socket(taken(stream), poller, turns), without_limits(), preamble
        )
        listening = await front(entrance.serve)
        nursery.start_soon(run, hub, [listening], lambda: None, trio.sleep_forever, (), turns)
        address = listening.listeners[0].socket.getsockname()
        with (
            trio.fail_after(PATIENCE),
            socket.create_connection(address) as one,
            socket.create_connection(address) as two,
        ):
            ann, bob = Bot(one), Bot(two)
            one.sendall(b"NAME ann\nJOIN table\n")
            await ann.hears(b"SUCCESS\nSUCCESS\n")
            two.sendall(b"NAME bob\nJOIN table\n")
            await ann.hears(b"YOUR_MOVE\n")
            yield ann, bob
        nursery.cancel_scope.cancel()


async def test_move_that_had_arrived_in_time_never_loses_on_time(slow_clock: trio.testing.MockClock) -> None:
    results = Results()
    async with asked(results, clock=0.25) as (ann, bob):
        ann.sock.sendall(b"PUT 3\n")
        slow_clock.jump(0.3)  # the deadline passes with the move in the socket
        await bob.hears(b"PUT 3\n")
        assert results == []


async def test_time_for_which_the_server_stood_still_is_no_thinking_time(
    slow_clock: trio.testing.MockClock,
) -> None:
    results = Results()
    async with asked(results, clock=20) as (ann, bob):
        ann.sock.sendall(b"PUT 3\n")
        slow_clock.jump(0.3)
        await bob.hears(b"PUT 3\n")
        bob.sock.shutdown(socket.SHUT_WR)
        await results.some.wait()
    assert results[0].thought[0] < 0.2


async def test_stalled_server_still_lets_the_flag_of_a_sleeper_fall(
    slow_clock: trio.testing.MockClock,
) -> None:
    results = Results()
    async with asked(results, clock=0.1):
        slow_clock.jump(0.2)
        await results.some.wait()
    game = results[0]
    assert (game.reason, game.winner, game.board.moves) == (Reason.TIME, 1, ())
