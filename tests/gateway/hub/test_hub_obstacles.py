"""Who waits for somebody who cannot come hears of it once, and no longer than it is so."""

import random

import pytest
from worlds.hub import FIRST_WINS, LOBBY, MANNERS, STEPPING_OUT, TABLE, Client, World, wishing

from gateway.access.lookalikes import looks_of
from gateway.game.commands import AtTable, Introduce, Place
from gateway.game.facts import Cause, Hindered, Obstacle
from gateway.game.manners import Manners
from gateway.matchmaking.standard import LobbyAndTables

LATER = 5.1
"""Seconds after which it is known why a player waits."""
SOON = 2.6
"""Seconds after which it is known that somebody has come."""
ABSENT = Obstacle(Cause.ABSENT, "Ada")
ADA_IS = Obstacle(Cause.ABSENT, "Ada", "ada")
NAMESAKE = Obstacle(Cause.NAMESAKE, "ada")


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
        number, hindered = player.seat.number, self.hub.snapshot(self.now).hindered
        told = [fact.obstacle for fact in self.told if fact.player == number]
        now = [fact.obstacle for fact in hindered if fact.player == number]
        assert now == ([] if player.plays else [each for each in told[-1:] if each is not None])
        return told


@pytest.fixture
def world() -> Watched:
    return Watched()


def any_case(name: str) -> Place:
    return wishing(name, any_case=True)


STRASSE = "stra\N{LATIN SMALL LETTER SHARP S}e"
Other = tuple[str, Place]
WHY: dict[str, tuple[Place, list[Other], Obstacle | None]] = {
    "the only one": (LOBBY, [], None),
    "a wish for who is not here": (wishing("Ada"), [], ABSENT),
    "a wish for who is here": (wishing("Ada"), [("Ada", TABLE)], None),
    "a wish for a house player": (wishing("aima"), [], None),
    "who looks like it in case": (wishing("Ada"), [("ADA", TABLE)], Obstacle(Cause.ABSENT, "Ada", "ADA")),
    "or in letters": (
        wishing("Ada"),
        [("\u0410da", TABLE)],
        Obstacle(Cause.ABSENT, "Ada", "\u0410da"),
    ),
    "one of many that look like it": (
        wishing("Ada"),
        [("ADa", AtTable("x")), ("aDA", AtTable("y")), ("Ada", TABLE)],
        None,
    ),
    "any of many": (any_case("aDa"), [(name, AtTable(name)) for name in ("ADa", "aDA")], None),
    "the first of many": (
        wishing("adA"),
        [(name, AtTable(name)) for name in ("ADa", "aDA")],
        Obstacle(Cause.ABSENT, "adA", "ADa"),
    ),
    "a namesake": (LOBBY, [("ada", LOBBY)], NAMESAKE),
    "a namesake that is wished for": (wishing("ada"), [("ada", LOBBY)], NAMESAKE),
    "a namesake that wishes": (LOBBY, [("ada", any_case("ADA"))], NAMESAKE),
    "a namesake with another wish": (LOBBY, [("ada", wishing("bob"))], None),
    "alone at a table": (TABLE, [], Obstacle(Cause.ALONE, "round")),
}


@pytest.mark.parametrize(("place", "others", "why"), WHY.values(), ids=WHY)
def test_why_a_player_waits(world: Watched, place: Place, others: list[Other], why: Obstacle | None) -> None:
    for name, its_place in others:
        world.arena(name, its_place)
    ada = world.arena("ada", place)
    world.wait(LATER)
    assert world.obstacles(ada) == ([] if why is None else [why])


def test_wish_for_its_own_name_in_any_case_finds_a_namesake(world: Watched) -> None:
    itself = world.droidcon(STRASSE, any_case("STRASSE"))
    world.arena("STRASSE", TABLE).leave()
    world.wait(LATER)
    assert world.obstacles(itself) == [Obstacle(Cause.NAMESAKE, STRASSE)]


def test_players_whose_games_do_not_count_may_be_namesakes(world: Watched) -> None:
    test = world.droidcon("TEST", any_case("TEST"))
    world.wait(LATER)
    assert world.obstacles(test) == []
    counted = world.arena("TEST")
    world.wait(LATER)
    assert world.obstacles(counted) == [Obstacle(Cause.NAMESAKE, "TEST")]


@pytest.mark.parametrize("manners", MANNERS.values(), ids=MANNERS)
def test_obstacle_is_told_once_and_not_before_its_time(world: Watched, manners: Manners) -> None:
    bob = world.player(manners, "bob", wishing("Ada"))
    world.arena("carol", TABLE)
    world.wait(4.9)
    assert world.obstacles(bob) == []
    world.wait(60)
    assert world.obstacles(bob) == [ABSENT]
    assert (world.told[0].is_first, world.told[0].name) == (True, "bob")


def test_who_comes_and_goes_is_told_of_while_the_other_waits(world: Watched) -> None:
    bob = world.arena("bob", wishing("Ada"))
    world.wait(LATER)
    told: list[Obstacle | None] = [ABSENT]
    for name, obstacle in (("ada", ADA_IS), ("Ada", None)):
        other = world.arena(name, TABLE)
        world.wait(SOON)
        other.leave()
        world.wait(LATER)
        told += obstacle, ABSENT
        assert world.obstacles(bob) == told
    assert [fact.is_first for fact in world.told if fact.player == bob.seat.number] == [True, *[False] * 4]
    assert world.arena("Ada").opponent == "bob"
    assert world.obstacles(bob) == told


def test_who_is_away_for_a_moment_is_not_missed(world: Watched) -> None:
    """As a c4-arena player is between a game and its next `start`."""
    ada, bob = world.arena("Ada", wishing("dan")), world.arena("bob", wishing("Ada"))
    for _ in range(10):
        world.wait(2.44)
        ada.leave()
        world.wait(0.05)
        ada = world.arena("Ada", wishing("dan"))
    assert world.obstacles(bob) == []


def test_nothing_is_told_of_who_meets_its_opponent_or_leaves_in_time(world: Watched) -> None:
    world.arena("bob", wishing("Ada"))
    leavers = [world.arena("ann", wishing("Ada")), world.nac4("eve", TABLE)]
    world.wait(4.9)
    for client in leavers:
        client.leave()
    world.arena("Ada", wishing("bob"))
    world.wait(60)
    assert world.told == []
    assert (world.hub.next_alarm() or 999.0) >= world.now + 5.0


def test_next_wait_of_a_player_is_told_anew_unless_its_table_is_full(world: Watched) -> None:
    ann, bob = world.pair(STEPPING_OUT, STEPPING_OUT)
    world.play(FIRST_WINS, (ann, bob))
    ann.enter(TABLE)
    world.wait(LATER)
    assert world.obstacles(ann) == []
    bob.leave()
    world.wait(2 * LATER)
    assert world.obstacles(ann) == [Obstacle(Cause.ALONE, "round")]


@pytest.mark.parametrize("place", [TABLE, wishing("Ada")])
def test_who_only_waits_for_the_end_of_a_pause_is_said_to_lack_nobody(world: Watched, place: Place) -> None:
    ann = world.arena("ann", place)
    world.wait(LATER)
    world.hub.pause(is_paused=True)
    world.arena("Ada", place if place == TABLE else LOBBY)
    for _ in range(2):
        world.wait(2 * LATER)
        assert world.obstacles(ann)[1:] == [None]


def test_new_name_counts_at_once(world: Watched) -> None:
    bob, other = world.arena("bob", wishing("Ada")), world.droidcon("dan", TABLE)
    world.wait(LATER)
    other.say(Introduce("Ada"))
    world.wait(SOON)
    assert world.obstacles(bob) == [ABSENT, None]


def test_players_are_looked_at_a_few_at_a_time(world: Watched) -> None:
    waiting = [world.arena(f"p{number}", wishing("Ada")) for number in range(20)]
    world.now = 5.0
    for now in (2.5, 2.5, 5.0):
        world.hub.tick(now)
    assert 0 < len(world.told) < 20
    while world.hub.next_alarm() == world.now:
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
