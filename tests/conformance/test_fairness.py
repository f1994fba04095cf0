"""Losses on time: a bot's own time, what it does when it sleeps and loses, the log, and short runs."""

import json
import random
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest

from conformance.__main__ import main
from conformance.dialects.script import Outcome, OutOfStep, Phase, Place, Wish
from conformance.lab.bots import PLAIN, Reading
from conformance.lab.fairness import LOSS, SLEEPERS, Counts, Fault, Games, Look, Player, UsedTime, rows_of
from conformance.lab.servers import Log, redis_program
from conformance.targets import Address

WAITING, PLAYING = Place(Phase.WAITING), Place(Phase.PLAYING)
TURN = Reading(
    PLAYING,
    known={},
    told=0,
    outcome=None,
    answer=b"",
    move=b"",
    again=False,
    entered=False,
    begun=False,
    opponent=None,
)
BEGUN, ASKED = replace(TURN, begun=True), replace(TURN, move=b"PUT 0\n")


def ended(outcome: Outcome) -> Reading:
    return replace(TURN, place=WAITING, outcome=outcome)


class Mute(Player):
    """Says nothing to anybody."""

    def __init__(self, table: Games) -> None:
        self.overs = 0
        super().__init__(table, "droidcon", Wish("ann", table="t"), self.is_over, clocked=False)

    def is_over(self) -> None:
        self.overs += 1

    def say(self, data: bytes) -> None:
        pass


class AtOnce(random.Random):
    """Never thinks, and sleeps at the first request if at all."""

    def random(self) -> float:
        return 0.0


def at_table(*, begun: int = 0) -> Games:
    """Return a table for a player before whom so many games have begun."""
    address = Address("127.0.0.1", 1)
    table = Games(dict.fromkeys(PLAIN, address), AtOnce(1), 1.5e9)
    table.counts.begun = begun
    return table


def playing(table: Games, *turns: Reading) -> Mute:
    player = Mute(table)
    for turn in (BEGUN, *turns):
        player.take(turn, PLAYING)
    return player


def test_bot_that_answered_and_is_told_that_it_lost_on_time_blames_the_server() -> None:
    table = at_table()
    player = playing(table, ASKED)
    assert table.counts.moves == 1
    player.take(ended(Outcome.LATE), PLAYING)
    assert len(table.counts.faults[Fault.SERVER]) == 1
    assert table.counts.losers == ["ann"]
    assert (table.counts.games, player.overs) == (1, 1)


def test_one_in_so_many_falls_asleep_and_its_loss_is_counted_apart() -> None:
    table = at_table(begun=SLEEPERS // 2 - 1)
    table.clock = 1e-9
    player = playing(table, ASKED)
    assert (table.counts.slept, table.counts.moves) == (1, 0)
    while perf_counter() - table.loop.looked_before < 1e-6:
        pass
    table.loop.looked_before = perf_counter()
    player.take(ended(Outcome.LATE), PLAYING)
    assert table.counts.told == 1
    assert not any(table.counts.faults.values())


def test_sleeper_that_loses_before_its_time_is_up_blames_the_server() -> None:
    table = at_table(begun=SLEEPERS // 2 - 1)
    playing(table, ASKED).take(ended(Outcome.LATE), PLAYING)
    assert len(table.counts.faults[Fault.SERVER]) == 1


@pytest.mark.parametrize("outcome", [Outcome.WON, Outcome.LOST])
def test_sleeper_that_does_not_lose_on_time_ends_the_run(outcome: Outcome) -> None:
    sleeper = playing(at_table(begun=SLEEPERS // 2 - 1), ASKED)
    with pytest.raises(OutOfStep, match="slept, and was told"):
        sleeper.take(ended(outcome), PLAYING)


def test_each_game_is_counted_by_its_loser() -> None:
    table = at_table()
    playing(table, ended(Outcome.WON))
    assert table.counts.games == 0
    playing(table, ended(Outcome.LOST))
    assert table.counts.games == 1


def test_bot_that_is_hung_up_on_after_a_game_goes() -> None:
    player = playing(at_table(), ended(Outcome.WON))
    player.come_back()
    assert player.is_gone


# The time that it has used.


def at(now: float, before: float | None = None) -> Look:
    return Look(now, now - 0.01 if before is None else before)


def test_loss_after_an_answer_in_time_is_the_servers_fault() -> None:
    used = UsedTime(1.5, renewed=True)
    used.asked(at(10.0))
    used.answered(11.4)
    assert not used.is_open
    assert used.lost(at(99.0)) is Fault.SERVER


def test_loss_after_an_answer_that_came_late_is_the_bots_own() -> None:
    used = UsedTime(1.5, renewed=True)
    used.asked(at(10.0))
    used.answered(11.6)
    assert used.lost(at(12.0)) is Fault.PLAYER


def test_nobody_can_tell_where_the_request_may_have_come_long_before_it_was_read() -> None:
    used = UsedTime(1.5, renewed=True)
    used.asked(at(10.0, before=9.0))
    used.answered(11.0)
    assert used.lost(at(12.0)) is Fault.UNKNOWN


def test_time_of_all_moves_is_added_in_a_game_on_a_clock() -> None:
    used = UsedTime(1.5, renewed=False)
    for now in (10.0, 20.0):
        used.asked(at(now, now))
        used.answered(now + 0.7)
    assert used.lost(at(30.0)) is Fault.SERVER
    used.asked(at(40.0, 40.0))
    used.answered(40.2)
    assert used.lost(at(50.0)) is Fault.PLAYER


def test_time_of_earlier_moves_does_not_count_where_each_has_its_own() -> None:
    used = UsedTime(1.5, renewed=True)
    for now in (10.0, 20.0, 30.0):
        used.asked(at(now))
        used.answered(now + 1.0)
    assert used.lost(at(40.0)) is Fault.SERVER
    assert used.moves == 3


@pytest.mark.parametrize(
    ("told", "fault"),
    [(at(11.4), Fault.SERVER), (at(11.505), Fault.UNKNOWN), (at(11.52), Fault.PLAYER)],
)
def test_loss_with_an_open_request_is_held_against_the_time_it_was_told(told: Look, fault: Fault) -> None:
    used = UsedTime(1.5, renewed=False)
    used.asked(at(10.0))
    assert used.is_open
    assert used.lost(told) is fault


def test_words_on_a_used_say_whether_it_had_answered() -> None:
    used = UsedTime(1.5, renewed=False)
    used.asked(at(10.0))
    assert str(used) == "had not answered, after 0 moves, of 1.5 s"
    used.answered(10.25)
    assert str(used) == "had answered within 0.250 s, after 1 moves, of 1.5 s"


# The log, and what is told of it.

LINE = (
    "2026-11-21 13:42:57,123 INFO    game 'p4-1b' beats 'p4-1a': "
    "time (after 1.502 s, the server was deaf for 0.031 s), moving first, moves 01"
)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (LINE, [("p4-1a", "0.031")]),
        (LINE.replace(", the server was deaf for 0.031 s", ""), [("p4-1a", None)]),
        *((LINE.replace("time", word), []) for word in ("four in a row", "left", "illegal move")),
    ],
)
def test_line_on_a_loss_on_time_is_found_with_the_servers_delay(
    line: str, found: list[tuple[str, str | None]]
) -> None:
    log = Log(LOSS)
    log.hear(f"{line}\n".encode())
    assert [(match["loser"], match["deaf"]) for match in log.found] == found


FAIR = Counts(games=100, moves=700, slept=2, told=2, losers=["a", "b"], stalls=2, seconds=3.25)
LOSSES = [("a", 0.1), ("b", 2.0), ("c", 0.1)]


@pytest.mark.parametrize(
    ("change", "losses", "missed"),
    [
        ({}, LOSSES, []),
        ({"faults": {**FAIR.faults, Fault.PLAYER: ["x"]}}, LOSSES, []),
        ({"faults": {**FAIR.faults, Fault.SERVER: ["x"]}}, LOSSES, ["by the server's fault"]),
        ({"faults": {**FAIR.faults, Fault.UNKNOWN: ["x"]}}, LOSSES, ["nobody can tell"]),
        ({"losers": ["a", "b", "d"]}, LOSSES, ["not in the log"]),
        ({}, [*LOSSES, ("d", None)], ["logged without the server's delay"]),
        ({"told": 1}, LOSSES, ["slept and were not told"]),
        ({"slept": 0, "told": 0}, LOSSES, ["nobody slept, so no loss was seen"]),
    ],
)
def test_whatever_is_not_as_it_should_be_misses_a_goal(
    change: dict[str, Any], losses: list[tuple[str, float | None]], missed: list[str]
) -> None:
    rows, _ = rows_of("x", replace(FAIR, **change), losses)
    assert [row.what for row in rows if row.is_missed] == missed


# As a command.

WORDS = "--games 60 --at-once 6 --stalls 1 --stall 0.6 --clock 0.4 --burners 1"
needs_redis = pytest.mark.skipif(redis_program() is None, reason="no Redis server here")


@pytest.mark.lab
@pytest.mark.parametrize(
    "where",
    [[], pytest.param(["--cluster"], marks=[needs_redis, pytest.mark.thorough])],
    ids=["alone", "cluster"],
)
def test_short_run_sees_those_lose_who_sleep(where: list[str], tmp_path: Path) -> None:
    """How fair it is here is no matter of this test, only whether the status tells."""
    report = tmp_path / "fairness.json"
    status = main(["fairness", *WORDS.split(), *where, "--json", str(report)])
    rows = json.loads(report.read_text())["rows"]
    for part in ("stalled", "overloaded"):
        found = {row["what"]: row["found"] for row in rows if row["part"] == part}
        assert found["games"] >= 30
        assert found["moves"] > 3 * found["games"]
        assert found["slept on purpose"] > 0
        assert found["slept and were not told"] == found["not in the log"] == 0
        assert (found["stalls"] >= 1) is (part == "stalled")
    assert status == int(any(row["missed"] for row in rows))


@pytest.mark.parametrize("words", [["--games", "0"], ["--stall", "-1"], ["--clock", "x"], ["more"]])
def test_bad_usage_is_status_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fairness", *words]) == 2
    assert capsys.readouterr().err.endswith("(--help tells more)\n")
