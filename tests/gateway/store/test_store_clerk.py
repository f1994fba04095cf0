"""The clerk: batches, failures, what it says of them, and its end. With sinks that fail on purpose."""

import json
import logging
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import pytest
from game_records import game
from store_world import enclosure

from gateway.store.clerk import Clerk, Pace, log_unstored
from gateway.store.errors import StoreError
from gateway.store.formats.jsonl import from_object
from gateway.store.outage import Count, Outage, Throttle
from gateway.store.records import Enclosure, GameRecord, Item, Submission

HASTE = Pace(retry=0.01, remind=1000.0)
LIMIT = 30.0
"""Seconds after which a test that hangs fails."""


class FakeSink:
    """Keeps games in a list; does `trouble` first, with each batch."""

    def __init__(self, trouble: Callable[[Sequence[Item]], None] = lambda batch: None) -> None:
        self.batches: list[list[int]] = []
        self.reconnected = 0
        self.tidied = threading.Event()
        self.untidy = 3
        self._trouble = trouble

    def write(self, items: Sequence[Item]) -> None:
        self._trouble(items)
        self.batches.append([item.number for item in items])

    def tidy(self) -> bool:
        self.untidy -= 1
        if self.untidy == 0:
            self.tidied.set()
        return self.untidy > 0

    def reconnect(self) -> None:
        self.reconnected += 1

    @property
    def stored(self) -> list[int]:
        return [number for batch in self.batches for number in batch]


class Gate:
    """Lets a sink wait, and says that it does."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.opened = threading.Event()

    def __call__(self, batch: Sequence[Item] = ()) -> None:
        self.reached.set()
        assert self.opened.wait(LIMIT)

    def hold(self, clerk: Clerk) -> None:
        """Let the clerk be busy with something else."""
        clerk.ask(self)
        assert self.reached.wait(LIMIT)


class Failing:
    """Fails `times` times."""

    def __init__(self, times: float, error: Exception) -> None:
        self._times = times
        self._error = error
        self.failed = threading.Event()

    def __call__(self, batch: Sequence[Item]) -> None:
        if self._times > 0:
            self._times -= 1
            self.failed.set()
            raise self._error


@contextmanager
def clerk_of(sink: FakeSink, pace: Pace = HASTE) -> Iterator[tuple[Clerk, "queue.Queue[tuple[int, bool]]"]]:
    settled: queue.Queue[tuple[int, bool]] = queue.Queue()

    def settle(batch: Sequence[Item], stored: bool) -> None:
        for each in batch:
            settled.put((each.number, stored))

    clerk = Clerk(sink, settle, pace)
    yield clerk, settled
    clerk.close(LIMIT)


def hand_in(clerk: Clerk, *numbers: int) -> None:
    for number in numbers:
        clerk.store(Submission(number, game(series=number)))


def unstored(caplog: pytest.LogCaptureFixture) -> list[int]:
    lines = [record.getMessage() for record in caplog.records]
    arrays = [line.removeprefix("not stored: ") for line in lines if line.startswith("not stored: ")]
    return [from_object(found).series for array in arrays for found in json.loads(array)]


def test_games_are_stored_in_the_order_they_came() -> None:
    sink = FakeSink()
    with clerk_of(sink) as (clerk, settled):
        hand_in(clerk, 1, 2, 3)
        assert [settled.get(timeout=LIMIT) for _ in range(3)] == [(1, True), (2, True), (3, True)]
    assert sink.stored == [1, 2, 3]


def test_what_gathers_during_a_commit_is_the_next_one() -> None:
    gate = Gate()
    sink = FakeSink(gate)
    with clerk_of(sink) as (clerk, _):
        hand_in(clerk, 1)
        assert gate.reached.wait(LIMIT)
        hand_in(clerk, 2, 3, 4)
        gate.opened.set()
    assert sink.batches == [[1], [2, 3, 4]]


def test_commit_has_a_largest_size() -> None:
    gate = Gate()
    sink = FakeSink(gate)
    with clerk_of(sink, Pace(batch=2)) as (clerk, _):
        hand_in(clerk, 1)
        assert gate.reached.wait(LIMIT)
        hand_in(clerk, 2, 3, 4)
        gate.opened.set()
    assert sink.batches == [[1], [2, 3], [4]]


def test_evidence_is_stored_with_the_next_game() -> None:
    sink = FakeSink()
    with clerk_of(sink, Pace(linger=LIMIT)) as (clerk, settled):
        for number in (1, 2):
            clerk.store(enclosure(number))
        hand_in(clerk, 3)
        assert settled.get(timeout=LIMIT / 2) == (3, True)
    assert sink.batches == [[3, 1, 2]]


def test_however_much_evidence_waits_a_game_is_in_the_next_commit() -> None:
    gate, sink = Gate(), FakeSink()
    with clerk_of(sink, Pace(evidence=1)) as (clerk, _):
        gate.hold(clerk)
        for number in (1, 2, 3):
            clerk.store(enclosure(number))
        hand_in(clerk, 4)
        gate.opened.set()
    assert sink.batches == [[4, 1], [2], [3]]


def test_evidence_waits_for_all_games_that_wait() -> None:
    """It may be of one of them: players hear of the end of a game that could not be stored for long."""
    gate, sink = Gate(), FakeSink()
    with clerk_of(sink, Pace(batch=2)) as (clerk, _):
        gate.hold(clerk)
        hand_in(clerk, 1, 2, 3)
        clerk.store(enclosure(3))
        gate.opened.set()
    assert sink.batches == [[1, 2], [3, 3]]


class Faulty(FakeSink):
    """Raises `error` from each method in turn, so many times."""

    def __init__(self, error: Exception, times: int = 2) -> None:
        super().__init__()
        self._error = error
        self._left = {"write": times, "tidy": times, "reconnect": times}

    def _fail(self, method: str) -> None:
        if self._left[method] > 0:
            self._left[method] -= 1
            raise self._error

    def write(self, items: Sequence[Item]) -> None:
        self._fail("write")
        super().write(items)

    def tidy(self) -> bool:
        self._fail("tidy")
        return super().tidy()

    def reconnect(self) -> None:
        super().reconnect()
        self._fail("reconnect")


@pytest.mark.parametrize("kind", [StoreError, OSError, MemoryError])
def test_nothing_that_a_sink_raises_ends_the_storing(kind: type[Exception]) -> None:
    sink = Faulty(kind("it is broken"))
    with clerk_of(sink) as (clerk, settled):
        for number in range(1, 5):
            hand_in(clerk, number)
            assert settled.get(timeout=LIMIT) == (number, True)
    assert sink.stored == [1, 2, 3, 4]


@pytest.mark.parametrize("kind", [ValueError, RecursionError, KeyError])
def test_reconnecting_that_fails_in_any_way_is_told_and_tried_again(
    caplog: pytest.LogCaptureFixture, kind: type[Exception]
) -> None:
    sink = FakeSink(Failing(3, StoreError("database is locked")))
    sink_reconnect = Faulty(kind("no such thing")).reconnect
    sink.reconnect = sink_reconnect  # type: ignore[method-assign]
    with clerk_of(sink) as (clerk, settled):
        hand_in(clerk, 1)
        assert settled.get(timeout=LIMIT) == (1, True)
    assert "1 results wait: database is locked" in caplog.text
    assert "no such thing" in caplog.text


def test_who_cannot_be_told_of_a_result_does_not_end_the_storing(caplog: pytest.LogCaptureFixture) -> None:
    sink, told = FakeSink(), queue.Queue[int]()

    def settle(batch: Sequence[Item], stored: bool) -> None:
        if batch[0].number == 1:
            raise ValueError("it is not to be told")
        told.put(batch[0].number)

    clerk = Clerk(sink, settle, HASTE)
    hand_in(clerk, 1)
    clerk.ask(lambda: None).result(LIMIT)
    hand_in(clerk, 2)
    assert told.get(timeout=LIMIT) == 2
    clerk.close(LIMIT)
    assert sink.stored == [1, 2]
    assert "what became of 1 results could not be told" in caplog.text


@pytest.mark.parametrize("method", ["_gather", "_store_next", "_settle", "_tidy"])
def test_mistake_of_ours_costs_no_result_and_does_not_end_the_storing(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    right, gate = getattr(Clerk, method), Gate()
    left = [ZeroDivisionError("a mistake"), ZeroDivisionError("a mistake")]

    def wrong(clerk: Clerk, *words: object, **more: object) -> object:
        if gate.reached.is_set() and left:
            raise left.pop()
        return right(clerk, *words, **more)

    monkeypatch.setattr(Clerk, method, wrong)
    sink = FakeSink()
    with clerk_of(sink, Pace(retry=0.01, remind=1000.0, tidy=0.0)) as (clerk, settled):
        gate.hold(clerk)
        hand_in(clerk, 1, 2)
        gate.opened.set()
        assert {settled.get(timeout=LIMIT) for _ in range(2)} == {(1, True), (2, True)}
        hand_in(clerk, 3)
        assert settled.get(timeout=LIMIT) == (3, True)
    assert {*sink.stored} == {1, 2, 3}
    assert [line for line in messages(caplog) if "storing results has failed" in line] == [
        "storing results has failed, and is tried again: a mistake"
    ]


def test_game_with_more_than_json_can_say_is_logged_all_the_same(caplog: pytest.LogCaptureFixture) -> None:
    log_unstored([game("ann"), game(table=object())])
    one, two = json.loads(messages(caplog)[0].removeprefix("not stored: "))
    assert one["table"] is None
    assert two["table"].startswith("<object object")


def test_evidence_that_no_game_follows_is_stored_all_the_same() -> None:
    sink = FakeSink()
    with clerk_of(sink, Pace(linger=0.001)) as (clerk, settled):
        clerk.store(enclosure(1))
        assert settled.get(timeout=LIMIT) == (1, True)


def test_database_that_fails_is_tried_again_until_it_is_back(caplog: pytest.LogCaptureFixture) -> None:
    sink = FakeSink(Failing(3, StoreError("database is locked")))
    with clerk_of(sink) as (clerk, settled):
        hand_in(clerk, 1)
        assert settled.get(timeout=LIMIT) == (1, True)
    assert sink.reconnected == 3
    first, last = caplog.records
    assert first.levelno == logging.ERROR
    assert "1 results wait: database is locked" in first.getMessage()
    assert last.levelno == logging.WARNING
    assert "is back" in last.getMessage()


def test_game_at_fault_goes_to_the_log_and_the_others_are_stored(caplog: pytest.LogCaptureFixture) -> None:
    def refuse(batch: Sequence[Item]) -> None:
        if any(each.number == 2 for each in batch):
            raise OverflowError("too large")

    gate, sink = Gate(), FakeSink(refuse)
    with clerk_of(sink) as (clerk, settled):
        gate.hold(clerk)
        hand_in(clerk, 1, 2, 3)
        gate.opened.set()
        assert [settled.get(timeout=LIMIT) for _ in range(3)] == [(1, True), (2, False), (3, True)]
    assert sink.stored == [1, 3]
    assert unstored(caplog) == [2]


def test_evidence_comes_behind_the_games_and_counts_as_no_result(caplog: pytest.LogCaptureFixture) -> None:
    sink = FakeSink(Failing(1, StoreError("database is locked")))
    gate = Gate()
    with clerk_of(sink) as (clerk, _):
        gate.hold(clerk)
        hand_in(clerk, 1)
        clerk.store(enclosure(1))
        hand_in(clerk, 2)
        gate.opened.set()
    assert sink.stored == [1, 2, 1]
    assert "2 results wait: database is locked" in caplog.text
    assert "2 results that waited are stored, 0 are next" in caplog.text


def test_evidence_at_fault_keeps_nothing_else_and_is_told(caplog: pytest.LogCaptureFixture) -> None:
    def refuse(batch: Sequence[Item]) -> None:
        if any(isinstance(each, Enclosure) for each in batch):
            raise OverflowError("too large")

    gate, sink = Gate(), FakeSink(refuse)
    with clerk_of(sink) as (clerk, settled):
        gate.hold(clerk)
        hand_in(clerk, 1)
        clerk.store(enclosure(1))
        hand_in(clerk, 2)
        gate.opened.set()
        assert [settled.get(timeout=LIMIT) for _ in range(3)] == [(1, True), (2, True), (1, False)]
    assert sink.stored == [1, 2]
    assert unstored(caplog) == []
    assert "the database will never take evidence: too large" in caplog.text


def test_of_evidence_that_is_given_up_at_the_end_the_log_has_the_number(
    caplog: pytest.LogCaptureFixture,
) -> None:
    gate = Gate()
    clerk = Clerk(FakeSink(gate), lambda batch, stored: None, HASTE)
    hand_in(clerk, 1)
    assert gate.reached.wait(LIMIT)
    for side in (0, 1):
        clerk.store(enclosure(1, side))
    clerk.close(0.01)
    assert unstored(caplog) == [1]
    assert "evidence of 2 players' games is not stored" in caplog.text
    gate.opened.set()


def test_close_stores_what_waits() -> None:
    gate = Gate()
    sink = FakeSink(gate)
    with clerk_of(sink) as (clerk, _):
        hand_in(clerk, *range(1, 1000))
        gate.opened.set()
    assert sink.stored == list(range(1, 1000))


def test_what_cannot_be_stored_in_time_at_the_end_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    failing = Failing(float("inf"), StoreError("no database"))
    settled: list[tuple[int, bool]] = []
    clerk = Clerk(
        FakeSink(failing), lambda batch, stored: settled.extend((s.number, stored) for s in batch), HASTE
    )
    hand_in(clerk, 1)
    assert failing.failed.wait(LIMIT)
    hand_in(clerk, *range(2, 121))
    clerk.close(0.05)
    assert unstored(caplog) == list(range(1, 121))
    assert settled == [(number, False) for number in range(1, 121)]


def test_close_does_not_wait_for_a_database_that_hangs(caplog: pytest.LogCaptureFixture) -> None:
    gate = Gate()
    clerk = Clerk(FakeSink(gate), lambda batch, stored: None, HASTE)
    hand_in(clerk, 1)
    assert gate.reached.wait(LIMIT)
    hand_in(clerk, 2)
    clerk.close(0.01)
    assert unstored(caplog) == [1, 2]
    gate.opened.set()


def test_close_leaves_nobody_waiting_for_other_work() -> None:
    gate = Gate()
    clerk = Clerk(FakeSink(gate), lambda batch, stored: None, HASTE)
    hand_in(clerk, 1)
    assert gate.reached.wait(LIMIT)
    future, next_one = clerk.ask(lambda: None), clerk.ask(lambda: None)
    clerk.close(0.01)
    assert future.cancelled()
    assert next_one.cancelled()
    gate.opened.set()


def test_games_that_are_tried_singly_at_the_end_are_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    gate, start = Gate(), Gate()

    def refuse(batch: Sequence[Item]) -> None:
        if len(batch) > 1:
            raise OverflowError("too large")
        if batch[0].number == 2:
            gate(batch)

    sink = FakeSink(refuse)
    clerk = Clerk(sink, lambda batch, stored: None, HASTE)
    clerk.ask(lambda: start([]))
    assert start.reached.wait(LIMIT)
    hand_in(clerk, 1, 2, 3)
    start.opened.set()
    assert gate.reached.wait(LIMIT)
    clerk.close(0.01)
    gate.opened.set()
    for thread in threading.enumerate():
        if thread.name == "store":
            thread.join(LIMIT)
    assert unstored(caplog) == [2, 3]
    assert sink.stored == [1, 2]


def test_games_behind_the_one_that_was_stored_at_the_very_end_are_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The clerk is abandoned while it stores one of several singly, and goes on before `close` does."""
    start = Gate()

    def refuse(batch: Sequence[Item]) -> None:
        if len(batch) > 1:
            raise OverflowError("too large")
        clerk._abandoned.set()

    sink = FakeSink(refuse)
    with clerk_of(sink) as (clerk, settled):
        start.hold(clerk)
        hand_in(clerk, 1, 2, 3)
        start.opened.set()
        assert [settled.get(timeout=LIMIT) for _ in range(3)] == [(1, True), (2, False), (3, False)]
    assert unstored(caplog) == [2, 3]
    assert sink.stored == [1]


def test_other_work_is_done_after_the_games_that_came_before() -> None:
    sink = FakeSink()
    with clerk_of(sink) as (clerk, _):
        hand_in(clerk, 1, 2)
        assert clerk.ask(lambda: list(sink.stored)).result(LIMIT) == [1, 2]


def test_work_that_was_withdrawn_is_not_done_and_ends_nothing() -> None:
    gate, done = Gate(), list[int]()
    with clerk_of(FakeSink()) as (clerk, _):
        gate.hold(clerk)
        futures = [clerk.ask(lambda number=number: done.append(number)) for number in range(3)]  # type: ignore[misc]
        assert futures[1].cancel()
        gate.opened.set()
        futures[2].result(LIMIT)
    assert done == [0, 2]


def test_error_of_other_work_is_for_who_asked() -> None:
    sink = FakeSink()
    with clerk_of(sink) as (clerk, settled):
        future = clerk.ask(lambda: 1 // 0)
        hand_in(clerk, 1)
        assert isinstance(future.exception(LIMIT), ZeroDivisionError)
        assert settled.get(timeout=LIMIT) == (1, True)


def test_tidying_goes_on_until_there_is_no_more() -> None:
    sink = FakeSink()
    with clerk_of(sink):
        assert sink.tidied.wait(LIMIT)
    assert sink.untidy == 0


@pytest.mark.parametrize("kind", [StoreError, ValueError])
def test_tidying_that_fails_stops_nothing(caplog: pytest.LogCaptureFixture, kind: type[Exception]) -> None:
    class Untidy(FakeSink):
        def tidy(self) -> bool:
            raise kind("database is locked")

    with clerk_of(Untidy()) as (clerk, settled):
        hand_in(clerk, 1)
        assert settled.get(timeout=LIMIT) == (1, True)
    assert "could not be tidied up: database is locked" in caplog.text


def test_tidying_that_fails_because_the_store_is_closed_is_no_news(caplog: pytest.LogCaptureFixture) -> None:
    gate = Gate()

    class Closed(FakeSink):
        def tidy(self) -> bool:
            gate()
            raise StoreError("the process that writes has ended")

    clerk = Clerk(Closed(), lambda batch, stored: None, HASTE)
    assert gate.reached.wait(LIMIT)
    clerk.close(0.0)
    gate.opened.set()
    clerk._thread.join(LIMIT)
    assert not clerk._thread.is_alive()
    assert not caplog.records


# What is said.


def messages(caplog: pytest.LogCaptureFixture) -> list[str]:
    found = [record.getMessage() for record in caplog.records]
    caplog.clear()
    return found


def test_outage_is_told_at_once_now_and_then_and_when_it_is_over(caplog: pytest.LogCaptureFixture) -> None:
    outage, error = Outage(remind=10), StoreError("disk is full")
    outage.over(1, 1, 0)
    assert messages(caplog) == []
    outage.failed(error, 3, 100)
    assert messages(caplog) == [
        "the database has failed for 0.0 s; play goes on, 3 results wait: disk is full"
    ]
    outage.failed(error, 4, 109.9)
    assert messages(caplog) == []
    outage.failed(error, 5, 110)
    assert messages(caplog) == [
        "the database has failed for 10.0 s; play goes on, 5 results wait: disk is full"
    ]
    outage.failed(StoreError("disk was moved"), 5, 110.5)
    assert messages(caplog) == [
        "the database has failed for 10.5 s; play goes on, 5 results wait: disk was moved"
    ]
    for number in range(20):
        outage.failed(StoreError(f"trouble {number % 10}"), 5, 111)
    assert len(messages(caplog)) == 8  # and more only when it is time
    outage.over(2, 5, 112)
    assert messages(caplog) == [
        "the database is back after 12.0 s: 2 results that waited are stored, 3 are next"
    ]
    outage.failed(error, 1, 113)
    assert len(messages(caplog)) == 1


def test_second_cause_of_an_outage_is_told_at_once(caplog: pytest.LogCaptureFixture) -> None:
    outage = Outage(remind=10)
    for cause in ("the process has ended", "disk was moved", "disk was moved"):
        outage.failed(StoreError(cause), 1, 100)
    assert [line.rpartition(": ")[2] for line in messages(caplog)] == [
        "the process has ended",
        "disk was moved",
    ]


def test_throttle_lets_one_pass_in_an_interval() -> None:
    throttle = Throttle(10)
    assert [throttle.passes(now) for now in (5, 6, 14.9, 15, 24, 25)] == [
        True,
        False,
        False,
        True,
        False,
        True,
    ]


def test_what_was_counted_is_said_at_once_now_and_then_and_at_the_end() -> None:
    said: list[int] = []
    count = Count(10, said.append)
    count.close()
    for now in (5, 6, 15, 16, 17):
        count.one_more(now)
    assert said == [1, 3]
    for _ in range(2):
        count.close()
    assert said == [1, 3, 5]


def test_unstored_games_are_logged_whole(caplog: pytest.LogCaptureFixture) -> None:
    record: GameRecord = game("a\nb", table="t")
    log_unstored([record])
    [line] = messages(caplog)
    assert "\n" not in line
    assert from_object(json.loads(line.removeprefix("not stored: "))[0]) == record
