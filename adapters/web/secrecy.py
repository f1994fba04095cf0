"""What answers withhold, so that nobody learns from them what a column is worth in a game that is on.

Knows the board and the live games; does not know the solver or HTTP. A finished game may have had a position
that a game which is on has had, or may soon reach. Who wins such a position is the worth of a column.
"""

from collections.abc import Iterable, Sequence

from adapters.web.live.state import Game
from adapters.web.site import Site
from gateway.game.board import COLUMNS, ROWS, Board, boards_of

AHEAD = 3
"""A position is refused if a game that is on may reach it with this number of moves."""
OPENING = 8
"""A game with fewer moves keeps no secret from who watches another one, because many games begin alike."""

_HEIGHT = ROWS + 1
"""Bits of a column in a bitboard."""
_COLUMN = (1 << _HEIGHT) - 1


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


async def withheld(site: Site, moves: str) -> tuple[set[int], set[int]]:
    """Return the positions of a game that is over of which another game, which is on, may have use.

    The positions, by the number of moves, are those whose columns' worth is withheld, and those of which it
    is withheld, too, who wins them. Raises UnavailableError.
    """
    positions, evaluations = Positions(boards_of(moves)), site.evaluations
    near, secret = set[int](), set[int]()
    for game in await site.live.games():
        had, soon = positions.near(game.moves)
        near |= soon
        if len(game.moves) >= OPENING:
            secret |= soon - had
        if (had or soon) and (evaluations is None or await evaluations.hides(game)):
            secret |= had | soon
    return near | secret, secret


async def ahead_of_others(site: Site, game: Game) -> set[int]:
    """Return the positions of a game that is on that another such game may soon reach.

    The positions are given by the number of moves.

    Raises UnavailableError.
    """
    positions, ahead = Positions(boards_of(game.moves)), set[int]()
    for other in await site.live.games():
        if OPENING <= len(other.moves) < len(game.moves):
            had, soon = positions.near(other.moves)
            ahead |= soon - had
    return ahead


def _has(discs: Sequence[int], part: Sequence[int]) -> bool:
    """Whether both sides have at least the discs of `part`."""
    return all(one & other == other for one, other in zip(discs, part, strict=True))


def _mirrored(discs: int) -> int:
    """Return a bitboard with its columns in reverse order."""
    return sum(
        (discs >> column * _HEIGHT & _COLUMN) << (COLUMNS - 1 - column) * _HEIGHT for column in range(COLUMNS)
    )
