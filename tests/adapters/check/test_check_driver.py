"""What a connection records, and what a bot that is gone does to the check."""

import pytest
import trio
import trio.testing
from worlds.memory_client import MemoryClient, socket_of

from adapters.check.bots import NAMELESS, Bots
from adapters.check.driver import Driver
from adapters.check.judging import STUCK
from adapters.check.options import CheckOptions
from adapters.check.record import Mark, Refusal
from adapters.check.wire import CheckedSocket
from adapters.client.contract import WireError
from adapters.client.rules import Topic
from adapters.nac4.check import REQUIREMENTS
from adapters.nac4.options import Nac4Options
from gateway.game.board import FIRST, Board
from gateway.game.events import Introduced, Moved
from gateway.game.text import printable


class Connected:
    """A bot's connection."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self.bot = MemoryClient()
        self.wire = socket_of(self.bot, CheckedSocket)
        self.wire.prepare(frames=True, patience=1.0)
        self.bots = Bots(CheckOptions(patience=1.0, bots=2, own=Nac4Options()), REQUIREMENTS)
        self.driver = Driver(self.bots, self.wire, nursery, "")

    def say_hello(self) -> None:
        """Let the bot say something that is no message."""
        with pytest.raises(WireError):
            self.driver.tap.decode("\ufeffHELLO\n")


@pytest.fixture
async def connected(autojump_clock):
    async with trio.open_nursery() as nursery:
        yield Connected(nursery)
        nursery.cancel_scope.cancel()


async def test_bot_that_is_gone_when_it_is_pinged_does_not_end_the_check(connected):
    connected.bot.reset()
    connected.driver.ping()
    await trio.testing.wait_all_tasks_blocked()
    assert connected.wire.pings == 1


async def test_bot_that_does_nothing_is_waited_for_and_hung_up_on(connected, autojump_clock):
    await trio.sleep(3.9)
    assert connected.driver.record == []
    await trio.sleep(0.2)
    assert Mark.CLOSING in connected.driver.record


@pytest.mark.parametrize(("moves", "is_over"), [(0, True), (1, False)])
async def test_bot_that_says_nothing_but_what_is_no_message_is_hung_up_on(connected, moves, is_over):
    for each in range(STUCK):
        connected.say_hello()
        if each < moves:
            connected.driver.moved(Moved("g", FIRST, 3, Board().drop(3)))
    await trio.testing.wait_all_tasks_blocked()
    assert connected.driver.is_closing == is_over


@pytest.mark.parametrize("name", ["ann", None])
async def test_what_a_bot_did_wrong_before_it_gave_its_name_is_held_against_that_name(connected, name):
    connected.say_hello()
    if name is not None:
        connected.driver.on_event(Introduced(name), None)
    connected.driver.ended()
    (found,) = connected.bots.conclude()
    assert found.name == (name or NAMELESS)
    (fault,) = found.faults
    assert fault.topic is Topic.WORDS
    # what it said is escaped once, where it is shown
    assert printable(fault.words) == r"it sent '\ufeffHELLO', which is no message here"


async def test_what_the_end_of_the_check_cuts_short_is_held_against_nobody(connected):
    connected.driver.on_event(Introduced("ann"), None)
    connected.bots.is_done.set()
    connected.say_hello()
    connected.driver.ended()
    assert not any(isinstance(what, Refusal) for what in connected.driver.record)
    (found,) = connected.bots.conclude()
    assert found.faults == []
