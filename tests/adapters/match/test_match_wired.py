"""A table with bots on a wire: who plays whom, what counts, and what is told of a bot."""

import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import trio
from match_games import played
from worlds.hub import (
    FIRST_WINS,
    HANGING_UP,
    LOBBY,
    SECOND_WINS,
    STANDING_BY,
    TABLE,
    Client,
    World,
)

from adapters.match.wired import CONNECTIONS, HOST, PortHub, WireTable, network
from gateway.game.clock import Terms
from gateway.game.events import Ended, Reason
from gateway.game.manners import Manners
from gateway.hub.hub import Hub
from gateway.match.journal import Journal, Played
from gateway.match.match import TRIES, Match, Plan

PLAN = Plan(players=[("a", "x {port}"), ("b", "y {port}"), ("c", "z {port}")], games=4, seed="seed")
ENGINE = replace(PLAN, players=[("a", "random"), ("b", "y {port}")], think=1.0)


class Side:
    """The world as a client sees it that comes by one port."""

    def __init__(self, world: "Wire", side: int) -> None:
        self._world = world
        self.hub = PortHub(world.hub, world.table, side)

    @property
    def now(self) -> float:
        return self._world.now


class Wire(World):
    """The table of the first pairing, between a and b, with its hub."""

    def __init__(self, folder: Path, plan: Plan = PLAN, before: Sequence[Played] = ()) -> None:
        super().__init__()
        self.told: list[str] = []
        self.journal = Journal.new(folder / "match.jsonl", {})
        for each in before:
            self.journal.append(each)
        self.match = Match(plan, self.journal, folder, self.told.append)
        self.match.schedule.assign()
        self.table = WireTable(self.match, 0, network=None)  # type: ignore[arg-type]
        self.hub = Hub(Terms(idle=100.0), self.table, self.table)
        self.sides = [Side(self, side) for side in (0, 1)]

    def comes(self, side: int, manners: Manners = STANDING_BY) -> Client:
        """Let a client come by a port; all of them have the same name."""
        client = Client(self.sides[side], manners)  # type: ignore[arg-type]
        client.enter(TABLE if side else LOBBY, "bot")
        return client

    def both(self, manners: Manners = STANDING_BY) -> list[Client]:
        """Let both players come, who then play."""
        return [self.comes(side, manners) for side in (0, 1)]

    def games(self) -> list[tuple[int, str, str | None, Reason]]:
        """Return what was counted: numbers, names of the first mover and of the winner, and reasons."""
        found = []
        for each in self.journal.load():
            one, two = (player.name for player in each.record.players)
            winner = None if each.record.winner is None else (one, two)[each.record.winner]
            found.append((each.number, one, winner, each.record.reason))
        return found


@pytest.fixture
async def world(tmp_path: Path) -> Wire:
    return Wire(tmp_path)


@pytest.mark.parametrize("manners", [STANDING_BY, HANGING_UP])
async def test_games_that_are_left_are_played_in_one_series_and_count_for_who_came_by_which_port(
    tmp_path: Path, manners: Manners
) -> None:
    world = Wire(tmp_path, before=[played(0)])
    clients = world.both(manners)
    for _ in range(3):
        world.play(FIRST_WINS, clients)
    four = Reason.FOUR
    assert world.games()[1:] == [(1, "b", "b", four), (2, "a", "a", four), (3, "b", "b", four)]
    assert not any(client.plays for client in clients)
    assert world.match.tally.players[0].total.games == 4


async def test_one_game_is_played_at_a_time_however_often_the_bots_come(world: Wire) -> None:
    clients, further = world.both(), world.both()
    assert not any(client.plays for client in further)
    world.play(FIRST_WINS, clients)
    assert world.games() == [(0, "a", "a", Reason.FOUR)]
    world.play("33", clients)
    for client in clients:
        client.leave()
    assert all(client.plays for client in further)
    assert world.games()[1:] == [(1, "b", "b", Reason.LEFT)]


async def test_player_that_leaves_game_after_game_plays_no_more(world: Wire) -> None:
    opponent = world.comes(0)

    def leave(times: int) -> None:
        for _ in range(times):
            assert world.told == []
            world.comes(1).leave()
            world.wait(1.0)  # as a move of the opponent may be under way

    leave(TRIES - 1)
    bot = world.comes(1)
    world.play(FIRST_WINS, [opponent, bot])
    bot.leave()  # the next game, which is not played either
    world.wait(1.0)
    leave(TRIES - 1)
    why = f"{TRIES} times in a row left a game before both players had moved"
    assert world.told == [f"b: {why}; it plays no more, 7 games are left out"]
    assert list(world.match.failed) == [1]


@pytest.mark.parametrize("older_goes_first", [True, False])
async def test_bot_that_came_twice_plays_whichever_of_its_connections_goes_first(
    world: Wire, older_goes_first: bool
) -> None:
    older, newer = world.comes(0), world.comes(0)
    first, second = (older, newer) if older_goes_first else (newer, older)
    first.leave()
    if older_goes_first:
        world.comes(1)
        assert newer.plays
        assert newer.moves_first
    else:
        second.leave()
        again = world.comes(0)
        assert not again.plays
        world.comes(1)
        assert again.plays


@pytest.mark.parametrize("why", ["0 leaves", "1 leaves", "we end it", "dropped"])
async def test_game_is_none_that_is_left_before_both_have_moved_or_is_not_wanted_any_more(
    world: Wire, why: str
) -> None:
    clients = world.both()
    if why == "dropped":
        world.match.drop(1, "it failed")
        world.play(SECOND_WINS, clients)
    elif why == "we end it":
        world.play("01", clients)
        with trio.CancelScope() as scope:  # noqa: ASYNC100
            scope.cancel()
            clients[0].leave()
    else:
        leaver = int(why[0])
        clients[leaver].leave()
        clients[1 - leaver].leave()
    assert world.games() == []
    if "leaves" in why:
        world.play(FIRST_WINS, world.both())
        assert world.games() == [(0, "a", "a", Reason.FOUR)]  # which is played again


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("reason", [Reason.TIME, Reason.ILLEGAL])
async def test_game_lost_before_its_first_move_is_played_again(
    tmp_path: Path, number: int, reason: Reason
) -> None:
    world = Wire(tmp_path, before=[played(each) for each in range(number)])
    clients = world.both(HANGING_UP)
    world.play("3", clients)
    loser = clients[1 - number]
    if reason is Reason.TIME:
        loser.hand()
        world.wait(101.0)
    else:
        loser.play(None)
    assert loser.last(Ended).reason is reason
    assert world.match.schedule.is_wanted(0, number)


async def test_late_moves_of_an_engine_are_counted_and_a_bot_has_no_other_clock_than_the_server_s(
    tmp_path: Path,
) -> None:
    world = Wire(tmp_path, ENGINE)
    clients = world.both()
    for column, seconds in zip(FIRST_WINS, (1.05, 5.0, 1.5, 0.0, 0.0, 0.0, 0.0), strict=True):
        mover = next(client for client in clients if client.request is not None)
        mover.hand()
        world.now += seconds
        mover.play(int(column))
    assert world.told == ["a: took 1.50 s for a move, with --think 1"]
    assert [each.late for each in world.journal.load()] == [(1, 0)]


@pytest.mark.parametrize("moves", ["", "01"])
async def test_late_move_loses_on_time_where_that_is_strict_also_the_first_one(
    tmp_path: Path, moves: str
) -> None:
    world = Wire(tmp_path, replace(ENGINE, strict=True))
    clients = world.both(HANGING_UP)
    world.play(moves, clients)
    clients[0].hand()
    world.now += 1.5
    clients[0].play(3)
    assert world.games() == [(0, "a", "b", Reason.TIME)]


async def test_match_ends_where_a_game_cannot_be_written(world: Wire) -> None:
    clients = world.both()
    world.journal.__exit__()
    world.play(FIRST_WINS, clients)
    with pytest.raises(OSError, match="Bad file descriptor"):
        await world.match.run(0, lambda match, pairing: world.table)


# With processes.


@asynccontextmanager
async def tables(folder: Path, tell: Callable[[str], None]) -> AsyncIterator[tuple[Match, list[int]]]:
    """Let a and b play, bots that do nothing; give the match, and their ports."""
    pipes = [folder / "a", folder / "b"]
    for path in pipes:
        os.mkfifo(path)
    bots = [(path.name, f"sh -c 'echo $0 > {path}; exec sleep 1000' {{port}}") for path in pipes]
    match = Match(replace(PLAN, players=bots), Journal.new(folder / "match.jsonl", {}), folder, tell)
    async with network() as shared, trio.open_nursery() as nursery:
        nursery.start_soon(match.run, 1, partial(WireTable, network=shared))
        ports = [int(await trio.to_thread.run_sync(path.read_text)) for path in pipes]
        for path in pipes:
            path.unlink()  # where a bot is started anew a file takes its place, which nobody has to read
        yield match, ports


async def asks_for_a_game(port: int) -> trio.SocketStream:
    """Return the connection of a client that waits for a game."""
    stream = await trio.open_tcp_stream(HOST, port)
    await stream.send_all(b"NAME x\nJOIN lobby\n")
    await trio.testing.wait_all_tasks_blocked()
    return stream


@pytest.mark.parametrize("goes", [False, True])
async def test_bot_that_asks_for_no_game_is_told_with_its_port_and_started_again(
    tmp_path: Path, mock_clock: trio.testing.MockClock, goes: bool
) -> None:
    told: list[str] = []
    async with tables(tmp_path, told.append) as (match, (one, two)):
        stream = await asks_for_a_game(one)
        if goes:
            await stream.aclose()
            await trio.testing.wait_all_tasks_blocked()
        mock_clock.autojump_threshold = 0.0
    await stream.aclose()
    where = f"b: asks for no game at {HOST}:{two} yet"
    why = "asked for no game within 60 s: it said nothing"
    assert told[0] == f"{where}; does it go to the port that {{port}} in its command says?"
    assert f"b: {why}" in told
    assert match.failed
    assert [line for line in told if line.startswith("a: ")][:1] == ([f"a: {why}"] if goes else [])


@pytest.mark.parametrize("before", [b"", b"NAME x\nJOIN lobby\n"])
async def test_what_is_no_message_of_a_bot_is_told_with_its_words(tmp_path: Path, before: bytes) -> None:
    send, told = trio.open_memory_channel[str](9)
    with trio.fail_after(60):
        async with tables(tmp_path, send.send_nowait) as (match, (_, two)):
            async with await trio.open_tcp_stream(HOST, two) as stream:
                await stream.send_all(before + b"HELLO THERE\n")
                assert await told.receive() == "b: sent what is no message of its dialect: 'HELLO THERE'"
            match.stop()


async def test_player_may_have_a_few_connections_and_leaves_room_for_the_other(tmp_path: Path) -> None:
    with trio.fail_after(60):
        async with tables(tmp_path, print) as (match, (one, two)):
            greedy = [await trio.open_tcp_stream(HOST, one) for _ in range(CONNECTIONS + 1)]
            assert await greedy[-1].receive_some() == b""
            await greedy[0].send_all(b"NAME x\nJOIN lobby\n")
            other = await asks_for_a_game(two)
            assert b"NEW_GAME" in await other.receive_some()
            for stream in (*greedy, other):
                await stream.aclose()
            match.stop()
