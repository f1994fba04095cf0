"""The commands on the file of protected names: ``c4gateway player add``, ``list`` and ``remove``.

Knows their options and how the file is changed. What a line of it means is in `accounts.py`. The rules it
keeps: a token is shown once, when it is made, and stored nowhere; and a reader of the file, such as a running
server, finds either the old file or the new one, whole.
"""

import argparse
import fcntl
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from gateway.game.commands import folded
from gateway.game.text import is_visible, quoted
from gateway.server.accounts import Account, digest_of, fault_of, new_token, read_accounts
from gateway.server.arguments import Parser, in_one_line, let_output_take_any_text

FILE = "c4gateway.players"
"""Where the names are, unless something else is given."""
LONGEST_NOTES = 1000
_HEADER = "# Protected names of c4gateway: name, hash of the token, notes, with tabs between them.\n"


def main(arguments: Sequence[str]) -> int:
    """Run one of the commands; return its exit status, 1 where something is wrong with the file or the name.

    130 after Ctrl-C.
    """
    options = _parser().parse_args(arguments)
    let_output_take_any_text()
    try:
        options.run(options)
        sys.stdout.flush()
    except (OSError, ValueError) as error:
        print(f"c4gateway: error: {in_one_line(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    return 0


def _parser() -> Parser:
    parser = Parser(
        prog="c4gateway player",
        description="Names that only a player with the right token may bear.",
        allow_abbrev=False,
    )
    words = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, run, text in (
        ("add", _add, "protect a name, and print its token, which is shown this once"),
        ("list", _list, "print the protected names and their notes"),
        ("remove", _remove, "protect a name no longer"),
    ):
        command = words.add_parser(name, help=text, description=text, allow_abbrev=False)
        if name != "list":
            command.add_argument("name", metavar="NAME", help="of the player; case makes no difference")
        if name == "add":
            command.add_argument("--notes", default="", metavar="TEXT", help="whose it is, for the operator")
        command.add_argument("--players", default=FILE, metavar="FILE", help=f"which file ({FILE})")
        command.set_defaults(run=run)
    return parser


def _add(options: argparse.Namespace) -> None:
    fault = fault_of(options.name) or _fault_of_notes(options.notes)
    if fault is not None:
        raise ValueError(f"{quoted(options.name)}: {fault}")
    token = new_token()
    account = Account(options.name, digest_of(token), options.notes)
    with _locked(options.players) as file:
        if folded(options.name) in _accounts(file):
            raise ValueError(f"{quoted(options.name)} is protected already; remove it first for a new token")
        _change(file, lambda lines: [*lines, f"{account.line}\n"])
    print(token)
    _hint(options.players)


def _list(options: argparse.Namespace) -> None:
    for account in read_accounts(options.players).values():
        print("\t".join([account.name, *([account.notes] if account.notes else [])]))


def _remove(options: argparse.Namespace) -> None:
    with _locked(options.players) as file:
        key = folded(options.name)
        if key not in read_accounts(file):
            raise ValueError(f"{quoted(options.name)} is not protected in {options.players}")
        _change(file, lambda lines: [line for line in lines if _key(line) != key])
    _hint(options.players)


def _key(line: str) -> str | None:
    """Return the folded name in a line of a file that could be read; None for a comment."""
    return None if line.startswith("#") else folded(line.partition("\t")[0])


def _hint(file: str) -> None:
    print(f"{file} is written; a running server reads it on SIGHUP", file=sys.stderr)


def _fault_of_notes(notes: str) -> str | None:
    if len(notes) > LONGEST_NOTES or notes != notes.strip() or not all(map(is_visible, notes)):
        return f"notes have at most {LONGEST_NOTES} visible characters, and no blanks around them"
    return None


def _accounts(file: str) -> dict[str, Account]:
    """Return the accounts of a file, none where there is no file yet."""
    try:
        return read_accounts(file)
    except FileNotFoundError:
        return {}


@contextmanager
def _locked(file: str) -> Iterator[str]:
    """Give the path of the file that is behind links, while no other such command changes it."""
    path = os.path.realpath(file)
    folder = os.open(os.path.dirname(path), os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield path
    finally:
        os.close(folder)


def _change(file: str, change: Callable[[list[str]], list[str]]) -> None:
    """Write what `change` makes of the lines of a file, by way of another file that takes its place."""
    lines, known = [_HEADER], None
    with suppress(FileNotFoundError), open(file, encoding="utf-8-sig", newline="\n") as old:
        lines, known = old.readlines(), os.fstat(old.fileno())
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    descriptor, path = tempfile.mkstemp(prefix=f".{os.path.basename(file)}.", dir=os.path.dirname(file))
    try:
        with open(descriptor, "w", encoding="utf-8", newline="") as new:
            if known is not None:
                os.fchmod(new.fileno(), known.st_mode & 0o777)
                with suppress(PermissionError):
                    os.fchown(new.fileno(), known.st_uid, known.st_gid)
            new.writelines(change(lines))
            new.flush()
            os.fsync(new.fileno())
        os.replace(path, file)
    except BaseException:
        os.unlink(path)
        raise
