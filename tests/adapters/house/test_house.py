"""House players: mailboxes that think in worker processes."""

import random
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
import trio
from worlds.server import EVERY_PORT, PATIENCE, Served, served

import adapters.arena.client
import adapters.droidcon.client
import adapters.house.server
import adapters.nac4.client
from adapters.arena.messages import Said
from adapters.droidcon.messages import Join, Name, Put, Word
from adapters.house.server import House
from adapters.house.thinking import Game, Thinker
from adapters.nac4.messages import Connect, Connected, EndGame, GenMove, NewGame, PlayMove
from gateway.game.board import Board
from gateway.game.clock import Terms
from gateway.game.commands import Enter, InLobby, Leave, Play, Wish
from gateway.game.events import Dismissed, Ended, Event, Objection, Refused, Started, ToMove
from gateway.game.manners import Afterwards, Illegal, Manners
from gateway.hub.hub import Hub
from gateway.matchmaking.matchmaker import Opponent
from gateway.matchmaking.standard import LobbyAndTables

CLOCKED = Manners(illegal=Illegal.RETRY, afterwards=Afterwards.STEP_OUT, clocked=True)
UNHURRIED = Manners(illegal=Illegal.RETRY, afterwards=Afterwards.STEP_OUT)
SAID = Said({})
ENDS = (Word.YOU_WON, Word.YOU_LOST, Word.DRAW)


class Visitor:
    """A player who writes down what it hears, and lets a test wait for it."""

    is_reachable = True

    def __init__(self) -> None:
        self.heard: list[Event] = []
        self._news = trio.Event()

    def deliver(self, event: Event) -> None:
        self.heard.append(event)
        self._news.set()
        self._news = trio.Event()

    async def settle(self) -> None:
        pass

    async def until(self, kind: type[Event]) -> Event:
        while not isinstance(self.heard[-1], kind):
            await self._news.wait()
        return self.heard[-1]


class FakeThinker(Thinker):
    """Thinks until it is let go, and notes what it was given."""

    def __init__(self) -> None:
        super().__init__(1, Terms(clock=40.0))
        self.rests: list[float | None] = []
        self.finish = trio.Event()
        self.searching = 0
        self.fails = False

    async def column(self, game: Game, board: Board, rest: float | None) -> int:
        self.rests.append(rest)
        if self.fails:
            raise RuntimeError("the engine is broken")
        self.searching += 1
        try:
            await self.finish.wait()
        finally:
            self.searching -= 1
        return 3


@asynccontextmanager
async def visited(manners: Manners, thinker: Thinker, seed: int = 0) -> AsyncIterator[tuple[Hub, Visitor]]:
    """Let a visitor play `aima`; which of them moves first is up to the seed."""
    async with trio.open_nursery() as nursery:
        hub = Hub(Terms(clock=40.0), LobbyAndTables(random.Random(seed)))
        hub.engage(House(hub, nursery, thinker))
        visitor = Visitor()
        seat = hub.open(visitor, manners, trio.current_time())
        hub.submit(seat, Enter(InLobby(Wish("aima")), "ann"), trio.current_time())
        if any(isinstance(event, ToMove) for event in visitor.heard):
            hub.submit(seat, Play(0), trio.current_time())
        await trio.testing.wait_all_tasks_blocked()
        visitor.leave = lambda: hub.submit(seat, Leave(), trio.current_time())  # type: ignore[attr-defined]
        yield hub, visitor
        nursery.cancel_scope.cancel()


async def test_house_player_answers_a_request_to_move(autojump_clock: trio.testing.MockClock) -> None:
    thinker = FakeThinker()
    async with visited(UNHURRIED, thinker) as (_, visitor):
        assert thinker.searching == 1
        thinker.finish.set()
        with trio.fail_after(1):
            request = await visitor.until(ToMove)
        assert isinstance(request, ToMove)
        assert request.board.moves[-1] == 3


@pytest.mark.parametrize(("manners", "rest"), [(CLOCKED, 40.0), (UNHURRIED, None)])
async def test_house_player_thinks_by_the_clock_of_its_game(
    autojump_clock: trio.testing.MockClock, manners: Manners, rest: float | None
) -> None:
    thinker = FakeThinker()
    async with visited(manners, thinker):
        assert thinker.rests == [rest]


async def test_cancelled_game_stops_the_search(autojump_clock: trio.testing.MockClock) -> None:
    thinker = FakeThinker()
    async with visited(UNHURRIED, thinker) as (hub, visitor):
        assert thinker.searching == 1
        visitor.leave()  # type: ignore[attr-defined]
        await trio.testing.wait_all_tasks_blocked()
        assert thinker.searching == 0
        assert len(hub) == 0


async def test_house_player_that_would_not_find_the_time_is_refused_until_a_game_ends(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with trio.open_nursery() as nursery:
        hub = Hub(Terms(), LobbyAndTables(random.Random(0)))
        hub.engage(House(hub, nursery, FakeThinker()))
        seats = []
        for number in range(4):
            seats.append(hub.open(visitor := Visitor(), UNHURRIED, 0.0, "192.0.2.1"))
            hub.submit(seats[-1], Enter(InLobby(Wish("aima10")), f"ann{number}"), 0.0)
        assert isinstance(visitor.heard[-1], Refused)
        assert visitor.heard[-1].objections is Objection.NOT_AVAILABLE
        elsewhere = hub.open(bob := Visitor(), UNHURRIED, 0.0, "192.0.2.2")
        hub.submit(elsewhere, Enter(InLobby(Wish("aima10")), "bob"), 0.0)
        assert isinstance(bob.heard[1], Started)
        hub.submit(elsewhere, Leave(), 0.0)
        hub.submit(seats[0], Leave(), 0.0)
        hub.submit(seats[3], Enter(InLobby(Wish("aima10")), "ann3"), 0.0)
        assert any(isinstance(event, Started) for event in visitor.heard)
        nursery.cancel_scope.cancel()


async def test_of_those_in_the_lobby_one_comes_that_finds_the_time(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with trio.open_nursery() as nursery:
        hub, thinker = Hub(Terms(), LobbyAndTables(random.Random(0))), FakeThinker()
        house = House(hub, nursery, thinker, ["aima10", "random"])
        ann = Opponent("192.0.2.1", "ann", clocked=False)
        assert [house.lobby_player(ann) for _ in range(3)] == ["aima10", "random", "aima10"]
        for _ in range(3):
            thinker.begin("aima10", ann)
        assert [house.lobby_player(ann) for _ in range(3)] == ["random"] * 3
        house = House(hub, nursery, thinker, ["aima10"])
        assert house.lobby_player(ann) is None


async def test_engine_that_fails_loses_its_game_and_nothing_else(
    autojump_clock: trio.testing.MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    thinker = FakeThinker()
    thinker.fails = True
    async with visited(UNHURRIED, thinker) as (hub, visitor):
        assert isinstance(visitor.heard[-1], Ended)
        assert not any(isinstance(event, Dismissed) for event in visitor.heard)
        assert len(hub) == 1
    assert "the engine is broken" in caplog.text


# The command.


@pytest.fixture(scope="module")
def gateway() -> Iterator[Served]:
    options = ("--rounds", "1", "--house", "aimafast", "--house-after", "0.1", "--house-workers", "1")
    with served(*EVERY_PORT, *options) as running:
        yield running
        status, err = running.stop()
        assert status == 0
        assert "ERROR" not in err


@pytest.mark.parametrize("channel", ["@random", "@aimafast", "lobby"])
async def test_droidcon_player_finds_a_house_player(gateway: Served, channel: str) -> None:
    with trio.fail_after(PATIENCE):
        async with adapters.droidcon.client.open_client("127.0.0.1", gateway.port("droidcon")) as client:
            await client.send(Name("dora"), Join(channel))
            column, played = 0, 0
            while (message := await client.receive()) not in ENDS:
                if message is Word.YOUR_MOVE:
                    played += 1
                    column = (column + 2) % 7  # never six times the same before somebody has won
                    await client.send(Put(column))
            assert played >= 3


async def test_nac4_player_finds_one_game_after_the_other(gateway: Served) -> None:
    with trio.fail_after(PATIENCE):
        async with adapters.nac4.client.open_client(gateway.url("nac4", "/?against=aimafast")) as client:
            await client.send(Connect("nora"))
            assert await client.receive() == Connected("hello nora")
            ended = 0
            while ended < 2:
                match await client.receive():
                    case GenMove(board):
                        free = [column for column in range(7) if board[35 + column] == "."]
                        await client.send(PlayMove(random.choice(free)))
                    case EndGame(battle=battle):
                        assert battle == "Ok"
                        ended += 1
                    case message:
                        assert isinstance(message, NewGame)
