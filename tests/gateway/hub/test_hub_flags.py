"""When flags are looked at: seldom, and never too late."""

import pytest
from worlds.hub import FIRST_WINS, HANGING_UP, STANDING_BY, STEPPING_OUT, TABLE, Client, World

from gateway.game.manners import Manners


def seated(world: World, manners: Manners) -> tuple[Client, Client]:
    """Return two at a table, the first mover first."""
    one, two = world.client(manners), world.client(manners)
    one.enter(TABLE, "ann")
    two.enter(TABLE, "bob")
    return one, two


def due(world: World) -> list[object]:
    return [seat.mailbox for seat in world.hub.tick(world.now)]


@pytest.mark.parametrize("manners", [STANDING_BY, STEPPING_OUT])
def test_a_flag_is_due_at_its_own_deadline_however_many_were_before_it(manners: Manners) -> None:
    world = World(clock=10.0, idle=10.0)
    players = seated(world, manners)
    for ply in range(9):
        mover = players[ply % 2]
        mover.hand()
        world.now += 1.0
        assert due(world) == []
        mover.play(ply % 7)
    players[1].hand()  # of ten seconds for the game it has spent four
    deadline = world.now + (6.0 if manners.clocked else 10.0)
    world.now = deadline - 0.01
    assert due(world) == []
    world.now = deadline
    assert due(world) == [players[1]]
    assert due(world) == []


def test_flags_are_due_earliest_first_though_looked_at_in_another_order() -> None:
    world = World(idle=10.0)
    early, late = seated(world, STEPPING_OUT), [world.arena(name) for name in ("cid", "dan")]
    early[0].hand()
    late.sort(key=lambda client: not client.moves_first)
    world.now = 1.0
    late[0].hand()
    world.now = 5.0
    early[0].play(0)
    early[1].hand()  # until 15, where the queue still says 10 for this table and 11 for the others
    world.now = 20.0
    assert due(world) == [late[0], early[1]]


def test_every_round_of_a_series_has_its_flags() -> None:
    world = World(idle=10.0)
    one, two = seated(world, HANGING_UP)
    for first in (one, two):
        first.hand()
        world.now += 1.0
        world.play(FIRST_WINS, (one, two))
    one.hand()
    world.now += 9.9
    assert due(world) == []
    world.now += 0.2
    assert due(world) == [one]
