"""What players are told is on disk at that moment, and in the end in the database, however both fail."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, TypeAlias

import trio
from game_records import game
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock

from gateway.game.ids import GameId
from gateway.store import StoreError
from gateway.store.batcher import Batch, Batcher, Pace
from gateway.store.records import Cleared, GameRecord, Refused, TakenUp, Written

LAST_FAULT = 20.0
"""When both work again, in seconds."""
PORTION = 2
"""Games that are taken up at once."""

Outcome: TypeAlias = Literal["done", "failed", "lost"]
Fate: TypeAlias = tuple[float, Outcome]
"""How long a call takes, and what comes of it; `lost` is its answer alone."""


@dataclass
class World:
    """A database, a disk, and the fates of the calls to either."""

    at_database: list[Fate]
    at_disk: list[Fate]
    rows: set[GameId] = field(default_factory=set)
    files: list[list[GameId]] = field(default_factory=list)
    """What the journal has let go of."""
    written: list[GameId] = field(default_factory=list)
    told: list[GameId] = field(default_factory=list)
    told_too_soon: list[GameId] = field(default_factory=list)

    def tell(self, game: GameId) -> None:
        self.told.append(game)
        if not any(game in place for place in (self.rows, self.written, *self.files)):
            self.told_too_soon.append(game)

    def let_go(self) -> None:
        if self.written:
            self.files.append(self.written)
        self.written = []


async def fate(fates: list[Fate]) -> bool:
    """Wait as long as a call takes; return whether its answer arrives. Raises StoreError if it fails."""
    await trio.lowlevel.checkpoint()
    if not fates or trio.current_time() > LAST_FAULT:
        return True
    seconds, outcome = fates.pop(0)
    await trio.sleep(seconds)
    if outcome == "failed":
        raise StoreError("it has failed")
    return outcome == "done"


class WorldsStore:
    """Stores in the world's database."""

    def __init__(self, world: World) -> None:
        self.world = world

    async def write(self, batch: Batch) -> Written:
        arrives = await fate(self.world.at_database)
        self.world.rows.update(each.game for each in batch.games)
        await answer(arrives)
        return Written()

    async def take_up(self) -> TakenUp:
        arrives = await fate(self.world.at_database)
        files = self.world.files
        if not files:
            return TakenUp()
        games, files[0] = files[0][:PORTION], files[0][PORTION:]
        new = {*games} - self.world.rows
        self.world.rows |= new
        if not files[0]:
            del files[0]
        await answer(arrives)
        return TakenUp(True, len(games), len(new))

    async def tidy(self) -> bool:
        await trio.lowlevel.checkpoint()
        return False

    async def clear(self) -> Cleared:
        raise NotImplementedError


class WorldsJournal:
    """Writes to the world's disk."""

    def __init__(self, world: World) -> None:
        self.world = world

    async def append(self, records: Sequence[GameRecord]) -> list[Refused]:
        arrives = await fate(self.world.at_disk)
        self.world.written += [each.game for each in records]
        if not arrives:
            self.world.let_go()
        await answer(arrives)
        return []

    async def close(self) -> None:
        await trio.sleep(0.01)
        self.world.let_go()


async def answer(arrives: bool) -> None:
    if not arrives:
        raise StoreError("the process has ended")


async def play(world: World, pauses: Sequence[float], end: float) -> None:
    batcher = Batcher(WorldsStore(world), WorldsJournal(world), pace=Pace(games=3))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(batcher.run)
        for number, pause in enumerate(pauses, 1):
            await trio.sleep(pause)
            batcher.put(game(game=str(number)))
            batcher.open.when_stored(str(number), partial(world.tell, str(number)))
        await trio.sleep(end)
        await batcher.close()
    world.let_go()  # and the next start takes up what is left
    for file in world.files:
        world.rows.update(file)


OUTCOMES: st.SearchStrategy[Outcome] = st.sampled_from(["failed", "failed", "lost", "done"])
FATES = st.lists(
    st.tuples(st.sampled_from([0.0, 0.01, 0.3, 1.0, 2.0, 3.0]), OUTCOMES), min_size=3, max_size=20
)


@given(
    at_database=FATES,
    at_disk=FATES,
    pauses=st.lists(st.sampled_from([0.0, 0.1, 0.9, 1.9, 2.0]), min_size=2, max_size=12),
    end=st.sampled_from([0.5, 2.1, 60.0]),
)
def test_whatever_fails_and_when_what_is_told_is_on_disk_and_is_stored_in_the_end(
    at_database: list[Fate], at_disk: list[Fate], pauses: list[float], end: float
) -> None:
    world = World(at_database, at_disk)
    trio.run(play, world, pauses, end, clock=MockClock(autojump_threshold=0))
    assert world.told_too_soon == []
    assert {*world.told} <= world.rows
    assert len(world.told) == len({*world.told})
    if end == 60.0:
        assert {*world.told} == {str(number) for number in range(1, len(pauses) + 1)}
