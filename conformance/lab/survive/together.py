"""Use and attack a gateway that has TLS, protected names, metrics, a page and a database, all at once.

Honest pairs play at tables: half of the players use TLS, and some have tokens. A guest plays `@aimafast`.
Viewers read pages, exports, the live stream and the metrics. Every ten seconds an operator changes names,
bans and the certificate, and sends SIGHUP. All attackers of `abuse` except `files` attack in bouts. A rest
follows each bout. Finally the server gets SIGTERM, and finishes the current games.

    players hurt              honest players whose game was cut off, or who received a message out of place
    failed                    answers of the page with a status of 500 or above, except 503
    metrics not read          answers with metrics that prometheus-client could not parse
    more at the end           memory after the last rest minus memory after the first
"""

import hashlib
import secrets
import signal
import ssl
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import count, cycle
from pathlib import Path
from shutil import copy, which
from time import time_ns

import trio

from conformance.arguments import Parser
from conformance.lab.abuse.attackers import ELSEWHERE, attacking
from conformance.lab.abuse.attacks import ATTACKS, EVENTS, EXPORT, PATHS, at_once
from conformance.lab.abuse.command import LIMITED
from conformance.lab.abuse.honest import Guest
from conformance.lab.client import HungUp, connected, request
from conformance.lab.meters import NoSuchProcess, memory_of
from conformance.lab.report import MB, UNKNOWN, Row, counted, finish, in_folder, some
from conformance.lab.servers import STOPPING, Gateway, Log, gateway
from conformance.lab.survive.players import AT_TABLES, LENGTH, STUCK, Load
from conformance.lab.survive.verdict import complaints_about, judge, rows_of, stored_in
from conformance.lab.workers import LoadError, many_files, say
from conformance.launch import COMMAND
from conformance.targets import METRICS, WEB, Address

TEXT = "is anything lost while all attackers, viewers and an operator work at once for a long time?"
DRAIN = 30
"""Seconds that the server gives its games when it stops."""
OPTIONS = (
    *("--web", "0", "--metrics", "0", "--rounds", str(LENGTH), "--games-per-pair", "0"),
    *("--drain", str(DRAIN)),
)
PAUSE = 0.2
"""Seconds that a player waits before each message."""
MOST_GROWN = 256
"""Megabytes by which a busy server may grow, for unwritten evidence, names that met and longer pages."""
BOUT = 50.0
"""Seconds of attack before a rest."""
RELOADING = 10.0
"""Seconds between two reloads."""
_AGAIN = 1.0
_SHORTEST = 4.0
"""The shortest duration of a course of games, in seconds."""
_PROTECTED = 16
"""One in this many courses of a pair is played with protected names."""
_BANNED = 6
"""The attackers' address is banned during one in this many intervals between reloads."""
_OPENSSL = (
    *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"),
    *("-days", "2", "-subj", "/CN=attacked", "-addext", "subjectAltName=IP:127.0.0.1"),
)
"""The command to create a certificate. Append `-keyout` and `-out`, which may name the same file."""
_READING, _EXPORTING, _SCRAPING = 0.5, 20.0, 5.0
"""Seconds between two pages of a viewer, between two exports, and between two requests of the metrics."""


def main(parser: Parser, argv: Sequence[str]) -> int:
    """Run the command line; return the exit status."""
    parser.seconds("--seconds", 1800.0, "how long")
    parser.count("--pairs", 50, "pairs of honest players")
    parser.seconds("--rest", 10.0, "the rest behind a bout of the attackers")
    parser.only({name: attack.live.__doc__ for name, attack in ATTACKS.items()})
    parser.server_options()
    parser.report()
    options = parser.parse_args(argv)
    rows, notes = in_folder("together-", lambda folder: trio.run(together, options, folder))
    return finish("survive together", rows, options, notes)


async def together(
    options: Namespace, folder: Path, command: Sequence[str] = COMMAND
) -> tuple[list[Row], list[str]]:
    """Run all parts; return the figures, and lines about problems.

    Raises LoadError or ServerError, which may be in an ExceptionGroup.
    """
    token = f"x{time_ns() // 1000 % 10**12}"
    database, operator, tokens = str(folder / "attacked.db"), Operator(folder), tokens_for(token, options)
    tls = await operator.prepare(tokens)
    log = Log(r"( reloaded: )|: not reloaded", folder / "log")
    words = [*OPTIONS, "--db", database, *operator.options, *options.server_options]
    with many_files():
        async with gateway(words, [*LIMITED, *command], log) as server:
            load = Load(token, token, [server], PAUSE, tls, tokens, AT_TABLES)
            guest = Guest(server.addresses["droidcon"])
            viewers = Viewers(server.addresses[WEB], server.addresses[METRICS], tls)
            did, memory = Counter[str](), [memory_of(server.pid)]
            try:
                async with trio.open_nursery() as players:
                    players.start_soon(load.run, options.pairs)
                    async with trio.open_nursery() as others:
                        for run in (guest.run, viewers.run):
                            others.start_soon(run)
                        others.start_soon(operator.run, server)
                        await _attack(options, server, (load, guest), did, memory)
                        others.cancel_scope.cancel()
                    say("stopping the server ...")
                    load.is_over = True
                    stopped = await server.stop()
                    players.cancel_scope.deadline = trio.current_time() + STOPPING
            except* NoSuchProcess:
                await server.server.fail("died under attack")
    verdict = judge(load.courses, await stored_in(database, token), may_be_cut=False)
    hurt = [*load.troubles, *guest.lost, *(f"{one} was left in a game" for one in load.players if one.waits)]
    troubles = {
        "players hurt": hurt,
        f"stuck for {STUCK:g} s": load.stuck,
        "complaints about the database": await complaints_about(database),
    }
    rows, notes = rows_of(verdict, troubles)
    tokened = sum(one.wish.token is not None for one in load.players)
    return [
        *(counted("attackers", what, did[what]) for what in ("connections", "messages", "hung up")),
        *rows,
        counted("all", "nothing told", int(not verdict.told), 0),
        counted("players", "with a token", tokened),
        counted("players", "games finished with a house player", guest.games.finished),
        counted("players", "no room for the guest", len(guest.refused)),
        *viewers.rows(),
        *_server_rows(log, operator, memory, stopped),
    ], notes + some("logged", log.examples)


async def _attack(
    options: Namespace,
    server: Gateway,
    honest: tuple[Load, Guest],
    did: Counter[str],
    memory: list[int],
) -> None:
    """Run all attacks together in bouts; record the memory after each bout and rest."""
    load, guest = honest
    attacks, bout = at_once(options.only), min(BOUT, options.seconds / 2)
    end = trio.current_time() + options.seconds
    while trio.current_time() < end:
        async with attacking(attacks, server.addresses, bout) as attackers:
            counts, _ = await attackers.receive()
        for each in counts.values():
            did.update(each)
        await trio.sleep(options.rest)
        memory.append(memory_of(server.pid))
        size, wrong = memory[-1] / MB, len(load.troubles) + len(guest.lost)
        left = max(0.0, end - trio.current_time())
        say(f"{load.results} results, {wrong} players hurt, {size:.0f} MB, {left:.0f} s left")


def _server_rows(
    log: Log, operator: "Operator", memory: Sequence[int], stopped: tuple[float, int]
) -> list[Row]:
    reloaded = sum(match[1] is not None for match in log.found)
    start, first, *_, last = [*memory, memory[-1]]
    seconds, status = stopped
    return [
        counted("server", "reloads", reloaded),
        counted("server", "reloads that failed", operator.reloads - reloaded, 0),
        counted("server", "tracebacks logged", log.said["tracebacks"], 0),
        counted("server", "control characters logged", log.said["controls"], 0),
        counted("server", "lines of errors logged", log.said["errors"]),
        Row("memory", "at the start", start / MB, "MB", form=".0f"),
        Row("memory", "behind the first bout", first / MB, "MB", form=".0f"),
        Row("memory", "more at the end", (last - first) / MB, "MB", MOST_GROWN, ".0f"),
        Row("stop", "took", seconds, "s", DRAIN + 5),
        counted("stop", "status", abs(status), 0),
    ]


def tokens_for(token: str, options: Namespace) -> dict[str, str]:
    """Return tokens, by name, for some of the players of the load with this `token`."""
    numbers = range(0, int(options.seconds / _SHORTEST) + 1, _PROTECTED)
    pairs = range(options.pairs)
    names = [f"{token}p{pair}g{number}{end}" for pair in pairs for number in numbers for end in "ab"]
    return {name: secrets.token_urlsafe(16) for name in names}


class Viewers:
    """Clients of the page's port, and one client of the metrics port."""

    def __init__(self, web: Address, metrics: Address, tls: ssl.SSLContext) -> None:
        self.counts: Counter[str] = Counter()
        """Counts of live events, of answers by status, and of problems."""
        self._slowest = 0.0
        """The longest time of an answer, in seconds."""
        self._web = web
        self._metrics = metrics
        self._tls = tls

    def rows(self) -> list[Row]:
        """Return the figures."""
        read = self.counts
        cut_off, unread = (
            read["exports cut off"],
            read["metrics not read"] if read["metrics read"] else UNKNOWN,
        )
        failed = sum(number for status, number in read.items() if status.startswith("5") and status != "503")
        others = sorted({*read} - {"exports cut off", "metrics not read"})
        return [
            *(counted("page", what, read[what]) for what in others),
            Row("page", "slowest answer", self._slowest, "s", form=".1f"),
            counted("page", "failed", failed, 0),
            counted("page", "exports cut off", cut_off, 0),
            counted("page", "metrics not read", unread, 0),
        ]

    async def run(self) -> None:
        """Read until cancelled."""
        pages = [path for path in PATHS if path not in (EVENTS, EXPORT)]
        async with trio.open_nursery() as nursery:
            for number, tls in enumerate((None, self._tls) * 2):
                nursery.start_soon(self._watch, tls)
                nursery.start_soon(self._read, pages[number::4], tls, _READING)
            nursery.start_soon(self._read, [EXPORT], self._tls, _EXPORTING)
            nursery.start_soon(self.scrape)

    async def _watch(self, tls: ssl.SSLContext | None) -> None:
        """Read the live stream, and reconnect if it ends."""
        while True:
            try:
                async with connected(self._web, tls=tls) as client:
                    await client.say(request(EVENTS, self._web))
                    while await client.line() is not None:
                        self.counts["events"] += 1
            except HungUp:
                self.counts["streams that ended"] += 1
            await trio.sleep(_AGAIN)

    async def _read(self, paths: Sequence[str], tls: ssl.SSLContext | None, pause: float) -> None:
        """Request the paths in turn, endlessly."""
        for path in cycle(paths):
            status, body = await self._fetched(path, self._web, tls)
            self.counts[status] += 1
            if path == EXPORT and status == "200":
                self.counts["exports cut off"] += body[-1:] not in (b"", b"\n")
                self.counts["lines of exports"] += body.count(b"\n")
            await trio.sleep(pause)

    async def scrape(self) -> None:
        """Request the server's metrics, as Prometheus does, until cancelled."""
        from prometheus_client.parser import text_string_to_metric_families  # noqa: PLC0415  an extra

        while True:
            status, body = await self._fetched("/metrics", self._metrics, None)
            try:
                samples = sum(len(family.samples) for family in text_string_to_metric_families(body.decode()))
            except ValueError:
                samples = 0
            good = status == "200" and samples > 0
            self.counts["metrics read" if good else "metrics not read"] += 1
            await trio.sleep(_SCRAPING)

    async def _fetched(self, path: str, at: Address, tls: ssl.SSLContext | None) -> tuple[str, bytes]:
        """Request a path; return the status and the body. Without an answer, the status is `hung up`."""
        begun = trio.current_time()
        try:
            async with connected(at, tls=tls) as client:
                await client.say(request(path, at))
                status = (await client.line()).decode(errors="replace").split()[1]
                return status, (await client.rest()).partition(b"\r\n\r\n")[2]
        except (HungUp, IndexError):
            return "hung up", b""
        finally:
            self._slowest = max(self._slowest, trio.current_time() - begun)


class Operator:
    """The operator of the server: changes the files that it reads, and makes it reload them."""

    def __init__(self, folder: Path) -> None:
        self.reloads = 0
        """How often the operator has sent SIGHUP."""
        self._certificate = folder / "server.pem"
        self._others = [folder / f"{name}.pem" for name in "ab"]
        self._players = folder / "players"

    @property
    def options(self) -> list[str]:
        """The server's options that name the files."""
        return ["--tls-cert", str(self._certificate), "--players", str(self._players)]

    async def prepare(self, tokens: Mapping[str, str]) -> ssl.SSLContext:
        """Create all files; return a TLS context that trusts the certificates. Raises LoadError."""
        if which("openssl") is None:
            raise LoadError("there is no openssl here to make certificates with")
        for file in self._others:
            await trio.run_process([*_OPENSSL, "-keyout", str(file), "-out", str(file)], capture_stderr=True)
        hashes = {name: hashlib.sha256(token.encode()).hexdigest() for name, token in tokens.items()}
        lines = (f"{name}\tsha256:{hash_}\n" for name, hash_ in hashes.items())
        await trio.Path(self._players).write_text("".join(lines))
        copy(self._others[0], self._certificate)
        believing = ssl.create_default_context()
        for file in self._others:
            believing.load_verify_locations(file)
        return believing

    async def run(self, server: Gateway) -> None:
        """Change all files and make the server reload them, repeatedly, until cancelled."""
        for number in count(2):
            await trio.sleep(RELOADING)
            await self._change("player", "add", f"late{number}")
            await self._change("ban", f"me{number}")
            if number % _BANNED < 2:
                await self._change("unban" if number % _BANNED else "ban", ELSEWHERE)
            copy(self._others[number % 2], self._certificate)
            server.server.process.send_signal(signal.SIGHUP)
            self.reloads += 1

    async def _change(self, *words: str) -> None:
        """Change the files with a command of the gateway."""
        options = ["--players", str(self._players), "--audit", str(self._players) + ".audit"]
        command = [sys.executable, "-m", "gateway", *words, *options]
        await trio.run_process(command, capture_stdout=True, capture_stderr=True)
