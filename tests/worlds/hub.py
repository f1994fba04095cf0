"""A hub with players of three manners, who write down what they hear.

The three manners are those of a player who stands by, one who steps out and one who hangs up; a fourth, of
one who plays a single game, is tested by itself. Time stands still unless a test lets it pass.
"""

import gc
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from types import FunctionType, ModuleType
from typing import TypeVar

from gateway.game.clock import Terms
from gateway.game.commands import AtTable, Command, Enter, InLobby, Introduce, Leave, Place, Play, Wish
from gateway.game.events import (
    Dismissed,
    Ended,
    Event,
    Moved,
    Objection,
    Resumed,
    Started,
    ToMove,
)
from gateway.game.facts import (
    Came,
    GameStarted,
    Hindered,
    Left,
    Missed,
    MoveMade,
    Obstacle,
    Shown,
    Snapshot,
    Vanished,
    Waits,
)
from gateway.game.ids import GameId, game_ids
from gateway.game.manners import Afterwards, Illegal, Manners
from gateway.game.results import Finished, NoResults
from gateway.hub.feed import RemoteFact
from gateway.hub.hub import Hub, OnFault, reraise
from gateway.hub.seats import Seat
from gateway.matchmaking.matchmaker import Answer, Decision, Entry, Matchmaker, Opponent, Pair, Turn
from gateway.matchmaking.standard import LobbyAndTables

E = TypeVar("E")

STANDING_BY = Manners(
    illegal=Illegal.PENALTY,
    afterwards=Afterwards.STAND_BY,
    clocked=True,
    unique_name=True,
    strict_entry=True,
    entry_limit=60.0,
)
"""As nac4's: penalties, a clock, one bearer of a name, paired by the server for as long as it stays."""
STEPPING_OUT = Manners(illegal=Illegal.RETRY, afterwards=Afterwards.STEP_OUT)
"""As arena's: illegal moves cost nothing, and each game is asked for."""
HANGING_UP = Manners(illegal=Illegal.FORFEIT, afterwards=Afterwards.HANG_UP, rounds=4, resumes=False)
"""As Droidcon's: illegal moves lose, the connection ends with a series of four rounds, and no board can be
told."""
NAMED = Manners(illegal=Illegal.GAME, afterwards=Afterwards.STEP_OUT, unique_name=True)
"""As RPI's at a table: illegal moves cost the game, each game is asked for, and a name has one bearer."""
ONE_GAME = Manners(
    illegal=Illegal.RETRY,
    afterwards=Afterwards.ONE_GAME,
    resumes=False,
    strict=True,
    opens=True,
    house_at_once=True,
)
"""As I32CFSP's: the first move in one game, an opponent at once, and no refusal but that of a column."""
MANNERS = {"stands by": STANDING_BY, "steps out": STEPPING_OUT, "hangs up": HANGING_UP}
HOUSE = Manners(illegal=Illegal.FORFEIT, afterwards=Afterwards.HANG_UP, house=True)

LOBBY = InLobby()
TABLE = AtTable("round")

FIRST_WINS = "0101010"
SECOND_WINS = "60101010"
DRAWN = "436014551160150155104632660465204242223333"


def wishing(name: str, *, any_case: bool = False) -> InLobby:
    """Return the lobby for a player who will meet nobody but `name`."""
    return InLobby(Wish(name, any_case))


def remains(hub: Hub) -> set[str]:
    """Return what a hub and its matchmaker still refer to of players: the names of the classes."""
    known, found, queue = set[int](), set[str](), list[object]([hub, hub.matchmaker])
    while queue:
        each = queue.pop()
        if id(each) in known or isinstance(each, type | ModuleType | FunctionType | World | Client):
            continue
        known.add(id(each))
        queue += gc.get_referents(each)
        found.add(type(each).__name__)
    return found & {
        "Seat",
        "Series",
        "Session",
        "Entry",
        "Turn",
        "Pair",
        "Member",
        "Seeker",
        "Table",
        "Decision",
    }


class Client:
    """A player's mailbox, and what the player has heard.

    It holds the hub to what is so in any story: one game at a time, no event of a game outside of one, no
    time that grows within one, nothing after the farewell.
    """

    is_reachable = True

    def __init__(self, world: "World", manners: Manners, origin: str = "") -> None:
        self.heard: list[Event] = []
        self.request: ToMove | None = None
        """The request to move that waits for an answer."""
        self.gone = False
        self.probes = 0
        self.concluded: list[tuple[Ended, bool]] = []
        """The ends of games that were on when its connection broke."""
        self.held = False
        """Whether it has to wait with its commands."""
        self.world = world
        self._read = 0
        self._you = 0
        self._rest: float | None = None
        self.seat = world.hub.open(self, manners, world.now, origin)

    def deliver(self, event: Event) -> None:
        assert not self.gone, f"{event} after the farewell"
        assert self.plays or not isinstance(event, ToMove | Moved | Ended), f"{event} without a game"
        assert not (self.plays and isinstance(event, Started | Resumed)), "a second game at a time"
        self.heard.append(event)
        match event:
            case Started(_, you) | Resumed(_, you):
                self._you = you
                self._rest = None
            case ToMove(rest=rest):
                assert self._rest is None or (rest is not None and rest <= self._rest), "time has grown"
                self.request, self._rest = event, rest
            case Moved(_, mover) if mover == self._you:
                self.request = None
            case Ended():
                self.request = None
            case Dismissed():
                self.gone = True

    def resume(self) -> None:
        self.held = False

    def probe(self) -> None:
        self.probes += 1

    def move_to(self, seat: Seat) -> None:
        assert self.heard == [] or not self.plays
        self.seat = seat

    async def settle(self) -> None:
        raise AssertionError("the hub does not settle anything")

    def say(self, command: Command) -> list[Event]:
        """Submit a command; return what the player hears at once."""
        before = len(self.heard)
        self.held = self.world.hub.submit(self.seat, command, self.world.now)
        return self.heard[before:]

    def enter(self, place: Place = LOBBY, name: str | None = None) -> list[Event]:
        return self.say(Enter(place, name))

    def play(self, column: int | None) -> list[Event]:
        return self.say(Play(column))

    def conclude(self, ended: Ended, *, is_last: bool) -> None:
        self.concluded.append((ended, is_last))

    def leave(self) -> list[Event]:
        return self.say(Leave())

    def break_off(self) -> None:
        """Let the connection break."""
        self.say(Leave(is_broken=True))
        self.request = None
        self.gone = True

    def hand(self) -> None:
        """Let the request to move leave for the client now."""
        assert self.request is not None
        self.world.hub.handed(self.seat, self.request, self.world.now)

    def news(self) -> list[Event]:
        """Return what the player has heard since the last look."""
        news = self.heard[self._read :]
        self._read = len(self.heard)
        return news

    def all(self, kind: type[E]) -> list[E]:
        """Return all events of one kind that the player has heard so far."""
        return [event for event in self.heard if isinstance(event, kind)]

    def last(self, kind: type[E]) -> E:
        return self.all(kind)[-1]

    @property
    def games(self) -> int:
        return len(self.all(Started)) + len(self.all(Resumed))

    @property
    def plays(self) -> bool:
        return self.games > len(self.all(Ended))

    @property
    def opponent(self) -> str:
        """The name of the latest opponent."""
        started = self.last(Started)
        return started.names[1 - started.you]

    @property
    def moves_first(self) -> bool:
        return self.last(Started).you == 0


class Heard(NoResults):
    """Keeps no results, and tells a test of each game that is over."""

    def __init__(self, heard: Callable[[Finished], object]) -> None:
        self.is_slow = False
        """Whether games are stored only when a test says so."""
        self._heard = heard
        self._stored = set[GameId]()
        self._waiting: list[tuple[GameId, Callable[[], object]]] = []

    def keep(self, finished: Finished) -> None:
        self._heard(finished)

    def is_open(self, game: GameId) -> bool:
        return self.is_slow and game not in self._stored

    def when_stored(self, game: GameId, then: Callable[[], object]) -> None:
        self._waiting.append((game, then))
        if not self.is_open(game):
            self.store(game)

    def store(self, game: GameId) -> None:
        """Store a game, and tell those who wait for that."""
        self._stored.add(game)
        due = [then for each, then in self._waiting if each == game]
        self._waiting = [(each, then) for each, then in self._waiting if each != game]
        for then in due:
            then()


@dataclass
class Mirror:
    """What a subscriber knows of all that is on, by the facts that it has heard."""

    players: dict[int, Came] = field(default_factory=dict)
    waiting: dict[int, Waits] = field(default_factory=dict)
    why: dict[int, Obstacle] = field(default_factory=dict)
    games: dict[GameId, GameStarted] = field(default_factory=dict)
    moves: dict[GameId, tuple[int, ...]] = field(default_factory=dict)

    def hear(self, fact: RemoteFact) -> None:
        match fact:
            case Came(player):
                self.players[player] = fact
            case Waits(player):
                self.waiting[player] = fact
                self.why.pop(player, None)
            case Hindered(player, _, None):
                del self.why[player]
            case Hindered(player, _, obstacle):
                self.why[player] = obstacle
            case Left(player):
                self._forget(player)
            case GameStarted(game, players):
                self.games[game], self.moves[game] = fact, ()
                for player in players:
                    self._wait_no_more(player)
            case MoveMade(game, side, column) if game in self.games:
                assert side == len(self.moves[game]) % 2
                self.moves[game] += (column,)
            case Finished(game=game, board=board) if game in self.games:
                assert self.moves.pop(game) == board.moves
                del self.games[game]
            case Vanished(first, last):
                for player in [each for each in self.players if first <= each <= last]:
                    self._forget(player)
                for game in [game for game, each in self.games.items() if first <= each.players[0] <= last]:
                    del self.games[game], self.moves[game]
            case Missed():
                raise AssertionError("a gap")
            case (started, standing):
                self.games[started.game], self.moves[started.game] = started, standing.moves

    def _wait_no_more(self, player: int) -> None:
        self.waiting.pop(player, None)
        self.why.pop(player, None)

    def _forget(self, player: int) -> None:
        self.players.pop(player, None)
        self._wait_no_more(player)


def facts_of(snapshot: Snapshot) -> Iterator[Shown]:
    """Yield all that a snapshot has."""
    yield from (*snapshot.players, *snapshot.waiting, *snapshot.hindered, *snapshot.games)


class House:
    """House players, who do nothing by themselves."""

    def __init__(self, world: "World", lobby: str | None = None) -> None:
        self.players: list[Client] = []
        self.is_busy = False
        """Whether nobody more would find the time to think."""
        self.opponents: list[Opponent] = []
        """To whom a player came, or was to come."""
        self.world = world
        self._lobby = lobby
        world.hub.engage(self)

    def has(self, name: str, opponent: Opponent) -> bool:
        self.opponents.append(opponent)
        return name != "perfect" and not self.is_busy

    def open_seat(self, name: str, opponent: Opponent, now: float) -> Seat:
        self.opponents.append(opponent)
        self.players.append(self.world.client(HOUSE))
        return self.players[-1].seat

    def lobby_player(self, opponent: Opponent) -> str | None:
        self.opponents.append(opponent)
        return None if self.is_busy else self._lobby


class ByName(Matchmaker):
    """Pairs the first two by the alphabet, for three games each. Lets no name in twice."""

    def __init__(self) -> None:
        self.entries: dict[int, Entry] = {}
        self.waiting: dict[str, Turn] = {}
        self.answer: list[Answer] = []
        self.late: type[Answer] | tuple[()] = ()
        """What is not answered yet."""

    def enter(self, entry: Entry) -> None:
        taken = entry.name in (each.name for each in self.entries.values())
        against = entry.against | (Objection.NAME_TAKEN if taken else Objection(0))
        if not against:
            self.entries[entry.seat] = entry
        self.answer.append(Decision(entry.seat, against))

    def wait(self, turn: Turn, since: float) -> None:
        self.waiting[self.entries[turn.seat].name] = turn
        while len(self.waiting) > 1:
            one, two = sorted(self.waiting)[:2]
            self.answer.append(Pair(self.waiting.pop(one), self.waiting.pop(two), rounds=3))

    def leave(self, seat: int) -> None:
        entry = self.entries.pop(seat, None)
        if entry is not None:
            self.waiting.pop(entry.name, None)

    def answers(self, now: float) -> Iterator[Answer]:
        while self.answer and not isinstance(self.answer[0], self.late):
            yield self.answer.pop(0)


class World:
    """A hub, its players and the time."""

    def __init__(
        self,
        matchmaker: Matchmaker | None = None,
        *,
        on_fault: OnFault = reraise,
        run: int = 0,
        seed: int = 0,
        games_per_pair: int = 10,
        **terms: float,
    ) -> None:
        self.now = 0.0
        self.results: list[Finished] = []
        self.kept = Heard(self.keep)
        self.hub = Hub(
            Terms(**terms),
            matchmaker or LobbyAndTables(random.Random(seed), games_per_pair, grace=terms.get("grace", 0.0)),
            self.kept,
            on_fault,
            game_ids(run),
        )

    def keep(self, finished: Finished) -> None:
        """Take in a game that is over."""
        self.results.append(finished)

    def client(self, manners: Manners, origin: str = "") -> Client:
        """Return a player who has not entered yet."""
        return Client(self, manners, origin)

    def player(self, manners: Manners, name: str, place: Place = LOBBY, origin: str = "") -> Client:
        """Return a player who has entered; one that hangs up has introduced itself before."""
        client = self.client(manners, origin)
        if manners.afterwards is Afterwards.HANG_UP:
            client.say(Introduce(name, name.upper() != "TEST"))
            client.enter(place)
        else:
            client.enter(place, name)
        return client

    def nac4(self, name: str, place: Place = LOBBY) -> Client:
        """Return a player who stands by and has entered."""
        return self.player(STANDING_BY, name, place)

    def arena(self, name: str, place: Place = LOBBY) -> Client:
        """Return a player who steps out and has entered."""
        return self.player(STEPPING_OUT, name, place)

    def droidcon(self, name: str, place: Place = LOBBY) -> Client:
        """Return a player who hangs up and has entered."""
        return self.player(HANGING_UP, name, place)

    def pair(self, one: Manners, two: Manners, place: Place = TABLE) -> tuple[Client, Client]:
        """Return ann and bob, who play each other; at a table ann moves first."""
        return self.player(one, "ann", place), self.player(two, "bob", place)

    def play(self, columns: str, players: Iterable[Client]) -> None:
        """Let whoever is asked to move play the columns, one after the other."""
        players = list(players)
        for column in columns:
            mover = next(player for player in players if player.request is not None)
            mover.play(int(column))

    def wait(self, seconds: float) -> None:
        """Let time pass in small steps, with a look at what is due after each; flags fall."""
        until = self.now + seconds
        while self.now < until:
            self.now = min(until, self.now + 0.05)
            for seat in self.hub.tick(self.now):
                self.hub.flag(seat, self.now)

    def is_empty(self) -> bool:
        """Whether nothing is left of anybody, a while after all have gone."""
        self.wait(1.0)
        for _ in range(2):
            self.now += 1000.0
            self.hub.tick(self.now)
        return (len(self.hub), self.hub.next_alarm(), remains(self.hub)) == (0, None, set())
