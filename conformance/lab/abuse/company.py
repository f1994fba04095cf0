"""Honest company for attackers, for a long time: players, viewers of the page, and an operator.

Some players come by TLS, and some have protected names, and tokens. Viewers read the page, the API, exports,
the live stream, and what the server counts. The operator protects names, bans, renews the certificate and has
all of it reloaded. The rule they keep: what goes wrong is noted, and they go on.
"""

import hashlib
import secrets
import signal
import ssl
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import count, cycle
from pathlib import Path
from random import Random
from shutil import copy, which

import trio

from conformance.dialects.script import OutOfStep
from conformance.lab.abuse.browsing import EVERY
from conformance.lab.abuse.ground import ELSEWHERE
from conformance.lab.client import HungUp, connected
from conformance.lab.jobs import LoadError, say
from conformance.lab.kills.load import Load, Player
from conformance.targets import Address

RELOADING = 10.0
"""Seconds between two reloads."""
_AGAIN = 1.0
_SHORTEST = 4.0
"""Seconds that no course of games falls below."""
_PROTECTED = 16
"""Of so many courses of a pair one is played under protected names."""
_BANNED = 6
"""The address of the attackers is banned in one of so many times between two reloads."""
_OPENSSL = (
    *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"),
    *("-days", "2", "-subj", "/CN=attacked", "-addext", "subjectAltName=IP:127.0.0.1"),
)
"""Makes a certificate; behind it come `-keyout` and `-out`, which may be the same file."""
_EVENTS = "/api/live/events"
_EXPORT = "/api/export.jsonl"
_READING = 0.5
"""Seconds between two pages of a viewer."""
_EXPORTING = 20.0
_SCRAPING = 5.0


def tokens_for(name: str, pairs: int, seconds: float) -> dict[str, str]:
    """Return tokens for some of the players of a load that is called `name`, by their names."""
    numbers = range(0, int(seconds / _SHORTEST) + 1, _PROTECTED)
    names = [f"{name}p{pair}g{number}{end}" for pair in range(pairs) for number in numbers for end in "ab"]
    return {name: secrets.token_urlsafe(16) for name in names}


class Honest(Load):
    """Players who go on when one of them is hurt."""

    pause = 0.2

    def __init__(
        self, name: str, addresses: Mapping[str, Address], tls: ssl.SSLContext, tokens: Mapping[str, str]
    ) -> None:
        super().__init__(name, name, addresses)
        self.by_tls = 0
        """How many connections were encrypted."""
        self.wrong: list[str] = []
        """What was told that does not belong, and ends that should not have been."""
        self._tls = tls
        self._tokens = tokens

    @property
    def begun(self) -> int:
        """How many games somebody was told of."""
        return self._games(more=True)

    @property
    def finished(self) -> int:
        """How many somebody was told the result of."""
        return self._games(more=False)

    @property
    def hurt(self) -> list[str]:
        """Return what happened to players who were told what does not belong, or not to the end of a game."""
        return [*self.wrong, *(f"{one} was left in a game" for one in self.players if one.is_hurt)]

    @property
    def with_token(self) -> int:
        """How many players had a token."""
        return sum(player.wish.token is not None for player in self.players)

    def token_of(self, name: str) -> str | None:
        return self._tokens.get(name)

    def tls_of(self, player: Player) -> ssl.SSLContext | None:
        if Random(player.wish.name).random() < 0.5:
            return None
        self.by_tls += 1
        return self._tls

    async def play(self, player: Player) -> None:
        """Play a course of games; note what goes wrong."""
        try:
            await super().play(player)
        except OutOfStep as error:
            self.wrong.append(str(error))
            say(f"hurt: {error}")
            await trio.sleep(_AGAIN)

    def _games(self, *, more: bool) -> int:
        """Count games by their table and number, `more`: with those that are on."""
        known = ((one, len(one.results) + (more and one.is_playing)) for one in self.players)
        return len({(one.wish.table, number) for one, games in known for number in range(games)})


class Viewers:
    """Clients of the page's port, and one of the port for metrics."""

    def __init__(self, web: Address, metrics: Address, tls: ssl.SSLContext) -> None:
        self.counts: Counter[str] = Counter()
        """Events of the live stream, answers by status, and what went wrong."""
        self.slowest = 0.0
        """Seconds that an answer took at most."""
        self.samples = 0
        """Of the latest answer about metrics."""
        self._web = web
        self._metrics = metrics
        self._tls = tls

    async def run(self) -> None:
        """Read until cancelled."""
        pages = [path for path in EVERY if path not in (_EVENTS, _EXPORT)]
        async with trio.open_nursery() as nursery:
            for number, tls in enumerate((None, self._tls) * 2):
                nursery.start_soon(self._watch, tls)
                nursery.start_soon(self._read, pages[number::4], tls, _READING)
            nursery.start_soon(self._read, [_EXPORT], self._tls, _EXPORTING)
            nursery.start_soon(self.scrape)

    async def _watch(self, tls: ssl.SSLContext | None) -> None:
        """Watch the live stream."""
        while True:
            try:
                async with connected(self._web, tls=tls) as client:
                    await client.say(_request(_EVENTS, self._web))
                    while await client.line() is not None:
                        self.counts["events"] += 1
            except HungUp:
                self.counts["streams that ended"] += 1
            await trio.sleep(_AGAIN)

    async def _read(self, paths: Sequence[str], tls: ssl.SSLContext | None, pause: float) -> None:
        """Read what is at some paths, one after the other."""
        for path in cycle(paths):
            status, body = await self._fetched(path, self._web, tls)
            self.counts[status] += 1
            if path == _EXPORT and status == "200":
                self.counts["exports cut off"] += body[-1:] not in (b"", b"\n")
                self.counts["lines of exports"] += body.count(b"\n")
            await trio.sleep(pause)

    async def scrape(self) -> None:
        """Read what the server counts, as Prometheus does, until cancelled."""
        from prometheus_client.parser import text_string_to_metric_families  # noqa: PLC0415  an extra

        while True:
            status, body = await self._fetched("/metrics", self._metrics, None)
            try:
                families = [*text_string_to_metric_families(body.decode())]
                self.samples = sum(len(family.samples) for family in families)
            except ValueError:
                status = "unreadable"
            good = status == "200" and self.samples > 0
            self.counts["metrics read" if good else "metrics not read"] += 1
            await trio.sleep(_SCRAPING)

    async def _fetched(self, path: str, at: Address, tls: ssl.SSLContext | None) -> tuple[str, bytes]:
        """Return the status and the body of an answer; `hung up` if there was none."""
        begun = trio.current_time()
        try:
            async with connected(at, tls=tls) as client:
                await client.say(_request(path, at))
                status = (await client.line()).decode(errors="replace").split()[1]
                return status, (await client.rest()).partition(b"\r\n\r\n")[2]
        except (HungUp, IndexError):
            return "hung up", b""
        finally:
            self.slowest = max(self.slowest, trio.current_time() - begun)


def _request(path: str, at: Address) -> bytes:
    # A server that is asked in HTTP/1.0 sends a body as it is, without a word on its pieces.
    return f"GET {path} HTTP/1.0\r\nHost: {at.authority}\r\n\r\n".encode()


class Operator:
    """Who runs the server: files that it reads, and reloads."""

    def __init__(self, folder: Path) -> None:
        self.reloads = 0
        """How often the server was told to reload."""
        self._certificate = folder / "server.pem"
        self._others = [folder / f"{name}.pem" for name in "ab"]
        self._players = folder / "players"

    @property
    def options(self) -> list[str]:
        """What the server is to read, as options."""
        return ["--tls-cert", str(self._certificate), "--players", str(self._players)]

    async def prepare(self, tokens: Mapping[str, str]) -> ssl.SSLContext:
        """Write all files; return what believes the certificates. Raises LoadError."""
        if which("openssl") is None:
            raise LoadError("there is no openssl here to make certificates with")
        for file in self._others:
            await trio.run_process([*_OPENSSL, "-keyout", str(file), "-out", str(file)], capture_stderr=True)
        lines = [
            f"{name}\tsha256:{hashlib.sha256(token.encode()).hexdigest()}" for name, token in tokens.items()
        ]
        self._players.write_text("".join(f"{line}\n" for line in lines))
        copy(self._others[0], self._certificate)
        believing = ssl.create_default_context()
        for file in self._others:
            believing.load_verify_locations(file)
        return believing

    async def run(self, server: trio.Process) -> None:
        """Change everything and have it reloaded, again and again, until cancelled."""
        for number in count(2):
            await trio.sleep(RELOADING)
            await self._say("player", "add", f"late{number}")
            await self._say("ban", f"me{number}")
            if number % _BANNED < 2:
                await self._say("unban" if number % _BANNED else "ban", ELSEWHERE)
            copy(self._others[number % 2], self._certificate)
            server.send_signal(signal.SIGHUP)
            self.reloads += 1

    async def _say(self, *words: str) -> None:
        """Have a command of the gateway change the files."""
        options = ["--players", str(self._players), "--audit", str(self._players) + ".audit"]
        command = [sys.executable, "-m", "gateway", *words, *options]
        await trio.run_process(command, capture_stdout=True, capture_stderr=True)
