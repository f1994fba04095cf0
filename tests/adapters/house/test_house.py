"""House players: mailboxes that think in worker processes."""

import random
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from importlib.util import find_spec

import pytest
import trio
import trio.testing
from worlds.hub import Client, World
from worlds.server import EVERY_PORT, PATIENCE, Served, served

import adapters.droidcon.client
import adapters.nac4.client
from adapters.droidcon.messages import Join, Name, Put, Word
from adapters.house.server import House
from adapters.house.thinking import Game, Thinker
from adapters.nac4.messages import Connect, Connected, EndGame, GenMove, NewGame, PlayMove
from gateway.engines.catalogue import is_installed
from gateway.game.board import Board
from gateway.game.clock import Terms
from gateway.game.commands import InLobby, Wish
from gateway.game.events import Dismissed, Ended, Objection, Refused
from gateway.game.manners import Afterwards, Illegal, Manners
from gateway.matchmaking.matchmaker import Opponent

CLOCKED = Manners(illegal=Illegal.RETRY, afterwards=Afterwards.STEP_OUT, clocked=True)
UNHURRIED = Manners(illegal=Illegal.RETRY, afterwards=Afterwards.STEP_OUT)
ENDS = (Word.YOU_WON, Word.YOU_LOST, Word.DRAW)
AIMA, AIMA10 = InLobby(Wish("aima")), InLobby(Wish("aima10"))


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


class Server(World):
    """A hub with house players, by the time of the loop."""

    now = property(lambda _: trio.current_time(), lambda _, now: None)  # type: ignore[assignment]

    def __init__(self, nursery: trio.Nursery, *names: str) -> None:
        super().__init__(clock=40.0)
        self.thinker = FakeThinker()
        self.house = House(self.hub, nursery, self.thinker, names)
        self.hub.engage(self.house)

    async def visitor(self, manners: Manners) -> Client:
        """Return a player of `aima`, whose turn to move it is not."""
        ann = self.client(manners)
        ann.enter(AIMA, "ann")
        if ann.request is not None:
            ann.play(0)
        await trio.testing.wait_all_tasks_blocked()
        return ann


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with running() as server:
        yield server


@asynccontextmanager
async def running(*names: str) -> AsyncIterator[Server]:
    async with trio.open_nursery() as nursery:
        yield Server(nursery, *names)
        nursery.cancel_scope.cancel()


async def test_house_player_answers_a_request_to_move(server: Server) -> None:
    ann = await server.visitor(UNHURRIED)
    assert server.thinker.searching == 1
    server.thinker.finish.set()
    await trio.testing.wait_all_tasks_blocked()
    assert ann.request is not None
    assert ann.request.board.moves[-1] == 3


@pytest.mark.parametrize(("manners", "rest"), [(CLOCKED, 40.0), (UNHURRIED, None)])
async def test_house_player_thinks_by_the_clock_of_its_game(
    server: Server, manners: Manners, rest: float | None
) -> None:
    await server.visitor(manners)
    assert server.thinker.rests == [rest]


async def test_cancelled_game_stops_the_search(server: Server) -> None:
    ann = await server.visitor(UNHURRIED)
    assert server.thinker.searching == 1
    ann.leave()
    await trio.testing.wait_all_tasks_blocked()
    assert server.thinker.searching == 0
    assert len(server.hub) == 0


async def test_house_player_that_would_not_find_the_time_is_refused_until_a_game_ends(
    server: Server,
) -> None:
    here = [server.client(UNHURRIED, "192.0.2.1") for _ in range(4)]
    for number, each in enumerate(here):
        each.enter(AIMA10, f"ann{number}")
    assert [each.plays for each in here] == [True, True, True, False]
    assert here[3].last(Refused).objections is Objection.NOT_AVAILABLE
    elsewhere = server.client(UNHURRIED, "192.0.2.2")
    elsewhere.enter(AIMA10, "bob")
    assert elsewhere.plays
    elsewhere.leave()
    here[0].leave()
    here[3].enter(AIMA10, "ann3")
    assert here[3].plays


async def test_of_those_in_the_lobby_one_comes_that_finds_the_time() -> None:
    ann = Opponent("192.0.2.1", "ann", clocked=False)
    async with running("aima10", "random") as server:
        assert [server.house.lobby_player(ann) for _ in range(3)] == ["aima10", "random", "aima10"]
        for _ in range(3):
            server.thinker.begin("aima10", ann)
        assert [server.house.lobby_player(ann) for _ in range(3)] == ["random"] * 3
    needy = replace(ann, needs_house=True)
    async with running("aima10") as server:
        for _ in range(3):
            server.thinker.begin("aima10", ann)
        assert [server.house.lobby_player(each) for each in (ann, needy)] == [None, None]
    async with running() as server:
        assert [server.house.lobby_player(each) for each in (ann, needy)] == [None, "aimafast"]
    async with running("none") as server:
        assert [server.house.lobby_player(each) for each in (ann, needy)] == [None, None]


async def test_engine_that_fails_loses_its_game_and_nothing_else(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    server.thinker.fails = True
    ann = await server.visitor(UNHURRIED)
    assert isinstance(ann.heard[-1], Ended)
    assert ann.all(Dismissed) == []
    assert len(server.hub) == 1
    assert "the engine is broken" in caplog.text


def test_player_is_there_if_its_engine_is_installed() -> None:
    installed = {"random": True, "perfect": find_spec("bitbully") is not None}
    assert {name: is_installed(name) for name in installed} == installed


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
