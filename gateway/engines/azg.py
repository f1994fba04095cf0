"""Players of alpha-zero-general, whose repository is not needed.

A player is a class, an object with `play`, or a function: it takes the canonical board and returns a column.
Knows this board, and `Game`, which stands in for the object that a player's class gets. One player plays all
games. It cannot be stopped. The name of the file must come from the user's command line, never from the
network.
"""

import inspect
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gateway.engines import UnknownEngine, in_words
from gateway.engines.external import after, follows
from gateway.engines.files import call, named
from gateway.game.board import COLUMNS, ROWS, Board

Cells = NDArray[np.int64]
"""The board: six rows, the top row first; 1 and -1 are the discs of the two players."""
DRAWN = 1e-4
"""The result of a drawn game. It is small, but not 0, which is a game that is not over."""
_LINES = ((0, 1), (1, 0), (1, 1), (1, -1))


def player_in(text: str) -> "Player":
    """Return the player of FILE:NAME. Raises UnknownEngine."""
    found = named("azg", text)
    try:
        player = call(found, Game(), {"game": Game()}) if inspect.isclass(found) else found
    except UnknownEngine:
        raise
    except (Exception, SystemExit) as error:  # the user's code may raise anything
        raise UnknownEngine(f"azg:{text} cannot be made: {in_words(error)}") from error
    if not callable(getattr(player, "play", player)):
        raise UnknownEngine(f"azg:{text} has no method play(board), and is no function")
    return Player(player)


class Player:
    """An engine that asks a player of alpha-zero-general."""

    def __init__(self, player: Any) -> None:
        self._player = player
        self._left: Board | None = None
        """The board after the player's latest move; None if it has not moved, or if its move was illegal."""
        self._is_new = True

    def __call__(self, board: Board, _budget: float) -> Any:
        """Return the player's answer. Raises any exception of the player."""
        if self._left is None or not follows(self._left, board):
            if not self._is_new:
                self._tell("endGame")
            self._tell("startGame")
        else:
            self._tell("notify", cells(self._left) * _sign(self._left), board.moves[-1])
        self._is_new = False
        choice = getattr(self._player, "play", self._player)(cells(board))
        self._left = after(board, choice)
        return choice

    def _tell(self, hook: str, *arguments: Any) -> None:
        """Call a method of the player, if it has this one: alpha-zero-general does so."""
        method = getattr(self._player, hook, None)
        if method is not None:
            method(*arguments)


def cells(board: Board) -> Cells:
    """Return the canonical board: 1 is a disc of the side to move, -1 one of the other side."""
    made = np.zeros((ROWS, COLUMNS), dtype=np.int64)
    for column, row, side in board.placed():
        made[ROWS - 1 - row, column] = 1 if side == board.turn else -1
    return made


def _sign(board: Board) -> int:
    """Return what turns the canonical board into one on which the first mover's discs are 1."""
    return -1 if board.turn else 1


class Game:
    """The rules, with the methods of the repository's class of a game. Players are 1 and -1."""

    def getInitBoard(self) -> Cells:  # noqa: N802  the repository's name, as below
        """Return the empty board."""
        return np.zeros((ROWS, COLUMNS), dtype=np.int64)

    def getBoardSize(self) -> tuple[int, int]:  # noqa: N802
        """Return the numbers of rows and columns."""
        return ROWS, COLUMNS

    def getActionSize(self) -> int:  # noqa: N802
        """Return the number of columns."""
        return COLUMNS

    def getNextState(self, board: Cells, player: int, action: int) -> tuple[Cells, int]:  # noqa: N802
        """Return a copy of the board with one more disc, and the player that moves next.

        Raises ValueError if the column is full.
        """
        free = np.flatnonzero(board[:, action] == 0)
        if not len(free):
            raise ValueError(f"column {action} is full")
        changed = np.copy(board)
        changed[free[-1], action] = player
        return changed, -player

    def getValidMoves(self, board: Cells, player: int) -> NDArray[np.bool_]:  # noqa: N802
        """Return for each column whether it has room."""
        valid: NDArray[np.bool_] = board[0] == 0
        return valid

    def getGameEnded(self, board: Cells, player: int) -> float:  # noqa: N802
        """Return 1 if the player has won, -1 if it has lost, `DRAWN`, or 0 if the game is not over."""
        for side in (player, -player):
            if _has_four(board == side):
                return 1 if side == player else -1
        return 0 if (board[0] == 0).any() else DRAWN

    def getCanonicalForm(self, board: Cells, player: int) -> Cells:  # noqa: N802
        """Return the board on which the player's discs are 1."""
        return board * player

    def getSymmetries(self, board: Cells, pi: Any) -> list[tuple[Cells, Any]]:  # noqa: N802
        """Return the board and its mirror image, each with its policy."""
        return [(board, pi), (board[:, ::-1], pi[::-1])]

    def stringRepresentation(self, board: Cells) -> bytes:  # noqa: N802
        """Return a key for dictionaries."""
        return board.tobytes()

    @staticmethod
    def display(board: Cells) -> None:
        """Print the board."""
        print(board)


def _has_four(discs: NDArray[np.bool_]) -> bool:
    """Whether there is a line of four in an array of discs."""
    padded = np.pad(discs, 3)
    return any(
        (
            discs & _at(padded, row, column, 1) & _at(padded, row, column, 2) & _at(padded, row, column, 3)
        ).any()
        for row, column in _LINES
    )


def _at(padded: NDArray[np.bool_], row: int, column: int, steps: int) -> NDArray[np.bool_]:
    """Return for each cell whether there is a disc so many steps away."""
    top, left = 3 + steps * row, 3 + steps * column
    return padded[top : top + ROWS, left : left + COLUMNS]
