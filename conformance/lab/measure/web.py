"""`measure web`: do those who read results by web cost those who play?

Stretches without readers and with them take turns on one server.
"""

import os
from argparse import Namespace
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import trio

from conformance.arguments import Parser, UsageError
from conformance.lab import meters
from conformance.lab.client import HungUp, asked
from conformance.lab.crowds import SHORT_SERIES, fill
from conformance.lab.load import COUPLES, Counted, Plan, Stretch, by_kind, ms, played
from conformance.lab.measure.scenario import Part, Scenario
from conformance.lab.report import MB, Row
from conformance.lab.workers import LoadError, worker
from conformance.launch import Server, running
from conformance.targets import WEB as PORT
from conformance.targets import Address

TIMES, MORE_MS = 1.5, 2.0
"""So many times as long as in quiet, or so many milliseconds longer, a move may take, 99 of 100."""
LEAD = 1.0
"""Seconds for which readers read before and behind what is measured."""
_OPTIONS = ("--rounds", "1000000", "--web", "0")


async def _beside(readers: int, path: str, options: Namespace, server: Server) -> list[Row]:
    """Play in quiet, and while so many read what is at a path."""
    part, stretch = f"{readers} at {path}", Stretch(options.seconds, options.rate)
    quiet = await _played(server, options, stretch)
    seconds = stretch.warm_up + stretch.seconds + 2 * LEAD
    async with worker(read, server.addresses[PORT], path, readers, seconds) as others:
        await trio.sleep(LEAD)
        beside = await _played(server, options, stretch)
        children = meters.children_of(server.process.pid)
        memory = max((meters.rss_bytes(each) or 0 for each in children), default=0)
        answers, size = await others.receive()
    if not size:
        raise LoadError("those who read by web got nothing")
    return [
        *(
            Row(part, f"{what}, {word}", value, "ms")
            for word, found in (("quiet", quiet), ("read", beside))
            for what, value in (
                ("move p50", ms(found.plays, 50)),
                ("move p99", ms(found.plays, 99)),
                ("result p99", ms(found.results, 99)),
            )
        ),
        allowed(part, ms(quiet.plays, 99), ms(beside.plays, 99)),
        Row(part, "answers", answers, form=".0f"),
        Row(part, "what they got", size / seconds / MB, "MB/s", form=".1f"),
        Row(part, "memory of the web", memory / MB, "MB", form=".0f"),
    ]


def allowed(part: str, quiet: float | None, busy: float | None) -> Row:
    """Return a row for 99 of 100 moves, in milliseconds, over what they may take."""
    if quiet is None or busy is None:
        raise LoadError("no game ended; let them play for longer, or faster")
    most = max(TIMES * quiet, quiet + MORE_MS)
    return Row(part, f"move p99 over {TIMES:g} times quiet, or {MORE_MS:g} ms more", busy / most, most=1.0)


async def _played(server: Server, options: Namespace, stretch: Stretch) -> Counted:
    plan = Plan(COUPLES["droidcon"], options.pairs, by_kind(server), [stretch])
    return (await played(plan)).stretches[0]


@asynccontextmanager
async def _prepared(options: Namespace, command: Sequence[str]) -> AsyncIterator[Server]:
    with TemporaryDirectory(prefix="web-") as folder:
        place = options.db or str(Path(folder) / "web.db")
        if options.db is None:
            async with running([*SHORT_SERIES, "--db", place], command) as server:
                await fill(server, options.games)
        async with running([*_OPTIONS, "--db", place], command) as server:
            yield server


# In the process of readers.


def read(web: Address, path: str, readers: int, seconds: float) -> tuple[int, int]:
    """Let so many read what is at a path, over and over; return how many answers and bytes they got.

    They give way to everybody else, for in earnest they would be on other machines.
    """
    os.nice(19)
    got = [0, 0]
    trio.run(_read_all, web, path, readers, seconds, got)
    return got[0], got[1]


async def _read_all(web: Address, path: str, readers: int, seconds: float, got: list[int]) -> None:
    with trio.move_on_after(seconds):
        async with trio.open_nursery() as nursery:
            for _ in range(readers):
                nursery.start_soon(_read_on, web, path, got)


async def _read_on(web: Address, path: str, got: list[int]) -> None:
    while True:
        async with asked(web, path) as client:
            with suppress(HungUp):
                while True:
                    got[1] += len(await client.heard())
            got[0] += 1


def _options(parser: Parser) -> None:
    parser.count("--pairs", 50, "pairs of bots")
    parser.count("--rate", 1000, "their moves a second")
    parser.count("--games", 64_000, "stored games")
    parser.seconds("--seconds", 5.0, "how long to measure each")
    parser.add_argument("--db", metavar="FILE", help="a database in which they are already")


def _check(options: Namespace) -> None:
    """Raises UsageError."""
    if options.db and options.beside:
        raise UsageError("--db goes without --beside: both servers are up, and one file is for one of them")


WEB = Scenario(
    "do those who read results by web cost those who play?",
    {
        "pages": Part(partial(_beside, 20, "/api/games?limit=1000"), 3),
        "exports": Part(partial(_beside, 50, "/api/export.jsonl"), 3),
    },
    _options,
    _prepared,
    check=_check,
)
