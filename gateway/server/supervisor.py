"""The supervisor of several workers on one machine. The workers share their ports and act as one server.

Knows options, ports and signals; does not know games. A worker runs the same command with other options. The
first worker starts alone, so that an error at the start is reported only once. The server's lines are printed
when all workers are ready.
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

# Programs that are kept running. They report by sd_notify(3) that they are ready and alive. All programs end
# when this process ends, even if it is killed.

GRACE = 5.0
"""The number of seconds between SIGTERM and SIGKILL for a program that is not needed any more."""

_LONGEST_STATE = 4096

logger = logging.getLogger(__name__)


class EndedError(Exception):
    """A program ended before it was ready for the first time."""

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
    """The signal that the program gets when the supervisor's process ends."""
    sockets: Sequence[int] = ()
    """Descriptors that the program inherits."""
    is_silent: bool = False
    """True for a program that does not report when it is ready. The caller then calls `now_ready`."""
    output: int | None = None
    """The descriptor for the standard output of the first run. Later runs write to /dev/null."""
    process: "subprocess.Popen[bytes] | None" = None
    ready: trio.Event = field(default_factory=trio.Event)
    """Set when the program is ready or the supervisor stops. A reload replaces it by a new event."""
    has_been_ready: bool = False
    is_up: bool = False
    """Whether the running process is ready."""

    def now_ready(self) -> None:
        """Mark the program as ready."""
        self.is_up = self.has_been_ready = True
        self.ready.set()


class Supervisor:
    """Keeps programs running."""

    def __init__(self, programs: Sequence[Program], folder: Path, period: float = math.inf) -> None:
        """Set the folder for sockets, and the seconds without a report after which a program is killed."""
        self.programs = programs
        self.folder = folder
        self._period = period
        self._stopping = trio.Event()

    def stop(self, number: int, seconds: float = 0.0) -> None:
        """Send a signal to all programs, and stop restarting them.

        `seconds` is the time that games may take until the programs end; it is reported to the service
        manager.
        """
        if not self._stopping.is_set():
            notify(stopping(seconds))
            self._stopping.set()
            for each in self.programs:
                each.ready.set()
        for each in self.programs:
            if each.process is not None:
                each.process.send_signal(number)

    async def reload(self) -> None:
        """Send SIGHUP to all programs that are ready. Starting programs read their files without it."""
        notify(reloading())
        for each in self.programs:
            if each.is_up and each.process is not None:
                each.ready = trio.Event()
                each.process.send_signal(signal.SIGHUP)
        if await self.all_ready():
            notify(READY)

    async def all_ready(self) -> bool:
        """Wait until all programs are ready; return False if the supervisor stops first."""
        for each in self.programs:
            await each.ready.wait()
        return not self._stopping.is_set()

    async def keep(self, program: Program) -> None:
        """Run a program, and restart it when it ends, until `stop` is called. If cancelled, end the program.

        The pauses before restarts grow. Raises EndedError if the program ends before it was ever ready, since
        it would fail again. Raises OSError if the program cannot be started.
        """
        backoff = Backoff()
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
            address = str(self.folder / f"{program.name}.notify")
            receiver.bind(address)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._receive, program, trio.socket.from_stdlib_socket(receiver.dup()))
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
                        "%s has ended with status %d; it is restarted in %g s",
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
        """Run a program that reports to the socket `address`; return its exit status. Raises OSError."""
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
        """Start a program in a new process group, so that the terminal's signals do not reach it.

        Call this in the main thread, since the program gets `dies_by` when the thread that started it ends.
        Raises OSError.
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

    async def _receive(self, program: Program, receiver: trio.socket.SocketType) -> None:
        """Receive a program's reports, until cancelled; kill the program if it sends none for too long."""
        with receiver:
            while True:
                states = list[bytes]()
                limit = self._period if program.is_up and not program.is_silent else math.inf
                with trio.move_on_after(limit) as silence:
                    states = (await receiver.recv(_LONGEST_STATE)).split(b"\n")
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


# The workers.

_LONGEST_TEXT = 65_536
"""The maximum length of a worker's output, in bytes. It is the capacity of a pipe."""
_COMMAND = [sys.executable, "-P", "-m", "gateway"]

REGISTRY = "redis"
"""The name of the workers' own Redis server in the log."""


def main(options: ServerOptions, words: Sequence[str], dialects: Sequence[Description]) -> int:
    """Run the workers; return the exit status.

    `options.workers` is their number. `words` is the command line after the program's name.
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
        if end.name == REGISTRY or end.status < 0:  # a worker that exits reports its error itself
            complain(str(end), as_json=options.log_json)
        status = max(1, end.status)
    except* KeyboardInterrupt:
        pass
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # a further Ctrl-C must not change the exit status
    return status


@contextmanager
def _prepared(
    options: ServerOptions, words: Sequence[str], dialects: Sequence[Description]
) -> Iterator[tuple[Supervisor, Program | None]]:
    """Reserve the ports; yield the supervisor and the program of the workers' own Redis server, if any.

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
        if options.log_json:  # the workers' log is JSON already and needs no conversion
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
    """Return the command line of a worker: `words` with the worker's own options. `index` begins at 1.

    `registry` is the URL of the workers' own Redis server; None with ``--cluster``.
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
    """Yield the words of a command line, without the options `names` and their values."""
    options, words = {f"--{name}" for name in names}, iter(line)
    for word in words:
        if word in options:
            next(words, None)
        elif word.partition("=")[0] not in options:
            yield word


async def _run(options: ServerOptions, supervisor: Supervisor, registry: Program | None) -> None:
    """Run the workers until they are stopped. Raises OSError or EndedError."""
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
    """Yield the two ends of a pipe: the one to read, which does not block, and the one to write."""
    ends = os.pipe()
    os.set_blocking(ends[0], False)
    try:
        yield ends
    finally:
        for each in ends:
            os.close(each)


async def _announce(supervisor: Supervisor, announced: int, with_qr: bool) -> None:
    """Wait until all workers are ready, then print the first worker's output."""
    if await supervisor.all_ready():
        await trio.lowlevel.wait_readable(announced)
        text = os.read(announced, _LONGEST_TEXT).decode(errors="backslashreplace")
        write(text + qr.below(text) if with_qr else text)
        notify(READY)


async def _obey(supervisor: Supervisor, drain: float, signals: AsyncIterator[int]) -> None:
    """Reload or stop the workers when signals arrive, until cancelled."""
    had_terminal = has_terminal()
    async with trio.open_nursery() as nursery:
        async for number in signals:
            if number == signal.SIGHUP and (has_terminal() or not had_terminal):
                nursery.start_soon(supervisor.reload)
                continue
            asked = signal.SIGTERM if number == signal.SIGHUP else number
            supervisor.stop(asked, drain if asked == signal.SIGTERM else 0.0)
