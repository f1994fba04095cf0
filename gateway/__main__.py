"""The command ``c4gateway``, also as ``python -m gateway``: it reads the options, and does what they ask for.

Knows the options, and what does the work: the server, or a command on a store. It imports each only when it
is asked for, so that ``--help`` does not wait for the server's libraries. Before it imports anything it looks
at the system, because some systems lack modules that the server needs.
"""

import gc
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from adapters.client.dialect import Dialect
    from gateway.options.server import ServerOptions

SYSTEMS = {"linux": "Linux", "darwin": "macOS"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status, 1 on a system that is not supported."""
    if sys.platform not in SYSTEMS:
        supported = " and ".join(SYSTEMS.values())
        print(f"c4gateway: error: it runs on {supported}, not on {sys.platform}", file=sys.stderr)
        return 1
    from gateway.options.names import COMMANDS, SHOWING  # noqa: PLC0415
    from gateway.options.table import spelled_out  # noqa: PLC0415

    given = spelled_out(arguments)
    if given and given[0] in COMMANDS:
        return _report(given)
    from adapters.dialects import DIALECTS  # noqa: PLC0415
    from gateway.options.server import parse  # noqa: PLC0415

    if given and given[0] == SHOWING:
        return _show(given[1:], DIALECTS)
    if given and (command := _without_a_server(given[0], DIALECTS)) is not None:
        return command(given)
    if given and not given[0].startswith("-"):
        _refuse(given[0])
    return _serve(parse(given, DIALECTS), given)


def _report(given: Sequence[str]) -> int:
    """Run a command on what was kept."""
    gc.disable()
    from gateway.commands import reports  # noqa: PLC0415

    gc.freeze()  # what is imported stays: nothing is to be found there, at the end either
    gc.enable()
    return reports.main(given)


def _show(given: Sequence[str], dialects: "Sequence[Dialect]") -> int:
    """Show the options in force."""
    from gateway.options.server import in_force  # noqa: PLC0415
    from gateway.options.terminal import in_one_line, write_out  # noqa: PLC0415

    try:
        write_out(f"{line}\n" for line in in_force(given, dialects))
    except OSError as error:
        print(f"c4gateway: error: {in_one_line(error)}", file=sys.stderr)
        return 1
    return 0


def _refuse(word: str) -> NoReturn:
    """Exit with status 2, after a line that says which commands there are."""
    from gateway.game.text import did_you_mean  # noqa: PLC0415
    from gateway.options.names import EVERY  # noqa: PLC0415
    from gateway.options.table import Parser  # noqa: PLC0415
    from gateway.options.terminal import listed  # noqa: PLC0415

    commands = listed((*EVERY, "help", "version"), "and")
    Parser(prog="c4gateway").error(f"there is no command {word!r}, but {commands}{did_you_mean(word, EVERY)}")


def _serve(options: "ServerOptions", given: Sequence[str]) -> int:
    """Run the server, or several of them; return the exit status."""
    from gateway.runtime.json_stderr import complain  # noqa: PLC0415
    from gateway.server import streams  # noqa: PLC0415

    try:
        with streams.prepared(as_json=options.log_json):
            return _serve_on(options, given)
    except OSError as error:
        complain(str(error), as_json=options.log_json)
        return 1


def _serve_on(options: "ServerOptions", given: Sequence[str]) -> int:
    """Do the same where the standard streams are prepared."""
    if options.workers > 1:
        from adapters.dialects import DIALECTS  # noqa: PLC0415
        from gateway.server import supervisor  # noqa: PLC0415

        return supervisor.main(options, given, DIALECTS)
    from gateway.runtime.processes import start  # noqa: PLC0415

    writer = None
    if options.db is not None:
        with suppress(OSError):  # the server tries again, and says why
            writer = start("gateway.store.worker")
    from gateway import cli  # noqa: PLC0415  now, so that both load their libraries at the same time

    return cli.main(options, writer)


def _without_a_server(word: str, dialects: "Sequence[Dialect]") -> Callable[[Sequence[str]], int] | None:
    """Return what carries out a command that needs no options of a server; None for other words."""
    from gateway.options import names  # noqa: PLC0415

    if word in names.PLAYERS:
        from gateway.commands import players  # noqa: PLC0415

        return lambda given: players.main(given, dialects)
    if word in names.OPERATOR:
        from gateway.commands import admin  # noqa: PLC0415

        return lambda given: admin.main(given, dialects)
    if word == names.ANALYSIS:
        from gateway.commands import analysing  # noqa: PLC0415

        return lambda given: analysing.main(given[1:])
    if word == names.HEALTH:
        from gateway.commands import health  # noqa: PLC0415

        return lambda given: health.main(given[1:], dialects)
    return _with_a_server_of_its_own(word, dialects)


def _with_a_server_of_its_own(
    word: str, dialects: "Sequence[Dialect]"
) -> Callable[[Sequence[str]], int] | None:
    from gateway.options.names import CHECK, MATCH  # noqa: PLC0415

    if word == MATCH:
        from adapters.match import command as matching  # noqa: PLC0415

        return matching.main
    if word == CHECK:
        from adapters.check import command as checking  # noqa: PLC0415

        return lambda given: checking.main(given[1:], dialects)
    return None


if __name__ == "__main__":
    sys.exit(main())
