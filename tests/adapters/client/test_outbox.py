"""What waits for a client, until it reads or until a result is stored; and the evidence of what was said."""

import logging

import pytest
import trio
import trio.testing
from worlds.connection import PING, Framing, answered, connections, frame

from gateway.game.board import FIRST, SECOND
from gateway.game.events import Entered, Introduced
from gateway.game.facts import Fact
from gateway.game.results import Finished

pytestmark = pytest.mark.trio

KB = 1024
NOISE = Introduced("x" * 1020)
"""Not more than 1024 bytes as a line or a frame."""
STOPPED_READING = (1008, "stopped reading")


# Slow clients.


async def test_client_for_whom_more_than_256_kb_wait_is_hung_up_on_and_nobody_else_is_touched(
    framing: Framing, caplog: pytest.LogCaptureFixture
) -> None:
    async with connections() as world:
        ann, bob = await world.game(framing)
        cid, dan = await world.connect(framing), await world.connect(framing)
        cid.say("x")
        bob.stops_reading()
        ann.say("play 3")
        await world.quiet()
        for _ in range(255):
            world.tell(bob, NOISE)
        await world.quiet()
        assert ann.texts == ["Moved"]
        for _ in range(3):
            world.tell(bob, NOISE)
        dan.say("y")
        await world.quiet()
        assert (bob.texts, ann.texts) == ([], ["Moved", "Ended"])
        assert [*answered(cid.texts), *answered(dan.texts)] == ["x", "y"]
        assert not any(each.is_hung_up_on for each in (ann, cid, dan))
        bob.reads_on()
        await world.quiet()
        assert bob.is_dismissed(*STOPPED_READING)
        assert bob.texts[0] == "Moved"
        assert {*bob.texts[1:]} == {"x" * 1020}
        assert world.hub.feed.counts["dropped", ""] == 1
    assert [each.getMessage() for each in caplog.records if each.levelno >= logging.WARNING] == []


@pytest.mark.parametrize("room", [0, 3])
async def test_client_that_does_not_take_a_message_in_within_five_seconds_is_hung_up_on(
    framing: Framing, room: int, autojump_clock: trio.testing.MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with connections() as world:
        ann, bob = await world.game(framing)
        bob.stops_reading(room)
        ann.say("play 3")
        await trio.sleep(4.9)
        assert ann.texts == ["Moved"]
        await trio.sleep(0.2)
        assert ann.texts == ["Moved", "Ended"]
        await trio.sleep(2)
        assert bob.socket.is_closed
        assert bob.texts == []
        [line] = [each for each in caplog.records if each.name == "gateway.connections"]
        assert vars(line)["cause"] == "stopped reading"


async def test_client_that_takes_in_a_little_now_and_then_has_five_seconds_for_all_of_it(
    framing: Framing, autojump_clock: trio.testing.MockClock
) -> None:
    async with connections() as world:
        ann = await world.connect(framing)
        ann.stops_reading()
        ann.say("x" * 1000)
        for _ in range(4):
            await trio.sleep(1)
            ann.stops_reading(100)
            ann.socket.changed.unpark_all()
        assert not ann.is_hung_up_on
        await trio.sleep(3.5)
        assert ann.socket.is_closed


@pytest.mark.parametrize(("texts", "unread"), [(28, 0), (100, 65)])
async def test_client_for_whom_more_than_32_kb_wait_is_not_read(
    framing: Framing, texts: int, unread: int
) -> None:
    async with connections() as world:
        ann, bob = await world.connect(framing), await world.connect(framing, "bob")
        ann.stops_reading()
        for _ in range(texts):
            ann.say("x" * 1000)
        ann.say("enter ann")
        await world.quiet()
        assert bob.texts == ["Entered", "Started"][: 1 if unread else 2]
        assert abs(ann.unread - unread * KB) <= 16 * KB
        ann.reads_on()
        await world.quiet()
        assert bob.texts == ["Entered", "Started"]
        assert len(answered(ann.texts)) == texts


async def test_pings_do_not_pile_up_for_a_client_that_reads_no_pongs() -> None:
    async with connections() as world:
        ann = await world.connect("websocket")
        ann.stops_reading()
        for _ in range(1000):
            ann.send(frame(PING, b"x" * 125))
            await world.quiet()
        assert ann.unread > 70_000
        ann.reads_on()
        await world.quiet()
        assert len(ann.frames) == 1000


async def test_server_holds_so_much_for_all_clients_and_then_hangs_up_on_the_one_with_most(
    framing: Framing, autojump_clock: trio.testing.MockClock
) -> None:
    async with connections(backlog=100 * KB) as world:
        crowd = [await world.connect(framing) for _ in range(4)]
        for is_too_much in (False, True):  # what was let in counts no more
            for number, each in enumerate(crowd):
                each.stops_reading()
                for _ in range(38 if number == 1 else 20):
                    world.tell(each, NOISE)
            if is_too_much:
                for _ in range(15):
                    world.tell(crowd[3], NOISE)
            await trio.sleep(3)
            assert [each.is_hung_up_on for each in crowd] == [False, is_too_much, False, False]
            for each in crowd:
                each.reads_on()
            await world.quiet()
        assert world.hub.feed.counts["dropped", ""] == 1


# Results.


async def test_nobody_hears_of_a_result_nor_of_what_is_behind_it_before_it_is_safe(framing: Framing) -> None:
    async with connections() as world:
        ann, bob = await world.game(framing)
        heard: list[Fact] = []
        ended = world.hub.feed.subscribe(lambda: heard.extend(ended.take()), [Finished])
        world.results.hold()
        ann.say("play 3")
        ann.hangs_up()
        await world.quiet()
        bob.say("x", "y")
        await world.quiet()
        assert (ann.texts, bob.texts, heard) == (["Moved"], ["Moved"], [])
        world.results.store()
        await world.quiet()
        assert ann.texts == ["Moved", "Ended"]
        assert [*bob.texts[:2], *answered(bob.texts)] == ["Moved", "Ended", "x", "y"]
        assert heard == [*world.results.kept.values()]
        assert world.results.enclosed() == {}  # nobody keeps evidence


async def test_what_a_client_takes_in_slowly_goes_before_the_wait_for_a_result(framing: Framing) -> None:
    async with connections() as world:
        ann, bob = await world.game(framing)
        world.results.hold()
        bob.stops_reading()
        ann.say("play 3")
        ann.hangs_up()
        await world.quiet()
        world.results.store()
        await world.quiet()
        assert bob.texts == []
        bob.reads_on()
        await world.quiet()
        assert bob.texts == ["Moved", "Ended"]


@pytest.mark.parametrize("how", ["resets", "hangs up"])
async def test_client_that_leaves_while_much_waits_for_a_result_leaves_at_once(
    framing: Framing, how: str
) -> None:
    async with connections() as world:
        ann, bob = await world.game(framing)
        world.results.hold()
        ann.hangs_up()
        await world.quiet()
        for _ in range(200):
            world.tell(bob, NOISE)
        bob.resets() if how == "resets" else bob.hangs_up()
        await world.quiet()
        assert len(world.hub) == 0


@pytest.mark.parametrize("noise", [255, 256])
@pytest.mark.parametrize("at_once", [False, True])
async def test_more_than_256_events_that_wait_for_a_result_are_too_many(
    framing: Framing, noise: int, at_once: bool
) -> None:
    async with connections() as world:
        ann, bob = await world.game(framing)
        world.results.hold()
        ann.hangs_up()
        await world.quiet()
        for _ in range(noise):
            world.tell(bob, Entered("noise"))
        if at_once:  # before the client's task has noticed
            world.results.store()
        await world.quiet()
        world.results.store()
        await world.quiet()
        if noise < 256:
            assert bob.texts == ["Ended", *["Entered"] * noise]
            assert not bob.is_hung_up_on
        else:
            assert bob.texts == []
            assert bob.is_dismissed(*STOPPED_READING)


async def test_little_of_a_client_is_heard_while_its_answers_wait_for_a_result(framing: Framing) -> None:
    async with connections() as world:
        ann, bob = await world.game(framing)
        world.results.hold()
        ann.hangs_up()
        await world.quiet()
        for number in range(100):
            bob.say(f"{number} {'x' * 1000}")
            await world.quiet()
        assert bob.unread > 85_000
        world.results.store()
        await world.quiet()
        assert [text.split()[0] for text in answered(bob.texts)] == [str(number) for number in range(100)]


# Evidence.


async def test_evidence_is_handed_in_after_the_end_was_told_and_holds_that_too(framing: Framing) -> None:
    async with connections(keeps_wire=True) as world:
        ann, bob = await world.game(framing)
        world.results.hold()
        ann.say("play 3", "x!", "play 9")
        await world.quiet()
        bob.say("play 9")
        await world.quiet()
        ann.hangs_up()
        await world.quiet()
        assert world.results.enclosed() == {}
        world.results.store()
        await world.quiet()
        assert world.results.enclosed() == {
            FIRST: [
                "< Started",
                "> play 3",
                "< Moved",
                "> x! (PLAYING|UNREADABLE)",
                "< Refused PLAYING|UNREADABLE x!",
                "> play 9 (NOT_YOUR_TURN|OUTSIDE)",
                "< Refused NOT_YOUR_TURN|OUTSIDE play 9",
                "-- (hung up)",
                "< Ended",
                "-- (aborted: this player left before both had moved)",
            ],
            SECOND: [
                "< Started",
                "< Moved",
                "> play 9 (OUTSIDE)",
                "< Refused OUTSIDE play 9",
                "< Ended",
                "-- (aborted: the opponent left before both had moved)",
            ],
        }


@pytest.mark.parametrize("unnoticed", [False, True])
async def test_evidence_of_a_client_that_vanished_has_no_text_that_never_left(
    framing: Framing, unnoticed: bool
) -> None:
    async with connections(keeps_wire=True) as world:
        ann, bob = await world.game(framing)
        bob.resets(unnoticed=unnoticed)
        ann.say("play 3")
        await world.quiet()
        assert world.results.enclosed()[SECOND] == [
            "< Started",
            "-- (the connection ended)",
            "-- (aborted: this player left before both had moved)",
        ]
        assert world.results.enclosed()[FIRST][-1] == "-- (aborted: the opponent left before both had moved)"


async def test_evidence_says_once_how_a_client_left_that_cannot_be_told_of_the_end(framing: Framing) -> None:
    async with connections(keeps_wire=True) as world:
        ann, _ = await world.game(framing)
        world.results.hold()
        ann.hangs_up()
        await world.quiet()
        ann.resets(unnoticed=True)
        world.results.store()
        await world.quiet()
        assert world.results.enclosed()[FIRST] == [
            "< Started",
            "-- (hung up)",
            "-- (aborted: this player left before both had moved)",
        ]


async def test_evidence_says_who_stopped_reading(framing: Framing) -> None:
    async with connections(keeps_wire=True) as world:
        ann, bob = await world.game(framing)
        bob.stops_reading()
        ann.say("play 3")
        await world.quiet()
        for _ in range(300):
            world.tell(bob, NOISE)
        await world.quiet()
        assert world.results.enclosed()[SECOND][:2] == ["< Started", "< Moved"]
        assert world.results.enclosed()[SECOND][-3:] == [
            "-- (stopped reading)",
            "-- (the connection ended)",
            "-- (aborted: this player left before both had moved)",
        ]
