"""The program ``c4gateway``, or ``python -m gateway``, which runs the server or one of the other commands.

The server and each command are imported only when needed, so that ``--help`` does not wait for the server's
libraries. The system is checked before these imports, because some systems lack modules that the server
needs.
"""

import gc
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adapters.client.dialect import Dialect
    from gateway.options.server import ServerOptions

SYSTEMS = {"linux": "Linux", "darwin": "macOS"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the server or a command; return the exit status. It is 1 if the system is not supported."""
    if sys.platform not in SYSTEMS:
        supported = " and ".join(SYSTEMS.values())
        print(f"c4gateway: error: it runs on {supported}, not on {sys.platform}", file=sys.stderr)
        return 1
    from gateway.options.names import COMMANDS  # noqa: PLC0415
    from gateway.options.table import spelled_out  # noqa: PLC0415

    words = spelled_out(arguments)
    if words and words[0] in COMMANDS:
        return _report(words)
    if words and not words[0].startswith("-"):
        return _command(words)
    from gateway.options import sources  # noqa: PLC0415
    from gateway.options.server import parse  # noqa: PLC0415

    as_json = "--log-json" in words or sources.asks_for("log-json", words, os.environ)
    return _serve(parse(words, _dialects(as_json=as_json)), words)


def _dialects(*, as_json: bool = False) -> "Sequence[Dialect]":
    """Return all dialects. Each plug-in that cannot be used costs a line on stderr."""
    from adapters.dialects import found  # noqa: PLC0415
    from gateway.options.names import WORKER  # noqa: PLC0415

    if found().faults and WORKER not in os.environ:  # a supervisor says it for its workers
        from gateway.runtime.json_stderr import leave_out  # noqa: PLC0415

        for fault in found().faults:
            leave_out(fault, as_json=as_json)
    return found().dialects


def _report(words: Sequence[str]) -> int:
    """Run a command on stored results; return its exit status."""
    gc.disable()
    from gateway.commands import reports  # noqa: PLC0415

    gc.freeze()  # imported modules never become garbage
    gc.enable()
    return reports.main(words)


def _command(words: Sequence[str]) -> int:
    """Run a command that does not use stored results; return its exit status.

    If the command does not exist, prints a line with all commands, and exits with status 2.
    """
    from gateway.options import names  # noqa: PLC0415

    word, rest = words[0], words[1:]
    if word == names.SHOWING:
        status = _show(rest, _dialects())
    elif word in names.PLAYERS:
        from gateway.commands import players  # noqa: PLC0415

        status = players.main(words, _dialects())
    elif word in names.OPERATOR:
        from gateway.commands import admin  # noqa: PLC0415

        status = admin.main(words, _dialects())
    elif word == names.ANALYSIS:
        from gateway.commands import analysing  # noqa: PLC0415

        status = analysing.main(rest)
    elif word == names.HEALTH:
        from gateway.commands import health  # noqa: PLC0415

        status = health.main(rest, _dialects())
    elif word == names.TOURNAMENT:
        from gateway.commands import tournaments  # noqa: PLC0415

        status = tournaments.main(rest, _dialects())
    elif word == names.MATCH:
        from adapters.match import command as matching  # noqa: PLC0415

        _dialects()  # of which the ports of a match take all
        status = matching.main(words)
    elif word == names.CHECK:
        from adapters.check import command as checking  # noqa: PLC0415

        status = checking.main(rest, _dialects())
    else:
        from gateway.game.text import did_you_mean  # noqa: PLC0415
        from gateway.options.table import Parser  # noqa: PLC0415
        from gateway.options.terminal import listed  # noqa: PLC0415

        commands = listed((*names.EVERY, "help", "version"), "and")
        hint = did_you_mean(word, names.EVERY)
        Parser(prog="c4gateway").error(f"there is no command {word!r}, but {commands}{hint}")
    return status


def _show(words: Sequence[str], dialects: "Sequence[Dialect]") -> int:
    """Print the options in force; return the exit status."""
    from gateway.options.server import in_force  # noqa: PLC0415
    from gateway.options.terminal import exit_status, write_out  # noqa: PLC0415

    return exit_status(lambda: write_out(f"{line}\n" for line in in_force(words, dialects)))


def _serve(options: "ServerOptions", words: Sequence[str]) -> int:
    """Run one server or several workers; return the exit status."""
    from gateway.runtime.json_stderr import complain  # noqa: PLC0415
    from gateway.server import streams  # noqa: PLC0415

    try:
        with streams.prepared(as_json=options.log_json):
            if options.workers > 1:
                from adapters.dialects import all_dialects  # noqa: PLC0415
                from gateway.server import supervisor  # noqa: PLC0415

                return supervisor.main(options, words, all_dialects())
            from gateway.runtime.processes import start  # noqa: PLC0415

            writer = None
            if options.db is not None:
                with suppress(OSError):  # the server tries it again and reports the error
                    writer = start("gateway.store.worker")
            from gateway import cli  # noqa: PLC0415  after `start`, so that both processes load their libraries at the same time

            return cli.main(options, writer)
    except OSError as error:
        complain(str(error), as_json=options.log_json)
        return 1


if __name__ == "__main__":
    sys.exit(main())
