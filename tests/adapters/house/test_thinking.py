"""Who thinks when, for how long, and what becomes of a thought that nobody waits for."""

import errno
import multiprocessing
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from multiprocessing.process import BaseProcess as Process

import pytest
import trio
import trio.testing
import trio_parallel

from adapters.house.thinking import LONGEST, TRIES, Thinker
from adapters.house.worker import think
from gateway.game.board import Board
from gateway.game.clock import Terms
from gateway.game.commands import HOUSE_PLAYERS
from gateway.matchmaking.matchmaker import Opponent
from gateway.runtime.throttle import LOG_PERIOD

LONG = 1e6
PATIENCE = 60.0
"""Seconds of this machine's own, after which a test has failed; nothing here takes long."""
OURS = Opponent("192.0.2.1", "ann", clocked=False)
CLOCKED = Opponent("192.0.2.1", "ann", clocked=True)
OTHER = Opponent("192.0.2.2", "bob", clocked=False)
FIRST_HAS_WON = Board().drop(0).drop(3).drop(0).drop(3).drop(0)
"""Whoever is to move has to play the leftmost column."""


class Workers:
    """Worker processes of which each thought takes a second, or whatever the test says."""

    def __init__(self) -> None:
        self.thoughts: list[tuple[str, float]] = []
        self.takes = 1.0
        self.dies = 0
        """So many thoughts lose their worker at their end."""
        self.refusal: Exception | None = None
        """What is said instead of starting a worker."""

    async def run_sync(self, _think: Callable[..., int], *args: object, **_options: object) -> int:
        engine, _, budget = args
        assert isinstance(engine, str)
        assert isinstance(budget, float)
        self.thoughts.append((engine, budget))
        if self.refusal is not None:
            raise self.refusal
        await trio.sleep(self.takes)
        if self.dies:
            self.dies -= 1
            raise trio_parallel.BrokenWorkerError("killed")
        return 6

    @property
    def budgets(self) -> list[float]:
        return [budget for _, budget in self.thoughts]


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> Workers:
    found = Workers()
    monkeypatch.setattr(trio_parallel, "run_sync", found.run_sync)
    return found


def thinking(workers: int = 1, idle: float = LONG, clock: float = 42.0) -> Thinker:
    return Thinker(workers, Terms(clock=clock, idle=idle))


@asynccontextmanager
async def busy(thinker: Thinker, games: int = 1, engine: str = "aima10") -> AsyncIterator[None]:
    """Let that many games without a clock think, and wait, in whose moves nobody is in a hurry."""
    async with trio.open_nursery() as nursery:
        for _ in range(games):
            nursery.start_soon(thinker.column, thinker.begin(engine, OTHER), Board(), None)
        await trio.testing.wait_all_tasks_blocked()
        yield
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize(
    ("idle", "rest", "seconds"), [(LONG, 40.0, 2.0), (LONG, None, LONGEST), (20.0, None, 10.0)]
)
async def test_move_takes_a_twentieth_of_the_rest_or_half_of_the_limit(
    workers: Workers, autojump_clock: object, idle: float, rest: float | None, seconds: float
) -> None:
    thinker = thinking(idle=idle)
    assert await thinker.column(thinker.begin("aima", OURS), Board(), rest) == 6
    assert workers.budgets == [seconds]


@pytest.mark.parametrize(("games", "part"), [(1, 1.0), (2, 1 / 2), (3, 1 / 3), (4, 1 / 4)])
async def test_time_to_think_shrinks_with_those_who_wait(
    workers: Workers, autojump_clock: object, games: int, part: float
) -> None:
    thinker = thinking(2)
    async with busy(thinker, games):
        await thinker.column(thinker.begin("aima10", OURS), Board(), 400.0)
    assert pytest.approx(20.0 * part) in workers.budgets


async def test_waiting_counts_as_thinking(workers: Workers, autojump_clock: object) -> None:
    thinker = thinking()
    workers.takes = 1.5
    async with busy(thinker):
        await thinker.column(thinker.begin("aima10", OURS), Board(), 40.0)
    assert workers.budgets[1] == pytest.approx(0.5)


@pytest.mark.parametrize(("idle", "rest", "seconds"), [(LONG, 40.0, 2.0), (20.0, None, 10.0)])
async def test_who_gets_no_worker_in_time_plays_at_a_glance(
    workers: Workers, autojump_clock: object, idle: float, rest: float | None, seconds: float
) -> None:
    thinker = thinking(idle=idle)
    workers.takes = LONG
    async with busy(thinker):
        start = trio.current_time()
        assert await thinker.column(thinker.begin("aima10", OURS), FIRST_HAS_WON, rest) == 0
        assert trio.current_time() - start == pytest.approx(seconds)


async def test_perfect_player_would_rather_be_late_than_wrong(
    workers: Workers, autojump_clock: object
) -> None:
    thinker = thinking()
    workers.takes = 50.0
    async with busy(thinker, engine="aima"):
        assert await thinker.column(thinker.begin("perfect", OURS), Board(), 40.0) == 6
    assert trio.current_time() >= 100.0


async def test_random_player_needs_no_worker(workers: Workers, autojump_clock: object) -> None:
    thinker = thinking()
    async with busy(thinker):
        assert await thinker.column(thinker.begin("random", OURS), Board(), 40.0) in range(7)
    assert len(workers.thoughts) == 1


@pytest.mark.parametrize(
    ("engine", "opponent"), [("aimafast", OURS), ("aimafast", CLOCKED), ("aima", OURS), ("aima10", CLOCKED)]
)
async def test_short_move_does_not_wait_for_long_ones(
    workers: Workers, autojump_clock: object, engine: str, opponent: Opponent
) -> None:
    thinker = thinking()
    workers.takes = 10.0
    async with busy(thinker, games=200):
        start = trio.current_time()
        workers.takes = 0.5
        await thinker.column(thinker.begin(engine, opponent), Board(), 42.0 if opponent.clocked else None)
        assert trio.current_time() - start == pytest.approx(0.5)


# Who is refused.


def games_that_fit(thinker: Thinker, engine: str, opponent: Opponent) -> int:
    """Begin games until one more does not fit; return how many those are."""
    games = 0
    while thinker.fits(engine, opponent):
        thinker.begin(engine, opponent)
        games += 1
    return games


@pytest.mark.parametrize(
    ("engine", "opponent", "games"),
    [
        ("aima10", OURS, 3),
        ("aima", OURS, 20),
        ("aimafast", OURS, 1000),
        ("aima10", CLOCKED, 4),
        ("aima", CLOCKED, 4),
        ("aimafast", CLOCKED, 210),
    ],
)
def test_client_gets_as_many_games_as_can_be_thought_about(
    engine: str, opponent: Opponent, games: int
) -> None:
    assert games_that_fit(thinking(), engine, opponent) == pytest.approx(games, abs=1)


@pytest.mark.parametrize("engine", sorted(HOUSE_PLAYERS))
@pytest.mark.parametrize("opponent", [OURS, CLOCKED])
@pytest.mark.parametrize("terms", [Terms(), Terms(clock=0.01, idle=0.01), Terms(clock=1e5, idle=1e5)])
def test_one_game_always_fits(engine: str, opponent: Opponent, terms: Terms) -> None:
    assert Thinker(1, terms).fits(engine, opponent)


def test_more_workers_play_more_games() -> None:
    assert games_that_fit(thinking(4), "aima10", OURS) == 12


@pytest.mark.parametrize("engine", sorted(HOUSE_PLAYERS))
def test_client_with_all_games_that_it_can_get_leaves_another_its_own(engine: str) -> None:
    thinker = thinking()
    games_that_fit(thinker, engine, OURS)
    assert not thinker.fits(engine, OURS)
    assert thinker.fits(engine, OTHER)


def test_names_of_one_address_are_no_way_around_the_limit() -> None:
    thinker = thinking()
    games = 0
    while thinker.fits("aima", opponent := Opponent(OURS.origin, f"name{games}", clocked=False)):
        thinker.begin("aima", opponent)
        games += 1
    assert games == 20
    assert thinker.fits("aima", OTHER)


def test_game_that_is_over_makes_room_for_one() -> None:
    thinker = thinking()
    game = thinker.begin("aima10", OURS)
    games_that_fit(thinker, "aima10", OURS)
    thinker.end(game)
    assert thinker.fits("aima10", OURS)


async def test_thought_whose_workers_are_lost_again_and_again_is_a_glance(
    workers: Workers, autojump_clock: object, caplog: pytest.LogCaptureFixture
) -> None:
    thinker = thinking()
    workers.dies = TRIES
    assert await thinker.column(thinker.begin("aima", OURS), FIRST_HAS_WON, 40.0) == 0
    assert len(workers.thoughts) == thinker.lost == TRIES
    assert len(caplog.records) == 1


@pytest.mark.parametrize(
    "refusal", [OSError(errno.EMFILE, "Too many open files"), ImportError("cannot open shared object file")]
)
async def test_engine_whose_worker_cannot_be_started_plays_at_a_glance(
    workers: Workers, autojump_clock: object, caplog: pytest.LogCaptureFixture, refusal: Exception
) -> None:
    thinker = thinking()
    workers.refusal = refusal
    game = thinker.begin("aima", OURS)
    for _ in range(10):
        assert await thinker.column(game, FIRST_HAS_WON, 40.0) == 0
        await trio.sleep(LOG_PERIOD / 5)
    assert len(caplog.records) == 2
    workers.refusal = None
    assert await thinker.column(game, Board(), 40.0) == 6


async def test_new_try_has_what_is_left_of_the_time(workers: Workers, autojump_clock: object) -> None:
    thinker = thinking()
    workers.dies = 1
    assert await thinker.column(thinker.begin("aima", OURS), Board(), 40.0) == 6
    assert workers.budgets == [2.0, pytest.approx(1.0)]


# Workers of the real kind.


@asynccontextmanager
async def searching(thinker: Thinker, found: list[int]) -> AsyncIterator[Process]:
    """Let a worker of its own think about a move; give its process."""
    before = {*multiprocessing.active_children()}

    async def think() -> None:
        found.append(await thinker.column(thinker.begin("aima10", OURS), Board(), None))

    with trio.fail_after(PATIENCE):
        async with trio_parallel.cache_scope(), trio.open_nursery() as nursery:
            nursery.start_soon(think)
            while not (new := {*multiprocessing.active_children()} - before):  # noqa: ASYNC110
                await trio.sleep(0.01)
            [process] = new
            yield process
            nursery.cancel_scope.cancel()


async def test_search_that_nobody_waits_for_is_killed() -> None:
    async with searching(thinking(), []) as process:
        pass
    assert not process.is_alive()


async def test_worker_that_is_killed_costs_a_new_try(caplog: pytest.LogCaptureFixture) -> None:
    found = list[int]()
    async with searching(thinking(idle=2.0), found) as process:
        process.kill()
        while not found:  # noqa: ASYNC110
            await trio.sleep(0.01)
    assert found[0] in range(7)
    assert "a worker was lost while aima10 thought" in caplog.text


@pytest.mark.parametrize(("niceness", "then"), [(0, 10), (9, 10), (10, 10), (15, 15)])
def test_worker_gives_way_to_the_server_once(
    niceness: int, then: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = [niceness]

    def nice(step: int) -> int:
        steps.append(step)
        return sum(steps)

    monkeypatch.setattr(os, "nice", nice)
    for _ in range(2):
        think("random", FIRST_HAS_WON, 0.01)
        assert sum(steps) == then
