"""Processes that are started for a match or a check, and what they say on stderr.

Knows signals and files. Does not know what a process plays. Its stderr is kept in a file, of which the end is
shown where it fails. A process gets a group of its own: so Ctrl-C does not reach it, and it is ended with all
that it has started.
"""

import os
import signal
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import trio

from gateway.game.text import printable

GOODBYE = 1.0
"""Seconds that a process has after SIGTERM."""
_TAIL = 4096
_LONGEST = 300


def ends() -> list[signal.Signals]:
    """Return the signals on which to end what was started: none of them reaches it by itself.

    That a terminal is gone, SIGHUP, is one of them, unless the command was told to stay, as by ``nohup``.
    """
    stays = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return [signal.SIGINT, signal.SIGTERM, *([] if stays else [signal.SIGHUP])]


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
    """End a process, and what it has started."""
    if started.stdin is not None:
        await started.stdin.aclose()
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


def last_lines(log: Path, since: int, most: int) -> list[str]:
    """Return what was written to a log since it had a size: of its last `most` bytes, the lines."""
    with log.open("rb") as file:
        file.seek(max(since, size(log) - most))
        return file.read().decode(errors="backslashreplace").splitlines()


def last_words(log: Path, since: int) -> str:
    """Return the last line that was written to a log since it had a size."""
    lines = [*filter(None, map(str.strip, last_lines(log, since, _TAIL)))]
    return printable(lines[-1][:_LONGEST]) if lines else "it said nothing"


def how_it_ended(status: int) -> str:
    """Return what a status means."""
    if status < 0:
        with suppress(ValueError):
            return f"was ended by {signal.Signals(-status).name}"
    return f"ended with status {status}"
