"""Shows how a match stands: a table that is redrawn on a terminal; elsewhere, a line from time to time.

Messages about players are printed above the table, and stay.
"""

import shutil
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TextIO

import trio

PERIOD = 1.0
"""Seconds between two tables on a terminal."""
SELDOM = 30.0
"""Seconds between two lines where the output is no terminal."""
_LEAST = 5
"""Lines of a table that are always shown."""


class Screen:
    """The output while games go on."""

    def __init__(
        self, lines: Callable[[], Awaitable[Sequence[str]]], line: Callable[[], str], out: TextIO
    ) -> None:
        """`lines` computes the table. `line` returns a summary in one line."""
        self._lines = lines
        self._line = line
        self._out = out
        self._drawn: Sequence[str] = ()

    def tell(self, text: str) -> None:
        """Print a line that stays."""
        self._draw(self._drawn, f"{time.strftime('%H:%M:%S')} {text}\n")

    async def run(self) -> None:
        """Print the state of the match again and again, until cancelled; then clear the table."""
        try:
            while True:
                if self._out.isatty():
                    await trio.sleep(PERIOD)
                    self._draw(await self._lines())
                else:
                    await trio.sleep(SELDOM)
                    self._out.write(f"{self._line()}\n")
                    self._out.flush()
        finally:
            self._draw(())

    def _draw(self, lines: Sequence[str], above: str = "") -> None:
        """Replace the table by `lines`, and print the text `above` over the table. The text stays.

        Each line is cut to the terminal's width. Lines that have scrolled off the top of the screen cannot be
        cleared, so a long table is shown in part.
        """
        room = max(_LEAST, shutil.get_terminal_size().lines - 1)
        if len(lines) > room:
            lines = [*lines[: room - 3], "...", *lines[-2:]]
        cleared = f"\x1b[{len(self._drawn)}F\x1b[J" if self._drawn else ""
        self._out.write(cleared + above + "".join(f"\x1b[?7l{line}\x1b[?7h\n" for line in lines))
        self._out.flush()
        self._drawn = lines
