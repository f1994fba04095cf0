"""Mailboxes are flushed when the hub is done, once each; a seat lets go of whoever is gone."""

import ast
from dataclasses import fields

import pytest
from worlds.hub import STANDING_BY, STEPPING_OUT, Client, World
from worlds.server import ROOT

from gateway.game.events import Dismissed, Ended, Entered, Event, Moved, ToMove, Why
from gateway.hub.seats import Seat


class Box(Client):
    """A player whose mailbox passes on what it holds when it is flushed."""

    def __init__(self, world: World) -> None:
        self.passed: list[list[type[Event]]] = []
        self.unsent: list[type[Event]] = []
        self.others_unsent: list[type[Event]] = []
        """What the other one had not sent yet at the latest flush."""
        self.other = self
        super().__init__(world, STEPPING_OUT)

    def deliver(self, event: Event) -> None:
        super().deliver(event)
        if not self.unsent:
            self.world.hub.expect(self)
        self.unsent.append(type(event))

    def flush(self) -> None:
        self.others_unsent = [*self.other.unsent]
        self.passed.append(self.unsent)
        self.unsent = []


@pytest.fixture
def boxes() -> tuple[Box, Box]:
    """Return two who play, and have got all that there is for them."""
    world = World(idle=10.0)
    ann, bob = Box(world), Box(world)
    for box, other, name in ((ann, bob, "ann"), (bob, ann, "bob")):
        box.other = other
        box.enter(name=name)
    first, second = (ann, bob) if ann.moves_first else (bob, ann)
    first.passed, second.passed = [], []
    return first, second


def test_all_who_got_something_are_flushed_once_and_after_everybody_has_it(boxes: tuple[Box, Box]) -> None:
    boxes[0].play(3)
    assert [box.passed for box in boxes] == [[[Moved]], [[Moved, ToMove]]]
    assert any(box.others_unsent for box in boxes)


def test_what_the_time_causes_is_flushed(boxes: tuple[Box, Box]) -> None:
    boxes[0].hand()
    boxes[0].world.wait(11)
    assert [box.passed for box in boxes] == [[[Ended]], [[Ended]]]


def test_good_byes_are_flushed(boxes: tuple[Box, Box]) -> None:
    boxes[0].world.hub.close(1.0)
    boxes[0].leave()
    assert [box.passed for box in boxes] == [[[Dismissed]], [[Dismissed]]]


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
