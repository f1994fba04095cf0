"""A match that is on: what counts, what is played again, and what ends it."""

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
import trio
from hub_world import HANGING_UP, STANDING_BY
from match_games import played

from adapters import children
from adapters.match import bots, runner
from adapters.match.engines import TRIES, EngineTable
from adapters.match.match import MOST_TOLD, SYNC, Match, Plan
from adapters.match.wired import ABORTED, WireTable
from gateway.game.board import Board
from gateway.game.events import Reason
from gateway.game.ids import game_ids
from gateway.game.results import Finished, Player
from gateway.match.journal import Journal

PLAN = Plan(
    players=[("a", "x {port}"), ("b", "y {port}"), ("c", "z {port}")],
    games=4,
    gauntlet=False,
    clock=42.0,
    idle=60.0,
    think=None,
    discs=0,
    openings=[],
    seed="seed",
)


class Table:
    """A table of the first pairing, which plays all its games."""

    def __init__(self) -> None:
        self.pairing = 0
        self.unplayed = [0, 1, 2, 3]
        self.games = 0
        self.leavers: list[int] = []

    def aborted(self, leaver: int) -> None:
        self.leavers.append(leaver)

    def ended(self) -> None:
        self.games += 1

    def stop_if_dropped(self, player: int) -> None:
        self.unplayed = []


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal.new(tmp_path / "match.jsonl", {})


def match_of(journal: Journal, plan: Plan = PLAN, tell: Callable[[str], None] = print) -> Match:
    return Match(plan, journal, Path("logs"), game_ids(1), tell)


def finished(game: str, winner: int | None = 0, reason: Reason = Reason.FOUR) -> Finished:
    board = Board()
    for column in (0, 1, 0, 1, 0, 1, 0):
        board = board.drop(column)
    players = (Player("one", STANDING_BY), Player("two", HANGING_UP))
    return Finished(game, players, board, winner, reason, (0.1, 0.2), 1)  # type: ignore[arg-type]


async def test_game_of_the_server_counts_for_who_came_by_which_port(journal: Journal) -> None:
    match, table = match_of(journal), Table()
    match.started("00000-000001", table, 1)
    match._finished(finished("00000-000001"))
    (found,) = journal.games()
    assert [player.name for player in found.record.players] == ["b", "a"]
    assert (found.pairing, found.number, table.unplayed, table.games) == (0, 1, [0, 2, 3], 1)
    assert match.tally.players[1].total.won == 1


@pytest.mark.parametrize("reason", [Reason.ABORTED, Reason.STOPPED])
async def test_game_without_a_result_is_played_again(journal: Journal, reason: Reason) -> None:
    match, table = match_of(journal), Table()
    match.started("00000-000001", table, 0)
    match._finished(finished("00000-000001", None, reason))
    assert (table.unplayed, match.tally.games) == ([0, 1, 2, 3], 0)


@pytest.mark.parametrize("number", [0, 1])
async def test_table_is_told_who_left_a_game_before_both_had_moved(journal: Journal, number: int) -> None:
    match, table = match_of(journal), Table()
    match.started("00000-000001", table, number)
    match._finished(replace(finished("00000-000001", None, Reason.ABORTED), leaver=0))
    assert table.leavers == [number]


async def test_player_that_leaves_game_after_game_plays_no_more(journal: Journal) -> None:
    told: list[str] = []
    match = match_of(journal, tell=told.append)
    table = WireTable(match, 0, 0)
    match.opened(table)
    for _ in range(ABORTED - 1):
        table.aborted(1)
    table.ended()
    for _ in range(ABORTED):
        assert told == []
        table.aborted(1)
    assert told == [
        f"b: left {ABORTED} games in a row before both players had moved; it plays no more,"
        " 8 games are left out"
    ]


async def test_game_that_ends_because_we_end_its_connections_is_none(journal: Journal) -> None:
    match, table = match_of(journal), Table()
    match.started("00000-000001", table, 0)
    with trio.CancelScope() as scope:  # noqa: ASYNC100
        scope.cancel()
        match._finished(finished("00000-000001", 0, Reason.LEFT))
    assert match.tally.games == 0


async def test_match_goes_on_from_what_was_written_down(journal: Journal) -> None:
    journal.add(played(0))
    journal.add(played(1))
    match = match_of(journal)
    assert (match.tally.games, match.schedule.left, match.played) == (2, 10, 0)
    assert match.schedule.take(0) == [2, 3]


class Counting(Journal):
    """Counts how often the disk is waited for, by threads that no game has to wait for."""

    syncs = 0

    def sync(self) -> None:
        self.syncs += threading.current_thread() is not threading.main_thread()


async def test_disk_is_waited_for_once_a_second_and_only_behind_games(
    tmp_path: Path, mock_clock: trio.testing.MockClock
) -> None:
    trio.to_thread.current_default_thread_limiter().total_tokens = 1
    journal = Counting.new(tmp_path / "match.jsonl", {})
    match = match_of(journal)

    async def syncs_after(seconds: float) -> int:
        mock_clock.jump(seconds)
        await trio.testing.wait_all_tasks_blocked()
        await trio.to_thread.run_sync(lambda: None)  # behind the thread that is at work, as there is but one
        await trio.testing.wait_all_tasks_blocked()
        return journal.syncs

    async with trio.open_nursery() as nursery:
        nursery.start_soon(match.keep)
        match.add(played(0))
        assert await syncs_after(0) == 1
        match.add(played(1))
        assert await syncs_after(0.9 * SYNC) == 1
        assert await syncs_after(0.2 * SYNC) == 2
        assert await syncs_after(10 * SYNC) == 2
        nursery.cancel_scope.cancel()


async def test_file_with_a_game_twice_is_refused(journal: Journal) -> None:
    journal.add(played(0))
    journal.add(played(0))
    with pytest.raises(ValueError, match="twice"):
        match_of(journal)


async def test_nothing_counts_once_the_match_is_decided(journal: Journal) -> None:
    match = match_of(journal)
    match.over = lambda: True
    match.add(played(0))
    match.add(played(1))
    assert match.enough.is_set()
    assert match.tally.games == 1


async def test_pair_that_is_half_played_keeps_its_opening(journal: Journal) -> None:
    drawn = replace(PLAN, discs=3)
    assert match_of(journal, drawn).pair_opening(0, 1) == (None, "seed 0 0")
    journal.add(replace(played(0), opening=3))
    match = match_of(journal, drawn)
    assert match.pair_opening(0, 1)[0] == "010"
    assert match.pair_opening(0, 2) == (None, "seed 0 1")


async def test_openings_of_a_file_are_taken_in_turn(journal: Journal) -> None:
    match = match_of(journal, replace(PLAN, openings=["33", "44"]))
    assert [match.pair_opening(0, number)[0] for number in range(6)] == ["33", "33", "44", "44", "33", "33"]


async def test_player_that_is_dropped_plays_no_more_and_that_is_told_once(journal: Journal) -> None:
    told: list[str] = []
    match, table = match_of(journal, tell=told.append), Table()
    match.opened(table)
    match.drop(0, "failed 3 times in a row")
    match.drop(0, "failed 3 times in a row")
    assert told == ["a: failed 3 times in a row; it plays no more, 8 games are left out"]
    assert (match.is_whole, match.schedule.left) == (False, 4)
    assert table.unplayed == []


async def test_failures_of_a_bot_are_told_a_few_times(journal: Journal) -> None:
    told: list[str] = []
    match = match_of(journal, tell=told.append)
    for _ in range(MOST_TOLD + 3):
        match.complain("a", "crashed")
    assert told == ["a: crashed"] * (MOST_TOLD - 1) + ["a: crashed; more of this is not told"]


async def test_engines_that_never_end_a_game_are_given_up(
    journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, autojump_clock: trio.testing.MockClock
) -> None:
    monkeypatch.setattr(bots, "WORKER", ("sleep", "1000"))
    told: list[str] = []
    plan = replace(PLAN, players=[("a", "random"), ("b", "random")], idle=1.0)
    match = Match(plan, journal, tmp_path, game_ids(1), told.append)
    await runner.run(match, 1)
    assert (
        told[:TRIES]
        == ["a and b: their process has not played a game within 42 x 1 s: it said nothing"] * TRIES
    )
    assert told[TRIES:] == [
        f"a and b: their process failed {TRIES} times in a row; they play each other no more,"
        " 4 games are left out"
    ]
    assert (match.is_whole, match.schedule.left) == (False, 0)


async def test_game_of_engines_that_another_table_gave_up_meanwhile_is_none(journal: Journal) -> None:
    match = match_of(journal, replace(PLAN, players=[("a", "random"), ("b", "random")]))

    class Worker:
        async def say(self, words: object) -> None: ...

        async def answer(self) -> object:
            match.drop_pairing(0, "their process failed")
            return {"said": ""}

    table = EngineTable(match, 0, 0)
    await table._play(cast(bots.Worker, Worker()))
    assert (match.played, match.schedule.left, list(journal.games())) == (0, 0, [])


async def test_match_ends_with_the_error_where_a_game_cannot_be_written(journal: Journal) -> None:
    match = match_of(journal, replace(PLAN, players=PLAN.players[:2], games=0))
    match._failed(OSError("no space left"))
    with pytest.raises(OSError, match="no space left"):
        await runner.run(match, 1)


@pytest.mark.parametrize("failures", [0, 1])
async def test_bot_that_asks_for_no_game_is_told_once_with_the_port_where_it_is_waited_for(
    journal: Journal, tmp_path: Path, autojump_clock: object, failures: int
) -> None:
    told: list[str] = []
    table = WireTable(match_of(journal, tell=told.append), 0, 0)
    table._failures[1] = failures
    async with children.process(["sleep", "1000"], tmp_path / "log") as bot:
        assert await table._ending(bot, 1, 4711) == "asked for no game within 60 s"
    where = (
        "b: asks for no game at 127.0.0.1:4711 yet; does it go to the port that {port} in its command says?"
    )
    assert told == [where] * (1 - failures)


async def test_bot_that_asks_for_a_game_is_not_told_of(journal: Journal, autojump_clock: object) -> None:
    told: list[str] = []
    table = WireTable(match_of(journal, tell=told.append), 0, 0)
    table.seated(1, there=True)
    await table._remind(1, 4711)
    assert told == []


async def test_program_that_is_not_there_is_named(journal: Journal, tmp_path: Path) -> None:
    told: list[str] = []
    plan = replace(PLAN, players=[("a", "random"), ("b", "/no/such/bot {port}")])
    match = Match(plan, journal, tmp_path, game_ids(1), told.append)
    await WireTable(match, 0, 0)._keep(1, 4711)
    assert told[0].startswith("b: cannot be started: /no/such/bot: No such file or directory")
