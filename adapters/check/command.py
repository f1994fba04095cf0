"""The command ``c4gateway check``.

Knows its options, where the bots come from, and where the reports go.
"""

import argparse
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

import trio

from adapters.check.report import (
    Failures,
    Report,
    as_json,
    as_junit,
    as_last_words,
    as_summary,
    as_text,
    in_numbers,
    report_of,
)
from adapters.check.runs import command, keep_running
from adapters.check.serving import Desk
from adapters.client.dialect import Dialect
from gateway.access.certificates import Certificate
from gateway.options.arguments import Parser, in_one_line, number, write_out
from gateway.runtime.children import ends
from gateway.runtime.listening import PortInUseError
from gateway.server.app import addresses_of, open_port

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
    parser = _parser(dialects)
    options = parser.parse_args(arguments)
    if options.tls_key is not None and options.tls_cert is None:
        parser.error("--tls-key is of no use without --tls-cert")
    options.bots = max(options.bots, len(options.run))
    logging.basicConfig(level=logging.ERROR)
    dialect = next(each for each in dialects if each.name == options.dialect)
    others = [each for each in dialects if each is not dialect]
    status, reports = 0, list[Report]()
    try:
        reports, failures = trio.run(_check, dialect, others, options)
        write_out(f"{line}\n" for report in reports for line in as_text(report))
        if not all(report.is_good for report in reports):
            write_out(f"{line}\n" for line in as_last_words(failures))
        write_out(f"{line}\n" for line in as_summary(reports, options.bots))
        for path, text in ((options.json, as_json), (options.junit, as_junit)):
            if path is not None:
                written = text(reports, options.bots)
                Path(path).write_text(written, encoding="utf-8", errors="backslashreplace")
    except* OSError as refusals:
        print(f"c4gateway: error: {in_one_line(refusals)}", file=sys.stderr)
        status = 1
    if status == 0 and len(reports) < options.bots:
        print(f"c4gateway: error: {in_numbers(reports, options.bots)}", file=sys.stderr)
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
        type=command,
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
    add("--tls-cert", metavar="FILE", help="a certificate, in PEM: the port takes TLS then, too (wss://)")
    add("--tls-key", metavar="FILE", help="its key, in PEM, if it is not in the same file")
    dialect.add_options(parser.add_argument_group("the dialect"))


async def _stop_on_signals(desk: Desk) -> None:
    """Let the check be over, and what is known by then be told, on Ctrl-C, SIGTERM or SIGHUP."""
    with trio.open_signal_receiver(*ends()) as signals:
        async for _ in signals:
            desk.is_done.set()


async def _check(
    dialect: Dialect, others: Sequence[Dialect], options: argparse.Namespace
) -> tuple[list[Report], Failures]:
    """Check the bots that come, and return how those failed that it started.

    Raises OSError if the system refuses the port or a certificate's files.
    """
    certificate = None if options.tls_cert is None else Certificate(options.tls_cert, options.tls_key)
    desk = Desk(dialect, options, others, certificate)
    try:
        listeners = await open_port(options.port, [options.host])
    except PortInUseError as error:
        raise PortInUseError(f"{error}; --port takes another one, 0 any that is free") from error
    (place,) = addresses_of(listeners)
    scheme = dialect.scheme if certificate is None else f"{dialect.scheme}s" if dialect.scheme else "tls"
    address = f"{scheme}://{place}" if scheme else place
    write_out([f"{dialect.name}  {address}  waits for {options.bots} to check\n"])
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.serve_listeners, desk.serve, listeners)
        nursery.start_soon(_stop_on_signals, desk)
        if options.run:
            nursery.start_soon(desk.wait_for_first)
        for bot in options.run:
            nursery.start_soon(keep_running, bot, address, desk)
        await desk.is_done.wait()
        if options.run:
            await desk.wait_for_crash()
        nursery.cancel_scope.cancel()
    return [report_of(dialect.name, desk.book.rules, each) for each in desk.conclude()], desk.failures
