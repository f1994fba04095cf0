"""Positions, worked out one after the other, and what is said of them."""

import multiprocessing
from collections.abc import Callable
from itertools import islice, product
from operator import itemgetter

import pytest
import trio
import trio.testing
from game_records import FOUR, drawn, game
from web_world import Site, keep
from worlds.server import PATIENCE

from adapters.web.analysing import analyse_all
from adapters.web.perfect import KEPT, LIMIT, WAITING, BusyError, Perfect, as_object
from adapters.web.solver import Solver
from gateway.game.evaluation import Scores
from gateway.game.events import Reason
from gateway.store import analyses
from gateway.store.records import Solved

WORTH: list[Scores] = [dict.fromkeys(range(7), number) for number in range(43)]
"""The scores of a position by the number of moves before it."""


class Work:
    """A solver that takes `seconds` for a position, and notes for which it was asked."""

    def __init__(self, seconds: Callable[[str], float] = lambda _: 0.0) -> None:
        self.seconds = seconds
        self.asked: list[str] = []

    async def __call__(self, columns: str) -> Scores:
        self.asked.append(columns)
        await trio.sleep(self.seconds(columns))
        return WORTH[len(columns)]


def positions(number: int) -> list[str]:
    """Return as many different positions."""
    return ["".join(map(str, each)) for each in islice(product(range(7), repeat=6), number)]


async def test_every_position_that_is_not_over_is_worked_out_from_the_end() -> None:
    work = Work()
    assert await Perfect(work).game(game()) == WORTH[:7]
    assert work.asked == [FOUR[:count] for count in range(6, -1, -1)]
    assert len(await Perfect(work).game(game(moves="33", reason=Reason.LEFT))) == 3
    assert len(await Perfect(work).game(drawn())) == 42


async def test_what_was_found_is_not_worked_out_again_in_another_game_either() -> None:
    work = Work()
    solver = Perfect(work)
    for _ in range(2):
        await solver.game(game())
    await solver.game(game(game="2", moves="01012", reason=Reason.LEFT))
    assert work.asked[7:] == ["01012"]


async def test_positions_that_nobody_asked_for_lately_are_forgotten() -> None:
    work = Work()
    solver = Perfect(work)
    first, *others = positions(KEPT + 1)
    await solver.positions([first])
    for each in (others[:-1], [first], others[-1:], [first]):
        await solver.positions(each)
    assert len(work.asked) == KEPT + 1
    await solver.positions(others[-2:-1])
    assert len(work.asked) == KEPT + 2


async def test_what_is_not_found_in_time_is_left_open_until_it_is_asked_for_again(
    autojump_clock: object,
) -> None:
    work = Work(lambda columns: LIMIT if columns == "010" else 1.0)
    solver = Perfect(work)
    begun = trio.current_time()
    assert await solver.game(game()) == [*[None] * 4, *WORTH[4:7]]
    assert trio.current_time() - begun == pytest.approx(LIMIT)
    work.seconds = lambda _: 1.0
    work.asked.clear()
    assert await solver.game(game()) == WORTH[:7]
    assert work.asked == ["010", "01", "0", ""]


async def test_few_wait_and_the_next_is_told_so_unless_all_is_known(autojump_clock: object) -> None:
    solver = Perfect(Work(lambda _: 1.0))
    *some, known = positions(2 + WAITING)
    await solver.positions([known])
    async with trio.open_nursery() as nursery:
        for each in some:
            nursery.start_soon(solver.positions, [each])
        await trio.testing.wait_all_tasks_blocked()
        with pytest.raises(BusyError):
            await solver.game(game())
        assert await solver.positions([known]) == [WORTH[6]]


async def test_who_waits_for_the_same_game_gets_what_was_found_meanwhile(autojump_clock: object) -> None:
    work, stored = Work(lambda _: 1.0), list[Solved]()

    async def store(solved: Solved) -> None:
        stored.append(solved)

    solver = Perfect(work, store)
    async with trio.open_nursery() as nursery:
        for _ in range(3 * WAITING):
            nursery.start_soon(solver.game, game())
    assert (len(work.asked), len(stored)) == (7, 1)
    assert trio.current_time() == pytest.approx(7, abs=0.5)


async def test_nobody_waits_longer_than_the_limit(autojump_clock: object) -> None:
    solver = Perfect(Work(lambda _: 2 * LIMIT))
    async with trio.open_nursery() as nursery:
        for each in positions(1 + WAITING):
            nursery.start_soon(solver.positions, [each])
    assert trio.current_time() == pytest.approx(LIMIT, abs=0.5)


async def test_without_a_worker_positions_are_left_open() -> None:
    async def lost(_: str) -> None:
        await trio.lowlevel.checkpoint()

    assert await Perfect(lost).game(game()) == [None] * 7
    assert not await Perfect(lost).analyse(game())


async def test_whole_games_are_stored_and_others_are_not(autojump_clock: object) -> None:
    work, stored = Work(lambda columns: LIMIT if columns == "" else 0.0), list[Solved]()

    async def store(solved: Solved) -> None:
        stored.append(solved)

    solver = Perfect(work, store)
    await solver.game(game())
    assert stored == []
    work.seconds = lambda _: 0.0
    await solver.game(game())
    assert [(each.game, each.moves, analyses.unpacked(each)) for each in stored] == [("1", FOUR, WORTH[:7])]


async def test_background_waits_for_who_asks_and_rests_as_long_as_it_works(autojump_clock: object) -> None:
    work, stored = Work(lambda _: 1.0), list[Solved]()

    async def store(solved: Solved) -> None:
        stored.append(solved)

    solver = Perfect(work, store)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(solver.analyse, game())
        await trio.testing.wait_all_tasks_blocked()
        await solver.positions(["6", "66", "666"])
        assert work.asked == ["010101", "666", "66", "6"]
    assert trio.current_time() == pytest.approx(7 * 2 - 1 + 3, abs=1.5)
    assert [analyses.unpacked(each) for each in stored] == [WORTH[:7]]


def test_worth_is_said_with_the_move_that_ends_the_game() -> None:
    found = as_object("0", [{0: 18, 1: -18, 2: 0}, None])
    assert found["positions"][1] is None
    assert found["positions"][0][:4] == [
        {"result": "win", "at": 7},
        {"result": "lose", "at": 8},
        {"result": "draw", "at": None},
        None,
    ]


async def test_analysis_that_is_stored_is_the_answer_and_nothing_is_worked_out(site: Site) -> None:
    keep(site.database, [game()])
    async with site.client() as client:
        first = (await client.get("/api/games/1/perfect")).json()
        with site.database.writing() as connection:
            analyses.store(connection, [(each, analyses.unpacked(each)) for each in site.analysed])
        site.worth = ZeroDivisionError()
        assert (await client.get("/api/games/1/perfect")).json() == first
    assert [position[0] for position in first["positions"]] == [{"result": "draw", "at": None}] * 7


async def test_games_are_analysed_in_the_background_the_newest_first(site: Site) -> None:
    keep(site.database, [game()] * 3)
    send, solved = trio.open_memory_channel[Solved](0)
    work = Work()
    site.show(perfect=Perfect(work, send.send))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(analyse_all, site.shown, 0.01)
        assert [(await solved.receive()).game for _ in range(2)] == ["3", "2"]
        keep(site.database, [game(moves="33", reason=Reason.LEFT)])
        assert {(await solved.receive()).game for _ in range(2)} == {"1", "4"}
        nursery.cancel_scope.cancel()
    assert len(work.asked) == 7 + 2


async def test_damaged_game_does_not_keep_the_others(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    keep(site.database, [game(), game(moves="33333333", reason=Reason.LEFT)])
    send, solved = trio.open_memory_channel[Solved](0)
    site.show(perfect=Perfect(Work(), send.send))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(analyse_all, site.shown, 0.01)
        assert (await solved.receive()).game == "1"
        nursery.cancel_scope.cancel()
    assert [each.getMessage() for each in caplog.records] == [
        "game 2 cannot be analysed: column 3 cannot be played"
    ]


async def test_game_that_the_solver_fails_at_does_not_keep_the_others(
    site: Site, autojump_clock: object
) -> None:
    keep(site.database, [game()] * 2)
    send, solved = trio.open_memory_channel[Solved](0)
    found = [WORTH[0], None]

    async def work(_: str) -> Scores | None:
        return found.pop() if len(found) > 1 else WORTH[0]

    site.show(perfect=Perfect(work, send.send))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(analyse_all, site.shown)
        assert (await solved.receive()).game == "1"
        nursery.cancel_scope.cancel()


async def test_position_is_worked_out_in_another_process_which_ends_with_those_who_ask() -> None:
    pytest.importorskip("bitbully", reason="the solver of the extra 'perfect' is not installed")
    async with trio.open_nursery() as nursery:
        solver = Solver()
        nursery.start_soon(solver.run)
        found = await solver.scores("010101")
        assert found is not None
        assert max(found.items(), key=itemgetter(1)) == (0, 18)
        assert await solver.value("010101") == 18
        (process,) = multiprocessing.active_children()
        process.kill()
        process.join(PATIENCE)
        while await solver.value("010101") is None:  # another worker is started
            pass
        (process,) = multiprocessing.active_children()
        nursery.cancel_scope.cancel()
    process.join(PATIENCE)
    assert process.exitcode is not None
