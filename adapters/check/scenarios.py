"""The games that a bot has to play, and the special event of each game.

Knows topics and strategies. Does not know dialects, nor how an opponent causes the special event.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import Enum, auto
from random import Random
from typing import TypeAlias

from adapters.client.rules import Topic
from gateway.engines.catalogue import engine_named
from gateway.game.board import COLUMNS, ROWS, Board

# How the scripted opponents move. A strategy takes a board and returns a column.
#
# Each strategy leads to one kind of ending, if the bot's moves allow it. All strategies are pure functions
# except `beat`, which searches for `_MOMENT` seconds.

Strategy: TypeAlias = Callable[[Board, Random], int]
"""Takes a board and a random generator. Returns a column with room for the side to move. The generator
decides between equally good columns."""

_MOMENT = 0.005
"""Seconds for which `beat` searches."""
_LINES = [
    sum(1 << ((column + dx * n) * (ROWS + 1) + row + dy * n) for n in range(4))
    for column in range(COLUMNS)
    for row in range(ROWS)
    for dx, dy in ((1, 0), (0, 1), (1, 1), (1, -1))
    if column + 3 * dx < COLUMNS and 0 <= row + 3 * dy < ROWS
]
"""All lines of four cells, as bitboards."""


def beat(board: Board, lot: Random) -> int:
    """Play to win."""
    return engine_named("aimafast")(board, _MOMENT)


def give(board: Board, lot: Random) -> int:
    """Play to lose: make no winning move, and leave the bot as many winning moves as possible."""
    return _best(board, lot, lambda after: -len(_wins(after)), _columns(board))


def balance(board: Board, lot: Random) -> int:
    """Play for a draw: block as many lines as possible."""
    return _best(board, lot, lambda after: 100 * _danger(after) + _open_lines(after), _columns(board))


def fill(board: Board, lot: Random) -> int:
    """Fill the highest column, and avoid a win of either side."""
    return _best(
        board, lot, lambda after: 100 * _danger(after) - board.moves.count(after.moves[-1]), _columns(board)
    )


def _best(board: Board, lot: Random, cost: Callable[[Board], float], columns: Iterable[int]) -> int:
    """Return the column that leads to the board with the least cost. A win costs more than anything else."""
    costs = {}
    for column in columns:
        after = board.drop(column)
        costs[column] = 10_000.0 if after.winner is not None else cost(after)
    least = min(costs.values())
    return lot.choice([column for column, each in costs.items() if each == least])


def _danger(after: Board) -> int:
    """Return how dangerous a board is for the side that has just moved.

    The result is 10 for each column with which the side to move wins, plus 1 for each column after which
    every reply wins.
    """
    forced = 0
    for column in _columns(after):
        reply = after.drop(column)
        if not reply.over and len(_wins(reply)) == len(_columns(reply)):
            forced += 1
    return 10 * len(_wins(after)) + forced


def _wins(board: Board) -> list[int]:
    return [column for column in _columns(board) if board.drop(column).winner is not None]


def _columns(board: Board) -> list[int]:
    if board.over:
        return []
    return [column for column in range(COLUMNS) if board.has_room(column)]


def _open_lines(board: Board) -> int:
    """Return the number of lines that do not have discs of both sides, so that a side can still fill them."""
    first, second = board.discs
    return sum(1 for line in _LINES if not (first & line and second & line))


# The games.


class Pace(Enum):
    """How the server's messages are divided into packets."""

    MESSAGES = auto()
    """One packet for each message."""
    BYTES = auto()
    """One packet for each byte; in the middle of a long message, one packet for several bytes."""
    TOGETHER = auto()
    """One packet for all messages that wait."""


class Conduct(Enum):
    """What the opponent does besides moving: the special event of a scenario."""

    PLAIN = auto()
    PLAY_ILLEGAL = auto()
    """Play a column that does not exist."""
    LEAVE = auto()
    LEAVE_ASKED = auto()
    """Leave while the bot is to move."""
    ABORT = auto()
    """Leave before both have moved."""
    COME_LATE = auto()
    """Come late for the bot's first game on a connection."""
    THINK_LONG = auto()
    """Think for a long time, and ping the bot meanwhile."""
    LOSE_ON_TIME = auto()
    BOT_LOSES_ON_TIME = auto()
    CUT = auto()
    """Move, and cut the bot's connection. The game goes on when the bot comes back."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """A scripted game."""

    topic: Topic
    title: str
    strategy: Strategy
    bot_opens: bool | None = None
    """Whether the bot moves first; None if either will do."""
    tries: int = 1
    """The most times that the scenario is played until a game covers its topic."""
    conduct: Conduct = Conduct.PLAIN
    pace: Pace = Pace.MESSAGES
    as_original: bool = False
    """Whether the bot gets the messages of the original server."""


NO_GAME = Scenario(Topic.ENTRY, "", beat)
"""A placeholder for the time before the first game, and for a game that was not planned."""
ONE_MORE = Scenario(Topic.NEXT, "one more game", beat)
"""This game shows whether a bot goes on after the previous game."""
SCENARIOS = (
    Scenario(Topic.OPENING, "a plain game, the bot moves first", give, bot_opens=True),
    Scenario(Topic.REPLY, "a plain game, the bot moves second", beat, bot_opens=False),
    Scenario(Topic.WAIT, "the opponent comes late", beat, conduct=Conduct.COME_LATE),
    Scenario(Topic.LOSS, "the bot loses", beat, tries=4),
    Scenario(Topic.WIN, "the bot wins", give, tries=6),
    Scenario(Topic.FULL, "columns fill up", fill, tries=4),
    Scenario(Topic.DRAW, "a draw", balance, tries=10),
    Scenario(Topic.LEFT, "the opponent leaves while it is to move", balance, conduct=Conduct.LEAVE),
    Scenario(
        Topic.LEFT_ASKED, "the opponent leaves while the bot is to move", balance, conduct=Conduct.LEAVE_ASKED
    ),
    Scenario(Topic.ABORTED, "the opponent leaves before it has moved", balance, True, conduct=Conduct.ABORT),
    Scenario(Topic.ILLEGAL, "the opponent plays an illegal move", balance, conduct=Conduct.PLAY_ILLEGAL),
    Scenario(Topic.LATE, "the opponent's time is up", balance, conduct=Conduct.LOSE_ON_TIME),
    Scenario(Topic.TIME, "the bot's time is up", balance, tries=3, conduct=Conduct.BOT_LOSES_ON_TIME),
    Scenario(Topic.SLOW, "a slow opponent", beat, conduct=Conduct.THINK_LONG),
    Scenario(Topic.SPLIT, "messages come in pieces", beat, pace=Pace.BYTES),
    Scenario(Topic.MERGED, "messages come together", beat, pace=Pace.TOGETHER),
    Scenario(
        Topic.QUIRK,
        "the opponent leaves, as the original tells it",
        balance,
        conduct=Conduct.LEAVE,
        as_original=True,
    ),
    Scenario(
        Topic.RELAY,
        "an illegal move, as the original tells it",
        balance,
        conduct=Conduct.PLAY_ILLEGAL,
        as_original=True,
    ),
    ONE_MORE,
    Scenario(Topic.BACK, "the connection breaks", beat, conduct=Conduct.CUT),
)
"""The scenarios in the order of play. The order may change if the dialect decides which side moves first. The
last one is played when nothing else is left to observe, since the bot may not come back."""


def in_which_bot_opens() -> tuple[Scenario, ...]:
    """Return the scenarios for a dialect whose players always move first."""
    return tuple(replace(each, bot_opens=True) for each in SCENARIOS if each.bot_opens is not False)
