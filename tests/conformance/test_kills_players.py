"""The clients that note results: whole courses in every dialect, and everything that does not belong."""

import json
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trials import FEW

from conformance.boards import arena_cells, nac4_board
from conformance.dialects.frames import frame
from conformance.dialects.script import Game, OutOfStep, Wish
from conformance.lab.bots import PLAIN
from conformance.lab.kills.games import Result
from conformance.lab.kills.load import Player

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


GAMES = {"droidcon": droidcon_game, "nac4": nac4_game, "arena": arena_game}


def told(kind: str, games: tuple[Game, ...], *, opens: bool) -> Iterator[Told]:
    """Yield what a player hears of a course and answers; the first move swaps."""
    yield from {"droidcon": [(b"SUCCESS", b"")] * 2, "nac4": [(b"connected hello me", b"")]}.get(kind, [])
    for number, game in enumerate(games):
        yield from GAMES[kind](game, opens=opens == (number % 2 == 0))
        if kind == "arena" and game.reason != "left":
            yield b'{"type":"end"}', b"" if number == len(games) - 1 else started(kind, games).opening


def started(kind: str, games: tuple[Game, ...]) -> Player:
    return Player(kind, Wish("me", table="here"), "you", games)


def hear_all(player: Player, messages: list[bytes]) -> None:
    for message in messages:
        player.hear(message)


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
        with pytest.raises(OutOfStep, match="player me was told"):
            player.hear(wrong)


@pytest.mark.parametrize("kind", PLAIN)
@pytest.mark.parametrize("opens", [True, False])
def test_result_of_another_game_is_out_of_step(kind: str, opens: bool) -> None:
    other = Game(WON.moves, 2, "four")
    messages = [message for message, _ in told(kind, (other,), opens=opens)]
    player = started(kind, (WON,))
    with pytest.raises(OutOfStep):
        hear_all(player, messages)
    assert player.results == []


@pytest.mark.parametrize("kind", PLAIN)
@pytest.mark.parametrize("opens", [True, False])
def test_result_before_the_game_is_over_is_out_of_step(kind: str, opens: bool) -> None:
    messages = [message for message, _ in told(kind, (WON,), opens=opens)]
    messages = messages[:-1] if kind == "arena" else messages  # an `end` stands behind the result
    player = started(kind, (WON,))
    for message in messages[:-3]:
        player.hear(message)
    with pytest.raises(OutOfStep):
        player.hear(messages[-1])


@pytest.mark.parametrize("kind", ["nac4", "arena"])  # a Droidcon result says nothing of a reason
def test_leaving_is_told_of_no_other_game_and_no_other_end_of_that_one(kind: str) -> None:
    left = Game(WON.moves, 1, "left")
    for expected, heard in ((left, WON), (WON, left)):
        player = started(kind, (expected,))
        with pytest.raises(OutOfStep):
            hear_all(player, [message for message, _ in told(kind, (heard,), opens=True)])
        assert player.results == []


@settings(max_examples=FEW)  # each reads up to a whole course first
@given(
    st.sampled_from(sorted(PLAIN)),
    st.booleans(),
    st.integers(0, 40),
    st.binary() | st.text().map(str.encode),
)
def test_garbage_raises_out_of_step_or_nothing(kind: str, opens: bool, heard: int, garbage: bytes) -> None:
    player = started(kind, COURSES[0])
    for message, _ in [*told(kind, COURSES[0], opens=opens)][:heard]:
        player.hear(message)
    results = len(player.results)
    with pytest.raises(OutOfStep):
        player.hear(garbage)
    assert len(player.results) == results
