"""What the terminal is told while the bot runs.

The only module that prints. What a server says is shown with an escape for whatever nobody would see. Where
nobody wants to watch, only warnings are printed; these go to stderr.
"""

import sys

from adapters.bot.drawing import disc, draw
from adapters.bot.news import Began, Over
from gateway.game.board import Board
from gateway.game.text import printable, visible


class Screen:
    """The terminal."""

    def __init__(self, *, shows_games: bool) -> None:
        self._shows_games = shows_games
        self._line_is_open = False

    def tell(self, text: str) -> None:
        """Show a text and stay behind it."""
        print(text, end="", flush=True)
        self._line_is_open = True

    def say(self, text: str) -> None:
        """Show a line, or lines."""
        if self._line_is_open:
            text = f"\n{text}"
        self._line_is_open = False
        print(text, flush=True)

    def warn(self, text: str) -> None:
        """Say on stderr what should not have happened."""
        print(f"c4bot: {visible(text)}", file=sys.stderr, flush=True)

    def report(self, text: str) -> None:
        """Show on stderr lines that are for whoever wrote an engine."""
        for line in text.splitlines():
            print(printable(line), file=sys.stderr, flush=True)

    def connected(self, place: str, name: str) -> None:
        """Say that there is a server."""
        if self._shows_games:
            self.say(f"{printable(name)} is at {printable(place)} and waits for a game")

    def began(self, game: Began) -> None:
        """Say that a game began."""
        if self._shows_games:
            opponent = "" if game.opponent is None else f" against {printable(game.opponent)}"
            side = "" if game.side is None else f"; you are {disc(game.side)}"
            self.say(f"\na game begins{opponent}{side}")

    def position(self, board: Board) -> None:
        """Show a board."""
        if self._shows_games:
            self.say(f"\n{draw(board)}")

    def over(self, game: Over) -> None:
        """Say how a game ended."""
        if self._shows_games:
            side = "" if game.side is None else f", as {disc(game.side)}"
            why = f" ({printable(game.why)})" if game.why else ""
            self.say(f"\n{draw(game.board)}\n{game.result.value}{side}{why}")
