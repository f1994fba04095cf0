"""Who thinks when, for how long, and what becomes of a thought that nobody waits for."""

import multiprocessing
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
import trio
import trio_parallel

from adapters.house.thinking import PATIENCE, Thinker
from gateway.board import Board

LONG = 1e6


class Workers:
    """Worker processes of which each thought takes a second, or whatever the test says."""

    def __init__(self) -> None:
        self.thoughts: list[tuple[str, float]] = []
        self.takes = 1.0

    async def run_sync(self, _think: Callable[..., int], *args: object, **_options: object) -> int:
        engine, _, budget = args
        assert isinstance(engine, str)
        assert isinstance(budget, float)
        self.thoughts.append((engine, budget))
        await trio.sleep(self.takes)
        return 6

    @property
    def budgets(self) -> list[float]:
        return [budget for _, budget in self.thoughts]


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> Workers:
    found = Workers()
    monkeypatch.setattr(trio_parallel, "run_sync", found.run_sync)
    return found


@asynccontextmanager
async def busy(thinker: Thinker, workers: Workers, games: int = 1) -> AsyncIterator[None]:
    """Let that many games without a clock think, and wait, in whose moves nobody is in a hurry."""
    async with trio.open_nursery() as nursery:
        for _ in range(games):
            nursery.start_soon(thinker.column, "aima10", Board(), None)
        await trio.testing.wait_all_tasks_blocked()
        yield
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize(
    ("idle", "rest", "seconds"), [(LONG, 40.0, 2.0), (LONG, None, PATIENCE), (20.0, None, 10.0)]
)
async def test_move_takes_a_twentieth_of_the_rest_or_half_of_the_limit(
    workers: Workers, autojump_clock: object, idle: float, rest: float | None, seconds: float
) -> None:
    assert await Thinker(1, idle).column("aima", Board(), rest) == 6
    assert workers.budgets == [seconds]


@pytest.mark.parametrize(("games", "part"), [(1, 1.0), (2, 1 / 2), (3, 1 / 3), (4, 1 / 4)])
async def test_time_to_think_shrinks_with_those_who_wait(
    workers: Workers, autojump_clock: object, games: int, part: float
) -> None:
    thinker = Thinker(2, LONG)
    async with busy(thinker, workers, games):
        await thinker.column("aima", Board(), 400.0)
    assert dict(workers.thoughts)["aima"] == pytest.approx(20.0 * part)


async def test_waiting_counts_as_thinking(workers: Workers, autojump_clock: object) -> None:
    thinker = Thinker(1, LONG)
    workers.takes = 1.5
    async with busy(thinker, workers):
        await thinker.column("aima", Board(), 40.0)
    assert workers.budgets[1] == pytest.approx(0.5)


@pytest.mark.parametrize(("idle", "rest", "seconds"), [(LONG, 40.0, 2.0), (20.0, None, 10.0)])
async def test_who_gets_no_worker_in_time_plays_at_a_glance(
    workers: Workers, autojump_clock: object, idle: float, rest: float | None, seconds: float
) -> None:
    thinker = Thinker(1, idle)
    workers.takes = LONG
    board = Board().drop(0).drop(3).drop(0).drop(3).drop(0)
    async with busy(thinker, workers):
        start = trio.current_time()
        assert await thinker.column("aima", board, rest) == 0
        assert trio.current_time() - start == pytest.approx(seconds)


async def test_perfect_player_would_rather_be_late_than_wrong(
    workers: Workers, autojump_clock: object
) -> None:
    thinker = Thinker(1, LONG)
    workers.takes = 50.0
    async with busy(thinker, workers):
        assert await thinker.column("perfect", Board(), 40.0) == 6


async def test_thought_that_has_begun_is_not_cut_short(workers: Workers, autojump_clock: object) -> None:
    workers.takes = 50.0
    assert await Thinker(1, LONG).column("aima", Board(), 40.0) == 6


async def test_random_player_needs_no_worker(workers: Workers, autojump_clock: object) -> None:
    thinker = Thinker(1, LONG)
    async with busy(thinker, workers):
        assert await thinker.column("random", Board(), 40.0) in range(7)
    assert len(workers.thoughts) == 1


async def test_search_that_nobody_waits_for_is_killed() -> None:
    """With a process of the real kind."""
    thinker = Thinker(1, LONG)
    before = set(multiprocessing.active_children())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(thinker.column, "aima10", Board(), None)
        with trio.fail_after(30):
            while not set(multiprocessing.active_children()) - before:  # noqa: ASYNC110  nobody tells
                await trio.sleep(0.01)
        nursery.cancel_scope.cancel()
        start = trio.current_time()
    assert trio.current_time() - start < 5
    assert set(multiprocessing.active_children()) <= before
    assert await thinker.column("aimafast", Board(), 1.0) == 3
