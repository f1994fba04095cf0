"""Any players of the five manners say anything at any time."""

from collections import Counter
from itertools import combinations
from typing import TypeVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from worlds.hub import (
    HANGING_UP,
    LOBBY,
    NAMED,
    ONE_GAME,
    STANDING_BY,
    STEPPING_OUT,
    TABLE,
    Client,
    World,
    wishing,
)

from gateway.game.commands import (
    Ask,
    AtTable,
    Command,
    Denied,
    Enter,
    InLobby,
    Introduce,
    Leave,
    Play,
    Unfit,
    Unreadable,
)
from gateway.game.events import Dismissed, Ended, Objection
from gateway.game.facts import GameStarted
from gateway.game.manners import Afterwards, Manners
from gateway.hub.seats import Seat, Seated, Series

T = TypeVar("T")

CAP = 2
NAMES = st.sampled_from(["ann", "bob", "cid", "dan", "TEST"])
PLACES = st.sampled_from(
    [
        *[LOBBY] * 4,
        *[TABLE] * 3,
        AtTable("other"),
        wishing("ann"),
        wishing("BOB", any_case=True),
        wishing("random"),
    ]
)
COMMANDS = st.one_of(
    st.builds(
        Enter, PLACES, NAMES | st.none(), proven=st.booleans(), waits=st.sampled_from([True, True, False])
    ),
    st.builds(Play, st.none() | st.integers(-1, 7)),
    st.sampled_from([Ask(), Unfit(), Unreadable(), Leave(), Introduce(None)]),
    st.builds(Denied, st.just(Objection.TOKEN_WRONG), st.sampled_from([0.0, 0.25, 8.0])),
    NAMES.map(lambda name: Introduce(name, name.upper() != "TEST")),
)
ANY = st.integers(0, 99)
COLUMNS = st.integers(0, 6)
ORIGINS = st.sampled_from(["", "192.0.2.7"])
MANNERS = st.sampled_from([STANDING_BY, STEPPING_OUT, HANGING_UP, NAMED, ONE_GAME])


class AnythingGoes(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.world = World(games_per_pair=CAP, clock=6.0, penalty=1.0, idle=8.0)
        self.clients: list[Client] = []
        self.named: list[Seat] = []
        """Seats whose flag was named, and has not fallen yet."""
        self.could_meet: dict[frozenset[tuple[int, float]], float] = {}
        """Since when two who wait could meet."""
        self.opened: Counter[tuple[str, str]] = Counter()
        """In how many games of the lobby a name had the first move against another."""
        self.facts = self.world.hub.feed.subscribe(lambda: None, [GameStarted], 100_000)

    @property
    def here(self) -> list[Client]:
        return [client for client in self.clients if not client.gone]

    @property
    def asked(self) -> list[Client]:
        return [client for client in self.here if client.request is not None]

    # What players do.

    @precondition(lambda self: len(self.here) < 8)
    @rule(manners=MANNERS, name=NAMES, place=PLACES, origin=ORIGINS)
    def come_and_enter(self, manners: Manners, name: str, place: InLobby | AtTable, origin: str) -> None:
        client = self.world.client(manners, origin)
        self.clients.append(client)
        if manners is HANGING_UP:
            self.say(client, Introduce(name, name.upper() != "TEST"))
        self.say(client, Enter(place, name))

    @precondition(lambda self: len(self.here) < 8)
    @rule(manners=MANNERS)
    def come(self, manners: Manners) -> None:
        self.clients.append(self.world.client(manners))

    @precondition(lambda self: self.clients)
    @rule(number=ANY, command=COMMANDS)
    def say_anything(self, number: int, command: Command) -> None:
        client = pick(self.clients, number)
        if isinstance(command, Introduce) and command.name is not None and client.seat.manners.unique_name:
            return  # who bears a name alone takes it with its entry
        self.say(client, command)

    @precondition(lambda self: self.asked)
    @rule(number=ANY, columns=st.lists(COLUMNS, min_size=1, max_size=12))
    def play_on(self, number: int, columns: list[int]) -> None:
        for column in columns:
            if self.asked:
                self.say(pick(self.asked, number), Play(column))

    @precondition(lambda self: self.asked)
    @rule(number=ANY, column=COLUMNS)
    def win(self, number: int, column: int) -> None:
        """Let a game go on until it is over, or one of the two is refused a move."""
        mover = pick(self.asked, number)
        players = [client for client in self.here if series_of(client) is series_of(mover)]
        for ply in range(42):
            if not mover.plays or not any(client.request for client in players):
                break
            client = next(client for client in players if client.request is not None)
            client.hand()
            self.say(client, Play((column + ply % 2) % 7))

    @precondition(lambda self: self.here)
    @rule(number=ANY, place=PLACES, name=NAMES)
    def ask_again(self, number: int, place: InLobby | AtTable, name: str) -> None:
        client = pick(self.here, number)
        entered = client.seat.place is not None and client.seat.name is not None
        again = entered and number % 3
        self.say(
            client,
            Enter(client.seat.place, client.seat.name) if again and client.seat.place else Enter(place, name),
        )

    @precondition(lambda self: any(client.probes for client in self.here))
    @rule(number=ANY, gone=st.booleans())
    def answer_probe(self, number: int, gone: bool) -> None:
        client = pick([client for client in self.here if client.probes], number)
        client.probes = 0
        if gone:
            client.leave()
        else:
            self.world.hub.alive(client.seat, self.world.now)

    # What time does.

    @precondition(lambda self: self.asked)
    @rule(number=ANY)
    def hand(self, number: int) -> None:
        pick(self.asked, number).hand()

    @rule(steps=st.integers(1, 30), step=st.sampled_from([0.03, 0.1, 0.5]))
    def wait(self, steps: int, step: float) -> None:
        for _ in range(steps):
            alarm = self.world.hub.next_alarm()
            self.world.now += step
            before = [len(client.heard) for client in self.clients]
            named = self.world.hub.tick(self.world.now)
            if alarm is None or alarm > self.world.now:
                assert named == []
                assert before == [len(client.heard) for client in self.clients]
            self.named += named
            self.nobody_waits_for_long(2.1 + 2 * step)

    @precondition(lambda self: self.here)
    @rule(number=ANY)
    def vanish(self, number: int) -> None:
        pick(self.here, number).is_reachable = False

    @precondition(lambda self: any(not client.is_reachable for client in self.here))
    @rule()
    def come_back(self) -> None:
        for client in self.here:
            client.is_reachable = True
        self.wait(11, 0.1)

    @precondition(lambda self: self.named)
    @rule()
    def flags_fall(self) -> None:
        for seat in self.named:
            self.world.hub.flag(seat, self.world.now)
        self.named.clear()

    # What is always so.

    def say(self, client: Client, command: Command) -> None:
        was_gone, pending = client.gone, client.seat.pending
        heard = client.say(command)
        if was_gone:
            assert heard == []
        elif pending is None or not isinstance(command, Play):
            assert heard or client.held, "neither carried out nor refused, nor to be refused later"

    @invariant()
    def nobody_is_in_two_series(self) -> None:
        for client in self.clients:
            situation = client.seat.situation
            if isinstance(situation, Seated):
                assert situation.series.seats[situation.number] is client.seat
                assert all(series_in(seat) is situation.series for seat in situation.series.seats)

    @invariant()
    def both_of_a_game_play(self) -> None:
        assert sum(client.plays for client in self.clients) % 2 == 0
        assert sum(client.games for client in self.clients) % 2 == 0
        assert len(self.world.results) * 2 == sum(len(client.all(Ended)) for client in self.clients)

    @invariant()
    def the_hub_counts_who_is_here(self) -> None:
        assert len(self.world.hub) == len(self.here)

    @invariant()
    def who_plays_one_game_opens_it_and_is_gone_after_it(self) -> None:
        for client in self.clients:
            if client.seat.manners is ONE_GAME:
                assert client.games <= 1
                assert client.games == 0 or client.moves_first
                assert client.gone or client.games == 0 or client.plays

    @invariant()
    def whoever_is_asked_to_move_plays(self) -> None:
        assert all(client.plays for client in self.asked)
        assert len(self.asked) * 2 == sum(client.plays for client in self.clients)

    def nobody_waits_for_long(self, limit: float) -> None:
        """Let nobody wait for longer beside somebody to meet than who was absent, or is held back."""
        for fact in self.facts.take():
            if isinstance(fact, GameStarted) and fact.table is None:
                self.opened[fact.names] += 1
        waiting = [
            (client.seat, client.seat.situation.since)
            for client in self.here
            if client.seat.waits and client.is_reachable and isinstance(client.seat.place, InLobby)
        ]
        before, self.could_meet = self.could_meet, {}
        for (one, since), (two, other_since) in combinations(waiting, 2):
            if self.may_meet(one, two):
                pair = frozenset(((one.number, since), (two.number, other_since)))
                self.could_meet[pair] = before.get(pair, self.world.now)
                assert self.world.now - self.could_meet[pair] < limit, "they wait for nothing"

    def may_meet(self, one: Seat, two: Seat) -> bool:
        assert one.name is not None
        assert two.name is not None
        if one.name == two.name and (one.counted or two.counted):
            return False
        if one.manners.opens and two.manners.opens:
            return False
        for seat, other in ((one, two), (two, one)):
            wish = seat.place.wish if isinstance(seat.place, InLobby) else None
            if wish is not None and (wish.is_for_house or not wish.grants(other.name)):
                return False
        series = [found for client in self.clients if (found := series_of(client)) is not None]
        playing = [{player.name for player in each.session.players} for each in series]
        if one.name != two.name and {one.name, two.name} in playing:
            return False
        capped = min(self.opened[one.name, two.name], self.opened[two.name, one.name]) >= CAP
        asked = any(
            seat.manners.afterwards is not Afterwards.STAND_BY or seat.place != LOBBY for seat in (one, two)
        )
        return asked or not capped

    def finish_games(self) -> None:
        """Let the games that are on be finished, most of them on time; say anything meanwhile."""
        hub, games = self.world.hub, [client.games for client in self.clients]
        hub.drain()
        for client in self.here[::2]:
            self.say(client, Enter(LOBBY, client.seat.name or "eve"))
        until = self.world.now + 200.0
        while seats := hub.seats():
            assert self.world.now < until, "a game does not end"
            for seat in seats:
                hub.let_go(seat, self.world.now)
            for client in self.asked:
                client.hand()
            self.world.wait(9)
        assert [client.games for client in self.clients] == games

    def teardown(self) -> None:
        hub = self.world.hub
        self.flags_fall()
        if len(self.clients) % 3 == 0:
            self.finish_games()
        if len(self.clients) % 2:
            hub.close(self.world.now)
        for client in self.clients:
            client.leave()
            assert len(client.all(Dismissed)) == 1
        assert len(self.world.results) * 2 == sum(client.games for client in self.clients)
        assert len(hub) == 0
        if not len(self.clients) % 2:
            assert self.world.is_empty()
            assert all(client.games == len(client.all(Ended)) for client in self.clients)
        if not hub.is_closed:
            self.names_are_free()

    def names_are_free(self) -> None:
        """Let each two names of those who were here meet: at a table first, then in the lobby."""
        for place in (TABLE, LOBBY):
            for one, two in combinations(("ann", "bob", "cid", "dan"), 2):
                pair = self.world.arena(one, place), self.world.arena(two, place)
                self.world.wait(1.1)  # those who have met are held back for others who may come back
                assert all(client.plays for client in pair)
                for client in pair:
                    client.leave()


def series_of(client: Client) -> Series | None:
    return series_in(client.seat)


def series_in(seat: Seat) -> Series | None:
    return seat.situation.series if isinstance(seat.situation, Seated) else None


def pick(things: list[T], number: int) -> T:
    return things[number % len(things)]


AnythingGoes.TestCase.settings = settings(stateful_step_count=60)
test_anything_goes = AnythingGoes.TestCase
