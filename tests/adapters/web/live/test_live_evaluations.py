"""Who is winning a game that is on: said to everybody who asks, solved once, and never by column."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace

import pytest
import trio
import trio.testing
from live_world import game, identity, move, over
from web_world import Site
from worlds.tournaments import file_of

from adapters.web.live.evaluations import AT_ONCE, KEPT, Evaluations
from adapters.web.live.state import Game
from adapters.web.solver import NotInstalledError
from gateway.game.evaluation import Evaluation
from gateway.game.fact_encoding import encode_fact
from gateway.game.facts import GameStarted
from gateway.game.results import Scheduled
from gateway.store import tournaments

PATH = f"/api/live/games/{identity(1)}/evaluation"
DRAW, WON = Evaluation(None, None), Evaluation(0, 41)


class Work:
    """A solver that takes `seconds` for a position, where the first mover wins until the fourth move."""

    def __init__(self, seconds: Callable[[str], float] = lambda _: 0.0) -> None:
        self.seconds = seconds
        self.asked: list[str] = []

    async def __call__(self, columns: str) -> int:
        self.asked.append(columns)
        await trio.sleep(self.seconds(columns))
        return 0 if len(columns) > 3 else 1 if len(columns) % 2 == 0 else -1


async def open_to_all(_: GameStarted) -> bool:
    return False


def evaluations(work: Work) -> Evaluations:
    return Evaluations(work, nullcontext, open_to_all)


def on(moves: str, number: int = 1) -> Game:
    """Return a game that is on."""
    return Game(identity(number), game(number), moves, None, 0.0)


async def test_each_position_is_solved_once_and_the_latest_first() -> None:
    work = Work()
    solver = evaluations(work)
    assert await solver.of(on("33")) == [WON] * 3
    assert work.asked == ["33", "3", ""]
    assert await solver.of(on("3344")) == [WON, WON, WON, WON, DRAW]
    assert work.asked[3:] == ["3344", "334"]
    assert await solver.of(on("3344")) == [WON, WON, WON, WON, DRAW]
    assert len(work.asked) == 5


async def test_whoever_has_no_hurry_is_kept_waiting_while_a_position_is_solved() -> None:
    solving = list[bool]()

    @contextmanager
    def asking() -> Iterator[None]:
        solving.append(True)
        yield
        solving.clear()

    async def work(_: str) -> int:
        assert solving
        return 0

    await Evaluations(work, asking, open_to_all).of(on("3"))
    assert not solving


async def test_end_of_a_game_needs_no_solver() -> None:
    work = Work()
    assert (await evaluations(work).of(on("0101010")))[-1] == Evaluation(0, 7)
    assert "0101010" not in work.asked


async def test_all_who_watch_a_game_share_the_work(autojump_clock: object) -> None:
    work = Work(lambda _: 0.1)
    solver, found = evaluations(work), list[object]()

    async def watch() -> None:
        found.append(await solver.of(on("3344")))

    async with trio.open_nursery() as nursery:
        for _ in range(9):
            nursery.start_soon(watch)
    assert len(work.asked) == 5
    assert found == [[WON, WON, WON, WON, DRAW]] * 9


async def test_who_asks_waits_a_moment_at_most_and_gets_the_rest_the_next_time(
    autojump_clock: object,
) -> None:
    work = Work(lambda _: 1.5)
    solver = evaluations(work)
    assert await solver.of(on("3344")) == [None, None, None, WON, DRAW]
    assert trio.current_time() == pytest.approx(3.0)
    assert await solver.of(on("3344")) == [None, WON, WON, WON, DRAW]
    assert await solver.of(on("3344")) == [WON, WON, WON, WON, DRAW]


async def test_when_many_games_are_asked_for_at_once_others_get_what_is_known(autojump_clock: object) -> None:
    work = Work()
    solver = evaluations(work)
    await solver.of(on("3", 99))
    work.seconds = lambda _: 1.0
    async with trio.open_nursery() as nursery:
        for number in range(AT_ONCE):
            nursery.start_soon(solver.of, on("", number))
        await trio.testing.wait_all_tasks_blocked()
        assert await solver.of(on("33", 99)) == [WON, WON, None]


async def test_games_that_nobody_asked_for_lately_are_forgotten() -> None:
    work = Work()
    solver = evaluations(work)
    for number in (*range(KEPT), 0, KEPT, 0, 1):
        await solver.of(on("", number))
    assert len(work.asked) == KEPT + 2


async def test_without_a_worker_nothing_is_known() -> None:
    async def lost(_: str) -> None:
        await trio.lowlevel.checkpoint()

    assert await Evaluations(lost, nullcontext, open_to_all).of(on("3")) == [None, None]


async def evaluation(site: Site, path: str = PATH) -> tuple[int, object]:
    async with site.client() as client:
        answer = await client.get(path)
    return answer.status_code, answer.json()


async def test_answer_has_an_evaluation_for_each_position_and_no_column(site: Site) -> None:
    site.on = [*map(encode_fact, (game(1), move(1, 0), move(1, 1)))]
    draw = {"winner": None, "at": None}
    assert await evaluation(site) == (200, {"moves": 2, "evaluations": [draw] * 3, "turned": []})
    assert await evaluation(site, PATH.replace(identity(1), identity(2))) == (
        404,
        {"error": "no such game is on"},
    )


async def test_move_that_turned_the_game_is_named_without_the_better_one(site: Site) -> None:
    site.on, site.worth = [*map(encode_fact, (game(1), move(1, 0), move(1, 1)))], {0: 1}
    status, found = await evaluation(site)
    assert status == 200
    assert isinstance(found, dict)
    assert found["turned"] == [{"move": move, "was": "win", "became": "lose"} for move in (1, 2)]


async def test_game_that_ended_a_moment_ago_is_still_evaluated_and_one_that_is_on_is_not_solved(
    site: Site,
) -> None:
    site.on = [encode_fact(game(1))]
    assert (await evaluation(site, f"/api/games/{identity(1)}/perfect"))[0] == 404
    site.on += [encode_fact(move(1, 0)), encode_fact(over(1))]
    assert (await evaluation(site))[0] == 200


async def test_without_the_solver_and_where_the_operator_forbids_it_the_answer_says_so(site: Site) -> None:
    site.on, site.worth = [encode_fact(game(1))], NotInstalledError("no solver here")
    assert await evaluation(site) == (501, {"error": "no solver here"})
    site.show(evaluations=None)
    assert (await evaluation(site))[0] == 403
    assert (await evaluation(site, PATH.replace(identity(1), identity(2))))[0] == 403


@pytest.mark.parametrize(
    ("other", "known"),
    [
        ("33334455", False),  # the mirror image
        ("33332211", False),
        ("333322116", True),  # it has come as far
        ("33332210", True),
        ("3333221", True),  # many games begin alike
    ],
)
async def test_who_wins_after_a_move_that_another_game_may_make_is_told_after_it(
    site: Site, other: str, *, known: bool
) -> None:
    for number, moves in ((1, "333322116"), (2, other)):
        made = (move(number, 0 if at % 2 == 0 else 1, int(digit)) for at, digit in enumerate(moves))
        site.on += map(encode_fact, (game(number), *made))
    _, found = await evaluation(site)
    assert isinstance(found, dict)
    assert [each is not None for each in found["evaluations"]] == [*[True] * 9, known]


@pytest.mark.parametrize(
    ("live", "created", "status"),
    [
        ("true", None, 200),
        ("false", None, 403),  # also a game at its table that is not one of the tournament's
        ("true", 0, 200),
        ("false", 0, 403),
        ("true", -1, 403),  # of a tournament of that name that was removed
        ("what", None, 403),  # of a later version
        ("", None, 200),  # there is no tournament of that name
        ("", 1, 403),
    ],
)
async def test_tournament_keeps_from_everybody_who_is_winning_if_its_file_says_so(
    site: Site, live: str, created: int | None, status: int
) -> None:
    if live:
        with site.database.writing() as connection:
            tournaments.create(connection, "cup", f"{file_of(name='Cup')}\nlive-evaluation = {live}\n")
            [news] = tournaments.news(connection, {})
        created = None if created is None else news.created + created
    scheduled = None if created is None else Scheduled(0, 0, created=created)
    started = replace(game(1, table="CUP"), scheduled=scheduled)
    site.on = [encode_fact(started)]
    assert (await evaluation(site))[0] == status
    assert (await evaluation(site))[0] == status


@pytest.mark.parametrize("is_possible", [True, False])
def test_viewers_are_shown_who_is_winning_with_the_solver_and_the_operator_s_leave(
    site: Site, *, is_possible: bool
) -> None:
    site.show(evaluations=Evaluations(Work(), nullcontext, open_to_all, is_possible=is_possible))
    assert site.shown.evaluates == is_possible
    site.show(evaluations=None)
    assert not site.shown.evaluates
