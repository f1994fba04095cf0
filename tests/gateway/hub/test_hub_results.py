"""What those who keep results get of a game, and when: before anybody hears of its end."""

import random
from collections.abc import Callable
from dataclasses import replace
from itertools import groupby

import pytest
from worlds.hub import (
    FIRST_WINS,
    HANGING_UP,
    LOBBY,
    STANDING_BY,
    STEPPING_OUT,
    TABLE,
    Client,
    Heard,
    World,
)

from gateway.game.clock import Terms
from gateway.game.commands import AtTable
from gateway.game.events import Ended, Moved, Reason, Started, ToMove
from gateway.game.ids import GameId
from gateway.game.manners import Manners
from gateway.game.results import Finished, NoResults
from gateway.hub.hub import Hub
from gateway.matchmaking.standard import LobbyAndTables

Way = Callable[[World, Client, Client], None]


class Watch:
    """Notes each result, and what the players had heard of the end when it was taken in."""

    def __init__(self) -> None:
        self.world = World(clock=10.0, idle=10.0)
        matchmaker, results = LobbyAndTables(random.Random(0)), Heard(self.keep)
        self.world.hub = Hub(Terms(clock=10.0, idle=10.0), matchmaker, results)
        self.clients: list[Client] = []
        self.results: list[Finished] = []

    def keep(self, finished: Finished) -> None:
        told = [len(client.all(Ended)) for client in self.clients]
        assert told == [len(self.results)] * len(self.clients), "somebody heard of the end before"
        self.results.append(finished)

    def client(self, manners: Manners, name: str) -> Client:
        self.clients.append(self.world.client(manners))
        self.clients[-1].enter(TABLE, name)
        return self.clients[-1]


def by_four(world: World, one: Client, two: Client) -> None:
    world.play(FIRST_WINS, (one, two))


def by_leaving(world: World, one: Client, two: Client) -> None:
    two.leave()


def by_time(world: World, one: Client, two: Client) -> None:
    one.hand()
    world.wait(11)


def by_an_illegal_move(world: World, one: Client, two: Client) -> None:
    one.play(9)


@pytest.mark.parametrize("way", [by_four, by_leaving, by_time, by_an_illegal_move])
def test_a_result_is_taken_in_before_its_end_is_told(way: Way) -> None:
    watch = Watch()
    one, two = watch.client(HANGING_UP, "ann"), watch.client(HANGING_UP, "bob")
    way(watch.world, one, two)
    for client in (one, two):
        assert [ended.game for ended in client.all(Ended)] == [watch.results[0].game]
    assert len(watch.results) == 1


def test_each_round_is_a_game_of_its_own_and_all_that_is_told_of_it_names_it() -> None:
    watch = Watch()
    one, two = watch.client(HANGING_UP, "ann"), watch.client(HANGING_UP, "bob")
    for _ in range(4):
        watch.world.play(FIRST_WINS, (one, two))
    games = [result.game for result in watch.results]
    assert games == sorted({*games})
    assert len(games) == 4
    for client in (one, two):
        told = [event.game for event in client.heard if isinstance(event, Started | Moved | ToMove | Ended)]
        assert [game for game, _ in groupby(told)] == games


class Slow(NoResults):
    """Stores a result when the test says so."""

    waits = True

    def is_open(self, _: GameId) -> bool:
        return self.waits

    def when_stored(self, _: GameId, then: Callable[[], object]) -> None:
        raise AssertionError("the core does not wait")


def test_who_owed_a_move_gets_no_new_game_before_it_could_hear_of_the_end() -> None:
    world, results = World(), Slow()
    world.hub = Hub(Terms(), LobbyAndTables(random.Random(0)), results)
    ann, bob = world.nac4("ann"), world.arena("bob")
    if ann.request is None:
        bob.play(0)
    bob.leave()
    world.arena("cid")
    world.wait(1.8)
    assert ann.games == 1
    results.waits = False
    world.wait(0.6)
    assert ann.games == 2


def test_a_game_that_the_close_cuts_off_is_kept_though_nobody_is_told() -> None:
    watch = Watch()
    one, two = watch.client(STEPPING_OUT, "ann"), watch.client(STEPPING_OUT, "bob")
    watch.world.now = 4.0
    watch.world.hub.close(watch.world.now)
    assert [(result.reason, result.ended) for result in watch.results] == [(Reason.STOPPED, 4.0)]
    assert one.all(Ended) == two.all(Ended) == []


def test_a_result_tells_series_round_and_times() -> None:
    world = World()
    ann, bob = world.droidcon("ann", TABLE), world.droidcon("bob", TABLE)
    for began in (1.0, 2.0):
        world.now = began + 0.5
        world.play(FIRST_WINS, (ann, bob))
    first, second = world.results
    assert (first.round, first.began, first.ended) == (1, 0.0, 1.5)
    assert (second.round, second.began, second.ended) == (2, 1.5, 2.5)
    assert first.series == second.series


def test_every_series_has_a_number_of_its_own() -> None:
    world = World()
    for number in range(3):
        place = AtTable(f"t{number}")
        ann, bob = world.arena("ann", place), world.arena("bob", place)
        world.play(FIRST_WINS, (ann, bob))
    assert [result.series for result in world.results] == [1, 2, 3]


def test_a_result_names_the_table_as_the_first_to_sit_down_wrote_it() -> None:
    world = World()
    ann, bob = world.arena("ann", AtTable("Round")), world.arena("bob", AtTable("ROUND"))
    world.play(FIRST_WINS, (ann, bob))
    cid, dan = world.arena("cid", LOBBY), world.arena("dan", LOBBY)
    world.play(FIRST_WINS, (cid, dan))
    assert [result.table for result in world.results] == ["Round", None]


def test_a_result_tells_of_what_kind_both_players_are() -> None:
    world = World()
    one = world.client(replace(STANDING_BY, kind="one"))
    two = world.client(replace(STEPPING_OUT, kind="two"))
    for client, name in ((one, "ann"), (two, "bob")):
        client.enter(TABLE, name)
    world.play(FIRST_WINS, (one, two))
    assert [player.manners.kind for player in world.results[0].players] == ["one", "two"]
