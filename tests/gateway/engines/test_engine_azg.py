"""Players of alpha-zero-general: the board that they see, and the game that they get."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from engine_positions import dealt, play, playable

from gateway.engines import UnknownEngine
from gateway.engines.azg import DRAWN, Game, cells, player_in
from gateway.engines.files import named
from gateway.game.board import Board

Write = Callable[..., Path]

# What a player sees and when.


def test_board_has_the_top_row_first_and_the_mover_s_discs_are_1() -> None:
    assert cells(play("006")).tolist() == [
        *[[0] * 7] * 4,
        [1, 0, 0, 0, 0, 0, 0],
        [-1, 0, 0, 0, 0, 0, -1],
    ]
    assert cells(Board()).dtype == np.int64


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("class P:\n    def __init__(self, game): self.game = game\n", "P"),
        ("class P:\n    def __init__(self, g, verbose=True): self.game = g\n", "P"),
        ("class P:\n    def __init__(self, *, game=None): self.game = game\n", "P"),
    ],
)
def test_class_gets_the_game_and_its_object_plays_all_games(text: str, name: str, write: Write) -> None:
    plays = (
        "    seen = 0\n"
        "    def play(self, board):\n"
        "        P.seen += self.game.getActionSize()\n"
        "        return P.seen // 7\n"
    )
    player = player_in(f"{write(text + plays)}:{name}")
    assert [player(play(columns), 1.0) for columns in ("", "12", "", "3")] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("def choose(board): return board.sum() + 4", "choose"),
        ("choose = lambda board: board.sum() + 4", "choose"),
        ("class P:\n    def play(self, board): return board.sum() + 4\np = P()", "p"),
        ("class P:\n    def play(self, board): return board.sum() + 4\nchoose = P().play", "choose"),
        ("class P:\n    def __call__(self, board): return board.sum() + 4", "P"),
    ],
)
def test_function_or_object_is_used_as_it_is(text: str, name: str, write: Write) -> None:
    assert player_in(f"{write(text)}:{name}")(play("0"), 1.0) == 3


RECORDS = """
told = []
class P:
    def startGame(self): told.append("start")
    def endGame(self): told.append("end")
    def notify(self, board, action): told.append((int(board.sum()), action))
    def play(self, board): return told.append("play") or 0
"""


def test_player_is_told_of_games_and_of_the_other_s_moves_as_its_own_games_do(write: Write) -> None:
    file = write(RECORDS)
    player = player_in(f"{file}:P")
    for columns in ("", "03", "3", "304"):
        player(play(columns), 1.0)
    assert named("azg", f"{file}:told") == [
        *("start", "play", (1, 3), "play"),  # the board before the other's move, the first mover's discs as 1
        *("end", "start", "play", (0, 4), "play"),
    ]


@pytest.mark.parametrize("error", ["SystemExit(3)", "ValueError(3)"])
def test_class_that_raises_is_told_before_any_game(error: str, write: Write) -> None:
    file = write(f"class P:\n    def __init__(self): raise {error}\n    def play(self, board): ...")
    with pytest.raises(UnknownEngine, match=rf"P cannot be made: {error[:-3]}: 3"):
        player_in(f"{file}:P")


# The game.


def test_game_has_the_rules_of_the_board(capsys: pytest.CaptureFixture[str]) -> None:
    game = Game()
    game.display(game.getInitBoard())
    assert capsys.readouterr().out.count("0") == 42
    board, player = game.getInitBoard(), 1
    for column in (0, 0, 6):
        board, player = game.getNextState(board, player, column)
    assert (game.getCanonicalForm(board, player) == cells(play("006"))).all()
    assert (game.getBoardSize(), game.getActionSize()) == ((6, 7), 7)
    full = cells(play("000000"))
    assert game.getValidMoves(full, 1).tolist() == [False] + [True] * 6
    with pytest.raises(ValueError, match="column 0 is full"):
        game.getNextState(full, 1, 0)
    assert game.stringRepresentation(full) != game.stringRepresentation(board)
    (same, pi), (mirrored, reverse) = game.getSymmetries(cells(play("0")), [1, 2, 3])
    assert (same[5].tolist(), mirrored[5].tolist()) == ([-1, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, -1])
    assert (pi, reverse) == ([1, 2, 3], [3, 2, 1])


@pytest.mark.parametrize(
    ("columns", "result"),
    [("", 0), ("010101", 0), ("0101010", -1), ("0011223", -1), ("0112232333", 0), ("0112232334", -1)],
)
def test_result_is_that_of_the_player_to_move_at_the_end(columns: str, result: float) -> None:
    board = play(columns)
    assert (board.winner is not None) == bool(result)
    assert [Game().getGameEnded(cells(board), side) for side in (1, -1)] == [result, -result]


@pytest.mark.parametrize("seed", range(40))
def test_game_ends_where_the_board_does(seed: int) -> None:
    board = dealt(seed, 10 + seed % 30)
    while not board.over:
        assert Game().getGameEnded(cells(board), 1) == 0
        board = board.drop(playable(board)[seed % len(playable(board))])
    assert Game().getGameEnded(cells(board), 1) == (DRAWN if board.winner is None else -1)
