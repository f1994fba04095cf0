"""`python -m conformance engines`: how strong are engines, and how often is the test of a match wrong?

Both measurements call the gateway's own code, without a server.
"""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from statistics import fmean
from time import perf_counter, process_time

from conformance.arguments import Parser, choice, seconds
from conformance.lab.report import Row, counted, finish
from conformance.lab.workers import LoadError
from gateway.engines import EngineUnavailable, UnknownEngine
from gateway.engines.catalogue import engine_named
from gateway.engines.perfect import require, score_columns
from gateway.game.board import CELLS, COLUMNS, Board, position_string
from gateway.game.evaluation import last_move
from gateway.match.elo import expected, strength
from gateway.match.sprt import LOGISTIC, MODELS, Sprt, Verdict

STRENGTH = "how often do engines play a move that keeps the value of the position?"
SPRT = "how often is the test of `c4gateway match --sprt` wrong?"
MOST_WRONG = 0.065
"""The goal for the share of wrong verdicts, at `elo0` and at `elo1`. The test promises slightly less."""
LONGEST = 100_000
"""Pairs of games after which a test counts as undecided."""
THIRD = CELLS // 3
ENGINES = "aima,mctime,mctstime"
THINK = "0.01,0.1,0.5"


def main(argv: Sequence[str]) -> int:
    """Run the command line; return the exit status."""
    match choice("engines", argv, {"strength": STRENGTH, "sprt": SPRT}):
        case "strength":
            return _strength(argv[1:])
        case "sprt":
            return _sprt(argv[1:])
    return 0


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of positions, described in thirds of the board, rounded down.

    `filled`: the discs on the board. `remaining`: the discs that best play adds.
    """

    name: str
    filled: int
    remaining: int

    def has(self, discs: int, remaining: int) -> bool:
        """Return whether a position is of this kind. `remaining`: the discs that best play adds."""
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
    """A position in which at least one move is a mistake."""

    board: Board
    good: frozenset[int]
    """The columns that keep the value of the position: a win, or a draw."""


def positions(kind: Kind, count: int, seed: str) -> Iterator[Position]:
    """Yield different positions of a kind. The same seed gives the same positions."""
    lot = Random(f"{kind.name} {seed}")
    seen = set[tuple[int, int]]()
    while len(seen) < count:
        discs, board = lot.randrange(kind.filled * THIRD, (kind.filled + 1) * THIRD), Board()
        while len(board.moves) < discs and not board.over:
            board = board.drop(lot.choice([column for column in range(COLUMNS) if board.has_room(column)]))
        if board.over or board.discs in seen:
            continue
        if (found := judged(board, kind)) is not None:
            seen.add(board.discs)
            yield found


def judged(board: Board, kind: Kind) -> Position | None:
    """Return a board with its good moves.

    Returns None if the board is not of this kind, or if no move there is a mistake.
    """
    scores = score_columns(board)
    best = max(scores.values())
    remaining = (last_move(best, len(board.moves)) or CELLS) - len(board.moves)
    good = frozenset(column for column, score in scores.items() if _sign(score) == _sign(best))
    if not kind.has(len(board.moves), remaining) or len(good) == len(scores):
        return None
    return Position(board, good)


def _sign(score: int) -> int:
    return (score > 0) - (score < 0)


def moved(name: str, think: float, dealt: Mapping[str, Sequence[Position]]) -> list[Row]:
    """Ask an engine for a move in each position; return the percentage that kept the value, by kind."""
    engine, part, times = engine_named(name), f"{name}, given {think:g} s", list[float]()
    shares: dict[str, float] = {}
    for kind, found in dealt.items():
        kept = 0
        for position in found:
            start = perf_counter()
            kept += engine(position.board, think) in position.good
            times.append(perf_counter() - start)
        shares[kind] = kept / len(found)
    rows = [Row(part, kind, 100 * share, form=".0f") for kind, share in shares.items()]
    return [
        *rows,
        Row(part, "all", 100 * fmean(shares.values()), form=".0f"),
        Row(part, "s a move", fmean(times), form=".3f"),
    ]


def _strength(argv: Sequence[str]) -> int:
    """Ask each engine for a move in random positions in which some move is a mistake.

    A figure is the percentage of moves that keep the value of the position: a win, or a draw. The kinds are
    those of Pascal Pons' test sets. The first word of a kind gives the number of discs on the board: up to
    13 (begin), up to 27 (middle) or more (end). The second word gives the number of discs that best play
    adds: up to 13 (easy), up to 27 (medium) or more (hard). Requires the extra `perfect`, and `engines` for
    Monte Carlo. The JSON report also contains the positions.
    """
    parser = Parser.of("engines strength", STRENGTH, _strength.__doc__)
    parser.add_argument("--engines", type=_engines, default=ENGINES, help=f"with commas between ({ENGINES})")
    parser.add_argument("--think", type=_times, default=THINK, help=f"seconds for a move ({THINK})")
    parser.count("--positions", 50, "positions of each kind")
    parser.add_argument("--seed", default="1", metavar="WORD", help="for other positions (1)")
    parser.report()
    options = parser.parse_args(argv)
    try:
        require()
    except EngineUnavailable as error:
        raise LoadError(str(error)) from None
    dealt = {kind.name: [*positions(kind, options.positions, options.seed)] for kind in KINDS}
    rows = [row for name in options.engines for think in options.think for row in moved(name, think, dealt)]
    options.dealt = {kind: [position_string(at.board.moves) for at in found] for kind, found in dealt.items()}
    return finish("engines strength", [], options, wide=rows)


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


# Simulated matches.


@dataclass(frozen=True, slots=True)
class Chances:
    """The factors other than strength that affect the results of games."""

    drawn: float = 0.2
    """The share of draws."""
    opening: float = 0.1
    """The amount that the first move adds to a player's score and takes from the opponent's."""


def shares(difference: float, chances: Chances) -> list[float]:
    """Return the probabilities of 0 to 4 half points in two games, for a player stronger by `difference` Elo.

    The player moves first in one of the games.
    """
    both = [_game(expected(difference) + sign * chances.opening, chances.drawn) for sign in (1, -1)]
    found = [0.0] * 5
    for one, first in enumerate(both[0]):
        for two, second in enumerate(both[1]):
            found[one + two] += first * second
    return found


def _game(score: float, drawn: float) -> tuple[float, float, float]:
    """Return the probabilities of a loss, a draw and a win. Raises ValueError if draws are too frequent."""
    game = 1 - score - drawn / 2, drawn, score - drawn / 2
    if min(game) < 0:
        raise ValueError("with so many draws nobody scores so")
    return game


def logistic(difference: float, model: str, chances: Chances) -> float:
    """Convert a difference of -100 to 100 Elo, as `model` defines Elo, to logistic Elo."""
    if model == LOGISTIC:
        return difference
    low, high = -200.0, 200.0
    while high - low > 1e-6:
        half = (low + high) / 2
        is_low = strength(shares(half, chances)).normalized < difference
        low, high = (half, high) if is_low else (low, half)
    return low


def verdict(test: Sprt, likely: Sequence[float], lot: Random) -> tuple[Verdict, int]:
    """Simulate pairs of games until the test is decided; return its verdict and the number of pairs."""
    cells = [0] * len(likely)
    for number in range(1, LONGEST + 1):
        cells[lot.choices(range(len(likely)), likely)[0]] += 1
        decision = test.decision(test.ratio(cells))
        if decision is not Verdict.GOES_ON:
            return decision, number
    return Verdict.GOES_ON, LONGEST


def errors(test: Sprt, chances: Chances, times: int, seed: str) -> tuple[float, float, float]:
    """Return the shares of wrong verdicts at `elo0` and at `elo1`, and the mean number of pairs of games."""
    wrong, pairs = [], 0
    for difference, right in ((test.elo0, Verdict.H0), (test.elo1, Verdict.H1)):
        lot, likely = (
            Random(f"{seed} {difference}"),
            shares(logistic(difference, test.model, chances), chances),
        )
        found = [verdict(test, likely, lot) for _ in range(times)]
        wrong.append(sum(each is not right for each, _ in found) / times)
        pairs += sum(number for _, number in found)
    return wrong[0], wrong[1], pairs / (2 * times)


def _sprt(argv: Sequence[str]) -> int:
    """Simulate matches that run until the test of `c4gateway match --sprt` is decided.

    The players' strengths differ by `elo0` in half of the matches and by `elo1` in the others. One game in
    five is drawn, and the first move is worth a tenth of a point. A figure is the share of wrong verdicts.
    """
    parser = Parser.of("engines sprt", SPRT, _sprt.__doc__)
    parser.count("--times", 2000, "tests at each of the two")
    parser.add_argument("--elo0", type=float, default=0.0, metavar="ELO", help="(%(default)g)")
    parser.add_argument("--elo1", type=float, default=40.0, metavar="ELO", help="(%(default)g)")
    parser.add_argument(
        "--models", nargs="+", choices=MODELS, default=MODELS[:1], help=f"some of {' '.join(MODELS)}"
    )
    parser.seed()
    parser.report()
    options = parser.parse_args(argv)
    rows = list[Row]()
    for model in options.models:
        test, began = Sprt(options.elo0, options.elo1, model=model), process_time()
        zero, one, pairs = errors(test, Chances(), options.times, options.seed)
        rows += [
            Row(model, f"wrong at {options.elo0:g}", zero, most=MOST_WRONG, form=".2%"),
            Row(model, f"wrong at {options.elo1:g}", one, most=MOST_WRONG, form=".2%"),
            counted(model, "pairs each", round(pairs)),
            Row(model, "CPU", process_time() - began, "s", form=".0f"),
        ]
    return finish("engines sprt", rows, options, [f"seed {options.seed}"])
