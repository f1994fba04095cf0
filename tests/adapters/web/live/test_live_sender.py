"""What happens is told while it is wanted, complete and in short steps; players wait for nothing."""

import random
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeAlias, cast

import pytest
import trio
import trio.testing
from worlds.hub import FIRST_WINS, World

from adapters.web.link import Begun, Complete, Facts, Messages
from adapters.web.live.sender import FactSender
from adapters.web.live.state import State
from gateway.game.commands import AtTable, Leave, Play
from gateway.game.fact_encoding import decode_fact
from gateway.game.facts import Came, GameStarted, Left, Missed, MoveMade, Shown, Waits

Clock: TypeAlias = trio.testing.MockClock


Told: TypeAlias = Begun | Complete | Shown


class Link:
    """Takes what is told, unless a test holds it up."""

    def __init__(self) -> None:
        self.told: list[Told] = []
        self.longest = 0
        """Facts in one message."""
        self.is_open = trio.Event()
        self.is_open.set()

    async def send(self, message: Begun | Complete | Facts) -> None:
        await self.is_open.wait()
        await trio.lowlevel.checkpoint()
        if isinstance(message, Facts):
            self.longest = max(self.longest, len(message.encoded))
            self.told += map(decode_fact, message.encoded)
        else:
            self.told.append(message)

    def all(self, kind: type) -> list[Told]:
        return [each for each in self.told if isinstance(each, kind)]


@asynccontextmanager
async def told(world: World) -> AsyncIterator[tuple[FactSender, Link]]:
    """Tell what happens in the world."""
    link = Link()
    facts = FactSender(world.hub, cast(Messages, link))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(facts.run)
        yield facts, link
        nursery.cancel_scope.cancel()


async def a_while() -> None:
    """Let everything be told."""
    await trio.sleep(1)
    await trio.testing.wait_all_tasks_blocked()


def shown(state: State) -> object:
    """Return what viewers could see of it."""
    games = {name: each.shown(0, 0.0) | {"thinking": 0, "left": 0} for name, each in state.games.items()}
    counts = state.counts(0.0)
    waiting = sorted((each["name"], each["table"] or "") for each in counts["lobby"])
    return games, counts["playing"], counts["waiting"], waiting


def heard(told: Sequence[Told]) -> State:
    """Return what is on, as far as it was told since the latest beginning."""
    state = State()
    for each in told:
        if isinstance(each, Begun):
            state = State()
        elif isinstance(each, Complete):
            state.complete()
        else:
            state.hear(each, 0.0)
    return state


def true(world: World) -> State:
    """Return what is on."""
    on = world.hub.snapshot(world.now)
    return heard([*on.players, *on.waiting, *on.games])


async def test_nobody_is_told_anything_that_is_not_wanted(autojump_clock: Clock) -> None:
    world = World()
    async with told(world) as (facts, link):
        world.play("01", (world.arena("ann", AtTable("x")), world.arena("bob", AtTable("x"))))
        await a_while()
        assert not world.hub.feed.moves  # so no move is made a fact of
        facts.want(1)
        await a_while()
        assert world.hub.feed.moves
        facts.want(0)
        await a_while()
        assert not world.hub.feed.moves
        before = [*link.told]
        world.arena("carol")
        await a_while()
        assert link.told == before


async def test_all_that_is_on_is_told_and_then_what_happens(autojump_clock: Clock) -> None:
    world = World()
    players = world.arena("ann", AtTable("x")), world.arena("bob", AtTable("x"))
    world.play("01", players)
    world.arena("carol")
    async with told(world) as (facts, link):
        facts.want(5)
        await a_while()
        begun, *between, complete = link.told
        assert (begun, complete) == (Begun(5), Complete())
        assert [type(each) for each in between] == [Came, Came, Came, Waits, tuple]
        link.told.clear()
        world.play("010", players)
        await a_while()
        assert [each.column for each in link.told if isinstance(each, MoveMade)] == [0, 1, 0]


async def test_what_happens_is_told_together_and_soon(autojump_clock: Clock) -> None:
    world = World()
    players = world.arena("ann", AtTable("x")), world.arena("bob", AtTable("x"))
    async with told(world) as (facts, link):
        facts.want(1)
        await a_while()
        world.play("0", players)
        await trio.testing.wait_all_tasks_blocked()
        assert len(link.all(MoveMade)) == 1
        world.play("10", players)
        await trio.testing.wait_all_tasks_blocked()
        assert len(link.all(MoveMade)) == 1
        await a_while()
        assert len(link.all(MoveMade)) == 3


async def test_link_that_takes_nothing_costs_no_player_anything_and_is_told_all_again(
    autojump_clock: Clock,
) -> None:
    world = World()
    async with told(world) as (facts, link):
        facts.want(1)
        await a_while()
        link.is_open = trio.Event()
        for number in range(500):
            table = AtTable(str(number))
            world.play(FIRST_WINS, (world.droidcon("ann", table), world.droidcon("bob", table)))
        await a_while()
        assert link.all(GameStarted) == []
        world.arena("late")
        link.is_open.set()
        await a_while()
        assert len(link.all(Begun)) == 2
        assert shown(heard(link.told)) == shown(true(world))


def story(world: World, rng: random.Random) -> Iterator[None]:
    """Let players come, play, wait and leave as it happens, one step at a time."""
    clients = []
    while True:
        clients = [client for client in clients if not client.gone]
        asked = [client for client in clients if client.request is not None]
        if len(clients) < 60 and rng.random() < 0.3:
            enter = rng.choice([world.nac4, world.arena, world.droidcon])
            clients.append(enter(f"p{world.now}", rng.choice([AtTable("x"), AtTable("y"), AtTable("z")])))
        elif asked and rng.random() < 0.9:
            rng.choice(asked).play(rng.randrange(7))
        elif clients:
            rng.choice(clients).say(rng.choice([Leave(), Play(9)]))
        world.wait(0.05)
        yield


@pytest.mark.parametrize("seed", range(3))
async def test_what_happens_while_all_is_told_in_parts_is_not_missed(
    seed: int, autojump_clock: Clock
) -> None:
    world, rng = World(), random.Random(seed)
    steps = story(world, rng)
    for _ in range(200):
        next(steps)
    async with told(world) as (facts, link):
        for number in range(1, 20):
            facts.want(number)
            for _ in range(rng.randrange(40)):
                next(steps)
                await trio.lowlevel.checkpoint()
            await a_while()
            assert shown(heard(link.told)) == shown(true(world))


class Others:
    """The facts of other nodes, and the only subscription to them."""

    def __init__(self) -> None:
        self.is_whole = False
        self.waiting: list[Told] = []
        self.wakes: list[Callable[[], None]] = []
        self.closed = 0

    def subscribe(self, wake: Callable[[], None]) -> "Others":
        self.wakes.append(wake)
        return self

    def close(self) -> None:
        self.closed += 1

    def take(self, most: int) -> Sequence[Told]:
        taken, self.waiting = self.waiting[:most], self.waiting[most:]
        return taken

    def tell(self, *told: Any) -> None:
        self.waiting += told
        self.wakes[-1]()


class Cluster:
    """A cluster of which the world is a node."""

    def __init__(self, world: World) -> None:
        self.feed = Others()
        world.hub.cluster = self

    def condition(self) -> dict[str, object]:
        return {}


THERE = 1 << 36


async def test_state_is_complete_when_other_nodes_have_told_theirs(autojump_clock: Clock) -> None:
    world = World()
    world.arena("ann")
    others = Cluster(world).feed
    async with told(world) as (facts, link):
        facts.want(1)
        await trio.testing.wait_all_tasks_blocked()
        assert link.all(Complete) == []
        others.is_whole = True
        others.tell(Came(THERE, "bob", "two"))
        await a_while()
        assert link.told[-2:] == [Came(THERE, "bob", "two"), Complete()]
        others.tell(Left(THERE))
        await a_while()
        assert link.told[-1] == Left(THERE)
        facts.want(0)
        await a_while()
        assert others.closed == 1


async def test_state_waits_for_a_silent_node_no_longer_than_its_grace(autojump_clock: Clock) -> None:
    world = World()
    others = Cluster(world).feed
    async with told(world) as (facts, link):
        facts.want(1)
        await trio.sleep(0.5)
        assert link.all(Complete) == []
        await trio.sleep(5)
        assert link.all(Complete) == [Complete()]
        others.is_whole = True
        others.tell(Came(THERE, "bob", "two"))
        await a_while()
        assert link.told[-2:] == [Came(THERE, "bob", "two"), Complete()]


async def test_all_is_told_again_if_facts_of_another_node_were_missed(autojump_clock: Clock) -> None:
    world = World()
    others = Cluster(world).feed
    others.is_whole = True
    async with told(world) as (facts, link):
        facts.want(1)
        await a_while()
        others.tell(Missed(1))
        await a_while()
        assert link.all(Begun) == [Begun(1), Begun(1)]
        assert len(others.wakes) == 2
