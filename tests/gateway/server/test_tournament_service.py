"""The service that runs tournaments: what it reads, adds and survives. With a store in memory.

The tournaments are paused or over, or Swiss ones of which a round is on: for others a process would compute
further pairings.
"""

import logging
import random
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
import trio
from game_records import game
from trio.testing import MockClock
from worlds.hub import FIRST_WINS, STANDING_BY, Client, World
from worlds.tournaments import Stored

from gateway.engines import EngineUnavailable
from gateway.game.commands import AtTable
from gateway.game.results import Finished
from gateway.hub.seats import Seat
from gateway.matchmaking.standard import LobbyAndTables
from gateway.server.tournaments import PATIENCE, PERIOD, TournamentService
from gateway.store.batcher import Batch, Batcher
from gateway.store.records import GameRecord, Refused, TakenUp, Written, record_of
from gateway.tournament.director import Director
from gateway.tournament.log import (
    Begun,
    Ended,
    Entered,
    Entry,
    Forfeited,
    Known,
    Paused,
    StartRequested,
    TournamentNews,
    parsed,
)
from gateway.tournament.table import TournamentTable

CUP = AtTable("cup")
RESIDENT = replace(STANDING_BY, house=True, stays=True)
"""As those of the server's own players at the table of a tournament."""


class FakeStore:
    """Keeps tournaments and their games in memory. While it is held, it stores no game."""

    def __init__(self, *tournaments: Stored) -> None:
        self.tournaments_by_key = {each.settings.key: each for each in tournaments}
        self.strengths: dict[str, float] = {}
        self.journaled: list[GameRecord] = []
        """Games in the journal of this server or of an earlier one."""
        self.readings = 0
        self.broken: str | None = None
        """The tournament to which nothing can be added."""
        self.let_go = trio.Event()
        self.let_go.set()

    def keep(self, record: GameRecord) -> None:
        """Store a game."""
        if record.table is not None and record.scheduled is not None:
            self.tournaments_by_key[record.table.casefold()].keep(record)

    async def write(self, batch: Batch) -> Written:
        await self.let_go.wait()
        for record in batch.games:
            self.keep(record)
        return Written((), (), ())

    async def take_up(self) -> TakenUp:
        await self.let_go.wait()
        records, self.journaled = self.journaled, []
        for record in records:
            self.keep(record)
        return TakenUp(seen=len(records), new=len(records))

    async def tidy(self) -> bool:
        await trio.lowlevel.checkpoint()
        return False

    async def tournaments(self, known: Mapping[str, Known]) -> list[TournamentNews]:
        await trio.lowlevel.checkpoint()
        self.readings += 1
        return [each.news(known.get(key)) for key, each in self.tournaments_by_key.items()]

    async def add_to_log(
        self, key: str, known: Known, entries: Sequence[str], pairings: Sequence[int] = ()
    ) -> bool:
        await trio.lowlevel.checkpoint()
        if key == self.broken:
            raise OSError("the disk is full")
        return self.tournaments_by_key[key].append(known, [parsed(each) for each in entries])

    async def ratings(self, names: Sequence[str]) -> dict[str, float]:
        await trio.lowlevel.checkpoint()
        return {name: value for name, value in self.strengths.items() if name in names}


class FakeJournal:
    """Takes games that could not be stored in time."""

    def __init__(self, store: FakeStore) -> None:
        self._store = store

    async def append(self, records: Sequence[GameRecord]) -> list[Refused]:
        await trio.lowlevel.checkpoint()
        self._store.journaled += records
        return []

    async def close(self) -> None:
        await trio.lowlevel.checkpoint()


class Matchmaker(LobbyAndTables):
    """A matchmaker of which a test says whether it pairs all players."""

    is_pairing_all = True

    @property
    def pairs_all(self) -> bool:
        return self.is_pairing_all


class Running(World):
    """A hub whose tournaments a service runs. Its clock is that of trio."""

    def __init__(self, store: FakeStore) -> None:
        self.store, self.director = store, Director()
        self.director.take([each.news() for each in store.tournaments_by_key.values()], 0.0)
        self.matchmaker = Matchmaker(random.Random(0), large_tables=self.director.tables)
        super().__init__(self.matchmaker)
        self.batcher = Batcher(store, FakeJournal(store))  # type: ignore[arg-type]
        self.service = TournamentService(self.director, self.hub, self.batcher, self.seat_house)
        self.house: dict[str, Client] = {}
        self.missing: set[str] = set()
        """House players whose engines are not installed."""
        self.failing: set[str] = set()
        """The tables of tournaments at which a house player cannot be seated because of a bug."""

    def seat_house(self, name: str, table: str, now: float) -> Seat:
        if table in self.failing:
            raise RuntimeError("a bug")
        if name in self.missing:
            raise EngineUnavailable(f"{name} needs a package")
        self.house[name] = self.player(RESIDENT, name, AtTable(table))
        return self.house[name].seat

    def keep(self, finished: Finished) -> None:
        super().keep(finished)
        self.batcher.put(record_of(finished, 0.0))

    @property
    def table(self) -> TournamentTable:
        return self.director.tables["cup"]

    async def run_for(self, seconds: float) -> None:
        """Let time pass for the service and for the hub."""
        until = trio.current_time() + seconds
        while trio.current_time() < until:
            await trio.sleep(min(0.25, until - trio.current_time()))
            self.now = trio.current_time()
            for seat in self.hub.tick(self.now):
                self.hub.flag(seat, self.now)


@asynccontextmanager
async def running(*tournaments: Stored, store: FakeStore | None = None) -> AsyncIterator[Running]:
    world = Running(store or FakeStore(*tournaments))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(world.batcher.run)
        nursery.start_soon(world.service.run)
        try:
            yield world
        finally:
            world.service.stop()
            world.store.let_go.set()
            await world.batcher.close(30.0)


def entries(stored: Stored) -> list[Entry]:
    return [parsed(each.entry) for each in stored.entries]


def lines(caplog: pytest.LogCaptureFixture, event: str) -> list[str]:
    return [each.getMessage() for each in caplog.records if getattr(each, "event", None) == event]


# What is added.


async def test_players_enter_and_it_begins_by_their_ratings_also_with_one_that_has_just_left(
    autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    stored = Stored(walkover=30)
    stored.log(Paused())
    async with running(stored) as world:
        world.store.strengths = {"cid": 3.0, "ann": 1.0, "bob": 2.0}
        eve = world.nac4("eve", CUP)
        await world.run_for(2.0)
        eve.leave()
        await world.run_for(31.0)
        players = [world.nac4(name, CUP) for name in ("ann", "bob", "cid")]
        await world.run_for(2.0)
        players[1].leave()
        stored.log(StartRequested())
        await world.run_for(2.0)
    assert entries(stored) == [
        Paused(),
        *map(Entered, ("eve", "ann", "bob", "cid")),
        StartRequested(),
        Begun([3, 2, 1]),  # eve left long ago
    ]
    assert lines(caplog, "tournament") == [
        *(f"tournament 'cup': '{name}' has entered" for name in ("eve", "ann", "bob", "cid")),
        "tournament 'cup': begins with 3 players",
    ]


async def test_player_that_is_absent_loses_but_not_while_the_server_is_paused(
    autojump_clock: MockClock,
) -> None:
    stored = Stored(walkover=5, format="swiss")
    stored.begin("ann", "bob", "cid", pairings=[(0, 1, 1), (0, 2, 2), (1, 2, 3)])
    before = len(stored.entries)
    async with running(stored) as world:
        world.hub.pause(is_paused=True)
        world.nac4("ann", CUP)
        await world.run_for(60.0)
        assert entries(stored)[before:] == []
        world.hub.pause(is_paused=False)
        await world.run_for(4.0)
        assert entries(stored)[before:] == []
        await world.run_for(3.0)
        found = [Forfeited(0, [0, 1], [1]), Forfeited(1, [0, 1], [2])]
        assert entries(stored)[before:] == found


# Who pairs.


async def test_nothing_is_paired_or_decided_before_the_matchmaker_pairs_all_players(
    autojump_clock: MockClock,
) -> None:
    stored = Stored(format="swiss")
    stored.begin("ann", "bob", pairings=[(0, 1, 1)])
    before = len(stored.entries)
    async with running(stored) as world:
        world.matchmaker.is_pairing_all = False
        ann, *_ = (world.nac4(name, CUP) for name in ("ann", "bob", "eve"))
        await world.run_for(5.0)
        assert (ann.plays, len(stored.entries)) == (False, before)
        world.matchmaker.is_pairing_all = True
        await world.run_for(2.0)
        assert ann.plays
        assert Entered("eve") in entries(stored)


async def test_nothing_is_paired_while_the_results_so_far_are_not_stored(autojump_clock: MockClock) -> None:
    stored = Stored(format="swiss")
    stored.begin("ann", "bob", pairings=[(0, 1, 1), (0, 1, 2)])
    async with running(stored) as world:
        ann, bob = world.nac4("ann", CUP), world.nac4("bob", CUP)
        await world.run_for(2.0)
        world.play(FIRST_WINS, (ann, bob))
        world.store.let_go = trio.Event()
        world.play(FIRST_WINS, (bob, ann))
        world.director.forget_seats()  # as if another matchmaker took over
        ann.leave()
        bob.leave()
        ann, bob = world.nac4("ann", CUP), world.nac4("bob", CUP)
        await world.run_for(3.0)
        assert world.table.here == ["ann", "bob"]
        assert not ann.plays
        world.store.let_go.set()
        await world.run_for(PATIENCE)
        assert ann.plays
        assert stored.read().meeting(0).is_over


async def test_server_that_drains_adds_nothing(autojump_clock: MockClock) -> None:
    stored = Stored(expected=["ann"])
    async with running(stored) as world:
        world.hub.drain()
        await world.run_for(3.0)
    assert entries(stored) == []


# Failures.


@pytest.mark.parametrize("is_bug", [True, False])
async def test_tournament_that_fails_stops_no_other_and_is_tried_again(
    autojump_clock: MockClock, caplog: pytest.LogCaptureFixture, is_bug: bool
) -> None:
    tournaments = [Stored(name=name, house=["random"]) for name in ("bad", "cup")]
    for each in tournaments:
        each.log(Paused())
    bad, cup = tournaments
    async with running(*tournaments) as world:
        if is_bug:
            world.failing.add("bad")
        else:
            world.store.broken = "bad"
        await world.run_for(3.0)
        assert entries(bad) == [Paused()]
        assert entries(cup) == [Paused(), Entered("random", house=True)]
        world.failing.clear()
        world.store.broken = None
        await world.run_for(2.0)
        assert entries(bad) == entries(cup)
    assert (lines(caplog, "tournaments_failed"), lines(caplog, "tournaments_wait")) == (
        (["a tournament has failed, and is tried again: a bug"], [])
        if is_bug
        else ([], ["tournaments wait, since something they need fails: the disk is full"])
    )


async def test_tournament_that_cannot_be_read_is_reported_once_and_stops_no_other(
    autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    odd, cup = Stored(name="odd"), Stored(expected=["ann"])
    odd.file = 'name = "odd"'
    async with running(cup) as world:
        world.store.tournaments_by_key["odd"] = odd
        await world.run_for(5.0)
        assert world.director.tables.keys() == {"cup"}
    assert entries(cup) == [Entered("ann")]
    [line] = lines(caplog, "tournament_unreadable")
    assert line.startswith("the tournament 'odd' cannot be read: the key format is missing")


async def test_request_that_the_store_does_not_answer_in_time_is_withdrawn_and_made_again(
    autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    stored = Stored(expected=["ann"])
    store = FakeStore(stored)
    store.let_go = trio.Event()
    async with running(store=store) as world:
        world.batcher.put(game())
        await world.run_for(5 * (PATIENCE + PERIOD))
        assert store.readings == 0
        store.let_go.set()
        await world.run_for(PERIOD)
        assert 0 < store.readings <= 4  # the requests before are not carried out
        await world.run_for(PERIOD)
        assert entries(stored) == [Entered("ann")]
    why = f"the database has not answered for {PATIENCE:g} s"
    assert lines(caplog, "tournaments_wait") == [f"tournaments wait, since something they need fails: {why}"]


# The server's own players.


async def test_house_player_without_its_engine_is_logged_once_and_others_go_on(
    autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    stored = Stored(house=["perfect", "random"])
    async with running(stored) as world:
        world.missing = {"perfect"}
        await world.run_for(10.0)
        assert world.director.tables["cup"].here == ["random"]
    assert entries(stored) == [Entered("perfect", house=True), Entered("random", house=True)]
    line = "tournament 'cup': perfect cannot play: perfect needs a package"
    assert lines(caplog, "tournament_player_missing") == [line]


async def test_house_player_that_was_lost_is_seated_again(autojump_clock: MockClock) -> None:
    async with running(Stored(house=["random"])) as world:
        await world.run_for(2.0)
        world.house["random"].leave()
        assert world.table.here == []
        await world.run_for(2.0)
        assert world.table.here == ["random"]


async def test_house_players_leave_when_the_tournament_is_over_and_their_games_too(
    autojump_clock: MockClock,
) -> None:
    stored = Stored(house=["random"], format="swiss")
    stored.begin("random", "ann", pairings=[(0, 1, 1)])
    async with running(stored) as world:
        ann = world.nac4("ann", CUP)
        await world.run_for(2.0)
        house = world.house["random"]
        assert (house.opponent, ann.opponent) == ("ann", "random")
        stored.log(Ended(by_organiser=True))
        await world.run_for(2.0)
        for players in ((house, ann), (ann, house)):
            assert not house.gone
            world.play(FIRST_WINS, players)
        await world.run_for(2.0)
        assert house.gone
        assert not ann.gone
    assert stored.read().meeting(0).points == (1, 1)


async def test_house_players_leave_when_the_tournament_was_removed(autojump_clock: MockClock) -> None:
    async with running(Stored(house=["random"])) as world:
        await world.run_for(2.0)
        ann = world.nac4("ann", CUP)
        house = world.house["random"]
        world.store.tournaments_by_key.clear()
        await world.run_for(2.0)
        assert house.gone
        assert not ann.games  # they did not meet at an ordinary table
