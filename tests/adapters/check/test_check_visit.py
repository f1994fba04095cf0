"""What one connection of a bot does to it, and what a bot that is gone does to the check."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
import trio
import trio.testing
from worlds.memory_client import MemoryClient, socket_of

from adapters.check.checkup import Checkup, Task
from adapters.check.play import Play
from adapters.check.record import HangUp
from adapters.check.scenarios import Scenario, beat
from adapters.check.visit import Visit
from adapters.check.wire import CheckedSocket
from adapters.client.rules import Topic
from adapters.nac4.check import BOOK
from adapters.nac4.messages import PlayMove
from adapters.nac4.translator import Nac4Translator
from gateway.game.board import FIRST, SECOND, Board
from gateway.game.events import Ended, Introduced, Objection, Reason, Refused, Shown
from gateway.game.manners import Afterwards
from gateway.game.text import printable


class Connected:
    """A bot's connection, with nothing left to play."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self.bot = MemoryClient()
        self.wire = socket_of(self.bot, CheckedSocket)
        self.wire.prepare(frames=True, patience=1.0)
        self.checkups = {None: Checkup("(no name)", BOOK.rules, ()), "ann": Checkup("ann", BOOK.rules, ())}
        desk = SimpleNamespace(
            patience=1.0,
            slow=1.0,
            book=BOOK,
            of=self.checkups.__getitem__,
            strange=lambda _: "",
            hint=lambda _: "",
            hung_up=lambda: HangUp(0.0),
            may_be_slow=True,
            is_done=trio.Event(),
        )
        self.visit = Visit(desk, self.wire, nursery, Nac4Translator(None).manners)


@pytest.fixture
async def connected(autojump_clock):
    async with trio.open_nursery() as nursery:
        yield Connected(nursery)
        nursery.cancel_scope.cancel()


async def test_bot_that_is_gone_when_it_is_pinged_does_not_end_the_check(connected):
    connected.bot.reset()
    connected.visit.ping()
    await trio.testing.wait_all_tasks_blocked()
    assert connected.wire.pings == 1


async def test_bot_that_the_server_hangs_up_on_is_not_pinged_any_more(connected):
    assert connected.visit.waits() is None
    await trio.testing.wait_all_tasks_blocked()
    connected.visit.ping()
    assert connected.wire.pings == 0


@pytest.mark.parametrize("name", ["ann", None])
async def test_what_a_bot_did_wrong_before_it_gave_its_name_is_held_against_that_name(connected, name):
    connected.visit.unreadable("HELLO")
    if name is not None:
        connected.visit.told(Introduced(name), None)
    connected.visit.ended()
    faults = {key: [each.topic for each in found.faults] for key, found in connected.checkups.items()}
    assert faults == {None: [], "ann": [], name: [Topic.WORDS]}


async def test_bot_that_stops_where_its_move_was_refused_plays_full_columns_also_in_a_further_game(connected):
    visit, task = connected.visit, Task(Scenario(Topic.SPLIT, "", beat), 1)
    visit.told(Introduced("ann"), None)
    visit._games, visit._play = 2, Play(task)
    for event in (Shown("9k3fm-000001", Board()), Refused(Objection.COLUMN_FULL)):
        visit.told(event, PlayMove(0))
    visit.over(Ended("9k3fm-000001", Board(), FIRST, Reason.LEFT, leaver=SECOND))
    assert [each.topic for each in connected.checkups["ann"].faults] == [Topic.FULL]


@pytest.mark.parametrize("ends", [False, True])
async def test_bot_that_leaves_between_two_games_is_only_remarked_unless_it_breaks_a_series(connected, ends):
    visit = connected.visit
    if ends:
        visit.manners = replace(visit.manners, afterwards=Afterwards.HANG_UP)
    visit.told(Introduced("ann"), None)
    visit._games, visit._pending = 2, frozenset({Topic.WIN})
    visit._play = Play(Task(Scenario(Topic.SPLIT, "", beat), 1))
    visit.over(Ended("9k3fm-000001", Board(), FIRST, Reason.LEFT, leaver=SECOND))
    connected.checkups["ann"].conclude()
    (fault,) = connected.checkups["ann"].faults
    assert (fault.words, fault.is_grave) == ("it hung up when the next game had begun", ends)


async def test_game_that_the_end_of_the_check_cuts_short_is_held_against_nobody(connected):
    visit = connected.visit
    visit.told(Introduced("ann"), None)
    visit._games, visit._play = 1, Play(Task(Scenario(Topic.SPLIT, "", beat), 1))
    visit._desk.is_done.set()
    visit.over(Ended("9k3fm-000001", Board(), FIRST, Reason.LEFT, leaver=SECOND))
    visit.ended()
    connected.checkups["ann"].conclude()
    assert connected.checkups["ann"].faults == []


async def test_what_a_bot_said_is_escaped_once_where_it_is_shown(connected):
    connected.visit.unreadable("\ufeffconnect ann\n")
    connected.visit.ended()
    (fault,) = connected.checkups[None].faults
    assert printable(fault.words) == r"it said '\ufeffconnect ann', which is no message here"
