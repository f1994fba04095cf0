"""Run functions in separate processes, and exchange values with them.

Functions, arguments and values are sent as pickles, so a function must be at the top level of a module. The
process prints its progress on stderr. If its job fails because of a server, LoadError is raised here.
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
"""A function to run in a process. It may raise LoadError, OutOfStep, NoSuchProcess, OSError."""
_PROGRAM = "import sys; sys.path[:] = {path!r}; from conformance.lab.workers import serve; serve()"
"""The program of a process. It has the import path of this process, without the current folder."""
_STDIN, _STDOUT = 0, 1
_LENGTH = 4
"""The size of the length field before a pickle, in bytes."""


class LoadError(Exception):
    """The load, or a game of it, failed. The message says why."""


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
        """Return the next reply of the job; the last one is its return value. Raises LoadError."""
        size = int.from_bytes(await self._exactly(_LENGTH))
        value = pickle.loads(await self._exactly(size))
        if isinstance(value, LoadError):
            raise value
        return value

    async def finish(self) -> Any:
        """Close the job's stdin, so that the job gets no more values. Return its next reply.

        Raises LoadError.
        """
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
    """Run a job in a process, which is killed at the end of the block. Raises LoadError."""
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
    """Run a job in a separate process; return its return value. Raises LoadError."""
    async with worker(partial(job, *arguments, **named)) as found:
        value: R = await found.receive()
    return value


# In the process.


def serve() -> None:
    """Read a job from stdin, run it, and reply with its return value."""
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
    """Return the next value from `Worker.send`. Raises EOFError at the end."""
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


# In both processes.


def first_cause(error: BaseException) -> BaseException:
    """Return the first error within the ExceptionGroups of nurseries."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


@contextmanager
def many_files() -> Iterator[None]:
    """Raise the limit of open files as far as allowed, for this process and its child processes."""
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
    """Print a line of progress on stderr."""
    print(text, file=sys.stderr, flush=True)
