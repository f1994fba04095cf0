"""The operator's commands on who may play: ``c4gateway player``, ``ban`` and ``unban``.

Knows their options, and the files that they change. What a line of these means is in `accounts.py` and
`bans.py`. The rule it keeps: a token is shown once, when it is made, and stored nowhere.
"""

import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gateway.access.accounts import Account, digest_of, fault_of, names_file, new_token, read_accounts
from gateway.access.bans import ban, bans_file, fault_of_notes, target, unban, words
from gateway.access.lookalikes import Lookalikes
from gateway.access.tablefile import audited
from gateway.commands.admin import NoServerError, OnServer, finish, players, server_of, serving_url
from gateway.game.commands import folded
from gateway.game.text import did_you_mean, quoted
from gateway.options.description import Description
from gateway.options.names import AUDIT, DATABASE, PLAYERS_FILE, beside
from gateway.options.table import Command, Parser, option, run, variable
from gateway.options.terminal import in_one_line, write_out
from gateway.server.acts import Outcome

_FILE_HELP = f"the file of protected names ({PLAYERS_FILE} beside the database); bans are in FILE.bans"

# These have no slots: _OnBans has two bases, and only one of them may have some.


@dataclass(frozen=True, kw_only=True)
class _OnFile:
    """Which file of protected names; bans are in another one beside it."""

    players: str | None = option(_FILE_HELP, "FILE")

    @property
    def file(self) -> str:
        """The file that is meant: the one that is given, here or in the environment, or the usual one."""
        usual = beside(os.environ.get(variable("db"), DATABASE), PLAYERS_FILE)
        return os.environ.get(variable("players"), usual) if self.players is None else self.players


@dataclass(frozen=True, kw_only=True)
class _Change(_OnFile):
    who: str = option("case makes no difference", "NAME", is_positional=True, is_required=True)
    audit: str = option("where to log the change", "FILE", default=AUDIT)


@dataclass(frozen=True, kw_only=True)
class _Add(_Change):
    notes: str = option("for the operator", "TEXT", default="", default_text="")


@dataclass(frozen=True, kw_only=True)
class _OnBans(OnServer, _Change):
    """A running server is asked first; where there is none, or a file is named, the file is changed."""

    who: str = option("case makes no difference", "NAME|ADDRESS|CIDR", is_positional=True, is_required=True)
    players: str | None = option(f"{_FILE_HELP}; with this option a running server is not asked", "FILE")


@dataclass(frozen=True, kw_only=True)
class _Ban(_OnBans):
    notes: str = option("for the operator", "TEXT", default="", default_text="")


def main(arguments: Sequence[str], dialects: Sequence[Description]) -> int:
    """Run one of the commands; return its exit status, 1 where something is wrong with a file or a name.

    130 after Ctrl-C.
    """
    try:
        if arguments[0] == "player":
            parser = Parser("c4gateway player", "names that only a player with the right token may bear")
            if (lines := run(parser, PLAYER_COMMANDS, arguments[1:])) is not None:
                write_out(lines)
            return 0
        return run(Parser("c4gateway"), BAN_COMMANDS, arguments, dialects)
    except (OSError, ValueError) as error:
        print(f"c4gateway: error: {in_one_line(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


def _add(options: _Add) -> Iterator[str]:
    name, file = options.who, options.file
    fault = fault_of(name) or fault_of_notes(options.notes)
    if fault is not None:
        raise ValueError(f"{quoted(name)}: {fault}")
    token = new_token()
    account = Account(name, digest_of(token), options.notes)
    lookalikes = Lookalikes()
    names = names_file(file, is_optional=True)
    with audited(options.audit, "player add", name), names.locked() as table:  # in this order, as all do
        known = read_accounts(table)
        for each in known.values():
            lookalikes.add(each.name)
        if folded(name) in known:
            raise ValueError(f"{quoted(name)} is protected already; remove it first for a new token")
        table.add(account.line)
    yield f"{token}\n"
    like = lookalikes.like(name, folded(name))
    if like is not None:
        print(f"warning: {quoted(name)} looks like {quoted(like)}, which is protected too", file=sys.stderr)
    _hint(file)


def _list(options: _OnFile) -> Iterator[str]:
    for account in read_accounts(names_file(options.file)).values():
        yield "\t".join([account.name, *([account.notes] if account.notes else [])]) + "\n"


def _remove(options: _Change) -> None:
    key, file = folded(options.who), options.file
    with audited(options.audit, "player remove", options.who), names_file(file).locked() as table:
        known = read_accounts(table)
        if key not in known:
            similar = did_you_mean(options.who, [each.name for each in known.values()])
            raise ValueError(f"{quoted(options.who)} is not protected in {file}{similar}")
        table.remove(known[key])
    if len(known) == 1:
        print(f"{file} has no names now; a running server keeps the old one until a restart", file=sys.stderr)
    else:
        _hint(file)


def _ban(options: _Ban, dialects: Sequence[Description]) -> int:
    who = target(options.who)
    kind, name = words(who)
    if (found := _asked(options, "ban", {"who": name, "notes": options.notes}, dialects)) is not None:
        if not found["changed"]:
            raise ValueError(f"{quoted(name)} is banned already")
        hung_up = f"; {players(found['kicked'])} hung up on" if found.get("kicked") else ""
        print(f"the {kind} {quoted(name)} is banned{hung_up}", file=sys.stderr)
        return finish(found)
    table = bans_file(options.file)
    with audited(options.audit, "ban", kind, name):
        if not ban(table, who, options.notes):
            raise ValueError(f"{quoted(name)} is banned already")
        if not os.path.exists(options.file):  # without which a server with --players does not start
            with names_file(options.file).locked() as names:
                names.rewrite(list)
    print(f"the {kind} {quoted(name)} is banned", file=sys.stderr)  # an address with a slip is a name
    _hint(table.path)
    return 0


def _unban(options: _OnBans, dialects: Sequence[Description]) -> int:
    who = target(options.who)
    kind, name = words(who)
    if (found := _asked(options, "unban", {"who": name}, dialects)) is not None:
        if not found["changed"]:
            raise ValueError(f"{quoted(name)} is not banned")
        print(f"the {kind} {quoted(name)} is let in again", file=sys.stderr)
        return finish(found)
    table = bans_file(options.file)
    with audited(options.audit, "unban", kind, name):
        if not unban(table, who):
            similar = did_you_mean(name, [words(each)[1] for each in table.rows()])
            raise ValueError(f"{quoted(name)} is not banned in {table.path}{similar}")
    _hint(table.path)
    return 0


def _asked(
    options: _OnBans, act: str, about: Mapping[str, str], dialects: Sequence[Description]
) -> Outcome | None:
    """Let the running server do it; return the answer, None where a file is named or no server runs here.

    Raises OSError.
    """
    if options.players is not None:
        return None
    try:
        return server_of(options, dialects).ask(f"/api/admin/{act}", about)
    except (FileNotFoundError, NoServerError) as error:
        if options.url is not None or options.token_file is not None:
            raise
        if not isinstance(error, NoServerError) and (url := serving_url(options, dialects)) is not None:
            raise OSError(f"a server answers at {url}, but {error}; --players FILE changes a file") from error
        if isinstance(error, NoServerError):
            print(f"{error}; only the file is changed", file=sys.stderr)
        return None


def _hint(file: str) -> None:
    print(f"{os.path.abspath(file)} is written; a running server reads it on SIGHUP", file=sys.stderr)


PLAYER_COMMANDS: Sequence[Command[Any, [], Iterator[str] | None]] = (
    Command("add", "protect a name, and print its token, which is shown this once", _Add, _add),
    Command("list", "print the protected names and their notes", _OnFile, _list),
    Command("remove", "protect a name no longer", _Change, _remove),
)
BAN_COMMANDS: Sequence[Command[Any, [Sequence[Description]], int]] = (
    Command("ban", "no longer let in a name, an address or a network", _Ban, _ban),
    Command("unban", "let it in again", _OnBans, _unban),
)
