"""A process of bots: what it is to do comes in by stdin, what came of it goes out by stdout, as JSON.

Its stderr is the terminal's, and shows the progress. What goes wrong with the server is part of the
answer.
"""

import gc
import json
import os
import resource
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import trio

from conformance.dialects.script import OutOfStep
from conformance.lab.meters import NoSuchProcess, pin
from conformance.targets import Address

Work = Callable[[Any], object]
"""From JSON to JSON. Raises OutOfStep, NoSuchProcess."""
Words = Mapping[str, tuple[str, int, str]]
"""Addresses, as they cross a pipe."""


class LoadError(Exception):
    """The load, or a game of it, did not come about; says why."""


async def done(module: str, words: object) -> Any:
    """Have a process run the module's job; return its answer. Raises LoadError."""
    process = await trio.run_process(
        [sys.executable, "-m", module], stdin=json.dumps(words).encode(), capture_stdout=True, check=False
    )
    if process.returncode != 0:
        raise LoadError(f"the process of bots exited with status {process.returncode}")
    answer = json.loads(process.stdout)
    if "error" in answer:
        raise LoadError(answer["error"])
    return answer["answer"]


def serve(work: Work) -> None:
    """Do the job that stdin names."""
    words = json.load(sys.stdin)
    gc.freeze()
    try:
        with many_files():
            print(json.dumps({"answer": work(words)}))
    except (OutOfStep, NoSuchProcess) as error:
        print(json.dumps({"error": str(error)}))


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


def settle_on(cores: list[int] | tuple[int, int] | None, pid: int | None) -> None:
    """Keep the server on the first core and this process on the other. Raises NoSuchProcess."""
    if cores is not None:
        if pid is not None:
            pin(pid, cores[0])
        os.sched_setaffinity(0, {cores[1]})


def say(text: str) -> None:
    """Show the progress."""
    print(text, file=sys.stderr, flush=True)
