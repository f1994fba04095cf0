"""Options that several commands have, and the values of options.

Must not know what a command does with them.
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
    """The command line makes no sense; says why in one line."""


class Parser(argparse.ArgumentParser):
    """Raises UsageError where its model would exit."""

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

        Each name has a docstring, whose first line --help shows.
        """
        names = partial(names_in, known=known)
        lines = _described({name: (doc or "").partition("\n")[0] for name, doc in known.items()})
        self.epilog = f"NAMES:\n{lines}"
        self.add_argument("--only", type=names, default=[*known], metavar="NAMES", help="only these")

    def seed(self) -> None:
        """Add `--seed`, a word for random numbers. The default differs each time."""
        text = "for the same lot once more"
        self.add_argument("--seed", default=os.urandom(4).hex(), metavar="WORD", help=text)

    def report(self) -> None:
        """Add `--json` and `--markdown`, the files for the report."""
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
    """Return the first word, which is one of the known names; None where only their list was asked for.

    Raises UsageError.
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


def write_json(path: Path | None, data: object) -> None:
    """Write a report for machines, if one was asked for. Raises UsageError."""
    write(path, json.dumps(data, indent=2, default=str) + "\n")


def names_in(text: str, known: Collection[str]) -> list[str]:
    """Return names that are separated by commas, each of which is known."""
    names = [word.strip() for word in text.split(",")]
    for name in names:
        if name not in known:
            raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(known)}")
    return names
