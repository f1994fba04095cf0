"""Servers for the laboratory's commands: gateways and their logs, Redis, PostgreSQL, and clusters.

Knows the programs, their options and a few words of a gateway's log. Must not know the clients. A server
keeps all its files in a folder that is removed with it.
"""

import os
import pwd
import re
import shutil
import signal
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from string import ascii_lowercase
from subprocess import DEVNULL
from tempfile import TemporaryDirectory

import trio

from conformance.lab.meters import children_of
from conformance.lab.workers import LoadError
from conformance.launch import COMMAND, Server, start
from conformance.targets import Address

REDIS = ("redis-server", "valkey-server")
"""The programs of Redis servers; either is sufficient."""
PREFIX = "lab"
"""The prefix of a cluster's keys in Redis."""
STOPPING = 60.0
"""Seconds from SIGTERM until a server that still runs is killed."""
LINKING = 10.0
"""Seconds within which all nodes must be linked, and one must pair."""
_LOOK = 0.05
"""Seconds between two checks of a condition."""
_LINES = 2000
"""The number of last lines to keep of a log."""
_EXAMPLES = 20
_TRACEBACK = "Traceback (most recent call last)"
_ERROR = re.compile(r"\S+ (?:ERROR|CRITICAL) ")
_CONTROLS = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_POSTGRES = ("/usr/lib/postgresql/*/bin", "/usr/local/pgsql/bin")
_USERS = ("postgres", "nobody")


async def until(is_so: Callable[[], bool], limit: float) -> bool:
    """Wait until a condition holds, at most `limit` seconds; return whether it does."""
    end = trio.current_time() + limit
    while not (found := is_so()) and trio.current_time() < end:  # noqa: ASYNC110  any condition
        await trio.sleep(_LOOK)
    return found


class Log:
    """A server's stderr, read in pieces of any size."""

    def __init__(self, wanted: str = "(?!)", file: Path | None = None, expected: Sequence[str] = ()) -> None:
        """`wanted`: a regular expression for lines of interest. `file` receives the whole log.

        Lines that contain one of the `expected` texts do not count as errors.
        """
        self.said: Counter[str] = Counter()
        """How many `bytes`, `tracebacks`, `errors` (lines of the level ERROR and above) and `controls`
        (characters that a terminal does not show as they are)."""
        self.lines: list[str] = []
        """The last lines."""
        self.examples: list[str] = []
        """The first 20 lines with an error, a traceback or one of the `controls`.

        Each is cut to 200 characters and written with escapes.
        """
        self.found: list[re.Match[str]] = []
        """The matches of `wanted`."""
        self._wanted = re.compile(wanted)
        self._file = file
        self._expected = expected
        self._rest = b""

    def hear(self, data: bytes) -> None:
        """Read a piece of the log."""
        if self._file is not None:
            with self._file.open("ab") as file:
                file.write(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        for raw in lines:
            line = raw.decode(errors="replace")
            errors = bool(_ERROR.match(line)) and not any(words in line for words in self._expected)
            controls, tracebacks = len(_CONTROLS.findall(line)), line.count(_TRACEBACK)
            self.said.update(tracebacks=tracebacks, errors=errors, controls=controls, bytes=len(raw) + 1)
            if (errors or controls or tracebacks) and len(self.examples) < _EXAMPLES:
                self.examples.append(repr(line[:200])[1:-1])
            if (match := self._wanted.search(line)) is not None:
                self.found.append(match)
            self.lines.append(line)
            del self.lines[:-_LINES]


class Gateway:
    """A gateway, with its log, that can be killed, stopped and started again."""

    def __init__(
        self,
        nursery: trio.Nursery,
        options: Sequence[str],
        name: str,
        command: Sequence[str],
        log: Log | None,
    ) -> None:
        self.log = log or Log()
        self.deaths = 0
        """How often the gateway has ended by itself."""
        self.is_up = False
        """Whether the gateway should be running: false after it was killed, stopped or halted."""
        self.server: Server
        self._nursery = nursery
        self._options = [word.replace("{name}", name) for word in options]
        self._name = name
        self._command = command

    def __str__(self) -> str:
        return self._name

    @property
    def addresses(self) -> dict[str, Address]:
        """The gateway's current addresses."""
        return self.server.addresses

    @property
    def pid(self) -> int:
        """The process id of the gateway's main process."""
        return self.server.process.pid

    async def start(self) -> None:
        """Start the gateway. Raises ServerError."""
        self.server = await start(self._nursery, self._options, self._command, self.log.hear)
        self.is_up = True

    async def kill(self, *, with_children: bool = False) -> None:
        """Send SIGKILL to the server, and with `with_children` to its child processes; wait for its end."""
        self.is_up = False
        self.deaths += self.server.process.poll() is not None
        for child in children_of(self.pid) if with_children else ():
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        self.server.process.kill()
        await self.server.process.wait()

    def kill_child(self, lot: Random) -> None:
        """Send SIGKILL to one of the server's child processes, which the server replaces."""
        with suppress(IndexError, ProcessLookupError):
            os.kill(lot.choice(children_of(self.pid)), signal.SIGKILL)

    async def stop(self) -> tuple[float, int]:
        """Send SIGTERM; return the seconds until the end, and the exit status. Kill it after 60 s."""
        process, begun = self.server.process, trio.current_time()
        if process.poll() is not None:
            await self.server.fail(f"died with status {process.returncode}")
        process.terminate()
        with trio.move_on_after(STOPPING):
            await process.wait()
        seconds = trio.current_time() - begun
        if process.poll() is None:
            process.kill()
        self.is_up = False
        status = await process.wait()
        await self.server.last_words()  # so that the log is complete
        return seconds, status

    def halt(self) -> None:
        """Send SIGSTOP."""
        self.is_up = False
        self.server.process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Send SIGCONT."""
        self.server.process.send_signal(signal.SIGCONT)
        self.is_up = True


@asynccontextmanager
async def gateway(
    options: Sequence[str],
    command: Sequence[str] = COMMAND,
    log: Log | None = None,
    name: str = "the server",
) -> AsyncIterator[Gateway]:
    """Run a gateway for as long as the block lasts, then kill it.

    Raises ServerError, which may be in an ExceptionGroup.
    """
    async with trio.open_nursery() as nursery:
        found = Gateway(nursery, options, name, command, log)
        await found.start()
        try:
            yield found
        finally:
            with trio.CancelScope(shield=True):
                found.server.process.kill()
                await found.server.process.wait()
        nursery.cancel_scope.cancel()


def redis_program() -> str | None:
    """Return the program of a Redis server, if one is installed."""
    return next(filter(None, map(shutil.which, REDIS)), None)


class Redis:
    """A Redis or Valkey server on a Unix socket, without persistence."""

    def __init__(self, folder: Path) -> None:
        self.url = f"unix://{folder}/redis"
        """The address for nodes."""
        self._folder = folder
        self._process: trio.Process | None = None

    @property
    def pid(self) -> int:
        """The process id of the server."""
        assert self._process is not None
        return self._process.pid

    async def start(self) -> None:
        """Start the server, without data. Raises LoadError."""
        program, log = redis_program(), self._folder / "log"
        if program is None:
            raise LoadError(f"there is no {REDIS[0]}, and no {REDIS[1]}: this needs one of them")
        words = ["--port", "0", "--unixsocket", f"{self._folder}/redis", "--unixsocketperm", "700"]
        whole = [program, *words, "--save", "", "--dir", str(self._folder)]
        with log.open("ab") as file:
            process = await trio.lowlevel.open_process(whole, stdin=DEVNULL, stdout=file, stderr=file)
        self._process, end = process, trio.current_time() + LINKING
        while await self.ask("PING") != "PONG":
            if process.poll() is not None or trio.current_time() > end:
                text = log.read_text(errors="replace")[-1000:]
                raise LoadError(f"{program} does not answer; it says: {text}")
            await trio.sleep(_LOOK)

    async def kill(self) -> None:
        """Send SIGKILL and wait for the end, if the server was started."""
        if self._process is not None:
            self._process.kill()
            await self._process.wait()

    def send(self, number: signal.Signals) -> None:
        """Send a signal."""
        assert self._process is not None
        self._process.send_signal(number)

    async def ask(self, words: str) -> str:
        """Send a command; return the last line of the answer, or an empty string if there is none."""
        try:
            async with await trio.open_unix_socket(f"{self._folder}/redis") as stream:
                await stream.send_all(words.encode() + b"\r\n")
                data = await stream.receive_some()
        except (OSError, trio.BrokenResourceError):
            return ""
        return data.decode().rstrip().rpartition("\n")[2].lstrip("+")


@asynccontextmanager
async def redis_server() -> AsyncIterator[Redis]:
    """Run a Redis server for as long as the block lasts. Raises LoadError."""
    with TemporaryDirectory(prefix="c4lab-") as folder:
        server = Redis(Path(folder))
        try:
            await server.start()
            yield server
        finally:
            with trio.CancelScope(shield=True):
                await server.kill()


class Postgres:
    """A PostgreSQL server on a Unix socket."""

    def __init__(self, folder: Path) -> None:
        """Raises LoadError if PostgreSQL cannot run on this system."""
        self.url = f"postgresql://c4@/postgres?host={folder}"
        """The URL for nodes."""
        self._folder = folder
        found = [each for pattern in _POSTGRES for each in Path("/").glob(pattern[1:])]
        self._path = os.pathsep.join([*map(str, found), os.environ["PATH"]])
        self._user: str | None = None
        if os.getuid() == 0:  # PostgreSQL refuses to run as root
            known = {each.pw_name for each in pwd.getpwall()}
            self._user = next((user for user in _USERS if user in known), None)
            if self._user is None:
                others = " or ".join(_USERS)
                raise LoadError(f"PostgreSQL does not run as root, and there is no user {others} here")

    async def start(self) -> None:
        """Create the database, and start the server. Raises LoadError."""
        if self._user is not None:
            shutil.chown(self._folder, self._user)
        locale = ("--encoding", "UTF8", "--locale", "C", "--locale-provider", "icu", "--icu-locale", "en")
        await self._do("initdb", "--username", "c4", "--auth", "trust", *locale)
        where = f"-c fsync=off -c listen_addresses='' -c unix_socket_directories='{self._folder}'"
        await self._do("pg_ctl", "--wait", "--log", f"{self._folder}/log", "--options", where, "start")

    async def restart(self) -> None:
        """Restart the server as after a crash. Raises LoadError."""
        await self._do("pg_ctl", "--wait", "--mode", "immediate", "restart")

    async def stop(self) -> None:
        """Stop the server. Raises LoadError."""
        await self._do("pg_ctl", "--wait", "--mode", "immediate", "stop")

    async def _do(self, command: str, *words: str) -> None:
        program = shutil.which(command, path=self._path)
        if program is None:
            raise LoadError(f"there is no {command}: this needs PostgreSQL")
        whole = [program, *words, "--pgdata", f"{self._folder}/data"]
        log = self._folder.with_name("commands")
        with log.open("ab") as file:
            done = await trio.run_process(
                whole, user=self._user, cwd=self._folder, stdout=file, stderr=file, stdin=DEVNULL, check=False
            )
        if done.returncode != 0:
            raise LoadError(f"{command} failed: {log.read_text(errors='replace')[-1000:]}")


@asynccontextmanager
async def postgres() -> AsyncIterator[Postgres]:
    """Run a PostgreSQL server for as long as the block lasts. Raises LoadError."""
    with TemporaryDirectory(prefix="c4lab-", ignore_cleanup_errors=True) as name:
        await trio.Path(name).chmod(0o755)  # the server may run as another user
        folder = Path(name) / "postgres"
        await trio.Path(folder).mkdir()
        server = Postgres(folder)
        await server.start()
        try:
            yield server
        finally:
            with trio.CancelScope(shield=True):
                await server.stop()


@dataclass(frozen=True, slots=True)
class Cluster:
    """Linked nodes, their Redis server and their database."""

    nodes: Sequence[Gateway]
    redis: Redis
    database: Postgres | None

    async def pairing(self) -> Gateway | None:
        """Return the node that pairs, according to Redis; None if there is none."""
        said = await self.redis.ask(f"GET {PREFIX}:lease")
        return next((node for node in self.nodes if said.startswith(f'["{str(node)[-1]}"')), None)


@asynccontextmanager
async def cluster(
    names: str,
    options: Sequence[str],
    command: Sequence[str] = COMMAND,
    *,
    with_database: bool = False,
    logs: Sequence[Log] = (),
) -> AsyncIterator[Cluster]:
    """Run a cluster with Redis, and optionally PostgreSQL, for as long as the block lasts.

    Each letter of `names` names a node. All nodes have the same options. Raises LoadError or ServerError,
    which may be in an ExceptionGroup.
    """
    async with AsyncExitStack() as stack:
        redis = await stack.enter_async_context(redis_server())
        database = await stack.enter_async_context(postgres()) if with_database else None
        words = [*options, "--cluster", redis.url, "--cluster-prefix", PREFIX]
        words += ["--db", database.url] if database is not None else []
        nodes = [
            await stack.enter_async_context(gateway([*words, "--node", name], command, log, f"node {name}"))
            for name, log in zip(names, logs or [Log() for _ in names], strict=True)
        ]
        found = Cluster(nodes, redis, database)
        await _until_linked(found)
        yield found


@asynccontextmanager
async def servers(
    logs: Sequence[Log], options: Sequence[str], place: str, command: Sequence[str] = COMMAND
) -> AsyncIterator[tuple[Sequence[Gateway], str]]:
    """Run one gateway with the database `place`, or linked nodes with a database of their own.

    There are as many as `logs`. Yields them, and where their database is. Raises LoadError or ServerError,
    which may be in an ExceptionGroup.
    """
    if len(logs) == 1:
        async with gateway([*options, "--db", place], command, logs[0]) as server:
            yield [server], place
    else:
        names = ascii_lowercase[: len(logs)]
        async with cluster(names, options, command, with_database=True, logs=logs) as found:
            assert found.database is not None
            yield found.nodes, found.database.url


async def _until_linked(found: Cluster) -> None:
    """Wait until all nodes are linked with all others, and know which node pairs. Raises LoadError."""
    link = re.compile(r"linked with node (\S+)")
    pairs = re.compile(r"node \S+ pairs\b")
    wanted = len(found.nodes) - 1

    def is_linked(node: Gateway) -> bool:
        text = "\n".join(node.log.lines)
        return len({*link.findall(text)}) == wanted and pairs.search(text) is not None

    if not await until(lambda: all(map(is_linked, found.nodes)), LINKING):
        raise LoadError(f"the {wanted + 1} nodes did not find each other within {LINKING:g} s")
