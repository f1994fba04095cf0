"""`python -m conformance drains`: is every game that is on at a SIGTERM finished, told and stored?

Knows a gateway as a subprocess with `--drain`, started again and again on one database, and when to stop it:
in the middle of the games of many pairs of all dialects. The rule it keeps: a client that was told of a game,
and not of its result, and did not leave it, was hurt, whatever the server says. A good server ends with
status 0 and has nothing to warn of.
"""

import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from random import Random
from time import time_ns

import trio

from conformance.arguments import Parser
from conformance.lab.kills.database import stored_in
from conformance.lab.kills.games import Verdict, judge
from conformance.lab.kills.load import Load
from conformance.lab.kills.notes import OPTIONS, PATIENCE, Notes, in_words, new_database, told
from conformance.launch import COMMAND, Server, start

LIMIT = 60.0
"""Seconds that the server gives its games: many times what any of these takes."""


@dataclass(slots=True)
class Counts:
    """What the drains came to until now."""

    playing: int = 0
    """Clients in a game when the signal was sent, as far as they knew."""
    hurt: list[str] = field(default_factory=list)
    """Clients whose game was not finished."""
    warnings: int = 0
    """Drains in which the server had something to say."""
    seconds: list[float] = field(default_factory=list)
    """How long each took, from the signal to the end of the server."""


@dataclass(frozen=True, slots=True)
class Findings:
    """What a run came to."""

    counts: Counts
    notes: Notes
    verdict: Verdict

    @property
    def is_good(self) -> bool:
        """Whether games were on, none was hurt, and every result was stored and told."""
        counts, verdict = self.counts, self.verdict
        return verdict.is_good and counts.playing > 0 and not counts.hurt and not counts.warnings


def main(argv: Sequence[str]) -> int:
    """Run the command line; returns the exit status."""
    parser = Parser.of("drains", __doc__)
    parser.count("--drains", 50, "how often")
    parser.count("--pairs", 60, "pairs of clients")
    parser.count("--results", 100, "how many are told before each signal")
    parser.seconds("--within", 0.5, "when to send it after that, at the latest")
    parser.report()
    parser.seed()
    parser.set_defaults(db=None)
    options, where = parser.parse_args(argv), new_database("drains")
    findings = trio.run(drain_all, options, where, COMMAND)
    return told(readable(findings), as_data(findings, options.seed), options, where)


async def drain_all(options: Namespace, where: str, command: Sequence[str]) -> Findings:
    """Stop a server as often as asked for, and look what became of the games.

    Raises OutOfStep, ServerError, wrapped.
    """
    print(f"seed {options.seed}, database {where}", flush=True)
    notes, counts, lot = Notes(f"x{time_ns() // 1000 % 10**12}"), Counts(), Random(options.seed)
    for number in range(1, options.drains + 1):
        moment = lot.uniform(0, options.within)
        load = await _drained(f"{notes.token}d{number}", moment, options, (where, command), counts)
        games, hurt = notes.add(load), [str(player) for player in load.players if player.is_hurt]
        counts.hurt += hurt
        print(
            f"drain {number}, {counts.seconds[-1]:.3f} s: {games} games told of, {len(hurt)} clients hurt",
            flush=True,
        )
    return Findings(counts, notes, judge(notes.told, await stored_in(where, notes.token), notes.played))


async def _drained(
    name: str, moment: float, options: Namespace, started: tuple[str, Sequence[str]], counts: Counts
) -> Load:
    """Let clients play on a server and stop it; return what they were told to the last byte."""
    where, command = started
    said: list[bytes] = []
    async with trio.open_nursery() as nursery:
        words = [*OPTIONS, "--log-level", "warning", "--drain", f"{LIMIT:g}", "--db", where]
        server = await start(nursery, words, command, said.append)
        load = Load(name, f"{options.seed} {len(counts.seconds)}", server.addresses, options.results)
        nursery.start_soon(load.run, options.pairs)
        with trio.move_on_after(PATIENCE):
            await load.told.wait()
        await trio.sleep(moment)
        load.is_over = True
        counts.playing += sum(player.is_playing for player in load.players)
        counts.seconds.append(await _stopped(server))
    if said:
        counts.warnings += 1
        print(f"the server said:\n{b''.join(said).decode(errors='replace')}", file=sys.stderr)
    return load


async def _stopped(server: Server) -> float:
    """Send SIGTERM; return the seconds until the server has ended. Raises ServerError if it does not."""
    begun = trio.current_time()
    server.process.terminate()
    with trio.move_on_after(LIMIT + PATIENCE):
        await server.process.wait()
    if server.process.poll() is None:
        server.process.kill()
        await server.fail("did not end after SIGTERM")
    if server.process.returncode != 0:
        await server.fail(f"exited with status {server.process.returncode} after SIGTERM")
    return trio.current_time() - begun


def readable(findings: Findings) -> str:
    """Return what a run came to, lines with their ends."""
    counts, verdict = findings.counts, findings.verdict
    rows = {
        "drains": len(counts.seconds),
        "clients in a game then": counts.playing,
        "clients hurt": len(counts.hurt),
        "games told of": verdict.told,
        "games stored": verdict.stored,
        "told of, not stored": len(verdict.missing),
        "stored twice": len(verdict.twice),
        "stored, not played out": len(verdict.strange),
        "warnings": counts.warnings,
        "longest, seconds": f"{max(counts.seconds):.3f}",
    }
    troubles = {"hurt": counts.hurt, "not played out": verdict.strange}
    return in_words(rows, troubles, is_good=findings.is_good)


def as_data(findings: Findings, seed: str) -> dict[str, object]:
    """Return the same for JSON."""
    words = {"seed": seed, **asdict(findings.counts), "verdict": asdict(findings.verdict)}
    return words | {"good": findings.is_good}
