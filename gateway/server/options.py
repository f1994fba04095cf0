"""The options of the command ``c4gateway``."""

import argparse
import os
import re
from collections.abc import Sequence

from gateway import __version__
from gateway.engines import EngineUnavailable
from gateway.engines.catalogue import engine_named
from gateway.game.commands import HOUSE_PLAYERS
from gateway.server.arguments import Parser, number
from gateway.server.logs import LEVELS

DESCRIPTION = """\
A Connect-Four server for bots. It speaks three dialects at once, and bots of different dialects play
each other: nac4 (websocket), c4-arena (websocket) and the Droidcon hackathon's protocol (TCP).
"""
EPILOG = """\
Without --nac4, --arena and --tcp all three start, on the ports 8080, 8001 and 4242; with one or two of
them only those start. Stop the server with Ctrl-C.

examples:
  c4gateway
  c4gateway --nac4 8080 --arena 8001 --tcp 4242
  c4gateway --tcp 4242 --rounds 2 --host 0.0.0.0 --host ::

Results are kept in a database. Other commands read it, also while the server runs (each has its --help):
  c4gateway standings          who stands where
  c4gateway show GAME          one game, and why it ended as it did
  c4gateway export             games, as csv, jsonl, pgn, or arena's own lines
  c4gateway recount            compute totals and ratings again from the games
"""
PORTS = {"nac4": 8080, "arena": 8001, "tcp": 4242}
HOST = "127.0.0.1"
DATABASE = "c4gateway.db"
"""Where results are kept, unless something else is asked for."""
NOWHERE = "none"
TOKEN_VARIABLE = "C4GATEWAY_ADMIN_TOKEN"
"""Where the admin token is looked for, so that it need not stand in the list of processes."""
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9.+_-]*")
_POSTGRESQL = ("postgresql", "postgres")
_OTHERS = ("sqlite", "file", "mysql", "mariadb", "oracle", "mssql")
"""Databases that are known by how a URL begins, though no // follows."""
COMMANDS = ("standings", "show", "export", "recount")
"""What can stand in front of all options: commands that read what was kept."""


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Return the options. Exits with status 2, after a line on stderr, where they are wrong."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if all(getattr(options, name) is None for name in PORTS):
        for name, port in PORTS.items():
            setattr(options, name, port)
    options.host = options.host or [HOST]
    _settle_web(parser, options)
    return options


def _settle_web(parser: Parser, options: argparse.Namespace) -> None:
    """Find the token, where it is not given as an option, and refuse what does not go together."""
    if options.web is None:
        if options.admin_token is not None:
            parser.error("--admin-token is of no use without --web")
        return
    if options.db is None:
        parser.error(f"--web shows what is kept, so it cannot go with --db {NOWHERE}")
    if options.admin_token is None:
        options.admin_token = os.environ.get(TOKEN_VARIABLE)
    if options.admin_token is not None and not _is_token(options.admin_token):
        parser.error("the admin token is not 1 or more ASCII characters without blanks")


def _is_token(text: str) -> bool:
    return text.isascii() and text.isprintable() and text.split() == [text]


def _parser() -> Parser:
    parser = Parser(
        prog="c4gateway",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    _add_addresses(parser.add_argument_group("where to listen"))
    _add_rules(parser.add_argument_group("how to play"))
    _add_house(parser.add_argument_group("players of the server's own"))
    results = parser.add_argument_group("where to keep results")
    results.add_argument(
        "--db",
        type=_database_or_none,
        default=DATABASE,
        metavar="FILE|URL|none",
        help=f"a file of SQLite's, postgresql://..., or {NOWHERE} ({DATABASE})",
    )
    results.add_argument(
        "--keep-wire",
        type=number(float, 0, 1e6),
        default=30.0,
        metavar="DAYS",
        help="how long to keep what was said and heard on either side of a game; 0: not at all (%(default)s)",
    )
    _add_web(parser.add_argument_group("results by web"))
    log = parser.add_argument_group("what to say on stderr")
    log.add_argument("--log-level", choices=LEVELS, default="info", help="least level to log (%(default)s)")
    log.add_argument("--log-json", action="store_true", help="log one JSON object a line")
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    return parser


def _add_addresses(group: argparse._ArgumentGroup) -> None:
    port = number(int, 0, 65_535)
    group.add_argument("--nac4", type=port, metavar="PORT", help="nac4 bots, by websocket")
    group.add_argument(
        "--arena", type=port, metavar="PORT", help="c4-arena bots, by websocket, in JSON or EDN"
    )
    group.add_argument(
        "--tcp", type=port, metavar="PORT", help="Droidcon bots, by TCP; works with nc and telnet"
    )
    group.add_argument(
        "--host",
        action="append",
        help=f"address to listen on; may be given several times ({HOST}; 0.0.0.0 and :: for all)",
    )


def _add_rules(group: argparse._ArgumentGroup) -> None:
    time, limit = number(float, 0.1, 1e6), number(int, 0, 10**9)
    for option, kind, default, metavar, text in (
        ("--clock", time, 42.0, "SECONDS", "a player's time for a game, where a nac4 player takes part"),
        ("--penalty", number(float, 0, 1e6), 1.0, "SECONDS", "what an illegal move costs a nac4 player"),
        ("--idle", time, 300.0, "SECONDS", "a player's time for a move in games without a clock"),
        ("--rounds", number(int, 1, 10**6), 4, "N", "games in a series with a Droidcon player"),
        (
            "--games-per-pair",
            limit,
            10,
            "N",
            "games that two nac4 players get, each way round; 0: no limit",
        ),
        ("--rejoin", time, 10.0, "SECONDS", "how long an arena player's seat is kept between two games"),
        ("--seed", int, None, "N", "seed of the lot that draws who moves first"),
    ):
        note = "" if default is None else f" ({default})"
        group.add_argument(option, type=kind, default=default, metavar=metavar, help=text + note)
    group.add_argument(
        "--nac4-original",
        action="store_true",
        help="tell nac4 players 'Ok' when their opponent left, as the original's own client needs it",
    )


def _add_house(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--house",
        type=_house_players,
        default=[],
        metavar="NAMES",
        help=f"who of {', '.join(sorted(HOUSE_PLAYERS))} plays those whom nobody else in the lobby plays",
    )
    group.add_argument(
        "--house-after",
        type=number(float, 0.1, 1e6),
        default=5.0,
        metavar="SECONDS",
        help="how long these wait for another opponent first (5.0)",
    )
    workers = max(1, (os.cpu_count() or 1) - 1)
    group.add_argument(
        "--house-workers",
        type=number(int, 1, 1024),
        default=workers,
        metavar="N",
        help=f"moves of a kind that all of them think about at once ({workers} on this machine)",
    )


def _add_web(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--web", type=number(int, 0, 65_535), metavar="PORT", help="games and standings as JSON, by HTTP"
    )
    group.add_argument(
        "--admin-token",
        metavar="TOKEN",
        help="who sends it with POST /api/clear removes all results; better given in the environment, as"
        f" {TOKEN_VARIABLE}",
    )


def database(text: str) -> str:
    """Return where a database is: a file, or a URL of PostgreSQL's. Raises ArgumentTypeError for another URL.

    The error says no more of it than how it begins, for there may be a password in it.
    """
    scheme, has_colon, rest = text.partition(":")
    system = scheme.partition("+")[0].casefold()
    is_other = system not in _POSTGRESQL and ("+" in scheme or rest.startswith("//") or system in _OTHERS)
    if not text or (has_colon and _SCHEME.fullmatch(scheme) and is_other):
        what = f"{scheme}: cannot be used" if text else "nothing is given"
        raise argparse.ArgumentTypeError(f"{what}; give the path of a file (SQLite) or postgresql://...")
    return text


def _database_or_none(text: str) -> str | None:
    return None if text == NOWHERE else database(text)


def _house_players(text: str) -> list[str]:
    names = [name.strip().casefold() for name in text.split(",")]
    for name in names:
        if name not in HOUSE_PLAYERS:
            known = ", ".join(sorted(HOUSE_PLAYERS))
            raise argparse.ArgumentTypeError(f"{name!r} is none of {known}")
        try:
            engine_named(name)
        except EngineUnavailable as error:
            raise argparse.ArgumentTypeError(str(error)) from error
    return names
