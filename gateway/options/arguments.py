"""What the commands have in common: numbers and dialects as options, wrong options, and standard output."""

import argparse
import io
import math
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from gateway.options.command_names import masked

if TYPE_CHECKING:
    from gateway.runtime.listening import Sockets


class Options(argparse.Namespace):
    """The options of a server, as argparse has them, and what it is given besides."""

    sockets: "Sockets"
    """Those that another program handed over."""


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, and exits with status 2."""

    as_json = False
    """Whether that line is a JSON object."""

    def error(self, message: str) -> NoReturn:
        """Exit with status 2 after a line on stderr."""
        line = masked(" ".join(message.splitlines()))
        line = f"{line} (see {self.prog} --help)"
        if self.as_json:
            from gateway.runtime.json_stderr import complain  # noqa: PLC0415  hardly ever needed

            complain(line, as_json=True)
            self.exit(2)
        self.exit(2, f"{self.prog}: error: {line}\n")


def no_options(_: argparse._ArgumentGroup) -> None:
    """Add no option."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """A dialect, as options and help texts present it."""

    name: str
    """Its name in logs, in start lines and for c4bot."""
    title: str
    """Its name in a sentence about the server, with what carries it."""
    bots: str
    """The help for the option that opens a port for its bots."""
    option: str
    """That option without its dashes; c4bot takes it as a name of the dialect, too."""
    port: int
    """The port where none is given."""
    rules: frozenset[str] = frozenset()
    """The rules of play that concern its players, as their options are called, such as ``clock``."""
    add_options: Callable[[argparse._ArgumentGroup], None] = no_options
    """Adds the options that concern no other dialect."""


def spelled_out(arguments: Sequence[str] | None) -> Sequence[str]:
    """Return a command line, the program's own for None, with the words `help` and `version` as options."""
    match sys.argv[1:] if arguments is None else arguments:
        case ["version", *others]:
            return ["--version", *others]
        case ["help", *command]:
            return [*command, "--help"]
        case given:
            return given


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


def listed(words: Sequence[str], conjunction: str) -> str:
    """Return words as a sentence lists them, such as ``a, b or c``; nothing where there are none."""
    others, last = ", ".join(words[:-1]), "".join(words[-1:])
    return f"{others} {conjunction} {last}" if others else last


def let_output_take_any_text() -> None:
    """Let standard output take any text: it writes an escape for a character that its encoding lacks."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def write_out(pieces: Iterable[str]) -> None:
    """Write text as it comes to standard output, for as long as anybody reads it.

    Raises OSError where it cannot be written.
    """
    if sys.stdout is None:
        raise OSError("standard output is closed")
    let_output_take_any_text()
    try:
        for piece in pieces:
            sys.stdout.write(piece)
        sys.stdout.flush()
    except BrokenPipeError:  # as when piped into `head`
        _say_no_more()
    except KeyboardInterrupt:
        _say_no_more()
        raise
    except OSError:
        try:
            sys.stdout.flush()
        except OSError:
            _say_no_more()
        raise


def _say_no_more() -> None:
    """Let what is still to be written go nowhere: the interpreter would try again at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def in_one_line(error: BaseException) -> str:
    """Return what an error says, as one line; of a group, what the first of its errors says."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    text = str(error)
    if isinstance(error, OSError) and error.filename is not None:
        text = f"{error.filename}: {error.strerror}"
    return " ".join(text.split())
