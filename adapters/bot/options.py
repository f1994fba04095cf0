"""The options of the command ``c4bot``."""

import argparse
import math
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from adapters.arena.messages import Encoding
from adapters.bot.address import PORTS, Address, address_in
from adapters.bot.player import THINK, EnginePlayer
from gateway import __version__
from gateway.engines import EngineUnavailable, UnknownEngine
from gateway.engines.catalogue import CATALOGUE, engine_named, limits_itself
from gateway.server.arguments import Parser, number

DESCRIPTION = """\
Puts an engine, or you, behind one of the three dialects: a bot for c4gateway, or for the dialect's own
server. It plays its games and says how they went.
"""
EPILOG = """\
examples:
  c4bot nac4 ws://127.0.0.1:8080 --name mc --engine mc:10000
  c4bot arena ws://127.0.0.1:8001 --against aima --encoding edn
  c4bot tcp 127.0.0.1:4242 --channel lobby --games 0 --reconnect
  c4bot tcp 127.0.0.1:4242 --engine manual

The exit status is 0 after all games, 1 where the server is not there or does not want the player, 2 for
wrong options, 130 after Ctrl-C.
"""
MANUAL = "manual"
_MOST_GAMES = 10**9


@dataclass(frozen=True, slots=True)
class Options:
    """What was asked for."""

    dialect: str
    address: Address
    name: str
    engine: EnginePlayer | None
    """None for a person at the prompt."""
    against: str | None
    table: str | None
    encoding: Encoding
    games: int
    """0: for ever."""
    reconnect: bool
    verbose: bool


def parse(arguments: Sequence[str] | None = None) -> Options:
    """Return the options. Exits with status 2, after a line on stderr, where they are wrong."""
    parser = _parser()
    found = parser.parse_args(arguments)
    if found.dialect != "arena" and found.encoding is not None:
        parser.error("argument --encoding: only arena has a choice of these")
    if found.dialect != "arena" and len(found.name.split()) > 1:
        parser.error(f"argument --name: {found.dialect} has no names with a blank, such as {found.name!r}")
    try:
        address = address_in(found.address, found.dialect)
    except ValueError as error:
        parser.error(f"argument ADDRESS: {error}")
    return Options(
        dialect=found.dialect,
        address=address,
        name=found.name,
        engine=_engine_player(found.engine, found.think),
        against=found.against,
        table=found.table,
        encoding=Encoding(found.encoding or "json"),
        games=found.games,
        reconnect=found.reconnect,
        verbose=found.verbose,
    )


def _parser() -> Parser:
    parser = Parser(
        prog="c4bot",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("dialect", choices=PORTS, metavar="DIALECT", help=" or ".join(PORTS))
    parser.add_argument(
        "address", metavar="ADDRESS", help="ws://HOST:PORT or HOST:PORT for nac4 and arena, HOST:PORT for tcp"
    )
    _add_player(parser.add_argument_group("who plays"))
    _add_opponent(parser.add_argument_group("against whom"))
    _add_run(parser.add_argument_group("how long, and what is seen of it"))
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    return parser


def _add_player(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--name", type=_text, default=f"c4bot-{os.getpid()}", help="what the player is called (c4bot-NUMBER)"
    )
    group.add_argument(
        "--engine",
        type=_engine,
        default="aima",
        help=f"{CATALOGUE}; or {MANUAL}, to play by hand (%(default)s)",
    )
    group.add_argument(
        "--think",
        type=number(float, 0.001, 1e6),
        metavar="SECONDS",
        help=f"most time for a move (what the engine takes, or {THINK}; nac4: a 20th of what the server says "
        "is left, and never more)",
    )


def _add_opponent(group: argparse._ArgumentGroup) -> None:
    either = group.add_mutually_exclusive_group()
    either.add_argument("--against", type=_text, metavar="NAME", help="the only opponent wanted (anyone)")
    either.add_argument(
        "--table", "--channel", type=_text, metavar="NAME", help="the table or channel to play at (the lobby)"
    )
    group.add_argument(
        "--encoding", choices=[each.value for each in Encoding], help="how an arena player writes (json)"
    )


def _add_run(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--games",
        type=number(int, 0, _MOST_GAMES),
        default=1,
        metavar="N",
        help="leave after so many games; 0: never (%(default)s)",
    )
    group.add_argument(
        "--reconnect", action="store_true", help="try again, and again, when the server is not there"
    )
    group.add_argument("--verbose", action="store_true", help="draw the board as the game goes")


def _text(text: str) -> str:
    text = text.strip()
    if not text or not text.isprintable():
        raise argparse.ArgumentTypeError(f"{text!r} is no name")
    return text


def _engine(name: str) -> str:
    """Return the name if there is such an engine."""
    if ":" in name and "" not in sys.path:
        sys.path.append("")  # an engine of one's own is looked for where one stands
    try:
        if name != MANUAL:
            engine_named(name)
    except (UnknownEngine, EngineUnavailable) as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return name


def _engine_player(name: str, think: float | None) -> EnginePlayer | None:
    if name == MANUAL:
        return None
    return EnginePlayer(engine_named(name), think, math.inf if limits_itself(name) else THINK)
