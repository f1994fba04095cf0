"""Positions, worked out one after the other."""

import multiprocessing
from collections.abc import Callable
from operator import itemgetter

import pytest
import trio
import trio.testing
from game_records import FOUR, drawn, game
from worlds.server import PATIENCE

from adapters.web.perfect import GAME_LIMIT, KEPT, WAITING, BusyError, Perfect, Scores, Solver, as_object
from gateway.game.events import Reason

EVEN: Scores = dict.fromkeys(range(7), 0)


class Work:
    """A solver that takes `seconds` for a position, and notes for which it was asked."""

    def __init__(self, seconds: Callable[[str], float] = lambda _: 0.0) -> None:
        self.seconds = seconds
        self.asked: list[str] = []

    async def __call__(self, columns: str) -> Scores:
        self.asked.append(columns)
        await trio.sleep(self.seconds(columns))
        return EVEN


async def test_every_position_that_is_not_over_is_worked_out_from_the_end() -> None:
    work = Work()
    assert await Perfect(work).scores(game()) == [EVEN] * 7
    assert work.asked == [FOUR[:count] for count in range(6, -1, -1)]
    assert len(await Perfect(work).scores(game(moves="33", reason=Reason.LEFT))) == 3
    assert len(await Perfect(work).scores(drawn())) == 42


async def test_what_was_found_is_not_worked_out_again() -> None:
    work = Work()
    solver = Perfect(work)
    for _ in range(2):
        await solver.scores(game())
    assert len(work.asked) == 7


async def test_games_that_nobody_asked_for_lately_are_forgotten() -> None:
    work = Work()
    solver = Perfect(work)
    numbers = [*range(KEPT), 0, KEPT, 0, 1]
    for number in numbers:
        await solver.scores(game(game=str(number)))
    assert len(work.asked) == 7 * (len(numbers) - 2)


async def test_what_is_not_found_in_time_is_left_open_until_it_is_asked_for_again(
    autojump_clock: object,
) -> None:
    work = Work(lambda columns: GAME_LIMIT if columns == "010" else 1.0)
    solver = Perfect(work)
    begun = trio.current_time()
    assert await solver.scores(game()) == [None, None, None, None, EVEN, EVEN, EVEN]
    assert trio.current_time() - begun == pytest.approx(GAME_LIMIT)
    work.seconds = lambda _: 1.0
    work.asked.clear()
    assert await solver.scores(game()) == [EVEN] * 7
    assert work.asked == ["010", "01", "0", ""]


async def test_few_wait_and_the_next_is_told_so(autojump_clock: object) -> None:
    solver = Perfect(Work(lambda _: 1.0))
    async with trio.open_nursery() as nursery:
        for number in range(1 + WAITING):
            nursery.start_soon(solver.scores, game(game=str(number)))
        await trio.testing.wait_all_tasks_blocked()
        with pytest.raises(BusyError):
            await solver.scores(game(game="last"))


async def test_who_is_sent_away_costs_nobody_what_was_found(autojump_clock: object) -> None:
    work = Work(lambda _: 1.0)
    solver = Perfect(work)
    await solver.scores(game(game="found"))
    async with trio.open_nursery() as nursery:
        for number in range(1 + WAITING):
            nursery.start_soon(solver.scores, game(game=str(number)))
        await trio.testing.wait_all_tasks_blocked()
        for number in range(KEPT):
            with pytest.raises(BusyError):
                await solver.scores(game(game=f"{number} of many"))
        asked = len(work.asked)
        assert await solver.scores(game(game="found")) == [EVEN] * 7
        assert len(work.asked) == asked


async def test_who_waits_for_the_same_game_gets_what_was_found_meanwhile(autojump_clock: object) -> None:
    work = Work(lambda _: 1.0)
    solver = Perfect(work)
    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(solver.scores, game())
    assert len(work.asked) == 7


async def test_without_a_worker_positions_are_left_open() -> None:
    async def lost(_: str) -> Scores:
        raise OSError("no more processes")

    assert await Perfect(lost).scores(game()) == [None] * 7


def test_worth_is_said_with_the_move_that_ends_the_game() -> None:
    found = as_object("", [{0: 18, 1: -18, 2: 0}])
    assert found["positions"][0][:4] == [
        {"result": "win", "at": 7},
        {"result": "lose", "at": 8},
        {"result": "draw", "at": None},
        None,
    ]


def test_game_turns_where_a_better_column_was_left() -> None:
    open_to_all: Scores = {0: 3, 1: 0, 2: -2}
    found = as_object("01201", [open_to_all, open_to_all, open_to_all, None, {1: -2, 2: -1}])
    assert found["turned"] == [
        {"move": 2, "was": "win", "became": "draw", "better": [0]},
        {"move": 3, "was": "win", "became": "lose", "better": [0]},
    ]


async def test_position_is_worked_out_in_another_process_which_ends_with_those_who_ask() -> None:
    pytest.importorskip("bitbully", reason="the solver of the extra 'perfect' is not installed")
    async with trio.open_nursery() as nursery:
        solver = Solver()
        nursery.start_soon(solver.run)
        assert max((await solver.scores("010101")).items(), key=itemgetter(1)) == (0, 18)
        (process,) = multiprocessing.active_children()
        nursery.cancel_scope.cancel()
    process.join(PATIENCE)
    assert process.exitcode is not None
