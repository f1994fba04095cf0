"""The service that runs tournaments: what it reads, adds and survives. With a store in memory.

The tournaments are paused or over, or Swiss ones of which a round is on: for others a process would compute
further pairings.
"""

import logging
import random
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
import trio
from game_records import game
from trio.testing import MockClock
from worlds.hub import FIRST_WINS, HANGING_UP, SECOND_WINS, STANDING_BY, STEPPING_OUT, Client, World
from worlds.tournaments import Stored

from gateway.engines import EngineUnavailable
from gateway.game.commands import AtTable
from gateway.game.events import Ended as GameEnded
from gateway.game.manners import Manners
from gateway.game.results import Finished
from gateway.hub.seats import Seat
from gateway.matchmaking.standard import LobbyAndTables
from gateway.server.acts import NotDoneError
from gateway.server.tournaments import PATIENCE, PERIOD, TournamentService
from gateway.store import StoreError
from gateway.store.batcher import Batch, Batcher
from gateway.store.records import GameRecord, Refused, TakenUp, Written, record_of
from gateway.tournament.log import (
    Announced,
    Awarded,
    Begun,
    Ended,
    Entered,
    Entry,
    Forfeited,
    Known,
    Paused,
    Replayed,
    RequestedTest,
    StartRequested,
    TournamentNews,
    Withdrawn,
    parsed,
)
from gateway.tournament.report import described
from gateway.tournament.table import TournamentTable
from gateway.tournament.tournaments import Tournaments

CUP = AtTable("cup")
RESIDENT = replace(STANDING_BY, house=True, stays=True, unique_name=False)
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
        self.failure: Exception = OSError("the disk is full")
        self.before_adding: Callable[[], object] = lambda: None
        """What happens just before something is added to a log, as by another program."""
        self.after_reading: Callable[[], object] = lambda: None
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
        self.after_reading()
        return [each.news(known.get(key)) for key, each in self.tournaments_by_key.items()]

    async def add_to_log(
        self, key: str, known: Known, entries: Sequence[str], pairings: Sequence[int] = ()
    ) -> bool:
        await trio.lowlevel.checkpoint()
        if key == self.broken:
            raise self.failure
        self.before_adding()
        return self.tournaments_by_key[key].append_texts(known, entries, pairings)

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
        self.store, self.tournaments = store, Tournaments()
        self.tournaments.take([each.news() for each in store.tournaments_by_key.values()], 0.0)
        self.matchmaker = Matchmaker(random.Random(0), large_tables=self.tournaments.tables)
        super().__init__(self.matchmaker)
        self.batcher = Batcher(store, FakeJournal(store))  # type: ignore[arg-type]
        self.service = TournamentService(self.tournaments, self.hub, self.batcher, self.seat_house)
        self.house: dict[str, Client] = {}
        """The latest house player of each name."""
        self.engaged: list[Client] = []
        """All house players."""
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
        self.engaged.append(self.house[name])
        return self.house[name].seat

    def keep(self, finished: Finished) -> None:
        super().keep(finished)
        self.batcher.put(record_of(finished, 0.0))

    @property
    def table(self) -> TournamentTable:
        return self.tournaments.tables["cup"]

    async def act(self, act: str, **given: str) -> str:
        """Let the director of cup act; return the answer, or the reason why not."""
        try:
            outcome = await self.service.act({"name": "Cup", "act": act, "by": "nora", **given})
        except NotDoneError as error:
            return f"not done: {error}"
        return str(outcome["done"]) if "done" in outcome else f"fault: {outcome['fault']}"

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
    return [parsed(each.entry).entry for each in stored.entries]


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
        *(f"tournament 'cup': Entered {name}" for name in ("eve", "ann", "bob", "cid")),
        "tournament 'cup': Began with 3 players",
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


async def test_walkover_is_decided_again_if_a_result_of_its_pairing_came_first(
    autojump_clock: MockClock,
) -> None:
    """As when another node stores the end of a game."""
    stored = Stored(walkover=5, format="swiss")
    stored.begin("ann", "bob", "cid", pairings=[(0, 1, 1)])
    before = len(stored.entries)

    def store_a_game() -> None:
        world.store.before_adding = lambda: None
        stored.play(0, 0, 1)

    async with running(stored) as world:
        world.nac4("ann", CUP)
        world.store.before_adding = store_a_game
        await world.run_for(8.0)
        assert entries(stored)[before:] == [Forfeited(0, [1], [1])]


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
        world.tournaments.forget_seats()  # as if another matchmaker took over
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
        both = [Paused(), Entered("random", house=True)]
        assert (entries(bad), entries(cup)) == (both if is_bug else [Paused()], both)
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
        assert world.tournaments.tables.keys() == {"cup"}
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
        assert world.tournaments.tables["cup"].here == ["random"]
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
        stored.log(Ended(by_director=True))
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


async def test_house_player_that_is_withdrawn_finishes_its_game(autojump_clock: MockClock) -> None:
    stored = Stored(house=["random"], format="swiss")
    stored.begin("random", "ann", pairings=[(0, 1, 1)])
    async with running(stored) as world:
        ann = world.nac4("ann", CUP)
        await world.run_for(2.0)
        house = world.house["random"]
        assert house.opponent == "ann"
        assert await world.act("withdraw", player="random") == "Withdrew random"
        await world.run_for(2.0)
        assert not house.gone
        world.play(SECOND_WINS, (house, ann))
        world.play(SECOND_WINS, (ann, house))
        await world.run_for(2.0)
        assert house.gone
    assert stored.read().meeting(0).points == (1, 1)
    assert stored.read().meeting(0).faults == (0, 0)


# Test games.


async def test_testers_come_for_the_tests_and_leave_when_there_is_nothing_to_test(
    autojump_clock: MockClock,
) -> None:
    stored = Stored(**{"entry-test": "random"})
    async with running(stored) as world:
        await world.run_for(2.0)
        assert world.engaged == []
        ann, bob = world.nac4("ann", CUP), world.nac4("bob", CUP)
        await world.run_for(3.0)
        assert [each.name for each in world.table.tournament.entrants] == []
        assert [each.opponent for each in (ann, bob)] == ["random", "random"]
        assert len(world.engaged) == 2
        testers = {each.opponent: each for each in world.engaged}
        world.play(FIRST_WINS, (ann, testers["ann"]))
        world.play(SECOND_WINS, (testers["ann"], ann))
        await world.run_for(3.0)
        assert entries(stored) == [Entered("ann")]
        bob.leave()
        await world.run_for(3.0)
        assert [each.gone for each in world.engaged] == [True, True]
        assert entries(stored) == [Entered("ann")]
        assert not ann.gone


@pytest.mark.parametrize("is_playing", [True, False])
async def test_testers_leave_also_if_another_matchmaker_took_over(
    autojump_clock: MockClock, *, is_playing: bool
) -> None:
    stored = Stored(format="swiss")
    stored.begin("ann", "bob", pairings=[(0, 1, 1)])
    stored.log(RequestedTest(0, "random"))
    async with running(stored) as world:
        ann = world.nac4("ann", CUP)
        await world.run_for(3.0)
        assert ann.opponent == "random"
        [tester] = world.engaged
        if not is_playing:
            world.play(FIRST_WINS, (ann, tester))
        world.tournaments.forget_seats()
        if is_playing:
            world.play(FIRST_WINS, (ann, tester))
        world.play(FIRST_WINS, (tester, ann))
        await world.run_for(20.0)
        assert tester.gone
        assert not ann.gone
    assert stored.read().is_tested(0, "random", 0)


async def test_tester_without_its_engine_is_logged_once_and_nobody_enters(
    autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    stored = Stored(**{"entry-test": "perfect"})
    async with running(stored) as world:
        world.missing = {"perfect"}
        world.nac4("ann", CUP)
        await world.run_for(10.0)
    assert entries(stored) == []
    line = "tournament 'cup': perfect cannot play: perfect needs a package"
    assert lines(caplog, "tournament_player_missing") == [line]


# The director's acts.


def swiss(**settings: object) -> Stored:
    """Return a Swiss tournament in which ann is due to play bob."""
    stored = Stored(format="swiss", **settings)
    stored.begin("ann", "bob", pairings=[(0, 1, 1)])
    return stored


async def test_act_is_stored_logged_and_read_at_once(
    autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    stored = swiss()
    async with running(stored) as world:
        await world.run_for(2.0)
        assert await world.act("pause", why="lunch") == "Paused"
        await world.run_for(0.25)
        assert world.table.tournament.is_paused
        assert await world.act("pause") == "not done: 'cup' is paused already"
    assert parsed(stored.entries[-1].entry) == (Paused(), "nora", "lunch")
    assert lines(caplog, "tournament") == ["tournament 'cup': Paused (by nora)"]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"name": "cap", "act": "pause"}, "there is no tournament 'cap'; did you mean 'cup'?"),
        ({"name": "cup", "act": "paws"}, "there is no act 'paws'; did you mean 'pause'?"),
        ({"name": "cup", "act": "withdraw"}, "the parameter player is missing"),
        ({"name": "cup", "act": "withdraw", "player": "eve"}, "'eve' takes no part in 'cup'"),
        ({"name": "cup", "act": "undo"}, "nothing can be undone"),
    ],
)
async def test_act_that_is_not_possible_says_why(
    autojump_clock: MockClock, given: dict[str, str], why: str
) -> None:
    stored = swiss()
    async with running(stored) as world:
        with pytest.raises(NotDoneError) as caught:
            await world.service.act(given)
        assert why in str(caught.value)
        with pytest.raises(NotDoneError, match="there is no tournament 'cap'"):
            world.service.view("cap")
    assert len(stored.entries) == 4


@pytest.mark.parametrize("failure", [StoreError("the disk is full"), OSError("the disk is full")])
async def test_act_is_not_done_while_the_store_fails(autojump_clock: MockClock, failure: Exception) -> None:
    stored = swiss()
    async with running(stored) as world:
        world.store.broken, world.store.failure = "cup", failure
        words = "the disk is full; the log of the tournament says whether it was done"
        assert await world.act("pause") == f"fault: {words}"
        world.store.broken = None
        assert len(stored.entries) == 4
        assert await world.act("pause") == "Paused"


async def test_act_that_the_store_does_not_answer_in_time_is_not_done_later(
    autojump_clock: MockClock,
) -> None:
    stored = swiss()
    async with running(stored) as world:
        await world.run_for(2.0)
        world.store.let_go = trio.Event()
        world.batcher.put(game())
        answer = await world.act("pause")
        assert answer.startswith("not done: the database cannot be used at the moment: the database has not")
        world.store.let_go.set()
        await world.run_for(3.0)
        assert len(stored.entries) == 4
        assert await world.act("pause") == "Paused"


async def test_act_whose_entry_is_not_added_in_time_is_not_done_later(autojump_clock: MockClock) -> None:
    stored = swiss()
    async with running(stored) as world:
        await world.run_for(2.0)

        def hold() -> None:
            world.store.let_go = trio.Event()
            world.batcher.put(game())

        world.store.after_reading = hold
        answer = await world.act("pause")
        assert answer.startswith("fault: the database has not answered for")
        world.store.after_reading = lambda: None
        world.store.let_go.set()
        await world.run_for(3.0)
        assert len(stored.entries) == 4
        assert await world.act("pause") == "Paused"


async def test_act_is_decided_again_if_another_program_was_faster(autojump_clock: MockClock) -> None:
    stored = swiss()
    async with running(stored) as world:
        await world.run_for(2.0)
        others = [Paused(), Announced("lunch")]

        def add_another() -> None:
            if others:
                stored.sign(others.pop(), "olaf")

        world.store.before_adding = add_another
        assert await world.act("pause") == "not done: 'cup' is paused already"
        assert await world.act("announce", text="lunch") == "not done: that is announced already"
        assert await world.act("resume") == "Resumed"


async def test_act_is_decided_on_what_was_done_just_before(autojump_clock: MockClock) -> None:
    stored = swiss()
    async with running(stored) as world:
        await world.run_for(2.0)
        acts = [("pause", "Paused"), ("resume", "Resumed"), ("pause", "Paused"), ("undo", "Undid “Paused”")]
        for act, answer in acts:
            assert await world.act(act) == answer
        stored.sign(Paused(), "olaf")  # by a command, which uses the database itself
        assert await world.act("resume") == "Resumed"


async def test_act_on_a_game_knows_the_results_of_its_pairing(autojump_clock: MockClock) -> None:
    stored = swiss()
    stored.play(0, 0, 0)
    async with running(stored) as world:
        await world.run_for(2.0)
        stored.play(0, 0, 1)  # as by a node that was cut off
        assert await world.act("replay", game="1.1") == "Replay of game 1.1 (ann and bob)"
    [entry] = [each for each in entries(stored) if isinstance(each, Replayed)]
    assert [*entry.annulled] == sorted(each.game for each in stored.games)


async def test_acts_at_the_same_time_are_done_one_after_the_other(autojump_clock: MockClock) -> None:
    stored = swiss()
    answers = list[str]()
    async with running(stored) as world:
        await world.run_for(2.0)

        async def act(name: str) -> None:
            answers.append(await world.act("enter", player=name))

        async with trio.open_nursery() as nursery:
            for name in ("eve", "fay", "eve"):
                nursery.start_soon(act, name)
    assert sorted(answers) == ["Entered eve", "Entered fay", "not done: 'eve' takes part already"]
    assert sorted(each.name for each in stored.read().entrants) == ["ann", "bob", "eve", "fay"]


async def test_undo_names_the_entry_so_that_nobody_takes_back_another_one(autojump_clock: MockClock) -> None:
    stored = swiss()
    async with running(stored) as world:
        await world.run_for(2.0)
        await world.act("announce", text="lunch")
        seen = str(len(stored.entries))
        stored.sign(Paused(), "olaf")
        assert await world.act("undo", number=seen) == "not done: the last act is 'Paused' now, entry 6"
        assert await world.act("undo", number="6") == "Undid “Paused”"
        assert await world.act("undo", number=seen) == "Undid “Announced: lunch”"
        assert stored.read().announcement == ""


async def test_acts_are_possible_on_a_tournament_that_was_over_long_ago(autojump_clock: MockClock) -> None:
    """Nothing of it is read any more, unless an act needs it."""
    stored = swiss()
    stored.log(Ended(by_director=True))
    async with running(stored) as world:
        await world.run_for(2.0)
        assert await world.act("announce", text="thanks") == "Announced: thanks"
        assert await world.act("undo") == "Undid “Announced: thanks”"
        assert await world.act("award", game="1.1", to="bob") == "Awarded game 1.1 (ann and bob) to bob"
        assert await world.act("award", game="1.2", to="draw") == "Awarded game 1.2 (ann and bob) as a draw"
        await world.run_for(3.0)
        assert await world.act("void", game="1.2") == "Voided game 1.2 (ann and bob)"
        assert await world.act("undo") == "Undid “Voided game 1.2 (ann and bob)”"
        assert await world.act("pause") == "not done: the tournament 'cup' is over"
    assert stored.read().meeting(0).points == (0.5, 1.5)
    assert [each for each in entries(stored) if isinstance(each, Awarded)] == [
        Awarded(0, 0, 1),
        Awarded(0, 1, None),
    ]


async def test_table_of_a_tournament_that_is_over_stays_one_while_the_database_does_not_answer(
    autojump_clock: MockClock,
) -> None:
    """Otherwise two players that sit down there would play as at any table."""
    stored = swiss()
    stored.log(Ended(by_director=True))
    async with running(stored) as world:
        await world.run_for(2.0)
        world.store.let_go = trio.Event()
        world.batcher.put(game())
        assert (await world.act("announce", text="thanks")).startswith("not done: the database cannot")
        assert "cup" in world.tournaments.tables
        world.store.let_go.set()
        await world.run_for(3.0)


async def test_end_can_be_taken_back_and_the_games_go_on(autojump_clock: MockClock) -> None:
    stored = swiss(house=["random"])
    stored.log(Entered("random", house=True))
    async with running(stored) as world:
        await world.run_for(2.0)
        stored.now = int(1000 * time.time())
        assert await world.act("end") == "Ended"
        await world.run_for(2.0)
        assert world.house["random"].gone
        assert not world.table.admits("ann")
        assert await world.act("undo") == "Undid “Ended”"
        await world.run_for(2.0)
        assert not world.house["random"].gone
        ann, _ = world.nac4("ann", CUP), world.nac4("bob", CUP)
        await world.run_for(2.0)
        assert ann.plays


# Awarding a game that is on.


@pytest.mark.parametrize(
    "manners", [STANDING_BY, STEPPING_OUT, HANGING_UP], ids=["nac4", "arena", "droidcon"]
)
@pytest.mark.parametrize("to", ["ann", "bob"])
@pytest.mark.parametrize("columns", ["", "3", "33"])
async def test_award_ends_the_game_that_is_on_without_a_fault(
    autojump_clock: MockClock, manners: Manners, to: str, columns: str
) -> None:
    stored = swiss()
    async with running(stored) as world:
        players = [world.player(manners, name, CUP) for name in ("ann", "bob")]
        await world.run_for(2.0)
        world.play(columns, players)
        assert await world.act("award", game="1.1", to=to) == f"Awarded game 1.1 (ann and bob) to {to}"
        await world.run_for(0.5)
        for player, name in zip(players, ("ann", "bob"), strict=True):
            [ended] = player.all(GameEnded)
            assert ended.winner == (0 if to == "ann" else 1)
            assert (player.plays and player.opponent) in (False, "bob" if name == "ann" else "ann")
        await world.run_for(2.0)
        tournament = stored.read()
        points = (1.0, 0.0) if to == "ann" else (0.0, 1.0)
        assert tournament.pairings[0].points == {0: points}
        assert tournament.pairings[0].faults == (0, 0)
        assert [each.faults_in_a_row for each in tournament.entrants] == [0, 0]
        assert described(tournament, 0.0)["undo"] is None  # the game was ended by it
        if manners is STANDING_BY:
            assert players[0].plays
            world.play(FIRST_WINS, players)
            await world.run_for(2.0)
            assert stored.read().meeting(0).is_over


@pytest.mark.parametrize("to", ["ann", "bob"])
async def test_award_ends_the_game_of_a_player_that_is_away(autojump_clock: MockClock, to: str) -> None:
    stored = swiss(grace=60)
    async with running(stored) as world:
        ann, bob = (world.player(STANDING_BY, name, CUP, f"address of {name}") for name in ("ann", "bob"))
        await world.run_for(2.0)
        world.play("33", (ann, bob))
        ann.break_off()
        await world.run_for(2.0)
        assert bob.plays
        await world.act("award", game="1.1", to=to)
        await world.run_for(2.0)
        assert len(bob.all(GameEnded)) == 1
        ann = world.player(STANDING_BY, "ann", CUP, "address of ann")
        await world.run_for(2.0)
        assert ann.plays
        world.play(FIRST_WINS, (ann, bob))
        await world.run_for(2.0)
    tournament = stored.read()
    assert tournament.pairings[0].points[0] == ((1.0, 0.0) if to == "ann" else (0.0, 1.0))
    assert tournament.meeting(0).is_over
    assert tournament.meeting(0).faults == (0, 0)


@pytest.mark.parametrize(("act", "given"), [("award", {"to": "draw"}), ("void", {})])
async def test_game_that_is_on_is_finished_if_no_player_loses_it(
    autojump_clock: MockClock, act: str, given: dict[str, str]
) -> None:
    stored = swiss()
    async with running(stored) as world:
        players = [world.nac4(name, CUP) for name in ("ann", "bob")]
        await world.run_for(2.0)
        await world.act(act, game="1.1", **given)
        await world.run_for(2.0)
        world.play(FIRST_WINS, players)
        await world.run_for(2.0)
    points = (0.5, 0.5) if given else (0.0, 0.0)
    assert stored.read().pairings[0].points == {0: points}


async def test_award_ends_the_game_that_is_on_also_when_the_tournament_was_ended(
    autojump_clock: MockClock,
) -> None:
    async with running(swiss()) as world:
        players = [world.nac4(name, CUP) for name in ("ann", "bob")]
        await world.run_for(2.0)
        world.play("0", players)
        assert await world.act("end") == "Ended"
        await world.run_for(2.0)
        assert not players[0].all(GameEnded)
        await world.act("award", game="1.1", to="bob")
        await world.run_for(2.0)
        assert [each.all(GameEnded)[0].winner for each in players] == [1, 1]


async def test_award_of_the_other_game_of_a_series_ends_none_that_is_on(autojump_clock: MockClock) -> None:
    stored = swiss()
    async with running(stored) as world:
        players = [world.nac4(name, CUP) for name in ("ann", "bob")]
        await world.run_for(2.0)
        world.play("0", players)
        await world.act("award", game="1.2", to="bob")
        await world.run_for(2.0)
        assert not players[0].all(GameEnded)
        world.play(FIRST_WINS[1:], players)
        await world.run_for(3.0)
        assert all(len(each.all(GameEnded)) == 2 for each in players)  # the second game was ended at once
    tournament = stored.read()
    assert tournament.meeting(0).points == (1.0, 1.0)
    assert tournament.meeting(0).faults == (0, 0)


# What the director sees.


async def test_view_has_the_players_and_games_of_its_tournament_alone(autojump_clock: MockClock) -> None:
    cups = [Stored(name=name, format="swiss") for name in ("cup", "other")]
    cups[1].created = 1
    for each, names in zip(cups, (("ann", "bob", "cid", "fay"), ("dan", "eve")), strict=True):
        each.begin(*names, pairings=[(0, 1, 1)])
    async with running(*cups) as world:
        for name in ("ann", "bob", "cid"):
            world.nac4(name, CUP)
        for name in ("dan", "eve", "fay"):
            world.nac4(name, AtTable("other"))
        await world.run_for(2.0)
        seen = world.service.view("CUP")
        assert {each["name"]: (each["state"], each["kind"] is None) for each in seen["players"]} == {
            "ann": ("plays", False),
            "bob": ("plays", False),
            "cid": ("waits", False),
            "fay": ("absent", True),
        }
        assert seen["is_pairing"]
        await world.run_for(20.0)
        assert {each["pairing"] for each in world.service.view("cup")["needs"]} <= {1}
        assert {name for each in world.service.view("cup")["needs"] for name in each["players"]} <= {
            "ann",
            "bob",
        }
        world.hub.drain()
        assert not world.service.view("cup")["is_pairing"]


async def test_award_in_one_tournament_ends_no_game_of_another(autojump_clock: MockClock) -> None:
    cups = [swiss(name=name) for name in ("cup", "other")]
    cups[1].created = 1
    async with running(*cups) as world:
        players = [
            world.player(replace(STANDING_BY, unique_name=False), name, AtTable(table))
            for table in ("cup", "other")
            for name in ("ann", "bob")
        ]
        await world.run_for(2.0)
        assert all(each.plays for each in players)
        await world.act("award", game="1.1", to="ann")
        await world.run_for(2.0)
        assert [len(each.all(GameEnded)) for each in players] == [1, 1, 0, 0]


async def test_withdrawn_player_is_not_asked_to_play_on_and_may_not_sit_down(
    autojump_clock: MockClock,
) -> None:
    stored = swiss()
    async with running(stored) as world:
        ann = world.nac4("ann", CUP)
        await world.run_for(2.0)
        assert await world.act("withdraw", player="bob", why="asked for it") == "Withdrew bob"
        await world.run_for(0.5)
        bob = world.nac4("bob", CUP)
        await world.run_for(3.0)
        assert not ann.plays
        assert not bob.plays
        assert Forfeited(0, [0, 1], [1]) in entries(stored)
        assert any(isinstance(each, Withdrawn) for each in entries(stored))
