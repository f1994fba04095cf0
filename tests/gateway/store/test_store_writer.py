"""The event loop's end: nothing blocks, receipts settle, and too much goes to the log."""

import json
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
import trio
import trio.testing
from store_world import game

from gateway.store.clerk import Pace
from gateway.store.errors import StoreError
from gateway.store.evidence import Exchange, Line, size
from gateway.store.formats.jsonl import from_object
from gateway.store.receipts import Outcome, Receipt
from gateway.store.records import Submission
from gateway.store.writer import Bounds, Writer

LIMIT = 30.0
EXCHANGE: Exchange = (Line(1, "in", "playmove 3"),)


class GatedSink:
    """Stores once it is let; fails before, if `broken`."""

    def __init__(self, *, broken: bool = False) -> None:
        self.open = threading.Event()
        self.broken = broken
        self.stored: list[Submission] = []

    def write(self, submissions: Sequence[Submission]) -> None:
        if self.broken and not self.open.is_set():
            raise StoreError("no database")
        assert self.open.wait(LIMIT)
        self.stored += submissions

    def tidy(self) -> bool:
        return False

    def reconnect(self) -> None:
        pass


@asynccontextmanager
async def writer_to(sink: GatedSink, bounds: Bounds | None = None) -> AsyncIterator[Writer]:
    writer = Writer(sink, bounds, Pace(retry=0.01))
    yield writer
    sink.open.set()
    await writer.close(LIMIT)


def unstored(caplog: pytest.LogCaptureFixture) -> list[int]:
    lines = [record.getMessage() for record in caplog.records]
    arrays = [line.removeprefix("not stored: ") for line in lines if line.startswith("not stored: ")]
    return [from_object(found).series for array in arrays for found in json.loads(array)]


async def test_receipt_settles_once_the_game_is_stored() -> None:
    sink = GatedSink()
    async with writer_to(sink, Bounds(patience=LIMIT)) as writer:
        receipt = writer.put(game())
        assert receipt.outcome is Outcome.WAITING
        assert writer.waiting == 1
        sink.open.set()
        assert await receipt.settled() is Outcome.STORED
        assert [submission.record for submission in sink.stored] == [game()]
        assert writer.waiting == 0
        with trio.testing.assert_no_checkpoints():
            assert await receipt.settled() is Outcome.STORED


async def test_both_players_wait_for_the_same_receipt() -> None:
    sink = GatedSink()
    outcomes: list[Outcome] = []

    async def wait(receipt: Receipt) -> None:
        outcomes.append(await receipt.settled())

    async with writer_to(sink, Bounds(patience=LIMIT)) as writer, trio.open_nursery() as nursery:
        receipt = writer.put(game())
        nursery.start_soon(wait, receipt)
        nursery.start_soon(wait, receipt)
        await trio.testing.wait_all_tasks_blocked()
        assert outcomes == []
        sink.open.set()
    assert outcomes == [Outcome.STORED] * 2


async def test_game_that_is_not_stored_in_time_is_told_of_and_goes_on_waiting(
    autojump_clock: trio.testing.MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    sink = GatedSink(broken=True)
    async with writer_to(sink) as writer:
        start = trio.current_time()
        receipt = writer.put(game())
        assert await receipt.settled() is Outcome.WAITING
        assert trio.current_time() - start == pytest.approx(2.0)
        assert "players hear of results that are not stored yet" in caplog.text
        assert writer.waiting == 1
        assert await receipt.settled() is Outcome.WAITING
        assert trio.current_time() - start == pytest.approx(2.0)
        sink.open.set()
        await writer.ask(lambda: None)
        assert receipt.outcome is Outcome.STORED
    assert len(sink.stored) == 1


async def test_writer_is_behind_once_the_oldest_game_waits_longer_than_anybody(
    autojump_clock: trio.abc.Clock,
) -> None:
    sink = GatedSink()
    async with writer_to(sink) as writer:
        assert not writer.behind
        receipt = writer.put(game())
        await trio.sleep(1.9)
        assert not writer.behind
        await trio.sleep(0.2)
        writer.put(game())
        assert writer.behind
        sink.open.set()
        while receipt.outcome is not Outcome.STORED:
            await trio.testing.wait_all_tasks_blocked()
        assert not writer.behind


async def test_patience_is_counted_from_the_end_of_the_game(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with writer_to(GatedSink()) as writer:
        receipt = writer.put(game())
        await trio.sleep(5)
        with trio.testing.assert_no_checkpoints():
            assert await receipt.settled() is Outcome.WAITING


async def test_who_has_gone_holds_nobody_up() -> None:
    sink = GatedSink()
    async with writer_to(sink, Bounds(patience=LIMIT)) as writer:
        receipt = writer.put(game())
        with trio.CancelScope() as scope:
            scope.cancel()
            await receipt.settled()
        sink.open.set()
        assert await receipt.settled() is Outcome.STORED


async def test_put_never_waits() -> None:
    async with writer_to(GatedSink()) as writer:
        with trio.testing.assert_no_checkpoints():
            for number in range(2_000):
                writer.put(game(series=number))
        assert writer.waiting == 2_000


async def test_at_the_bound_older_games_are_kept_and_new_ones_logged_whole(
    caplog: pytest.LogCaptureFixture,
) -> None:
    sink = GatedSink()
    async with writer_to(sink, Bounds(waiting=3)) as writer:
        receipts = [writer.put(game(series=number)) for number in range(5)]
        assert [receipt.outcome for receipt in receipts[3:]] == [Outcome.LOGGED] * 2
        assert await receipts[4].settled() is Outcome.LOGGED
        assert unstored(caplog) == [3, 4]
        sink.open.set()
        await writer.ask(lambda: None)
        receipts.append(writer.put(game(series=5)))
    assert [submission.record.series for submission in sink.stored] == [0, 1, 2, 5]


async def test_when_too_much_evidence_waits_games_wait_without(caplog: pytest.LogCaptureFixture) -> None:
    sink = GatedSink()
    exchanges = (EXCHANGE, EXCHANGE)
    async with writer_to(sink, Bounds(evidence=5 * size(EXCHANGE))) as writer:
        for _ in range(4):
            writer.put(game(), exchanges)
        writer.put(game())
        assert "the evidence of 1 games so far is left out" in caplog.text
        sink.open.set()
        await writer.ask(lambda: None)
        writer.put(game(), exchanges)
    kept = [submission.exchanges is not None for submission in sink.stored]
    assert kept == [True, True, False, False, False, True]


async def test_other_work_is_done_in_the_thread_and_its_error_is_raised() -> None:
    async with writer_to(GatedSink()) as writer:
        assert await writer.ask(threading.get_ident) != threading.get_ident()
        with pytest.raises(ZeroDivisionError):
            await writer.ask(lambda: 1 // 0)


async def test_closed_writer_logs_what_it_is_handed(caplog: pytest.LogCaptureFixture) -> None:
    sink = GatedSink()
    async with writer_to(sink) as writer:
        pass
    assert writer.put(game(series=9)).outcome is Outcome.LOGGED
    assert unstored(caplog) == [9]
    with pytest.raises(StoreError, match="closed"):
        await writer.ask(lambda: None)


async def test_close_stores_what_waits_and_receipts_settle_meanwhile() -> None:
    sink = GatedSink()
    outcomes: list[Outcome] = []

    async def wait(receipt: Receipt) -> None:
        outcomes.append(await receipt.settled())

    async with trio.open_nursery() as nursery, writer_to(sink, Bounds(patience=LIMIT)) as writer:
        nursery.start_soon(wait, writer.put(game()))
        await trio.testing.wait_all_tasks_blocked()
    assert outcomes == [Outcome.STORED]


async def test_close_in_vain_logs_and_settles(caplog: pytest.LogCaptureFixture) -> None:
    writer = Writer(GatedSink(broken=True), Bounds(patience=LIMIT), Pace(retry=0.01))
    receipt = writer.put(game(series=9))
    await writer.close(0.05)
    assert await receipt.settled() is Outcome.LOGGED
    assert unstored(caplog) == [9]
    assert writer.waiting == 0


def test_games_are_stored_when_the_event_loop_is_gone() -> None:
    sink = GatedSink()

    async def main() -> Writer:
        writer = Writer(sink, pace=Pace(batch=1))
        writer.put(game())
        writer.put(game())
        return writer

    writer = trio.run(main)
    sink.open.set()

    async def again() -> None:
        await writer.close(LIMIT)

    trio.run(again)
    assert len(sink.stored) == 2
