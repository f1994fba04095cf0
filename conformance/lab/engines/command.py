"""`python -m conformance engines`: random games in batches beside random games one by one.

Knows `mc` and `mcts`, and calls both forms as functions. No server takes part. Rates are by processor
time, the best of several. The match is by the clock: both sides have the same seconds for a move and think in
turns, so that a busy machine takes time from both.
"""

from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from random import Random, seed
from time import thread_time

from conformance.arguments import Parser
from conformance.lab.engines.plain import flat, uct
from conformance.lab.figures import Row, finished
from conformance.lab.jobs import LoadError, say
from gateway.engines import Engine, EngineUnavailable, UnknownEngine
from gateway.engines.catalogue import engine_named
from gateway.game.board import COLUMNS, Board

TIMES = 3
"""How often a rate is measured."""
LONG = 600.0
OPENING = 2
"""Discs that are dropped by lot before a game."""
GOALS = {"mc": 50, "mcts": 10}
"""How many times as many games a second batches have to play."""
SHARE = 60
"""Points in a hundred that batches have to make against the plain form."""
ONE_BY_ONE: Mapping[str, Callable[..., int]] = {"mc": flat, "mcts": uct}
"""The plain form of each engine."""


def main(argv: Sequence[str]) -> int:
    """Run the command line; returns the exit status."""
    options = _parse(argv)
    seed(options.seed)
    try:
        rows = [row for name in ONE_BY_ONE for row in rates(name, options.simulations)]
        return finished([*rows, match(options)], options)
    except (UnknownEngine, EngineUnavailable) as error:
        raise LoadError(str(error)) from None


def _parse(argv: Sequence[str]) -> Namespace:
    parser = Parser.of("engines", __doc__)
    parser.count("--simulations", 10_000, "random games in a thought")
    parser.count("--games", 40, "games of mcts against its plain form")
    parser.seconds("--think", 0.1, "for a move in these")
    parser.seed()
    parser.report()
    return parser.parse_args(argv)


def rates(name: str, simulations: int) -> Iterator[Row]:
    """Yield how many games a second an engine plays in both forms, and how the two compare."""
    say(f"counting the games of {name} ...")
    part = f"{name}:{simulations}"
    forms = engine_named(part), partial(ONE_BY_ONE[name], games=simulations)
    batches, one_by_one = (simulations / _seconds(engine) for engine in forms)
    yield Row(part, "random games a second, one by one", one_by_one, "", form=",.0f")
    yield Row(part, "random games a second, in batches", batches, "", form=",.0f")
    goal = 1 / GOALS[name]
    yield Row(part, "time of a game in batches, over that one by one", one_by_one / batches, "", goal, ".4f")


def _seconds(engine: Engine) -> float:
    def once() -> float:
        began = thread_time()
        engine(Board(), LONG)
        return thread_time() - began

    return min(once() for _ in range(TIMES))


def match(options: Namespace) -> Row:
    """Play mcts against its plain form, each opening with both colours; return the points of that."""
    lot = Random(options.seed)
    one_by_one, batches = ONE_BY_ONE["mcts"], engine_named("mctstime")
    points = 0.0
    say(f"playing {options.games} games of mcts against its plain form ...")
    for number in range(options.games):
        if number % 2 == 0:
            opening = _opened(lot)
            points += _played(opening, (one_by_one, batches), options.think)
        else:
            points += 1 - _played(opening, (batches, one_by_one), options.think)
    what = f"points in {options.games} games against batches, {options.think:g} s a move"
    return Row("mctstime, one by one", what, 100 * points / options.games, "%", 100 - SHARE, ".0f")


def _opened(lot: Random) -> Board:
    board = Board()
    for _ in range(OPENING):
        board = board.drop(lot.randrange(COLUMNS))
    return board


def _played(board: Board, engines: tuple[Engine, Engine], think: float) -> float:
    """Return the points of the first of two engines, which moves first: 1, 1/2 or 0."""
    first = board.turn
    while not board.over:
        board = board.drop(engines[board.turn != first](board, think))
    return 0.5 if board.winner is None else float(board.winner == first)
