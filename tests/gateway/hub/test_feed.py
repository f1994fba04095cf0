"""The feed is complete, in order, bounded, and costs nobody a game."""

import random
from collections.abc import Iterator, Sequence

import pytest
from worlds.hub import (
    DRAWN,
    FIRST_WINS,
    HANGING_UP,
    LOBBY,
    STANDING_BY,
    STEPPING_OUT,
    TABLE,
    Client,
    Mirror,
    World,
    facts_of,
)

from gateway.game.board import FIRST
from gateway.game.commands import AtTable, Command, Enter, Introduce, Leave, Place, Play
from gateway.game.events import Reason
from gateway.game.facts import Came, Fact, GameStarted, Left, Missed, MoveMade, Snapshot, Waits
from gateway.game.results import Finished, NoResults
from gateway.hub.feed import ALL, Feed


class Subscriber:
    """Takes what waits at once, or when a test says so."""

    def __init__(
        self, feed: Feed, *, prompt: bool = True, kinds: Sequence[type[Fact]] = ALL, limit: int = 100
    ) -> None:
        self.heard: list[Fact | Missed] = []
        self.woken = 0
        self._prompt = prompt
        self.subscription = feed.subscribe(self._wake, kinds, limit)

    def _wake(self) -> None:
        self.woken += 1
        if self._prompt:
            self.take()

    def take(self) -> list[Fact | Missed]:
        taken = [*self.subscription.take()]
        self.heard += taken
        return taken

    @property
    def kinds(self) -> list[type[Fact | Missed]]:
        return [type(fact) for fact in self.heard]


def state(world: World) -> Mirror:
    """Return what there is to know."""
    mirror = Mirror()
    for fact in facts_of(world.hub.snapshot(world.now)):
        mirror.hear(fact)
    return mirror


@pytest.fixture
def world() -> World:
    return World()


def seated(world: World, *, table: str = "round") -> tuple[Client, Client]:
    """Return two players of a table, who have a game; the first one opens."""
    return world.arena(f"ann of {table}", AtTable(table)), world.arena(f"bob of {table}", AtTable(table))


def test_facts_of_a_game(world: World) -> None:
    subscriber = Subscriber(world.hub.feed)
    ann, bob = seated(world)
    world.play(FIRST_WINS, (ann, bob))
    assert subscriber.kinds == [Came, Waits, Came, Waits, GameStarted, *[MoveMade] * 7, Finished]
    started, *moves, finished = subscriber.heard[4:]
    assert isinstance(started, GameStarted)
    assert (started.names, started.table, started.round) == (("ann of round", "bob of round"), "round", 1)
    assert (started.players, started.clock) == ((ann.seat.number, bob.seat.number), None)
    assert [(type(move), getattr(move, "column", None)) for move in moves] == [
        (MoveMade, int(column)) for column in FIRST_WINS
    ]
    assert isinstance(finished, Finished)
    assert (finished.winner, finished.reason) == (FIRST, Reason.FOUR)
    assert {getattr(fact, "game", None) for fact in subscriber.heard[4:]} == {started.game}


def test_move_has_the_time_it_took_and_what_is_left() -> None:
    world = World(clock=10.0, penalty=1.0)
    subscriber = Subscriber(world.hub.feed, kinds=[GameStarted, MoveMade])
    ann, bob = world.pair(STANDING_BY, STANDING_BY)
    for mover, seconds in ((ann, 1.5), (bob, 2.0), (ann, 0.5)):
        mover.hand()
        world.now += seconds
        mover.play(3)
    bob.play(2)  # before the request had left
    started, *moves = subscriber.heard
    assert isinstance(started, GameStarted)
    assert started.clock == 10.0
    used_and_left = [(move.used, move.left) for move in moves if isinstance(move, MoveMade)]
    assert used_and_left == [(1.5, 8.5), (2.0, 8.0), (0.5, 8.0), (0.0, 8.0)]


def test_snapshot_has_clocks_as_they_stand_and_how_long_each_has_waited() -> None:
    world = World(clock=10.0)
    ann, bob = world.pair(STANDING_BY, STANDING_BY)
    world.arena("cid")
    for client in (ann, bob):
        client.hand()
        world.now += 1.5
        [(_, standing)] = world.hub.snapshot(world.now).games
        assert standing.thinking == 1.5
        if client is ann:
            ann.play(3)
            world.now += 1.0
            [(_, standing)] = world.hub.snapshot(world.now).games
            assert (standing.moves, standing.used) == ((3,), (1.5,))
            assert (standing.left, standing.thinking) == ((8.5, 10.0), 0.0)  # no request has left
    [waits] = world.hub.snapshot(world.now).waiting
    assert waits.waited == 4.0


def test_player_comes_with_each_name_that_it_takes_and_without_one_neither_comes_nor_leaves(
    world: World,
) -> None:
    subscriber = Subscriber(world.hub.feed)
    world.client(STANDING_BY).leave()
    ann = world.client(HANGING_UP)
    for name in ("ann", "ann", "anna"):
        ann.say(Introduce(name))
    ann.enter(LOBBY)
    ann.leave()
    number = ann.seat.number
    came = [Came(number, "ann", ""), Came(number, "anna", "")]
    assert subscriber.heard == [*came, Waits(number, None), Left(number)]


def story(world: World, rng: random.Random) -> Iterator[None]:
    """Let players come, play, wait and leave as it happens, one step at a time."""
    clients: list[Client] = []
    places: list[Place] = [LOBBY, TABLE]
    commands: list[Command] = [Leave(), Play(9), *map(Enter, places)]
    while True:
        clients = [client for client in clients if not client.gone]
        asked = [client for client in clients if client.request is not None]
        if len(clients) < 12 and rng.random() < 0.2:
            enter = rng.choice([world.nac4, world.arena, world.droidcon])
            clients.append(enter(f"p{world.now}", rng.choice(places)))
        elif asked and rng.random() < 0.9:
            rng.choice(asked).play(rng.randrange(7))
        elif clients and rng.random() < 0.3:
            rng.choice(clients).say(rng.choice(commands))
        world.wait(0.05)
        yield


@pytest.mark.parametrize("seed", range(3))
def test_subscriber_that_stalls_is_resynchronised_and_goes_on_without_a_gap(seed: int) -> None:
    world, rng = World(), random.Random(seed)
    prompt = Subscriber(world.hub.feed)
    subscriber = Subscriber(world.hub.feed, prompt=False, limit=20)
    whole, mirror, missed = Mirror(), Mirror(), 0
    steps = story(world, rng)
    for pause in rng.choices([1, 2, 10, 100], k=20):
        for _ in range(pause):
            next(steps)
        taken = subscriber.take()
        if any(isinstance(fact, Missed) for fact in taken):
            assert len(taken) == 1
            mirror, missed = state(world), missed + 1
        else:
            for fact in taken:
                mirror.hear(fact)
        assert mirror == state(world)
    for fact in prompt.heard:
        whole.hear(fact)
    assert whole == state(world)
    assert [fact for fact in prompt.heard if isinstance(fact, Finished)] == world.results
    assert missed


def test_subscriber_that_falls_behind_is_told_how_much_it_missed(world: World) -> None:
    slow = Subscriber(world.hub.feed, prompt=False, kinds=[MoveMade], limit=10)
    quick = Subscriber(world.hub.feed, kinds=[MoveMade], limit=10)
    players = seated(world)
    world.play(DRAWN[:40], players)
    assert (slow.woken, quick.woken) == (1, 40)
    assert slow.take() == [Missed(40)]
    world.play(DRAWN[40:], players)
    assert (len(slow.take()), len(quick.heard)) == (2, 42)


def test_names_that_wait_for_a_subscriber_are_bounded_in_their_length() -> None:
    feed = Feed(NoResults(), lambda: None)
    subscriber = Subscriber(feed, prompt=False, limit=10_000)
    for number in range(1024):
        feed.publish(Came(number, "n" * 1024, ""))
    assert len(subscriber.take()) == 1024
    for number in range(1024):
        feed.publish(GameStarted("1", (1, 2), ("n" * 512, "n" * 512), ("", ""), "t", number, None))
    assert subscriber.take() == [Missed(1024)]


def test_subscriber_gets_the_kinds_that_it_asked_for_until_it_closes(world: World) -> None:
    ended, closed = Subscriber(world.hub.feed, kinds=[Finished]), Subscriber(world.hub.feed)
    closed.subscription.close()
    assert not world.hub.feed.moves
    came = Subscriber(world.hub.feed, kinds=[Came, MoveMade])
    world.play(FIRST_WINS, seated(world))
    assert ended.heard == world.results
    assert came.kinds == [Came, Came, *[MoveMade] * 7]
    assert closed.heard == []


@pytest.mark.parametrize("kind", ALL)
def test_subscriber_that_raises_is_heard_of_once_and_costs_nobody_a_game(kind: type[Fact]) -> None:
    faults: list[object] = []
    world, woken = World(on_fault=faults.append, grace=60.0), 0

    def wake() -> None:
        nonlocal woken
        woken += 1
        raise ZeroDivisionError

    world.hub.feed.subscribe(wake, [kind])
    witness = Subscriber(world.hub.feed)
    games = [seated(world, table=table) for table in "xy"]
    for column in FIRST_WINS:
        for players in games:
            world.play(column, players)
    games[0][0].leave()
    world.arena("eve", AtTable("alone"))
    away = world.player(STEPPING_OUT, "gus", AtTable("z"), "192.0.2.7")
    world.arena("hal", AtTable("z"))
    away.break_off()
    world.player(STEPPING_OUT, "gus", AtTable("z"), "192.0.2.7")
    world.wait(5.1)
    assert [each.reason for each in world.results] == [Reason.FOUR] * 2
    assert [fact for fact in witness.heard if isinstance(fact, Finished)] == world.results
    assert (woken, faults) == (1, [()])


def test_end_is_published_when_its_result_is_stored_in_the_order_of_ends(world: World) -> None:
    world.kept.is_slow = True
    subscriber = Subscriber(world.hub.feed)
    for table in "xy":
        world.play(FIRST_WINS, seated(world, table=table))
    assert subscriber.kinds.count(MoveMade) == 12  # without the last ones, by which the games ended
    assert world.hub.snapshot(world.now).games == ()
    before = len(subscriber.heard)
    for result, kinds in ((world.results[1], []), (world.results[0], [MoveMade, Finished] * 2)):
        world.kept.store(result.game)
        world.wait(0.1)
        assert subscriber.kinds[before:] == kinds


def test_ends_that_are_not_stored_are_published_when_all_is_over(world: World) -> None:
    world.kept.is_slow = True
    subscriber = Subscriber(world.hub.feed, kinds=[Finished])
    seated(world)
    world.hub.close(world.now)
    assert subscriber.heard == []
    world.hub.feed.tell_ends(all_of_them=True)
    assert subscriber.heard == world.results


def test_snapshot_in_parts_has_what_a_whole_one_has_but_for_who_has_gone(world: World) -> None:
    pairs = [seated(world, table=table) for table in "xyz"]
    waiting = world.arena("carol")
    seats = world.hub.seats()
    parts = [world.hub.snapshot(world.now, seats[start : start + 3]) for start in range(0, len(seats), 3)]
    together = Snapshot(
        players=tuple(fact for part in parts for fact in part.players),
        waiting=tuple(fact for part in parts for fact in part.waiting),
        games=tuple(game for part in parts for game in part.games),
    )
    assert together == world.hub.snapshot(world.now)
    assert len(together.games) == len(pairs)
    waiting.leave()
    assert len(world.hub.snapshot(world.now, seats).players) == 6
