"""Connections that break during a game, and those with which their players come back."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio
import trio.testing
from worlds.connection import CLOSE, Client, Framing, World, connections, frame

from gateway.game.board import FIRST, SECOND
from gateway.game.events import Reason

pytestmark = pytest.mark.trio


@asynccontextmanager
async def game(framing: Framing) -> AsyncIterator[tuple[World, Client, Client]]:
    """Play a game on a server with a grace time, in which the first player has moved."""
    async with connections(grace=10.0, keeps_wire=True) as world:
        ann, bob = await world.game(framing)
        ann.say("play 3")
        await world.quiet()
        yield world, ann, bob


async def back(world: World, framing: Framing, name: str) -> Client:
    client = await world.connect(framing)
    client.say(f"enter {name}")
    await world.quiet()
    return client


@pytest.mark.parametrize("how", ["resets", "hangs_up"])
async def test_player_comes_back(how: str, framing: Framing, autojump_clock: trio.testing.MockClock) -> None:
    async with game(framing) as (world, ann, bob):
        getattr(bob, how)()
        await world.quiet()
        again = await back(world, framing, "bob")
        assert again.texts == ["Entered", "Resumed"]
        heard = len(ann.texts)
        again.say("play 4")
        await world.quiet()
        assert ann.texts[heard:] == ["Moved"]
        assert world.results.kept == {}


@pytest.mark.parametrize(
    ("code", "is_kept"), [(b"\x03\xe8", False), (b"", False), (b"\x03\xe9", True), (b"\x03\xf3", True)]
)
async def test_close_frame_of_a_client_that_is_done_is_no_break(
    code: bytes, is_kept: bool, autojump_clock: trio.testing.MockClock
) -> None:
    async with game("websocket") as (world, _, bob):
        bob.send(frame(CLOSE, code))
        await trio.sleep(3)
        assert (world.results.kept == {}) is is_kept


async def test_client_that_breaks_the_protocol_has_left(autojump_clock: trio.testing.MockClock) -> None:
    async with game("websocket") as (world, _, bob):
        bob.send(b"\xff\xff")
        await trio.sleep(3)
        [finished] = world.results.kept.values()
        assert finished.reason is Reason.ABORTED


async def test_evidence_of_both_connections_is_kept(
    framing: Framing, autojump_clock: trio.testing.MockClock
) -> None:
    async with game(framing) as (world, ann, bob):
        bob.resets()
        await world.quiet()
        again = await back(world, framing, "bob")
        again.say("play 4")
        ann.hangs_up()
        await world.quiet()
        await trio.sleep(12)
        said = world.results.enclosed()[SECOND]
        assert said[:2] == ["< Started", "< Moved"]
        assert "< Resumed" in said
        assert "> play 4" in said
        assert FIRST in world.results.enclosed()


async def test_evidence_is_kept_of_a_player_that_does_not_come_back(
    framing: Framing, autojump_clock: trio.testing.MockClock
) -> None:
    async with game(framing) as (world, _, bob):
        bob.say("play 4")
        bob.resets()
        await trio.sleep(12)
        assert world.results.enclosed()[SECOND][-1].startswith("-- (aborted: this player left")
