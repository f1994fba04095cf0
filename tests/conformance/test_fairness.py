"""Losses on time: a bot's own time, what it does when it sleeps and loses, the log, and short runs."""

import random
from dataclasses import replace
from time import perf_counter
from typing import Any

import pytest

from conformance.dialects.script import SHORT, Outcome, OutOfStep, Phase, Place, Wish
from conformance.lab.bots import PLAIN, Reading, readings_of
from conformance.lab.fairness import LOSS, SLEEPERS, Counts, Fault, Games, Look, Player, UsedTime, rows_of
from conformance.lab.servers import Log
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
        self.overs: list[str] = []
        readings = readings_of(PLAIN, [SHORT], timed=True)["droidcon"]
        super().__init__(readings, Wish("ann", table="t"), Address("127.0.0.1", 1), table, renewed=True)
        self.replace = lambda: self.overs.append("replaced")

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
    assert (table.counts.games, player.overs) == (1, ["replaced"])


def test_one_in_so_many_falls_asleep_and_its_loss_is_counted_apart() -> None:
    table = at_table(begun=SLEEPERS // 2 - 1)
    table.clock = 1e-9
    player = playing(table, ASKED)
    assert (table.counts.slept, table.counts.moves) == (1, 0)
    while perf_counter() - table.looked_before < 1e-6:
        pass
    table.looked_before = perf_counter()
    player.take(ended(Outcome.LATE), PLAYING)
    assert table.counts.told == 1
    assert not any(table.counts.faults.values())


@pytest.mark.parametrize("outcome", [Outcome.WON, Outcome.LOST])
def test_sleeper_that_does_not_lose_on_time_ends_the_run(outcome: Outcome) -> None:
    sleeper = playing(at_table(begun=SLEEPERS // 2 - 1), ASKED)
    with pytest.raises(OutOfStep, match="slept, and was told"):
        sleeper.take(ended(outcome), PLAYING)


# The time that it has used.


@pytest.mark.parametrize(
    ("renewed", "answers", "lost", "fault"),
    [
        (True, [(10.0, 10.0, 11.4)], 99.0, Fault.SERVER),
        (True, [(10.0, 10.0, 11.6)], 12.0, Fault.PLAYER),
        (True, [(9.0, 10.0, 11.0)], 12.0, Fault.UNKNOWN),  # it may have come long before it was read
        (False, [(10.0, 10.0, 10.7), (20.0, 20.0, 20.7)], 30.0, Fault.SERVER),
        (False, [(10.0, 10.0, 10.7), (20.0, 20.0, 20.9)], 30.0, Fault.PLAYER),
        (True, [(10.0, 10.0, 10.7), (20.0, 20.0, 20.9)], 30.0, Fault.SERVER),  # each move has its own time
        (False, [(9.99, 10.0, None)], 11.4, Fault.SERVER),
        (False, [(9.99, 10.0, None)], 11.505, Fault.UNKNOWN),
        (False, [(9.99, 10.0, None)], 11.52, Fault.PLAYER),
    ],
)
def test_loss_is_the_fault_of_whoever_used_the_time(
    renewed: bool, answers: list[tuple[float, float, float | None]], lost: float, fault: Fault
) -> None:
    """Each answer: the look before its request was read, when it was read, and when it was answered."""
    used = UsedTime(1.5, renewed=renewed)
    for before, read, answered in answers:
        used.asked(Look(read, before))
        if answered is not None:
            used.answered(answered)
    assert used.lost(Look(lost, lost - 0.01)) is fault


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


FAIR = Counts(games=100, moves=700, slept=2, told=2, losers=["a", "b"], seconds=3.25)
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
    rows, _ = rows_of("x", replace(FAIR, **change), 2, losses)
    assert [row.what for row in rows if row.is_missed] == missed
