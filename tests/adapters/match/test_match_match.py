"""A match that is on: what counts, what is played again, and what ends it."""

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
import trio
from match_games import played
from worlds.hub import HANGING_UP, STANDING_BY

from adapters.match import bots, command
from adapters.match.engines import EngineTable
from adapters.match.match import MOST_TOLD, SYNC, TRIES, Match, Plan
from adapters.match.wired import WireTable
from gateway.game.board import Board
from gateway.game.events import Reason
from gateway.game.ids import game_ids
from gateway.game.results import Finished, Player
from gateway.match.journal import Journal
from gateway.runtime import children

PLAN = Plan(
    players=[("a", "x {port}"), ("b", "y {port}"), ("c", "z {port}")],
    games=4,
    gauntlet=False,
    clock=42.0,
    idle=60.0,
    think=None,
    strict=False,
    recover=False,
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
        self.idlers: list[int] = []
        self.late = 0, 0

    def not_played(self, side: int, why: str) -> None:
        self.idlers.append(side)

    def late_moves(self) -> tuple[int, int]:
        return self.late

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
    assert table.idlers == [number]


@pytest.mark.parametrize("reason", [Reason.TIME, Reason.ILLEGAL])
@pytest.mark.parametrize("number", [0, 1])
async def test_game_lost_before_its_first_move_is_played_again(
    journal: Journal, number: int, reason: Reason
) -> None:
    match, table = match_of(journal), Table()
    match.started("00000-000001", table, number)
    lost = finished("00000-000001", 0, reason)
    match._finished(replace(lost, board=Board().drop(3)))
    assert (table.idlers, table.unplayed, match.tally.games) == ([1 - number], [0, 1, 2, 3], 0)


async def test_player_that_leaves_game_after_game_plays_no_more(journal: Journal) -> None:
    told: list[str] = []
    match = match_of(journal, tell=told.append)
    table = WireTable(match, 0, 0)
    match.opened(table)
    for _ in range(TRIES - 1):
        table.not_played(1, "left a game")
    table.ended()
    for _ in range(TRIES):
        assert told == []
        table.not_played(1, "left a game")
    assert told == [f"b: {TRIES} times in a row left a game; it plays no more, 8 games are left out"]
    assert match.failed == {1: f"{TRIES} times in a row left a game; (logs: logs)"}


def left(match: Match, games: int, *, is_left: bool = True) -> None:
    """Play so many games, of which b leaves each."""
    for number in range(match.tally.games, match.tally.games + games):
        winner, reason = number % 2, Reason.LEFT if is_left else Reason.FOUR
        match.add(played(number, 1.0 - winner, reason=reason))


async def test_player_that_leaves_most_of_its_games_has_no_result_and_soon_plays_no_more(
    journal: Journal,
) -> None:
    told: list[str] = []
    match = match_of(journal, replace(PLAN, games=40), told.append)
    match.complain(1, "ended with status 1: no idea", Path("b.log"))
    left(match, 8)
    assert len(told) == 1
    left(match, 1)
    why = "left 9 of 9 games, which --recover would count as lost"
    assert told[1:] == [f"b: {why}; it plays no more, 71 games are left out"]
    assert match.failed == {1: f"{why}; ended with status 1: no idea (log: b.log)"}


@pytest.mark.parametrize(("games", "has_failed"), [(3, False), (4, True)])
async def test_player_that_leaves_fewer_than_half_of_its_games_has_a_result(
    journal: Journal, games: int, has_failed: bool
) -> None:
    match = match_of(journal, replace(PLAN, games=8))
    left(match, games)
    left(match, 8 - games, is_left=False)
    assert (1 in match.failed, match.schedule.left) == (has_failed, 16)


async def test_games_that_were_left_count_where_that_is_asked_for(journal: Journal) -> None:
    match = match_of(journal, replace(PLAN, games=40, recover=True))
    left(match, 40)
    assert (match.failed, match.tally.players[1].total.lost) == ({}, 40)


async def test_late_moves_of_an_engine_on_a_wire_are_counted_and_strictly_lose(journal: Journal) -> None:
    told: list[str] = []
    plan = replace(PLAN, players=[("a", "random"), *PLAN.players[1:]], think=1.0)
    table = WireTable(match_of(journal, plan, told.append), 0, 0)
    table.started("00000-000001", 0)
    assert not table.moved(0, 1.05)
    assert not table.moved(0, 1.5)
    assert not table.moved(1, 50.0)  # a bot has the clock of the server, and no other
    assert table.late_moves() == (1, 0)
    assert told == ["a: took 1.50 s for a move, with --think 1"]
    strict = WireTable(match_of(journal, replace(plan, strict=True)), 0, 0)
    assert strict.moved(0, 1.5)


@pytest.mark.parametrize("number", [0, 1])
async def test_forfeit_of_who_was_late_is_a_loss_on_time(journal: Journal, number: int) -> None:
    match, table = match_of(journal, replace(PLAN, think=1.0, strict=True)), Table()
    table.late = (0, 2) if number == 0 else (2, 0)
    match.started("00000-000001", table, number)
    lost = finished("00000-000001", 0, Reason.ILLEGAL)
    match._finished(replace(lost, board=Board().drop(3)))
    (found,) = journal.games()
    assert (found.record.reason, found.late) == (Reason.TIME, (0, 2))


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
    assert (list(match.failed), match.schedule.left) == ([0], 4)
    assert table.unplayed == []


async def test_failures_of_a_bot_are_told_a_few_times(journal: Journal) -> None:
    told: list[str] = []
    match = match_of(journal, tell=told.append)
    for _ in range(MOST_TOLD + 3):
        match.complain(0, "crashed", Path("a.log"))
    assert told == ["a: crashed"] * (MOST_TOLD - 1) + ["a: crashed; more of this is not told"]


async def test_engines_that_never_end_a_game_are_given_up(
    journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, autojump_clock: trio.testing.MockClock
) -> None:
    monkeypatch.setattr(bots, "WORKER", ("sleep", "1000"))
    told: list[str] = []
    plan = replace(PLAN, players=[("a", "random"), ("b", "random")], idle=1.0)
    match = Match(plan, journal, tmp_path, game_ids(1), told.append)
    await command.run(match, 1)
    assert told == [
        *["a: the engine could not be loaded within 60 s"] * TRIES,
        f"a: failed {TRIES} times in a row before its first move; it plays no more, 4 games are left out",
    ]
    assert (list(match.failed), match.schedule.left) == ([0], 0)


async def test_game_of_engines_that_another_table_gave_up_meanwhile_is_none(journal: Journal) -> None:
    match = match_of(journal, replace(PLAN, players=[("a", "random"), ("b", "random")]))

    class Worker:
        async def say(self, words: object) -> None: ...

        async def answer(self, _: float) -> object:
            match.drop(0, "it failed")
            return {"over": True}

    table = EngineTable(match, 0, 0)
    await table._play(cast(bots.Worker, Worker()))
    assert (match.played, match.schedule.left, list(journal.games())) == (0, 0, [])


@pytest.mark.parametrize(
    ("moves", "ending", "reason"),
    [("0101", bots.Late, Reason.TIME), ("0101", bots.Died, Reason.LEFT), ("0", bots.Died, None)],
)
async def test_engine_whose_process_ends_or_hangs_loses_if_it_has_moved(
    journal: Journal, tmp_path: Path, moves: str, ending: type[Exception], reason: Reason | None
) -> None:
    plan = replace(PLAN, players=[("a", "mine:a"), ("b", "mine:b")])
    match = Match(plan, journal, tmp_path, game_ids(1), print)
    match.log("a-b").touch()
    loser = len(moves) % 2
    stands = {"over": False, "began": 0, "ended": 0, "opening": "", "moves": moves, "winner": 1 - loser}
    stands |= {"reason": "left", "thought": [0, 0], "late": [0, 0], "said": ""}

    answers = [stands]

    class Worker:
        async def say(self, words: object) -> None: ...

        async def answer(self, _: float) -> object:
            if not answers:
                raise ending("ended")
            return answers.pop()

    table = EngineTable(match, 0, 0)
    assert match.schedule.sit() == 0
    table.unplayed = match.schedule.take(0)
    await table._play(cast(bots.Worker, Worker()))
    assert [each.record.reason for each in journal.games()] == ([] if reason is None else [reason])
    assert match.tally.players[loser].total.lost == (reason is not None)


async def test_match_ends_with_the_error_where_a_game_cannot_be_written(journal: Journal) -> None:
    match = match_of(journal, replace(PLAN, players=PLAN.players[:2], games=0))
    match._failed(OSError("no space left"))
    with pytest.raises(OSError, match="no space left"):
        await command.run(match, 1)


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
