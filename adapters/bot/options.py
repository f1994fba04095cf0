"""The options of the command ``c4bot``.

Imports trio only after the command line is parsed, so that ``--help`` is fast.
"""

import math
import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from typing import TYPE_CHECKING

from adapters.client.dialect import Dialect
from adapters.dialects import found as plugged_in
from gateway import __version__
from gateway.engines import Engine, EngineUnavailable, UnknownEngine
from gateway.engines.catalogue import CATALOGUE, THINK, engine_named, limits_itself
from gateway.options.kinds import FILE, TEXT, WHOLE_NUMBER, Kind, count, seconds
from gateway.options.table import Option, Parser, argument, flag, option, options_of, spelled_out, typed_in
from gateway.options.terminal import in_one_line, listed
from gateway.runtime.files import read_file

if TYPE_CHECKING:
    from ssl import SSLContext

    from adapters.bot.choosers import EngineChooser
    from adapters.client.dial import Endpoint
    from adapters.client.talk import Entry

DESCRIPTION = """\
Puts an engine, or you, behind one of the dialects: a bot for c4gateway, or for the dialect's own server.
It plays its games and prints the results.
"""
EPILOG = """\
examples:
{examples}

The exit status is 0 after all games, 1 where the server is not there or does not want the player, 2 for
wrong options, 130 after Ctrl-C.
"""
MANUAL = "manual"
TOKEN_VARIABLE = "C4BOT_TOKEN"
"""The environment variable for the player's token."""
_LONGEST_FILE = 1024
_TOKEN = re.compile(r"[!-~]{1,256}")


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a run."""

    dialect: Dialect
    entry: "Entry"
    engine: "EngineChooser | None"
    """The engine that plays; None for a person at the prompt."""
    seed: int | None
    """The seed of the engine's random choices; None for a different one each time."""
    games: int
    """The number of games to play; 0 for no limit."""
    reconnect: bool
    verbose: bool


def _text(text: str) -> str:
    text = text.strip()
    if not text or not text.isprintable():
        raise ValueError(f"{text!r} is not a name")
    return text


def _engine(name: str) -> tuple[str, Engine | None]:
    """Return the engine's name and the engine; None for a person at the prompt."""
    if ":" in name and "" not in sys.path:
        sys.path.append("")  # a user's own engine is in the current directory
    try:
        return name, None if name == MANUAL else engine_named(name)
    except (UnknownEngine, EngineUnavailable) as error:
        raise ValueError(str(error)) from None


_NAME = Kind(_text, "NAME")


@dataclass(frozen=True, slots=True, kw_only=True)
class _CommandLine:
    """The options as they are typed. `_options` puts words about the dialects in place of the braces."""

    dialect: str = argument("{words}", Kind(str, "DIALECT"))
    address: str = argument(
        "HOST:PORT, or ws://HOST:PORT for {by_url}; with TLS wss://HOST:PORT, tls://HOST:PORT for {by_lines}",
        Kind(str, "ADDRESS"),
    )
    ca: str | None = option(
        "with TLS trust the authorities whose certificates, in PEM, are in this file, and no others",
        FILE,
        default_text="those that the system trusts",
    )
    name: str = option(
        "what the player is called",
        _NAME,
        make_default=lambda: f"c4bot-{os.getpid()}",
        heading="who plays",
        default_text="c4bot-NUMBER, whose games count in no standings of c4gateway's",
    )
    token_file: str | None = option(
        "the token of a protected name is in this file; otherwise in the environment, as {token}",
        FILE,
    )
    engine: tuple[str, Engine | None] = option(
        "{engines}; or {manual}, to play by hand",
        Kind(_engine),
        make_default=lambda: _engine("aima"),
        default_text="aima",
    )
    seed: int | None = option(
        "seed of the engine's lots: in the same position it plays the same, unless time cuts it short",
        WHOLE_NUMBER,
    )
    think: float | None = option(
        "most time for a move",
        seconds(0.001),
        default_text="what the engine takes, or {think}; {clocked}: a 20th of what the server says is left,"
        " and never more",
    )
    against: str | None = option(
        "the only opponent wanted (anyone)", _NAME, heading="against whom", exclusive_group="opponent"
    )
    table: str | None = option(
        "the table or channel to play at (the lobby)",
        _NAME,
        aliases=("--channel",),
        exclusive_group="opponent",
    )
    encoding: str | None = option("how an {writers} player writes", TEXT, default_text="{encoding}")
    games: int = option(
        "leave after so many games; 0: never", count(), 1, heading="how long, and what is seen of it"
    )
    reconnect: bool = flag(
        "try again, and again, if the server is not there or has no place now (name in use, table full), and"
        " come back to a game whose connection breaks"
    )
    verbose: bool = flag("draw the board as the game goes")


def parse(arguments: Sequence[str] | None = None) -> Options:
    """Return the options. Exits with status 2 if they are wrong, after a line on stderr.

    A plug-in that cannot be used costs a line on stderr, too.
    """
    known = plugged_in()
    for fault in known.faults:
        print(f"c4bot: warning: {fault}", file=sys.stderr)
    dialects = known.dialects
    parser = _parser(dialects)
    parser.add(_options(dialects))
    found = parser.settle(_CommandLine, typed_in(parser.parse_args(spelled_out(arguments))))
    from adapters.client.dial import endpoint_in  # noqa: PLC0415
    from adapters.client.talk import Entry  # noqa: PLC0415

    dialect = next(each for each in dialects if found.dialect in (each.name, each.option))
    if found.encoding is not None and found.encoding not in dialect.encodings:
        parser.error(f"argument --encoding: only {_writers(dialects)} has a choice of these")
    if not dialect.allows_blanks and len(found.name.split()) > 1:
        parser.error(f"argument --name: {dialect.name} has no names with a blank, such as {found.name!r}")
    if not dialect.has_places and (found.table is not None or found.against is not None):
        word = "--against" if found.table is None else "--table"
        parser.error(f"argument {word}: {dialect.name} has no word for it; its players meet whoever waits")
    try:
        address = endpoint_in(found.address, dialect.port, has_urls=dialect.scheme != "")
    except ValueError as error:
        parser.error(f"argument ADDRESS: {error}")
    token, tls = _token(parser, found), _tls(parser, found.ca, address)
    return Options(
        dialect=dialect,
        entry=Entry(address, found.name, found.against, found.table, found.encoding, token, tls),
        engine=_engine_chooser(found.engine, found.think),
        seed=found.seed,
        games=found.games,
        reconnect=found.reconnect,
        verbose=found.verbose,
    )


def _token(parser: Parser, found: _CommandLine) -> str | None:
    """Return the token from the file in the options, else from the environment; None without either."""
    token, where = os.environ.get(TOKEN_VARIABLE) or None, TOKEN_VARIABLE
    if found.token_file is not None:
        where = f"--token-file: {found.token_file}"
        try:
            data = read_file(found.token_file, "--token-file", _LONGEST_FILE)
        except OSError as error:
            parser.error(in_one_line(error))
        token = data.decode("ascii", "replace").strip()
    if token is not None and not _TOKEN.fullmatch(token):
        parser.error(f"{where} does not hold a token, one word as c4gateway player add prints it")
    return token


def _tls(parser: Parser, ca: str | None, address: "Endpoint") -> "SSLContext | None":
    """Return the trusted authorities if the address asks for TLS; None otherwise."""
    if not address.is_tls:
        if ca is not None:
            parser.error("--ca is of no use without an address that begins with wss:// or tls://")
        return None
    from adapters.net.tls_client import trusting  # noqa: PLC0415

    try:
        return trusting(ca, "--ca")
    except OSError as error:
        parser.error(in_one_line(error))


def _writers(dialects: Sequence[Dialect]) -> str:
    """Return the dialects in which a player can choose the encoding."""
    return listed([each.name for each in dialects if each.encodings], "or")


def _options(dialects: Sequence[Dialect]) -> Iterator[Option]:
    """Yield the options of the command line with what they say of the dialects."""
    names = [each.name for each in dialects]
    words = [*names, *(each.option for each in dialects if each.option not in names)]
    encodings = tuple(dict.fromkeys(encoding for each in dialects for encoding in each.encodings))
    texts = {
        "words": listed(words, "or"),
        "by_url": listed([each.name for each in dialects if each.scheme], "and"),
        "by_lines": listed([each.name for each in dialects if not each.scheme], "and"),
        "clocked": listed([each.name for each in dialects if "clock" in each.rules], "and"),
        "writers": _writers(dialects),
        "encoding": encodings[0],
        "engines": CATALOGUE,
        "think": str(THINK),
        "manual": MANUAL,
        "token": TOKEN_VARIABLE,
    }
    choices = {"dialect": tuple(words), "encoding": encodings}
    for each in options_of(_CommandLine):
        yield replace(
            each,
            help=each.help.format(**texts),
            default_text=None if each.default_text is None else each.default_text.format(**texts),
            kind=replace(each.kind, choices=choices.get(each.name, each.kind.choices)),
        )


def _parser(dialects: Sequence[Dialect]) -> Parser:
    parser = Parser("c4bot", DESCRIPTION, EPILOG.format(examples="\n".join(_examples(dialects))))
    parser.add_argument("-V", "--version", action="version", version=f"%(prog)s {__version__}")
    return parser


def _examples(dialects: Sequence[Dialect]) -> Iterator[str]:
    """Yield an example command line for each dialect, with different options."""
    options = (
        "--name mc --engine mc:10000",
        "--against aima --verbose",
        "--table lobby --games 0 --reconnect",
        "--engine manual",
    )
    for each, shown in zip(cycle(dialects), options, strict=False):
        scheme = f"{each.scheme}://" if each.scheme else ""
        yield f"  c4bot {each.name} {scheme}127.0.0.1:{each.port} {shown}"


def _engine_chooser(chosen: "tuple[str, Engine | None]", think: float | None) -> "EngineChooser | None":
    from adapters.bot.choosers import EngineChooser  # noqa: PLC0415

    name, engine = chosen
    if engine is None:
        return None
    return EngineChooser(engine, think, math.inf if limits_itself(name) else THINK)
