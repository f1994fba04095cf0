"""What a position is worth with perfect play, and the moves that turned a game.

Pure. The scores come from a solver (`gateway.engines.perfect`), or from a database that keeps them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from gateway.game.board import CELLS, Board, Side, other

Scores: TypeAlias = Mapping[int, int]
"""The score of each playable column for the side to move.

Above 0 is a win, below 0 a loss, 0 a draw. The further from 0, the sooner the game ends (see `last_move`).
"""
Result: TypeAlias = Literal["win", "draw", "lose"]
"""The result of a position or a column for one side."""

_RESULTS: Mapping[int, Result] = {1: "win", 0: "draw", -1: "lose"}
_ORDER: Sequence[Result] = ("lose", "draw", "win")


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The end of the game with perfect play from a position on."""

    winner: Side | None
    """None for a draw."""
    at: int | None
    """The number of the last move of the game; None for a draw."""


@dataclass(frozen=True, slots=True)
class Turned:
    """A move that made the result worse for the side that made it."""

    move: int
    """The number of the move, from 1."""
    was: Result
    became: Result
    better: Sequence[int] = ()
    """The columns that would have kept the result; empty if the columns are not known."""

    @property
    def side(self) -> Side:
        """The side that made the move."""
        return 0 if self.move % 2 else 1


def last_move(score: int, moves: int) -> int | None:
    """Return the number of the last move of the game with perfect play from now on; None for a draw.

    `score` is the score of a position after `moves` moves, or of a column there.
    """
    if score == 0:
        return None
    winner = moves % 2 if score > 0 else 1 - moves % 2
    return CELLS + 1 + winner - 2 * abs(score)


def result(score: int) -> Result:
    """Return the result that a score means for the side to move."""
    return _RESULTS[(score > 0) - (score < 0)]


def evaluation(score: int, moves: int) -> Evaluation:
    """Return the evaluation of a position after `moves` moves, whose score or best column's score is given.

    The score of a column is also that of the position after it.
    """
    if score == 0:
        return Evaluation(None, None)
    mover: Side = 1 if moves % 2 else 0
    return Evaluation(mover if score > 0 else other(mover), last_move(score, moves))


def evaluation_of_end(board: Board) -> Evaluation:
    """Return the evaluation of a board that is over."""
    return Evaluation(board.winner, None if board.winner is None else len(board.moves))


def evaluations(moves: str, scores: Sequence[Scores | None]) -> list[Evaluation | None]:
    """Return the evaluation of each position of a game, from the start to that after the last move.

    `scores` are those of the positions in which a move was due; None if they are not known. The evaluation of
    a position is None if neither its scores nor those of the position before are known.
    """
    found = list[Evaluation | None]()
    for number in range(len(moves) + 1):
        own = scores[number] if number < len(scores) else None
        before = scores[number - 1] if number else None
        if own:
            found.append(evaluation(max(own.values()), number))
        elif before:
            found.append(evaluation(before[int(moves[number - 1])], number - 1))
        else:
            found.append(None)
    return found


def turned(known: Sequence[Evaluation | None]) -> Iterator[Turned]:
    """Yield the moves that turned a win into a draw or a loss, or a draw into a loss.

    `known` are the evaluations of successive positions from the start of the game; None if one is not known.
    """
    for number in range(1, len(known)):
        before, after = known[number - 1], known[number]
        if before is None or after is None:
            continue
        mover: Side = 0 if number % 2 else 1
        was, became = _for_side(before, mover), _for_side(after, mover)
        if _ORDER.index(became) < _ORDER.index(was):
            yield Turned(number, was, became)


def better_columns(scores: Scores) -> Sequence[int]:
    """Return the columns whose result is the best one."""
    best = result(max(scores.values()))
    return [column for column, score in sorted(scores.items()) if result(score) == best]


def _for_side(known: Evaluation, side: Side) -> Result:
    return "draw" if known.winner is None else "win" if known.winner == side else "lose"
