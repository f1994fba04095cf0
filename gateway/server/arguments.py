"""What the commands have in common: how a number is read, what is said of a wrong one, and how it is said."""

import argparse
import io
import math
import sys
from collections.abc import Callable
from typing import NoReturn


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, and exits with status 2."""

    def error(self, message: str) -> NoReturn:
        """Exit with status 2 after a line on stderr."""
        line = " ".join(message.splitlines())
        self.exit(2, f"{self.prog}: error: {line} (see {self.prog} --help)\n")


def number(kind: Callable[[str], float], least: float, most: float) -> Callable[[str], float]:
    """Return what reads a number from `least` to `most`."""

    def read(text: str) -> float:
        try:
            value = kind(text)
        except ValueError:
            value = math.nan
        if not least <= value <= most:
            what = "a whole number" if kind is int else "a number"
            raise argparse.ArgumentTypeError(f"{text!r} is not {what} from {least:g} to {most:g}")
        return value

    return read


def let_output_take_any_text() -> None:
    """Write an escape on standard output for a character that its encoding has not, instead of failing."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def in_one_line(error: BaseException) -> str:
    """Return what an error says, as one line; of a group, what the first of them says."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return " ".join(str(error).split())
