"""Clients that note results: whole courses in every dialect, opponents who left, what does not belong."""

import json
import os
import socket
import struct
from collections.abc import Iterator
from types import SimpleNamespace
from typing import cast

import pytest
import trio

from conformance.boards import arena_cells, nac4_board
from conformance.dialects.frames import frame
from conformance.dialects.script import Game, OutOfStep, Wish
from conformance.lab.bots import PLAIN
from conformance.lab.servers import Gateway
from conformance.lab.survive.players import COUPLES, Load, Player, Result
from conformance.targets import Address

WON = Game("0101010", 1, "four")
LOST = Game("11203040", 2, "four")
LEFT = Game("012", 1, "left")
COURSES = ((WON, LOST, LEFT), (LOST, WON, Game("0123", 2, "left")))
WRONG = (b"Error NOT_YOUR_TURN", b"PUT 6", b"DRAW", b"not-connected no", b"{}", b"\xff", b"[]", b"", b"PUT")

Told = tuple[bytes, bytes]
"""A message, and what is answered."""


def put(player: str, column: str) -> bytes:
    words = {"droidcon": f"PUT {column}\n", "nac4": f"playmove {column}\r\n"}
    data = words.get(player, f'{{"type":"move","move":{column}}}').encode()
    return data if player == "droidcon" else frame(data)


def droidcon_game(game: Game, *, opens: bool) -> Iterator[Told]:
    yield b"NEW_GAME", b""
    for discs, column in enumerate(game.moves):
        if opens == (discs % 2 == 0):
            yield b"YOUR_MOVE", put("droidcon", column)
        else:
            yield f"PUT {column}".encode(), b""
    if game.reason == "left" and (len(game.moves) % 2 == 0) == opens:
        yield b"YOUR_MOVE", b""
    yield {0: b"DRAW", 1: b"YOU_WON", 2: b"YOU_LOST"}[game.winner if opens else (3 - game.winner) % 3], b""


def nac4_game(game: Game, *, opens: bool) -> Iterator[Told]:
    color = "R" if opens else "Y"
    yield b"newgame me you\r\n" if opens else b"newgame you me\r\n", b""
    for discs, column in enumerate(game.moves):
        if opens == (discs % 2 == 0):
            board = nac4_board(game.moves[:discs])
            yield f"genmove {board} {color} Play{color} 42.0\r\n".encode(), put("nac4", column)
    board = nac4_board(game.moves)
    if game.reason == "left" and (len(game.moves) % 2 == 0) == opens:
        yield f"genmove {board} {color} Play{color} 42.0\r\n".encode(), b""
    status = {0: "Tie", 1: "WinR", 2: "WinY"}[game.winner]
    yield (
        f"endgame {board} {color} {status} {'Disconnected' if game.reason == 'left' else 'Ok'}".encode(),
        b"",
    )


def arena_game(game: Game, *, opens: bool) -> Iterator[Told]:
    you, moves = 1 if opens else 2, [int(column) for column in game.moves]
    for discs in range(len(moves) + 1):
        told: dict[str, object] = {"type": "state", "turn": 1 + discs % 2, "moves": moves[:discs], "you": you}
        told["state"] = json.loads(arena_cells(game.moves[:discs]))
        if discs == len(moves) and game.reason != "left":
            told |= {"turn": 0, "winner": game.winner}
        is_asked = told["turn"] == you and discs < len(moves)
        yield json.dumps(told).encode(), put("arena", game.moves[discs]) if is_asked else b""
    if game.reason == "left":
        yield b'{"type":"disconnected"}', b""


START = frame(b'{"type":"start","id":"me","against":null}')
GAMES = {"droidcon": droidcon_game, "nac4": nac4_game, "arena": arena_game}


def told(kind: str, games: tuple[Game, ...], *, opens: bool) -> Iterator[Told]:
    """Yield what a player hears of a course and answers; the first move swaps."""
    yield from {"droidcon": [(b"SUCCESS", b"")] * 2, "nac4": [(b"connected hello me", b"")]}.get(kind, [])
    for number, game in enumerate(games):
        yield from GAMES[kind](game, opens=opens == (number % 2 == 0))
        if kind == "arena" and game.reason != "left":
            yield b'{"type":"end"}', b"" if number == len(games) - 1 else START


def started(kind: str, games: tuple[Game, ...]) -> Player:
    return Player(kind, Wish("me", table="here"), "you", games, cast("Gateway", "the server"))


def refuses(player: Player, message: bytes) -> bool:
    """Return whether a message is no result: it does not belong, or says that somebody has left."""
    results = len(player.results)
    try:
        player.hear(message)
    except OutOfStep as error:
        assert str(error).startswith("was told")  # noqa: PT017  either is right
    else:
        assert player.is_cut_off
    return len(player.results) == results


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


@pytest.mark.parametrize("kind", PLAIN)
@pytest.mark.parametrize("opens", [True, False])
@pytest.mark.parametrize("wrong", WRONG)
def test_what_does_not_belong_is_out_of_step_wherever_it_comes(kind: str, opens: bool, wrong: bytes) -> None:
    messages = [message for message, _ in told(kind, COURSES[0], opens=opens)]
    for heard in range(len(messages)):
        player = started(kind, COURSES[0])
        for message in messages[:heard]:
            player.hear(message)
        assert refuses(player, wrong)


# Opponents who left.

STATE = f'{{"type":"state","you":1,"turn":1,"moves":[],"state":{arena_cells("")}}}'
BEGUN = {
    "droidcon": ["SUCCESS", "SUCCESS", "NEW_GAME", "YOUR_MOVE"],
    "nac4": ["connected hello me", "newgame me you", f"genmove {nac4_board('')} R PlayR 42.0"],
    "arena": [STATE],
}
"""What one hears up to its first move."""
ENDS = {
    "droidcon": ["YOU_WON", "YOU_LOST", "NEW_GAME"],
    "nac4": [
        f"endgame {nac4_board(board)} R {won} Disconnected" for board in ("", "0") for won in ("WinR", "WinY")
    ],
    "arena": ['{"type":"disconnected"}'],
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
            addresses={**dict.fromkeys(PLAIN, nobody), "droidcon": address}, is_up=True
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
