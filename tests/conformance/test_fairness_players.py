"""What a bot writes down of its own time when it plays, sleeps and loses."""

import random
from dataclasses import replace
from time import perf_counter

import pytest

from conformance.dialects.script import Outcome, OutOfStep, Phase, Place, Wish
from conformance.lab.bots import Reading
from conformance.lab.fairness.players import SLEEPERS, Player, Table
from conformance.lab.fairness.used import Fault
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

    def __init__(self, table: Table) -> None:
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


def at_table(*, begun: int = 0) -> Table:
    """Return a table for a player before whom so many games have begun."""
    address = Address("127.0.0.1", 1)
    table = Table({"droidcon": address}, AtOnce(1), 1.5e9, lambda: True)
    table.counts.begun = begun
    return table


def playing(table: Table, *turns: Reading) -> Mute:
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
    while perf_counter() - table.group.looked_before < 1e-6:
        pass
    table.group.looked_before = perf_counter()
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
