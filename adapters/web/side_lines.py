"""Side lines: other moves than those that were played, from a position of a finished game on.

Pure. Knows the board; does not know the solver. A side line must be of no use to a bot in a game that is on,
so the positions that such a game has had or may soon reach are refused.
"""

from collections.abc import Iterable, Sequence

from adapters.web.query import BadRequestError, Given, whole
from gateway.game.board import COLUMNS, ROWS, Board, boards_of

AHEAD = 3
"""A position is refused if a game that is on may reach it with this number of moves."""
OPENING = 8
"""A game with fewer moves keeps no secret from who watches another one, because many games begin alike."""

_DIGITS = "0123456"
_HEIGHT = ROWS + 1
"""Bits of a column in a bitboard."""
_COLUMN = (1 << _HEIGHT) - 1


def line_of(moves: str, given: Given) -> Sequence[Board]:
    """Return the board after each column of a side line.

    It begins after the first ``after`` of a game's `moves`, and plays ``columns``. Raises BadRequestError.
    """
    number, columns = whole(given, "after", -1, len(moves), least=0), given.get("columns", "")
    if not columns:
        raise BadRequestError("columns is missing: the columns that are played, such as 334")
    board, found = boards_of(moves[:number])[-1], list[Board]()
    for place, digit in enumerate(columns, number + 1):
        try:
            board = board.drop(_DIGITS.index(digit))
        except ValueError as error:
            why = "the game is over" if board.over else f"column {digit!r} cannot be played"
            raise BadRequestError(f"columns: {why} at move {place}") from error
        found.append(board)
    return found


class Positions:
    """Positions whose worth somebody asks for, to be compared with games that are on.

    The mirror image of a position is as good as the position.
    """

    def __init__(self, asked: Sequence[Board]) -> None:
        self._by_discs: dict[Sequence[int], list[int]] = {}
        """The places in `asked`, by discs."""
        self._by_count: dict[int, list[tuple[int, Sequence[int]]]] = {}
        """The places in `asked`, and the discs there, by the number of moves."""
        for place, board in enumerate(asked):
            one, other = board.discs
            for discs in ((one, other), (_mirrored(one), _mirrored(other))):
                self._by_discs.setdefault(discs, []).append(place)
                self._by_count.setdefault(len(board.moves), []).append((place, discs))

    def near(self, moves: str) -> tuple[set[int], set[int]]:
        """Return the places of the positions that a game with these moves has had, and may soon reach.

        The latest position of the game is among both. A game without a move is near no position.
        """
        had, discs, heights = set[int](), [0, 0], [0] * COLUMNS
        for number, digit in enumerate(moves):
            column = int(digit)
            discs[number & 1] |= 1 << column * _HEIGHT + heights[column]
            heights[column] += 1
            had.update(self._by_discs.get((discs[0], discs[1]), ()))
        coming = range(len(moves), len(moves) + AHEAD + 1) if moves else ()
        boards = (each for count in coming for each in self._by_count.get(count, ()))
        return had, {place for place, board in boards if _has(board, discs)}


def is_near(asked: Sequence[Board], on: Iterable[str]) -> bool:
    """Whether a game with one of the moves `on` has had one of the boards, or may soon reach it.

    A position that the game has left counts, because the worth of the column that was played there tells who
    is winning now.
    """
    positions = Positions(asked)
    return any(had or soon for had, soon in map(positions.near, on))


def _has(discs: Sequence[int], part: Sequence[int]) -> bool:
    """Whether both sides have at least the discs of `part`."""
    return all(one & other == other for one, other in zip(discs, part, strict=True))


def _mirrored(discs: int) -> int:
    """Return a bitboard with its columns in reverse order."""
    return sum(
        (discs >> column * _HEIGHT & _COLUMN) << (COLUMNS - 1 - column) * _HEIGHT for column in range(COLUMNS)
    )
