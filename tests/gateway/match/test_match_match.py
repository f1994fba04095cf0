"""A match that is on: what counts, what is played again, and what ends it."""

import json
import os
import threading
from collections.abc import Callable
from dataclasses import replace
from errno import ENOSPC
from pathlib import Path
from typing import Any

import pytest
import trio
from match_games import played

from gateway.game.events import Reason
from gateway.match.engines import EngineTable
from gateway.match.journal import Journal, Played
from gateway.match.match import MOST_SHOWN, SYNC, TRIES, Match, MatchTable, Plan
from gateway.match.sprt import Sprt
from gateway.match.tally import ENOUGH

PLAN = Plan(players=[("a", "mine:a"), ("b", "mine:b"), ("c", "mine:c")], games=4, seed="seed")
TWO = replace(PLAN, players=PLAN.players[:2])


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal.new(tmp_path / "match.jsonl", {})


def match_of(journal: Journal, plan: Plan = PLAN, tell: Callable[[str], None] = print) -> Match:
    return Match(plan, journal, journal.path.parent, tell)


def left(match: Match, games: int) -> None:
    """Play so many games, of which b leaves each."""
    for number in range(match.tally.games, match.tally.games + games):
        match.add(played(number, 1.0 - number % 2, reason=Reason.LEFT))


def test_file_of_a_match_says_what_is_to_be_played_in_older_versions_too() -> None:
    settings = {"players": [["a", "random"], ["b", "x {port}"]], "games": 4, "gauntlet": False, "clock": 42.0}
    settings |= {"idle": 60.0, "think": None, "seed": "x", "discs": 0, "openings": []}
    settings |= {"sprt": {"elo0": 0.0, "elo1": 5.0, "alpha": 0.05, "beta": 0.05, "model": "logistic"}}
    plan = Plan.of(settings)
    assert (plan.players[1], plan.strict, plan.counts_left) == (("b", "x {port}"), False, False)
    assert plan.sprt == Sprt(0, 5)
    assert Plan.of(plan.settings()) == plan
    assert Plan.of({**plan.settings(), "recover": True}).counts_left
    del settings["games"]
    with pytest.raises(ValueError, match="the file of the match lacks something: 'games'"):
        Plan.of(settings)


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


class Idle(MatchTable):
    """Plays nothing."""

    async def run(self) -> None:
        await trio.sleep_forever()


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
        nursery.start_soon(match.run, 1, Idle)
        match.add(played(0))
        assert await syncs_after(0) == 1
        match.add(played(1))
        assert await syncs_after(0.9 * SYNC) == 1
        assert await syncs_after(0.2 * SYNC) == 2
        assert await syncs_after(10 * SYNC) == 2
        match.stop()


class FullOnce(Journal):
    """A file of which the disk was full for a moment, and may hold half a line since."""

    is_full = True

    def append(self, entry: Played) -> None:
        if self.is_full:
            self.is_full = False
            raise OSError(ENOSPC, "No space left on device")
        super().append(entry)


async def test_nothing_is_written_behind_a_game_that_could_not_be_written(tmp_path: Path) -> None:
    journal = FullOnce.new(tmp_path / "match.jsonl", {})
    match = match_of(journal)
    with pytest.raises(OSError, match="No space left"):
        match.add(played(0))
    match.add(played(1))
    assert (match.played, [*journal.load()]) == (0, [])
    with pytest.raises(OSError, match="No space left"):
        await match.run(0, Idle)


async def test_test_that_is_decided_ends_the_match_and_nothing_counts_afterwards(journal: Journal) -> None:
    match = match_of(journal, replace(TWO, games=40, sprt=Sprt(0, 300)))
    for number in range(40):
        match.add(played(number, 1.0 - number % 2))
    assert 8 < match.tally.games < 2 * ENOUGH
    assert match.is_decided
    assert match.tally.meetings[0].repeats == ""
    other = Journal.new(journal.path.with_name("other"), {})
    match = match_of(other, replace(TWO, games=40, sprt=Sprt(0, 5)))
    for number in range(2 * ENOUGH):
        match.tally.add(played(number, 1.0 - number % 2))
    assert match.is_decided  # for pairs repeat each other
    match.drop(1, "failed")
    assert not match.is_decided


async def test_player_that_is_dropped_plays_no_more_and_that_is_told_once(journal: Journal) -> None:
    told: list[str] = []
    match = match_of(journal, tell=told.append)
    began: list[int] = []
    for _ in range(MOST_SHOWN + 3):
        match.complain(1, "crashed", Path("b.log"))
    assert told == ["b: crashed"] * (MOST_SHOWN - 1) + ["b: crashed; further ones are not shown"]
    told.clear()

    class Noted(Idle):
        async def run(self) -> None:
            began.append(self.pairing)
            await super().run()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(match.run, 3, Noted)
        await trio.testing.wait_all_tasks_blocked()
        match.drop(0, "failed 3 times in a row")
        match.drop(0, "failed 3 times in a row")
        await trio.testing.wait_all_tasks_blocked()
        match.stop()
    assert told == ["a: failed 3 times in a row; it plays no more, 8 games are left out"]
    assert (list(match.failed), match.schedule.left) == ([0], 4)
    assert sorted(began) == [0, 1, 2, 2, 2]


async def test_player_that_was_dropped_plays_again_when_the_match_goes_on(journal: Journal) -> None:
    match = match_of(journal)
    match.add(played(0))
    match.drop(0, "failed 3 times in a row")
    match.add(played(0, pairing=2))
    resumed = match_of(journal)
    assert (match.schedule.left, resumed.schedule.left) == (3, 10)
    assert (resumed.tally.games, resumed.failed) == (2, {})


# Tables with two engines. In place of their process there is a shell, which answers with lines of JSON.

GAME = {
    "over": True,
    "began": 0,
    "ended": 0,
    "opening": "",
    "moves": "0101010",
    "winner": 0,
    "reason": "four",
}
GAME |= {"reason": "four", "thought": [0, 0], "late": [0, 0], "why": ""}


def shell(script: str) -> Callable[[Match, int], MatchTable]:
    """Return what makes tables whose process has its engines at once, and goes on with a script."""
    words = "sh", "-c", f"read settings; echo null; echo null; {script}"
    return lambda match, pairing: EngineTable(match, pairing, words)


async def test_engines_that_are_never_loaded_are_given_up(
    journal: Journal, autojump_clock: trio.testing.MockClock
) -> None:
    told: list[str] = []
    match = match_of(journal, replace(TWO, idle=1.0), told.append)
    await match.run(1, lambda match, pairing: EngineTable(match, pairing, ["sleep", "1000"]))
    assert told == [
        *["a: the engine could not be loaded within 60 s"] * TRIES,
        f"a: failed {TRIES} times in a row before its first move; it plays no more, 4 games are left out",
    ]
    assert (list(match.failed), match.schedule.left) == ([0], 0)


@pytest.mark.parametrize(
    ("moves", "then", "reason"),
    [
        ("0101", "exec sleep 1000", Reason.TIME),
        ("0101", "exit 7", Reason.LEFT),
        ("0", "exit 7", None),
    ],
)
async def test_engine_whose_process_ends_or_hangs_loses_if_it_has_moved(
    journal: Journal, autojump_clock: trio.testing.MockClock, moves: str, then: str, reason: Reason | None
) -> None:
    autojump_clock.autojump_threshold = 1.0  # what the process says comes before that
    stands = GAME | {"over": False, "moves": moves, "winner": 1 - len(moves) % 2, "reason": "left"}
    match = match_of(journal, replace(TWO, games=2))
    with trio.fail_after(1000):
        await match.run(1, shell(f"read asked; echo '{json.dumps(stands)}'; {then}"))
    assert [each.record.reason for each in journal.load()] == ([] if reason is None else [reason] * 2)
    assert list(match.failed) == ([1] if reason is None else [0, 1] if reason is Reason.LEFT else [])


async def test_game_of_engines_that_were_given_up_meanwhile_is_none(journal: Journal, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "dropped")
    match = match_of(journal, TWO)
    table = shell(f"read asked; read dropped < {tmp_path}/dropped; echo '{json.dumps(GAME)}'")(match, 0)
    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(table.run)
            pipe = await trio.to_thread.run_sync((tmp_path / "dropped").open, "w")
            match.drop(0, "it failed")
            pipe.close()
    assert (match.played, match.schedule.left, list(journal.load())) == (0, 0, [])


@pytest.mark.parametrize(
    ("settings", "openings"),
    [
        ({}, ["", "", ""]),
        ({"openings": ["33", "44"]}, ["33", "44", "44"]),
        ({"discs": 3}, ["010", None, "01"]),
    ],
)
async def test_pair_of_games_has_one_opening_also_if_half_of_it_was_played_before(
    journal: Journal, tmp_path: Path, settings: dict[str, Any], openings: list[str | None]
) -> None:
    journal.append(replace(played(0), opening=3))
    match = match_of(journal, replace(TWO, **settings))
    game = GAME | {"opening": "01"}
    await match.run(
        1, shell(f"while read asked; do echo $asked >> {tmp_path}/asked; echo '{json.dumps(game)}'; done")
    )
    asked = [json.loads(line) for line in (tmp_path / "asked").read_text().splitlines()]
    assert [each["opening"] for each in asked] == openings
    assert [each["first"] for each in asked] == [1, 0, 1]
    assert [each["lot"] for each in asked] == ["seed 0 0", "seed 0 1", "seed 0 1"]
