"""A seat changes by its own methods alone, and is let go of by whoever is gone."""

import ast
from dataclasses import fields
from pathlib import Path

from worlds.hub import STANDING_BY, STEPPING_OUT, World

from gateway.game.commands import Leave
from gateway.game.events import Dismissed, Entered, Why
from gateway.hub.seats import Seat


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


ROOT = Path(__file__).parents[3]
SOURCES = [path for place in ("gateway", "adapters") for path in sorted((ROOT / place).rglob("*.py"))]


def assigned(path: Path) -> list[str]:
    """Return the attributes that a module assigns to, but for those of `self`."""
    attributes = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Attribute)]
    changed = [node for node in attributes if not isinstance(node.ctx, ast.Load)]
    return [node.attr for node in changed if ast.unparse(node.value) != "self"]


def test_nothing_but_a_seat_assigns_to_the_fields_of_a_seat() -> None:
    names = {field.name for field in fields(Seat)}
    assert names >= {"situation", "pending", "question", "mailbox"}
    for path in SOURCES:
        if "hub" in path.parts or "gateway.hub" in path.read_text():
            assert not names & {*assigned(path)}, path


def test_mistakes_end_in_the_hub_and_those_of_subscribers_in_the_feed() -> None:
    catching = {
        path.name
        for path in (ROOT / "gateway/hub").glob("*.py")
        if any(isinstance(node, ast.Try) for node in ast.walk(ast.parse(path.read_text())))
    }
    assert catching == {"hub.py", "feed.py"}
