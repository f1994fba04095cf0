"""How much do all known attacks slow down other players?

Starts a gateway with a database and a web port. Honest games of all dialects are played there, at ten moves
a second in each game, and an honest client plays `@aimafast`. First each attack runs alone, then all attacks
run at once, and finally the server is stopped under attack. Each attack is followed by a rest. The end of the
rest is measured too, as "quiet", for comparison. With two cores, the gateway's main process has one, and
honest games and attackers share the other. The attackers run only when that core is otherwise idle.

    p50 ms, p99 ms  time from a bot's sending of a move to its opponent's receipt, without the last moves of
                    games. A pair moves every 0.1 s. A move that takes longer delays the next ones: each
                    delayed move counts with 0.1 s less than the move before it.
    house p50 ms    time of a move of `@aimafast`
    server          share of a core that the gateway's main thread used
    took            the part of `server` that is due to the attack
    by              share of a core that the attackers used
    MB more, kept   growth of the memory of all server processes: the highest, and at the end of the rest
    DB MB           growth of the database
    lost            honest games that were cut off, were out of step, or stood still for 10 s
    log             tracebacks, errors and control characters in the log
    left out        share of the moves that ended while the host of a virtual machine had taken the core. If
                    it exceeds the goal, the attack is repeated, at most twice.
    idle            attacks that sent nothing
"""

import os
from argparse import Namespace
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import trio

from conformance.arguments import Parser
from conformance.lab import meters
from conformance.lab.abuse.attackers import Attack, attacking
from conformance.lab.abuse.attacks import ATTACKS, at_once
from conformance.lab.abuse.honest import Guest, Seen, play
from conformance.lab.client import asked
from conformance.lab.crowds import fill
from conformance.lab.load import by_kind
from conformance.lab.report import MB, Row, counted, finish, middle, ms, some
from conformance.lab.servers import Gateway, gateway
from conformance.lab.workers import LoadError, Worker, many_files, say, settle_on, worker
from conformance.launch import COMMAND
from conformance.targets import WEB, Address

P50_MS, P99_MS = 2.0, 20.0
"""Goals for moves under attack, in milliseconds: the 50th and the 99th percentile."""
QUIET_P99_MS = 2.0
"""The goal for the 99th percentile without an attack. A slower machine is not fit for measuring."""
HOUSE_MS = 1000.0
"""The goal for the median time of a move of the honest client's house player, in milliseconds."""
HOUSE = "house"
"""The attack during which every move of that house player must meet the goal `HOUSE_MS`."""
MOST_LEFT_OUT = 0.75
"""The highest share of the moves that may be left out."""
GROWTH_MB = 256.0
"""Megabytes by which the server may grow under attack."""
MOST_KEPT = 0.1
"""The goal for growth after the rest, as a fraction of the memory before the attack."""
STOP_S = 5.0
"""Seconds that a stop may take under attack."""
PAGE_MB = 4.0
"""Megabytes that a page of 1,000 games may have, whatever the players' names are."""
TRIES = 3
"""The most runs of an attack, if the host holds up more than `MOST_LEFT_OUT` of the moves each time."""
TOGETHER = "together"
"""The name for all attacks at once."""
OPTIONS = ("--web", "0", "--rounds", "1000000", "--games-per-pair", "0")
LIMITED = ("/bin/sh", "-c", 'ulimit -n 1024; exec "$@"', "sh")
"""A prefix of the server's command. It sets a usual limit of open files, which an attack can reach."""
_PAGE = "/api/games?limit=1000"
_ANSWERING = 60.0
_SETTLING = 2.0
"""Seconds that honest games run before a measurement, and that attackers run before the server's stop."""
_LOOK = 0.1
"""Seconds between two measurements of the memory."""


def main(argv: Sequence[str]) -> int:
    """Run the command line; return the exit status."""
    parser = Parser.of("abuse", __doc__)
    parser.count("--games", 50, "honest games at once")
    parser.seconds("--seconds", 6.0, "seconds of each attack")
    parser.seconds("--rest", 10.0, "seconds of rest after each attack")
    parser.count("--stored", 10_000, "games in the database before web attacks")
    parser.only({name: attack.live.__doc__ for name, attack in ATTACKS.items()})
    parser.server_options()
    parser.report()
    options = parser.parse_args(argv)
    with TemporaryDirectory(prefix="abuse-") as folder:
        attacks, rows, notes = trio.run(attack, options, str(Path(folder) / "attacked.db"))
    return finish("abuse", rows, options, notes, wide=attacks)


async def attack(
    options: Namespace, place: str, command: Sequence[str] = COMMAND
) -> tuple[list[Row], list[Row], list[str]]:
    """Run all attacks of `options`; return the figures of attacks, other figures, and lines about problems.

    Raises LoadError, ServerError or NoSuchProcess, which may be in an ExceptionGroup.
    """
    words = [*OPTIONS, "--db", place, *options.server_options]
    with many_files():
        async with gateway(words, [*LIMITED, *command]) as server:
            if any(ATTACKS[name].reads for name in options.only):
                await fill(server.server, options.stored)
            cores = meters.two_cores()
            core = None if cores is None else cores[1]
            settle_on(cores, server.pid)
            guest = Guest(server.addresses["droidcon"])
            games = worker(play, by_kind(server.server), options.games, core)
            async with games as honest, trio.open_nursery() as nursery:
                watched = Watched(server, honest, guest, core, place)
                nursery.start_soon(guest.run)
                nursery.start_soon(watched.look)
                await trio.sleep(_SETTLING)
                await _fetched(server.addresses[WEB])
                found = await _attack_all(options, watched)
                nursery.cancel_scope.cancel()
    return found


async def _attack_all(options: Namespace, watched: "Watched") -> tuple[list[Row], list[Row], list[str]]:
    server, log = watched.server, watched.server.log
    say("watching quiet games ...")
    quiets = [await watched.watch(min(options.rest, options.seconds))]
    crowd = at_once(options.only)
    outcomes: list[Outcome] = []
    for group in [*([ATTACKS[name]] for name in options.only), *([crowd] if len(crowd) > 1 else [])]:
        tries: list[Outcome] = []
        while not tries or (len(tries) < TRIES and tries[-1].window.left_out > MOST_LEFT_OUT):
            outcome, quiet = await watched.attacked_by(group, options)
            tries.append(outcome)
            quiets.append(quiet)
        outcomes.append(best_of(tries))
    page = len(await _fetched(server.addresses[WEB]))
    say("stopping the server under attack ...")
    watched.guest.is_over = True
    async with attacking(crowd, server.addresses, 10 * options.rest, watched.core):
        await trio.sleep(_SETTLING)
        seconds, status = await server.stop()
    usual = middle(quiet.server_share for quiet in quiets)
    lost = [what for quiet in quiets for what in quiet.lost]
    rows = [
        Row("quiet", "p50 ms", middle(ms(quiet.times, 50) for quiet in quiets), form=".1f"),
        Row(
            "quiet", "p99 ms", middle(ms(quiet.times, 99) for quiet in quiets), most=QUIET_P99_MS, form=".1f"
        ),
        Row("quiet", "house p50 ms", middle(ms(quiet.house, 50) for quiet in quiets), form=".1f"),
        Row("quiet", "server", usual, form=".0%"),
        counted("quiet", "lost", len(lost), 0),
        *(row for outcome in outcomes for row in rows_of(outcome, usual)),
    ]
    notes = some("lost in quiet", lost) + some("logged", log.examples)
    notes += [line for one in outcomes for line in some(f"lost beside {one.name}", one.window.lost)]
    return (
        rows,
        [
            Row("stop", "took", seconds, "s", STOP_S, ".1f"),
            counted("stop", "status", abs(status), 0),
            Row("page", "of 1,000 games", page / MB, "MB", PAGE_MB, ".1f"),
            Row("log", "size", log.said["bytes"] / MB, "MB", form=".1f"),
        ],
        notes,
    )


async def _fetched(web: Address) -> bytes:
    """Fetch a page of 1,000 games. Raises LoadError."""
    with trio.move_on_after(_ANSWERING):
        async with asked(web, _PAGE) as client:
            return await client.rest()
    raise LoadError(f"{_PAGE} was not answered within {_ANSWERING:.0f} s")


@dataclass(frozen=True, slots=True)
class Window:
    """Measurements of honest games over a period. Times are in seconds."""

    times: Sequence[float]
    left_out: float
    lost: Sequence[str]
    house: Sequence[float]
    """Times of the moves of the honest client's house player."""
    server_share: float
    """The share of a core that the gateway's main thread used."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The figures of one attack. Memory is in bytes, of all processes of the server."""

    name: str
    window: Window
    before: int
    most: int
    after: int
    """Memory after the rest."""
    said: Counter[str]
    counts: Mapping[str, Mapping[str, int]]
    """Counts of what the attackers did, by attack."""
    by: float
    """The share of a core that the attackers used."""
    stored: int
    """Bytes by which the database grew."""


def best_of(tries: Sequence[Outcome]) -> Outcome:
    """Return the try in which the host held up the fewest moves, with the losses and logs of all tries."""
    best = min(tries, key=lambda each: each.window.left_out)
    lost = [what for each in tries for what in each.window.lost]
    said = sum((each.said for each in tries), Counter[str]())
    return replace(best, window=replace(best.window, lost=lost), said=said)


def rows_of(one: Outcome, usual: float) -> list[Row]:
    """Return the figures of an attack; `usual` is the `server_share` without attacks."""
    name, window, said = one.name, one.window, one.said
    may_log = name in ATTACKS and ATTACKS[name].may_log
    idle = [each for each, counts in one.counts.items() if not counts.get("messages")]
    most_kept = MOST_KEPT * one.before / MB
    longest = Row(name, "house max ms", ms(window.house, 100), most=HOUSE_MS, form=".1f")
    return [
        Row(name, "p50 ms", ms(window.times, 50), most=P50_MS, form=".1f"),
        Row(name, "p99 ms", ms(window.times, 99), most=P99_MS, form=".1f"),
        Row(name, "house p50 ms", ms(window.house, 50), most=HOUSE_MS, form=".1f"),
        *([longest] if name == HOUSE else ()),
        Row(name, "server", window.server_share, form=".0%"),
        Row(name, "took", window.server_share - usual, form=".0%"),
        Row(name, "by", one.by, form=".0%"),
        Row(name, "MB more", (one.most - one.before) / MB, most=GROWTH_MB, form=".0f"),
        Row(name, "kept", (one.after - one.before) / MB, most=most_kept, form=".0f"),
        Row(name, "DB MB", one.stored / MB, form=".0f"),
        counted(name, "lost", len(window.lost), 0),
        counted(name, "log", said["tracebacks"] + said["controls"] + (0 if may_log else said["errors"]), 0),
        Row(name, "left out", window.left_out, most=MOST_LEFT_OUT, form=".0%"),
        counted(name, "idle", len(idle), 0),
    ]


class Watched:
    """A gateway on which honest games are played and measured."""

    def __init__(self, server: Gateway, honest: Worker, guest: Guest, core: int | None, place: str) -> None:
        """Attackers run on `core`, or on any core if it is None. `place` is the database's file."""
        self.server = server
        self.core = core
        self._honest = honest
        self.guest = guest
        self._place = Path(place)
        self._most = 0
        self._begun = perf_counter()
        self._used = meters.used_by(server.pid)

    async def look(self) -> None:
        """Measure the memory repeatedly, until this task is cancelled or the server has ended.

        A new child process of the server inherits the server's core. This method lets it run on any core.
        """
        known = set[int]()
        with suppress(meters.NoSuchProcess):
            while True:
                for child in {*meters.children_of(self.server.pid)} - known:
                    known.add(child)
                    with suppress(meters.NoSuchProcess):
                        meters.pin(child, *range(os.cpu_count() or 1))
                self._most = max(self._most, meters.memory_of(self.server.pid))
                await trio.sleep(_LOOK)

    async def begin(self) -> None:
        """Begin a measurement. Raises LoadError, NoSuchProcess."""
        await self._honest.send("begin")
        self.guest.begin()
        self._begun, self._used = perf_counter(), meters.used_by(self.server.pid)

    async def end(self) -> Window:
        """Return the measurements since `begin`. Raises LoadError, NoSuchProcess."""
        seconds, used = perf_counter() - self._begun, meters.used_by(self.server.pid)
        await self._honest.send("end")
        seen: Seen = await self._honest.receive()
        share = used.since(self._used).first / seconds
        if seen.waited > 0.1:
            say(f"  honest games waited {seen.waited:.0%} of the time for a core: what else runs here?")
        return Window(seen.times, seen.left_out, [*seen.lost, *self.guest.lost], self.guest.times, share)

    async def watch(self, seconds: float) -> Window:
        """Measure for some seconds; return the measurements."""
        await self.begin()
        await trio.sleep(seconds)
        return await self.end()

    async def attacked_by(self, attacks: Sequence[Attack], options: Namespace) -> tuple[Outcome, Window]:
        """Run attacks, then rest; return the outcome, and the measurements at the end of the rest."""
        name = attacks[0].name if len(attacks) == 1 else TOGETHER
        say(f"attacking: {name} ...")
        before, stored, said = meters.memory_of(self.server.pid), self._size(), self.server.log.said.copy()
        self._most = before
        async with attacking(attacks, self.server.addresses, options.seconds, self.core) as attackers:
            await self.begin()
            counts, share = await attackers.receive()
            window = await self.end()
        most, rest = self._most, min(options.rest, options.seconds)
        await trio.sleep(options.rest - rest)
        quiet = await self.watch(rest)
        return Outcome(
            name=name,
            window=window,
            before=before,
            most=most,
            after=meters.memory_of(self.server.pid),
            said=self.server.log.said - said,
            counts=counts,
            by=share,
            stored=self._size() - stored,
        ), quiet

    def _size(self) -> int:
        """Return the size of all files of the database, in bytes."""
        return sum(file.stat().st_size for file in self._place.parent.glob(f"{self._place.name}*"))
