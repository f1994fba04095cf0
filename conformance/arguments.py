"""Options that several commands share, and the parsing of option values.

Must not know what a command does with an option.
"""

import argparse
import json
import os
import shlex
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from inspect import cleandoc
from pathlib import Path
from typing import NoReturn, Self


class UsageError(Exception):
    """The command line is invalid. The message says why, in one line."""


class Parser(argparse.ArgumentParser):
    """An ArgumentParser that raises UsageError instead of exiting on a usage error."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message)

    @classmethod
    def of(cls, command: str, *docs: str | None) -> Self:
        """Return the parser of a command, whose --help begins with these docstrings."""
        return cls(
            prog=f"conformance {command}",
            description="\n\n".join(cleandoc(doc) for doc in docs if doc),
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )

    def count(self, option: str, default: int, text: str) -> None:
        """Add an option for a whole number above 0."""
        self.add_argument(option, type=count, default=default, metavar="N", help=f"{text} ({default})")

    def seconds(self, option: str, default: float, text: str) -> None:
        """Add an option for a time in seconds, above 0."""
        help_ = f"{text} ({default:g})"
        self.add_argument(option, type=seconds, default=default, metavar="SECONDS", help=help_)

    def only(self, known: Mapping[str, str | None]) -> None:
        """Add `--only`: some of the known names, separated by commas. The default is all.

        `known` maps each name to a docstring. --help shows the first line of each.
        """
        names = partial(names_in, known=known)
        lines = _described({name: (doc or "").partition("\n")[0] for name, doc in known.items()})
        self.epilog = f"NAMES:\n{lines}"
        self.add_argument("--only", type=names, default=[*known], metavar="NAMES", help="only these")

    def seed(self) -> None:
        """Add `--seed`, a word that seeds the random numbers. The default is random."""
        text = "for the same lot once more"
        self.add_argument("--seed", default=os.urandom(4).hex(), metavar="WORD", help=text)

    def report(self) -> None:
        """Add `--json` and `--markdown`, the files to write the report to."""
        self.add_argument("--json", type=file, metavar="FILE", help="write a JSON report as well")
        self.add_argument("--markdown", type=file, metavar="FILE", help="write the table in Markdown as well")

    def server_options(self) -> None:
        """Add `--server-options`, further options for the gateway."""
        self.add_argument(
            "--server-options",
            type=shlex.split,
            default=[],
            metavar="WORDS",
            help="more options of the gateway",
        )


def choice(command: str, argv: Sequence[str], known: Mapping[str, str]) -> str | None:
    """Return the first word, which must be a known name; print the names and return None for --help.

    Raises UsageError for any other word, and for an empty command line.
    """
    if argv and argv[0] in known:
        return argv[0]
    help_ = f"python -m conformance {command} NAME [options], where NAME is\n{_described(known)}"
    if [*argv] not in (["-h"], ["--help"]):
        raise UsageError(help_)
    print(help_)
    return None


def _described(known: Mapping[str, str]) -> str:
    width = max(map(len, known)) + 2
    return "\n".join(f"  {name:{width}}{text}".rstrip() for name, text in known.items())


def seconds(text: str) -> float:
    """Parse a number of seconds: finite and above 0. Raises ArgumentTypeError."""
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 0 < found < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds above 0")
    return found


def count(text: str) -> int:
    """Parse a whole number above 0. Raises ArgumentTypeError."""
    if not (text.isascii() and text.isdecimal() and int(text)):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number above 0")
    return int(text)


def file(text: str) -> Path:
    """Parse the path of an output file. Raises ArgumentTypeError if no file can be written there."""
    path = Path(text)
    if path.is_dir() or not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"no file can be written at {text!r}")
    return path


def write(path: Path | None, text: str) -> None:
    """Write a text file, unless `path` is None. Raises UsageError if the file cannot be written."""
    if path is None:
        return
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None


def write_json(path: Path | None, data: object) -> None:
    """Write data as JSON, unless `path` is None. Raises UsageError if the file cannot be written."""
    write(path, json.dumps(data, indent=2, default=str) + "\n")


def names_in(text: str, known: Collection[str]) -> list[str]:
    """Parse names separated by commas. Raises ArgumentTypeError for a name that is not in `known`."""
    names = [word.strip() for word in text.split(",")]
    for name in names:
        if name not in known:
            raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(known)}")
    return names
