"""The batcher: nothing blocks, batches, failures, patience, requests, and the end. With a fake store."""

import json
import logging
import math
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, nullcontext
from functools import partial

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
from gateway.store.formats.jsonl import from_object
from gateway.store.records import Cleared, GameRecord, Refused, Solved, TakenUp, Written


class Fake:
    """What both processes have in common: where one is held it waits, and it raises `error` `times` times."""

    def __init__(self) -> None:
        self.reached, self.let_go = trio.Event(), trio.Event()
        self.let_go.set()
        self.refuses: set[int] = set()
        """Games that it never takes."""
        self._error, self._times, self._asked = Exception(), 0.0, ""

    def hold(self) -> None:
        self.reached, self.let_go = trio.Event(), trio.Event()

    def fails(self, error: Exception, times: float = math.inf, asked: str = "write") -> None:
        self._error, self._times, self._asked = error, times, asked

    async def answers(self, asked: str = "write") -> None:
        await trio.lowlevel.checkpoint()
        if asked != "take_up":
            self.reached.set()
            await self.let_go.wait()
        if asked == self._asked and self._times > 0:
            self._times -= 1
            raise self._error

    def refused(self, numbers: Sequence[int]) -> list[Refused]:
        return [Refused(at, "too large") for at, number in enumerate(numbers) if number in self.refuses]


class FakeStore(Fake):
    """Keeps numbers in lists."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[tuple[list[int], list[int]]] = []
        self.analysed: list[list[int]] = []
        """Games whose analyses it took, batch by batch."""
        self.damaged: set[int] = set()
        """Games whose evidence it never takes."""
        self.mistaken: set[int] = set()
        """Games, and those with evidence, that it cannot be asked to store."""
        self.is_otherwise = False
        """Whether all games were stored before, with another end."""
        self.left: list[TakenUp] = []
        """What comes of journals, look by look."""
        self.looks = self.untidy = 0

    async def write(self, batch: Batch) -> Written:
        await self.answers()
        games, evidence, analyses = ([int(each.game) for each in part] for part in batch)
        if self.mistaken & {*games, *evidence}:
            raise RuntimeError("it is mistaken")
        damaged = ["damaged" for each in evidence if each in self.damaged]
        taken = [each for each in games if each not in self.refuses]
        self.batches.append((taken, [each for each in evidence if each not in self.damaged]))
        self.analysed.append(analyses)
        return Written(rows(batch.games) if self.is_otherwise else (), self.refused(games), damaged)

    async def take_up(self) -> TakenUp:
        self.looks += 1
        await self.answers("take_up")
        return self.left.pop(0) if self.left else TakenUp()

    async def tidy(self) -> bool:
        await self.answers("tidy")
        self.untidy -= 1
        return self.untidy > 0

    async def clear(self) -> Cleared:
        await self.answers("clear")
        return Cleared(len(self.stored), 2)

    @property
    def stored(self) -> list[int]:
        return [number for games, _ in self.batches for number in games]

    @property
    def enclosed(self) -> list[int]:
        return [number for _, evidence in self.batches for number in evidence]


class FakeJournal(Fake):
    """Keeps numbers in a list."""

    def __init__(self) -> None:
        super().__init__()
        self.has: list[int] = []
        self.times_ready = self.times_closed = 0

    async def append(self, records: Sequence[GameRecord]) -> list[Refused]:
        if not records:
            self.times_ready += 1
            return []
        await self.answers()
        numbers = [int(each.game) for each in records]
        self.has += [each for each in numbers if each not in self.refuses]
        return self.refused(numbers)

    async def close(self) -> None:
        await trio.lowlevel.checkpoint()
        self.times_closed += 1


@pytest.fixture
def store() -> FakeStore:
    return FakeStore()


@pytest.fixture
def journal() -> FakeJournal:
    return FakeJournal()


@asynccontextmanager
async def batcher_to(
    store: FakeStore,
    journal: FakeJournal | None = None,
    *,
    bounds: Bounds | None = None,
    pace: Pace | None = None,
    limit: float = 30.0,
    turns: Turns | None = None,
) -> AsyncIterator[Batcher]:
    batcher = Batcher(store, journal or FakeJournal(), bounds, pace, turns)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(batcher.run)
        try:
            yield batcher
        finally:
            await batcher.close(limit)


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


async def test_put_and_add_never_wait_and_close_stores_what_waits_at_once(
    store: FakeStore, autojump_clock: MockClock
) -> None:
    async with batcher_to(store) as batcher:
        start = trio.current_time()
        with trio.testing.assert_no_checkpoints():
            put(batcher, *range(2_000))
            batcher.add(enclosure(1))
        assert batcher.open.waiting == 2_000
    assert trio.current_time() == start
    assert (store.stored, store.enclosed, batcher.open.waiting) == ([*range(2_000)], [1], 0)


async def test_evidence_is_stored_with_the_next_game_or_soon_if_none_follows(
    store: FakeStore, autojump_clock: MockClock
) -> None:
    async with batcher_to(store, pace=Pace(linger=0.25)) as batcher:
        batcher.add(enclosure(1))
        await trio.sleep(0.2)
        put(batcher, 3)
        await stored(batcher.open, "3")
        assert store.batches == [([3], [1])]
        batcher.add(enclosure(3))
        await trio.sleep(0.24)
        assert len(store.batches) == 1
        await trio.sleep(0.02)
        assert store.batches[1:] == [([], [3])]


async def test_evidence_waits_for_all_games_that_wait(store: FakeStore, autojump_clock: MockClock) -> None:
    """It may be of one of them: players hear of the end of a game that could not be stored for long."""
    async with batcher_to(store, pace=Pace(games=2)) as batcher:
        put(batcher, 1, 2, 3)
        batcher.add(enclosure(3))
    assert store.batches == [([1, 2], []), ([3], [3])]


async def test_however_much_evidence_waits_a_game_is_in_the_next_batch(
    store: FakeStore, autojump_clock: MockClock
) -> None:
    async with batcher_to(store, pace=Pace(evidence=1)) as batcher:
        for number in (1, 2, 3):
            batcher.add(enclosure(number))
        put(batcher, 4)
    assert store.batches == [([4], [1]), ([], [2]), ([], [3])]


async def test_analyses_are_stored_like_evidence_and_never_keep_a_game_waiting(
    store: FakeStore, autojump_clock: MockClock
) -> None:
    async with batcher_to(store, pace=Pace(games=2, analyses=2, linger=0.25)) as batcher:
        for number in (1, 2, 3):
            batcher.analyse(Solved(str(number), "", b""))
        put(batcher, 4, 5, 6)
        await stored(batcher.open, "6")
        assert (store.batches, store.analysed) == ([([4, 5], []), ([6], [])], [[], [1, 2]])
    assert store.analysed == [[], [1, 2], [3]]
    batcher.analyse(Solved("7", "", b""))  # closed: it can be found again


@pytest.mark.parametrize(
    ("pace", "took", "then"), [(Pace(between=0.5), 0.0, 0.5), (SHARED, 0.1, 0.3), (SHARED, 1.0, 1.25)]
)
async def test_while_games_wait_batches_begin_no_sooner_than_their_pace_and_leave_others_their_part(
    store: FakeStore, autojump_clock: MockClock, pace: Pace, took: float, then: float
) -> None:
    store.hold()
    async with batcher_to(store, pace=pace) as batcher:
        start = trio.current_time()
        put(batcher, 1)
        await store.reached.wait()
        put(batcher, 2, 3)  # which gather for the next one
        await trio.sleep(took)
        store.let_go.set()
        await stored(batcher.open, "1")
        assert trio.current_time() - start == pytest.approx(took)
        await stored(batcher.open, "2")
        assert trio.current_time() - start == pytest.approx(then)
    assert store.batches == [([1], []), ([2, 3], [])]


# Those who wait.


async def test_all_who_wait_for_a_game_hear_once_it_is_stored(
    store: FakeStore, autojump_clock: MockClock
) -> None:
    heard = list[int]()
    store.hold()
    async with batcher_to(store) as batcher:
        put(batcher, 1)
        for _ in range(2):
            batcher.open.when_stored("1", lambda: heard.append(len(store.stored)))
        await store.reached.wait()
        assert (batcher.open.is_open("1"), heard) == (True, [])
        store.let_go.set()
        await stored(batcher.open, "1")
        assert not batcher.open.is_open("1")
        with trio.testing.assert_no_checkpoints():
            await stored(batcher.open, "1")
    assert heard == [1, 1]


async def told_each_turn(turns: Turns, is_late: bool) -> list[int]:
    """Let 60 games be stored, or be late, at once; return of how many players are told in each turn."""
    told, store = list[int](), FakeStore()
    if is_late:
        store.hold()
    async with batcher_to(store, turns=turns) as batcher:
        for number in range(60):
            put(batcher, number)
            batcher.open.when_stored(f"{number}", partial(told.append, number))
        with added_each_turn(told) as steps:
            await trio.sleep(10)
        store.let_go.set()
    assert told == [*range(60)]
    return steps


@pytest.mark.parametrize("is_late", [False, True])
async def test_players_of_a_game_are_told_in_each_turn_and_of_more_games_the_longer_it_is(
    autojump_clock: MockClock, is_late: bool
) -> None:
    highest = []
    for seconds in (0.0, 0.015, 0.06):
        with slow_turns(autojump_clock, seconds) as turns:
            highest.append(max(await told_each_turn(turns, is_late)))
    assert 1 < highest[0] < highest[1] < highest[2] < 60
    with slow_turns(autojump_clock, 0.015, is_full=True) as turns:
        assert await told_each_turn(turns, is_late) == [1] * 60


@pytest.mark.parametrize("in_time", [True, False])
async def test_mistake_of_one_who_waits_costs_no_other_and_does_not_end_the_storing(
    in_time: bool, store: FakeStore, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    def mistaken() -> None:
        raise ZeroDivisionError("a mistake")

    heard = list[str]()
    store.hold()
    async with batcher_to(store, bounds=Bounds(patience=2.0)) as batcher:
        put(batcher, 1, 2)
        batcher.open.when_stored("1", mistaken)
        for each in ("1", "2"):
            batcher.open.when_stored(each, partial(heard.append, each))
        await trio.sleep(1.0 if in_time else 3.0)
        store.let_go.set()
        await trio.sleep(1.0)
        assert (heard, batcher.open.waiting) == (["1", "2"], 0)
        put(batcher, 3)
    assert store.stored == [1, 2, 3]
    assert "a callback for a result has failed: a mistake" in messages(caplog)


async def test_game_is_late_when_its_own_players_have_waited_for_long_and_goes_on_waiting_in_the_journal(
    store: FakeStore, journal: FakeJournal, autojump_clock: MockClock
) -> None:
    store.hold()
    async with batcher_to(store, journal, bounds=Bounds(patience=2.0)) as batcher:
        put(batcher, 0)
        await store.reached.wait()
        await trio.sleep(1.5)
        put(batcher, 1)
        assert not batcher.open.behind
        await stored(batcher.open, "0")
        assert trio.current_time() == pytest.approx(2.0)
        assert (batcher.open.is_open("0"), batcher.open.is_open("1")) == (False, True)
        assert batcher.open.behind
        await trio.sleep(1.6)
        assert not batcher.open.is_open("1")
        put(batcher, 2)
        assert (batcher.open.waiting, batcher.open.journaled) == (3, 2)
        store.let_go.set()
        await stored(batcher.open, "2")
        await trio.sleep(1.0)
        assert (batcher.open.waiting, batcher.open.behind) == (0, False)
    assert (store.stored, journal.has) == ([0, 2], [0, 1])


@pytest.mark.parametrize("waits_before", [True, False])
async def test_time_in_which_the_server_stood_still_is_nobodys_patience(
    store: FakeStore, mock_clock: MockClock, waits_before: bool
) -> None:
    store.hold()
    async with batcher_to(store, bounds=Bounds(patience=2.0)) as batcher:
        await trio.testing.wait_all_tasks_blocked()
        put(batcher, 1)
        if waits_before:
            await trio.testing.wait_all_tasks_blocked()
        mock_clock.jump(10.0)
        await trio.testing.wait_all_tasks_blocked()
        assert batcher.open.is_open("1")
        for _ in range(2):
            mock_clock.jump(1.1)
            await trio.testing.wait_all_tasks_blocked()
        assert not batcher.open.is_open("1")
        store.let_go.set()


async def test_late_results_are_counted_in_the_log_to_the_end_of_the_outage_and_not_long_after(
    store: FakeStore, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    store.hold()
    async with batcher_to(store) as batcher:
        for number in (1, 2, 3):
            put(batcher, number)
            batcher.open.when_stored(str(number), int)
            await trio.sleep(0.1)
        await trio.sleep(3)
        store.let_go.set()
        await trio.sleep(1)
        text = "players hear of results that only the journal has, not the database yet, %d times so far"
        assert [line for line in messages(caplog) if "players hear" in line] == [text % 1, text % 3]
        caplog.clear()
        await trio.sleep(100)
        put(batcher, 4)
    assert messages(caplog) == []


# Bounds.


async def test_of_games_with_another_end_that_nobody_asks_for_some_thousand_latest_are_kept(
    store: FakeStore, autojump_clock: MockClock
) -> None:
    store.is_otherwise = True
    async with batcher_to(store) as batcher:
        put(batcher, *range(1, 7001))
    assert batcher.open.take_otherwise("7000") == game(series=7000, game="7000")
    kept = [number for number in range(1, 7000) if batcher.open.take_otherwise(str(number)) is not None]
    assert 1000 < len(kept) < 6000
    assert kept == [*range(kept[0], 7000)]


async def test_when_too_much_evidence_waits_more_is_left_out_and_counted_until_no_more_is(
    store: FakeStore, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    async with batcher_to(store, bounds=Bounds(evidence=2 * len(enclosure(1).exchange))) as batcher:
        put(batcher, 1, 2)
        for number in (1, 2, 2, 2, 2):
            batcher.add(enclosure(number))
        await trio.sleep(1)
        text = "too much waits: evidence is left out, of %d players' games so far"
        assert messages(caplog) == [text % 1, text % 3]
        for number in (1, 2):
            batcher.add(enclosure(number))
    assert len(messages(caplog)) == 2
    assert store.enclosed == [1, 2, 1, 2]


# The journal.


@pytest.mark.parametrize("back", ["journal", "database"])
@pytest.mark.parametrize("kind", [StoreError, RuntimeError])
async def test_nobody_is_told_while_neither_takes_a_result_and_all_once_one_of_them_does(
    store: FakeStore,
    journal: FakeJournal,
    autojump_clock: MockClock,
    caplog: pytest.LogCaptureFixture,
    kind: type[Exception],
    back: str,
) -> None:
    told = list[str]()
    store.hold()
    journal.fails(kind("disk is full"))
    async with batcher_to(store, journal, pace=Pace(remind=10.0)) as batcher:
        put(batcher, 1)
        batcher.open.when_stored("1", lambda: told.append("1"))
        await trio.sleep(15.1)
        assert (told, batcher.open.is_open("1")) == ([], True)
        assert (batcher.open.held, batcher.open.behind) == (True, True)
        text = (
            "neither the database nor the journal has taken results for %s s; 1 wait, and their players, too"
        )
        held = [line for line in messages(caplog) if line.startswith("neither")]
        assert held == [f"{text % seconds}: disk is full" for seconds in ("0.0", "10.0")]
        if back == "journal":
            journal.fails(Exception(), 0)
        else:
            store.let_go.set()
        await trio.sleep(0.6)
        assert (told, batcher.open.is_open("1")) == (["1"], False)
        assert (batcher.open.held, batcher.open.behind) == (False, back == "journal")
        assert "results are sent again after" in caplog.text
        store.let_go.set()


async def test_journal_that_is_not_needed_is_not_started(
    store: FakeStore, journal: FakeJournal, autojump_clock: MockClock
) -> None:
    async with batcher_to(store, journal) as batcher:
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


async def test_what_other_runs_have_left_is_stored_at_the_start_and_looked_for_now_and_then(
    store: FakeStore, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    store.left = [TakenUp(True, 200, 5, 1), TakenUp(True, 3, 3), TakenUp(False)]
    async with batcher_to(store, pace=Pace(look=10.0)):
        await trio.sleep(1)
        assert messages(caplog) == [
            "203 results of the journal are in the database: 8 are new, 1 replaced a game without a result"
        ]
        looks = store.looks
        await trio.sleep(30)
        assert store.looks == looks + 3
    assert len(messages(caplog)) == 1


async def test_look_for_journals_that_fails_is_tried_again_after_a_while(
    store: FakeStore, autojump_clock: MockClock
) -> None:
    store.fails(StoreError("no database"), 2, "take_up")
    async with batcher_to(store, pace=Pace(retry=0.5)) as batcher:
        await trio.sleep(0.9)
        assert (store.looks, batcher.errors["passing"]) == (2, 2)
        await trio.sleep(0.2)
        assert store.looks == 3


async def test_lines_of_a_journal_that_are_refused_are_logged_and_so_is_one_that_cannot_be_read(
    store: FakeStore, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    refused = [(number, "no game") for number in range(1, 23)]
    store.left = [
        TakenUp(True, 1, 1, 0, ["game 7 differs"], refused, "x.jsonl.refused"),
        TakenUp(False, detail="x: Input/output error"),
    ]
    async with batcher_to(store) as batcher:
        await trio.sleep(1)
        assert batcher.errors["journal"] == 1
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


async def test_journal_is_taken_up_when_no_game_is_on_its_way_there_and_evidence_after_it(
    store: FakeStore, journal: FakeJournal, autojump_clock: MockClock
) -> None:
    store.hold()
    async with batcher_to(store, journal, pace=Pace(look=1000.0)) as batcher:
        put(batcher, 1)
        await trio.sleep(1.5)
        put(batcher, 2)
        await trio.sleep(1.2)
        batcher.add(enclosure(1))
        journal.hold()
        await trio.sleep(1.0)  # now the other one is on its way to the journal
        store.let_go.set()
        await trio.sleep(0.1)
        assert (batcher.open.journaled, store.enclosed) == (1, [])
        store.left = [TakenUp(True, 1, 1), TakenUp(True, 1), TakenUp(False)]
        journal.let_go.set()
        await trio.sleep(2.0)
        assert (journal.has, batcher.open.waiting, store.enclosed) == ([1, 2], 0, [1])


@pytest.mark.parametrize("is_under_way", [False, True])
async def test_results_are_cleared_with_those_that_the_journal_has_or_is_about_to_have(
    store: FakeStore, journal: FakeJournal, autojump_clock: MockClock, is_under_way: bool
) -> None:
    store.hold()
    if is_under_way:
        journal.hold()
    async with batcher_to(store, journal) as batcher:
        put(batcher, 1)
        await trio.sleep(3)
        request = batcher.clear()
        closed, looks = journal.times_closed, store.looks
        store.left = [TakenUp(True, 1, 1)]
        store.let_go.set()
        if is_under_way:
            await trio.sleep(1)
            assert journal.times_closed == closed
            journal.let_go.set()
        await request.result()
        assert (store.left, batcher.open.journaled) == ([], 0)
        assert store.looks > looks + 1


@pytest.mark.parametrize("journal_says", ["taken", "failed", "refused"])
async def test_shared_game_on_its_way_to_the_journal_ends_as_it_is_there_or_else_as_it_is_stored(
    store: FakeStore, journal: FakeJournal, autojump_clock: MockClock, journal_says: str
) -> None:
    store.is_otherwise = True
    store.hold()
    journal.hold()
    async with batcher_to(store, journal) as batcher:
        put(batcher, 1)
        await journal.reached.wait()
        store.let_go.set()
        await trio.sleep(0.1)
        assert batcher.open.is_open("1")
        if journal_says == "failed":
            journal.fails(StoreError("disk is full"), 1)
        elif journal_says == "refused":
            journal.refuses = {1}
        journal.let_go.set()
        await stored(batcher.open, "1")
        assert (batcher.open.take_otherwise("1") is None) is (journal_says == "taken")


async def test_game_that_the_journal_will_never_take_keeps_no_other_and_is_not_told(
    store: FakeStore, journal: FakeJournal, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    store.fails(StoreError("no database"))
    journal.refuses = {2}
    async with batcher_to(store, journal, limit=1.0) as batcher:
        put(batcher, 1, 2, 3)
        await trio.sleep(3)
        assert batcher.open.journaled == 2
        assert [batcher.open.is_open(str(number)) for number in (1, 2, 3)] == [False, True, False]
    assert journal.has == [1, 3]
    assert {*unstored(caplog)} == {2}
    assert "the journal will never take a result: too large" in messages(caplog)


# Failures.


async def test_store_that_fails_is_tried_again_until_it_is_back(
    store: FakeStore, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    store.fails(StoreError("database is locked"), 3)
    async with batcher_to(store, bounds=Bounds(patience=60.0), pace=Pace(retry=0.5, linger=0.0)) as batcher:
        start = trio.current_time()
        put(batcher, 1)
        batcher.add(enclosure(1))
        put(batcher, 2)
        await stored(batcher.open, "1")
        assert trio.current_time() - start == pytest.approx(1.5)
    assert batcher.errors == {"passing": 3, "refused": 0, "tidying": 0, "journal": 0}
    assert (store.batches, sum(batcher.commits.counts())) == ([([1, 2], [1])], 1)
    first, last = caplog.records
    assert (first.levelno, last.levelno) == (logging.ERROR, logging.WARNING)
    assert "2 results wait: database is locked" in first.getMessage()
    assert "2 results that waited are stored, 0 are next" in last.getMessage()


async def test_game_at_fault_stays_in_the_journal_and_everything_else_is_stored(
    store: FakeStore, journal: FakeJournal, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    store.refuses, store.damaged = {4}, {6}
    async with batcher_to(store, journal) as batcher:
        put(batcher, *range(9))
        for number in (4, 6, 8):
            batcher.add(enclosure(number))
        await stored(batcher.open, "8")
        assert batcher.open.is_open("4")
        await stored(batcher.open, "4")
        assert journal.has == [4]
        assert batcher.errors["refused"] == 2
    assert store.stored == [0, 1, 2, 3, 5, 6, 7, 8]
    assert store.enclosed == [4, 8]  # the database drops that of a game that is not there
    assert unstored(caplog) == [4]
    said = messages(caplog)
    assert "the database will never take a result: too large" in said
    assert "the database will never take evidence: damaged" in said
    assert "evidence of 1 players' games is not stored" in said


@pytest.mark.parametrize("asked", ["write", "take_up"])
async def test_mistake_of_ours_costs_no_result_and_does_not_end_the_storing(
    store: FakeStore, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture, asked: str
) -> None:
    store.fails(RuntimeError("it is mistaken"), 2, asked)
    async with batcher_to(store, pace=Pace(look=10.0)) as batcher:
        put(batcher, 1, 2)
        await stored(batcher.open, "2")
        put(batcher, 3)
        await stored(batcher.open, "3")
        await trio.sleep(25)
    assert store.stored == [1, 2, 3]
    assert messages(caplog)[0] == "storing results has failed, and is tried again: it is mistaken"
    assert store.looks == 3  # so that a mistake in one is not met again at once


async def test_batch_that_meets_a_mistake_of_ours_holds_up_others_only_until_the_journal_has_its_games(
    store: FakeStore, journal: FakeJournal, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    store.mistaken = {2}
    async with batcher_to(store, journal, bounds=Bounds(evidence=len(enclosure(2).exchange))) as batcher:
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
    store: FakeStore, autojump_clock: MockClock
) -> None:
    store.untidy = 3
    async with batcher_to(store, pace=Pace(tidy=3600.0)):
        await trio.sleep(1)
        assert store.untidy == 0
        await trio.sleep(3600)
        assert store.untidy == -1


@pytest.mark.parametrize("kind", [StoreError, ValueError])
async def test_tidying_that_fails_stops_nothing(
    store: FakeStore, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture, kind: type[Exception]
) -> None:
    store.fails(kind("database is locked"), asked="tidy")
    async with batcher_to(store) as batcher:
        await trio.sleep(1)
        put(batcher, 1)
    assert store.stored == [1]
    assert messages(caplog) == ["the database could not be tidied up: database is locked"]
    assert batcher.errors["tidying"] == 1


async def test_tidying_does_not_hold_up_the_end(
    store: FakeStore, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    store.hold()
    async with batcher_to(store, limit=1.5):
        start = trio.current_time()
        await trio.sleep(1)
    assert trio.current_time() - start == pytest.approx(2.5)
    assert messages(caplog) == []


# Requests.


async def test_results_are_cleared_after_the_games_that_came_before(
    store: FakeStore, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    async with batcher_to(store) as batcher:
        put(batcher, 1, 2)
        request = batcher.clear()
        put(batcher, 3)
        assert await request.result() == Cleared(2, 2)
        assert not request.withdraw()
    assert store.stored == [1, 2, 3]
    assert "all results are cleared: 2 games of 2 players" in messages(caplog)


async def test_request_can_be_withdrawn_until_it_is_begun(
    store: FakeStore, autojump_clock: MockClock
) -> None:
    store.hold()
    async with batcher_to(store) as batcher:
        put(batcher, 1)
        with trio.move_on_after(0.1):
            await batcher.clear().result()
        withdrawn = batcher.clear()
        assert withdrawn.withdraw()
        assert withdrawn.withdraw()
        with pytest.raises(StoreError, match="withdrawn"):
            await withdrawn.result()
        store.let_go.set()
        await stored(batcher.open, "1")
        store.hold()
        begun = batcher.clear()
        await store.reached.wait()
        assert not begun.withdraw()
        store.let_go.set()
        assert await begun.result() == Cleared(1, 2)


async def numbers_in(store: FakeStore) -> list[int]:
    """Return the games that are stored; the work of a request."""
    await store.answers("numbers")
    return store.stored


@pytest.mark.parametrize("failures", [0, 3])
async def test_request_is_carried_out_after_the_games_before_it_and_before_those_after_it(
    store: FakeStore, autojump_clock: MockClock, failures: int
) -> None:
    store.fails(StoreError("no database"), times=failures)
    async with batcher_to(store) as batcher:
        put(batcher, 1, 2)
        one = batcher.ask(numbers_in)
        put(batcher, 3)
        other = batcher.ask(numbers_in)
        put(batcher, 4)
        assert await other.result() == [1, 2, 3]
        assert [await one.result() for _ in range(2)] == [[1, 2], [1, 2]]


async def test_games_in_journals_are_stored_before_each_request(
    store: FakeStore, autojump_clock: MockClock
) -> None:
    async def left(store: FakeStore) -> int:
        await trio.lowlevel.checkpoint()
        return len(store.left)

    async with batcher_to(store, pace=Pace(look=1000.0)) as batcher:
        for _ in range(2):
            store.left = [TakenUp(True, 1, 1), TakenUp(True, 1), TakenUp()]
            assert await batcher.ask(left).result() == 0


async def test_request_that_fails_is_not_tried_again_and_delays_no_other(
    store: FakeStore, autojump_clock: MockClock
) -> None:
    store.fails(StoreError("no database"), times=1, asked="numbers")
    async with batcher_to(store) as batcher:
        requests = [batcher.ask(numbers_in) for _ in range(3)]
        start = trio.current_time()
        for request, is_first in zip(requests, (True, False, False), strict=True):
            with pytest.raises(StoreError, match="no database") if is_first else nullcontext():
                assert await request.result() == []
        assert trio.current_time() == start


async def test_request_that_is_begun_is_finished_although_the_one_who_asked_gives_up(
    store: FakeStore, autojump_clock: MockClock
) -> None:
    store.hold()
    async with batcher_to(store) as batcher:
        request = batcher.ask(numbers_in)
        await store.reached.wait()
        with trio.move_on_after(1) as gives_up:
            await request.result()
        assert (gives_up.cancelled_caught, request.is_open) == (True, False)
        store.let_go.set()
        assert await request.result() == []


@pytest.mark.parametrize("kind", [StoreError, ValueError])
async def test_error_of_a_request_is_for_the_one_who_asked(
    store: FakeStore, autojump_clock: MockClock, kind: type[Exception]
) -> None:
    store.fails(kind("database is locked"), asked="clear")
    async with batcher_to(store) as batcher:
        with pytest.raises(StoreError, match="database is locked"):
            await batcher.clear().result()
        put(batcher, 2)
    assert store.stored == [2]


# The end.


async def test_cancelled_server_stores_what_waits(store: FakeStore, autojump_clock: MockClock) -> None:
    with trio.CancelScope() as scope:
        async with batcher_to(store) as batcher:
            put(batcher, 1)
            scope.cancel()
    assert store.stored == [1]


@pytest.mark.parametrize("trouble", ["fails", "hangs"])
@pytest.mark.parametrize("is_journaled", [True, False])
async def test_what_is_not_stored_in_time_at_the_end_is_journaled_or_else_logged_and_not_told(
    store: FakeStore,
    journal: FakeJournal,
    autojump_clock: MockClock,
    caplog: pytest.LogCaptureFixture,
    trouble: str,
    is_journaled: bool,
) -> None:
    told = list[str]()
    if trouble == "hangs":
        store.hold()
    store.fails(StoreError("no database"))
    if not is_journaled:
        journal.fails(StoreError("disk is full"))
    async with batcher_to(store, journal, bounds=Bounds(patience=60.0)) as batcher:
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
    assert (told, store.stored) == (["2"] if is_journaled else [], [])
    assert "evidence of 2 players' games is not stored" in messages(caplog)
    left = "420 results are in the journal; the next start of the server stores them"
    assert (left in messages(caplog)) is is_journaled


async def test_journal_that_was_cut_off_at_the_end_is_asked_anew(
    store: FakeStore, journal: FakeJournal, autojump_clock: MockClock
) -> None:
    store.fails(StoreError("no database"))
    journal.hold()
    async with batcher_to(store, journal) as batcher:
        put(batcher, 1)
        await journal.reached.wait()
        closed = journal.times_closed
        await batcher.close(1.0)
        assert journal.times_closed == closed + 2
    assert journal.has == []


async def test_close_leaves_nobody_waiting_for_a_request(store: FakeStore, autojump_clock: MockClock) -> None:
    store.hold()
    async with batcher_to(store, limit=1.5) as batcher:
        requests = [batcher.clear(), batcher.clear()]
        await store.reached.wait()
    for request, why in zip(requests, ("the store is closed", "it was withdrawn"), strict=True):
        with pytest.raises(StoreError, match=why):
            await request.result()


async def test_closed_batcher_logs_games_counts_evidence_and_refuses_requests(
    store: FakeStore, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    async with batcher_to(store) as batcher:
        pass
    put(batcher, 9)
    assert unstored(caplog) == [9]
    assert batcher.open.is_open("9")
    batcher.add(enclosure(9))
    assert "evidence is left out" in messages(caplog)[-1]
    with pytest.raises(StoreError, match="closed"):
        batcher.clear()
    assert store.batches == []
