"""Who waits for somebody who cannot come is told of once, and no longer than it is so."""

import random
from collections.abc import Callable

import pytest
from worlds.hub import FIRST_WINS, LOBBY, STEPPING_OUT, TABLE, Client, World, wishing

from gateway.access.lookalikes import looks_of
from gateway.game.commands import AtTable, InLobby, Introduce, Place
from gateway.game.facts import Cause, Hindered, Obstacle
from gateway.matchmaking.standard import LobbyAndTables

LATER = 5.1
"""Seconds after which it is known why a player waits."""
SOON = 2.6
"""Seconds after which it is known that somebody has come."""
ABSENT = Obstacle(Cause.ABSENT, "Ada")
ADA_IS = Obstacle(Cause.ABSENT, "Ada", "ada")


class Watched(World):
    """A world in which names that look alike are found, and what is told of obstacles is kept."""

    def __init__(self) -> None:
        super().__init__(LobbyAndTables(random.Random(0), looks=looks_of))
        self.told: list[Hindered] = []
        self._subscription = self.hub.feed.subscribe(self._take, [Hindered])

    def _take(self) -> None:
        self.told += [fact for fact in self._subscription.take() if isinstance(fact, Hindered)]

    def obstacles(self, player: Client) -> list[Obstacle | None]:
        """Return what was told of a player, and hold it against the state."""
        told = [fact.obstacle for fact in self.told if fact.player == player.seat.number]
        now = [
            fact.obstacle
            for fact in self.hub.snapshot(self.now).hindered
            if fact.player == player.seat.number
        ]
        assert player.plays or now == [each for each in told[-1:] if each is not None]
        return told


@pytest.fixture
def world() -> Watched:
    return Watched()


Come = Callable[[Watched, str, Place], Client]
ENTERING: list[Come] = [Watched.nac4, Watched.arena, Watched.droidcon]


def test_nobody_is_looked_at_who_has_left(world: Watched) -> None:
    players = [world.arena("ann", wishing("Ada")), world.nac4("bob"), world.droidcon("cid", AtTable("round"))]
    world.wait(LATER)
    for player in players:
        player.leave()
    world.wait(LATER)
    assert (world.hub.next_alarm() or 60.0) >= world.now + 5.0


@pytest.mark.parametrize("table", [False, True])
def test_who_only_waits_for_the_end_of_a_pause_is_said_to_lack_nobody(world: Watched, table: bool) -> None:
    ann = world.arena("ann", AtTable("round") if table else wishing("Ada"))
    world.wait(LATER)
    world.hub.pause(is_paused=True)
    world.arena("Ada", AtTable("round") if table else LOBBY)
    world.wait(LATER)
    assert world.obstacles(ann)[-1] is None
    world.wait(4 * LATER)
    assert world.obstacles(ann)[-1] is None


@pytest.mark.parametrize("come", ENTERING)
def test_wish_for_a_name_that_is_not_here_is_told_once(world: Watched, come: Come) -> None:
    bob = come(world, "bob", wishing("Ada"))
    world.arena("carol", TABLE)
    world.wait(4.9)
    assert world.obstacles(bob) == []
    world.wait(60)
    assert world.obstacles(bob) == [ABSENT]
    assert world.told[0].is_first
    assert world.told[0].name == "bob"


@pytest.mark.parametrize("alike", ["ada", "ADA", "\u0410da", "\uff21da", "\u0430da"])
def test_who_looks_like_the_one_that_is_wished_for_is_named(world: Watched, alike: str) -> None:
    world.arena(alike, TABLE)
    bob = world.arena("bob", wishing("Ada"))
    world.wait(LATER)
    assert world.obstacles(bob) == [Obstacle(Cause.ABSENT, "Ada", alike)]


def test_who_comes_and_goes_is_told_of_while_the_other_waits(world: Watched) -> None:
    bob = world.arena("bob", wishing("Ada"))
    world.wait(LATER)
    alike = world.arena("ada", TABLE)
    world.wait(SOON)
    alike.leave()
    world.wait(SOON)
    assert world.obstacles(bob) == [ABSENT, ADA_IS, ABSENT]
    ada = world.arena("Ada", TABLE)
    world.wait(SOON)
    assert world.obstacles(bob)[3:] == [None]
    ada.leave()
    world.wait(LATER)
    assert world.obstacles(bob)[4:] == [ABSENT]
    assert [fact.is_first for fact in world.told if fact.player == bob.seat.number] == [True, *[False] * 4]
    ada = world.arena("Ada")
    assert ada.opponent == "bob"
    assert world.hub.snapshot(world.now).hindered == ()


def test_who_is_away_for_a_moment_is_not_missed(world: Watched) -> None:
    """As a c4-arena player is between a game and its next `start`."""
    ada = world.arena("Ada", wishing("dan"))
    bob = world.arena("bob", wishing("Ada"))
    for _ in range(20):
        world.wait(2.44)
        ada.leave()
        world.wait(0.05)
        ada = world.arena("Ada", wishing("dan"))
    assert world.obstacles(bob) == []


def test_opponent_who_comes_in_a_moment_makes_no_noise(world: Watched) -> None:
    world.arena("bob", wishing("Ada"))
    world.arena("dan", TABLE)
    world.wait(4.9)
    world.arena("Ada", wishing("bob"))
    world.arena("eve", TABLE)
    world.wait(60)
    assert world.told == []


def test_next_wait_of_a_player_is_told_anew(world: Watched) -> None:
    ann, bob = world.nac4("ann", wishing("bob")), world.nac4("bob")
    world.play(FIRST_WINS, (ann, bob) if ann.moves_first else (bob, ann))
    for player in (ann, bob):
        player.leave()
    again = world.nac4("ann", wishing("bob"))
    world.wait(LATER)
    assert world.obstacles(again) == [Obstacle(Cause.ABSENT, "bob")]


def test_two_of_one_name_who_wait_for_anyone_are_told_of(world: Watched) -> None:
    one = world.arena("ada")
    world.wait(60)
    assert world.obstacles(one) == []
    two = world.arena("ada")
    world.wait(LATER)
    namesake = Obstacle(Cause.NAMESAKE, "ada")
    assert world.obstacles(one) == world.obstacles(two) == [namesake]
    two.leave()
    world.wait(SOON)
    assert world.obstacles(one) == [namesake, None]


@pytest.mark.parametrize(
    ("place", "other"),
    [(wishing("ada"), LOBBY), (LOBBY, wishing("ada")), (LOBBY, wishing("ADA", any_case=True))],
)
def test_namesake_who_would_be_the_opponent_is_told_of(
    world: Watched, place: InLobby, other: InLobby
) -> None:
    one, _ = world.arena("ada", place), world.arena("ada", other)
    world.wait(LATER)
    assert world.obstacles(one) == [Obstacle(Cause.NAMESAKE, "ada")]


def test_namesake_with_another_wish_keeps_nobody_waiting(world: Watched) -> None:
    ada, _ = world.arena("ada"), world.arena("ada", wishing("bob"))
    world.wait(LATER)
    assert world.obstacles(ada) == []


def test_players_whose_games_do_not_count_may_be_namesakes(world: Watched) -> None:
    test = world.droidcon("TEST", wishing("TEST", any_case=True))
    world.wait(LATER)
    assert world.obstacles(test) == []
    ann = world.arena("TEST")
    world.wait(LATER)
    assert world.obstacles(ann) == [Obstacle(Cause.NAMESAKE, "TEST")]


def test_wish_in_any_case_is_granted_in_any_case(world: Watched) -> None:
    world.arena("ADA", TABLE)
    bob = world.droidcon("bob", wishing("Ada", any_case=True))
    itself = world.droidcon("stra\N{LATIN SMALL LETTER SHARP S}e", wishing("STRASSE", any_case=True))
    world.arena("STRASSE", TABLE).leave()
    world.wait(LATER)
    assert world.obstacles(bob) == []
    assert world.obstacles(itself) == [Obstacle(Cause.NAMESAKE, "stra\N{LATIN SMALL LETTER SHARP S}e")]


def test_who_is_alone_at_a_table_is_told_of(world: Watched) -> None:
    ann = world.droidcon("ann", TABLE)
    world.wait(LATER)
    assert world.obstacles(ann) == [Obstacle(Cause.ALONE, "round")]
    assert world.droidcon("bob", TABLE).opponent == "ann"
    assert world.hub.snapshot(world.now).hindered == ()


def test_player_of_a_full_table_is_not_alone(world: Watched) -> None:
    ann, bob = world.arena("ann", TABLE), world.arena("bob", TABLE)
    world.play(FIRST_WINS, (ann, bob))
    ann.enter(TABLE)
    world.wait(LATER)
    assert world.obstacles(ann) == []


def test_wish_for_a_house_player_is_no_wish_for_somebody_who_is_not_here(world: Watched) -> None:
    ann = world.arena("ann", wishing("aima"))
    world.wait(LATER)
    assert world.obstacles(ann) == []


def test_name_that_is_here_is_found_among_many_that_look_like_it(world: Watched) -> None:
    for name in ("ADa", "aDA", "ADA", "Ada", "ada"):
        world.arena(name, TABLE if name == "Ada" else AtTable(name))
    exact, any_case = world.arena("bob", wishing("Ada")), world.arena("carol", wishing("aDa", any_case=True))
    alike = world.arena("dan", wishing("adA"))
    world.wait(LATER)
    assert world.obstacles(exact) == world.obstacles(any_case) == []
    assert world.obstacles(alike) == [Obstacle(Cause.ABSENT, "adA", "ADa")]


def test_new_name_counts_at_once(world: Watched) -> None:
    bob = world.arena("bob", wishing("Ada"))
    other = world.droidcon("dan", TABLE)
    world.wait(LATER)
    other.say(Introduce("Ada"))
    world.wait(SOON)
    assert world.obstacles(bob) == [ABSENT, None]


def test_players_are_looked_at_a_few_at_a_time(world: Watched) -> None:
    waiting = [world.arena(f"p{number}", wishing("Ada")) for number in range(20)]
    world.now = 5.0
    world.hub.tick(2.5)
    world.hub.tick(2.5)
    world.hub.tick(world.now)
    assert len(world.told) == 10
    assert world.hub.next_alarm() == world.now
    world.hub.tick(world.now)
    assert [fact.player for fact in world.told] == [player.seat.number for player in waiting]


def test_mistake_in_a_look_costs_the_player_that_is_looked_at() -> None:
    looked: list[str] = []

    def looks(name: str) -> set[str]:
        if name == "wanted":
            looked.append(name)
            raise ZeroDivisionError
        return {name}

    faults: list[object] = []
    world = World(LobbyAndTables(random.Random(0), looks=looks), on_fault=faults.append)
    ann, bob = world.client(STEPPING_OUT), world.arena("bob", TABLE)
    ann.enter(wishing("wanted"), "ann")
    world.wait(60)
    assert (ann.gone, bob.gone, looked, faults) == (True, False, ["wanted"], [["ann"]])
