"""Clients that note results: whole courses in every dialect, opponents who left, what does not belong."""

import os
import socket
import struct
from collections.abc import Iterator
from types import SimpleNamespace
from typing import cast

import pytest
import trio
from spoken_games import entered, game, move

from conformance.boards import arena_cells, nac4_board
from conformance.dialects.frames import frame
from conformance.dialects.script import Game, OutOfStep, Wish
from conformance.lab.bots import EVERY, PLAIN
from conformance.lab.servers import Gateway
from conformance.lab.survive.players import COUPLES, Load, Player, Result
from conformance.targets import Address

WON = Game("0101010", 1, "four")
LOST = Game("11203040", 2, "four")
LEFT = Game("012", 1, "left")
RESULTS = (b"GAME:WINS", b"GAME:LOSS", b"GAME:DRAW", b"GAME:TERMINATED")
COURSES = ((WON, LOST, LEFT), (LOST, WON, Game("0123", 2, "left")))

"""A message, and what is answered."""


ASKS = {
    b'{"type":"end"}': frame(b'{"type":"start","id":"me","against":null}'),
    b"TOURNAMENT:END": frame(b"READY"),
    b"init": frame(b'{"type": "init", "name": "me"}'),
}
"""What is said at the end of a game to get another one."""


def told(kind: str, games: tuple[Game, ...], *, opens: bool) -> Iterator[tuple[bytes, bytes]]:
    """Yield what a player hears of a course, and what it answers; the first move swaps."""
    for said in entered(kind):
        yield said.message, b""
    for number, played in enumerate(games, 1):
        messages = game(kind, played, opens=opens == (number % 2 == 1))
        for left, said in reversed([*enumerate(reversed(messages))]):
            answer = b"" if said.column is None else move(kind, said.column)
            asks = ASKS.get(said.message, ASKS[b"init"] if kind == "tutorial" and left == 1 else b"")
            yield said.message, asks if asks and number < len(games) else answer
            if number == len(games) and (said.message in RESULTS or (kind == "tutorial" and left == 1)):
                return  # all is known before TOURNAMENT:END, and before the next `init`


def started(kind: str, games: tuple[Game, ...]) -> Player:
    return Player(kind, Wish("me", table="here"), "you", games, cast("Gateway", "the server"))


@pytest.mark.parametrize("kind", PLAIN)
@pytest.mark.parametrize("games", COURSES)
@pytest.mark.parametrize("opens", [True, False])
def test_whole_course_is_played_and_every_result_noted(
    kind: str, games: tuple[Game, ...], opens: bool
) -> None:
    player = started(kind, games)
    for message, answer in told(kind, games, opens=opens):
        assert not player.has_all
        assert player.hear(message) == answer
    assert player.has_all
    pairs = [("me", "you"), ("you", "me")]
    assert player.results == [
        Result(*pairs[(number % 2 == 0) != opens], game) for number, game in enumerate(games)
    ]


@pytest.mark.parametrize("kind", PLAIN)
@pytest.mark.parametrize("opens", [True, False])
def test_whoever_is_to_move_where_a_game_breaks_off_leaves(kind: str, opens: bool) -> None:
    player = started(kind, (LEFT,))
    messages = [message for message, _ in told(kind, (LEFT,), opens=opens)][:-1]
    for message in messages:
        assert not player.is_leaving
        player.hear(message)
    assert player.is_leaving is (not opens)


def test_player_with_one_game_on_a_connection_comes_back_between_two_games() -> None:
    games = (WON, Game("60101010", 2, "four"))
    player = started("i32cfsp", games)
    player.hear(b"WELCOME me")
    assert not player.comes_back  # the server hung up on it before its first game
    for message in (b"READY", *[b"OKAY", b"DROP 2", b"READY"] * 3):
        player.hear(message)
        assert not player.comes_back
    player.hear(b"WINNER_RED")
    assert player.results == [Result("me", "you", WON)]
    assert player.comes_back
    assert not player.has_all


def test_player_that_leaves_may_be_told_of_it() -> None:
    player = started("rpi", (Game("01", 2, "left"),))
    for message in ("CONNECT:ACK", "READY:ACK", "GAME:START:1", "OPPONENT:1"):
        player.hear(message.encode())
    assert player.is_leaving
    player.hear(b"GAME:TERMINATED")
    assert not player.is_cut_off


# Opponents who left.

STATE = f'{{"type":"state","you":1,"turn":1,"moves":[],"state":{arena_cells("")}}}'
BEGUN = {
    "droidcon": ["SUCCESS", "SUCCESS", "NEW_GAME", "YOUR_MOVE"],
    "nac4": ["connected hello me", "newgame me you", f"genmove {nac4_board('')} R PlayR 42.0"],
    "arena": [STATE],
    "rpi": ["CONNECT:ACK", "READY:ACK", "GAME:START:1"],
    "tutorial": [f'{{"type": "init", "join": "t", "watch": "w"{red}}}' for red in ("", ', "player": "red"')],
}
"""What one hears up to its first move."""
ENDS = {
    "droidcon": ["YOU_WON", "YOU_LOST", "NEW_GAME"],
    "nac4": [
        f"endgame {nac4_board(board)} R {won} Disconnected" for board in ("", "0") for won in ("WinR", "WinY")
    ],
    "arena": ['{"type":"disconnected"}'],
    "rpi": ["GAME:WINS", "GAME:LOSS", "GAME:TERMINATED"],
    "tutorial": [
        '{"type": "win", "player": "red"}',
        '{"type": "win", "player": "yellow"}',
        '{"type": "error", "message": "The game has ended without a result."}',
    ],
}


@pytest.mark.parametrize(("kind", "end"), [(kind, end) for kind, ends in ENDS.items() for end in ends])
def test_client_bears_to_be_told_that_somebody_has_left_its_game(kind: str, end: str) -> None:
    player = started(kind, (WON, LOST))
    for message in BEGUN[kind]:
        player.hear(message.encode())
    assert player.waits
    assert player.is_host
    assert player.hear(end.encode()) == b""
    assert player.is_cut_off
    assert not player.waits
    assert player.winner in (0, 1, 2, None)
    assert player.results == []
    assert player.hear(b"anything") == b""


@pytest.mark.parametrize(("kind", "end"), [(kind, ends[0]) for kind, ends in ENDS.items()])
def test_nobody_can_leave_a_game_that_is_not_on(kind: str, end: str) -> None:
    player = started(kind, (WON, LOST))
    for message in BEGUN[kind][:-2]:
        player.hear(message.encode())
    with pytest.raises(OutOfStep):
        player.hear(end.encode())


@pytest.mark.parametrize("board", ["3", "010"], ids=["of another game", "ahead of the game"])
def test_board_that_was_not_played_is_out_of_step(board: str) -> None:
    player = started("nac4", (WON, LOST))
    for message in BEGUN["nac4"]:
        player.hear(message.encode())
    with pytest.raises(OutOfStep):
        player.hear(f"endgame {nac4_board(board)} R WinR Disconnected".encode())


# On a socket: one pair of Droidcon players, and a server that lets nobody else in.

PAIR = COUPLES.index(("droidcon", "droidcon"))
TABLE = f"xp{PAIR}g0"


class Served:
    """A listening socket, and a load that plays there."""

    def __init__(self) -> None:
        self.listener = trio.socket.from_stdlib_socket(socket.create_server(("127.0.0.1", 0)))
        address = Address("127.0.0.1", self.listener.getsockname()[1])
        nobody = Address("127.0.0.1", 1)
        self.gateway = SimpleNamespace(
            addresses={**dict.fromkeys(EVERY, nobody), "droidcon": address}, is_up=True
        )
        self.load = Load("x", "1", [cast("Gateway", self.gateway)])
        self.streams: list[trio.SocketStream] = []

    async def come(self) -> list[trio.SocketStream]:
        """Return the connections of the pair."""
        found: list[trio.SocketStream] = []
        while len(found) < 2:
            stream = trio.SocketStream((await self.listener.accept())[0])
            self.streams.append(stream)
            if TABLE.encode() in await stream.receive_some():
                found.append(stream)
        return found

    def reset(self) -> None:
        self.listener.close()
        for stream in self.streams:
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            stream.socket.close()


async def test_result_that_was_not_read_when_the_server_died_counts() -> None:
    server = Served()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(server.load.run, PAIR + 1)
        streams = await server.come()
        (course,) = (one for one in server.load.courses if one.table == TABLE)
        game = course.games[0]
        own = [f"YOUR_MOVE\nPUT {column}\n" for column in game.moves[1::2]]
        result = {0: "DRAW", 1: "YOU_WON", 2: "YOU_LOST"}[game.winner]
        tail = "" if game.winner == 2 or game.reason == "full" else "YOUR_MOVE\n"
        server.load.is_over, server.gateway.is_up = True, False
        # All moves in one go, and a reset behind it before the player can read.
        data = f"SUCCESS\nSUCCESS\nNEW_GAME\n{''.join(own)}{tail}{result}\n".encode()
        os.write(streams[0].socket.fileno(), data)
        server.reset()
    assert sorted(len(player.results) for player in course.players) == [0, 1]
    assert server.load.troubles == []
    assert server.load.results == 1


async def test_hang_up_in_a_game_by_a_server_that_is_meant_to_live_is_a_trouble() -> None:
    server = Served()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(server.load.run, PAIR + 1)
        streams = await server.come()
        await streams[0].send_all(b"SUCCESS\nSUCCESS\nNEW_GAME\n")
        (course,) = (one for one in server.load.courses if one.table == TABLE)
        while not any(player.is_playing for player in course.players):
            await trio.lowlevel.checkpoint()
        server.load.is_over = True
        server.reset()
    (trouble,) = server.load.troubles
    assert "the server hung up in a game" in trouble
