"""The batcher: nothing blocks, batches, failures, patience, requests, and the end. With a fake store."""

import json
import logging
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TypeVar, cast

import pytest
import trio
import trio.testing
from game_records import game, rows, stored
from loop_turns import added_each_turn, slow_turns
from store_world import enclosure
from trio.testing import MockClock

from gateway.runtime.turns import Turns
from gateway.store import StoreError
from gateway.store.batcher import SHARED, Batch, Batcher, Bounds, Pace
from gateway.store.clearing import Request
from gateway.store.formats.jsonl import from_object
from gateway.store.records import Cleared, GameRecord, Refused, TakenUp, Written

T = TypeVar("T")


class FakeStore:
    """Keeps numbers in lists. Where it is held, it waits before each batch; `trouble` may raise."""

    def __init__(self, trouble: Callable[[Batch], None] = lambda batch: None) -> None:
        self.batches: list[tuple[list[int], list[int]]] = []
        self.trouble = trouble
        self.reached, self.let_go = trio.Event(), trio.Event()
        self.let_go.set()
        self.untidy = 0
        self.is_otherwise = False
        """Whether all games were stored before, with another end."""
        self.cleared: list[int] = []
        self.left: list[TakenUp] = []
        """What comes of journals, look by look."""
        self.looks = 0
        self.away: Exception | None = None
        """Why no journal can be taken up."""
        self.refuses: set[int] = set()
        self.damaged: set[int] = set()
        """Games that it never takes, and those whose evidence it does not."""

    def hold(self) -> None:
        self.reached, self.let_go = trio.Event(), trio.Event()

    async def write(self, batch: Batch) -> Written:
        self.reached.set()
        await self.let_go.wait()
        await trio.lowlevel.checkpoint()
        self.trouble(batch)
        games, evidence = ([int(each.game) for each in part] for part in batch)
        refused = [Refused(number, "too large") for number, each in enumerate(games) if each in self.refuses]
        damaged = ["damaged" for each in evidence if each in self.damaged]
        stored = [each for each in games if each not in self.refuses]
        self.batches.append((stored, [each for each in evidence if each not in self.damaged]))
        return Written(rows(batch.games) if self.is_otherwise else (), refused, damaged)

    async def take_up(self) -> TakenUp:
        await trio.lowlevel.checkpoint()
        self.looks += 1
        if self.away is not None:
            raise self.away
        return self.left.pop(0) if self.left else TakenUp()

    async def tidy(self) -> bool:
        await trio.lowlevel.checkpoint()
        self.untidy -= 1
        return self.untidy > 0

    async def clear(self) -> Cleared:
        self.reached.set()
        await self.let_go.wait()
        self.cleared.append(len(self.stored))
        return Cleared(len(self.stored), 2)

    @property
    def stored(self) -> list[int]:
        return [number for games, _ in self.batches for number in games]

    @property
    def enclosed(self) -> list[int]:
        return [number for _, evidence in self.batches for number in evidence]


class FakeJournal:
    """Keeps numbers in a list; `trouble` may raise, and where it is held it waits before each answer."""

    def __init__(self, trouble: Callable[[Sequence[GameRecord]], None] = lambda games: None) -> None:
        self.trouble = trouble
        self.refuses: set[int] = set()
        self.has: list[int] = []
        self.times_ready = self.times_closed = 0
        self.reached, self.let_go = trio.Event(), trio.Event()
        self.let_go.set()

    def hold(self) -> None:
        self.reached, self.let_go = trio.Event(), trio.Event()

    async def append(self, records: Sequence[GameRecord]) -> list[Refused]:
        await trio.lowlevel.checkpoint()
        self.times_ready += not records
        if records:
            self.reached.set()
            await self.let_go.wait()
            self.trouble(records)
        numbers = [int(each.game) for each in records]
        self.has += [each for each in numbers if each not in self.refuses]
        return [Refused(number, "no line") for number, each in enumerate(numbers) if each in self.refuses]

    async def close(self) -> None:
        await trio.lowlevel.checkpoint()
        self.times_closed += 1


def failing(times: float, error: Exception) -> Callable[[Batch], None]:
    """Return what fails `times` times."""
    left = times

    def fail(batch: Batch) -> None:
        nonlocal left
        if left > 0:
            left -= 1
            raise error

    return fail


@asynccontextmanager
async def batcher_to(
    store: FakeStore,
    bounds: Bounds | None = None,
    pace: Pace | None = None,
    limit: float = 30.0,
    journal: FakeJournal | None = None,
    turns: Turns | None = None,
) -> AsyncIterator[Batcher]:
    batcher = Batcher(store, journal or FakeJournal(), bounds, pace, turns)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(batcher.run)
        try:
            yield batcher
        finally:
            await batcher.close(limit)


def refusing(error: Exception | None) -> Callable[[Sequence[GameRecord]], None]:
    """Return what always raises an error, or nothing."""

    def refuse(games: Sequence[GameRecord]) -> None:
        if error is not None:
            raise error

    return refuse


def put(batcher: Batcher, *numbers: int) -> None:
    for number in numbers:
        batcher.put(game(series=number, game=str(number)))


def messages(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records]


def unstored(caplog: pytest.LogCaptureFixture) -> list[int]:
    lines = [line for line in messages(caplog) if line.startswith("not stored: ")]
    arrays = [json.loads(line.removeprefix("not stored: ")) for line in lines]
    return [from_object(found).series for array in arrays for found in array]


# Batches.


async def test_what_gathers_while_a_batch_is_stored_is_the_next_one(autojump_clock: trio.abc.Clock) -> None:
    store = FakeStore()
    store.hold()
    async with batcher_to(store) as batcher:
        put(batcher, 1)
        await store.reached.wait()
        put(batcher, 2, 3, 4)
        store.let_go.set()
    assert store.batches == [([1], []), ([2, 3, 4], [])]


async def test_batch_has_a_largest_size(autojump_clock: trio.abc.Clock) -> None:
    store = FakeStore()
    async with batcher_to(store, pace=Pace(games=2)) as batcher:
        put(batcher, 1, 2, 3)
    assert store.batches == [([1, 2], []), ([3], [])]


async def test_put_and_add_never_wait(autojump_clock: trio.abc.Clock) -> None:
    store = FakeStore()
    store.hold()
    async with batcher_to(store) as batcher:
        with trio.testing.assert_no_checkpoints():
            put(batcher, *range(2_000))
            batcher.add(enclosure(1))
        assert batcher.open.waiting == 2_000
        store.let_go.set()
    assert store.stored == [*range(2_000)]
    assert batcher.open.waiting == 0


async def test_evidence_is_stored_with_the_next_game(autojump_clock: trio.abc.Clock) -> None:
    store = FakeStore()
    async with batcher_to(store) as batcher:
        batcher.add(enclosure(1))
        await trio.sleep(0.2)
        put(batcher, 3)
        await stored(batcher.open, "3")
        assert store.batches == [([3], [1])]


async def test_evidence_that_no_game_follows_is_stored_soon(autojump_clock: trio.abc.Clock) -> None:
    store = FakeStore()
    async with batcher_to(store, pace=Pace(linger=0.25)) as batcher:
        batcher.add(enclosure(1))
        await trio.sleep(0.24)
        assert store.batches == []
        await trio.sleep(0.02)
        assert store.batches == [([], [1])]


async def test_evidence_waits_for_all_games_that_wait(autojump_clock: trio.abc.Clock) -> None:
    """It may be of one of them: players hear of the end of a game that could not be stored for long."""
    store = FakeStore()
    async with batcher_to(store, pace=Pace(games=2)) as batcher:
        put(batcher, 1, 2, 3)
        batcher.add(enclosure(3))
    assert store.batches == [([1, 2], []), ([3], [3])]


async def test_however_much_evidence_waits_a_game_is_in_the_next_batch(
    autojump_clock: trio.abc.Clock,
) -> None:
    store = FakeStore()
    async with batcher_to(store, pace=Pace(evidence=1)) as batcher:
        for number in (1, 2, 3):
            batcher.add(enclosure(number))
        put(batcher, 4)
    assert store.batches == [([4], [1]), ([], [2]), ([], [3])]


# Those who wait.


async def test_while_games_wait_two_batches_begin_no_sooner_than_their_pace(
    autojump_clock: trio.abc.Clock,
) -> None:
    store = FakeStore()
    store.hold()
    async with batcher_to(store, pace=Pace(between=0.5)) as batcher:
        start = trio.current_time()
        put(batcher, 1)
        await store.reached.wait()
        put(batcher, 2)
        store.let_go.set()
        await stored(batcher.open, "1")
        assert trio.current_time() == start
        await stored(batcher.open, "2")
        assert trio.current_time() - start == pytest.approx(0.5)


@pytest.mark.parametrize(("took", "then"), [(0.1, 0.3), (1.0, 1.25)])
async def test_where_others_store_too_batches_leave_them_their_part_of_the_time(
    autojump_clock: trio.abc.Clock, took: float, then: float
) -> None:
    store = FakeStore()
    store.hold()
    async with batcher_to(store, pace=SHARED) as batcher:
        start = trio.current_time()
        put(batcher, 1)
        await store.reached.wait()
        put(batcher, 2)
        await trio.sleep(took)
        store.let_go.set()
        await stored(batcher.open, "2")
        assert trio.current_time() - start == pytest.approx(then)


async def test_all_who_wait_for_a_game_hear_once_it_is_stored(autojump_clock: trio.abc.Clock) -> None:
    store, heard = FakeStore(), list[int]()
    store.hold()

    async def wait(batcher: Batcher) -> None:
        await stored(batcher.open, "1")
        heard.append(len(store.stored))

    async with batcher_to(store) as batcher, trio.open_nursery() as nursery:
        put(batcher, 1)
        for _ in range(2):
            nursery.start_soon(wait, batcher)
        await store.reached.wait()
        assert batcher.open.is_open("1")
        assert heard == []
        store.let_go.set()
        await stored(batcher.open, "1")
        assert not batcher.open.is_open("1")
        with trio.testing.assert_no_checkpoints():
            await stored(batcher.open, "1")
    assert heard == [1, 1]


async def told_each_turn(turns: Turns) -> list[int]:
    """Let a batch of 60 games be stored; return of how many players are told in each turn."""
    told = list[int]()
    async with batcher_to(FakeStore(), turns=turns) as batcher:
        for number in range(60):
            put(batcher, number)
            batcher.open.when_stored(f"{number}", partial(told.append, number))
        with added_each_turn(told) as steps:
            await stored(batcher.open, "59")
            await trio.lowlevel.checkpoint()
    assert told == [*range(60)]
    return steps


async def late_each_turn(turns: Turns) -> list[int]:
    """Let 60 games be late at the same moment; return of how many players are told in each turn."""
    told, store = list[int](), FakeStore()
    store.hold()
    async with batcher_to(store, Bounds(patience=2.0), turns=turns) as batcher:
        for number in range(60):
            put(batcher, number)
            batcher.open.when_stored(f"{number}", partial(told.append, number))
        with added_each_turn(told) as steps:
            await trio.sleep(10)
        store.let_go.set()
    assert told == [*range(60)]
    return steps


@pytest.mark.parametrize("each_turn", [told_each_turn, late_each_turn])
async def test_players_are_told_a_few_in_each_turn_and_more_in_a_long_one(
    autojump_clock: MockClock, each_turn: Callable[[Turns], Awaitable[list[int]]]
) -> None:
    highest = []
    for seconds in (0.0, 0.015, 0.06):
        with slow_turns(autojump_clock, seconds) as turns:
            highest.append(max(await each_turn(turns)))
    assert 1 < highest[0] < highest[1] < highest[2] < 60


@pytest.mark.parametrize("each_turn", [told_each_turn, late_each_turn])
async def test_players_of_one_game_are_told_in_each_turn_though_no_time_is_left(
    autojump_clock: MockClock, each_turn: Callable[[Turns], Awaitable[list[int]]]
) -> None:
    with slow_turns(autojump_clock, 0.015, is_full=True) as turns:
        assert await each_turn(turns) == [1] * 60


@pytest.mark.parametrize("in_time", [True, False])
async def test_mistake_of_one_who_waits_costs_no_other_and_does_not_end_the_storing(
    in_time: bool, autojump_clock: trio.abc.Clock, caplog: pytest.LogCaptureFixture
) -> None:
    store, heard = FakeStore(), list[str]()
    store.hold()

    def mistaken() -> None:
        raise ZeroDivisionError("a mistake")

    async with batcher_to(store, Bounds(patience=2.0)) as batcher:
        put(batcher, 1, 2)
        batcher.open.when_stored("1", mistaken)
        for game in ("1", "2"):
            batcher.open.when_stored(game, partial(heard.append, game))
        await trio.sleep(1.0 if in_time else 3.0)
        store.let_go.set()
        await trio.sleep(1.0)
        assert heard == ["1", "2"]
        assert batcher.open.waiting == 0
        put(batcher, 3)
        await stored(batcher.open, "3")
    assert store.stored == [1, 2, 3]
    assert "a callback for a result has failed: a mistake" in messages(caplog)


async def test_game_that_is_not_stored_in_time_is_told_of_and_goes_on_waiting(
    autojump_clock: trio.abc.Clock, caplog: pytest.LogCaptureFixture
) -> None:
    store = FakeStore()
    store.hold()
    async with batcher_to(store, Bounds(patience=2.0)) as batcher:
        start = trio.current_time()
        put(batcher, 1)
        assert not batcher.open.behind
        await stored(batcher.open, "1")
        assert trio.current_time() - start == pytest.approx(2.0)
        assert not batcher.open.is_open("1")
        assert batcher.open.behind
        text = "players hear of results that only the journal has, not the database yet, 1 times so far"
        assert text in messages(caplog)
        with trio.testing.assert_no_checkpoints():
            await stored(batcher.open, "1")
        assert batcher.open.waiting == 1
        store.let_go.set()
    assert store.stored == [1]
    assert not batcher.open.behind


async def test_patience_is_counted_from_the_end_of_each_game(autojump_clock: trio.abc.Clock) -> None:
    store, journal = FakeStore(), FakeJournal()
    store.hold()
    async with batcher_to(store, Bounds(patience=2.0), journal=journal) as batcher:
        put(batcher, 1)
        await trio.sleep(1.5)
        put(batcher, 2)
        await trio.sleep(1.0)
        assert [batcher.open.is_open(str(number)) for number in (1, 2)] == [False, True]
        await trio.sleep(1.1)
        assert not batcher.open.is_open("2")
        store.let_go.set()
        await trio.sleep(1.0)
        put(batcher, 3)
        assert batcher.open.is_open("3")
        await stored(batcher.open, "3")
    assert (store.stored, journal.has) == ([1, 3], [1, 2])


async def test_time_in_which_the_server_stood_still_is_nobodys_patience(mock_clock: MockClock) -> None:
    store = FakeStore()
    store.hold()
    async with batcher_to(store, Bounds(patience=2.0)) as batcher:
        put(batcher, 1)
        await trio.testing.wait_all_tasks_blocked()
        mock_clock.jump(10.0)
        await trio.testing.wait_all_tasks_blocked()
        assert batcher.open.is_open("1")
        for _ in range(2):
            mock_clock.jump(1.1)
            await trio.testing.wait_all_tasks_blocked()
        assert not batcher.open.is_open("1")
        store.let_go.set()


async def test_standstill_between_the_end_of_a_game_and_the_waiting_for_it_is_nobodys_patience(
    mock_clock: MockClock,
) -> None:
    store = FakeStore()
    store.hold()
    async with batcher_to(store, Bounds(patience=2.0)) as batcher:
        await trio.testing.wait_all_tasks_blocked()
        put(batcher, 1)
        mock_clock.jump(10.0)
        await trio.testing.wait_all_tasks_blocked()
        assert batcher.open.is_open("1")
        store.let_go.set()


# Bounds.


async def test_of_games_with_another_end_that_nobody_asks_for_some_thousand_latest_are_kept(
    autojump_clock: trio.abc.Clock,
) -> None:
    store = FakeStore()
    store.is_otherwise = True
    async with batcher_to(store) as batcher:
        put(batcher, *range(1, 7001))
    assert batcher.open.take_otherwise("7000") == game(series=7000, game="7000")
    kept = [number for number in range(1, 7000) if batcher.open.take_otherwise(str(number)) is not None]
    assert 1000 < len(kept) < 6000
    assert kept == [*range(kept[0], 7000)]


async def test_games_that_the_journal_has_wait_there_and_not_in_memory(
    autojump_clock: trio.abc.Clock,
) -> None:
    store, journal = FakeStore(), FakeJournal()
    store.hold()
    async with batcher_to(store, journal=journal) as batcher:
        put(batcher, 0)
        await store.reached.wait()
        put(batcher, 1, 2)
        await trio.sleep(3)
        put(batcher, 3)
        assert (batcher.open.waiting, batcher.open.journaled) == (4, 3)
        store.let_go.set()
        await stored(batcher.open, "3")
        await trio.sleep(1)
        assert batcher.open.waiting == 0
    assert (store.stored, journal.has) == ([0, 3], [0, 1, 2])


async def test_when_too_much_evidence_waits_more_is_left_out_and_counted(
    autojump_clock: trio.abc.Clock, caplog: pytest.LogCaptureFixture
) -> None:
    store = FakeStore()
    async with batcher_to(store, Bounds(evidence=2 * len(enclosure(1).exchange))) as batcher:
        put(batcher, 1, 2, 3)
        for number in (1, 2, 3, 3):
            batcher.add(enclosure(number))
        assert messages(caplog) == ["too much waits: evidence is left out, of 1 players' games so far"]
        await trio.sleep(1)
        batcher.add(enclosure(3))
    assert messages(caplog)[1:] == ["too much waits: evidence is left out, of 2 players' games so far"]
    assert store.enclosed == [1, 2, 3]


# The journal.


@pytest.mark.parametrize("kind", [StoreError, RuntimeError])
async def test_nobody_is_told_while_neither_takes_a_result_and_all_once_the_journal_does(
    autojump_clock: trio.abc.Clock, caplog: pytest.LogCaptureFixture, kind: type[Exception]
) -> None:
    store, told = FakeStore(failing(math.inf, StoreError("no database"))), list[str]()
    journal = FakeJournal(refusing(kind("disk is full")))
    async with batcher_to(store, pace=Pace(remind=10.0), limit=1.0, journal=journal) as batcher:
        put(batcher, 1)
        batcher.open.when_stored("1", lambda: told.append("1"))
        await trio.sleep(15.1)
        assert (told, batcher.open.is_open("1"), batcher.open.held, batcher.open.behind) == (
            [],
            True,
            True,
            True,
        )
        held = [line for line in messages(caplog) if line.startswith("neither")]
        text = (
            "neither the database nor the journal has taken results for %s s; 1 wait, and their players, too"
        )
        assert held == [f"{text % seconds}: disk is full" for seconds in ("0.0", "10.0")]
        journal.trouble = refusing(None)
        await trio.sleep(0.5)
        assert (told, batcher.open.is_open("1"), batcher.open.held, batcher.open.behind) == (
            ["1"],
            False,
            False,
            True,
        )
        assert "results are sent again after" in caplog.text


async def test_who_waits_for_database_and_journal_is_told_once_the_database_takes_the_result(
    autojump_clock: trio.abc.Clock, caplog: pytest.LogCaptureFixture
) -> None:
    store, told = FakeStore(), list[str]()
    store.hold()
    async with batcher_to(store, journal=FakeJournal(refusing(StoreError("disk is full")))) as batcher:
        put(batcher, 1)
        batcher.open.when_stored("1", lambda: told.append("1"))
        await trio.sleep(5.1)
        assert (told, batcher.open.held) == ([], True)
        store.let_go.set()
        await trio.sleep(0.6)
        assert (told, batcher.open.held) == (["1"], False)
    assert store.stored == [1]


async def test_journal_that_is_not_needed_is_not_started(autojump_clock: trio.abc.Clock) -> None:
    journal = FakeJournal()
    async with batcher_to(store := FakeStore(), journal=journal) as batcher:
        for number in range(5):
            put(batcher, number)
            await trio.sleep(1)
        store.hold()
        put(batcher, 5)
        await trio.sleep(0.9)
        assert journal.times_ready == 0
        await trio.sleep(0.2)
        assert journal.times_ready == 1
        store.let_go.set()
    assert journal.has == []


async def test_late_results_are_counted_in_the_log_to_the_end_of_the_outage_and_not_long_after(
    autojump_clock: trio.abc.Clock, caplog: pytest.LogCaptureFixture
) -> None:
    store = FakeStore()
    store.hold()
    async with batcher_to(store) as batcher:
        for number in (1, 2, 3):
            put(batcher, number)
            batcher.open.when_stored(str(number), int)
            await trio.sleep(0.1)
        await trio.sleep(3)
        store.let_go.set()
        await trio.sleep(1)
        told = [line for line in messages(caplog) if line.startswith("players hear")]
        assert [line.partition("yet, ")[2] for line in told] == ["1 times so far", "3 times so far"]
        caplog.clear()
        await trio.sleep(100)
        put(batcher, 4)
        await stored(batcher.open, "4")
    assert messages(caplog) == []


async def test_count_of_evidence_that_was_left_out_is_said_when_no_more_is(
    autojump_clock: trio.abc.Clock, caplog: pytest.LogCaptureFixture
) -> None:
    async with batcher_to(FakeStore(), Bounds(evidence=1)) as batcher:
        put(batcher, 1)
        for _ in range(3):
            batcher.add(enclosure(1))
        await trio.sleep(1)
        counts = [line.partition("of ")[2] for line in messages(caplog)]
        assert counts == ["1 players' games so far", "3 players' games so far"]


async def test_what_other_runs_have_left_is_stored_at_the_start_and_looked_for_now_and_then(
    autojump_clock: trio.abc.Clock, caplog: pytest.LogCaptureFixture
) -> None:
    store = FakeStore()
    store.left = [TakenUp(True, 200, 5, 1), TakenUp(True, 3, 3), TakenUp(False)]
    async with batcher_to(store, pace=Pace(look=10.0)):
        await trio.sleep(1)
        assert messages(caplog) == [
            "203 results of the journal are in the database: 8 are new, 1 replaced a game without a result"
        ]
        caplog.clear()
        looks = store.looks
        await trio.sleep(30)
        assert store.looks == looks + 3
    assert messages(caplog) == []


async def test_lines_of_a_journal_that_are_refused_are_logged_and_so_is_one_that_cannot_be_read(
    autojump_clock: trio.abc.Clock, caplog: pytest.LogCaptureFixture
) -> None:
    store = FakeStore()
    refused = [(number, "no game") for number in range(1, 23)]
    store.left = [
        TakenUp(True, 1, 1, 0, ["game 7 differs"], refused, "x.jsonl.refused"),
        TakenUp(False, detail="x: Input/output error"),
    ]
    async with batcher_to(store):
        await trio.sleep(1)
    said = messages(caplog)
    assert said[:2] == [
        "the journal: game 7 differs",
        "x.jsonl.refused, line 1, could not be stored: no game",
    ]
    assert said[20:23] == [
        "x.jsonl.refused, line 20, could not be stored: no game",
        "x.jsonl.refused: 2 lines more could not be stored",
        "the journal cannot be read, which is tried again: x: Input/output error",
    ]


async def test_evidence_of_games_in_the_journal_waits_until_these_are_stored(
    autojump_clock: trio.abc.Clock,
) -> None:
    store = FakeStore()
    store.hold()
    async with batcher_to(store) as batcher:
        put(batcher, 1, 2)
        await trio.sleep(3)
        batcher.add(enclosure(2))
        store.left = [TakenUp(False), TakenUp(True, 1, 1), TakenUp(True, 1), TakenUp(False)]
        store.let_go.set()
        await trio.sleep(2)
        assert batcher.open.journaled == 0
    assert store.enclosed == [2]


async def test_journal_is_taken_up_although_no_more_games_come(autojump_clock: trio.abc.Clock) -> None:
    store, journal = FakeStore(), FakeJournal()
    store.hold()
    async with batcher_to(store, pace=Pace(look=1000.0), journal=journal) as batcher:
        put(batcher, 1)
        await trio.sleep(1.5)
        put(batcher, 2)
        await trio.sleep(1.2)
        batcher.add(enclosure(1))
        assert batcher.open.journaled == 1
        journal.hold()
        await trio.sleep(1.0)  # now the other one is on its way to the journal
        store.let_go.set()
        await trio.sleep(0.1)
        journal.let_go.set()
        await trio.sleep(2.0)
        assert (journal.has, batcher.open.waiting, store.enclosed) == ([1, 2], 0, [1])


async def test_results_are_cleared_with_those_that_the_journal_has(autojump_clock: trio.abc.Clock) -> None:
    store, journal = FakeStore(), FakeJournal()
    store.hold()
    async with batcher_to(store, journal=journal) as batcher:
        put(batcher, 1)
        await trio.sleep(3)
        request = batcher.clear()
        looks = store.looks
        store.left = [TakenUp(True, 1, 1)]
        store.let_go.set()
        await request.result()
        assert (store.left, store.looks > looks + 1, batcher.open.journaled) == ([], True, 0)


async def test_results_are_cleared_with_one_that_is_on_its_way_to_the_journal(
    autojump_clock: trio.abc.Clock,
) -> None:
    store, journal = FakeStore(), FakeJournal()
    store.hold()
    journal.hold()
    async with batcher_to(store, journal=journal) as batcher:
        put(batcher, 1)
        await journal.reached.wait()
        request = batcher.clear()
        closed = journal.times_closed
        store.let_go.set()
        await trio.sleep(1)
        assert journal.times_closed == closed
        store.left = [TakenUp(True, 1)]
        journal.let_go.set()
        await request.result()
        assert (journal.times_closed, store.left, batcher.open.journaled) == (closed + 1, [], 0)


@pytest.mark.parametrize("is_taken", [True, False])
async def test_shared_game_ends_as_the_journal_has_it_where_it_is_on_its_way_there(
    autojump_clock: trio.abc.Clock, is_taken: bool
) -> None:
    store, journal = FakeStore(), FakeJournal()
    store.is_otherwise = True
    store.hold()
    journal.hold()
    async with batcher_to(store, journal=journal) as batcher:
        put(batcher, 1)
        await journal.reached.wait()
        store.let_go.set()
        await trio.sleep(0.1)
        assert batcher.open.is_open("1")
        if not is_taken:
            journal.trouble = refusing(StoreError("disk is full"))
        journal.let_go.set()
        await stored(batcher.open, "1")
        assert (batcher.open.take_otherwise("1") is None) is is_taken
        journal.trouble = refusing(None)


async def test_shared_game_that_the_journal_refuses_ends_as_it_is_stored(
    autojump_clock: trio.abc.Clock,
) -> None:
    store, journal = FakeStore(), FakeJournal()
    journal.refuses = {1}
    store.is_otherwise = True
    store.hold()
    journal.hold()
    async with batcher_to(store, journal=journal) as batcher:
        put(batcher, 1, 2)
        await journal.reached.wait()
        store.let_go.set()
        await trio.sleep(0.1)
        journal.let_go.set()
        for number in ("1", "2"):
            await stored(batcher.open, number)
        assert batcher.open.take_otherwise("1") is not None
        assert batcher.open.take_otherwise("2") is None


async def test_game_that_the_journal_will_never_take_keeps_no_other_and_is_not_told(
    autojump_clock: trio.abc.Clock, caplog: pytest.LogCaptureFixture
) -> None:
    store, journal = FakeStore(failing(math.inf, StoreError("no database"))), FakeJournal()
    journal.refuses = {2}
    async with batcher_to(store, limit=1.0, journal=journal) as batcher:
        put(batcher, 1, 2, 3)
        await trio.sleep(3)
        assert batcher.open.journaled == 2
        assert [batcher.open.is_open(str(number)) for number in (1, 2, 3)] == [False, True, False]
    assert journal.has == [1, 3]
    assert {*unstored(caplog)} == {2}


# Failures.


async def test_store_that_fails_is_tried_again_until_it_is_back(
    autojump_clock: trio.abc.Clock, caplog: pytest.LogCaptureFixture
) -> None:
    store = FakeStore(failing(3, StoreError("database is locked")))
    async with batcher_to(store, Bounds(patience=60.0), Pace(retry=0.5, linger=0.0)) as batcher:
        start = trio.current_time()
        put(batcher, 1)
        batcher.add(enclosure(1))
        put(batcher, 2)
        await stored(batcher.open, "1")
        assert trio.current_time() - start == pytest.approx(1.5)
    first, last = caplog.records
    assert batcher.errors == {"passing": 3, "refused": 0, "tidying": 0, "journal": 0}
    assert store.batches == [([1, 2], [1])]
    assert (first.levelno, last.levelno) == (logging.ERROR, logging.WARNING)
    assert "2 results wait: database is locked" in first.getMessage()
    assert "2 results that waited are stored, 0 are next" in last.getMessage()


async def test_game_at_fault_stays_in_the_journal_and_everything_else_is_stored(
    autojump_clock: trio.abc.Clock, caplog: pytest.LogCaptureFixture
) -> None:
    store, journal = FakeStore(), FakeJournal()
    store.refuses = {4}
    async with batcher_to(store, journal=journal) as batcher:
        put(batcher, *range(9))
        batcher.add(enclosure(4))
        batcher.add(enclosure(8))
        await stored(batcher.open, "8")
        assert batcher.open.is_open("4")
        await stored(batcher.open, "4")
        assert journal.has == [4]
    assert store.stored == [0, 1, 2, 3, 5, 6, 7, 8]
    assert store.enclosed == [4, 8]  # the database drops that of a game that is not there
    assert unstored(caplog) == [4]
    assert batcher.errors["refused"] == 1
    assert "the database will never take a result: too large" in messages(caplog)


async def test_evidence_at_fault_keeps_nothing_else_and_is_told(
    autojump_clock: trio.abc.Clock, caplog: pytest.LogCaptureFixture
) -> None:
    store = FakeStore()
    store.damaged = {1}
    async with batcher_to(store) as batcher:
        put(batcher, 1, 2)
        for number in (1, 2, 2):
            batcher.add(enclosure(number))
    assert (store.stored, store.enclosed, unstored(caplog)) == ([1, 2], [2, 2], [])
    assert "the database will never take evidence: damaged" in messages(caplog)
    assert "evidence of 1 players' games is not stored" in messages(caplog)


class Mistaken(FakeStore):
    """Answers twice what no store does, to a batch or to a look for journals."""

    def __init__(self, asked: str) -> None:
        super().__init__()
        self.mistakes = {asked: 2}

    def answer(self, asked: str, right: T) -> T:
        if self.mistakes.get(asked, 0) == 0:
            return right
        self.mistakes[asked] -= 1
        return cast("T", None)

    async def write(self, batch: Batch) -> Written:
        return self.answer("write", await super().write(batch))

    async def take_up(self) -> TakenUp:
        return self.answer("take_up", await super().take_up())


@pytest.mark.parametrize("asked", ["write", "take_up"])
async def test_mistake_of_ours_costs_no_result_and_does_not_end_the_storing(
    autojump_clock: trio.abc.Clock, caplog: pytest.LogCaptureFixture, asked: str
) -> None:
    store = Mistaken(asked)
    async with batcher_to(store) as batcher:
        put(batcher, 1, 2)
        await stored(batcher.open, "2")
        put(batcher, 3)
        await stored(batcher.open, "3")
        await trio.sleep(5)
    assert store.mistakes == {asked: 0}
    assert {*store.stored} == {1, 2, 3}
    (said,) = messages(caplog)
    assert said.startswith("storing results has failed, and is tried again: ")


async def test_mistake_in_a_look_for_journals_is_not_met_again_at_once(
    autojump_clock: trio.abc.Clock,
) -> None:
    store = FakeStore()
    store.away = RuntimeError("the process that writes is mistaken")
    async with batcher_to(store, pace=Pace(look=10.0)):
        await trio.sleep(25)
        assert store.looks == 3


async def test_batch_that_meets_a_mistake_of_ours_holds_up_others_only_until_the_journal_has_its_games(
    autojump_clock: trio.abc.Clock, caplog: pytest.LogCaptureFixture
) -> None:
    def mistake(batch: Batch) -> None:
        if any(each.game == "2" for each in (*batch.games, *batch.evidence)):
            raise RuntimeError("the process that writes is mistaken")

    store, journal = FakeStore(mistake), FakeJournal()
    size = len(enclosure(2).exchange)
    async with batcher_to(store, Bounds(evidence=size), journal=journal) as batcher:
        put(batcher, 1, 2)
        batcher.add(enclosure(2))
        await stored(batcher.open, "2")
        looks = store.looks
        await trio.sleep(2)
        put(batcher, 3)
        await stored(batcher.open, "3")
        assert (store.stored, journal.has) == ([3], [1, 2])
        assert store.looks > looks  # for the journal is to be stored
        batcher.add(enclosure(3))
    assert store.enclosed == [3]
    assert "evidence of 1 players' games is not stored" in messages(caplog)
    assert not any(line.startswith("too much waits") for line in messages(caplog))


# Tidying.


async def test_tidying_goes_on_until_there_is_no_more_and_again_after_a_while(
    autojump_clock: trio.abc.Clock,
) -> None:
    store = FakeStore()
    store.untidy = 3
    async with batcher_to(store, pace=Pace(tidy=3600.0)):
        await trio.sleep(1)
        assert store.untidy == 0
        await trio.sleep(3600)
        assert store.untidy == -1


@pytest.mark.parametrize("kind", [StoreError, ValueError])
async def test_tidying_that_fails_stops_nothing(
    autojump_clock: trio.abc.Clock, caplog: pytest.LogCaptureFixture, kind: type[Exception]
) -> None:
    class Untidy(FakeStore):
        async def tidy(self) -> bool:
            await trio.lowlevel.checkpoint()
            raise kind("database is locked")

    async with batcher_to(store := Untidy()) as batcher:
        await trio.sleep(1)
        put(batcher, 1)
    assert store.stored == [1]
    assert messages(caplog) == ["the database could not be tidied up: database is locked"]
    assert batcher.errors["tidying"] == 1


# Requests.


async def test_results_are_cleared_after_the_games_that_came_before(
    autojump_clock: trio.abc.Clock, caplog: pytest.LogCaptureFixture
) -> None:
    store = FakeStore()
    async with batcher_to(store) as batcher:
        put(batcher, 1, 2)
        request = batcher.clear()
        put(batcher, 3)
        assert await request.result() == Cleared(2, 2)
        assert not request.withdraw()
    assert (store.cleared, store.stored) == ([2], [1, 2, 3])
    assert "all results are cleared: 2 games of 2 players" in messages(caplog)


async def test_request_that_was_withdrawn_is_not_carried_out(autojump_clock: trio.abc.Clock) -> None:
    store = FakeStore()
    store.hold()
    async with batcher_to(store) as batcher:
        put(batcher, 1)
        with trio.move_on_after(0.1):
            await batcher.clear().result()
        withdrawn = batcher.clear()
        assert withdrawn.withdraw()
        assert withdrawn.withdraw()
        store.let_go.set()
        with pytest.raises(StoreError, match="withdrawn"):
            await withdrawn.result()
    assert (store.cleared, store.stored) == ([], [1])


async def test_request_that_was_begun_cannot_be_withdrawn_and_is_told_of(
    autojump_clock: trio.abc.Clock,
) -> None:
    store = FakeStore()
    store.hold()
    async with batcher_to(store) as batcher:
        request = batcher.clear()
        await store.reached.wait()
        assert not request.withdraw()
        store.let_go.set()
        assert await request.result() == Cleared(0, 2)


@pytest.mark.parametrize("kind", [StoreError, ValueError])
async def test_error_of_a_request_is_for_the_one_who_asked(
    autojump_clock: trio.abc.Clock, kind: type[Exception]
) -> None:
    class Refusing(FakeStore):
        async def clear(self) -> Cleared:
            await trio.lowlevel.checkpoint()
            raise kind("database is locked")

    async with batcher_to(store := Refusing()) as batcher:
        put(batcher, 1)
        with pytest.raises(StoreError, match="database is locked"):
            await batcher.clear().result()
        put(batcher, 2)
    assert store.stored == [1, 2]


# The end.


async def test_close_stores_what_waits_and_evidence_at_once(autojump_clock: trio.abc.Clock) -> None:
    store = FakeStore()
    async with batcher_to(store) as batcher:
        start = trio.current_time()
        put(batcher, *range(1_000))
        batcher.add(enclosure(1))
    assert trio.current_time() == start
    assert store.stored == [*range(1_000)]
    assert store.enclosed == [1]


async def test_cancelled_server_stores_what_waits(autojump_clock: trio.abc.Clock) -> None:
    store = FakeStore()
    with trio.CancelScope() as scope:
        async with trio.open_nursery() as nursery:
            batcher = Batcher(store, FakeJournal())
            nursery.start_soon(batcher.run)
            put(batcher, 1)
            scope.cancel()
            await batcher.close()
    assert store.stored == [1]


@pytest.mark.parametrize("trouble", ["fails", "hangs"])
@pytest.mark.parametrize("is_journaled", [True, False])
async def test_what_is_not_stored_in_time_at_the_end_is_journaled_or_else_logged_and_not_told(
    autojump_clock: trio.abc.Clock, caplog: pytest.LogCaptureFixture, trouble: str, is_journaled: bool
) -> None:
    store, told = FakeStore(failing(math.inf, StoreError("no database"))), list[str]()
    if trouble == "hangs":
        store.hold()
    journal = FakeJournal(refusing(StoreError("disk is full")) if not is_journaled else refusing(None))
    async with batcher_to(store, Bounds(patience=60.0), journal=journal) as batcher:
        start = trio.current_time()
        put(batcher, *range(1, 421))
        batcher.open.when_stored("2", lambda: told.append("2"))
        batcher.add(enclosure(1))
        batcher.add(enclosure(1, 1))
        await store.reached.wait()
        await batcher.close(1.5)
        assert trio.current_time() - start == pytest.approx(1.5 if is_journaled else 3.0)
        assert batcher.open.is_open("2") is not is_journaled
    numbers = [*range(1, 421)]
    assert (journal.has, unstored(caplog)) == ((numbers, []) if is_journaled else ([], numbers))
    assert told == (["2"] if is_journaled else [])
    assert "evidence of 2 players' games is not stored" in messages(caplog)
    left = "420 results are in the journal; the next start of the server stores them"
    assert (left in messages(caplog)) is is_journaled
    assert store.stored == []


async def test_journal_that_was_cut_off_at_the_end_is_asked_anew(autojump_clock: trio.abc.Clock) -> None:
    store, journal = FakeStore(failing(math.inf, StoreError("no database"))), FakeJournal()
    journal.hold()
    async with batcher_to(store, journal=journal) as batcher:
        put(batcher, 1)
        await journal.reached.wait()
        closed = journal.times_closed
        with trio.CancelScope() as scope:
            scope.cancel()
            journal.let_go = trio.Event()
            await batcher.close(1.0)
        assert journal.times_closed == closed + 2
    assert journal.has == []


async def test_close_leaves_nobody_waiting_for_a_request(
    autojump_clock: trio.abc.Clock, caplog: pytest.LogCaptureFixture
) -> None:
    store, refused = FakeStore(), list[str]()
    store.hold()

    async def wait(request: Request) -> None:
        try:
            await request.result()
        except StoreError as error:
            refused.append(str(error))

    async with trio.open_nursery() as nursery, batcher_to(store, limit=1.5) as batcher:
        for _ in range(2):
            nursery.start_soon(wait, batcher.clear())
        await store.reached.wait()
    assert sorted(refused) == ["it was withdrawn", "the store is closed"]
    assert store.cleared == []


async def test_closed_batcher_logs_games_counts_evidence_and_refuses_requests(
    autojump_clock: trio.abc.Clock, caplog: pytest.LogCaptureFixture
) -> None:
    async with batcher_to(store := FakeStore()) as batcher:
        pass
    put(batcher, 9)
    assert unstored(caplog) == [9]
    assert batcher.open.is_open("9")
    batcher.add(enclosure(9))
    assert "evidence is left out" in messages(caplog)[-1]
    with pytest.raises(StoreError, match="closed"):
        batcher.clear()
    assert store.batches == []


async def test_tidying_does_not_hold_up_the_end(
    autojump_clock: trio.abc.Clock, caplog: pytest.LogCaptureFixture
) -> None:
    class Slow(FakeStore):
        async def tidy(self) -> bool:
            await trio.sleep_forever()
            raise AssertionError

    async with batcher_to(Slow(), limit=1.5):
        start = trio.current_time()
        await trio.sleep(1)
    assert trio.current_time() - start == pytest.approx(2.5)
    assert messages(caplog) == []
