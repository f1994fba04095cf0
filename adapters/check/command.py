"""The command ``c4gateway check``.

Knows its options, where the bots come from, and where the reports go.
"""

import argparse
import logging
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import trio

from adapters.check.report import Report, as_json, as_junit, as_text, report_of
from adapters.check.runs import keep_running
from adapters.check.serving import Desk
from adapters.dialect import Dialect
from gateway.server.app import addresses_of, open_port
from gateway.server.arguments import Parser, in_one_line, let_output_take_any_text, number

_DESCRIPTION = """\
Listens on a port, plays scripted opponents against whatever bot connects, and says clause by clause of the
dialect's PROTOCOL.md what the bot did right, what it did wrong and what to change.
"""
_EPILOG = """\
The check is over when there is nothing more to see, when no bot comes any more, or on Ctrl-C; start a bot
again that ends before that, or let --run do so. The exit status is 0 if no bot did anything wrong.
"""


def main(arguments: Sequence[str], dialects: Sequence[Dialect]) -> int:
    """Run the command; return its exit status: 1 if a bot did something wrong, or none came."""
    options = _parser(dialects).parse_args(arguments)
    options.bots = max(options.bots, len(options.run))
    let_output_take_any_text()
    logging.basicConfig(level=logging.ERROR)
    dialect = next(each for each in dialects if each.name == options.dialect)
    status, reports = 0, list[Report]()
    try:
        reports = trio.run(_check, dialect, options)
        for report in reports:
            print("\n".join(as_text(report)))
        for path, text in ((options.json, as_json), (options.junit, as_junit)):
            if path is not None:
                Path(path).write_text(text(reports), encoding="utf-8", errors="backslashreplace")
    except* OSError as refusals:
        print(f"c4gateway: error: {in_one_line(refusals)}", file=sys.stderr)
        status = 1
    if status == 0 and len(reports) < options.bots:
        print(f"c4gateway: error: of {options.bots} bots {len(reports)} came", file=sys.stderr)
        status = 1
    return status or (0 if all(report.is_good for report in reports) else 1)


def _parser(dialects: Sequence[Dialect]) -> Parser:
    parser = Parser(
        prog="c4gateway check",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    words = parser.add_subparsers(dest="dialect", required=True, metavar="DIALECT")
    for each in dialects:
        _add_options(words.add_parser(each.name, help=each.title, epilog=_EPILOG, allow_abbrev=False), each)
    return parser


def _add_options(parser: argparse.ArgumentParser, dialect: Dialect) -> None:
    seconds = number(float, 0.1, 3600)
    add = parser.add_argument
    add("--port", type=number(int, 0, 65_535), default=dialect.port, help="where to listen (%(default)s)")
    add("--host", default="127.0.0.1", help="address to listen on (%(default)s)")
    add("--bots", type=number(int, 1, 1000), default=1, metavar="N", help="how many, told apart by name (1)")
    add(
        "--run",
        action="append",
        default=[],
        metavar="COMMAND",
        help="start this bot, and again when it ends; {address}, {host} and {port} say where to connect;"
        " may be given several times",
    )
    add("--patience", type=seconds, default=5.0, metavar="S", help="seconds in which a bot has to move (5)")
    add("--slow", type=seconds, default=3.0, metavar="S", help="seconds that a slow opponent takes (3)")
    add(
        "--wait", type=seconds, default=10.0, metavar="S", help="seconds to wait for a bot to come again (10)"
    )
    add("--json", metavar="FILE", help="write the reports as JSON, too")
    add("--junit", metavar="FILE", help="write the reports as JUnit's XML, too")
    dialect.add_options(parser.add_argument_group("the dialect"))


async def _stop_on_signals(desk: Desk) -> None:
    """Let the check be over, and what is known by then be told, on Ctrl-C or SIGTERM."""
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            desk.is_done.set()


async def _check(dialect: Dialect, options: argparse.Namespace) -> list[Report]:
    """Check the bots that come. Raises OSError if the system refuses the port."""
    desk = Desk(dialect, dialect.book(), options)
    listeners = await open_port(options.port, [options.host])
    (place,) = addresses_of(listeners)
    address = f"{dialect.scheme}://{place}" if dialect.scheme else place
    print(f"{dialect.name}  {address}  waits for {options.bots} to check", flush=True)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.serve_listeners, desk.serve, listeners)
        nursery.start_soon(_stop_on_signals, desk)
        for command in options.run:
            nursery.start_soon(keep_running, command, address, desk.connections, desk.is_done)
        await desk.is_done.wait()
        nursery.cancel_scope.cancel()
    for checkup in desk.checkups.values():
        checkup.conclude()
    return [report_of(dialect.name, desk.book.rules, each) for each in desk.checkups.values()]
