"""The hub's news leave when it is done, and not before."""

import random
from collections.abc import Callable

import pytest

from gateway.commands import AtTable, Enter, Leave, Play
from gateway.desk import Desk
from gateway.events import Dismissed, Ended, Event, Moved, ToMove
from gateway.hub import Rules
from gateway.manners import Afterwards, Illegal, Manners
from gateway.session import Terms

MANNERS = Manners(illegal=Illegal.RETRY, afterwards=Afterwards.STAND_BY)


class Box:
    """A mailbox that passes on what it holds when it is told to."""

    is_reachable = True

    def __init__(self, desk: Desk) -> None:
        self.held: list[Event] = []
        self.passed: list[Event] = []
        self.flushes = 0
        self.while_flushing: Callable[[], None] = lambda: None
        self._desk = desk

    def deliver(self, event: Event) -> None:
        if not self.held:
            self._desk.expect(self)
        self.held.append(event)

    def flush(self) -> None:
        self.flushes += 1
        self.while_flushing()
        self.passed += self.held
        self.held.clear()

    async def settle(self) -> None:
        raise AssertionError("only the timekeeper asks for that")


@pytest.fixture
def desk() -> Desk:
    return Desk(Rules(Terms(idle=10)), random.Random(0))


def kinds(events: list[Event]) -> list[type[Event]]:
    return [type(event) for event in events]


def test_all_who_were_told_something_pass_it_on_once(desk: Desk) -> None:
    boxes = [Box(desk), Box(desk)]
    seats = [desk.open(box, MANNERS, 0) for box in boxes]
    for seat, name in zip(seats, ("ann", "bob"), strict=True):
        desk.submit(seat, Enter(AtTable("x"), name), 0)
    for box in boxes:
        box.passed.clear()
        box.flushes = 0
    desk.submit(seats[0], Play(3), 1)
    assert [kinds(box.passed) for box in boxes] == [[Moved], [Moved, ToMove]]
    assert [box.flushes for box in boxes] == [1, 1]


def test_nothing_is_passed_on_before_everybody_was_told(desk: Desk) -> None:
    boxes = [Box(desk), Box(desk)]
    seats = [desk.open(box, MANNERS, 0) for box in boxes]
    for seat, name in zip(seats, ("ann", "bob"), strict=True):
        desk.submit(seat, Enter(AtTable("x"), name), 0)
    held: list[list[type[Event]]] = []
    for box in boxes:
        box.while_flushing = lambda: held.append([*kinds(boxes[0].held), *kinds(boxes[1].held)])
    desk.submit(seats[0], Play(3), 1)
    assert sorted(map(str, held[0])) == sorted(map(str, [Moved, Moved, ToMove]))


def test_what_the_timekeeper_causes_is_passed_on(desk: Desk) -> None:
    boxes = [Box(desk), Box(desk)]
    seats = [desk.open(box, MANNERS, 0) for box in boxes]
    for seat, name in zip(seats, ("ann", "bob"), strict=True):
        desk.submit(seat, Enter(AtTable("x"), name), 0)
    request = next(event for event in boxes[0].passed if isinstance(event, ToMove))
    desk.handed(seats[0], request, 0)
    assert desk.tick(11) == [seats[0]]
    desk.flag(seats[0], 11)
    assert kinds(boxes[1].passed)[-1] is Ended


def test_good_byes_are_passed_on(desk: Desk) -> None:
    box = Box(desk)
    seat = desk.open(box, MANNERS, 0)
    desk.close(1)
    assert kinds(box.passed) == [Dismissed]
    desk.submit(seat, Leave(), 2)
    assert kinds(box.passed) == [Dismissed]
