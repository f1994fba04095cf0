"""What a bot writes down of its own time when it plays, sleeps and loses."""

import random

import pytest

from conformance.lab.bench.script import OutOfStep
from conformance.lab.crowd.crowd import Crowd
from conformance.lab.crowd.member import Look
from conformance.lab.crowd.speech import Heard, Wish
from conformance.lab.fairness.ledger import Fault
from conformance.lab.fairness.players import SLEEPERS, Player, Table, Tally

LOOK, LATER = Look(1.0, 0.99), Look(2.0, 1.99)


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
    addresses = {"droidcon": ("127.0.0.1", 1)}
    return Table(Crowd(), Tally(begun=begun), AtOnce(1), addresses, 1.5e9, lambda: True)


def playing(table: Table, *news: Heard) -> Mute:
    player = Mute(table)
    for heard in (Heard.BEGUN, *news):
        player.hears(heard, LOOK)
    return player


def test_bot_that_answered_and_is_told_that_it_lost_on_time_blames_the_server() -> None:
    table = at_table()
    player = playing(table, Heard.ASKED)
    assert table.tally.moves == 1
    player.hears(Heard.LATE, LATER)
    assert len(table.tally.faults[Fault.SERVER]) == 1
    assert table.tally.losers == ["ann"]
    assert (table.tally.games, player.overs) == (1, 1)


def asleep(table: Table) -> Mute:
    return playing(table, Heard.ASKED)


def test_one_in_so_many_falls_asleep_and_its_loss_is_counted_apart() -> None:
    table = at_table(begun=SLEEPERS // 2 - 1)
    table.clock = 0.5
    player = asleep(table)
    assert (table.tally.slept, table.tally.moves) == (1, 0)
    player.hears(Heard.LATE, LATER)
    assert table.tally.told == 1
    assert not any(table.tally.faults.values())


def test_sleeper_that_loses_before_its_time_is_up_blames_the_server() -> None:
    table = at_table(begun=SLEEPERS // 2 - 1)
    asleep(table).hears(Heard.LATE, LATER)
    assert len(table.tally.faults[Fault.SERVER]) == 1


@pytest.mark.parametrize("heard", [Heard.WON, Heard.LOST])
def test_sleeper_that_does_not_lose_on_time_ends_the_run(heard: Heard) -> None:
    with pytest.raises(OutOfStep, match="slept, and was told"):
        asleep(at_table(begun=SLEEPERS // 2 - 1)).hears(heard, LATER)


def test_each_game_is_counted_by_its_loser() -> None:
    table = at_table()
    playing(table, Heard.WON)
    assert table.tally.games == 0
    playing(table, Heard.LOST)
    assert table.tally.games == 1


def test_bot_that_is_hung_up_on_in_a_game_ends_the_run() -> None:
    with pytest.raises(OutOfStep, match="hung up"):
        playing(at_table()).is_left()


def test_bot_that_is_hung_up_on_after_a_game_goes() -> None:
    player = playing(at_table(), Heard.WON)
    player.is_left()
    assert player.is_gone
