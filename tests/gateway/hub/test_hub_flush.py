"""The hub's news leave when it is done, and not before."""

import random
from collections.abc import Callable

import pytest

from gateway.game.clock import Terms
from gateway.game.commands import AtTable, Enter, Leave, Play
from gateway.game.events import Dismissed, Ended, Event, Moved, ToMove
from gateway.game.manners import Afterwards, Illegal, Manners
from gateway.hub.hub import Hub
from gateway.matchmaking.standard import LobbyAndTables

MANNERS = Manners(illegal=Illegal.RETRY, afterwards=Afterwards.STAND_BY)


class Box:
    """A mailbox that passes on what it holds when it is told to."""

    is_reachable = True

    def __init__(self, hub: Hub) -> None:
        self.held: list[Event] = []
        self.passed: list[Event] = []
        self.flushes = 0
        self.while_flushing: Callable[[], None] = lambda: None
        self._hub = hub

    def deliver(self, event: Event) -> None:
        if not self.held:
            self._hub.expect(self)
        self.held.append(event)

    def flush(self) -> None:
        self.flushes += 1
        self.while_flushing()
        self.passed += self.held
        self.held.clear()

    async def settle(self) -> None:
        raise AssertionError("only the timekeeper asks for that")


@pytest.fixture
def hub() -> Hub:
    return Hub(Terms(idle=10), LobbyAndTables(random.Random(0)))


def kinds(events: list[Event]) -> list[type[Event]]:
    return [type(event) for event in events]


def test_all_who_were_told_something_pass_it_on_once(hub: Hub) -> None:
    boxes = [Box(hub), Box(hub)]
    seats = [hub.open(box, MANNERS, 0) for box in boxes]
    for seat, name in zip(seats, ("ann", "bob"), strict=True):
        hub.submit(seat, Enter(AtTable("x"), name), 0)
    for box in boxes:
        box.passed.clear()
        box.flushes = 0
    hub.submit(seats[0], Play(3), 1)
    assert [kinds(box.passed) for box in boxes] == [[Moved], [Moved, ToMove]]
    assert [box.flushes for box in boxes] == [1, 1]


def test_nothing_is_passed_on_before_everybody_was_told(hub: Hub) -> None:
    boxes = [Box(hub), Box(hub)]
    seats = [hub.open(box, MANNERS, 0) for box in boxes]
    for seat, name in zip(seats, ("ann", "bob"), strict=True):
        hub.submit(seat, Enter(AtTable("x"), name), 0)
    held: list[list[type[Event]]] = []
    for box in boxes:
        box.while_flushing = lambda: held.append([*kinds(boxes[0].held), *kinds(boxes[1].held)])
    hub.submit(seats[0], Play(3), 1)
    assert sorted(map(str, held[0])) == sorted(map(str, [Moved, Moved, ToMove]))


def test_what_the_timekeeper_causes_is_passed_on(hub: Hub) -> None:
    boxes = [Box(hub), Box(hub)]
    seats = [hub.open(box, MANNERS, 0) for box in boxes]
    for seat, name in zip(seats, ("ann", "bob"), strict=True):
        hub.submit(seat, Enter(AtTable("x"), name), 0)
    request = next(event for event in boxes[0].passed if isinstance(event, ToMove))
    hub.handed(seats[0], request, 0)
    assert hub.tick(11) == [seats[0]]
    hub.flag(seats[0], 11)
    assert kinds(boxes[1].passed)[-1] is Ended


def test_good_byes_are_passed_on(hub: Hub) -> None:
    box = Box(hub)
    seat = hub.open(box, MANNERS, 0)
    hub.close(1)
    assert kinds(box.passed) == [Dismissed]
    hub.submit(seat, Leave(), 2)
    assert kinds(box.passed) == [Dismissed]
