"""The command ``c4gateway analyse``, which prints the value of each column of a position.

Knows position strings and the solver; without the solver it uses a search. Scores are those of Pascal Pons:
22 minus the number of discs that the winner has played at the end, negative if the opponent wins, 0 for a
draw. The search prints estimates, which look different from scores.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gateway.engines import EngineUnavailable
from gateway.engines.perfect import require, score_columns
from gateway.engines.search import Estimate, estimate_columns
from gateway.game.board import COLUMNS, Board, Side, board_at, other
from gateway.game.evaluation import last_move
from gateway.game.text import DISCS, aligned, drawing
from gateway.options.kinds import Kind, seconds
from gateway.options.table import Parser, option, read
from gateway.options.terminal import exit_status, write_out

FULL = "full"
_DESCRIPTION = "What each column of a position is worth to the side to move, with best play of both."
_EPILOG = (
    "Scores need the solver (pip install '.[perfect]'): 22 less the discs that the winner has played at the"
    " end, negative for a loss, 0 for a draw. Without the solver a search estimates."
)


def main(arguments: Sequence[str]) -> int:
    """Print the values of the columns of a position; return the exit status.

    The status is 0, 1 after an OSError, or 130 after Ctrl-C. If options or the position are invalid, the
    process exits with status 2.
    """
    options = read(Parser("c4gateway analyse", _DESCRIPTION, _EPILOG), _Options, arguments)
    return exit_status(lambda: write_out(_one_by_one(analysis(options.position, options.seconds))))


def _one_by_one(lines: Iterator[str]) -> Iterator[str]:
    """Yield the lines, and flush standard output after each, before the next line is computed."""
    for line in lines:
        yield f"{line}\n"
        sys.stdout.flush()


def _board(text: str) -> Board:
    try:
        return board_at(text)
    except ValueError as error:
        raise ValueError(f"there is no such position: {error}") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options:
    position: Board = option(
        "the columns played, 1 to 7, in their order, such as 4455",
        Kind(_board, "POSITION"),
        make_default=Board,
        default_text="none: the empty board",
        is_positional=True,
    )
    seconds: float = option(
        "most time for a column, where a search estimates", seconds(0.001), 1.0, default_text="1"
    )


def analysis(board: Board, seconds: float) -> Iterator[str]:
    """Yield the lines about a position. Without the solver a search takes `seconds` for each column."""
    yield f"{drawing(board, first=1)}\n"
    if board.over:
        yield "the game is over: " + ("drawn" if board.winner is None else f"{DISCS[board.winner]} has won")
        return
    yield f"{DISCS[board.turn]} is to move, with disc {len(board.moves) + 1}"
    try:
        require()
    except EngineUnavailable as missing:
        yield f"estimates of a search, {seconds:g} s for a column ({missing})\n"
        guesses = {
            column: _guess(estimate, board.turn)
            for column, estimate in estimate_columns(board, seconds).items()
        }
        yield _table(["column", ""], {column: [guess] for column, guess in guesses.items()}, [f" {FULL}"])
        return
    scores = score_columns(board)
    best = max(scores.values())
    yield f"score {best}: {_end(best, board)}\n"
    cells = {column: [str(score), _end(score, board)] for column, score in scores.items()}
    yield _table(["column", "score", ""], cells, [FULL, ""])


def _table(head: list[str], cells: Mapping[int, list[str]], full: list[str]) -> str:
    """Return a table with a line for each column, without the last line break. Full columns show `full`."""
    rows = [[str(column + 1), *cells.get(column, full)] for column in range(COLUMNS)]
    return aligned([head, *rows], left=(len(head) - 1,)).removesuffix("\n")


def _end(score: int, board: Board) -> str:
    """Return the end of the game with perfect play, in words."""
    end = last_move(score, len(board.moves))
    return "a draw" if end is None else f"{_winner(score, board.turn)} wins with disc {end}"


def _winner(value: int, turn: Side) -> str:
    return DISCS[turn if value > 0 else other(turn)]


def _guess(estimate: Estimate, turn: Side) -> str:
    if not estimate.is_certain:
        return f"not certain; guessed at {estimate.value:+}"
    return f"{_winner(estimate.value, turn)} wins" if estimate.value else "a draw"
