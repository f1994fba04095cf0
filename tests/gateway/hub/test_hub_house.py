"""Players of the server's own, who come when they are asked for and go with their series."""

import dataclasses

import pytest
from worlds.hub import (
    FIRST_WINS,
    HANGING_UP,
    LOBBY,
    STANDING_BY,
    STEPPING_OUT,
    Client,
    World,
    wishing,
)

from gateway.game.commands import Introduce
from gateway.game.events import Dismissed, Ended, Entered, Objection, Refused, Started, Why
from gateway.game.manners import Afterwards, Illegal, Manners
from gateway.hub.seats import Seat
from gateway.matchmaking.matchmaker import Opponent

MANNERS = Manners(illegal=Illegal.FORFEIT, afterwards=Afterwards.HANG_UP, house=True)


class FakeHouse:
    """A house whose players do nothing by themselves."""

    def __init__(self, world: World, lobby: str | None = None) -> None:
        self.players: list[Client] = []
        self._world = world
        self._lobby = lobby
        self.busy = False
        """Whether nobody more would find the time to think."""
        self.opponents: list[Opponent] = []
        """To whom a player came, or was to come."""
        world.hub.engage(self)

    def has(self, name: str, opponent: Opponent) -> bool:
        self.opponents.append(opponent)
        return name != "perfect" and not self.busy

    def open_seat(self, name: str, opponent: Opponent, now: float) -> Seat:
        self.opponents.append(opponent)
        self.players.append(self._world.client(MANNERS))
        return self.players[-1].seat

    def lobby_player(self, opponent: Opponent) -> str | None:
        self.opponents.append(opponent)
        return None if self.busy else self._lobby


def visitor(world: World, manners: Manners, name: str = "ann", wish: str | None = None) -> Client:
    client = world.client(manners)
    client.enter(LOBBY if wish is None else wishing(wish), name)
    return client


def test_wish_for_a_house_player_begins_a_game_at_once() -> None:
    world = World()
    house = FakeHouse(world)
    ann = visitor(world, STEPPING_OUT, wish="Random")
    assert ann.opponent == "random"
    assert [player.games for player in house.players] == [1]


def test_any_number_of_games_with_one_house_player_at_once() -> None:
    world = World()
    FakeHouse(world)
    clients = [visitor(world, STEPPING_OUT, name="ann", wish="random") for _ in range(5)]
    assert all(client.plays for client in clients)


def test_house_player_is_gone_with_its_series() -> None:
    world = World()
    house = FakeHouse(world)
    dora = visitor(world, dataclasses.replace(HANGING_UP, rounds=2), wish="random")
    (opponent,) = house.players
    for _ in range(2):
        assert not opponent.gone
        play_out(dora, opponent)
    assert opponent.last(Dismissed).why is Why.SERIES_OVER
    assert dora.last(Dismissed).why is Why.SERIES_OVER
    assert len(world.hub) == 0


def test_who_stands_by_for_a_house_player_gets_one_game_after_the_other() -> None:
    world = World(games_per_pair=1)
    house = FakeHouse(world)
    nora = visitor(world, STANDING_BY, wish="random")
    for game in range(1, 5):
        assert nora.games == game
        play_out(nora, house.players[-1])
    assert [player.gone for player in house.players] == [True] * 4 + [False]


def test_house_player_leaves_when_its_opponent_does() -> None:
    world = World()
    house = FakeHouse(world)
    ann = visitor(world, STEPPING_OUT, wish="random")
    ann.leave()
    (opponent,) = house.players
    assert opponent.gone
    assert len(opponent.all(Ended)) == 1
    assert len(world.hub) == 0


def test_player_that_is_not_there_is_refused_at_once() -> None:
    world = World()
    FakeHouse(world)
    ann = world.client(STEPPING_OUT)
    (refused,) = ann.enter(wishing("perfect"), "ann")
    assert isinstance(refused, Refused)
    assert refused.objections == Objection.NOT_AVAILABLE
    ann.enter(wishing("random"), "ann")
    assert ann.plays


def test_house_that_is_busy_refuses_a_wish_and_takes_the_next() -> None:
    world = World()
    house = FakeHouse(world)
    house.busy = True
    ann = world.client(STEPPING_OUT)
    (refused,) = ann.enter(wishing("aima"), "ann")
    assert isinstance(refused, Refused)
    assert refused.objections == Objection.NOT_AVAILABLE
    house.busy = False
    ann.enter(wishing("aima"), "ann")
    assert ann.plays


@pytest.mark.parametrize("manners", [STEPPING_OUT, STANDING_BY, HANGING_UP])
def test_house_is_told_whom_it_is_to_play(manners: Manners) -> None:
    world = World()
    house = FakeHouse(world, lobby="aima")
    wishes = world.client(manners, "192.0.2.7")
    waits = world.client(manners, "192.0.2.8")
    wishes.enter(wishing("random"), "ann")
    waits.enter(LOBBY, "bob")
    world.wait(6.0)
    assert set(house.opponents[:2]) == {Opponent("192.0.2.7", "ann", manners.clocked)}
    assert set(house.opponents[2:]) == {Opponent("192.0.2.8", "bob", manners.clocked)}


def test_lobby_player_that_is_busy_comes_later() -> None:
    world = World()
    house = FakeHouse(world, lobby="aima")
    house.busy = True
    ann = visitor(world, STEPPING_OUT)
    world.wait(6.0)
    assert not ann.plays
    house.busy = False
    world.wait(5.0)
    assert ann.opponent == "aima"


@pytest.mark.parametrize("manners", [STANDING_BY, STEPPING_OUT, HANGING_UP])
@pytest.mark.parametrize("name", ["random", "AIMA", " aima10\t", "\0perf\u200bect"])
def test_name_of_a_house_player_lets_nobody_in(manners: Manners, name: str) -> None:
    world = World()
    impostor = world.client(manners)
    (refused, *rest) = impostor.enter(LOBBY, name)
    assert refused == Refused(Objection.NAME_RESERVED, 0)
    assert rest == ([Dismissed(Why.REFUSED, Objection.NAME_RESERVED)] if manners.strict_entry else [])
    assert impostor.seat.name is None
    assert world.client(manners).enter(LOBBY, "ann") == [Entered("ann")]


def test_name_of_a_house_player_is_not_taken_and_the_one_before_stays() -> None:
    world = World()
    ann = world.client(HANGING_UP)
    ann.say(Introduce("ann", counted=False))
    assert ann.say(Introduce("Aima")) == [Refused(Objection.NAME_RESERVED, 0)]
    assert (ann.seat.name, ann.seat.counted) == ("ann", False)
    assert ann.enter(LOBBY) == [Entered("ann")]
    assert ann.say(Introduce("perfect")) == [Refused(Objection.NAME_RESERVED, 0)]
    world.arena("bob")
    assert ann.last(Started).names in (("ann", "bob"), ("bob", "ann"))


@pytest.mark.parametrize("manners", [STEPPING_OUT, HANGING_UP])
def test_house_player_comes_to_whom_of_one_name_has_asked_for_it(manners: Manners) -> None:
    world = World()
    FakeHouse(world)
    patient = visitor(world, manners)
    world.wait(1.0)
    asking = visitor(world, manners, wish="random")
    assert asking.opponent == "random"
    assert not patient.plays


def test_lobby_player_comes_to_whom_nobody_meets_and_not_before_its_time() -> None:
    world = World()
    house = FakeHouse(world, lobby="aima")
    ann = visitor(world, STEPPING_OUT)
    world.wait(4.9)
    assert not house.players
    world.wait(0.2)
    assert ann.opponent == "aima"


def test_lobby_player_leaves_alone_who_wishes_for_somebody() -> None:
    world = World()
    house = FakeHouse(world, lobby="aima")
    visitor(world, STEPPING_OUT, wish="bob")
    world.wait(20.0)
    assert not house.players


def test_lobby_player_goes_again_where_the_two_have_had_their_games() -> None:
    world = World(games_per_pair=1)
    house = FakeHouse(world, lobby="aima")
    nora = visitor(world, STANDING_BY)
    world.wait(6.0)
    while nora.games < 3 and world.now < 100:
        if nora.plays:
            play_out(nora, house.players[-1])
        world.wait(6.0)
    assert nora.games == 2
    assert len(world.hub) == 1


def test_without_a_lobby_player_nobody_comes() -> None:
    world = World()
    house = FakeHouse(world)
    ann = visitor(world, STEPPING_OUT)
    world.wait(20.0)
    assert not ann.plays
    assert not house.players


def play_out(one: Client, two: Client) -> None:
    """Play a game to its end; whoever moves first wins."""
    assert one.last(Started).names == two.last(Started).names
    first, second = (one, two) if one.moves_first else (two, one)
    for ply, column in enumerate(FIRST_WINS):
        mover = second if ply % 2 else first
        mover.play(int(column))
