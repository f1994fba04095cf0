"""Programs that run as long as this process, and are started anew if they end before.

Knows processes, signals, and the protocol of sd_notify(3), by which a program says that it is ready and
alive. Does not know what a program is for. The rules it keeps:

- None outlives this process, whatever ends it.
- A program that has never been ready is not started anew: what is wrong with it will not change.
- One that ends again and again is started after longer and longer pauses.
- One that has said nothing for as long as the manager of this process allows is killed.
"""

import logging
import math
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import trio

from gateway.runtime.notifying import DRAINS, READY
from gateway.runtime.processes import with_import_path

FIRST_PAUSE = 0.5
"""Seconds before a program that ended is started anew; each time twice as many."""
LONGEST_PAUSE = 30.0
LASTING = 60.0
"""Seconds after which a program that ends did well, and pauses begin anew."""
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
    """Is set when it says that it is ready, or the crew stops; who waits for the next time renews it."""
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


class Crew:
    """All of them."""

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
        """Return True once all have said that they are ready, False if the crew stops before."""
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
        pause = FIRST_PAUSE
        while not self.is_stopping:
            began = trio.current_time()
            status = await self._run(member, told or {})
            if self.is_stopping:
                return
            if not member.has_been_ready:
                raise EndedError(member.order.name, status)
            lasted = trio.current_time() - began
            pause = FIRST_PAUSE if lasted > LASTING else pause
            _log_end(member.order.name, status, pause)
            with trio.move_on_after(pause):
                await self._stopping.wait()
            pause = min(2 * pause, LONGEST_PAUSE)

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
    tied = [sys.executable, "-P", "-m", "gateway.server.tied", str(os.getpid()), str(int(order.dies_by))]
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
