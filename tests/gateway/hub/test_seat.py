from hub_world import STANDING_BY, STEPPING_OUT, World

from gateway.game.commands import Leave
from gateway.game.events import Dismissed, Entered, Why


def test_who_is_gone_hears_nothing_more() -> None:
    client = World().client(STEPPING_OUT)
    client.seat.dismiss(Dismissed(Why.LEFT))
    client.seat.deliver(Entered("ann"))
    assert client.heard == [Dismissed(Why.LEFT)]


def test_who_is_gone_has_nothing_left_to_say() -> None:
    seat = World().client(STEPPING_OUT).seat
    seat.dismiss(Dismissed(Why.LEFT))
    settling = seat.mailbox.settle()
    assert next(settling.__await__(), "settled") == "settled"


def test_a_seat_lets_go_of_whoever_leaves_or_comes_too_late() -> None:
    world = World()
    ann, bob = world.client(STEPPING_OUT), world.client(STANDING_BY)
    ann.say(Leave())
    world.hub.close(world.now)
    cid = world.client(STEPPING_OUT)
    for client in (ann, bob, cid):
        assert client.gone
        assert client.seat.mailbox is not client
