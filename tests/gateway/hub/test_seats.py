"""A seat changes by its own methods alone, and lets go of whoever is gone."""

import ast
from dataclasses import fields

from worlds.hub import STANDING_BY, STEPPING_OUT, World
from worlds.server import ROOT

from gateway.game.events import Dismissed, Entered, Why
from gateway.hub.seats import Seat


def test_seat_lets_go_of_whoever_leaves_or_comes_too_late() -> None:
    world = World()
    ann, bob = world.client(STEPPING_OUT), world.client(STANDING_BY)
    ann.leave()
    world.hub.close(world.now)
    for client in (ann, bob, world.client(STEPPING_OUT)):
        heard = [*client.heard]
        assert isinstance(heard[-1], Dismissed)
        assert client.seat.mailbox is not client
        client.seat.deliver(Entered("ann"))
        assert client.heard == heard


def test_who_is_gone_has_nothing_left_to_settle() -> None:
    seat = World().client(STEPPING_OUT).seat
    seat.dismiss(Dismissed(Why.LEFT))
    assert next(seat.mailbox.settle().__await__(), "settled") == "settled"


def test_nothing_but_a_seat_assigns_to_the_fields_of_a_seat() -> None:
    names = {field.name for field in fields(Seat)}
    for path in (*(ROOT / "gateway").rglob("*.py"), *(ROOT / "adapters").rglob("*.py")):
        text = path.read_text()
        if "gateway.hub" in text or path.parent.name == "hub":
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
                    assert node.attr not in names or ast.unparse(node.value) == "self", path
