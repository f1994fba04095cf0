"""Links between nodes, over sockets."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, closing

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from adapters.cluster.links import DIALING, MOST_STRANGERS, NO_PROOF, Address, Links, ask
from adapters.net.socket import Socket, taken
from gateway.cluster.channel import Hello, Identity

RULES = {"clock": 42.0, "idle": 300.0}
SECRET = b"secret"


class Hears:
    """A node that writes down what it hears."""

    def __init__(self, name: str, run: int = 1, secret: bytes = SECRET, **rules: float) -> None:
        self.heard: list[str | bytes] = []
        self.changed = trio.Event()
        self.links = Links(Identity(name, run, RULES | rules), secret, self)
        self.sockets: list[Socket] = []

    def joined(self, node: str, now: float) -> None:
        self._hear(f"{node} joined")

    def receive(self, node: str, frame: bytes, now: float) -> None:
        if frame.startswith(b"nonsense"):
            raise ValueError(frame.decode())
        self._hear(frame)

    def settle(self, now: float) -> None:
        pass

    def lost(self, node: str, now: float) -> None:
        self._hear(f"{node} lost")

    def _hear(self, what: str | bytes) -> None:
        self.heard.append(what)
        self.changed.set()
        self.changed = trio.Event()

    async def until(self, *heard: str | bytes) -> None:
        """Wait until it has heard exactly this."""
        with trio.fail_after(10):
            while self.heard != [*heard]:
                await self.changed.wait()

    async def serve(self, stream: trio.SocketStream) -> None:
        sock = Socket(taken(stream))
        self.sockets.append(sock)
        await self.links.serve(sock)


@asynccontextmanager
async def running(*nodes: Hears) -> AsyncIterator[dict[str, Address]]:
    """Run nodes, and let each find the others."""
    async with trio.open_nursery() as nursery:
        places = {}
        for node in nodes:
            await nursery.start(node.links.run)
            [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
            nursery.start_soon(trio.serve_listeners, node.serve, [listener])
            places[node.links.own.node] = listener.socket.getsockname()
        for node in nodes:
            node.links.meet(places)
        yield places
        nursery.cancel_scope.cancel()


async def test_frames_arrive_in_order_both_ways() -> None:
    ann, bob = Hears("ann"), Hears("bob")
    async with running(ann, bob):
        await ann.until("bob joined")
        await bob.until("ann joined")
        for number in range(100):
            ann.links.send("bob", b"%d" % number)
            bob.links.send("ann", b"%d" % -number)
        await bob.until("ann joined", *(b"%d" % number for number in range(100)))
        await ann.until("bob joined", *(b"%d" % -number for number in range(100)))


async def test_connection_that_breaks_costs_no_frame() -> None:
    ann, bob = Hears("ann"), Hears("bob")
    async with running(ann, bob):
        await ann.until("bob joined")
        await bob.until("ann joined")
        expected: list[str | bytes] = ["ann joined"]
        for number in range(3):
            ann.links.send("bob", b"before %d" % number)
            bob.sockets[-1].close()
            ann.links.send("bob", b"after %d" % number)
            expected += [b"before %d" % number, b"after %d" % number]
            await bob.until(*expected)
        assert ann.heard == ["bob joined"]


async def test_connection_ends_when_its_node_comes_by_another_one() -> None:
    bob, ann = Hears("bob"), Identity("ann", 1, RULES)
    async with running(bob) as places:
        old, new = [Socket(taken(await trio.open_tcp_stream(*places["bob"]))) for _ in range(2)]
        with closing(old), closing(new):
            began = await ask(old, Hello(ann), SECRET)
            await bob.until("ann joined")
            await ask(new, Hello(ann, began.channel), SECRET)
            with trio.fail_after(5):
                assert await old.receive_some() == b""
    assert bob.heard == ["ann joined"]


async def test_silent_node_is_lost_once_and_begins_anew(mock_clock: MockClock) -> None:
    mock_clock.rate = 4
    ann, bob = Hears("ann"), Hears("bob")
    async with running(ann, bob) as places:
        await ann.until("bob joined")
        await bob.until("ann joined")
        ann.links.meet({})
        bob.links.meet({})
        bob.sockets[-1].close()
        await ann.until("bob joined", "bob lost")
        await bob.until("ann joined", "ann lost")
        ann.links.send("bob", b"never arrives")
        ann.links.meet(places)
        await ann.until("bob joined", "bob lost", "bob joined")
        ann.links.send("bob", b"hello")
        await bob.until("ann joined", "ann lost", "ann joined", b"hello")


async def test_frame_that_says_nothing_loses_the_link_and_no_other() -> None:
    ann, bob, carl = Hears("ann"), Hears("bob"), Hears("carl")
    async with running(ann, bob, carl):
        with trio.fail_after(10):
            while not len(ann.heard) == len(bob.heard) == len(carl.heard) == 2:
                await trio.lowlevel.checkpoint()
        ann.links.send("bob", b"nonsense")
        await bob.until(*bob.heard[:2], "ann lost", "ann joined")
        assert len(carl.heard) == 2


@pytest.mark.parametrize(
    ("other", "why", "told"),
    [
        (lambda: Hears("bob", secret=b"other"), "does not know the secret", ["bob"]),
        (lambda: Hears("bob", clock=1.0), "its --clock differs", ["127.0.0.1", "bob"]),
    ],
)
async def test_nodes_that_do_not_go_together_refuse_each_other(
    other: Callable[[], Hears], why: str, told: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    ann, bob = Hears("ann"), other()
    async with running(ann, bob):
        with trio.fail_after(10):
            while caplog.text.count(why) < len(told):
                await trio.lowlevel.checkpoint()
    assert sorted(vars(record)["other"] for record in caplog.records if why in record.getMessage()) == told
    assert ann.heard == bob.heard == []


async def test_node_that_is_not_reached_is_named_with_the_cause(
    mock_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    ann, bob = Hears("ann"), Hears("bob")
    async with running(ann, bob) as places:
        await bob.until("ann joined")
        mock_clock.rate = 20
        ann.links.meet(places | {"cid": ("not..a.host", 1)})
        with trio.fail_after(200):
            while not caplog.records:
                await trio.lowlevel.checkpoint()
    [record] = caplog.records
    assert record.getMessage().startswith("no link to the node at cid: it cannot be reached: ")


async def test_address_that_does_not_answer_keeps_no_node_at_another_one_out(
    monkeypatch: pytest.MonkeyPatch, autojump_clock: MockClock
) -> None:
    called = []

    async def open_tcp_stream(host: str, port: int) -> trio.SocketStream:
        called.append(host)
        if host == "here":
            raise OSError
        await trio.sleep_forever()
        raise AssertionError

    monkeypatch.setattr(trio, "open_tcp_stream", open_tcp_stream)
    ann = Hears("ann")
    async with running(ann):
        ann.links.meet({"bob": ("gone", 1)})
        await trio.sleep(1)
        ann.links.meet({"bob": ("here", 1)})
        await trio.sleep(DIALING)
    assert called[:2] == ["gone", "here"]


def hello(name: str, **rules: float) -> bytes:
    return Hello(Identity(name, 1, rules, version=77)).encode()


async def test_stranger_chooses_no_word_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    bob = Hears("bob")
    async with running(bob) as places:
        for rule in ("one", "two"):
            async with await trio.open_tcp_stream(*places["bob"]) as stranger:
                await stranger.send_all(hello("forged", **{rule: 1.0}) + b"no proof\n")
                async for _ in stranger:
                    pass
    [record] = caplog.records
    assert record.getMessage() == f"no link to the node at 127.0.0.1: {NO_PROOF}"


async def test_those_that_do_not_greet_keep_no_node_out(mock_clock: MockClock) -> None:
    """Their time stands still, so that they are not let go for being slow."""
    ann, bob = Hears("ann"), Hears("bob")
    async with running(bob) as places, trio.open_nursery() as nursery, AsyncExitStack() as stack:
        strangers = []
        for _ in range(MOST_STRANGERS):
            stream = await trio.open_tcp_stream(*places["bob"])
            strangers.append(await stack.enter_async_context(stream))
            await trio.testing.wait_all_tasks_blocked(0.001)
        older, *_, newer = strangers
        await nursery.start(ann.links.run)
        ann.links.meet(places)
        await bob.until("ann joined")
        assert await older.receive_some() == b""
        with trio.CancelScope() as looking:
            looking.cancel()
            await newer.receive_some()
        assert looking.cancelled_caught
        ann.links.send("bob", b"hello")
        await bob.until("ann joined", b"hello")
        nursery.cancel_scope.cancel()


async def test_what_a_node_says_that_is_not_understood_is_logged_now_and_then_and_in_few_words(
    caplog: pytest.LogCaptureFixture,
) -> None:
    ann, bob = Hears("ann"), Hears("bob")
    heard: list[str | bytes] = ["ann joined"]
    async with running(ann, bob):
        for number in range(2):
            await bob.until(*heard)
            await ann.until(*["bob joined", "bob lost"] * number, "bob joined")
            ann.links.send("bob", b"nonsense %d " % number + b"x" * 1000)
            heard += ["ann lost", "ann joined"]
        await bob.until(*heard)
    [record] = caplog.records
    assert len(record.getMessage()) < 400
