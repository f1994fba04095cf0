"""The operator's commands on who may play: ``c4gateway player``, ``ban`` and ``unban``.

Knows their options, and the files that they change. What a line of these means is in `accounts.py` and
`bans.py`. The rule it keeps: a token is shown once, when it is made, and stored nowhere.
"""

import argparse
import os
import signal
import sys
from collections.abc import Iterator, Sequence

from gateway.access.accounts import Account, bans_beside, digest_of, fault_of, new_token, read_accounts
from gateway.access.bans import ban, banned, fault_of_notes, target, unban
from gateway.access.linefile import audited, locked, rewrite
from gateway.access.lookalikes import Lookalikes
from gateway.commands.admin import NoServerError, add_options, finish, players, server_of, serving_url
from gateway.game.commands import folded
from gateway.game.text import did_you_mean, quoted
from gateway.options.arguments import Description, Parser, in_one_line, write_out
from gateway.options.command_names import AUDIT, DATABASE, PLAYERS_FILE, beside
from gateway.options.settings import variable
from gateway.server.acts import Outcome

_PLAYERS = "# Protected names of c4gateway: name, hash of the token, notes, with tabs between them.\n"


def main(arguments: Sequence[str], dialects: Sequence[Description]) -> int:
    """Run one of the commands; return its exit status, 1 where something is wrong with a file or a name.

    130 after Ctrl-C.
    """
    options = _parser().parse_args(arguments)
    try:
        if options.players is None:
            beside_db = beside(os.environ.get(variable("db"), DATABASE), PLAYERS_FILE)
            options.players = os.environ.get(variable("players"), beside_db)
            if options.act and (found := _asked(options, dialects)) is not None:
                return finish(found)
        if text := options.run(options):
            write_out(text)
    except (OSError, ValueError) as error:
        print(f"c4gateway: error: {in_one_line(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    return 0


def _parser() -> Parser:
    parser = Parser(prog="c4gateway", allow_abbrev=False)
    words = parser.add_subparsers(required=True, metavar="COMMAND")
    text = "names that only a player with the right token may bear"
    player = words.add_parser("player", help=text, description=text, allow_abbrev=False)
    player_words = player.add_subparsers(required=True, metavar="COMMAND")
    for group, name, who, run, text in (
        (player_words, "add", "NAME", _add, "protect a name, and print its token, which is shown this once"),
        (player_words, "list", "", _list, "print the protected names and their notes"),
        (player_words, "remove", "NAME", _remove, "protect a name no longer"),
        (words, "ban", "NAME|ADDRESS|CIDR", _ban, "no longer let in a name, an address or a network"),
        (words, "unban", "NAME|ADDRESS|CIDR", _unban, "let it in again"),
    ):
        command = group.add_parser(name, help=text, description=text, allow_abbrev=False)
        if who:
            command.add_argument("who", metavar=who, help="case makes no difference")
            command.add_argument(
                "--audit", default=AUDIT, metavar="FILE", help=f"where to log the change ({AUDIT})"
            )
        if name in ("add", "ban"):
            command.add_argument("--notes", default="", metavar="TEXT", help="for the operator")
        command.add_argument(
            "--players",
            metavar="FILE",
            help=f"the file of protected names ({PLAYERS_FILE} beside the database); bans are in FILE.bans"
            + ("; with this option a running server is not asked" if group is words else ""),
        )
        command.set_defaults(run=run, act=name if group is words else None)
        if group is words:
            add_options(command)
    return parser


def _add(options: argparse.Namespace) -> Iterator[str]:
    name, file = options.who, options.players
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


def _list(options: argparse.Namespace) -> Iterator[str]:
    for account in read_accounts(options.players).values():
        yield "\t".join([account.name, *([account.notes] if account.notes else [])]) + "\n"


def _remove(options: argparse.Namespace) -> None:
    key, file = folded(options.who), options.players
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


def _asked(options: argparse.Namespace, dialects: Sequence[Description]) -> Outcome | None:
    """Let the running server do it; return the answer, None where none runs here. Raises OSError."""
    try:
        server = server_of(options, dialects)
        kind, who = target(options.who)
        about = {"who": who, "notes": getattr(options, "notes", "")}
        found = server.ask(f"/api/admin/{options.act}", about)
    except (FileNotFoundError, NoServerError) as error:
        if options.url is not None or options.token_file is not None:
            raise
        if not isinstance(error, NoServerError) and (url := serving_url(options, dialects)) is not None:
            raise OSError(f"a server answers at {url}, but {error}; --players FILE changes a file") from error
        if isinstance(error, NoServerError):
            print(f"{error}; only the file is changed", file=sys.stderr)
        return None
    if not found["changed"]:
        raise ValueError(f"{quoted(who)} is {'banned already' if options.act == 'ban' else 'not banned'}")
    hung_up = f"; {players(found['kicked'])} hung up on" if found.get("kicked") else ""
    state = "banned" if options.act == "ban" else "let in again"
    print(f"the {kind} {quoted(who)} is {state}{hung_up}", file=sys.stderr)
    return found


def _ban(options: argparse.Namespace) -> None:
    who, file = target(options.who), bans_beside(options.players)
    with audited(options.audit, "ban", *who):
        if not ban(file, who, options.notes):
            raise ValueError(f"{quoted(who[1])} is banned already")
        if not os.path.exists(options.players):  # without which a server with --players does not start
            with locked(options.players) as path:
                rewrite(path, _PLAYERS, list)
    print(f"the {who[0]} {quoted(who[1])} is banned", file=sys.stderr)  # an address with a slip is a name
    _hint(file)


def _unban(options: argparse.Namespace) -> None:
    who, file = target(options.who), bans_beside(options.players)
    with audited(options.audit, "unban", *who):
        if not unban(file, who):
            similar = did_you_mean(who[1], [each[1] for each in banned(file) if each])
            raise ValueError(f"{quoted(who[1])} is not banned in {file}{similar}")
    _hint(file)


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
