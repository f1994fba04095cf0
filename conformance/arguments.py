"""What the command lines of all subcommands have in common: words of one kind, and one line for a mistake.

Knows words, files and exit statuses, not what a subcommand does with them.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn


class UsageError(Exception):
    """The command line makes no sense; says why in one line."""


class Parser(argparse.ArgumentParser):
    """Raises UsageError where its model would exit."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message)


def seconds(text: str) -> float:
    """Return a finite number above 0."""
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 0 < found < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds above 0")
    return found


def count(text: str) -> int:
    """Return a whole number above 0."""
    if not (text.isascii() and text.isdecimal() and int(text)):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number above 0")
    return int(text)


def file(text: str) -> Path:
    """Return the path of a file that can be written, as far as its name tells."""
    path = Path(text)
    if path.is_dir() or not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"no file can be written at {text!r}")
    return path


def write(path: Path | None, text: str) -> None:
    """Write the file that was asked for, if one was. Raises UsageError."""
    if path is None:
        return
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None


def guarded(run: Callable[[Sequence[str]], int], argv: Sequence[str], *troubles: type[Exception]) -> int:
    """Run a command line; return its exit status: 1 after one of `troubles`, 2 after a UsageError."""
    try:
        return run(argv)
    except Exception as error:  # a nursery may have wrapped it; what is no trouble goes on
        cause = first_cause(error)
        if isinstance(cause, UsageError):
            print(f"conformance: {cause} (--help tells more)", file=sys.stderr)
            return 2
        if isinstance(cause, troubles):
            print(f"conformance: {cause}", file=sys.stderr)
            return 1
        raise


def first_cause(error: BaseException) -> BaseException:
    """Return the first of the errors that nurseries wrapped."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
