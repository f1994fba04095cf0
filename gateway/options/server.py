"""The table of the server's options, and the rules between them."""

import os
import re
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from ipaddress import ip_network
from textwrap import fill
from typing import TypeVar, cast

from gateway import __version__
from gateway.engines import EngineUnavailable
from gateway.engines.catalogue import engine_named
from gateway.game.commands import HOUSE_PLAYERS, NO_HOUSE
from gateway.options import clustering, sources
from gateway.options.clustering import LONGEST_NODE, ClusterOptions, host_name
from gateway.options.description import Description
from gateway.options.kinds import FILE, PORT, TEXT, WHOLE_NUMBER, Kind, count, one_of, seconds
from gateway.options.names import (
    ALL_ORIGINS,
    AUDIT,
    CONNECTS,
    DATABASE,
    PER_ADDRESS,
    PLAYERS_FILE,
    TOKEN_FILE,
)
from gateway.options.sources import COMMAND_LINE, DEFAULT
from gateway.options.table import PREFIX, Option, Parser, flag, option, options_of, several, variable
from gateway.options.terminal import listed
from gateway.options.urls import database, has_password, is_postgresql, password_of_database
from gateway.runtime.addresses import Address, Network, address_in
from gateway.runtime.listening import Sockets, handed_over
from gateway.store import VERSION

T = TypeVar("T")

HOST = "127.0.0.1"
"""The default address to listen on."""
WEB_PORT = 8000
"""The default port of the page."""
PAGE = "page"
"""The name of the page's port."""
PAGE_AFTER = 3
"""How many dialects come before the page among sockets that are handed over without names. Dialects that are
added come after it, so that the units of running servers keep their meaning."""
LEVELS = ("debug", "info", "warning", "error")
"""The levels of the log."""
MOST_WORKERS = 256
"""The most workers of one supervisor."""

_ANY_PORT = "env"
"""The value of ``--port`` that stands for the environment variable PORT, which hosting services set."""
_NO_DATABASE = "none"
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:[0-9]{1,5})?")


_DESCRIPTION = (
    "A Connect-Four server for bots. It speaks several dialects at once, and bots of different dialects play"
    " each other: {titles}."
)
_PORTS = (
    "Without {all_options} and --port all dialects start, on the ports {ports}; with any of these options,"
    " only what they open. Press Ctrl-C to stop the server."
)
_EPILOG = """

examples:
  c4gateway
  c4gateway {example}
  c4gateway --clock 10 --host 0.0.0.0 --host ::

Results are kept in a database. These commands use it, also while the server runs (each has its --help):
  c4gateway standings          standings; --sort points --since 2h --table NAME: of these games
  c4gateway grades             ranks, points, and how many games each player lost in which way; --csv
  c4gateway games              the newest games; --player NAME --lost: games that this player lost
  c4gateway show GAME          one game, and why it ended; or --last --player NAME
  c4gateway export             games, as csv, jsonl, pgn, or a line of digits each; columns are 0 to 6
  c4gateway import FILE        store the games of an export
  c4gateway backup FILE        copy the database to a new file (SQLite)
  c4gateway recount            compute totals and ratings again from the games
  c4gateway void GAME          keep a game, but do not count it
  c4gateway rename OLD NEW     rename a player in all stored games

Analyse a position (no server needed; columns are counted from 1):
  c4gateway analyse POSITION   what each column is worth, such as after 4455

Operate a running server (in its database's folder, or with --url and --token-file):
  c4gateway who                who is connected, from where, and what each does
  c4gateway kick WHO           hang up on a player
  c4gateway announce TEXT      show a line on all views of the page; without TEXT, remove it
  c4gateway pause              start no new pairings; running games go on
  c4gateway resume             pair again
  c4gateway drain              stop when the running games are over
  c4gateway clear              remove all results and tournaments

Tournaments, which a running server plays, and a server that starts later, too:
  c4gateway tournament new FILE     add one; --example prints a file with all keys
  c4gateway tournament show NAME    standings and pairings; or list, for all tournaments
  c4gateway tournament start NAME   begin it; also withdraw, award, undo and other acts of its director
  c4gateway tournament roster FILE  protect the names of a class; also grades and export, for its results

Protect names and ban players, also while the server runs:
  c4gateway player add NAME    protect a name, and print its token
  c4gateway player list        list the protected names
  c4gateway player remove NAME
  c4gateway ban WHO            refuse a name, an address or a network (CIDR)
  c4gateway unban WHO          admit it again

Compare bots and engines by many games on a private server:
  c4gateway match --player A=WHO --player B=WHO

Check whether a bot obeys its protocol:
  c4gateway check DIALECT      play scripted games against a bot, and report its faults

Each option may also be in the environment (C4GATEWAY_LOG_LEVEL for --log-level) or in a file (--config):
  c4gateway config [OPTIONS]   show which options are in force, and where each comes from
  c4gateway health [OPTIONS]   whether a running server with these options works
"""


# Kinds of values. Their readers raise ValueError.


def _metrics_address(text: str) -> Address:
    where = address_in(text, host=HOST)
    if find_spec("prometheus_client") is None:
        raise ValueError("it needs another package: pip install prometheus-client")
    return where


def _house_players(text: str) -> list[str]:
    """Parse names of house players, whose engines have to be installed; or the word for none."""
    names = [name.strip().casefold() for name in text.split(",")]
    if names == [NO_HOUSE]:
        return names
    for name in names:
        if name not in HOUSE_PLAYERS:
            raise ValueError(f"{name!r} is none of {', '.join(sorted(HOUSE_PLAYERS))}")
        try:
            engine_named(name)
        except EngineUnavailable as error:
            raise ValueError(str(error)) from error
    return names


def _network(text: str) -> Network:
    try:
        return ip_network(text)
    except ValueError as error:
        raise ValueError(f"{text!r} is not an address, or a network such as 10.0.0.0/8") from error


def _origin(text: str) -> str:
    """Parse the origin of a website, in the form that browsers send."""
    origin = text.lower()
    if origin != ALL_ORIGINS and not _ORIGIN.fullmatch(origin):
        raise ValueError(
            f"{text!r} is not an origin; give scheme://host or scheme://host:port, or {ALL_ORIGINS} for all"
        )
    return origin


def _database_or_none(text: str) -> str | None:
    return None if text == _NO_DATABASE else database(text)


def _one_port(text: str) -> int:
    """Parse a port, or take the port in the environment."""
    if text != _ANY_PORT:
        return PORT.read(text)
    named = os.environ.get("PORT")
    if named is None:
        raise ValueError("the environment variable PORT is not set")
    return PORT.read(named)


def is_token(text: str) -> bool:
    """Whether a text can be sent as a token."""
    return text.isascii() and text.isprintable() and text.split() == [text]


_SPARE_CORES = max(1, (os.cpu_count() or 1) - 1)
_HOUSE = ", ".join(sorted(HOUSE_PLAYERS))


@dataclass(slots=True, kw_only=True, eq=False, repr=False)  # a repr would show the admin token
class ServerOptions:
    """The options of a server: those of the table, and those of each dialect."""

    ports: dict[str, int | None] = field(default_factory=dict)
    """The port of each dialect, by its name; None if it has no port of its own."""
    dialects: dict[str, object] = field(default_factory=dict)
    """The options of each dialect, by its name."""
    sockets: Sockets = field(default_factory=dict)
    """The sockets that were handed over by another program."""

    port: int | None = option(
        "one port for all dialects and the page; other ports open only if their options are given;"
        f" {_ANY_PORT}: the port in the environment variable PORT",
        Kind(_one_port, f"PORT|{_ANY_PORT}"),
        heading="where to listen",
        documents="[below](#one-port)",
    )
    host: list[str] = several(
        "address to listen on; may be given several times",
        TEXT,
        [HOST],
        default_text=f"{HOST}; 0.0.0.0 and :: for all",
    )
    tls_cert: str | None = option(
        "certificate with its chain, in PEM; all ports then accept TLS too (wss, https, TCP over TLS)",
        FILE,
        heading="TLS",
        documents="[below](#tls)",
    )
    tls_key: str | None = option("its private key, in PEM, if that is in another file", FILE)
    tls_only: bool = flag("refuse clients without TLS")
    proxy_protocol: bool = flag(
        "require the PROXY header (version 1 or 2), which has the client's address, at the start of every"
        " connection",
        heading="behind a proxy",
        documents="[below](#behind-a-proxy)",
    )
    trusted_proxy: list[Network] = several(
        "proxies in this network are trusted: a websocket client's address is the one in their"
        " X-Forwarded-For; may be given several times",
        Kind(_network, "CIDR"),
    )
    clock: float = option(
        "each player's time for a game with a {players} player",
        seconds(),
        42.0,
        heading="rules of play",
        is_shared=True,
    )
    penalty: float = option(
        "time that an illegal move costs a {players} player", seconds(0), 1.0, is_shared=True
    )
    idle: float = option("time for a move in a game without a clock", seconds(), 300.0, is_shared=True)
    games_per_pair: int = option(
        "games of two {players} players with the same one moving first; 0: no limit",
        count(),
        10,
        is_shared=True,
    )
    rejoin: float = option(
        "how long an {players} player's seat is kept between two games", seconds(), 10.0, is_shared=True
    )
    grace: float = option(
        "how long a seat is kept during a game for a player whose connection broke; 0: not at all",
        seconds(0),
        0.0,
        is_shared=True,
    )
    seed: int | None = option("seed for the random choice of who moves first", WHOLE_NUMBER)
    house: list[str] = option(
        f"house players that play whoever has no other opponent in the lobby: any of {_HOUSE}",
        Kind(_house_players, "NAMES"),
        make_default=list,
        heading="house players",
        documents=f"separated by commas; {NO_HOUSE}: nobody gets one there"
        " ([below](#the-servers-own-players))",
    )
    house_after: float = option(
        "how long a player waits in the lobby before a house player plays it", seconds(), 5.0, is_shared=True
    )
    house_workers: int = option(
        "moves of each kind that house players compute at once",
        count(1, 1024),
        _SPARE_CORES,
        default_text=f"{_SPARE_CORES} on this machine",
        default_in_documents="cores less 1",
        documents="[below](#the-servers-own-players)",
    )
    db: str | None = option(
        f"an SQLite file, postgresql://..., or {_NO_DATABASE}",
        Kind(_database_or_none, "FILE|URL|none", fault_if_typed=password_of_database),
        DATABASE,
        heading="where to keep results",
        documents="give a file whose name looks like a URL as `./NAME`; the command line refuses a URL with a"
        " password: put it in the environment or in the file of `--config`",
    )
    journal: str | None = option(
        "directory for results while the database cannot store them",
        Kind(str, "DIR"),
        default_text="FILE-unstored beside an SQLite FILE; else c4gateway-unstored",
        documents="[results.md](results.md#while-the-database-fails)",
    )
    keep_wire: float = option(
        "how long to keep the messages of each game; 0: do not keep them",
        seconds(0, unit="DAYS"),
        30.0,
    )
    cluster: str | None = option(
        f"share one lobby with the servers that are given the same Redis: {clustering.FORMS}",
        clustering.REGISTRY,
        heading="several servers with one lobby",
        documents="[cluster.md](cluster.md)",
    )
    cluster_password_file: str | None = option("file with the password for that Redis", FILE)
    cluster_prefix: str = option(
        "prefix of its keys in Redis; servers with another prefix are another cluster",
        Kind(clustering.key_prefix, "PREFIX"),
        clustering.PREFIX,
    )
    node: str | None = option(
        "name of this server in the cluster: letters, digits, dots, dashes, underscores",
        Kind(clustering.node_name, "NAME"),
        default_text="the host name",
        documents=f"at most {clustering.LONGEST_NODE} characters",
    )
    node_address: Address | None = option(
        "where the other servers reach this one",
        Kind(clustering.node_address, "HOST[:PORT]"),
        default_text="a free port at the address from which it reaches Redis",
    )
    workers: int = option(
        "run N servers that share the ports, with a Redis server of their own unless --cluster names one"
        " (Linux only)",
        count(1, MOST_WORKERS),
        1,
        default_text="",
        default_in_documents="1",
        documents="[cluster.md](cluster.md#several-cores)",
    )
    share_ports: bool = flag("let other servers of this user listen on the same ports (SO_REUSEPORT)")
    players: str | None = option(
        "file of protected names, written by c4gateway player; a client needs the token of such a name;"
        " bans are in FILE.bans",
        FILE,
        heading="players",
        default_text=f"{PLAYERS_FILE} beside the database, if there is one",
        documents="[below](#protected-names)",
    )
    registered_only: bool = flag("admit only players whose names are in that file", is_shared=True)
    web: int | None = option(
        "port for the page (live games, standings, play) and its JSON API, by HTTP",
        PORT,
        heading="the page",
        withdraws="no_web",
        default_text=f"{WEB_PORT}; no page if that is in use",
        documents="[web.md](web.md)",
    )
    no_web: bool = flag("start without the page", withdraws="web")
    qr: bool = flag(
        "print the page's address as a QR code at the start, if standard output is a terminal",
        documents="not with `--log-json`; needs the extra `qr` (`.venv/bin/pip install '.[qr]'`)",
    )
    allow_origin: list[str] = several(
        "let pages of this website, such as https://example.org, read the API and play;"
        f" may be given several times; {ALL_ORIGINS}: pages of all websites may read, but not play",
        Kind(_origin, "ORIGIN"),
        documents="[web.md](web.md#from-other-websites)",
    )
    no_live_evaluation: bool = flag(
        "do not show on the page who is winning a game that is on",
        is_shared=True,
        documents="[web.md](web.md#perfect-play)",
    )
    admin_token: str | None = option(
        f"token for the operator's commands; by default the one in {TOKEN_FILE} beside the database, created"
        f" at the start; better set {variable('admin-token')}, since the list of processes shows this option",
        Kind(str, "TOKEN"),
        is_secret=True,
        documents="[operation.md](operation.md#the-operators-commands)",
    )
    audit: str = option("file to which the operator's commands are logged", FILE, AUDIT)
    max_connections: int = option(
        "connections to the bots' ports at once",
        count(),
        0,
        heading="limits on clients",
        default_text="0: as many as the system allows",
        documents="[below](#limits-on-clients)",
    )
    max_per_address: int | None = option(
        "connections to these ports from one address, and as many to the page",
        count(),
        default_text=f"{PER_ADDRESS}, from this machine no limit; 0: no limit",
    )
    connects_per_second: int | None = option(
        "new connections from one address a second; further ones wait",
        count(),
        default_text=f"{CONNECTS}, from this machine no limit; 0: no limit",
    )
    messages_per_second: int = option(
        "messages a second read from one connection; further ones wait",
        count(),
        5_000,
        default_text="5000; 0: no limit",
    )
    message_burst: int = option(
        "messages read from one connection at once, before that limit holds", count(1), 10_000
    )
    request_seconds: float | None = option(
        "time to send the head of an HTTP request; on the page, for its body too",
        seconds(most=3600),
        default_text="60; on the page 15",
    )
    drain: float = option(
        "how long running games may go on after SIGTERM",
        seconds(0),
        0.0,
        heading="how to stop",
        default_text="0",
        documents="[below](#stop-and-reload)",
    )
    log_level: str = option(
        "lowest level to log",
        one_of(*LEVELS),
        "info",
        heading="log on stderr",
        documents="`debug`, `info`, `warning` or `error` ([below](#the-log))",
    )
    log_json: bool = flag("write the log as JSON, one object a line", documents="standard output too")
    metrics: Address | None = option(
        f"port for Prometheus metrics, by HTTP under /metrics; without HOST on {HOST}",
        Kind(_metrics_address, "[HOST:]PORT"),
        heading="metrics",
        documents="[operation.md](operation.md#metrics)",
    )
    config: str | None = option(
        "file with options, in TOML, such as log-level = 'debug'; the environment, such as"
        f" {PREFIX}LOG_LEVEL, overrides it, and the command line overrides both",
        FILE,
        heading="",
        documents="[below](#environment-and-file)",
    )


def all_options(dialects: Sequence[Description]) -> list[Option]:
    """Return all options of a server with `dialects`, including those of the dialects."""
    options = list[Option]()
    for each in options_of(ServerOptions):
        if each.name == "port":  # the ports of the dialects come before it
            for one in dialects:
                options.append(Option(name=one.option, help=one.bots, kind=PORT, heading=each.heading))
        players = listed([one.name for one in dialects if each.name in one.rules], "or")
        options.append(replace(each, help=each.help.replace("{players}", players)))
        if each.name == "seed":  # the options of single dialects come after it
            options += [
                replace(own, heading=each.heading) for one in dialects for own in options_of(one.options)
            ]
    return options


def parse(arguments: Sequence[str], dialects: Sequence[Description]) -> ServerOptions:
    """Return the options of a server with `dialects`.

    Exits with status 2, after a line on stderr, if the options are not valid.
    """
    return _parsed(arguments, dialects)[0]


def in_force(arguments: Sequence[str], dialects: Sequence[Description]) -> Iterator[str]:
    """Return the options in force as lines of text, each with its source."""
    options, sources_of = _parsed(arguments, dialects)
    return sources.shown(all_options(dialects), values(options, dialects), sources_of)


def values(options: ServerOptions, dialects: Sequence[Description]) -> dict[str, object]:
    """Return the values of all options, by their names in the table."""
    known = {each.name: getattr(options, each.name) for each in options_of(ServerOptions)}
    for each in dialects:
        known[each.option] = options.ports[each.name]
        own = options.dialects[each.name]
        known |= {one.name: getattr(own, one.name) for one in options_of(each.options)}
    return known


def cluster_options(options: ServerOptions) -> ClusterOptions | None:
    """Return the options with which a node joins its cluster; None without a cluster.

    Runs in a thread, since it may resolve a host name. Raises OSError, with one line.
    """
    if options.cluster is None:
        return None
    return clustering.resolved(
        options.cluster,
        options.cluster_password_file,
        options.cluster_prefix,
        options.node or host_name(),
        options.node_address,
    )


def shared_rules(options: ServerOptions, dialects: Sequence[Description]) -> dict[str, float]:
    """Return the options that must be the same on all nodes of a cluster, by name. A flag is 0 or 1."""
    known = values(options, dialects)
    return {
        each.key: float(cast("float", known[each.name])) for each in all_options(dialects) if each.is_shared
    }


def page_port(options: ServerOptions) -> int | None:
    """Return the page's own port; None if it has none, or has sockets that were handed over."""
    if options.no_web or PAGE in options.sockets or (options.web is None and options.port is not None):
        return None
    return WEB_PORT if options.web is None else options.web


def port_with_page(options: ServerOptions) -> int:
    """Return the port that serves the page: its own, or that of ``--port``."""
    return page_port(options) or options.port or WEB_PORT


def ports_of(options: ServerOptions, dialects: Sequence[Description]) -> dict[str, int]:
    """Return the ports to open, by option. Ports whose sockets were handed over are left out."""
    ports = {"port": options.port, "web": page_port(options)}
    ports |= {each.option: options.ports[each.name] for each in dialects if each.name not in options.sockets}
    return {name: number for name, number in ports.items() if number is not None}


def _wrapped(paragraph: str) -> str:
    """Return a paragraph of the help text in lines of the length of the others."""
    return fill(paragraph, 104, break_on_hyphens=False)


def _parsed(
    arguments: Sequence[str], dialects: Sequence[Description]
) -> tuple[ServerOptions, Mapping[str, str]]:
    """Return the options, and the source of each, by its name."""
    parser = Parser(
        "c4gateway",
        _wrapped(_DESCRIPTION.format(titles=listed([each.title for each in dialects], "and"))),
        _wrapped(
            _PORTS.format(
                all_options=", ".join(f"--{each.option}" for each in dialects),
                ports=listed([str(each.port) for each in dialects], "and"),
            )
        )
        + _EPILOG.format(example=" ".join(f"--{each.option} {each.port}" for each in dialects)),
    )
    parser.add(known := all_options(dialects))
    parser.add_argument(
        "-V", "--version", action="version", version=f"%(prog)s {__version__}, database version {VERSION}"
    )
    parser.as_json = "--log-json" in arguments or sources.asks_for("log-json", arguments, os.environ)
    settings = sources.from_sources(parser, known, arguments, os.environ)
    parser.as_json = bool(settings.values["log_json"])
    options = _made(ServerOptions, settings.values)
    options.dialects = {each.name: _made(each.options, settings.values) for each in dialects}
    options.ports = {each.name: cast("int | None", settings.values[each.option]) for each in dialects}
    try:
        _complete(options, settings.sources, dialects)
    except ValueError as error:
        parser.error(str(error))
    return options, settings.sources


def _made(kind: type[T], known: Mapping[str, object]) -> T:
    return kind(**{each.name: known[each.name] for each in options_of(kind)})


def _complete(options: ServerOptions, source: Mapping[str, str], dialects: Sequence[Description]) -> None:
    """Set options that depend on others. Raises ValueError if some contradict each other.

    `source` is the source of each option, by its name in the table.
    """
    options.host = options.host or [HOST]  # a file may have an empty list
    _complete_ports(options, dialects)
    _complete_workers(options, source)
    _complete_cluster(options, source)
    if options.no_web:
        for name in ("admin_token", "qr"):  # a file or the environment may have them for other servers
            if source[name] == COMMAND_LINE:
                raise ValueError(f"--{name.replace('_', '-')} is of no use with --no-web")
        options.admin_token, options.qr = None, False
    if options.qr and find_spec("segno") is None:
        raise ValueError("--qr needs another package: pip install 'c4gateway[qr]'")
    if options.admin_token is not None and not is_token(options.admin_token):
        raise ValueError("the admin token is not 1 or more ASCII characters without blanks")
    ports = [port for port in ports_of(options, dialects).values() if port]
    if options.share_ports and len({*ports}) < len(ports):
        # The system would not refuse this, but spread the clients over the two services.
        raise ValueError("two options name the same port, which cannot be shared with another server then")
    for name, is_given in (("tls-key", options.tls_key is not None), ("tls-only", options.tls_only)):
        if is_given and options.tls_cert is None:
            raise ValueError(f"--{name} is of no use without --tls-cert")
    if options.registered_only and options.players is None:
        raise ValueError("--registered-only needs --players FILE")


def _complete_ports(options: ServerOptions, dialects: Sequence[Description]) -> None:
    """Use sockets that were handed over. If no port is given, give each dialect its default port."""
    names = [each.name for each in dialects]
    options.sockets = handed_over([*names[:PAGE_AFTER], PAGE, *names[PAGE_AFTER:]])
    asked = {each.name: (each.option, options.ports[each.name]) for each in dialects}
    asked[PAGE] = ("no-web", 0) if options.no_web else ("web", options.web)
    for name in options.sockets:
        key, asked_for = asked[name]
        if asked_for is not None:
            raise ValueError(f"a socket for {name} is handed over; give no --{key}, or no socket")
        if name == PAGE:
            options.web = 0
        else:
            options.ports[name] = 0
    if options.port is None and all(port is None for port in options.ports.values()):
        options.ports = {each.name: each.port for each in dialects}


def _complete_workers(options: ServerOptions, source: Mapping[str, str]) -> None:
    """Set the options that workers need."""
    if options.share_ports and not hasattr(socket, "SO_REUSEPORT"):
        raise ValueError("--share-ports: this system cannot do it")
    if options.workers == 1:
        return
    if sys.platform != "linux":
        raise ValueError("--workers: this system does not spread connections over processes; Linux does")
    options.share_ports = True
    options.node = options.node or f"{host_name()[: LONGEST_NODE - 12]}-{os.getpid()}"
    if len(f"{options.node}-{options.workers}") > LONGEST_NODE:
        raise ValueError(f"--node: with --workers a name has {LONGEST_NODE - 4} characters at most")
    for name, place in (("metrics", options.metrics), ("node-address", options.node_address)):
        if place is not None and place.port + options.workers - 1 > 65_535:
            raise ValueError(f"--{name}: each worker takes one port more, and these are not that many")
    if source["house_workers"] == DEFAULT:
        options.house_workers = max(1, options.house_workers // options.workers)


def _complete_cluster(options: ServerOptions, source: Mapping[str, str]) -> None:
    """Set the options that a node needs. By default it has no database, since SQLite cannot be shared."""
    if options.cluster is None:
        alone = ["cluster_password_file", "cluster_prefix"]
        alone += ["node", "node_address"] if options.workers == 1 else []
        for name in alone:
            if source[name] != DEFAULT:
                raise ValueError(f"--{name.replace('_', '-')} is of no use without --cluster")
        if options.workers == 1:
            return
    elif options.cluster_password_file is not None and has_password(options.cluster):
        raise ValueError(
            "the URL of --cluster has a password; give no --cluster-password-file, or no password"
        )
    flag_name = "--cluster" if options.cluster is not None else "--workers"
    if find_spec(clustering.PACKAGE) is None:
        raise ValueError(f"{flag_name} needs another package: pip install 'c4gateway[cluster]'")
    if source["db"] == DEFAULT:
        options.db = None
    elif options.db is not None and not is_postgresql(options.db):
        raise ValueError(
            f"{flag_name} needs a database that all nodes share, and SQLite has none;"
            " give --db postgresql://..., or --db none to keep no results"
        )
    options.node = options.node or host_name()
