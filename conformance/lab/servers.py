"""Servers of our own, each a process: gateways and their logs, Redis, PostgreSQL, and clusters of them.

Knows programs, options and a few words of a gateway's log; does not know who plays there. All that a server
keeps is in a folder that goes away with it.
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
from subprocess import DEVNULL
from tempfile import TemporaryDirectory

import trio

from conformance.lab.meters import children_of
from conformance.lab.workers import LoadError
from conformance.launch import COMMAND, Server, start
from conformance.targets import Address

REDIS = ("redis-server", "valkey-server")
"""Either will do."""
PREFIX = "lab"
"""What the keys of a cluster begin with in Redis."""
STOPPING = 60.0
"""Seconds after SIGTERM after which a server is killed."""
LINKING = 10.0
"""Seconds within which all nodes have to be linked, and one has to pair."""
_LOOK = 0.05
"""Seconds between two looks at something that is waited for."""
_LINES = 2000
"""So many of the last lines of a log are kept."""
_EXAMPLES = 20
_TRACEBACK = "Traceback (most recent call last)"
_ERROR = re.compile(r"\S+ \S+ (?:ERROR|CRITICAL) ")
_CONTROLS = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_POSTGRES = ("/usr/lib/postgresql/*/bin", "/usr/local/pgsql/bin")
_USERS = ("postgres", "nobody")


async def until(is_so: Callable[[], bool], limit: float) -> bool:
    """Wait until a condition holds, at most `limit` seconds; return whether it does."""
    end = trio.current_time() + limit
    while not (found := is_so()) and trio.current_time() < end:  # noqa: ASYNC110  many things
        await trio.sleep(_LOOK)
    return found


class Log:
    """What a server writes on stderr, read in pieces of any size."""

    def __init__(self, wanted: str = "(?!)", file: Path | None = None, expected: Sequence[str] = ()) -> None:
        """`wanted` is a regular expression for lines of interest; `file` gets all that is written.

        Lines with words that are expected count as no errors.
        """
        self.said: Counter[str] = Counter()
        """How many `bytes`, `tracebacks`, `errors` (lines of the level ERROR and above) and `controls`
        (characters that a terminal does not show as they are)."""
        self.lines: list[str] = []
        """The last ones."""
        self.examples: list[str] = []
        """The first lines that should not be there."""
        self.found: list[re.Match[str]] = []
        """Where lines have what is of interest."""
        self._wanted = re.compile(wanted)
        self._file = file
        self._expected = expected
        self._rest = b""

    def hear(self, data: bytes) -> None:
        """Read what was written."""
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
    """A gateway that may be killed, stopped and started again, and its log."""

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
        """How often it has ended by itself."""
        self.is_up = False
        """Whether nothing is being done to it."""
        self.server: Server
        self._nursery = nursery
        self._options = options
        self._name = name
        self._command = command

    def __str__(self) -> str:
        return self._name

    @property
    def addresses(self) -> dict[str, Address]:
        """Where it listens now."""
        return self.server.addresses

    @property
    def pid(self) -> int:
        """The process in which games are played."""
        return self.server.process.pid

    async def start(self) -> None:
        """Start it. Raises ServerError."""
        self.server = await start(self._nursery, self._options, self._command, self.log.hear)
        self.is_up = True

    async def kill(self, *, with_children: bool = False) -> None:
        """Send SIGKILL to the server, and to its child processes if asked for; wait until it has ended."""
        self.is_up = False
        self.deaths += self.server.process.poll() is not None
        for child in children_of(self.pid) if with_children else ():
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        self.server.process.kill()
        await self.server.process.wait()

    async def stop(self) -> tuple[float, int]:
        """Send SIGTERM; return how many seconds the end took, and the exit status. A deaf one is killed."""
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
    """Run a gateway for as long as the block lasts; at its end it is killed. Raises ServerError, wrapped."""
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
    """A Redis or Valkey server on a socket of its own, which keeps nothing."""

    def __init__(self, folder: Path) -> None:
        self.url = f"unix://{folder}/redis"
        """Where nodes find it."""
        self._folder = folder
        self._process: trio.Process | None = None

    @property
    def pid(self) -> int:
        """The number of its process."""
        assert self._process is not None
        return self._process.pid

    async def start(self) -> None:
        """Start it, with no memory. Raises LoadError."""
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
        """Send SIGKILL, and wait, if it was started."""
        if self._process is not None:
            self._process.kill()
            await self._process.wait()

    def send(self, number: signal.Signals) -> None:
        """Send a signal."""
        assert self._process is not None
        self._process.send_signal(number)

    async def ask(self, words: str) -> str:
        """Return the last line of an answer; empty where there is none."""
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
    """A PostgreSQL server on a socket of its own."""

    def __init__(self, folder: Path) -> None:
        """Raises LoadError where it could not be run."""
        self.url = f"postgresql://c4@/postgres?host={folder}"
        """Where nodes find it."""
        self._folder = folder
        found = [each for pattern in _POSTGRES for each in Path("/").glob(pattern[1:])]
        self._path = os.pathsep.join([*map(str, found), os.environ["PATH"]])
        self._user: str | None = None
        if os.getuid() == 0:  # which may not run it
            known = {each.pw_name for each in pwd.getpwall()}
            self._user = next((user for user in _USERS if user in known), None)
            if self._user is None:
                others = " or ".join(_USERS)
                raise LoadError(f"PostgreSQL does not run as root, and there is no user {others} here")

    async def start(self) -> None:
        """Make it, and start it. Raises LoadError."""
        if self._user is not None:
            shutil.chown(self._folder, self._user)
        locale = ("--encoding", "UTF8", "--locale", "C", "--locale-provider", "icu", "--icu-locale", "en")
        await self._do("initdb", "--username", "c4", "--auth", "trust", *locale)
        where = f"-c fsync=off -c listen_addresses='' -c unix_socket_directories='{self._folder}'"
        await self._do("pg_ctl", "--wait", "--log", f"{self._folder}/log", "--options", where, "start")

    async def restart(self) -> None:
        """Restart it, as after a crash. Raises LoadError."""
        await self._do("pg_ctl", "--wait", "--mode", "immediate", "restart")

    async def stop(self) -> None:
        """Stop it. Raises LoadError."""
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
        await trio.Path(name).chmod(0o755)  # another user, who runs the server, has a folder of his own in it
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
    """Nodes that know each other, and what they stand on."""

    nodes: Sequence[Gateway]
    redis: Redis
    database: Postgres | None

    async def pairing(self) -> Gateway | None:
        """Return the node that pairs, as far as Redis knows."""
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
    """Run nodes of these names, a letter each, and Redis, and PostgreSQL if asked for, while the block lasts.

    All nodes have the same options. Raises LoadError, ServerError, wrapped.
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


async def _until_linked(found: Cluster) -> None:
    """Wait until all nodes know all others, and who pairs. Raises LoadError."""
    link = re.compile(r"linked with node (\S+)")
    pairs = re.compile(r"node \S+ pairs\b")
    wanted = len(found.nodes) - 1

    def is_linked(node: Gateway) -> bool:
        text = "\n".join(node.log.lines)
        return len({*link.findall(text)}) == wanted and pairs.search(text) is not None

    if not await until(lambda: all(map(is_linked, found.nodes)), LINKING):
        raise LoadError(f"the {wanted + 1} nodes did not find each other within {LINKING:g} s")
