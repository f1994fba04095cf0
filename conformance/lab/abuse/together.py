"""`abuse --together`: everything at once, for as long as wanted. Is anything lost?

A gateway with TLS, protected names, metrics, a page and a file for results; honest company; and all attackers
together, in bouts with a rest behind each, at whose end memory is measured. At last a SIGTERM, on which games
are finished. Knows the processes and the order of things, and says in figures what came of it; what was told
is compared with what is stored as in `kills`.
"""

from argparse import Namespace
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from time import time_ns

import trio

from conformance.lab.abuse.attacks import at_once
from conformance.lab.abuse.company import Honest, Operator, Viewers, tokens_for
from conformance.lab.abuse.figures import MB, Stop
from conformance.lab.abuse.target import LIMITED, PATIENCE, Log, Target
from conformance.lab.abuse.watched import Guest, attacking
from conformance.lab.figures import Row
from conformance.lab.jobs import many_files, say
from conformance.lab.kills.database import stored_in
from conformance.lab.kills.games import LENGTH, Verdict, judge
from conformance.lab.meters import NoSuchProcess
from conformance.launch import Server, start

DRAIN = 30
"""Seconds in which games are finished when the server stops."""
OPTIONS = (
    "--web",
    "0",
    "--metrics",
    "0",
    "--rounds",
    str(LENGTH),
    "--games-per-pair",
    "0",
    "--drain",
    str(DRAIN),
)
MOST_GROWN = 256
"""MB that a busy server's memory may grow by: evidence that waits, names that met, longer pages."""
BOUT = 50.0
"""Seconds for which attackers attack before a rest."""
_SHOWN = 10
_NONE = ("exports cut off", "metrics not read")
"""What must not be, of what viewers count."""


class Ear(Log):
    """Counts reloads, too, and writes down all that it hears."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self._file = file
        self.reloads: Counter[bool] = Counter()
        """By whether they were in order."""

    def hear(self, data: bytes) -> None:
        super().hear(data)
        with self._file.open("ab") as file:
            file.write(data)

    def _take(self, line: bytes) -> None:
        super()._take(line)
        if b" reloaded: " in line:
            self.reloads[True] += 1
        elif b": not reloaded" in line:
            self.reloads[False] += 1


@dataclass(slots=True)
class Seen:
    """What a run came to."""

    honest: Honest
    guest: Guest
    viewers: Viewers
    operator: Operator
    log: Ear
    memory: list[int | None] = field(default_factory=list)
    """Bytes, at the start and behind each rest."""
    did: Counter[str] = field(default_factory=Counter)
    """What attackers did."""
    stop: Stop = field(default_factory=lambda: Stop(0.0, -1))
    verdict: Verdict = field(default_factory=lambda: judge((), (), {}))

    @property
    def hurt(self) -> list[str]:
        """What happened to honest players that should not have."""
        return [*self.honest.hurt, *self.guest.lost]


async def together(options: Namespace, command: Sequence[str]) -> list[Row]:
    """Run it. Raises LoadError, ServerError, wrapped."""
    folder, name = Path(mkdtemp(prefix="abuse-")), f"x{time_ns() // 1000 % 10**12}"
    database = str(folder / "attacked.db")
    operator, log, tokens = (
        Operator(folder),
        Ear(folder / "log"),
        tokens_for(name, options.games, options.together),
    )
    tls = await operator.prepare(tokens)
    words = [*OPTIONS, "--db", database, *operator.options, *options.server_options]
    with many_files():
        async with trio.open_nursery() as nursery:
            server = await start(nursery, words, [*LIMITED, *command], log.hear)
            at = server.addresses
            seen = Seen(
                honest=Honest(name, at, tls, tokens),
                guest=Guest(at["droidcon"]),
                viewers=Viewers(at["web"], at["metrics"], tls),
                operator=operator,
                log=log,
            )
            try:
                await _play(options, server, seen)
            except* NoSuchProcess:
                await server.fail(f"died under attack; files: {folder}")
            finally:
                server.process.kill()
                with trio.CancelScope(shield=True):
                    await server.process.wait()
    told = {result for player in seen.honest.players for result in player.results}
    seen.verdict = judge(told, await stored_in(database, name), seen.honest.games)
    rows = _rows(seen)
    if any(row.is_missed for row in rows):
        print("\n".join([f"files: {folder}", *_details(seen)]))
    else:
        rmtree(folder)
    return rows


async def _play(options: Namespace, server: Server, seen: Seen) -> None:
    """Let everybody come, the attackers in bouts, and at the end stop the server."""
    target = Target(server, seen.log)
    async with trio.open_nursery() as players:
        seen.memory.append(target.memory())
        players.start_soon(seen.honest.run, options.games)
        async with trio.open_nursery() as others:
            others.start_soon(seen.guest.run)
            others.start_soon(seen.viewers.run)
            others.start_soon(seen.operator.run, server.process)
            await _attack(options, server, seen, target)
            others.cancel_scope.cancel()
        say("stopping the server ...")
        seen.honest.is_over = True
        seen.stop = Stop(*await target.stop())
        players.cancel_scope.deadline = trio.current_time() + PATIENCE


async def _attack(options: Namespace, server: Server, seen: Seen, target: Target) -> None:
    """Let all attackers loose together, again and again; note the memory behind each time."""
    ports = {front_end: address.port for front_end, address in server.addresses.items()}
    names, bout = at_once(options.only), min(BOUT, options.together / 2)
    end = trio.current_time() + options.together
    while trio.current_time() < end:
        async with attacking(names, ports, bout, None) as attackers:
            for counts in (await attackers.answer())["counts"].values():
                seen.did.update(counts)
        await trio.sleep(options.rest)
        seen.memory.append(target.memory())
        size, wrong = (seen.memory[-1] or 0) / MB, len(seen.honest.wrong) + len(seen.guest.lost)
        left = max(0.0, end - trio.current_time())
        say(f"{seen.honest.finished} games, {wrong} players hurt, {size:.0f} MB, {left:.0f} s left")


def _rows(seen: Seen) -> list[Row]:
    """Return the figures; those with a goal of 0 are what must not be."""
    honest, read, said, verdict = seen.honest, seen.viewers.counts, seen.log.said, seen.verdict
    failed = sum(times for status, times in read.items() if status.startswith("5") and status != "503")
    return [
        *(_row("attackers", what, seen.did[what]) for what in ("connections", "messages", "hung up")),
        _row("games", "begun", honest.begun),
        _row("games", "finished", honest.finished),
        _row("games", "with a player by TLS", honest.by_tls),
        _row("games", "finished with a house player", seen.guest.finished),
        _row("games", "not begun, no room for the guest", len(seen.guest.refused)),
        _row("players", "with a token", honest.with_token),
        _row("players", "hurt", len(seen.hurt) if honest.finished else None, 0),
        _row("results", "told", verdict.told),
        _row("results", "told, not stored", len(verdict.missing), 0),
        _row("results", "stored twice", len(verdict.twice), 0),
        _row("results", "stored, not played", len(verdict.strange), 0),
        *(_row("page", what, times) for what, times in sorted(read.items()) if what not in _NONE),
        Row("page", "slowest answer", seen.viewers.slowest, "s", form=".1f"),
        _row("page", "failed", failed, 0),
        _row("page", "exports cut off", read["exports cut off"], 0),
        _row("page", "metrics not read", read["metrics not read"] if read["metrics read"] else None, 0),
        _row("server", "reloads", seen.log.reloads[True]),
        _row("server", "reloads that failed", seen.operator.reloads - seen.log.reloads[True], 0),
        _row("server", "tracebacks logged", said.tracebacks, 0),
        _row("server", "control characters logged", said.controls, 0),
        _row("server", "lines of errors logged", said.errors),
        *_memory(seen.memory),
        Row("stop", "took", seen.stop.seconds, "s", DRAIN + 5),
        _row("stop", "status", abs(seen.stop.status), 0),
    ]


def _row(part: str, what: str, found: int | None, most: int | None = None) -> Row:
    return Row(part, what, found, "", most, "d")


def _memory(sizes: Sequence[int | None]) -> list[Row]:
    """Return the memory at the start, behind the first bout and at the end, and how much more this is."""
    start, first, *_, last = [*sizes, sizes[-1]]
    moments = {"at the start": start, "behind the first bout": first, "at the end": last}
    rows = [Row("memory", what, size and size / MB, "MB", form=".0f") for what, size in moments.items()]
    grown = (last - first) / MB if first and last else None
    return [*rows, Row("memory", "more at the end than behind the first", grown, "MB", MOST_GROWN, ".0f")]


def _details(seen: Seen) -> list[str]:
    """Return lines that say what went wrong."""
    verdict = seen.verdict
    found: dict[str, Sequence[object]] = {"hurt": seen.hurt, "logged": seen.log.examples}
    found |= {"not stored": verdict.missing, "twice": verdict.twice, "not played": verdict.strange}
    return [f"{what}: {each}" for what, all_ in found.items() for each in all_[:_SHOWN]]
