"""What is reported of a game, and when: before anybody hears of its end."""

import random
from collections.abc import Callable
from dataclasses import replace

import pytest
from hub_world import (
    FIRST_WINS,
    HANGING_UP,
    LOBBY,
    STANDING_BY,
    STEPPING_OUT,
    TABLE,
    Client,
    World,
)

from gateway.game.commands import AtTable
from gateway.game.events import Ended, Reason
from gateway.game.manners import Manners
from gateway.game.results import Finished
from gateway.game.session import Terms
from gateway.hub.hub import Hub, Rules

Way = Callable[[World, Client, Client], None]


class Dispatcher:
    """Gives receipts, and notes what the players had heard of the end when it was told."""

    def __init__(self) -> None:
        self.world = World(clock=10.0, idle=10.0)
        self.world.hub = Hub(Rules(Terms(clock=10.0, idle=10.0)), random.Random(0), self.report)
        self.clients: list[Client] = []
        self.results: list[Finished] = []
        self.receipts: list[object] = []

    def report(self, finished: Finished) -> object:
        told = [len(client.all(Ended)) for client in self.clients]
        assert told == [len(self.receipts)] * len(self.clients), "somebody heard of the end before"
        self.results.append(finished)
        self.receipts.append(object())
        return self.receipts[-1]

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
def test_a_result_is_reported_before_its_end_is_told_with_the_receipt(way: Way) -> None:
    dispatcher = Dispatcher()
    one, two = dispatcher.client(HANGING_UP, "ann"), dispatcher.client(HANGING_UP, "bob")
    way(dispatcher.world, one, two)
    for client in (one, two):
        assert [ended.receipt for ended in client.all(Ended)] == dispatcher.receipts
    assert len(dispatcher.receipts) == 1


def test_each_round_has_a_receipt_of_its_own() -> None:
    dispatcher = Dispatcher()
    one, two = dispatcher.client(HANGING_UP, "ann"), dispatcher.client(HANGING_UP, "bob")
    for _ in range(4):
        dispatcher.world.play(FIRST_WINS, (one, two))
    assert [ended.receipt for ended in one.all(Ended)] == dispatcher.receipts
    assert len({*dispatcher.receipts}) == 4


def test_the_receipt_makes_no_difference_between_two_ends() -> None:
    dispatcher = Dispatcher()
    one, two = dispatcher.client(STEPPING_OUT, "ann"), dispatcher.client(STEPPING_OUT, "bob")
    dispatcher.world.play(FIRST_WINS, (one, two))
    assert one.last(Ended) == replace(one.last(Ended), receipt=None)


class Slow:
    """A receipt for a result that is safe when the test says so."""

    is_open = True

    async def settled(self) -> None:
        raise AssertionError("the core does not wait")


def test_who_owed_a_move_gets_no_new_game_before_it_could_hear_of_the_end() -> None:
    world, receipt = World(), Slow()
    world.hub = Hub(Rules(), random.Random(0), lambda _: receipt)
    ann, bob = world.nac4("ann"), world.arena("bob")
    if ann.request is None:
        bob.play(0)
    bob.leave()
    world.arena("cid")
    world.wait(1.8)
    assert ann.games == 1
    receipt.is_open = False
    world.wait(0.6)
    assert ann.games == 2


def test_without_anybody_who_keeps_results_there_is_no_receipt() -> None:
    world = World()
    world.hub = Hub(Rules(), random.Random(0))
    ann, bob = world.arena("ann", TABLE), world.arena("bob", TABLE)
    world.play(FIRST_WINS, (ann, bob))
    assert bob.last(Ended).receipt is None


def test_a_game_that_the_close_cuts_off_is_reported_though_nobody_is_told() -> None:
    dispatcher = Dispatcher()
    one, two = dispatcher.client(STEPPING_OUT, "ann"), dispatcher.client(STEPPING_OUT, "bob")
    dispatcher.world.now = 4.0
    dispatcher.world.hub.close(dispatcher.world.now)
    assert [(result.reason, result.ended) for result in dispatcher.results] == [(Reason.STOPPED, 4.0)]
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
