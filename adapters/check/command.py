"""The command ``c4gateway check``.

Knows its options, where the bots come from, and where the reports go.
"""

import logging
import sys
from collections.abc import Sequence
from pathlib import Path

import trio

from adapters.check.options import CheckOptions, parse
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
from adapters.check.runs import keep_running
from adapters.check.serving import Check
from adapters.client.dialect import Dialect
from gateway.access.certificates import Certificate
from gateway.options.terminal import in_one_line, write_out
from gateway.runtime.children import ends
from gateway.runtime.listening import PortInUseError
from gateway.runtime.plugins import PluginError
from gateway.server.app import addresses_of, open_port


def main(arguments: Sequence[str], dialects: Sequence[Dialect]) -> int:
    """Run the command. Return its exit status: 0 if all expected bots came and did nothing wrong, else 1."""
    dialect, options = parse(arguments, dialects)
    logging.basicConfig(level=logging.ERROR)
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
    except* (OSError, PluginError) as refusals:
        print(f"c4gateway: error: {in_one_line(refusals)}", file=sys.stderr)
        status = 1
    if status == 0 and len(reports) < options.bots:
        print(f"c4gateway: error: {in_numbers(reports, options.bots)}", file=sys.stderr)
        status = 1
    return status or (0 if all(report.is_good for report in reports) else 1)


async def _stop_on_signals(is_done: trio.Event) -> None:
    """End the check on Ctrl-C, SIGTERM or SIGHUP. The findings so far are reported."""
    with trio.open_signal_receiver(*ends()) as signals:
        async for _ in signals:
            is_done.set()


async def _check(
    dialect: Dialect, others: Sequence[Dialect], options: CheckOptions
) -> tuple[list[Report], Failures]:
    """Check the bots that connect. Return their reports, and the failures of processes of bots.

    Raises OSError if the system refuses the port or a certificate's files.
    """
    certificate = None if options.tls_cert is None else Certificate(options.tls_cert, options.tls_key)
    check = Check(dialect, options, others, certificate)
    bots = check.bots
    try:
        listeners = await open_port(options.port, [options.host])
    except PortInUseError as error:
        raise PortInUseError(f"{error}; --port takes another one, 0 any that is free") from error
    (place,) = addresses_of(listeners)
    scheme = dialect.scheme if certificate is None else f"{dialect.scheme}s" if dialect.scheme else "tls"
    address = f"{scheme}://{place}" if scheme else place
    write_out([f"{dialect.name}  {address}  waits for {options.bots} to check\n"])
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.serve_listeners, check.serve, listeners)
        nursery.start_soon(_stop_on_signals, bots.is_done)
        if options.run:
            nursery.start_soon(check.wait_for_first)
        for command in options.run:
            nursery.start_soon(keep_running, command, address, bots)
        await bots.is_done.wait()
        if options.run:
            await bots.wait_for_crash()
        nursery.cancel_scope.cancel()
    rules = bots.requirements.rules
    found = [report_of(dialect.name, rules, each, dialect.document) for each in check.conclude()]
    return found, bots.failures
