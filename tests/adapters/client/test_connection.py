"""One client's connection: its reader, its outbox, and the boundary around them.

On a hub of the real kind, a toy dialect, and transports that the test holds both ends of.
"""

import logging
import random
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from itertools import pairwise

import pytest
import trio
import trio.testing
from shell_fakes import FakeTransport, ToyCodec, ToyTranslator
from wires import wired

from adapters.client.boundary import serve_connection
from adapters.client.connection import AT_FIRST, AT_LENGTH, AT_ONCE, Connection
from adapters.client.contract import PROBE_LIMIT, Farewell, Flooded, Heard, PeerGone
from adapters.client.outbox import BACKLOG_LIMIT, FULL, OUTBOX_LIMIT, UNANSWERED, UNREAD
from adapters.net.pacing import PERIOD, SHARED, ClientLimits, Turns
from gateway.game.board import FIRST, SECOND, Side
from gateway.game.clock import Terms
from gateway.game.commands import Introduce
from gateway.game.events import (
    Dismissed,
    Ended,
    Entered,
    Event,
    Introduced,
    Objection,
    Refused,
    Remark,
    Spoken,
    Why,
)
from gateway.game.facts import Fact
from gateway.game.ids import GameId
from gateway.game.results import Finished
from gateway.hub.hub import Hub
from gateway.matchmaking.matchmaker import Answer
from gateway.matchmaking.standard import LobbyAndTables

pytestmark = pytest.mark.trio
NOISE = Introduced("x" * 1000)


class FakeResults:
    """Stores results at once, or, from `hold` on, when the test says so."""

    def __init__(self, *, takes_evidence: bool = False) -> None:
        self.takes_evidence = takes_evidence
        self.kept: dict[GameId, Finished] = {}
        self._held: list[Callable[[], object]] | None = None
        self._enclosed: dict[tuple[GameId, Side], list[str]] = {}

    def keep(self, finished: Finished) -> None:
        self.kept[finished.game] = finished

    def is_open(self, game: GameId) -> bool:
        assert game in self.kept
        return self._held is not None

    def when_stored(self, game: GameId, then: Callable[[], object]) -> None:
        assert game in self.kept
        assert self._held is not None
        self._held.append(then)

    def as_stored(self, ended: Ended) -> Ended:
        return ended

    def enclose(self, game: GameId, side: Side, said: Sequence[Spoken]) -> None:
        assert (game, side) not in self._enclosed
        self._enclosed[game, side] = [_word(*line) for line in said]

    def hold(self) -> None:
        """Let no result be stored."""
        self._held = []

    def store(self) -> None:
        """Let all results be stored."""
        held, self._held = self._held or [], None
        for then in held:
            then()

    def enclosed(self, number: int = 0) -> dict[Side, list[str]]:
        """Return the evidence of the game that was over as the number given, from 0."""
        game = [*self.kept][number]
        return {side: said for (of, side), said in self._enclosed.items() if of == game}


class Thoughtful(LobbyAndTables):
    """A matchmaker that answers later while it thinks."""

    thinks = False

    def answers(self, now: float) -> Iterable[Answer]:
        return () if self.thinks else super().answers(now)


class House:
    """A hub and the connections to it."""

    def __init__(self, nursery: trio.Nursery, *, keeps_wire: bool = False) -> None:
        self.results = FakeResults(takes_evidence=keeps_wire)
        self.matchmaker = Thoughtful(random.Random(0))
        self.hub = Hub(Terms(idle=30), self.matchmaker, self.results)
        self.connections: list[Connection[str, str]] = []
        self._nursery = nursery
        self._turns = Turns()

    def visit(self, transport: FakeTransport, translator: ToyTranslator | None = None) -> FakeTransport:
        """Let a client come, whose line is `transport`."""
        transport.turns = self._turns
        connection = Connection(self.hub, transport, ToyCodec(), translator or ToyTranslator())
        self.connections.append(connection)

        async def serve(_: trio.abc.Stream) -> None:
            await connection.run()

        _, stream = trio.testing.memory_stream_pair()
        self._nursery.start_soon(serve_connection, "toy", serve, wired, stream)
        return transport

    def tell(self, number: int, event: Event) -> None:
        """Let something happen to the client who came as the number given, from 0."""
        self.connections[number]._outbox.deliver(event)
        self.hub.tick(trio.current_time())


@asynccontextmanager
async def house(*, keeps_wire: bool = False) -> AsyncIterator[House]:
    async with trio.open_nursery() as nursery:
        yield House(nursery, keeps_wire=keeps_wire)
        nursery.cancel_scope.cancel()


async def quiet() -> None:
    """Return when nothing more happens unless time passes."""
    await trio.testing.wait_all_tasks_blocked()


@asynccontextmanager
async def game(*, keeps_wire: bool = False) -> AsyncIterator[tuple[House, FakeTransport, FakeTransport]]:
    """Give a house with two players at the table, the one to move first."""
    async with house(keeps_wire=keeps_wire) as home:
        ann, bob = home.visit(FakeTransport()), home.visit(FakeTransport())
        for name, transport in (("ann", ann), ("bob", bob)):
            transport.arrives(f"enter {name}")
            await quiet()
            assert transport.sent[0] == "Entered"
        for transport in (ann, bob):
            assert transport.sent == ["Entered", "Started"]
            transport.sent.clear()
        yield home, ann, bob


def errors(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


class LastWords(FakeTransport):
    """A client of whom nothing comes behind its first packet, as the transport knows at once."""

    async def listen(self, heard: Heard) -> bool:
        await super().listen(lambda texts: heard(texts) and False)
        return False


# Messages.


async def test_what_one_does_the_other_is_told() -> None:
    async with game() as (_, ann, bob):
        ann.arrives("play 3")
        await quiet()
        assert (ann.sent, bob.sent) == (["Moved"], ["Moved"])


async def test_client_thinks_until_its_move_is_accepted() -> None:
    async with game() as (_, ann, bob):
        for text in ("x", "what!", "play 7"):
            ann.arrives(text)
            await quiet()
            assert (ann.thinks(), bob.thinks()) == (True, False)
        ann.arrives("play 3")
        await quiet()
        assert (ann.thinks(), bob.thinks()) == (False, True)


async def test_client_thinks_no_longer_once_it_has_heard_of_the_end() -> None:
    async with game() as (home, ann, bob):
        home.results.hold()
        bob.ends()
        await quiet()
        assert (ann.sent, ann.thinks()) == ([], True)
        home.results.store()
        await quiet()
        assert (ann.sent, ann.thinks()) == (["Ended"], False)


async def test_commands_of_one_packet_are_carried_out_and_answered_in_order() -> None:
    async with house() as home:
        ann = home.visit(FakeTransport())
        ann.arrives("x", "enter ann", "y", "z")
        await quiet()
        assert [text.split()[-1] for text in ann.sent] == ["x", "Entered", "y", "z"]


async def test_text_that_is_no_message_is_answered_through_the_outbox() -> None:
    async with house() as home:
        ann = home.visit(FakeTransport())
        ann.arrives("enter ann", "what!", "x")
        await quiet()
        assert ann.sent == ["Entered", "Refused WAITING|UNREADABLE what!", "Refused WAITING|UNFIT x"]


@pytest.mark.parametrize("packets", [["enter ann", "x", "y"], ["enter ann"]])
async def test_client_is_not_read_until_it_is_decided_whether_it_may_enter(packets: list[str]) -> None:
    async with house() as home:
        ann, bob = home.visit(FakeTransport()), home.visit(FakeTransport())
        home.matchmaker.thinks = True
        ann.arrives(*packets)
        await quiet()
        ann.arrives("z")
        bob.arrives("what!")
        await quiet()
        assert (ann.sent, len(bob.sent)) == ([], 1)
        home.matchmaker.thinks = False
        home.hub.tick(trio.current_time())
        await quiet()
        assert [text.split()[-1] for text in ann.sent] == ["Entered", *packets[1:], "z"]


async def test_client_that_is_hung_up_on_while_nobody_has_decided_on_it_is_gone() -> None:
    async with house() as home:
        ann = home.visit(FakeTransport())
        home.matchmaker.thinks = True
        ann.arrives("enter ann", "x")
        await quiet()
        home.hub.close(trio.current_time())
        await quiet()
        assert (ann.sent, ann.farewell is not None) == ([], True)
        assert len(home.hub) == 0


async def test_what_happened_at_once_is_sent_at_once() -> None:
    async with house() as home:
        ann, bob = home.visit(FakeTransport()), home.visit(FakeTransport())
        ann.arrives("enter ann")
        await quiet()
        bob.arrives("enter bob")
        await quiet()
        assert bob.packets == [["Entered", "Started"]]


async def test_much_in_one_packet_is_carried_out_a_part_at_a_time_in_order() -> None:
    async with house() as home:
        ann, bob = home.visit(FakeTransport()), home.visit(FakeTransport())
        ann.arrives("enter ann", *(f"a{number}" for number in range(10 * AT_ONCE)))
        bob.arrives("enter bob")
        seen = 0
        while not bob.sent:
            await trio.lowlevel.checkpoint()
            seen = len(ann.sent)
        assert seen < 10 * AT_ONCE
        await quiet()
        assert [text.split()[-1] for text in ann.sent if "Refused" in text] == [
            f"a{number}" for number in range(10 * AT_ONCE)
        ]


async def test_texts_that_are_long_together_are_carried_out_in_several_turns() -> None:
    """As 64 short maps of EDN in one packet once were in one turn: 20 ms."""
    async with house() as home:
        ann = home.visit(FakeTransport())
        tally = Tally([ann])
        trio.lowlevel.add_instrument(tally)
        ann.arrives(*("x" * (AT_LENGTH // 2) for _ in range(10)), "x" * 3 * AT_LENGTH, "x")
        await quiet()
        trio.lowlevel.remove_instrument(tally)
        assert tally.told[-1] == [12]
        assert all(after[0] - before[0] <= 2 for before, after in pairwise(tally.told))


class Tally(trio.abc.Instrument):
    """How much each client has been told by the end of each turn of the loop."""

    def __init__(self, clients: Sequence[FakeTransport]) -> None:
        self.told: list[list[int]] = []
        self._clients = clients

    def after_io_wait(self, timeout: float) -> None:
        self.told.append([len(client.sent) for client in self._clients])


async def test_clients_that_send_much_share_each_turn_of_the_loop_and_none_comes_off_worse(
    mock_clock: trio.testing.MockClock,
) -> None:
    async with house() as home:
        crowd = [home.visit(FakeTransport()) for _ in range(10)]
        tally = Tally(crowd)
        trio.lowlevel.add_instrument(tally)
        for client in crowd:
            client.arrives(*("x" for _ in range(10 * AT_ONCE)))
        await quiet()
        trio.lowlevel.remove_instrument(tally)
        assert tally.told[-1] == [10 * AT_ONCE] * len(crowd)
        most = AT_ONCE + len(crowd) + SHARED
        assert AT_ONCE <= max(sum(after) - sum(before) for before, after in pairwise(tally.told)) <= most
        assert all(max(told) - min(told) < AT_ONCE + AT_FIRST for told in tally.told)


async def test_client_over_its_rate_is_read_no_further_until_it_may_go_on(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with house() as home:
        fast, other = FakeTransport(), FakeTransport()
        fast.limits = ClientLimits(rate=8, burst=2)
        home.visit(fast)
        home.visit(other)
        begin = trio.current_time()
        fast.arrives("enter ann", *(str(number) for number in range(9)))
        other.arrives("enter bob")
        times = {}
        while len(fast.sent) < 11:
            await trio.sleep(0.01)
            times.setdefault(len(fast.sent), trio.current_time() - begin)
        assert [text.split()[-1] for text in fast.sent if "Refused" in text] == [*"012345678"]
        assert times.keys() >= {3, 5, 7, 9, 11}
        assert min(count for count in times) == 3  # at once: `Entered`, `Started`, and the answer to 0
        assert 1.0 <= times[11] < 1.2
        assert other.sent == ["Entered", "Started"]


async def test_client_over_its_rate_that_is_hung_up_on_is_gone_at_once() -> None:
    async with house() as home:
        fast = FakeTransport()
        fast.limits = ClientLimits(rate=1e-6, burst=1)
        home.visit(fast)
        fast.arrives("enter ann", "x")
        await quiet()
        assert fast.sent == ["Entered"]
        home.hub.close(trio.current_time())
        await quiet()
        assert fast.farewell is not None
        assert len(home.hub) == 0


async def test_further_texts_of_many_clients_are_carried_out_in_turns(
    mock_clock: trio.testing.MockClock,
) -> None:
    """As ten clients that rename themselves a thousand times a second once took 12 ms of a turn."""
    async with house() as home:
        crowd = [home.visit(FakeTransport()) for _ in range(SHARED)]
        tally = Tally(crowd)
        trio.lowlevel.add_instrument(tally)
        for client in crowd:
            client.arrives(*("x" for _ in range(AT_FIRST)))
        await quiet()
        trio.lowlevel.remove_instrument(tally)
        assert tally.told[-1] == [AT_FIRST] * len(crowd)
        assert (
            max(sum(after) - sum(before) for before, after in pairwise(tally.told)) <= 2 * SHARED + AT_FIRST
        )


async def test_client_that_sends_few_texts_waits_for_none_that_send_much(
    mock_clock: trio.testing.MockClock,
) -> None:
    async with house() as home:
        crowd = [home.visit(FakeTransport()) for _ in range(10)]
        ann = home.visit(FakeTransport())
        for client in crowd:
            client.arrives(*("x" for _ in range(10 * AT_ONCE)))
        while not all(client.sent for client in crowd):
            await trio.lowlevel.checkpoint()
        mock_clock.jump(PERIOD)
        ann.arrives("enter ann", *("x" for _ in range(AT_FIRST - 1)))
        for _ in range(5):
            await trio.lowlevel.checkpoint()
        assert len(ann.sent) == AT_FIRST
        assert sum(len(client.sent) for client in crowd) < 10 * AT_ONCE


async def test_last_words_are_heard_however_much_there_was_to_answer() -> None:
    async with house() as home:
        ann = home.visit(LastWords())
        ann.arrives(*(f"a{number}" for number in range(AT_ONCE)), "enter ann")
        await quiet()
        assert ann.sent[-1] == "Entered"


# Leaving.


async def test_end_of_input_is_leaving_after_all_before_it_was_done_and_told() -> None:
    async with game() as (home, ann, bob):
        ann.arrives("play 3", "x", "y!")
        ann.ends()
        await quiet()
        assert ann.sent == ["Moved", "Refused PLAYING|UNFIT x", "Refused PLAYING|UNREADABLE y!", "Ended"]
        assert ann.farewell == Farewell(1000, "left")
        assert bob.sent == ["Moved", "Ended"]
        assert len(home.hub) == 1


async def test_client_that_vanishes_has_left() -> None:
    async with game() as (home, ann, bob):
        ann.arrives("gone")
        await quiet()
        assert bob.sent == ["Ended"]
        assert ann.farewell is not None
        assert len(home.hub) == 1


async def test_client_that_vanishes_before_it_has_entered_leaves_nothing_behind() -> None:
    async with house() as home:
        ann = home.visit(FakeTransport())
        ann.arrives("gone")
        await quiet()
        assert len(home.hub) == 0


async def test_client_that_is_gone_when_it_is_told_something_has_left() -> None:
    async with game() as (home, ann, bob):
        bob.gone = True
        ann.arrives("play 3")
        await quiet()
        assert ann.sent == ["Moved", "Ended"]
        assert len(home.hub) == 1


async def test_flood_is_refused_and_then_hung_up_on() -> None:
    class Flood(FakeTransport):
        async def listen(self, heard: Heard) -> bool:
            def flooded(texts: list[str]) -> bool:
                if texts == ["flood"]:
                    raise Flooded
                return heard(texts)

            return await super().listen(flooded)

    async with house() as home:
        ann = home.visit(Flood())
        ann.arrives("enter ann")
        ann.arrives("flood")
        await quiet()
        assert [text.strip() for text in ann.sent] == ["Entered", "Refused WAITING|UNREADABLE"]
        assert ann.farewell == Farewell(1000, "left")
        assert len(home.hub) == 0


async def test_dismissed_client_hears_all_before_it_and_nothing_after_it() -> None:
    async with game() as (home, ann, _):
        ann.letting_in = trio.Event()
        ann.arrives("x", "y")
        await quiet()
        home.hub.close(trio.current_time())
        ann.letting_in.set()
        await quiet()
        assert [text.split()[-1] for text in ann.sent] == ["x", "y"]
        assert ann.farewell == Farewell(1000, "server stopped")


# Slow clients.


async def test_client_that_stops_reading_is_dropped_and_nobody_else_is_touched(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with game() as (home, ann, bob):
        cid, dan = home.visit(FakeTransport()), home.visit(FakeTransport())
        cid.arrives("x")
        bob.letting_in = trio.Event()
        ann.arrives("play 3")
        await quiet()
        for _ in range(BACKLOG_LIMIT // 1000):
            home.tell(1, NOISE)
        assert bob.farewell is None
        home.tell(1, NOISE)
        dan.arrives("y")
        await quiet()
        assert bob.farewell == Farewell(1008, "stopped reading")
        assert bob.sent == []
        assert ann.sent == ["Moved", "Ended"]
        assert [text.split()[-1] for text in cid.sent + dan.sent] == ["x", "y"]
        assert (ann.farewell, cid.farewell, dan.farewell) == (None, None, None)
        assert errors(caplog) == []


async def test_full_outbox_is_no_reason_yet() -> None:
    async with game() as (home, ann, bob):
        home.results.hold()
        ann.ends()
        await quiet()
        for _ in range(OUTBOX_LIMIT - 1):
            home.tell(1, Entered("noise"))
        await quiet()
        home.results.store()
        await quiet()
        assert len(bob.sent) == OUTBOX_LIMIT
        assert bob.farewell is None


async def test_outbox_that_waits_for_a_result_is_bounded() -> None:
    async with game() as (home, ann, bob):
        home.results.hold()
        ann.ends()
        await quiet()
        for _ in range(OUTBOX_LIMIT):
            home.tell(1, Entered("noise"))
        await quiet()
        assert bob.farewell == Farewell(1008, "stopped reading")


async def test_client_that_is_given_up_is_told_no_more_when_the_result_is_stored_at_once() -> None:
    async with game() as (home, ann, bob):
        home.results.hold()
        ann.ends()
        await quiet()
        for _ in range(OUTBOX_LIMIT):
            home.tell(1, Entered("noise"))
        home.results.store()  # before the client's task has noticed
        await quiet()
        assert bob.farewell == Farewell(1008, "stopped reading")
        assert bob.sent == []


async def test_what_waits_for_a_slow_client_is_bytes_and_nothing_that_events_refer_to() -> None:
    async with house() as home:
        ann = home.visit(FakeTransport())
        ann.letting_in = trio.Event()
        for number in range(10):
            ann.arrives(f"{number}" * 100)
        await quiet()
        assert ann.waiting > 1000
        assert home.connections[0]._outbox._events == []


async def test_little_of_a_client_is_heard_while_its_events_wait_for_a_result() -> None:
    async with game() as (home, ann, bob):
        home.results.hold()
        ann.ends()
        await quiet()
        for number in range(100):
            bob.arrives(f"{number} {'x' * 1000}")
        await quiet()
        heard = [event for event in home.connections[1]._outbox._events if isinstance(event, Refused)]
        assert len(heard) * 1000 <= UNREAD + 1000
        home.results.store()
        await quiet()
        assert [text.split()[2] for text in bob.sent if "Refused" in text] == [str(n) for n in range(100)]
        assert home.connections[1]._outbox._messages == {}


async def test_connection_that_is_over_keeps_nothing_for_the_garbage_collector() -> None:
    async with house() as home:
        ann = home.visit(FakeTransport())
        ann.letting_in = trio.Event()
        ann.arrives(*("x" * 1000 for _ in range(1000)))
        await quiet()
        connection = home.connections[0]
        assert connection._unheard != []
        ann.gone = True
        ann.letting_in.set()
        await quiet()
        assert (connection._unheard, connection._outbox._events) == ([], [])


async def test_ten_thousand_commands_in_one_packet_are_no_reason_to_be_dropped() -> None:
    async with house() as home:
        ann = home.visit(FakeTransport())
        ann.letting_in = trio.Event()
        ann.arrives(*(str(number) for number in range(10_000)))
        await quiet()
        ann.letting_in.set()
        await quiet()
        assert [text.split()[-1] for text in ann.sent] == [str(number) for number in range(10_000)]
        assert ann.farewell is None


async def test_client_that_does_not_let_in_what_it_is_told_is_not_read() -> None:
    async with house() as home:
        ann = home.visit(FakeTransport())
        ann.letting_in = trio.Event()
        ann.arrives("first")
        await quiet()
        ann.arrives(*("x" * 1000 for _ in range(2 * FULL // 1000)))
        ann.arrives("enter ann")
        bob = home.visit(FakeTransport())
        bob.arrives("enter bob")
        await quiet()
        assert bob.sent == ["Entered"]
        assert ann.waiting <= FULL + 1100
        ann.letting_in.set()
        await quiet()
        assert bob.sent == ["Entered", "Started"]


async def test_order_is_kept_however_slowly_the_client_lets_things_in() -> None:
    async with house() as home:
        ann = home.visit(FakeTransport())
        await quiet()
        for number in range(100):
            ann.letting_in = trio.Event()
            for digit in range(5):
                ann.arrives(f"{number}.{digit}")
                await trio.lowlevel.checkpoint()
            ann.letting_in.set()
        await quiet()
        assert [text.split()[-1] for text in ann.sent] == [f"{n}.{d}" for n in range(100) for d in range(5)]


# Results.


def _word(_: float, way: str, text: str, remark: Remark) -> str:
    name = remark.name if isinstance(remark, Objection) else remark
    return {"in": f"> {text}", "out": f"< {text}", "note": "--"}[way] + ("" if name is None else f" ({name})")


async def test_nobody_hears_of_a_result_before_it_is_safe() -> None:
    async with game() as (home, ann, bob):
        home.results.hold()
        ann.arrives("play 3")
        ann.ends()
        await quiet()
        assert (ann.sent, bob.sent) == (["Moved"], ["Moved"])
        home.results.store()
        await quiet()
        assert bob.sent == ["Moved", "Ended"]


async def test_feed_tells_of_an_end_when_the_player_hears_of_it() -> None:
    async with game() as (home, ann, _):
        heard: list[Fact] = []
        ended = home.hub.feed.subscribe(lambda: heard.extend(ended.take()), [Finished])
        home.results.hold()
        ann.arrives("play 3")
        ann.ends()
        await quiet()
        assert heard == []
        home.results.store()
        await quiet()
        assert heard == [*home.results.kept.values()]


async def test_what_is_behind_a_result_waits_with_it_in_order() -> None:
    async with game() as (home, ann, bob):
        home.results.hold()
        ann.ends()
        await quiet()
        bob.arrives("x", "y")
        await quiet()
        assert bob.sent == []
        home.results.store()
        await quiet()
        assert [text.split()[-1] for text in bob.sent] == ["Ended", "x", "y"]


async def test_result_that_is_safe_waits_for_nothing() -> None:
    async with game() as (_, ann, bob):
        ann.ends()
        await quiet()
        assert bob.sent == ["Ended"]


async def test_what_the_client_lets_in_slowly_goes_before_the_wait_for_a_result() -> None:
    async with game() as (home, ann, bob):
        home.results.hold()
        bob.letting_in = trio.Event()
        ann.arrives("play 3")
        ann.ends()
        await quiet()
        home.results.store()
        await quiet()
        assert bob.sent == []
        bob.letting_in.set()
        await quiet()
        assert bob.sent == ["Moved", "Ended"]


async def test_client_that_leaves_while_a_result_is_kept_leaves_at_once() -> None:
    async with game() as (home, ann, bob):
        home.results.hold()
        ann.ends()
        await quiet()
        bob.arrives("gone")
        await quiet()
        assert bob.farewell is not None


# Time.


async def test_clock_runs_from_when_the_request_left_not_from_when_it_was_queued(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with house() as home:
        ann, bob = home.visit(FakeTransport()), home.visit(FakeTransport())
        ann.letting_in = trio.Event()
        ann.arrives("enter ann")
        await quiet()
        bob.arrives("enter bob")
        await trio.sleep(29)
        assert home.hub.tick(trio.current_time() + 1000) == []  # nobody's time runs
        ann.letting_in.set()
        await quiet()
        assert home.hub.tick(trio.current_time() + 29.9) == []
        assert len(home.hub.tick(trio.current_time() + 30.1)) == 1


async def test_clock_stops_when_the_bytes_were_read_not_when_the_hub_got_to_them(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with game() as (home, ann, bob):
        await trio.sleep(2)
        ann.arrives("play 3")
        await quiet()
        await trio.sleep(3)
        bob.ends()
        await quiet()
        assert [finished.thought for finished in home.results.kept.values()] == [(2, 0)]


async def test_settled_connection_has_settled_its_transport(autojump_clock: trio.testing.MockClock) -> None:
    class Slow(FakeTransport):
        async def settle(self) -> None:
            await trio.sleep(0.5)

    async with house() as home:
        home.visit(Slow())
        begin = trio.current_time()
        await home.connections[0]._outbox.settle()
        assert trio.current_time() - begin == 0.5


# Evidence.


@asynccontextmanager
async def recorded_game() -> AsyncIterator[tuple[House, FakeTransport, FakeTransport]]:
    """Give a game as `game` does, of which is recorded what goes over the wires."""
    async with game(keeps_wire=True) as (home, ann, bob):
        home.results.hold()
        yield home, ann, bob


async def test_evidence_is_handed_in_after_the_end_was_told_and_holds_that_too() -> None:
    async with recorded_game() as (home, ann, bob):
        ann.arrives("play 3", "x!", "play 9")
        await quiet()
        bob.arrives("play 9")
        await quiet()
        ann.ends()
        await quiet()
        assert home.results.enclosed() == {}
        home.results.store()
        await quiet()
        assert home.results.enclosed() == {
            FIRST: [
                "< Started",
                "> play 3",
                "< Moved",
                "> x! (PLAYING|UNREADABLE)",
                "< Refused PLAYING|UNREADABLE x!",
                "> play 9 (NOT_YOUR_TURN|OUTSIDE)",
                "< Refused NOT_YOUR_TURN|OUTSIDE play 9",
                "-- (hung up)",
                "< Ended",
                "-- (aborted: this player left before both had moved)",
            ],
            SECOND: [
                "< Started",
                "< Moved",
                "> play 9 (OUTSIDE)",
                "< Refused OUTSIDE play 9",
                "< Ended",
                "-- (aborted: the opponent left before both had moved)",
            ],
        }


async def test_evidence_of_a_client_that_vanished_is_handed_in_without_an_end() -> None:
    async with recorded_game() as (home, ann, _):
        home.results.store()
        ann.arrives("gone")
        await quiet()
        assert home.results.enclosed()[FIRST] == [
            "< Started",
            "-- (the connection ended)",
            "-- (aborted: this player left before both had moved)",
        ]
        assert home.results.enclosed()[SECOND][-1] == "-- (aborted: the opponent left before both had moved)"


async def test_evidence_has_no_text_that_never_left() -> None:
    async with recorded_game() as (home, ann, bob):
        home.results.store()
        bob.gone = True
        ann.arrives("play 3")
        await quiet()
        assert home.results.enclosed()[SECOND] == [
            "< Started",
            "-- (the connection ended)",
            "-- (aborted: this player left before both had moved)",
        ]


async def test_evidence_says_once_how_a_client_left_that_cannot_be_told_of_the_end() -> None:
    async with recorded_game() as (home, ann, _):
        ann.ends()
        await quiet()
        ann.gone = True
        home.results.store()
        await quiet()
        assert home.results.enclosed()[FIRST] == [
            "< Started",
            "-- (hung up)",
            "-- (aborted: this player left before both had moved)",
        ]


async def test_evidence_says_how_the_transport_ended() -> None:
    async with recorded_game() as (home, ann, _):
        home.results.store()
        ann.ended = "broke the rules"
        ann.ends()
        await quiet()
        assert home.results.enclosed()[FIRST][1] == "-- (broke the rules)"


async def test_evidence_says_who_stopped_reading() -> None:
    async with recorded_game() as (home, ann, bob):
        home.results.store()
        bob.letting_in = trio.Event()
        ann.arrives("play 3")
        await quiet()
        for _ in range(BACKLOG_LIMIT // 1000 + 1):
            home.tell(1, NOISE)
        await quiet()
        assert home.results.enclosed()[SECOND][:2] == ["< Started", "< Moved"]
        assert home.results.enclosed()[SECOND][-3:] == [
            "-- (stopped reading)",
            "-- (the connection ended)",
            "-- (aborted: this player left before both had moved)",
        ]


async def test_each_round_has_evidence_of_its_own() -> None:
    async with recorded_game() as (home, ann, bob):
        home.results.store()
        bob.ends()
        await quiet()
        cid = home.visit(FakeTransport())
        ann.arrives("enter ann")
        cid.arrives("enter cid")
        await quiet()
        ann.arrives("play 3")
        await quiet()
        cid.ends()
        await quiet()
        assert home.results.enclosed()[FIRST] == [
            "< Started",
            "< Ended",
            "-- (aborted: the opponent left before both had moved)",
        ]
        assert home.results.enclosed(1)[FIRST] == [
            "< Started",
            "> play 3",
            "< Moved",
            "< Ended",
            "-- (aborted: the opponent left before both had moved)",
        ]


async def test_without_anybody_who_keeps_it_nothing_is_recorded() -> None:
    async with game() as (home, ann, bob):
        ann.ends()
        await quiet()
        assert bob.sent == ["Ended"]
        assert home.results.enclosed() == {}


# The boundary.


class BrokenTranslator(ToyTranslator):
    """Fails at what is neither an entrance nor a refusal."""

    def observe(self, event: Event, asked: str | None = None) -> Iterator[str]:
        if not isinstance(event, Entered):
            raise ZeroDivisionError
        yield "Entered"


class BrokenReader(ToyTranslator):
    """Fails at the word ``boom``."""

    def receive(self, message: str, number: int = 0) -> object:  # type: ignore[override]
        if message == "boom":
            raise ZeroDivisionError
        return super().receive(message, number)


async def test_broken_translator_kills_only_its_own_connection(caplog: pytest.LogCaptureFixture) -> None:
    async with house() as home:
        ann, bob = home.visit(FakeTransport()), home.visit(FakeTransport(), BrokenTranslator())
        ann.arrives("enter ann")
        await quiet()
        bob.arrives("enter bob")
        await quiet()
        assert ann.sent == ["Entered", "Started", "Ended"]
        assert (ann.farewell, bob.farewell) == (None, Farewell(1011, "internal error"))
        assert len(home.hub) == 1
        (message,) = errors(caplog)
        assert "closed after an internal error" in message


async def test_mistake_in_reading_kills_only_that_connection(caplog: pytest.LogCaptureFixture) -> None:
    async with house() as home:
        ann, bob = home.visit(FakeTransport()), home.visit(FakeTransport(), BrokenReader())
        bob.arrives("x", "boom", "y")
        await quiet()
        ann.arrives("z")
        await quiet()
        assert bob.farewell == Farewell(1011, "internal error")
        assert [text.split()[-1] for text in ann.sent] == ["z"]
        assert len(errors(caplog)) == 1


async def test_peer_that_is_gone_is_no_mistake_of_ours(caplog: pytest.LogCaptureFixture) -> None:
    async def gone(_: trio.abc.Stream) -> None:
        async with trio.open_nursery():
            raise PeerGone

    _, stream = trio.testing.memory_stream_pair()
    await serve_connection("toy", gone, wired, stream)
    assert errors(caplog) == []


@pytest.mark.parametrize("trouble", [PeerGone, ZeroDivisionError, OSError])
@pytest.mark.parametrize("nested", [False, True])
async def test_whatever_ends_a_connection_its_stream_is_closed(
    trouble: type[Exception], nested: bool
) -> None:
    async def fail(_: trio.abc.Stream, *, nested: bool) -> None:
        if nested:
            async with trio.open_nursery():
                raise trouble
        raise trouble

    _, stream = trio.testing.memory_stream_pair()
    await serve_connection("toy", partial(fail, nested=nested), wired, stream)
    with pytest.raises(trio.ClosedResourceError):
        await stream.send_all(b"x")


async def test_log_names_connections_by_number_and_never_by_what_they_say(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    async with house() as home:
        ann = home.visit(FakeTransport())
        ann.arrives("enter s3cret\nWARNING forged")
        ann.ends()
        await quiet()
    assert "s3cret" not in caplog.text
    numbers = {record.args[1] for record in caplog.records if record.name == "adapters.client.boundary"}  # type: ignore[index]
    assert len(numbers) == 1


async def test_farewell_is_the_translators_word(autojump_clock: trio.testing.MockClock) -> None:
    async with house() as home:
        ann = home.visit(FakeTransport())
        ann.arrives("enter ann")
        await quiet()
        home.tell(0, Dismissed(Why.TIME))
        await quiet()
        assert ann.farewell == Farewell(1000, "out of time")


# What the operator is told.


def partings(caplog: pytest.LogCaptureFixture) -> list[tuple[str | None, str, int, str | None]]:
    """Return of each line about a connection who it was, why it ended, how many games, and the last one."""
    records = [vars(each) for each in caplog.records if each.name == "gateway.connections"]
    return [(each["player"], each["cause"], each["games"], each["game"]) for each in records]


async def test_line_about_a_connection_says_who_why_and_the_last_game(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    async with game() as (home, ann, bob):
        ann.ends()
        await quiet()
        bob.gone = True
        home.tell(1, NOISE)
        await quiet()
        [finished] = home.results.kept
        assert partings(caplog) == [("ann", "hung up", 1, finished), ("bob", "vanished", 1, finished)]


async def test_client_without_a_name_is_logged_for_debugging_alone(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with house() as home:
        home.visit(FakeTransport()).ends()
        await quiet()
    assert partings(caplog) == [(None, "hung up", 0, None)]
    assert {each.levelno for each in caplog.records if each.name == "gateway.connections"} == {logging.DEBUG}


async def test_line_about_a_connection_is_one_line_whatever_the_name(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    async with house() as home:
        home.visit(FakeTransport())
        home.hub.submit(home.connections[0]._seat, Introduce("a\nb\u202e'"), 0.0)
        home.tell(0, Dismissed(Why.STOPPED))
        await quiet()
    [record] = [each for each in caplog.records if each.name == "gateway.connections"]
    assert record.getMessage().startswith(r": 'a\nb\u202e\'' at 192.0.2.1 is gone after ")
    assert record.getMessage().endswith(" s: server stopped; games: 0")


async def test_connections_refusals_and_clients_that_do_not_read_are_counted() -> None:
    async with game() as (home, ann, bob):
        counts = home.hub.feed.counts
        assert (counts["connections", ""], counts["connections_over", ""]) == (2, 0)
        bob.arrives("play 9", "x!")
        await quiet()
        home.results.hold()
        ann.ends()
        await quiet()
        for _ in range(OUTBOX_LIMIT):
            home.tell(1, Entered("noise"))
        await quiet()
        assert counts["dropped", ""] == 1
        assert (counts["connections", ""], counts["connections_over", ""]) == (2, 1)
        assert {kind for what, kind in counts if what == "refused"} == {
            "not_your_turn|outside",
            "playing|unreadable",
        }


# Probes.


class Holder(ToyTranslator):
    """Sits at a table that others may sit at too, under a name that no other may have."""

    manners = replace(ToyTranslator.manners, unique_name=True)


async def test_client_that_answers_no_probe_is_hung_up_on_for_its_successor(
    autojump_clock: trio.testing.MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with house() as home:
        old, new = (home.visit(FakeTransport(), Holder()) for _ in range(2))
        old.arrives("enter ann")
        await quiet()
        new.arrives("enter ann")
        await trio.sleep(PROBE_LIMIT - 0.1)
        assert (new.sent, old.farewell) == ([], None)
        await trio.sleep(0.2)
        assert (new.sent, old.farewell, len(home.hub)) == (["Entered"], Farewell(1008, UNANSWERED), 1)
    assert UNANSWERED in caplog.text


async def test_client_is_probed_once_in_three_seconds_however_many_ask_for_its_name(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with house() as home:
        old = home.visit(FakeTransport(), Holder())
        old.arrives("enter ann")
        await quiet()
        crowd = [home.visit(FakeTransport(), Holder()) for _ in range(9)]
        for each in crowd[:5]:
            each.arrives("enter ann")
        await quiet()
        assert (old.probes, [each.sent for each in crowd[:5]]) == (1, [[]] * 5)
        await trio.sleep(1)
        old.answer.set()
        await quiet()
        for each in crowd[5:8]:
            each.arrives("enter ann")
        await quiet()
        assert [each.sent for each in crowd[:8]] == [["Refused NAME_TAKEN enter ann"]] * 8
        assert old.probes == 1
        await trio.sleep(PROBE_LIMIT)
        crowd[8].arrives("enter ann")
        await quiet()
        assert (old.probes, crowd[8].sent) == (2, ["Refused NAME_TAKEN enter ann"])
        assert (old.sent, old.farewell) == (["Entered"], None)


@pytest.mark.parametrize("turns", range(6))
async def test_probe_of_a_client_that_vanishes_is_no_mistake(turns: int) -> None:
    async with house() as home:
        old = home.visit(FakeTransport(), Holder())
        old.arrives("enter ann")
        await quiet()
        [seat] = home.hub.seats()
        old.arrives("gone")
        for _ in range(turns):
            await trio.lowlevel.checkpoint()
        seat.mailbox.probe()
        await quiet()
        assert len(home.hub) == 0


async def test_probe_knows_whether_its_client_may_think() -> None:
    async with game() as (home, ann, bob):
        for number, transport in enumerate((ann, bob)):
            home.connections[number]._outbox.probe()
            await quiet()
            transport.answer.set()
        assert (ann.may_think(), bob.may_think()) == (True, False)
        home.results.hold()
        ann.arrives("play 3")
        ann.ends()
        await quiet()
        assert bob.may_think()
