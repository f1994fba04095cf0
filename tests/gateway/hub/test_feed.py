"""What is told to those who subscribe: complete, in order, bounded, and at nobody's cost."""

import random
from collections.abc import Iterator, Sequence
from itertools import pairwise

import pytest
from worlds.hub import DRAWN, FIRST_WINS, HANGING_UP, LOBBY, STANDING_BY, TABLE, Client, Heard, World

from gateway.game.board import FIRST
from gateway.game.clock import Terms
from gateway.game.commands import AtTable, Command, Enter, Introduce, Leave, Place, Play
from gateway.game.events import Reason
from gateway.game.facts import Came, Fact, GameStarted, Hindered, Left, Missed, MoveMade, Snapshot, Waits
from gateway.game.ids import GameId
from gateway.game.results import Finished, NoResults
from gateway.hub.feed import ALL, Feed
from gateway.hub.hub import Hub
from gateway.matchmaking.standard import LobbyAndTables


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


class Mirror:
    """What a subscriber knows that has heard of everything: by a snapshot, and by the facts since."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.players = {fact.player: fact for fact in snapshot.players}
        self.waiting = {fact.player: fact for fact in snapshot.waiting}
        self.hindered = {fact.player: fact.obstacle for fact in snapshot.hindered}
        self.games = {started.game: started for started, _ in snapshot.games}
        self.moves = {started.game: standing.moves for started, standing in snapshot.games}

    def hear(self, fact: Fact | Missed) -> None:
        match fact:
            case Came(player):
                self.players[player] = fact
            case Waits(player):
                assert player in self.players
                self.waiting[player] = fact
                self.hindered.pop(player, None)
            case Hindered(player, name, obstacle):
                assert player in self.waiting
                assert self.players[player].name == name
                self.hindered[player] = obstacle
                if obstacle is None:
                    del self.hindered[player]
            case Left(player):
                del self.players[player]
                self.waiting.pop(player, None)
                self.hindered.pop(player, None)
            case GameStarted(game, players, names):
                self.games[game], self.moves[game] = fact, ()
                for player, name in zip(players, names, strict=True):
                    assert self.players[player].name == name
                    self.waiting.pop(player, None)
                    self.hindered.pop(player, None)
            case MoveMade(game, side, column):
                assert side == len(self.moves[game]) % 2
                self.moves[game] += (column,)
            case Finished(game=game, board=board):
                assert self.moves.pop(game) == board.moves
                del self.games[game]
            case Missed():
                raise AssertionError("a gap")

    def agrees(self, snapshot: Snapshot) -> bool:
        other = Mirror(snapshot)
        return vars(self) == vars(other)


@pytest.fixture
def world() -> World:
    return World()


def seated(world: World, *, table: str = "round", clock: bool = False) -> tuple[Client, Client]:
    """Return two players of a table, who have a game; the first one opens."""
    enter = world.nac4 if clock else world.arena
    return enter(f"ann of {table}", AtTable(table)), enter(f"bob of {table}", AtTable(table))


def test_a_game_is_told_from_its_players_to_its_end(world: World) -> None:
    subscriber = Subscriber(world.hub.feed)
    ann, bob = seated(world)
    world.play(FIRST_WINS, (ann, bob))
    kinds = [type(fact) for fact in subscriber.heard]
    assert kinds == [Came, Waits, Came, Waits, GameStarted, *[MoveMade] * 7, Finished]
    started, *moves, finished = subscriber.heard[4:]
    assert isinstance(started, GameStarted)
    assert (started.names, started.table, started.round) == (("ann of round", "bob of round"), "round", 1)
    assert started.players == (ann.seat.number, bob.seat.number)
    assert started.clock is None
    assert "".join(str(move.column) for move in moves if isinstance(move, MoveMade)) == FIRST_WINS
    assert isinstance(finished, Finished)
    assert (finished.winner, finished.reason) == (FIRST, Reason.FOUR)
    assert {getattr(fact, "game", None) for fact in subscriber.heard[4:]} == {started.game}


def test_move_is_told_with_the_time_it_took_and_what_is_left() -> None:
    world = World(clock=10.0, penalty=1.0)
    subscriber = Subscriber(world.hub.feed, kinds=[GameStarted, MoveMade])
    ann, bob = seated(world, clock=True)
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


def test_snapshot_has_clocks_as_they_stand() -> None:
    world = World(clock=10.0)
    ann, bob = seated(world, clock=True)
    ann.hand()
    world.now += 1.5
    ann.play(3)
    world.now += 1.0
    [(_, standing)] = world.hub.snapshot(world.now).games
    assert (standing.moves, standing.thought, standing.left) == ((3,), (1.5, 0.0), (8.5, 10.0))
    assert standing.thinking == 0.0  # the request has not left
    bob.hand()
    world.now += 2.0
    [(_, standing)] = world.hub.snapshot(world.now).games
    assert standing.thinking == 2.0


def test_player_that_takes_another_name_comes_once_more(world: World) -> None:
    subscriber = Subscriber(world.hub.feed)
    ann = world.client(HANGING_UP)
    for name in ("ann", "ann", "anna"):
        ann.say(Introduce(name))
    ann.enter(LOBBY)
    ann.leave()
    number = ann.seat.number
    came = [Came(number, "ann", ""), Came(number, "anna", "")]
    assert subscriber.heard == [*came, Waits(number, None), Left(number)]


def test_player_without_a_name_neither_comes_nor_leaves(world: World) -> None:
    subscriber = Subscriber(world.hub.feed)
    world.client(STANDING_BY).leave()
    assert subscriber.heard == []


def test_thousand_games_at_a_time_are_told_complete_and_in_order(world: World) -> None:
    subscriber, mirror = Subscriber(world.hub.feed), Mirror(world.hub.snapshot(0.0))
    tables = [seated(world, table=str(number)) for number in range(1000)]
    for column in FIRST_WINS:
        for players in tables:
            world.play(column, players)
    for fact in subscriber.heard:
        mirror.hear(fact)
    assert mirror.agrees(world.hub.snapshot(world.now))
    finished = [fact for fact in subscriber.heard if isinstance(fact, Finished)]
    assert finished == world.results
    assert len({each.game for each in finished}) == 1000
    assert sum(isinstance(fact, MoveMade) for fact in subscriber.heard) == 7000


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


@pytest.mark.parametrize("seed", range(5))
def test_subscriber_that_stalls_is_resynchronised_and_goes_on_without_a_gap(seed: int) -> None:
    world, rng = World(), random.Random(seed)
    subscriber = Subscriber(world.hub.feed, prompt=False, limit=20)
    mirror, missed = Mirror(world.hub.snapshot(0.0)), 0
    steps = story(world, rng)
    for pause in rng.choices([1, 2, 10, 100], k=20):
        for _ in range(pause):
            next(steps)
        taken = subscriber.take()
        if any(isinstance(fact, Missed) for fact in taken):
            assert len(taken) == 1
            mirror, missed = Mirror(world.hub.snapshot(world.now)), missed + 1
        else:
            for fact in taken:
                mirror.hear(fact)
        assert mirror.agrees(world.hub.snapshot(world.now))
    assert missed


def test_subscriber_that_falls_behind_is_told_how_much_it_missed(world: World) -> None:
    slow = Subscriber(world.hub.feed, prompt=False, kinds=[MoveMade], limit=10)
    quick = Subscriber(world.hub.feed, kinds=[MoveMade], limit=10)
    ann, bob = seated(world)
    world.play(DRAWN[:40], (ann, bob))
    assert (slow.woken, quick.woken) == (1, 40)
    assert slow.take() == [Missed(40)]
    world.play(DRAWN[40:], (ann, bob))
    assert len(slow.take()) == 2
    assert [one.game for one in quick.heard if isinstance(one, MoveMade)] == [world.results[0].game] * 42


def test_names_that_wait_for_a_subscriber_are_bounded_in_their_length() -> None:
    feed = Feed(NoResults(), lambda: None)
    subscriber = Subscriber(feed, prompt=False, limit=10_000)
    for number in range(1024):
        feed.publish(Came(number, "n" * 1024, ""))
    assert len(subscriber.take()) == 1024
    for number in range(1024):
        feed.publish(GameStarted("1", (1, 2), ("n" * 512, "n" * 512), ("", ""), "t", number, None))
    assert subscriber.take() == [Missed(1024)]


def test_subscriber_is_told_of_the_kinds_that_it_asked_for(world: World) -> None:
    ended = Subscriber(world.hub.feed, kinds=[Finished])
    assert not world.hub.feed.moves
    came = Subscriber(world.hub.feed, kinds=[Came, MoveMade])
    world.play(FIRST_WINS, seated(world))
    assert ended.heard == world.results
    assert [type(fact) for fact in came.heard] == [Came, Came, *[MoveMade] * 7]


def test_closed_subscription_hears_nothing_more(world: World) -> None:
    subscriber, other = Subscriber(world.hub.feed), Subscriber(world.hub.feed)
    subscriber.subscription.close()
    world.play(FIRST_WINS, seated(world))
    assert subscriber.heard == []
    assert other.heard[-1] == world.results[0]


class Faulty:
    """A subscriber with a mistake, in a hub that goes on after one."""

    def __init__(self) -> None:
        self.faults: list[object] = []
        self.world = World()
        self.world.hub = Hub(
            Terms(),
            LobbyAndTables(random.Random(0)),
            Heard(self.world.results.append),
            self.faults.append,
        )
        self.woken = 0

    def wake(self) -> None:
        self.woken += 1
        raise ZeroDivisionError


@pytest.mark.parametrize("kind", ALL)
def test_subscriber_that_raises_costs_nobody_a_game(kind: type[Fact]) -> None:
    faulty = Faulty()
    world = faulty.world
    faulty.world.hub.feed.subscribe(faulty.wake, [kind])
    witness = Subscriber(world.hub.feed)
    games = [seated(world, table=str(number)) for number in range(3)]
    for column in FIRST_WINS:
        for players in games:
            world.play(column, players)
    games[0][0].leave()
    world.arena("eve", AtTable("alone"))
    world.wait(5.1)
    assert [each.reason for each in world.results] == [Reason.FOUR] * 3
    assert [fact for fact in witness.heard if isinstance(fact, Finished)] == world.results
    assert faulty.woken == 1
    assert faulty.faults == [()]


class Slow(Heard):
    """Stores results as slowly as a test wants."""

    def __init__(self, results: list[Finished]) -> None:
        super().__init__(results.append)
        self.stored_now: set[GameId] = set()

    def is_open(self, game: GameId) -> bool:
        return game not in self.stored_now


def test_end_is_told_when_its_result_is_safe_and_no_sooner(world: World) -> None:
    results = Slow(world.results)
    world.hub = Hub(Terms(), LobbyAndTables(random.Random(0)), results)
    subscriber = Subscriber(world.hub.feed)
    first, second = (seated(world, table=name) for name in "ab")
    world.play(FIRST_WINS, first)
    world.play(FIRST_WINS, second)
    moves = [fact for fact in subscriber.heard if isinstance(fact, MoveMade)]
    assert len(moves) == 12  # without the last ones, by which the games ended
    assert world.hub.snapshot(world.now).games == ()
    results.stored_now.add(world.results[1].game)
    world.wait(0.1)
    assert moves == [fact for fact in subscriber.heard if isinstance(fact, MoveMade)]
    results.stored_now.add(world.results[0].game)
    world.wait(0.1)
    kinds = [type(fact) for fact in subscriber.heard[-4:]]
    assert kinds == [MoveMade, Finished, MoveMade, Finished]


def test_ends_that_are_not_safe_are_told_when_all_is_over(world: World) -> None:
    results = Slow(world.results)
    world.hub = Hub(Terms(), LobbyAndTables(random.Random(0)), results)
    subscriber = Subscriber(world.hub.feed, kinds=[Finished])
    seated(world)
    world.hub.close(world.now)
    assert subscriber.heard == []
    world.hub.feed.tell_ends(all_of_them=True)
    [finished] = subscriber.heard
    assert isinstance(finished, Finished)
    assert finished.reason is Reason.STOPPED


def test_games_have_other_ids_one_after_the_other(world: World) -> None:
    subscriber = Subscriber(world.hub.feed, kinds=[GameStarted])
    ann, bob = world.droidcon("ann", TABLE), world.droidcon("bob", TABLE)
    for _ in range(4):
        world.play(FIRST_WINS, (ann, bob))
    games = [fact.game for fact in subscriber.heard if isinstance(fact, GameStarted)]
    assert len(games) == 4
    assert all(one < two for one, two in pairwise(games))


def test_snapshot_in_parts_says_what_a_whole_one_says(world: World) -> None:
    players = [seated(world, table=str(number)) for number in range(5)]
    world.arena("carol")
    seats = world.hub.seats()
    parts = [world.hub.snapshot(world.now, seats[start : start + 3]) for start in range(0, len(seats), 3)]
    together = Snapshot(
        players=tuple(fact for part in parts for fact in part.players),
        waiting=tuple(fact for part in parts for fact in part.waiting),
        games=tuple(game for part in parts for game in part.games),
    )
    assert together == world.hub.snapshot(world.now)
    assert len(together.games) == len(players)


def test_part_of_a_snapshot_leaves_out_who_has_gone_meanwhile(world: World) -> None:
    ann, bob = seated(world)
    seats = world.hub.seats()
    ann.leave()
    assert [fact.name for fact in world.hub.snapshot(world.now, seats).players] == ["bob of round"]
    assert not bob.gone


def test_snapshot_has_how_long_each_has_waited(world: World) -> None:
    world.arena("ann")
    world.wait(1.5)
    [waits] = world.hub.snapshot(world.now).waiting
    assert waits.waited == pytest.approx(1.5)
