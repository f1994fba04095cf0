"""Whether a client is still there: pings, probes, and what a client that may think need not answer."""

import logging
from dataclasses import replace

import pytest
import trio
import trio.testing
from worlds.connection import (
    PING,
    PONG,
    TEXT,
    Client,
    Framing,
    ToyTranslator,
    World,
    connections,
    frame,
)

from gateway.game.commands import LOBBY

pytestmark = pytest.mark.trio

UNANSWERED = (1008, "did not answer when its name was asked for")


# Pings.


async def test_websocket_is_pinged_every_20_seconds(autojump_clock: trio.testing.MockClock) -> None:
    async with connections() as world:
        ann = await world.connect("websocket")
        for number in range(3):
            await trio.sleep(19)
            assert len(ann.frames) == number
            await trio.sleep(1)
        await trio.sleep(0.1)
        assert ann.frames == [(PING, b"")] * 3


async def seconds_kept(client: Client) -> float | None:
    """Let 70 seconds pass; return for how many of them a client was kept, None for all."""
    begin = trio.current_time()
    await trio.sleep(70)
    return None if client.hung_up_at is None else client.hung_up_at - begin


@pytest.mark.parametrize("is_read", [True, False])
async def test_client_from_which_nothing_comes_until_the_next_ping_is_gone_unless_it_is_not_read(
    is_read: bool, autojump_clock: trio.testing.MockClock
) -> None:
    async with connections() as world:
        ann = await world.connect("websocket")
        ann.answers = False
        if not is_read:
            world.matchmaker.thinks = True
            ann.say("enter ann")
        assert await seconds_kept(ann) == (pytest.approx(40, abs=1) if is_read else None)


@pytest.mark.parametrize(
    ("framing", "says"),
    [
        ("websocket", frame(PONG, "abc")),
        ("websocket", frame(PING)),
        ("websocket", frame(TEXT, "x")),
        ("lines", b""),
    ],
    ids=["pong", "ping", "text", "lines, nothing"],
)
async def test_client_from_which_anything_comes_is_kept_and_one_of_lines_without(
    framing: Framing, says: bytes, autojump_clock: trio.testing.MockClock
) -> None:
    async with connections() as world:
        ann = await world.connect(framing)
        ann.answers = False
        for _ in range(4):
            await trio.sleep(19)
            ann.send(says)
        assert not ann.is_hung_up_on


@pytest.mark.parametrize(
    ("says", "idle", "seconds"),
    [
        ([], 300, None),
        (["x", "what!", "play 7"], 300, None),  # and is still to move
        (["play 3"], 300, 40),
        ([], 21, 60),  # it was to move at the first ping
    ],
)
async def test_client_in_a_game_has_to_answer_pings_unless_it_is_to_move(
    says: list[str], idle: float, seconds: float | None, autojump_clock: trio.testing.MockClock
) -> None:
    async with connections(idle=idle) as world:
        ann, _ = await world.game("websocket")
        ann.answers = False
        ann.say(*says)
        assert await seconds_kept(ann) == (seconds and pytest.approx(seconds, abs=1))


async def test_client_that_may_not_know_of_the_end_of_its_game_need_not_answer_pings(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with connections(idle=300) as world:
        ann, bob = await world.game("websocket")
        ann.answers = False
        world.results.hold()
        bob.hangs_up()
        await trio.sleep(70)
        assert (ann.texts, ann.is_hung_up_on) == ([], False)
        world.results.store()
        await world.quiet()
        assert ann.texts == ["Ended"]
        assert 20 <= (await seconds_kept(ann) or 0) <= 61


@pytest.mark.parametrize("after", [0.0, 21.0])
async def test_client_that_owes_a_pong_for_five_seconds_is_not_paired(
    after: float, autojump_clock: trio.testing.MockClock
) -> None:
    async with connections() as world:
        await trio.sleep(after)
        ann = await world.connect("websocket", "ann")
        ann.answers = False
        await trio.sleep(24.9)
        assert ann.is_reachable
        await trio.sleep(1)
        assert not ann.is_reachable
        bob = await world.connect("websocket", "bob")
        assert bob.texts == ["Entered"]
        ann.send(frame(PONG))
        await trio.sleep(3)
        assert ann.is_reachable
        assert (ann.texts, bob.texts) == (["Entered", "Started"], ["Entered", "Started"])


async def test_client_whose_system_does_not_answer_is_not_paired(
    framing: Framing, autojump_clock: trio.testing.MockClock
) -> None:
    async with connections() as world:
        ann = await world.connect(framing, "ann")
        ann.vanishes()
        bob = await world.connect(framing, "bob")
        await trio.sleep(3)
        assert bob.texts == ["Entered"]


async def test_pong_that_came_while_the_server_stood_still_counts(mock_clock: trio.testing.MockClock) -> None:
    async with connections() as world:
        ann = await world.connect("websocket")
        ann.answers = False
        for number in range(10):
            assert len(ann.frames) == number
            ann.send(frame(PONG))
            mock_clock.jump(21)  # the next ping is due, and the pong is not read yet
            for _ in range(20):
                await world.quiet()
                mock_clock.jump(0.001)
        assert not ann.is_hung_up_on


# Probes.


class Holder(ToyTranslator):
    """Sits at a table that others may sit at too, under a name that no other may have."""

    manners = replace(ToyTranslator.manners, unique_name=True)


async def newcomer(world: World, framing: Framing, name: str = "ann") -> Client:
    """Return a client that asks for a name."""
    client = await world.connect(framing, translator=Holder())
    client.say(f"enter {name}")
    await world.quiet()
    return client


async def test_client_that_answers_no_probe_is_hung_up_on_for_its_successor(
    framing: Framing, autojump_clock: trio.testing.MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with connections() as world:
        old = await newcomer(world, framing)
        old.vanishes()
        await trio.sleep(1)
        new = await newcomer(world, framing)
        await trio.sleep(2.9)
        assert (new.texts, old.is_hung_up_on) == ([], False)
        await trio.sleep(0.2)
        assert (new.texts, len(world.hub)) == (["Entered"], 1)
        await trio.sleep(2)
        assert old.is_dismissed(*UNANSWERED)
        assert old.socket.is_closed
    assert UNANSWERED[1] in caplog.text


@pytest.mark.parametrize("late", [0.0, 2.9])
async def test_client_that_answers_a_probe_in_time_keeps_its_name(
    late: float, framing: Framing, autojump_clock: trio.testing.MockClock
) -> None:
    """By lines its system answers."""
    async with connections() as world:
        old = await newcomer(world, framing)
        old.answers = late == 0
        new = await newcomer(world, framing)
        await trio.sleep(late)
        if late and framing == "websocket":
            assert new.texts == []
            old.send(frame(PONG))
        await trio.sleep(0.2 if late else 0.1)
        assert new.texts == ["Refused NAME_TAKEN enter ann"]
        assert (old.texts, old.is_hung_up_on) == (["Entered"], False)


@pytest.mark.parametrize(
    ("system", "kept"), [(True, True), (False, False)], ids=["its system answers", "nothing answers"]
)
async def test_client_that_is_to_move_is_there_if_its_system_is(
    system: bool, kept: bool, framing: Framing, autojump_clock: trio.testing.MockClock
) -> None:
    async with connections() as world:
        old, _ = await newcomer(world, framing), await newcomer(world, framing, "bob")
        assert old.texts == ["Entered", "Started"]
        old.answers = False
        if not system:
            old.vanishes()
        await trio.sleep(1)
        new = await newcomer(world, framing)
        await trio.sleep(0.1)
        assert new.texts == (["Refused NAME_TAKEN|TABLE_FULL enter ann"] if kept else [])
        await trio.sleep(5)
        assert old.is_hung_up_on is not kept


@pytest.mark.parametrize("how", ["knows", "is not told of the end", "does not read"])
async def test_client_that_may_not_have_heard_is_there_if_its_system_is(
    how: str, autojump_clock: trio.testing.MockClock
) -> None:
    async with connections() as world:
        old, bob = await newcomer(world, "websocket"), await newcomer(world, "websocket", "bob")
        old.say("play 3")
        await world.quiet()
        old.answers = False
        if how == "is not told of the end":
            world.results.hold()
            bob.hangs_up()
            await world.quiet()
        elif how == "does not read":
            old.stops_reading()
        new = await newcomer(world, "websocket")
        await trio.sleep(6)
        assert old.is_hung_up_on is (how == "knows")
        assert new.texts[0].startswith("Entered" if how == "knows" else "Refused NAME_TAKEN")


async def test_client_is_probed_once_in_three_seconds_however_many_ask_for_its_name(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with connections() as world:
        old = await newcomer(world, "websocket")
        old.answers = False
        crowd = [await newcomer(world, "websocket") for _ in range(5)]
        await trio.sleep(0.1)
        assert (old.frames, [each.texts for each in crowd]) == ([(PING, b"")], [[]] * 5)
        await trio.sleep(1)
        old.send(frame(PONG))
        await trio.sleep(0.7)
        crowd += [await newcomer(world, "websocket") for _ in range(3)]
        assert [each.texts for each in crowd] == [["Refused NAME_TAKEN enter ann"]] * 8
        assert len(old.frames) == 1
        await trio.sleep(3)
        old.answers = True
        late = await newcomer(world, "websocket")
        await trio.sleep(0.1)
        assert (len(old.frames), late.texts) == (2, ["Refused NAME_TAKEN enter ann"])
        assert (old.texts, old.is_hung_up_on) == (["Entered"], False)


@pytest.mark.parametrize("turns", range(4))
async def test_probe_of_a_client_that_leaves_is_no_mistake(
    framing: Framing, turns: int, autojump_clock: trio.testing.MockClock
) -> None:
    async with connections() as world:
        old = await newcomer(world, framing)
        new = await world.connect(framing, translator=Holder())
        old.resets()
        for _ in range(turns):
            await trio.lowlevel.checkpoint()
        new.say("enter ann")
        await trio.sleep(1)
        assert (new.texts, len(world.hub)) == (["Entered"], 1)


async def test_client_in_a_game_is_probed_again_for_each_question_but_not_more_often(
    autojump_clock: trio.testing.MockClock,
) -> None:
    """Its connection may have broken since it answered the last probe."""
    async with connections(grace=30.0) as world:
        old, _ = await newcomer(world, "websocket"), await newcomer(world, "websocket", "bob")
        first = await newcomer(world, "websocket")
        await trio.sleep(0.1)
        assert first.texts == ["Refused NAME_TAKEN|TABLE_FULL enter ann"]
        old.answers = False
        old.vanishes()
        second = await newcomer(world, "websocket")
        await trio.sleep(5)
        assert second.texts == []
        await trio.sleep(2)
        assert second.texts[:2] == ["Entered", "Resumed"]


class OtherNode:
    """The node to whose seat a client has come back."""

    def __init__(self) -> None:
        self.answers = 0

    def alive(self) -> None:
        self.answers += 1

    def leave(self, *, is_broken: bool = False) -> None:
        pass


async def test_client_that_came_back_to_another_node_may_read_nothing_and_is_probed_anew(
    autojump_clock: trio.testing.MockClock,
) -> None:
    """Its seat would be kept, as far as this node knows."""
    node = OtherNode()
    async with connections() as world:
        ann = await world.connect("websocket")
        ann.answers = False
        ann.seat.relay(node, "ann", LOBBY)
        ann.seat.mailbox.probe()
        await trio.sleep(1)
        assert node.answers == 1
        ann.vanishes()
        ann.seat.mailbox.probe()
        await trio.sleep(7)
        assert node.answers == 1
        assert ann.is_hung_up_on


async def test_what_was_acknowledged_before_a_probe_is_no_answer(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with connections() as world:
        old, _ = await newcomer(world, "websocket"), await newcomer(world, "websocket", "bob")
        old.answers = False
        old.vanishes()
        new = await newcomer(world, "websocket")  # at once
        await trio.sleep(4)
        assert new.texts == ["Entered"]
