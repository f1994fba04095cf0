"""The operator's commands on names and bans: ``c4gateway player``, ``ban`` and ``unban``.

Knows the options and the files that these commands change; `accounts.py` and `bans.py` know the lines of the
files. A token is shown once, when it is created, and is never stored.
"""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from gateway.access.accounts import Account, digest_of, fault_of, names_file, new_token, read_accounts
from gateway.access.bans import ban, bans_file, fault_of_notes, target, unban, words
from gateway.access.lookalikes import Lookalikes
from gateway.access.tablefile import audited
from gateway.commands.admin import Dialects, NoServerError, OnServer, finish, players, server_of, serving_url
from gateway.game.commands import folded
from gateway.game.text import did_you_mean, quoted
from gateway.options.kinds import FILE, Kind
from gateway.options.names import AUDIT, DATABASE, PLAYERS_FILE, beside
from gateway.options.table import Command, Parser, argument, option, run, variable
from gateway.options.terminal import exit_status, write_out
from gateway.server.acts import Outcome

_FILE_HELP = f"the file of protected names ({PLAYERS_FILE} beside the database); bans are in FILE.bans"
_NOTES = Kind(str, "TEXT")

# These classes have no slots, because `_OnBans` has two bases, and only one of them may have slots.


@dataclass(frozen=True, kw_only=True)
class OnNames:
    """The option for the file of protected names. The file of bans is in the same folder."""

    players: str | None = option(_FILE_HELP, FILE)

    @property
    def file(self) -> str:
        """The path of the file: that of the option, or that in the environment, or the default path."""
        usual = beside(os.environ.get(variable("db"), DATABASE), PLAYERS_FILE)
        return os.environ.get(variable("players"), usual) if self.players is None else self.players


@dataclass(frozen=True, kw_only=True)
class _Change(OnNames):
    who: str = argument("case makes no difference", Kind(str, "NAME"))
    audit: str = option("where to log the change", FILE, AUDIT)


@dataclass(frozen=True, kw_only=True)
class _Add(_Change):
    help: ClassVar = "protect a name, and print its token, which is shown this once"

    notes: str = option("for the operator", _NOTES, "", default_text="")

    def run(self) -> Iterator[str]:
        name, file = self.who, self.file
        fault = fault_of(name) or fault_of_notes(self.notes)
        if fault is not None:
            raise ValueError(f"{quoted(name)}: {fault}")
        token = new_token()
        account = Account(name, digest_of(token), self.notes)
        lookalikes = Lookalikes()
        names = names_file(file, is_optional=True)
        with audited(self.audit, "player add", name), names.locked() as table:  # lock in this order
            known = read_accounts(table)
            for each in known.values():
                lookalikes.add(each.name)
            if folded(name) in known:
                raise ValueError(f"{quoted(name)} is protected already; remove it first for a new token")
            table.add(account.line)
        yield f"{token}\n"
        like = lookalikes.like(name, folded(name))
        if like is not None:
            print(
                f"warning: {quoted(name)} looks like {quoted(like)}, which is protected too", file=sys.stderr
            )
        say_written(file)


class _List(OnNames):
    help: ClassVar = "print the protected names and their notes"

    def run(self) -> Iterator[str]:
        for account in read_accounts(names_file(self.file)).values():
            yield "\t".join([account.name, *([account.notes] if account.notes else [])]) + "\n"


class _Remove(_Change):
    help: ClassVar = "protect a name no longer"

    def run(self) -> Iterator[str]:
        key, file = folded(self.who), self.file
        with audited(self.audit, "player remove", self.who), names_file(file).locked() as table:
            known = read_accounts(table)
            if key not in known:
                similar = did_you_mean(self.who, [each.name for each in known.values()])
                raise ValueError(f"{quoted(self.who)} is not protected in {file}{similar}")
            table.remove(known[key])
        if len(known) == 1:
            no_names = f"{file} has no names now; a running server keeps the old one until a restart"
            print(no_names, file=sys.stderr)
        else:
            say_written(file)
        yield from ()


@dataclass(frozen=True, kw_only=True)
class _OnBans(OnServer, _Change):
    """A command that asks a running server; if no server runs, or with ``--players``, it changes the file."""

    who: str = argument("case makes no difference", Kind(str, "NAME|ADDRESS|CIDR"))
    players: str | None = option(f"{_FILE_HELP}; with this option a running server is not asked", FILE)

    def ask(self, act: str, notes: str, dialects: Dialects) -> Outcome | None:
        """Ask the running server; return its answer, or None if no server runs here or with ``--players``.

        Raises ValueError if nothing was changed, and OSError if the server did not carry out the act.
        """
        if self.players is not None:
            return None
        _, name = words(target(self.who))
        try:
            outcome = server_of(self, dialects).ask(f"/api/admin/{act}", {"who": name, "notes": notes})
        except (FileNotFoundError, NoServerError) as error:
            if self.url is not None or self.token_file is not None:
                raise
            if isinstance(error, NoServerError):
                print(f"{error}; only the file is changed", file=sys.stderr)
            elif (url := serving_url(self, dialects)) is not None:
                hint = "--players FILE changes a file"
                raise OSError(f"a server answers at {url}, but {error}; {hint}") from error
            return None
        if not outcome["changed"]:
            raise ValueError(f"{quoted(name)} is {'banned already' if act == 'ban' else 'not banned'}")
        return outcome


@dataclass(frozen=True, kw_only=True)
class _Ban(_OnBans):
    help: ClassVar = "no longer let in a name, an address or a network"

    notes: str = option("for the operator", _NOTES, "", default_text="")

    def run(self, dialects: Dialects) -> int:
        who = target(self.who)
        kind, name = words(who)
        if (outcome := self.ask("ban", self.notes, dialects)) is not None:
            hung_up = f"; {players(outcome['kicked'])} hung up on" if outcome.get("kicked") else ""
            print(f"the {kind} {quoted(name)} is banned{hung_up}", file=sys.stderr)
            return finish(outcome)
        table = bans_file(self.file)
        with audited(self.audit, "ban", kind, name):
            if not ban(table, who, self.notes):
                raise ValueError(f"{quoted(name)} is banned already")
            if not os.path.exists(self.file):  # a server with --players needs the file to start
                with names_file(self.file).locked() as names:
                    names.rewrite(list)
        print(
            f"the {kind} {quoted(name)} is banned", file=sys.stderr
        )  # the kind shows whether a mistyped address became a name
        say_written(table.path)
        return 0


class _Unban(_OnBans):
    help: ClassVar = "let it in again"

    def run(self, dialects: Dialects) -> int:
        who = target(self.who)
        kind, name = words(who)
        if (outcome := self.ask("unban", "", dialects)) is not None:
            print(f"the {kind} {quoted(name)} is let in again", file=sys.stderr)
            return finish(outcome)
        table = bans_file(self.file)
        with audited(self.audit, "unban", kind, name):
            if not unban(table, who):
                similar = did_you_mean(name, [words(each)[1] for each in table.rows()])
                raise ValueError(f"{quoted(name)} is not banned in {table.path}{similar}")
        say_written(table.path)
        return 0


def say_written(file: str) -> None:
    """Say on stderr that a file of names or bans was written, and when a server reads it."""
    print(f"{os.path.abspath(file)} is written; a running server reads it on SIGHUP", file=sys.stderr)


PLAYER_COMMANDS: Mapping[str, type[Command[[], Iterator[str]]]] = {
    "add": _Add,
    "list": _List,
    "remove": _Remove,
}
BAN_COMMANDS: Mapping[str, type[Command[[Dialects], int]]] = {"ban": _Ban, "unban": _Unban}


def main(arguments: Sequence[str], dialects: Dialects) -> int:
    """Run one of the commands; return its exit status: 0, 1 after OSError or ValueError, 130 after Ctrl-C."""
    if arguments[0] == "player":
        parser = Parser("c4gateway player", "names that only a player with the right token may bear")
        return exit_status(lambda: write_out(run(parser, PLAYER_COMMANDS, arguments[1:])), ValueError)
    return exit_status(lambda: run(Parser("c4gateway"), BAN_COMMANDS, arguments, dialects), ValueError)
