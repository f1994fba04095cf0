"""`python -m conformance kills`: is every result that a client was told of stored, once, after `kill -9`?

Knows a gateway as a subprocess, started again and again on one database, and when to kill it: in turns it
alone, so that processes of its own outlive it by a moment, and all of them at once. It is not killed before
results flow, however slow the machine is: a run that told of too few shows nothing. With `--away` the
database is taken away before, until more results are told. What the clients were told is compared with what
is stored at the end, when the server has started once more and has stopped in good order.
"""

import os
import signal
import sys
from argparse import Namespace
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from random import Random
from time import time_ns

import trio

from conformance.arguments import Parser
from conformance.lab.jobs import LoadError
from conformance.lab.kills.database import integrity, recounted, stored_in
from conformance.lab.kills.games import Verdict, judge
from conformance.lab.kills.load import Load
from conformance.lab.kills.notes import OPTIONS, PATIENCE, Notes, in_words, new_database, told
from conformance.lab.meters import children_of
from conformance.launch import COMMAND, Server, ServerError, running, start

AWAY = ".away"
"""What comes behind the name of a file that was taken away."""


@dataclass(frozen=True, slots=True)
class Findings:
    """What a run came to."""

    notes: Notes
    verdict: Verdict
    integrity: str
    books: str
    """What the server's recount says."""

    @property
    def is_good(self) -> bool:
        """Whether nothing was lost, doubled or damaged, and enough results were told before each kill."""
        is_whole = self.integrity in ("ok", "not SQLite") and self.books.endswith(": as kept")
        return self.verdict.is_good and is_whole and self.verdict.told > 0 and self.notes.idle == 0


def main(argv: Sequence[str]) -> int:
    """Run the command line; returns the exit status."""
    parser = Parser.of("kills", __doc__)
    parser.count("--kills", 100, "how often")
    parser.count("--pairs", 12, "pairs of clients")
    parser.count("--results", 100, "how many are told before each kill")
    parser.seconds("--within", 1.0, "when to kill after that, at the latest")
    parser.report()
    parser.seed()
    parser.add_argument("--away", action="store_true", help="take the database's file away before each kill")
    parser.add_argument("--db", metavar="FILE|URL", help="the database (a new file, removed at the end)")
    options = parser.parse_args(argv)
    if options.away and "://" in (options.db or ""):
        parser.error("--away: only a file can be taken away")
    where = options.db or new_database("kills")
    findings = trio.run(kill_all, options, where)
    return told(readable(findings), as_data(findings, options.seed), options, where)


async def kill_all(options: Namespace, where: str, command: Sequence[str] = COMMAND) -> Findings:
    """Kill as often as asked for, and look what is left.

    Raises OutOfStep, ServerError, wrapped.
    """
    place = "by URL" if "://" in where else where  # there may be a password in it
    print(f"seed {options.seed}, database {place}", flush=True)
    notes, lot = Notes(f"x{time_ns() // 1000 % 10**12}"), Random(options.seed)
    for number in range(1, options.kills + 1):
        moment = lot.uniform(0, options.within)
        notes.moments.append(moment)
        whole = number % 2 == 0
        name, seed = f"{notes.token}k{number}", f"{options.seed} {number}"
        run = Run(
            name, seed, options.pairs, options.results, moment, with_helpers=whole, is_away=options.away
        )
        load = await _killed(run, where, command)
        notes.idle += load.results < options.results
        what = "all processes" if whole else "the server"
        print(f"kill {number}, of {what} after {moment:.3f} s: {notes.add(load)} games told of", flush=True)
    async with running([*OPTIONS, "--db", where], command):
        pass
    verdict = judge(notes.told, await stored_in(where, notes.token), notes.played)
    return Findings(notes, verdict, integrity(where), await recounted(where))


@dataclass(frozen=True, slots=True)
class Run:
    """One life of the server."""

    name: str
    seed: str
    pairs: int
    results: int
    """So many are told before `moment` begins."""
    moment: float
    """Seconds."""
    with_helpers: bool
    is_away: bool = False
    """Whether the database is away when the server is killed."""


async def _killed(run: Run, where: str, command: Sequence[str]) -> Load:
    """Let clients play on a server, and kill it; return what they were told to the last byte."""
    try:
        async with trio.open_nursery() as nursery:
            server = await start(nursery, [*OPTIONS, "--db", where], command)
            load = Load(run.name, run.seed, server.addresses, run.results)
            try:
                nursery.start_soon(load.run, run.pairs)
                with trio.move_on_after(PATIENCE):
                    await load.told.wait()
                if run.is_away:
                    await _take_away(where, load, run.pairs)
                await trio.sleep(run.moment)
            finally:
                load.is_over = True
                with trio.CancelScope(shield=True):
                    words = await killed(server, with_helpers=run.with_helpers)
                    if words and not run.is_away:  # otherwise it says that the database is away
                        print(f"the server said:\n{words}", file=sys.stderr)
                if run.is_away:
                    os.replace(where + AWAY, where)
    except BaseExceptionGroup as errors:
        raise (errors.subgroup(ServerError) or errors) from None  # a server that died is why others complain
    return load


async def _take_away(where: str, load: Load, more: int) -> None:
    """Take the database away, and wait until so many more results are told. Raises LoadError if none are."""
    os.replace(where, where + AWAY)
    before = load.results
    with trio.move_on_after(PATIENCE):
        await load.tells(more)
    if load.results == before:
        raise LoadError("without the database nothing is told")


async def killed(server: Server, *, with_helpers: bool) -> str:
    """SIGKILL, and wait; return what it last said on stderr. Raises ServerError unless it still ran.

    The processes that it has are killed with it, as far as the system tells of them, or it alone.
    """
    for helper in children_of(server.process.pid) if with_helpers else ():
        with suppress(ProcessLookupError):
            os.kill(helper, signal.SIGKILL)
    server.process.kill()
    if (status := await server.process.wait()) != -signal.SIGKILL:
        await server.fail(f"died with status {status} before it was killed")
    return await server.last_words()


def readable(findings: Findings) -> str:
    """Return what a run came to, lines with their ends."""
    notes, verdict = findings.notes, findings.verdict
    rows = {
        "kills": len(notes.moments),
        "after too few results": notes.idle,
        "games told of": verdict.told,
        "results told": f"{notes.tellings.total()} ({_by_dialect(notes)})",
        "games stored": verdict.stored,
        "stored, not told of": verdict.untold,
        "told of, not stored": len(verdict.missing),
        "stored twice": len(verdict.twice),
        "stored, not played": len(verdict.strange),
        "integrity of the file": findings.integrity,
        "books": findings.books,
    }
    troubles = {"not stored": verdict.missing, "twice": verdict.twice, "not played": verdict.strange}
    return in_words(rows, troubles, is_good=findings.is_good)


def _by_dialect(notes: Notes) -> str:
    return ", ".join(f"{dialect} {times}" for dialect, times in sorted(notes.tellings.items()))


def as_data(findings: Findings, seed: str) -> dict[str, object]:
    """Return the same for JSON."""
    notes = findings.notes
    return {
        "seed": seed,
        "moments": notes.moments,
        "after_too_few": notes.idle,
        "tellings": dict(notes.tellings),
        "verdict": asdict(findings.verdict),
        "integrity": findings.integrity,
        "books": findings.books,
        "good": findings.is_good,
    }
