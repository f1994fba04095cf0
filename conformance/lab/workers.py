"""Functions that run in processes of their own, and the values that they exchange with this one.

Function, arguments and values cross as pickles, so a function is one of a module's top level. The process
shows its progress on stderr; what goes wrong with a server there is raised here.
"""

import gc
import os
import pickle
import resource
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import Any, ParamSpec, TypeVar

import trio

from conformance.dialects.script import OutOfStep
from conformance.lab.meters import NoSuchProcess, pin

P = ParamSpec("P")
R = TypeVar("R")
Job = Callable[..., object]
"""May raise LoadError, OutOfStep, NoSuchProcess, OSError."""
_PROGRAM = "import sys; sys.path[:] = {path!r}; from conformance.lab.workers import serve; serve()"
"""What a process runs. It imports from where this one does, not also from the current folder."""
_STDIN, _STDOUT = 0, 1
_LENGTH = 4
"""Bytes in front of a pickle that say how long it is."""


class LoadError(Exception):
    """The load, or a game of it, did not come about; says why."""


class Worker:
    """A process that runs a job."""

    def __init__(self, process: trio.Process) -> None:
        self.pid = process.pid
        self._process = process
        self._received = b""

    async def send(self, value: object) -> None:
        """Send a value to the job. Raises LoadError."""
        assert self._process.stdin is not None
        try:
            await self._process.stdin.send_all(_packed(value))
        except trio.BrokenResourceError:
            raise LoadError(f"a process of clients exited with status {await self._process.wait()}") from None

    async def receive(self) -> Any:
        """Return the next value that the job replies, at last what it returns. Raises LoadError."""
        size = int.from_bytes(await self._exactly(_LENGTH))
        value = pickle.loads(await self._exactly(size))
        if isinstance(value, LoadError):
            raise value
        return value

    async def finish(self) -> Any:
        """Tell the job that nothing more comes; return the next value. Raises LoadError."""
        assert self._process.stdin is not None
        await self._process.stdin.aclose()
        return await self.receive()

    async def _exactly(self, size: int) -> bytes:
        assert self._process.stdout is not None
        while len(self._received) < size:
            data = await self._process.stdout.receive_some()
            if not data:
                raise LoadError(f"a process of clients exited with status {await self._process.wait()}")
            self._received += data
        taken, self._received = self._received[:size], self._received[size:]
        return taken


@asynccontextmanager
async def worker(job: Job, *arguments: object) -> AsyncIterator[Worker]:
    """Run a job in a process that is killed at the end of the block. Raises LoadError."""
    command = [sys.executable, "-P", "-c", _PROGRAM.format(path=sys.path)]
    process = await trio.lowlevel.open_process(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        found = Worker(process)
        await found.send((job, arguments))
        yield found
    finally:
        with trio.CancelScope(shield=True):
            process.kill()
            await process.wait()


async def run(job: Callable[P, R], *arguments: P.args, **named: P.kwargs) -> R:
    """Run a job in a process of its own; return what it returns. Raises LoadError."""
    async with worker(partial(job, *arguments, **named)) as found:
        value: R = await found.receive()
    return value


# In the process.


def serve() -> None:
    """Run the job that comes by stdin."""
    job, arguments = received()
    gc.freeze()
    try:
        with many_files():
            value = job(*arguments)
    except Exception as error:
        cause = first_cause(error)
        if not isinstance(cause, LoadError | OutOfStep | NoSuchProcess | OSError):
            raise
        value = LoadError(str(cause))
    reply(value)


def received() -> Any:
    """Return the next value that `Worker.send` has sent. Raises EOFError at the end."""
    return pickle.loads(_read(int.from_bytes(_read(_LENGTH))))


def reply(value: object) -> None:
    """Send a value to `Worker.receive`."""
    data = _packed(value)
    while data:
        data = data[os.write(_STDOUT, data) :]


def _packed(value: object) -> bytes:
    data = pickle.dumps(value)
    return len(data).to_bytes(_LENGTH) + data


def _read(size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = os.read(_STDIN, size - len(data))
        if not more:
            raise EOFError
        data += more
    return data


# On either side.


def first_cause(error: BaseException) -> BaseException:
    """Return the first of the errors that nurseries wrapped."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


@contextmanager
def many_files() -> Iterator[None]:
    """Raise the limit of open files as far as allowed, for this process and those that it starts."""
    before, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (before, most))


def settle_on(cores: tuple[int, int] | None, *pids: int | None) -> None:
    """Pin the servers to the first core and this process to the second. Raises NoSuchProcess."""
    if cores is not None:
        for pid in filter(None, pids):
            pin(pid, cores[0])
        os.sched_setaffinity(0, {cores[1]})


def say(text: str) -> None:
    """Show the progress."""
    print(text, file=sys.stderr, flush=True)
