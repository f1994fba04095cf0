"""The options of the command ``c4gateway check``."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from adapters.client.dialect import Dialect
from gateway.options.description import NoOptions
from gateway.options.kinds import FILE, PORT, TEXT, Kind, count, seconds
from gateway.options.table import Parser, option, options_of, several, typed_in

_DESCRIPTION = """\
Listens on a port, plays scripted opponents against whatever bot connects, and says clause by clause of the
dialect's PROTOCOL.md what the bot did right, what it did wrong and what to change.
"""
_EPILOG = """\
The check is over when there is nothing more to see, when no bot comes any more, or on Ctrl-C; start a bot
again that ends before that, or let --run do so. The exit status is 0 if no bot did anything wrong.
"""
_SECONDS = seconds(most=3600, unit="S")


def command(text: str) -> str:
    """Return `text`, a bot's command. Raises ValueError if quotes do not match, or if there is no program."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ValueError(f"{text!r}: {error}") from None
    if not any(words[:1]):
        raise ValueError("give the command that starts the bot")
    return text


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOptions:
    """The options of a check."""

    own: Any = field(default_factory=NoOptions)
    """The options of the dialect."""

    port: int = option("where to listen", PORT, 0)
    host: str = option("address to listen on", TEXT, "127.0.0.1")
    bots: int = option("how many, told apart by name", count(1, 1000), 1)
    run: list[str] = several(
        "start this bot, and again when it ends; {address}, {host} and {port} say where to connect;"
        " may be given several times",
        Kind(command, "COMMAND"),
    )
    patience: float = option("seconds in which a bot has to move", _SECONDS, 5.0, default_text="5")
    slow: float = option("seconds that a slow opponent takes", _SECONDS, 3.0, default_text="3")
    wait: float = option("seconds to wait for a bot to come again", _SECONDS, 10.0, default_text="10")
    json: str | None = option("write the reports as JSON, too", FILE)
    junit: str | None = option("write the reports as JUnit's XML, too", FILE)
    tls_cert: str | None = option("a certificate, in PEM: the port takes TLS then, too (wss://)", FILE)
    tls_key: str | None = option("its key, in PEM, if it is not in the same file", FILE)


def parse(arguments: Sequence[str], dialects: Sequence[Dialect]) -> tuple[Dialect, CheckOptions]:
    """Return the dialect whose bots are checked, and the options.

    If the options are wrong, prints a line on stderr and exits with status 2.
    """
    parser = Parser("c4gateway check", _DESCRIPTION, _EPILOG)
    words = parser.add_subparsers(dest="dialect", required=True, metavar="DIALECT")
    for each in dialects:
        prog = f"{parser.prog} {each.name}"
        word = words.add_parser(each.name, help=each.title, prog=prog, epilog=_EPILOG)
        word.add(
            replace(one, default=each.port) if one.name == "port" else one for one in options_of(CheckOptions)
        )
        word.add(replace(one, heading="the dialect") for one in options_of(each.options))
    given = typed_in(parser.parse_args(arguments))
    dialect = next(each for each in dialects if each.name == given["dialect"])
    found = parser.settle(CheckOptions, {"port": dialect.port, **given})
    if found.tls_key is not None and found.tls_cert is None:
        parser.error("--tls-key is of no use without --tls-cert")
    own: object = parser.settle(dialect.options, given)
    return dialect, replace(found, own=own, bots=max(found.bots, len(found.run)))
