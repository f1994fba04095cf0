"""The options of the command ``c4gateway``: all of them, what they mean, and which contradict each other.

Those about who may come in, about workers and about nodes are declared in modules of their own.
"""

import argparse
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

from gateway import __version__
from gateway.engines import EngineUnavailable
from gateway.engines.catalogue import engine_named
from gateway.game.commands import HOUSE_PLAYERS
from gateway.options import access, clustering, settings, workers
from gateway.options.access import ALL_ORIGINS
from gateway.options.arguments import Description, Options, Parser, listed, number
from gateway.options.command_names import AUDIT, DATABASE, TOKEN_FILE, TYPED_PASSWORD, database, masked
from gateway.options.settings import Settings
from gateway.runtime.listening import handed_over
from gateway.store import VERSION

HOST = "127.0.0.1"
"""Where to listen where nothing else is said."""
_to_port = number(int, 0, 65_535)

# The option for the port at which a monitoring system reads.


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen."""

    host: str
    port: int

    def __str__(self) -> str:
        """Return it as the option is written."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def add_metrics_option(group: argparse._ArgumentGroup) -> None:
    """Add the option for the port."""
    group.add_argument(
        "--metrics",
        type=_address,
        metavar="[HOST:]PORT",
        help=f"counts and durations for Prometheus, by HTTP under /metrics (on {HOST}, without HOST)",
    )


def _address(text: str) -> Address:
    """Return where to listen. Raises ArgumentTypeError; also if prometheus-client is not installed."""
    host, has_host, port = text.rpartition(":")
    if not has_host:
        host = HOST
    elif host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif not host or ":" in host:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port, HOST:PORT or [HOST]:PORT")
    address = Address(host, int(_to_port(port)))
    if find_spec("prometheus_client") is None:
        raise argparse.ArgumentTypeError("it needs another package: pip install prometheus-client")
    return address


# The options about how games are played, and who of the house plays.
#
# Knows the rules by name, and which dialects have them. Does not know what a rule does.


def add_rules(group: argparse._ArgumentGroup, dialects: Sequence[Description]) -> None:
    """Add the rules of play; each help says which dialects' players a rule is about."""

    def who(rule: str) -> str:
        return listed([each.name for each in dialects if rule in each.rules], "or")

    time = number(float, 0.1, 1e6)
    for option, kind, default, metavar, text in (
        ("clock", time, 42.0, "SECONDS", "a player's time for a game, where a {} player takes part"),
        ("penalty", number(float, 0, 1e6), 1.0, "SECONDS", "what an illegal move costs a {} player"),
        ("idle", time, 300.0, "SECONDS", "a player's time for a move in games without a clock"),
        (
            "games_per_pair",
            number(int, 0, 10**9),
            10,
            "N",
            "games that two {} players get, each way round; 0: no limit",
        ),
        ("rejoin", time, 10.0, "SECONDS", "how long the seat of an {} player is kept between two games"),
        ("seed", int, None, "N", "seed of the lot that draws who moves first"),
    ):
        note = "" if default is None else f" ({default})"
        group.add_argument(
            f"--{option.replace('_', '-')}",
            type=kind,
            default=default,
            metavar=metavar,
            help=text.format(who(option)) + note,
        )
    for each in dialects:
        each.add_options(group)


def add_house_options(group: argparse._ArgumentGroup) -> None:
    """Add the options about the house players."""
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


# All options of the server.

DESCRIPTION = """\
A Connect-Four server for bots. It speaks several dialects at once, and bots of different dialects play
each other: {titles}.
"""
EPILOG = """\
Without {all_options} and --port all dialects start, on the ports {ports}; with some
of these options only what they name. Stop the server with Ctrl-C.

examples:
  c4gateway
  c4gateway {example}
  c4gateway --clock 10 --host 0.0.0.0 --host ::

Results are kept in a database. Other commands read it, also while the server runs (each has its --help):
  c4gateway standings          who stands where; --sort points --since 2h --table NAME: in these games
  c4gateway grades             ranks, points, and how many games each player lost in which way; --csv
  c4gateway games              the newest games; --player NAME --lost: those that this player lost
  c4gateway show GAME          one game, and why it ended as it did; or --last --player NAME
  c4gateway export             games, as csv, jsonl, pgn, or a line of digits each; columns are 0 to 6
  c4gateway import FILE        store the games of an export here too
  c4gateway backup FILE        copy the database to a new file, also while the server runs (SQLite)
  c4gateway recount            compute totals and ratings again from the games
  c4gateway void GAME          keep a game, but let it count no more
  c4gateway rename OLD NEW     give a player another name in all stored games

A position is worked out by itself, its columns counted from 1:
  c4gateway analyse POSITION   what each column is worth, such as after 4455

A running server does what its operator asks for (in its database's folder, or with --url and --token-file):
  c4gateway who                who is connected, from where, and what each does
  c4gateway kick WHO           hang up on a player
  c4gateway announce TEXT      show a line on all views of the page, until another comes; without TEXT none
  c4gateway pause              pair nobody; the games that are on go on. resume: pair again
  c4gateway drain              let the games that are on be finished, and stop
  c4gateway clear              remove all results

Names of players can be protected, and players banned, also while the server runs:
  c4gateway player add NAME    protect a name, and print the token that its player has to send
  c4gateway player list        which names are protected
  c4gateway player remove NAME
  c4gateway ban WHO            no longer let in a name, an address or a network (CIDR)
  c4gateway unban WHO          let it in again

Bots and engines can be compared by many games on a private server:
  c4gateway match --player A=WHO --player B=WHO

Whether a bot obeys its protocol:
  c4gateway check DIALECT      listen, play scripted opponents against a bot, and say what it did wrong

Each option may also be in the environment (C4GATEWAY_LOG_LEVEL for --log-level) or in a file (--config):
  c4gateway config [OPTIONS]   which options are in force, and where each comes from
  c4gateway health [OPTIONS]   whether a running server with these options is well
"""
LEVELS = ("debug", "info", "warning", "error")
"""Least levels of what is logged."""
NOWHERE = "none"
WEB_PORT = 8000
"""The port of the page where none is given."""
PAGE = "page"
"""What its port is called."""
NO_WEB = -1
"""What stands for a port where no page is wanted."""
ANY_PORT = "env"
"""What stands for the port that the environment names, as hosting services do it."""
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:[0-9]{1,5})?")


def parse(arguments: Sequence[str], dialects: Sequence[Description]) -> Options:
    """Return the options of a server that can speak `dialects`; each has its port under its option's name.

    The port of the page is None where nobody asked for one, and `NO_WEB` where nobody wants a page.
    Exits with status 2, after a line on stderr, where the options are wrong.
    """
    return _settled(_parser(dialects), arguments, dialects).options


def in_force(arguments: Sequence[str], dialects: Sequence[Description]) -> Iterator[str]:
    """Return the options as `parse` does, as text: one line for each, with where it comes from."""
    parser = _parser(dialects)
    return settings.shown(parser, _settled(parser, arguments, dialects))


def _settled(parser: Parser, arguments: Sequence[str], dialects: Sequence[Description]) -> Settings:
    parser.as_json = "--log-json" in arguments or settings.asks_for("log-json", arguments, os.environ)
    settled = settings.settle(parser, arguments, os.environ)
    options = settled.options
    parser.as_json = options.log_json
    _take_sockets(parser, options, dialects)
    if options.port is None and all(getattr(options, each.option) is None for each in dialects):
        for each in dialects:
            setattr(options, each.option, each.port)
    options.host = options.host or [HOST]
    workers.settle(parser, settled)
    clustering.settle(parser, settled)
    if options.db is not None and settled.is_typed("db") and masked(options.db) != options.db:
        parser.error(TYPED_PASSWORD)
    _settle_web(parser, settled)
    _refuse_one_port_for_two(parser, options, dialects)
    access.settle_tls(parser, options)
    access.settle_players(parser, options)
    return settled


def page_port(options: Options) -> int | None:
    """Return the port of the page's own; None if it has none, or sockets that were handed over."""
    if options.web == NO_WEB or PAGE in options.sockets or (options.web is None and options.port is not None):
        return None
    return WEB_PORT if options.web is None else options.web


def _refuse_one_port_for_two(parser: Parser, options: Options, dialects: Sequence[Description]) -> None:
    """Refuse what the system would not where ports are shared: clients would find one or the other."""
    ports = [port for port in workers.wanted(options, dialects, page_port(options)).values() if port]
    if options.share_ports and len({*ports}) < len(ports):
        parser.error("two options name the same port, which cannot be shared with another server then")


def _take_sockets(parser: Parser, options: Options, dialects: Sequence[Description]) -> None:
    """Note the sockets that were handed over; each stands for the option of its port."""
    ports = {each.name: each.option for each in dialects} | {PAGE: "web"}
    try:
        options.sockets = handed_over([*ports])
    except ValueError as error:
        parser.error(str(error))
    for name in options.sockets:
        if getattr(options, ports[name]) is not None:
            parser.error(f"a socket for {name} is handed over; give no --{ports[name]}, or no socket")
        setattr(options, ports[name], 0)


def _settle_web(parser: Parser, settled: Settings) -> None:
    """Refuse what contradicts on the command line, and a token that nobody can send."""
    options = settled.options
    if options.web == NO_WEB:
        if settled.is_typed("admin_token"):
            parser.error("--admin-token is of no use with --no-web")
        options.admin_token = None
    if options.qr and options.web == NO_WEB:
        if settled.is_typed("qr"):
            parser.error("--qr is of no use with --no-web")
        options.qr = False
    if options.qr and find_spec("segno") is None:
        parser.error("--qr needs another package: pip install 'c4gateway[qr]'")
    if options.admin_token is not None and not access.is_token(options.admin_token):
        parser.error("the admin token is not 1 or more ASCII characters without blanks")


def _parser(dialects: Sequence[Description]) -> Parser:
    parser = Parser(
        prog="c4gateway",
        description=DESCRIPTION.format(titles=listed([each.title for each in dialects], "and")),
        epilog=EPILOG.format(
            all_options=", ".join(f"--{each.option}" for each in dialects),
            ports=listed([str(each.port) for each in dialects], "and"),
            example=" ".join(f"--{each.option} {each.port}" for each in dialects),
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    _add_addresses(parser.add_argument_group("where to listen"), dialects)
    access.add_tls_options(parser.add_argument_group("TLS"))
    access.add_proxy_options(parser.add_argument_group("behind a proxy"))
    add_rules(parser.add_argument_group("how to play"), dialects)
    add_house_options(parser.add_argument_group("players of the server's own"))
    _add_results(parser.add_argument_group("where to keep results"))
    together = parser.add_argument_group("several servers with one lobby")
    clustering.add_options(together)
    workers.add_options(together)
    access.add_player_options(parser.add_argument_group("players"))
    _add_web(parser.add_argument_group("the page"))
    access.add_limit_options(parser.add_argument_group("what a client may take"))
    parser.add_argument_group("how to stop").add_argument(
        "--drain",
        type=number(float, 0, 1e6),
        default=0.0,
        metavar="SECONDS",
        help="on SIGTERM let the games that are on be finished first, for so long at most (%(default)g)",
    )
    log = parser.add_argument_group("what to say on stderr")
    log.add_argument("--log-level", choices=LEVELS, default="info", help="least level to log (%(default)s)")
    log.add_argument("--log-json", action="store_true", help="write one JSON object a line")
    add_metrics_option(parser.add_argument_group("what can be measured"))
    settings.add_options(parser)
    parser.add_argument(
        "-V", "--version", action="version", version=f"%(prog)s {__version__}, database version {VERSION}"
    )
    return parser


def _add_addresses(group: argparse._ArgumentGroup, dialects: Sequence[Description]) -> None:
    for each in dialects:
        group.add_argument(f"--{each.option}", type=_to_port, metavar="PORT", help=each.bots)
    group.add_argument(
        "--port",
        type=_port,
        metavar=f"PORT|{ANY_PORT}",
        help="one port for all bots and the page; others open only if they are given, too;"
        f" {ANY_PORT}: the one that the environment variable PORT names",
    )
    group.add_argument(
        "--host",
        action="append",
        help=f"address to listen on; may be given several times ({HOST}; 0.0.0.0 and :: for all)",
    )


def _add_results(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--db",
        type=_database_or_none,
        default=DATABASE,
        metavar="FILE|URL|none",
        help=f"a file of SQLite's, postgresql://..., or {NOWHERE} ({DATABASE})",
    )
    group.add_argument(
        "--journal",
        metavar="DIR",
        help="where results are kept on disk while the database does not take them (beside a FILE:"
        " FILE-unstored; else c4gateway-unstored)",
    )
    group.add_argument(
        "--keep-wire",
        type=number(float, 0, 1e6),
        default=30.0,
        metavar="DAYS",
        help="how long to keep what was said and heard on either side of a game; 0: not at all (%(default)s)",
    )


def _add_web(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--web",
        type=_to_port,
        metavar="PORT",
        help="games live, standings, play, and all of it as JSON, by HTTP"
        f" ({WEB_PORT}; not at all if that is in use)",
    )
    group.add_argument(
        "--no-web", dest="web", action="store_const", const=NO_WEB, help="start without the page"
    )
    group.add_argument(
        "--qr",
        action="store_true",
        help="show the page's address as a QR code at the start, if standard output is a terminal",
    )
    group.add_argument(
        "--allow-origin",
        type=_origin,
        action="append",
        default=[],
        metavar="ORIGIN",
        help="let pages of this website, such as https://example.org, read the JSON in a browser and play;"
        f" may be given several times; {ALL_ORIGINS}: pages of all may read, but not play",
    )
    group.add_argument(
        "--admin-token",
        metavar="TOKEN",
        help="who has it may run c4gateway who, kick, ban and the operator's other commands on this server"
        f" ({TOKEN_FILE} beside the database has one, made at the first start); better given in the"
        f" environment, as {settings.variable('admin-token')}: the list of processes does not show it",
    )
    group.add_argument(
        "--audit",
        default=AUDIT,
        metavar="FILE",
        help=f"where to log what is done with that token ({AUDIT})",
    )


def _database_or_none(text: str) -> str | None:
    return None if text == NOWHERE else database(text)


def _port(text: str) -> float:
    if text != ANY_PORT:
        return _to_port(text)
    named = os.environ.get("PORT")
    if named is None:
        raise argparse.ArgumentTypeError("the environment variable PORT is not set")
    return _to_port(named)


def _origin(text: str) -> str:
    origin = text.lower()
    if origin != ALL_ORIGINS and not _ORIGIN.fullmatch(origin):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not an origin; give scheme://host or scheme://host:port, or {ALL_ORIGINS} for all"
        )
    return origin
