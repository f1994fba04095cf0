"""`python -m conformance junk`: does anything that a client sends write a traceback, or stop the server?

Starts a gateway with all its ports, sends random and mutated bytes to one port after the other, and reads its
log meanwhile. Knows words of a command line and what a traceback begins with.
"""

import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import trio

from conformance.arguments import Parser, write_json
from conformance.lab.figures import aligned
from conformance.lab.junk.sender import answers, send_all
from conformance.lab.junk.texts import PORTS
from conformance.launch import COMMAND, Server, running

SETTLING = 0.5
"""Seconds that a server has for logging what the last pieces have caused."""
OPTIONS = ("--web", "0", "--log-level", "warning")
STARTING = COMMAND
_TRACEBACK = b"Traceback (most recent call last)"
_KEPT = 4000


@dataclass(frozen=True, slots=True)
class Row:
    """What came of one port."""

    port: str
    pieces: int
    connections: int
    tracebacks: int
    answers: bool

    @property
    def is_good(self) -> bool:
        return self.answers and not self.tracebacks


class Log:
    """What the server says on stderr: how many tracebacks, and the first of them."""

    def __init__(self) -> None:
        self.tracebacks = 0
        self.first = ""
        self._rest = b""
        self._shown = bytearray()

    def hear(self, data: bytes) -> None:
        """Take in what came."""
        whole = self._rest + data
        self.tracebacks += whole.count(_TRACEBACK)
        self._rest = whole[-len(_TRACEBACK) + 1 :]
        if self.tracebacks and len(self._shown) < _KEPT:
            self._shown += data
            self.first = self._shown[:_KEPT].decode(errors="backslashreplace")


def main(argv: Sequence[str]) -> int:
    """Run the command line; returns the exit status."""
    options = _parse(argv)
    log = Log()
    with TemporaryDirectory(prefix="junk-") as folder:
        rows = trio.run(junk, options, Path(folder, "junk.db"), log)
    print(readable(rows), end="")
    if log.first:
        print(f"the first that the server said:\n{log.first}", file=sys.stderr)
    write_json(options.json, {"seed": options.seed, "ports": [asdict(row) for row in rows]})
    return 0 if all(row.is_good for row in rows) else 1


def _parse(argv: Sequence[str]) -> Namespace:
    parser = Parser.of("junk", __doc__)
    parser.count("--pieces", 20_000, "how many in all")
    parser.only(PORTS)
    parser.report()
    parser.seed()
    return parser.parse_args(argv)


async def junk(options: Namespace, database: Path, log: Log) -> list[Row]:
    """Send to all ports that were asked for. Raises ServerError, wrapped."""
    print(f"seed {options.seed}", flush=True)
    share = -(-options.pieces // len(options.only))
    rows: list[Row] = []
    async with running([*OPTIONS, "--db", str(database)], STARTING, log.hear) as server:
        rows += [await _row(server, port, share, (options.seed, log)) for port in options.only]
    return rows


async def _row(server: Server, port: str, pieces: int, about: tuple[str, Log]) -> Row:
    seed, log = about
    before = log.tracebacks
    connections = await send_all(port, server.addresses[port], pieces, Random(f"{seed} {port}"))
    is_there = await answers(port, server.addresses[port])
    await trio.sleep(SETTLING)
    return Row(port, pieces, connections, log.tracebacks - before, is_there)


def readable(rows: Sequence[Row]) -> str:
    """Return what came of it, lines with their ends."""
    lines = [("port", "pieces", "connections", "tracebacks", "answers")]
    for row in rows:
        numbers = (str(row.pieces), str(row.connections), str(row.tracebacks))
        lines.append((row.port, *numbers, "yes" if row.answers else "NO"))
    return f"{aligned(lines)}\n{'good' if all(row.is_good for row in rows) else 'NOT GOOD'}\n"
