"""The event loop's end: nothing blocks, receipts settle, and too much goes to the log."""

import json
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
import trio
import trio.testing
from game_records import game

from gateway.game.events import Spoken
from gateway.store.clerk import Pace
from gateway.store.errors import StoreError
from gateway.store.evidence import size
from gateway.store.formats.jsonl import from_object
from gateway.store.receipts import Outcome, Receipt
from gateway.store.records import Enclosure, Item, Submission
from gateway.store.writer import Bounds, Writer

LIMIT = 30.0
SAID: tuple[Spoken, ...] = ((101.5, "in", "playmove 3", None),)


class GatedSink:
    """Stores once it is let; fails before, if `broken`."""

    def __init__(self, *, broken: bool = False) -> None:
        self.open = threading.Event()
        self.broken = broken
        self.items: list[Item] = []

    @property
    def stored(self) -> list[Submission]:
        return [item for item in self.items if isinstance(item, Submission)]

    @property
    def enclosed(self) -> list[Enclosure]:
        return [item for item in self.items if isinstance(item, Enclosure)]

    def write(self, items: Sequence[Item]) -> None:
        if self.broken and not self.open.is_set():
            raise StoreError("no database")
        assert self.open.wait(LIMIT)
        self.items += items

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


async def test_evidence_goes_behind_its_game_with_the_game_s_number_and_beginning() -> None:
    sink = GatedSink()
    async with writer_to(sink) as writer:
        first, second = writer.put(game(series=1), 100.0), writer.put(game(series=2), 101.0)
        with trio.testing.assert_no_checkpoints():
            second.enclose(1, SAID)
            first.enclose(0, SAID)
        assert writer.waiting == 2
        sink.open.set()
        await writer.ask(lambda: None)
    one, two = sink.stored
    assert [(each.number, each.side, each.began) for each in sink.enclosed] == [
        (two.number, 1, 101.0),
        (one.number, 0, 100.0),
    ]
    assert {each.said for each in sink.enclosed} == {SAID}
    for number, item in enumerate(sink.items):
        if isinstance(item, Enclosure):
            assert item.number in {each.number for each in sink.items[:number]}


async def test_evidence_of_a_game_that_patience_ran_out_for_is_stored_after_it(
    autojump_clock: trio.testing.MockClock,
) -> None:
    sink = GatedSink(broken=True)
    async with writer_to(sink) as writer:
        receipt = writer.put(game())
        assert await receipt.settled() is Outcome.WAITING
        receipt.enclose(0, SAID)
        sink.open.set()
        await writer.ask(lambda: None)
    assert [type(item) for item in sink.items] == [Submission, Enclosure]


async def test_evidence_of_a_game_that_is_only_logged_is_dropped() -> None:
    sink = GatedSink()
    async with writer_to(sink, Bounds(waiting=0)) as writer:
        writer.put(game()).enclose(0, SAID)
    assert sink.items == []


async def test_when_too_much_evidence_waits_more_is_left_out_and_told_now_and_then(
    caplog: pytest.LogCaptureFixture,
) -> None:
    sink = GatedSink()
    async with writer_to(sink, Bounds(evidence=2 * size(SAID))) as writer:
        receipts = [writer.put(game()) for _ in range(3)]
        for receipt in receipts[:2]:
            receipt.enclose(0, SAID)
        assert caplog.text == ""
        receipts[0].enclose(1, SAID)
        receipts[2].enclose(0, SAID)
        assert [record.getMessage() for record in caplog.records] == [
            "too much waits: evidence is left out, of 1 players' games so far"
        ]
        sink.open.set()
        await writer.ask(lambda: None)
        await trio.testing.wait_all_tasks_blocked()
        receipts[2].enclose(1, SAID)
    assert caplog.records[-1].getMessage() == (
        "too much waits: evidence is left out, of 2 players' games so far"
    )
    assert [(each.number, each.side) for each in sink.enclosed] == [(1, 0), (2, 0), (3, 1)]
    assert len(sink.stored) == 3


async def test_closed_writer_leaves_evidence_out_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    sink = GatedSink()
    async with writer_to(sink) as writer:
        receipt = writer.put(game())
    receipt.enclose(0, SAID)
    assert "evidence is left out" in caplog.text
    assert sink.enclosed == []


async def test_other_work_is_done_in_the_thread_and_its_error_is_raised() -> None:
    async with writer_to(GatedSink()) as writer:
        assert await writer.ask(threading.get_ident) != threading.get_ident()
        with pytest.raises(ZeroDivisionError):
            await writer.ask(lambda: 1 // 0)


async def test_work_that_nobody_waits_for_any_more_is_not_done() -> None:
    sink, done = GatedSink(), list[str]()
    async with writer_to(sink) as writer:
        writer.put(game())
        with trio.move_on_after(0):
            await writer.ask(lambda: done.append("cancelled"))
        withdrawn = writer.request(lambda: done.append("withdrawn"))
        kept = writer.request(lambda: done.append("kept"))
        assert withdrawn.withdraw()
        sink.open.set()
        with pytest.raises(StoreError):
            await withdrawn.result()
        await kept.result()
        assert not kept.withdraw()
    assert done == ["kept"]


async def test_work_that_was_begun_cannot_be_withdrawn_and_is_told_of() -> None:
    begun, go_on = threading.Event(), threading.Event()

    def work() -> str:
        begun.set()
        assert go_on.wait(LIMIT)
        return "done"

    async with writer_to(GatedSink()) as writer:
        request = writer.request(work)
        await trio.to_thread.run_sync(begun.wait)
        assert not request.withdraw()
        go_on.set()
        assert await request.result() == "done"


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
