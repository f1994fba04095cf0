"""Processes of bots, readers and attackers: a line of JSON says what to do, a line says what came of it.

Both ends of the pipe are here. The other process's stderr is the terminal's, and shows the progress. What
goes wrong with the server is an answer, too.
"""

import gc
import json
import os
import resource
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import trio

from conformance.dialects.script import OutOfStep
from conformance.lab.meters import NoSuchProcess, pin
from conformance.lab.workers import LoadError as LoadError
from conformance.targets import Address

Work = Callable[[Any], object]
"""From JSON to JSON. Raises LoadError, OutOfStep, NoSuchProcess, OSError."""
Words = Mapping[str, tuple[str, int, str]]
"""Addresses, as they cross a pipe."""


class Process:
    """A process of ours, and the lines that it exchanges with this one."""

    def __init__(self, process: trio.Process) -> None:
        self.pid = process.pid
        self._process = process
        self._rest = b""

    async def say(self, words: object) -> None:
        """Say what is to be done. Raises LoadError."""
        assert self._process.stdin is not None
        try:
            await self._process.stdin.send_all(json.dumps(words).encode() + b"\n")
        except trio.BrokenResourceError:
            raise LoadError("a process of bots has ended") from None

    async def answer(self) -> Any:
        """Return the next answer. Raises LoadError."""
        assert self._process.stdout is not None
        while b"\n" not in self._rest:
            data = await self._process.stdout.receive_some()
            if not data:
                raise LoadError(f"a process of bots exited with status {await self._process.wait()}")
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        answer = json.loads(line)
        if isinstance(answer, dict) and "error" in answer:
            raise LoadError(answer["error"])
        return answer

    async def over(self) -> Any:
        """Say that nothing more is to be done; return the answer. Raises LoadError."""
        assert self._process.stdin is not None
        await self._process.stdin.aclose()
        return await self.answer()


@asynccontextmanager
async def process(module: str, *words: object) -> AsyncIterator[Process]:
    """A process that runs a module and was told `words`, for as long as the block lasts. Raises LoadError."""
    command = [sys.executable, "-m", module]
    opened = await trio.lowlevel.open_process(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        one = Process(opened)
        for each in words:
            await one.say(each)
        yield one
    finally:
        with trio.CancelScope(shield=True):
            opened.kill()
            await opened.wait()


async def done(module: str, words: object) -> Any:
    """Have a process run the module's job; return its answer. Raises LoadError."""
    async with process(module, words) as one:
        return await one.answer()


def serve(work: Work) -> None:
    """Do the job that a line of stdin names."""
    words = json.loads(sys.stdin.readline())
    gc.freeze()
    try:
        with many_files():
            answer = work(words)
    except Exception as error:
        cause = first_cause(error)
        if not isinstance(cause, LoadError | OutOfStep | NoSuchProcess | OSError):
            raise
        answer = {"error": str(cause)}
    print(json.dumps(answer), flush=True)


def first_cause(error: BaseException) -> BaseException:
    """Return the first of the errors that nurseries wrapped."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def as_words(addresses: Mapping[str, Address]) -> Words:
    """Return addresses for a job's words."""
    return {name: (address.host, address.port, address.path) for name, address in addresses.items()}


def from_words(words: Words) -> dict[str, Address]:
    """Return the addresses that `as_words` made."""
    return {name: Address(*address) for name, address in words.items()}


@contextmanager
def many_files() -> Iterator[None]:
    """Let this process, and those it starts meanwhile, open as many files as they may."""
    before, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (before, most))


def settle_on(cores: list[int] | tuple[int, int] | None, *pids: int | None) -> None:
    """Keep the servers on the first core and this process on the other. Raises NoSuchProcess."""
    if cores is not None:
        for pid in filter(None, pids):
            pin(pid, cores[0])
        os.sched_setaffinity(0, {cores[1]})


def say(text: str) -> None:
    """Show the progress."""
    print(text, file=sys.stderr, flush=True)
