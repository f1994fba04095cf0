"""What c4bot prints: boards, games, and what it waits for if that takes long.

Only `Screen` prints. It escapes invisible characters in the server's texts. If it does not show games, it
prints only the summary, and warnings on stderr. `Waiting` reports what the bot waits for, but only while the
bot makes no progress.
"""

import math
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from enum import Enum, auto
from typing import TypeAlias

import trio

from adapters.client.talk import Began, Over, Result
from gateway.game.board import COLUMNS, ROWS, Board, Side, position_string
from gateway.game.board import FIRST as FIRST_MOVER
from gateway.game.board import SECOND as SECOND_MOVER
from gateway.game.text import printable, visible

# The games played so far: their number, results and times, and the words to print them.
#
# Games that were cut off have no result and do not count as played.

_SIDES = (FIRST_MOVER, SECOND_MOVER)
_RESULTS = (Result.WON, Result.LOST, Result.DRAWN, Result.LEFT)


class Totals:
    """The games of one run of the bot."""

    def __init__(self, wanted: int = 0) -> None:
        self._wanted = wanted
        self._games: Counter[tuple[Side | None, Result]] = Counter()
        self._moves = 0
        self._seconds = 0.0
        self.cut_off = 0
        """Games without a result."""

    @property
    def played(self) -> int:
        """Games with a result."""
        return self._games.total()

    @property
    def begun(self) -> int:
        """All games, with or without a result."""
        return self.played + self.cut_off

    @property
    def is_complete(self) -> bool:
        """Whether all wanted games are played. False if 0 games are wanted, because that means no limit."""
        return 0 < self._wanted <= self.played

    def add(self, over: Over) -> None:
        """Count a game."""
        if over.result is Result.CUT_OFF:
            self.cut_off += 1
        else:
            self._games[over.side, over.result] += 1

    def moved(self, seconds: float) -> None:
        """Count a move that took so many seconds."""
        self._moves += 1
        self._seconds += seconds

    def summary(self) -> str:
        """Return the summary of the run, in lines."""
        lines = [f"{_games(self.played)}: {self._results(FIRST_MOVER, SECOND_MOVER, None)}"]
        for side, order in zip(_SIDES, ("first", "second"), strict=True):
            if played := sum(self._games[side, result] for result in _RESULTS):
                lines.append(f"moving {order}, {_games(played)}: {self._results(side)}")
        if self.cut_off:
            lines.append(f"cut off before their end: {self.cut_off}")
        if self._moves:
            lines.append(f"mean time a move: {self._seconds / self._moves:.3f} s")
        return "\n".join(lines)

    def _results(self, *sides: Side | None) -> str:
        counts = {result: sum(self._games[side, result] for side in sides) for result in _RESULTS}
        return ", ".join(
            f"{count} {result.value}"
            for result, count in counts.items()
            if count or result is not Result.LEFT
        )


def _games(count: int) -> str:
    return "1 game" if count == 1 else f"{count} games"


# While games are played.

FIRST = 5.0
"""Seconds after which the bot prints what it waits for."""
LATER = 60.0
"""Seconds between two reports of what the bot waits for. A wait for an opponent may take hours, and is
reported only once."""
_DISCS = "XO"
"""The discs of the first and of the second mover."""


class Screen:
    """The terminal."""

    def __init__(self, *, shows_games: bool) -> None:
        self._shows_games = shows_games
        self._line_is_open = False

    def tell(self, text: str) -> None:
        """Print a text without an end of line."""
        print(text, end="", flush=True)
        self._line_is_open = True

    def say(self, text: str) -> None:
        """Print a line, or lines."""
        if self._line_is_open:
            text = f"\n{text}"
        self._line_is_open = False
        print(text, flush=True)

    def warn(self, text: str) -> None:
        """Print a warning on stderr."""
        print(f"c4bot: {visible(text)}", file=sys.stderr, flush=True)

    def report(self, text: str) -> None:
        """Print lines for the author of an engine on stderr."""
        for line in text.splitlines():
            print(printable(line), file=sys.stderr, flush=True)

    def connected(self, place: str, name: str) -> None:
        """Print that the player is connected."""
        if self._shows_games:
            self.say(f"{printable(name)} is at {printable(place)} and waits for a game")

    def began(self, game: Began) -> None:
        """Print that a game began."""
        if self._shows_games:
            opponent = "" if game.opponent is None else f" against {printable(game.opponent)}"
            side = "" if game.side is None else f"; you are {disc(game.side)}"
            self.say(f"\na game begins{opponent}{side}")

    def position(self, board: Board) -> None:
        """Print a board."""
        if self._shows_games:
            self.say(f"\n{draw(board)}")

    def over(self, game: Over) -> None:
        """Print how a game ended."""
        if self._shows_games:
            side = "" if game.side is None else f", as {disc(game.side)}"
            why = f" ({printable(game.why)})" if game.why else ""
            self.say(f"\n{draw(game.board)}\n{game.result.value}{side}{why}")


class Phase(Enum):
    """A phase on the way to a game."""

    DIALLING = auto()
    """The bot waits for the server to accept the connection."""
    GREETING = auto()
    """The bot waits for the server's first message in the dialect."""
    LOOKING = auto()
    """The bot waits for an opponent."""


Words: TypeAlias = Mapping[Phase, str]
"""What c4bot waits for in each phase, and what may be wrong."""


class Waiting:
    """Watches how long the bot has been in a phase."""

    def __init__(self, words: Words, tell: Callable[[str], None], reason: str = "") -> None:
        """`reason` is why an opponent may take long to come; it is printed once."""
        self._words = words
        self._tell = tell
        self._reason = reason
        self._phase: Phase | None = None
        self._changed = trio.Event()

    def at(self, phase: Phase | None) -> None:
        """Enter a phase. Do nothing if the bot is already in it. `phase` is None while a game is on."""
        if phase is not self._phase:
            self._phase = phase
            self._changed.set()
            self._changed = trio.Event()

    async def run(self) -> None:
        """Print what the bot waits for, whenever that takes long. Runs until it is cancelled."""
        while True:
            phase, changed = self._phase, self._changed
            pause = math.inf if phase is None else FIRST
            while not changed.is_set():
                with trio.move_on_after(pause):
                    await changed.wait()
                if phase is Phase.LOOKING and not changed.is_set():
                    self._tell("; ".join(filter(None, (self._words[phase], self._reason))))
                    self._reason, pause = "", math.inf
                elif phase is not None and not changed.is_set():
                    self._tell(self._words[phase])
                    pause = LATER


def draw(board: Board) -> str:
    """Return a picture of the board, in lines. The last disc is in brackets."""
    cells = [[" . "] * COLUMNS for _ in range(ROWS)]
    for column, row, side in board.placed():
        cells[row][column] = f" {_DISCS[side]} "
    if board.moves:
        *_, (column, row, side) = board.placed()
        cells[row][column] = f"({_DISCS[side]})"
    numbers = "".join(f" {column} " for column in range(COLUMNS))
    return "\n".join([*("".join(row) for row in reversed(cells)), numbers])


def position(board: Board) -> str:
    """Return in one line the columns played so far, and whose turn it is."""
    columns = "".join(str(column) for column in board.moves) or "none"
    counted_from_1 = f" (position {position_string(board.moves)})" if board.moves else ""
    return f"columns so far: {columns}{counted_from_1}; to move: {disc(board.turn)}"


def disc(side: Side) -> str:
    """Return the letter of a side's discs, and whether it moves first."""
    return f"{_DISCS[side]}, moving {'second' if side else 'first'}"
