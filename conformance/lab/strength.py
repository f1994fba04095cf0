"""`python -m conformance strength`: how often engines play a move that keeps what a position is worth.

Knows the gateway's engines and its solver, which it therefore has to import. The positions are of the kinds
of Pascal Pons' test sets: by the discs on the board (begin, middle, end) and by how many more it takes with
best play (easy, medium, hard). They are dealt by lot, and only those count in which some move gives away a
win or a draw: elsewhere every engine is perfect.
"""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from statistics import fmean
from time import perf_counter

from conformance.arguments import Parser, seconds, write_json
from conformance.lab.figures import aligned
from conformance.lab.jobs import LoadError
from gateway.engines import Engine, EngineUnavailable, UnknownEngine
from gateway.engines.catalogue import engine_named
from gateway.engines.perfect import last_move, require, score_columns
from gateway.game.board import CELLS, COLUMNS, Board, position_string

THIRD = CELLS // 3
ENGINES = "aima,mctime,mctstime"
THINK = "0.01,0.1,0.5"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of positions, in thirds of a board: those that are filled, and those that are still to be."""

    name: str
    filled: int
    remaining: int

    def has(self, discs: int, remaining: int) -> bool:
        """Whether a position with so many discs, that ends after so many more, is of this kind."""
        return (discs // THIRD, min(remaining, CELLS - 1) // THIRD) == (self.filled, self.remaining)


KINDS = (
    Kind("begin-easy", 0, 0),
    Kind("begin-medium", 0, 1),
    Kind("begin-hard", 0, 2),
    Kind("middle-easy", 1, 0),
    Kind("middle-medium", 1, 1),
    Kind("end-easy", 2, 0),
)


@dataclass(frozen=True, slots=True)
class Position:
    """A position in which a move can be a mistake."""

    board: Board
    good: frozenset[int]
    """The columns that keep what it is worth: a win, or a draw."""


@dataclass(frozen=True, slots=True)
class Row:
    """What one engine did in the positions of all kinds."""

    engine: str
    think: float
    """Seconds that it was given for a move."""
    kept: Mapping[str, float]
    """Which share of its moves kept the value, by kind."""
    seconds: float
    """Mean time of a move."""


def positions(kind: Kind, count: int, seed: str) -> Iterator[Position]:
    """Yield different positions of a kind, always the same ones for a seed."""
    lot = Random(f"{kind.name} {seed}")
    seen = set[tuple[int, int]]()
    while len(seen) < count:
        board = _dealt(lot, lot.randrange(kind.filled * THIRD, (kind.filled + 1) * THIRD))
        if board is None or board.discs in seen:
            continue
        if (found := _judged(board, kind)) is not None:
            seen.add(board.discs)
            yield found


def _dealt(lot: Random, discs: int) -> Board | None:
    """Return a board with so many discs, dropped by lot; None where the game ends before."""
    board = Board()
    while len(board.moves) < discs and not board.over:
        board = board.drop(lot.choice([column for column in range(COLUMNS) if board.has_room(column)]))
    return None if board.over else board


def _judged(board: Board, kind: Kind) -> Position | None:
    """Return a board with its good moves; None if it is of another kind, or no move is a mistake."""
    scores = score_columns(board)
    best = max(scores.values())
    remaining = (last_move(best, len(board.moves)) or CELLS) - len(board.moves)
    good = frozenset(column for column, score in scores.items() if _sign(score) == _sign(best))
    return (
        Position(board, good) if kind.has(len(board.moves), remaining) and len(good) < len(scores) else None
    )


def _sign(score: int) -> int:
    return (score > 0) - (score < 0)


def measured(name: str, think: float, dealt: Mapping[str, Sequence[Position]]) -> Row:
    """Let an engine move once in each position."""
    engine = engine_named(name)
    kept, times = dict[str, float](), list[float]()
    for kind, found in dealt.items():
        moves = [_moved(engine, position.board, think) for position in found]
        kept[kind] = fmean(move in at.good for (move, _), at in zip(moves, found, strict=True))
        times += [spent for _, spent in moves]
    return Row(name, think, kept, fmean(times))


def _moved(engine: Engine, board: Board, think: float) -> tuple[int, float]:
    start = perf_counter()
    column = engine(board, think)
    return column, perf_counter() - start


def table(rows: Sequence[Row]) -> str:
    """Return the shares in percent, a line for each engine and time."""
    kinds = [*rows[0].kept]
    lines = [["engine", "given", *kinds, "all", "s a move"]]
    for row in rows:
        shares = [f"{100 * share:.0f}" for share in (*row.kept.values(), fmean(row.kept.values()))]
        lines.append([row.engine, f"{row.think:g} s", *shares, f"{row.seconds:.3f}"])
    return aligned(lines)


def main(argv: Sequence[str]) -> int:
    """Run the command line; returns the exit status."""
    options = _parse(argv)
    try:
        require()
    except EngineUnavailable as error:
        raise LoadError(str(error)) from None
    dealt = {kind.name: [*positions(kind, options.positions, options.seed)] for kind in KINDS}
    rows = [measured(name, think, dealt) for name in options.engines for think in options.think]
    print(table(rows))
    report = {
        "seed": options.seed,
        "positions": {
            kind: [position_string(at.board.moves) for at in found] for kind, found in dealt.items()
        },
        "rows": [
            {"engine": row.engine, "think": row.think, "kept": dict(row.kept), "seconds": row.seconds}
            for row in rows
        ],
    }
    write_json(options.json, report)
    return 0


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = Parser.of("strength", __doc__)
    parser.add_argument("--engines", type=_engines, default=ENGINES, help=f"with commas between ({ENGINES})")
    parser.add_argument("--think", type=_times, default=THINK, help=f"seconds for a move ({THINK})")
    parser.count("--positions", 50, "positions of each kind")
    parser.add_argument("--seed", default="1", metavar="WORD", help="for other positions (1)")
    parser.report()
    return parser.parse_args(argv)


def _engines(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    try:
        for name in names:
            engine_named(name)
    except (UnknownEngine, EngineUnavailable) as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return names


def _times(text: str) -> list[float]:
    return [seconds(word) for word in text.split(",")]
