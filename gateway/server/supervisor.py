"""The supervisor of several servers on one machine, which share its ports: they look like one server.

Knows the options, ports and signals. Does not know how a game is played: a worker is the same command with
other options, and this process loads nothing that serves. The rules it keeps:

- The first worker starts alone, so that a start that fails says so once; the others follow together.
- Nothing is announced, to people or to a manager such as systemd, before all of them are ready.
- SIGTERM and SIGINT reach each worker as often as they come; SIGHUP those that can take it.
"""

import logging
import math
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import trio

from gateway.options.description import Description
from gateway.options.names import ALONE, WORKER
from gateway.options.server import WEB_PORT, ServerOptions, ports_of
from gateway.options.terminal import in_one_line
from gateway.runtime.child import Backoff
from gateway.runtime.json_stderr import complain
from gateway.runtime.listening import FIRST, PortInUseError, reserved
from gateway.runtime.notifying import DRAINS, READY, keep_alive, notify, reloading, stopping, watchdog
from gateway.runtime.processes import with_import_path
from gateway.server import local_redis, qr
from gateway.server.local_redis import private_folder
from gateway.server.logs import set_up_logging
from gateway.server.reloading import has_terminal
from gateway.server.streams import OF_LOG, write

# Programs that run as long as this process, and are started anew if they end before.
#
# Knows processes, signals, and the protocol of sd_notify(3), by which a program says that it is ready and
# alive. Does not know what a program is for. The rules it keeps:
#
# - None outlives this process, whatever ends it.
# - A program that has never been ready is not started anew: what is wrong with it will not change.
# - One that ends again and again is started after longer and longer pauses.
# - One that has said nothing for as long as the manager of this process allows is killed.

GRACE = 5.0
"""Seconds that a program has to end when there is no more need of it."""

_LONGEST_STATE = 4096

logger = logging.getLogger(__name__)


class EndedError(Exception):
    """A program has ended before it was ready."""

    def __init__(self, name: str, status: int) -> None:
        super().__init__(f"{name} has ended before it was ready, with status {status}")
        self.name = name
        self.status = status


@dataclass(eq=False)
class Program:
    """A program that is kept running."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    dies_by: signal.Signals = signal.SIGTERM
    """What it gets when this process has ended."""
    sockets: Sequence[int] = ()
    """Descriptors that it inherits."""
    is_silent: bool = False
    """Whether it does not say when it is ready: somebody else calls `now_ready`."""
    output: int | None = None
    """Where its first run writes to; all others write nowhere."""
    process: "subprocess.Popen[bytes] | None" = None
    ready: trio.Event = field(default_factory=trio.Event)
    """Is set when it says that it is ready, or all stop; who waits for the next time renews it."""
    has_been_ready: bool = False
    is_up: bool = False
    """Whether the process that runs now is ready."""

    def now_ready(self) -> None:
        """Note that it is ready."""
        self.is_up = self.has_been_ready = True
        self.ready.set()


class Supervisor:
    """Keeps programs running."""

    def __init__(self, programs: Sequence[Program], folder: Path, period: float = math.inf) -> None:
        """Keep files in `folder`; kill a program that says nothing for `period` seconds."""
        self.programs = programs
        self.folder = folder
        self._period = period
        self._stopping = trio.Event()

    def stop(self, number: int, seconds: float = 0.0) -> None:
        """Pass on a signal, after which games may go on for so many seconds. Start nothing anew any more."""
        if not self._stopping.is_set():
            notify(stopping(seconds))
            self._stopping.set()
            for each in self.programs:
                each.ready.set()
        for each in self.programs:
            if each.process is not None:
                each.process.send_signal(number)

    async def reload(self) -> None:
        """Let the programs read their files again; one that starts just now does so anyway."""
        notify(reloading())
        for each in self.programs:
            if each.is_up and each.process is not None:
                each.ready = trio.Event()
                each.process.send_signal(signal.SIGHUP)
        if await self.all_ready():
            notify(READY)

    async def all_ready(self) -> bool:
        """Return True once all have said that they are ready, False if the supervisor stops before."""
        for each in self.programs:
            await each.ready.wait()
        return not self._stopping.is_set()

    async def keep(self, program: Program) -> None:
        """Keep a program running until `stop` was called and it has ended. Raises OSError, EndedError.

        Cancelled, it ends the program.
        """
        backoff = Backoff()
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as hearing:
            address = str(self.folder / f"{program.name}.notify")
            hearing.bind(address)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._hear, program, trio.socket.from_stdlib_socket(hearing.dup()))
                while not self._stopping.is_set():
                    began = trio.current_time()
                    status = await self._run(program, address)
                    if self._stopping.is_set():
                        break
                    if not program.has_been_ready:
                        raise EndedError(program.name, status)
                    pause = backoff.after(trio.current_time() - began)
                    logger.log(
                        logging.ERROR if status else logging.INFO,
                        "%s has ended with status %d; it is started anew in %g s",
                        *(program.name, status, pause),
                        extra={
                            "event": "node_ended",
                            "node": program.name,
                            "status": status,
                            "seconds": pause,
                        },
                    )
                    with trio.move_on_after(pause):
                        await self._stopping.wait()
                nursery.cancel_scope.cancel()

    async def _run(self, program: Program, address: str) -> int:
        """Run a program, which says at a socket how it is; return its status. Raises OSError."""
        program.process = process = self._started(program, address)
        program.output = None
        try:
            await _end_of(process)
        finally:
            program.process, program.is_up = None, False
            with trio.CancelScope(shield=True):
                if process.poll() is None:
                    process.terminate()
                    with trio.move_on_after(GRACE):
                        await _end_of(process)
                    process.kill()
                process.wait()
        return process.returncode

    def _started(self, program: Program, address: str) -> "subprocess.Popen[bytes]":
        """Start a program, in the background of the terminal, whose signals are this process's.

        This thread has to be the main one: the program ends with the thread that started it. Raises OSError.
        """
        manager = {} if program.is_silent else {"NOTIFY_SOCKET": address}
        if self._period < math.inf and not program.is_silent:
            manager["WATCHDOG_USEC"] = str(round(self._period * 1e6))
        tied = [sys.executable, "-P", "-m", "gateway.runtime.processes", str(os.getpid())]
        return subprocess.Popen(
            [*tied, str(int(program.dies_by)), *program.command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL if program.output is None else program.output,
            pass_fds=program.sockets,
            process_group=0,
            env=with_import_path({**program.environment, **manager}),
        )

    async def _hear(self, program: Program, hearing: trio.socket.SocketType) -> None:
        """Take what a program says of itself, until cancelled."""
        with hearing:
            while True:
                states = list[bytes]()
                limit = self._period if program.is_up and not program.is_silent else math.inf
                with trio.move_on_after(limit) as silence:
                    states = (await hearing.recv(_LONGEST_STATE)).split(b"\n")
                if silence.cancelled_caught and program.process is not None:
                    program.process.kill()
                for state in states:
                    if state == READY.encode():
                        program.now_ready()
                    elif state.startswith(DRAINS.encode()) and not self._stopping.is_set():
                        self.stop(signal.SIGTERM, float(state.removeprefix(DRAINS.encode())))


async def _end_of(process: "subprocess.Popen[bytes]") -> None:
    """Wait for a process to end."""
    descriptor = os.pidfd_open(process.pid)
    try:
        await trio.lowlevel.wait_readable(descriptor)
    finally:
        os.close(descriptor)


# The servers: how they are started, announced, reloaded and stopped.

_LONGEST_TEXT = 65_536
"""Bytes of what a worker announces: more than it does, and no more than a pipe takes."""
_COMMAND = [sys.executable, "-P", "-m", "gateway"]

REGISTRY = "redis"
"""What the workers' own one is called in the log."""


def main(options: ServerOptions, words: Sequence[str], dialects: Sequence[Description]) -> int:
    """Run as many servers as the options say; return the exit status, as for one.

    `words` is the command line behind the program's name.
    """
    set_up_logging(options.log_level, as_json=options.log_json)
    status = 0
    try:
        with _prepared(options, words, dialects) as (supervisor, registry):
            trio.run(_run, options, supervisor, registry)
    except* OSError as refusals:
        complain(in_one_line(refusals), as_json=options.log_json)
        status = 1
    except* EndedError as ends:
        end: BaseException = ends
        while isinstance(end, BaseExceptionGroup):
            end = end.exceptions[0]
        assert isinstance(end, EndedError)
        if end.name == REGISTRY or end.status < 0:  # others have said so
            complain(str(end), as_json=options.log_json)
        status = max(1, end.status)
    except* KeyboardInterrupt:
        pass
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # it is over; one more Ctrl-C changes nothing
    return status


@contextmanager
def _prepared(
    options: ServerOptions, words: Sequence[str], dialects: Sequence[Description]
) -> Iterator[tuple[Supervisor, Program | None]]:
    """Reserve the ports; give the supervisor of the workers, and the registry that is their own, if any.

    Raises OSError.
    """
    with ExitStack() as opened:
        folder = opened.enter_context(private_folder())
        url, registry = None, None
        if options.cluster is None:
            url = local_redis.url(folder)
            command, environment = local_redis.command(folder), local_redis.environment(os.environ)
            registry = Program(REGISTRY, command, environment, dies_by=signal.SIGKILL, is_silent=True)
        try:
            ports = opened.enter_context(reserved(ports_of(options, dialects), options.host))
        except PortInUseError as error:
            is_page = options.web is None and not options.no_web and error.port == WEB_PORT
            hint = f"; without --web or --no-web the page takes {WEB_PORT}" if is_page else ""
            raise PortInUseError(f"{error}{hint}", error.port) from error
        handed_over = range(FIRST, FIRST + sum(map(len, options.sockets.values())))
        others = ("NOTIFY_", "WATCHDOG_", *(() if handed_over else ("LISTEN_",)))
        environment = {name: text for name, text in os.environ.items() if not name.startswith(others)}
        environment[WORKER] = ALONE if options.cluster is None else "with others"
        inherited = [*handed_over]
        if options.log_json:  # their own log is JSON already, and takes no detour
            inherited.append(sys.stderr.fileno())
            environment[OF_LOG] = str(sys.stderr.fileno())
        workers = [
            Program(f"worker {index}", [*_COMMAND, *own], environment, sockets=inherited)
            for index in range(1, options.workers + 1)
            for own in [arguments(options, words, index, ports, url)]
        ]
        yield Supervisor(workers, folder, watchdog() or math.inf), registry


def arguments(
    options: ServerOptions, words: Sequence[str], index: int, ports: Mapping[str, int], registry: str | None
) -> list[str]:
    """Return the command line of a worker, the first having `index` 1, behind the name of the command.

    It is the one `words`, with what a worker has for itself. `registry` is the URL of the registry that the
    workers have for themselves, None where another one is named.
    """
    flags = [] if "--share-ports" in words else ["--share-ports"]
    own = {"workers": "1", "node": f"{options.node}-{index}", "house-workers": str(options.house_workers)}
    own |= {} if registry is None else {"cluster": registry}
    own |= {name: str(port) for name, port in ports.items()}
    for option, address in (("metrics", options.metrics), ("node-address", options.node_address)):
        if address is not None:
            port = address.port + index - 1 if address.port else 0
            own[option] = str(replace(address, port=port))
    return [*_without(own, words), *flags, *(word for name in own for word in (f"--{name}", own[name]))]


def _without(names: Iterable[str], line: Sequence[str]) -> Iterator[str]:
    """Yield a command line without some options, each of which has a value."""
    options, words = {f"--{name}" for name in names}, iter(line)
    for word in words:
        if word in options:
            next(words, None)
        elif word.partition("=")[0] not in options:
            yield word


async def _run(options: ServerOptions, supervisor: Supervisor, registry: Program | None) -> None:
    """Run the workers until they are stopped. Raises OSError, EndedError."""
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals, _pipe() as pipe:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(keep_alive)
            nursery.start_soon(_obey, supervisor, options.drain, signals)
            if registry is not None:
                nursery.start_soon(supervisor.keep, registry)
                await local_redis.answering(supervisor.folder)
                registry.now_ready()
            first, *others = supervisor.programs
            announced, first.output = pipe
            async with trio.open_nursery() as workers:
                workers.start_soon(supervisor.keep, first)
                workers.start_soon(_announce, supervisor, announced, qr.is_shown(options))
                await first.ready.wait()
                for each in others:
                    workers.start_soon(supervisor.keep, each)
            nursery.cancel_scope.cancel()


@contextmanager
def _pipe() -> Iterator[tuple[int, int]]:
    """Give the two ends of a pipe; of the first one reads what there is."""
    ends = os.pipe()
    os.set_blocking(ends[0], False)
    try:
        yield ends
    finally:
        for each in ends:
            os.close(each)


async def _announce(supervisor: Supervisor, announced: int, with_qr: bool) -> None:
    """Print what the first worker has printed, once all are ready."""
    if await supervisor.all_ready():
        await trio.lowlevel.wait_readable(announced)
        text = os.read(announced, _LONGEST_TEXT).decode(errors="backslashreplace")
        write(text + qr.below(text) if with_qr else text)
        notify(READY)


async def _obey(supervisor: Supervisor, drain: float, signals: AsyncIterator[int]) -> None:
    """Do what signals ask for, until cancelled."""
    had_terminal = has_terminal()
    async with trio.open_nursery() as nursery:
        async for number in signals:
            if number == signal.SIGHUP and (has_terminal() or not had_terminal):
                nursery.start_soon(supervisor.reload)
                continue
            asked = signal.SIGTERM if number == signal.SIGHUP else number
            supervisor.stop(asked, drain if asked == signal.SIGTERM else 0.0)
