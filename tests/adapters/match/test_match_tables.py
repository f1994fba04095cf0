"""The matchmaker of a match, in a real hub: a player is known by its port, whatever name it gives."""

import pytest
from worlds.hub import FIRST_WINS, HANGING_UP, LOBBY, STANDING_BY, STEPPING_OUT, TABLE, Client, Heard, World

from adapters.match.tables import PortHub, Series, Tables
from gateway.game.clock import Terms
from gateway.game.commands import Unreadable
from gateway.game.ids import GameId
from gateway.game.manners import Manners
from gateway.hub.hub import Hub


class FakeTable:
    """Writes down what it hears, and plays what a test asks for."""

    def __init__(self, *series: Series) -> None:
        self.series = list(series)
        self.there = [False, False]
        self.games: list[int] = []
        """Who opened each game."""
        self.unread: list[str] = []
        self.seconds: list[float] = []
        self.is_strict = False

    def plan(self) -> Series | None:
        return self.series[0] if self.series else None

    def seated(self, side: int, *, there: bool) -> None:
        self.there[side] = there

    def started(self, _: GameId, opener: int) -> None:
        self.games.append(opener)

    def unreadable(self, side: int, text: str) -> None:
        self.unread.append(text)

    def moved(self, side: int, seconds: float) -> bool:
        self.seconds.append(seconds)
        return self.is_strict


class Match(World):
    """A hub with this matchmaker, and two tables."""

    def __init__(self) -> None:
        super().__init__()
        self.tables = Tables()
        self.hub = Hub(Terms(idle=10.0), self.tables, Heard(self.results.append))  # type: ignore[arg-type]
        self.one, self.two = FakeTable(Series(0, 4)), FakeTable(Series(1, 4))
        for name, table in (("one", self.one), ("two", self.two)):
            for side in (0, 1):
                self.tables.add(f"{name}.{side}", table, side)

    def comes(self, port: str, name: str = "bot", manners: Manners = STANDING_BY) -> Client:
        client = Client(self, manners, port)
        client.enter(TABLE if port.endswith("1") else LOBBY, name)
        return client


@pytest.fixture
def world() -> Match:
    return Match()


def test_two_play_who_came_by_the_ports_of_one_table_even_under_one_name(world: Match) -> None:
    first, stranger = world.comes("one.0"), world.comes("two.1")
    assert not first.plays
    second = world.comes("one.1")
    assert first.plays
    assert second.plays
    assert first.moves_first
    assert not stranger.plays


@pytest.mark.parametrize("manners", [STANDING_BY, HANGING_UP])
def test_series_is_as_long_as_the_table_says_and_opened_by_whom_it_says(
    world: Match, manners: Manners
) -> None:
    players = world.comes("two.1", manners=manners), world.comes("two.0", manners=manners)
    assert players[0].moves_first
    for _ in range(4):
        world.two.series = []
        world.play(FIRST_WINS, players)
    assert [result.round for result in world.results] == [1, 2, 3, 4]
    assert not players[0].plays


def test_table_hears_who_has_a_place(world: Match) -> None:
    client = world.comes("one.1")
    assert world.one.there == [False, True]
    client.leave()
    assert world.one.there == [False, False]


def test_bot_that_is_back_before_it_is_gone_plays(world: Match) -> None:
    old, new = world.comes("one.0"), world.comes("one.0")
    old.leave()
    assert world.one.there == [True, False]
    world.comes("one.1")
    assert new.plays


def test_bot_that_came_twice_may_leave_in_either_order(world: Match) -> None:
    older, newer = world.comes("one.0"), world.comes("one.0")
    newer.leave()
    older.leave()
    assert not world.one.there[0]
    again = world.comes("one.0")
    world.comes("one.1")
    assert again.plays


def test_nobody_is_paired_at_a_port_that_is_closed(world: Match) -> None:
    world.comes("one.0", manners=STEPPING_OUT)
    world.tables.remove("one.0")
    assert not world.comes("one.1").plays


def test_table_without_a_plan_lets_its_players_wait(world: Match) -> None:
    world.one.series = []
    world.comes("one.0")
    assert not world.comes("one.1").plays


def test_door_tells_where_a_player_comes_from_and_what_nobody_could_read(world: Match) -> None:
    door = PortHub(world.hub, "one.0", world.one, 0)
    client = world.client(STEPPING_OUT)
    client.latest = "HELLO THERE"  # type: ignore[attr-defined]
    seat = door.open(client, STEPPING_OUT, 0.0, "10.0.0.1")
    assert seat.origin == "one.0"
    assert not door.submit(seat, Unreadable(1), 0.0)
    assert world.one.unread == ["HELLO THERE"]
    assert door.feed is world.hub.feed
    assert door.results is world.hub.results
