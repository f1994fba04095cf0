"""Dialects in packages of others, which their entry points name.

Loads each of them and checks that it fits the dialects before it, so that one that does not fit costs only
itself. Knows the type `Dialect` and the server's options. Does not know a particular dialect.
"""

import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from keyword import iskeyword
from typing import TYPE_CHECKING, ParamSpec

from adapters.client.dialect import INTERFACE, Dialect
from gateway.runtime.plugins import Plugin, PluginError, plugins

if TYPE_CHECKING:
    from adapters.client.accepted import Accepted, Serve
    from gateway.access.accounts import Accounts
    from gateway.hub.hub import HubForPlayers

P = ParamSpec("P")

GROUP = "c4gateway.dialects"
"""The group of the entry points. The name of an entry point is the dialect's name."""
RESERVED = (
    *("help", "version", "dialect", "dialects", "own", "file"),
    *("bots", "run", "patience", "slow", "wait", "json", "junit"),
    *("roster", "sheet", "overwrite", "table", "url", "renew", "results"),
)
"""Names that commands, and the lines of the start, have beside the options of all dialects."""

_NAME = re.compile("[a-z][a-z0-9]{0,15}")

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Found:
    """All dialects that can be used, and a line for each plug-in that cannot."""

    dialects: tuple[Dialect, ...]
    faults: tuple[str, ...] = ()


def with_plugins(built_in: Sequence[Dialect]) -> Found:
    """Return the built-in dialects, followed by the plug-ins that can be used beside them."""
    found, faults = [*built_in], list[str]()
    for each in plugins(GROUP):
        try:
            found.append(_loaded(each, found))
        except PluginError as error:
            faults.append(str(error))
    return Found((*found,), (*faults,))


def served(
    dialects: Iterable[Dialect],
    hub: "HubForPlayers",
    options: Mapping[str, object],
    accounts: "Accounts | None",
) -> "list[tuple[Dialect, Serve]]":
    """Return the dialects, each with the function that serves its clients.

    `options` are the dialects' own options, by name. A plug-in whose server cannot be loaded is left out, and
    logged.
    """
    fronts = []
    for each in dialects:
        try:
            fronts.append((each, each.front_end(hub, options[each.name], accounts)))
        except PluginError as error:
            _log(each.name, str(error))
    return fronts


@cache
def _log(name: str, fault: str) -> None:
    """Log that a plug-in has failed, once in each process."""
    logger.error("%s", fault, extra={"event": "plugin_failed", "plugin": name})


def _loaded(plugin: Plugin, others: Sequence[Dialect]) -> Dialect:
    """Load a plug-in's dialect. Raises PluginError, also if it cannot be used together with `others`."""
    dialect = plugin.load()
    if not isinstance(dialect, Dialect):
        raise plugin.error(f"{plugin.point.value} is not a Dialect, but {type(dialect).__name__}")
    if dialect.interface != INTERFACE:
        raise plugin.error(
            f"it is made for version {dialect.interface!r} of the interface for dialects, and this c4gateway"
            f" has version {INTERFACE}; install the two in versions that fit each other"
        )
    try:
        fault = _fault(dialect, plugin.name) or _collision(dialect, others)
        if not fault:
            _fill_in(dialect)
            _add_options(dialect, others)
    except Exception as error:  # fields of wrong types
        raise plugin.error(error) from error
    if fault:
        raise plugin.error(fault)
    guarded = plugin.guarded()
    return replace(
        dialect,
        begins=dialect.begins and _claims(plugin.name, guarded(dialect.begins)),
        front_end=guarded(_naming(dialect.name, dialect.front_end)),
        open_dialogue=guarded(dialect.open_dialogue),
        requirements=guarded(dialect.requirements),
    )


def _fault(dialect: Dialect, entry_point: str) -> str:
    """Return what is wrong with a dialect's own fields; empty if nothing is."""
    if dialect.name != entry_point:
        return f"its entry point has the name {entry_point!r}, and its dialect {dialect.name!r}"
    for what, name in (("name", dialect.name), ("option", dialect.option)):
        if not _NAME.fullmatch(name) or iskeyword(name):
            return f"its {what} {name!r} is not a lower-case letter followed by up to 15 of these and digits"
    if len(dialect.mark) != 1 or not dialect.mark.isalpha():
        return f"its mark {dialect.mark!r} is not a letter"
    if dialect.scheme not in ("", "ws"):
        return f"its scheme {dialect.scheme!r} is neither 'ws' nor empty"
    if not 0 < dialect.port < 65_536:
        return f"its port {dialect.port!r} is not a number from 1 to 65535"
    return ""


def _collision(dialect: Dialect, others: Sequence[Dialect]) -> str:
    """Return what a dialect has in common with another one or with the server; empty if nothing."""
    from gateway.options.server import PAGE, WEB_PORT, all_options  # noqa: PLC0415  a bot needs no server's options
    from gateway.options.table import options_of  # noqa: PLC0415

    for each in others:
        if both := sorted({dialect.name, dialect.option} & {each.name, each.option}):
            return f"the dialect {each.name} already has the name {both[0]!r}"
        if dialect.port == each.port:
            return f"the dialect {each.name} already has the port {each.port}"
        if dialect.mark == each.mark:
            return f"the dialect {each.name} already has the mark {each.mark!r}"
    if dialect.port == WEB_PORT:
        return f"the page already has the port {WEB_PORT}"
    taken = {each.key for each in all_options(others)} | {PAGE, *RESERVED}
    own = [each.key for each in options_of(dialect.options)]
    words = [dialect.name, *({dialect.option} - {dialect.name}), *own]
    for word in words:
        if word in taken or words.count(word) > 1:
            return f"c4gateway already has an option or a port called {word!r}"
    return ""


def _fill_in(dialect: Dialect) -> None:
    """Fill in the templates of a dialect, as the server does at its start. Raises any exception."""
    dialect.example.format(address="", host="", port="")
    for each in dialect.entering:
        each.format(name="", quoted="", token="", table="")
    re.compile(dialect.names)
    texts = (dialect.title, dialect.short, dialect.bots, dialect.answer, dialect.name_rule)
    "".join((*texts, dialect.refusal.decode("latin-1"), *dialect.encodings, *dialect.rules))


def _add_options(dialect: Dialect, others: Sequence[Dialect]) -> None:
    """Add a dialect's options to the server's, as each command does. Raises any exception."""
    from gateway.options.server import all_options  # noqa: PLC0415  as above
    from gateway.options.table import Parser, options_of  # noqa: PLC0415

    for each in options_of(dialect.options):
        if each.is_positional or each.is_required:
            raise ValueError(f"the option {each.key!r} would be required of every server")
    parser = Parser("")
    parser.add(all_options([*others, dialect]))  # refuses an option that has the alias of another one
    parser.format_help()
    dialect.options()


def _naming(name: str, front_end: "Callable[P, Serve]") -> "Callable[P, Serve]":
    """Return a front end whose clients have the name of their dialect."""

    def named(*args: P.args, **kwargs: P.kwargs) -> "Serve":
        serve = front_end(*args, **kwargs)
        if not callable(serve):
            raise TypeError(
                f"front_end returned {type(serve).__name__}, and no function that serves a client"
            )

        async def serve_named(client: "Accepted") -> None:
            client.dialect = name
            await serve(client)

        return serve_named

    return named


def _claims(name: str, begins: Callable[[str], bool]) -> Callable[[str], bool]:
    """Return a plug-in's `begins`. Where that fails, the message may belong to another dialect."""

    def claims(text: str) -> bool:
        try:
            return begins(text)
        except PluginError as error:
            _log(name, str(error))
            return False

    return claims
