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

from gateway.access.accounts import Account, bans_beside, digest_of, fault_of, new_token, read_accounts
from gateway.access.bans import ban, banned, fault_of_notes, target, unban
from gateway.access.linefile import audited, locked, rewrite
from gateway.access.lookalikes import Lookalikes
from gateway.commands.admin import NoServerError, OnServer, finish, players, server_of, serving_url
from gateway.game.commands import folded
from gateway.game.text import did_you_mean, quoted
from gateway.options.description import Description
from gateway.options.names import AUDIT, DATABASE, PLAYERS_FILE, beside
from gateway.options.table import Command, Parser, option, run, variable
from gateway.options.terminal import in_one_line, write_out
from gateway.server.acts import Outcome

_PLAYERS = "# Protected names of c4gateway: name, hash of the token, notes, with tabs between them.\n"


@dataclass(frozen=True, kw_only=True)
class _OnFile:
    """Which file of protected names; bans are in another one beside it."""

    players: str | None = option(
        f"the file of protected names ({PLAYERS_FILE} beside the database); bans are in FILE.bans", "FILE"
    )

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
class _Unban(OnServer, _Change):
    """A running server is asked first; where there is none, or a file is named, the file is changed."""

    who: str = option("case makes no difference", "NAME|ADDRESS|CIDR", is_positional=True, is_required=True)
    players: str | None = option(
        f"the file of protected names ({PLAYERS_FILE} beside the database); bans are in FILE.bans; with this"
        " option a running server is not asked",
        "FILE",
    )


@dataclass(frozen=True, kw_only=True)
class _Ban(_Unban):
    notes: str = option("for the operator", "TEXT", default="", default_text="")


def main(arguments: Sequence[str], dialects: Sequence[Description]) -> int:
    """Run one of the commands; return its exit status, 1 where something is wrong with a file or a name.

    130 after Ctrl-C.
    """
    try:
        if arguments[0] == "player":
            parser = Parser("c4gateway player", "names that only a player with the right token may bear")
            write_out(run(parser, PLAYER_COMMANDS, arguments[1:]))
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
    with audited(options.audit, "player add", name), locked(file) as path:  # in this order, as all do
        known = _accounts(path)
        for each in known.values():
            lookalikes.add(each.name)
        if folded(name) in known:
            raise ValueError(f"{quoted(name)} is protected already; remove it first for a new token")
        rewrite(path, _PLAYERS, lambda lines: [*lines, f"{account.line}\n"])
    yield f"{token}\n"
    like = lookalikes.like(name, folded(name))
    if like is not None:
        print(f"warning: {quoted(name)} looks like {quoted(like)}, which is protected too", file=sys.stderr)
    _hint(file)


def _list(options: _OnFile) -> Iterator[str]:
    for account in read_accounts(options.file).values():
        yield "\t".join([account.name, *([account.notes] if account.notes else [])]) + "\n"


def _remove(options: _Change) -> Iterator[str]:
    key, file = folded(options.who), options.file
    with audited(options.audit, "player remove", options.who), locked(file) as path:
        known = read_accounts(path)
        if key not in known:
            similar = did_you_mean(options.who, [each.name for each in known.values()])
            raise ValueError(f"{quoted(options.who)} is not protected in {file}{similar}")
        rewrite(path, _PLAYERS, lambda lines: [line for line in lines if _key(line) != key])
    if len(known) == 1:
        print(f"{file} has no names now; a running server keeps the old one until a restart", file=sys.stderr)
    else:
        _hint(file)
    return iter(())


def _ban(options: _Ban, dialects: Sequence[Description]) -> int:
    who = target(options.who)
    if (found := _asked(options, "ban", {"who": who[1], "notes": options.notes}, dialects)) is not None:
        if not found["changed"]:
            raise ValueError(f"{quoted(who[1])} is banned already")
        hung_up = f"; {players(found['kicked'])} hung up on" if found.get("kicked") else ""
        print(f"the {who[0]} {quoted(who[1])} is banned{hung_up}", file=sys.stderr)
        return finish(found)
    file = bans_beside(options.file)
    with audited(options.audit, "ban", *who):
        if not ban(file, who, options.notes):
            raise ValueError(f"{quoted(who[1])} is banned already")
        if not os.path.exists(options.file):  # without which a server with --players does not start
            with locked(options.file) as path:
                rewrite(path, _PLAYERS, list)
    print(f"the {who[0]} {quoted(who[1])} is banned", file=sys.stderr)  # an address with a slip is a name
    _hint(file)
    return 0


def _unban(options: _Unban, dialects: Sequence[Description]) -> int:
    who = target(options.who)
    if (found := _asked(options, "unban", {"who": who[1]}, dialects)) is not None:
        if not found["changed"]:
            raise ValueError(f"{quoted(who[1])} is not banned")
        print(f"the {who[0]} {quoted(who[1])} is let in again", file=sys.stderr)
        return finish(found)
    file = bans_beside(options.file)
    with audited(options.audit, "unban", *who):
        if not unban(file, who):
            similar = did_you_mean(who[1], [each[1] for each in banned(file) if each])
            raise ValueError(f"{quoted(who[1])} is not banned in {file}{similar}")
    _hint(file)
    return 0


def _asked(
    options: _Unban, act: str, about: Mapping[str, str], dialects: Sequence[Description]
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


def _accounts(file: str) -> dict[str, Account]:
    """Return the accounts of a file, none where there is no file yet."""
    try:
        return read_accounts(file)
    except FileNotFoundError:
        return {}


def _key(line: str) -> str | None:
    """Return the folded name in a line of a file that could be read; None for a comment."""
    return None if line.startswith("#") else folded(line.partition("\t")[0])


PLAYER_COMMANDS: Sequence[Command[Any, [], Iterator[str]]] = (
    Command("add", "protect a name, and print its token, which is shown this once", _Add, _add),
    Command("list", "print the protected names and their notes", _OnFile, _list),
    Command("remove", "protect a name no longer", _Change, _remove),
)
BAN_COMMANDS: Sequence[Command[Any, [Sequence[Description]], int]] = (
    Command("ban", "no longer let in a name, an address or a network", _Ban, _ban),
    Command("unban", "let it in again", _Unban, _unban),
)
