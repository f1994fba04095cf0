"""The processes of a match: a bot's, and the one in which two engines play.

Knows command lines, signals and files. Does not know what a game is. What a process says on stderr is kept
in a file, of which the end is shown where it fails. A process gets a group of its own: so Ctrl-C does not
reach it, and it is ended with all that it has started.
"""

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import trio

from adapters.front_ends import DIALECTS
from gateway.game.text import printable

GOODBYE = 1.0
"""Seconds that a process has after SIGTERM."""
_TAIL = 4096
_LONGEST = 300

WORKER = (sys.executable, "-m", "gateway.match.worker")
BOT = (sys.executable, "-m", "adapters.bot")


class Died(Exception):
    """A process has ended that had more to do."""


def is_command(text: str) -> bool:
    """Whether a player is a command: it wants to be told a port. All others are engines."""
    return "{port}" in text


def command(text: str, name: str, host: str, port: int) -> list[str]:
    """Return the words of a bot's command. Raises ValueError where quotes do not match."""
    places = {"{host}": host, "{port}": str(port), "{name}": name}
    words = shlex.split(text)
    for place, value in places.items():
        words = [word.replace(place, value) for word in words]
    return words


def engine(text: str, name: str, address: str, think: float | None) -> list[str]:
    """Return the words of the c4bot that plays an engine against a bot, without a clock of its own."""
    (dialect,) = (each for each in DIALECTS if not each.scheme)
    thinking = () if think is None else ("--think", str(think))
    return [*BOT, dialect.option, address, "--engine", text, "--name", name, "--games", "0", *thinking]


@asynccontextmanager
async def process(words: Sequence[str], log: Path, *, talks: bool = False) -> AsyncIterator[trio.Process]:
    """The process, for as long as the block lasts. Raises OSError where it cannot be started.

    What it says on stderr is appended to `log`; stdout goes nowhere, unless this process `talks` to it.
    """
    with log.open("ab") as file:
        started = await trio.lowlevel.open_process(
            list(words),
            stdin=subprocess.PIPE if talks else subprocess.DEVNULL,
            stdout=subprocess.PIPE if talks else subprocess.DEVNULL,
            stderr=file,
            start_new_session=True,
        )
    try:
        yield started
    finally:
        with trio.CancelScope(shield=True):
            await _end(started)


async def _end(started: trio.Process) -> None:
    """End a process, and what it has started. One that we talk to ends when nothing more is said."""
    if started.stdin is not None:
        await started.stdin.aclose()
    else:
        with suppress(ProcessLookupError, PermissionError):  # the latter: nobody is left, on macOS
            os.killpg(started.pid, signal.SIGTERM)
    with trio.move_on_after(GOODBYE):
        await started.wait()
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(started.pid, signal.SIGKILL)
    await started.wait()
    if started.stdout is not None:
        await started.stdout.aclose()


def size(log: Path) -> int:
    """Return how long a log is now; what follows is the next process's."""
    with suppress(FileNotFoundError):
        return log.stat().st_size
    return 0


def last_words(log: Path, since: int) -> str:
    """Return the last line that was written to a log since it had a size."""
    with log.open("rb") as file:
        file.seek(max(since, size(log) - _TAIL))
        lines = file.read().decode(errors="backslashreplace").strip().splitlines()
    return printable(lines[-1].strip()[:_LONGEST]) if lines else "it said nothing"


def how_it_ended(status: int) -> str:
    """Return what a status means."""
    if status < 0:
        with suppress(ValueError):
            return f"was ended by {signal.Signals(-status).name}"
    return f"ended with status {status}"


class Worker:
    """The process in which two engines play, from here."""

    def __init__(self, started: trio.Process) -> None:
        self._process = started
        self._rest = b""

    async def say(self, words: object) -> None:
        """Send a line. Raises Died."""
        assert self._process.stdin is not None
        try:
            await self._process.stdin.send_all(json.dumps(words).encode() + b"\n")
        except trio.BrokenResourceError:
            raise Died(how_it_ended(await self._process.wait())) from None

    async def answer(self) -> Any:
        """Return what the next line says. Raises Died."""
        assert self._process.stdout is not None
        while b"\n" not in self._rest:
            data = await self._process.stdout.receive_some()
            if not data:
                raise Died(how_it_ended(await self._process.wait()))
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return json.loads(line)
