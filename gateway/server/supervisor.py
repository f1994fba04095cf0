"""The supervisor of several servers on one machine, which share its ports: they look like one server.

Knows the options, ports and signals. Does not know how a game is played: a worker is the same command with
other options (`workers`), and this process loads nothing that serves. The rules it keeps:

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
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import trio

from gateway.options.description import Description
from gateway.options.server import WEB_PORT, ServerOptions, ports_of
from gateway.options.terminal import in_one_line
from gateway.options.workers import ALONE, WORKER, arguments
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


@dataclass(frozen=True, slots=True)
class Order:
    """How a program is started."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    dies_by: signal.Signals = signal.SIGTERM
    """What it gets when this process has ended."""
    sockets: Sequence[int] = ()
    """Descriptors that it inherits."""


@dataclass(eq=False)
class Member:
    """A program that is kept running."""

    order: Order
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

    def send(self, number: int) -> None:
        """Send it a signal, if it runs."""
        if self.process is not None:
            self.process.send_signal(number)


class Supervisor:
    """Keeps programs running."""

    def __init__(self, members: Sequence[Member], folder: Path, period: float = math.inf) -> None:
        """Keep files in `folder`; kill a program that says nothing for `period` seconds."""
        self.members = members
        self._folder = folder
        self._period = period
        self._stopping = trio.Event()
        self._drain = trio.Event()
        self._seconds = 0.0

    @property
    def is_stopping(self) -> bool:
        """Whether no program is started anew any more."""
        return self._stopping.is_set()

    def stop(self) -> None:
        """Start no program anew any more, and let nobody wait until one is ready."""
        self._stopping.set()
        for each in self.members:
            each.ready.set()

    async def drain_asked_for(self) -> float:
        """Return, once a program asks for all to drain, for how many seconds games may go on."""
        await self._drain.wait()
        return self._seconds

    async def all_ready(self) -> bool:
        """Return True once all have said that they are ready, False if the supervisor stops before."""
        for each in self.members:
            await each.ready.wait()
        return not self.is_stopping

    async def keep(self, member: Member) -> None:
        """Keep a program running until `stop` was called and it has ended. Raises OSError, EndedError.

        It says by itself when it is ready. Cancelled, it ends the program.
        """
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as hearing:
            address = str(self._folder / f"{member.order.name}.notify")
            hearing.bind(address)
            told = {"NOTIFY_SOCKET": address}
            if self._period < math.inf:
                told["WATCHDOG_USEC"] = str(round(self._period * 1e6))
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._hear, member, trio.socket.from_stdlib_socket(hearing.dup()))
                await self.keep_silent(member, told)
                nursery.cancel_scope.cancel()

    async def keep_silent(self, member: Member, told: Mapping[str, str] | None = None) -> None:
        """Do the same for a program that says nothing; somebody else calls its `now_ready`."""
        backoff = Backoff()
        while not self.is_stopping:
            began = trio.current_time()
            status = await self._run(member, told or {})
            if self.is_stopping:
                return
            if not member.has_been_ready:
                raise EndedError(member.order.name, status)
            pause = backoff.after(trio.current_time() - began)
            _log_end(member.order.name, status, pause)
            with trio.move_on_after(pause):
                await self._stopping.wait()

    async def _run(self, member: Member, told: Mapping[str, str]) -> int:
        member.process = process = _started(member.order, member.output, told)
        member.output = None
        try:
            await _end_of(process)
        finally:
            member.process, member.is_up = None, False
            with trio.CancelScope(shield=True):
                await _end(process)
        return process.returncode

    async def _hear(self, member: Member, hearing: trio.socket.SocketType) -> None:
        """Take what a program says of itself, until cancelled."""
        with hearing:
            while True:
                limit = self._period if member.is_up else math.inf
                with trio.move_on_after(limit) as silence:
                    states = (await hearing.recv(_LONGEST_STATE)).split(b"\n")
                if silence.cancelled_caught:
                    member.send(signal.SIGKILL)
                elif READY.encode() in states:
                    member.now_ready()
                for state in states:
                    if state.startswith(DRAINS.encode()):
                        self._seconds = float(state.removeprefix(DRAINS.encode()))
                        self._drain.set()


def _started(order: Order, output: int | None, told: Mapping[str, str]) -> "subprocess.Popen[bytes]":
    """Start a program in the background of the terminal, whose signals are this process's. Raises OSError.

    This thread has to be the main one: the program ends with the thread that started it.
    """
    tied = [
        sys.executable,
        "-P",
        "-m",
        "gateway.runtime.processes",
        str(os.getpid()),
        str(int(order.dies_by)),
    ]
    return subprocess.Popen(
        [*tied, *order.command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL if output is None else output,
        pass_fds=order.sockets,
        process_group=0,
        env=with_import_path({**order.environment, **told}),
    )


async def _end_of(process: "subprocess.Popen[bytes]") -> None:
    """Wait for a process to end."""
    descriptor = os.pidfd_open(process.pid)
    try:
        await trio.lowlevel.wait_readable(descriptor)
    finally:
        os.close(descriptor)


async def _end(process: "subprocess.Popen[bytes]") -> None:
    """Let a process end, soon."""
    if process.poll() is None:
        process.terminate()
        with trio.move_on_after(GRACE):
            await _end_of(process)
        process.kill()
    process.wait()


def _log_end(name: str, status: int, pause: float) -> None:
    logger.log(
        logging.ERROR if status else logging.INFO,
        "%s has ended with status %d; it is started anew in %g s",
        *(name, status, pause),
        extra={"event": "node_ended", "node": name, "status": status, "seconds": pause},
    )


# The servers: how they are started, announced, reloaded and stopped.

_LONGEST_TEXT = 65_536
"""Bytes of what a worker announces: more than it does, and no more than a pipe takes."""
_COMMAND = [sys.executable, "-P", "-m", "gateway"]

REGISTRY = "redis"
"""What the workers' own one is called in the log."""


def main(options: ServerOptions, given: Sequence[str], dialects: Sequence[Description]) -> int:
    """Run as many servers as the options say; return the exit status, as for one."""
    set_up_logging(options.log_level, as_json=options.log_json)
    status = 0
    try:
        with _prepared(options, given, dialects) as (folder, orders, registry):
            trio.run(_run, options, folder, orders, registry)
    except* OSError as refusals:
        complain(in_one_line(refusals), as_json=options.log_json)
        status = 1
    except* EndedError as ends:
        status = _status(ends, as_json=options.log_json)
    except* KeyboardInterrupt:
        pass
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # it is over; one more Ctrl-C changes nothing
    return status


def _status(ends: BaseExceptionGroup[EndedError], *, as_json: bool) -> int:
    """Return the exit status where programs ended before they were ready; say so if they did not."""
    end: BaseException = ends
    while isinstance(end, BaseExceptionGroup):
        end = end.exceptions[0]
    assert isinstance(end, EndedError)
    if end.name == REGISTRY or end.status < 0:
        complain(str(end), as_json=as_json)
    return max(1, end.status)


@contextmanager
def _prepared(
    options: ServerOptions, given: Sequence[str], dialects: Sequence[Description]
) -> Iterator[tuple[Path, list[Order], Order | None]]:
    """Reserve the ports; give a private folder, and how the workers and their registry are started.

    Raises OSError.
    """
    with ExitStack() as opened:
        folder = opened.enter_context(private_folder())
        url, registry = None, None
        if options.cluster is None:
            url = local_redis.url(folder)
            environment = local_redis.environment(os.environ)
            registry = Order(REGISTRY, local_redis.command(folder), environment, dies_by=signal.SIGKILL)
        try:
            ports = opened.enter_context(reserved(ports_of(options, dialects), options.host))
        except PortInUseError as error:
            hint = (
                f"; without --web or --no-web the page takes {WEB_PORT}"
                if options.web is None and not options.no_web
                else ""
            )
            raise PortInUseError(f"{error}{hint}") from error
        lines = [arguments(options, given, each, ports, url) for each in range(1, options.workers + 1)]
        orders = [_order(options, index, words) for index, words in enumerate(lines, 1)]
        yield folder, orders, registry


def _order(options: ServerOptions, index: int, words: Sequence[str]) -> Order:
    sockets = range(FIRST, FIRST + sum(map(len, options.sockets.values())))
    others = ("NOTIFY_", "WATCHDOG_", *(() if sockets else ("LISTEN_",)))
    environment = {name: text for name, text in os.environ.items() if not name.startswith(others)}
    environment[WORKER] = ALONE if options.cluster is None else "with others"
    inherited = [*sockets]
    if options.log_json:  # their own log is JSON already, and takes no detour
        inherited.append(sys.stderr.fileno())
        environment[OF_LOG] = str(sys.stderr.fileno())
    return Order(f"worker {index}", [*_COMMAND, *words], environment, sockets=inherited)


async def _run(options: ServerOptions, folder: Path, orders: Sequence[Order], registry: Order | None) -> None:
    """Run the workers until they are stopped. Raises OSError, EndedError."""
    supervisor = Supervisor([Member(order) for order in orders], folder, watchdog() or math.inf)
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals, _pipe() as pipe:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(keep_alive)
            nursery.start_soon(_obey, supervisor, options.drain, signals)
            nursery.start_soon(_drain, supervisor)
            if registry is not None:
                member = Member(registry)
                nursery.start_soon(supervisor.keep_silent, member)
                await local_redis.answering(folder)
                member.now_ready()
            await _play(supervisor, pipe, with_qr=qr.is_shown(options))
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


async def _play(supervisor: Supervisor, pipe: tuple[int, int], *, with_qr: bool) -> None:
    """Start the first worker, and the others once it is ready; return when all have ended."""
    first, *others = supervisor.members
    announced, first.output = pipe
    async with trio.open_nursery() as nursery:
        nursery.start_soon(supervisor.keep, first)
        nursery.start_soon(_announce, supervisor, announced, with_qr)
        await first.ready.wait()
        for each in others:
            nursery.start_soon(supervisor.keep, each)


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
                nursery.start_soon(_reload, supervisor)
                continue
            asked = signal.SIGTERM if number == signal.SIGHUP else number
            _stop(supervisor, asked, drain if asked == signal.SIGTERM else 0.0)


async def _drain(supervisor: Supervisor) -> None:
    """Let all workers drain once the operator has asked one of them for it."""
    seconds = await supervisor.drain_asked_for()
    if not supervisor.is_stopping:
        _stop(supervisor, signal.SIGTERM, seconds)


def _stop(supervisor: Supervisor, number: int, seconds: float) -> None:
    """Pass on a signal, after which games may go on for so many seconds."""
    if not supervisor.is_stopping:
        notify(stopping(seconds))
        supervisor.stop()
    for each in supervisor.members:
        each.send(number)


async def _reload(supervisor: Supervisor) -> None:
    """Let the workers read their files again; one that starts just now does so anyway."""
    notify(reloading())
    for each in supervisor.members:
        if each.is_up:
            each.ready = trio.Event()
            each.send(signal.SIGHUP)
    if await supervisor.all_ready():
        notify(READY)
