"""Functions that run the user's programs for a match or a check, with their stderr in log files.

Knows signals and files; does not know what a program plays. The caller can show the last lines of a program's
log file if the program fails.
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
"""The number of seconds between SIGTERM and SIGKILL when a process is ended."""
_TAIL = 4096
_LONGEST = 300


def ends() -> list[signal.Signals]:
    """Return the signals that end a command. The command must then end its child processes.

    The child processes run in other sessions and do not get these signals. SIGHUP is included unless this
    process ignores it, as it does under ``nohup``.
    """
    stays = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return [signal.SIGINT, signal.SIGTERM, *([] if stays else [signal.SIGHUP])]


@asynccontextmanager
async def process(words: Sequence[str], log: Path, *, talks: bool = False) -> AsyncIterator[trio.Process]:
    """Run a process during the block; end it and all its children after the block. Raises OSError.

    The stderr of the process is appended to `log`. With `talks`, its stdin and stdout are pipes; otherwise
    they are /dev/null. The process runs in a new session, so that Ctrl-C does not reach it and its children
    can be found.
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
    """End a process and its children."""
    if started.stdin is not None:
        await started.stdin.aclose()
    with suppress(ProcessLookupError, PermissionError):  # macOS raises PermissionError for an empty group
        os.killpg(started.pid, signal.SIGTERM)
    with trio.move_on_after(GOODBYE):
        await started.wait()
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(started.pid, signal.SIGKILL)
    await started.wait()
    if started.stdout is not None:
        await started.stdout.aclose()


def size(log: Path) -> int:
    """Return the size of a log file in bytes; 0 if the file does not exist."""
    with suppress(FileNotFoundError):
        return log.stat().st_size
    return 0


def last_lines(log: Path, since: int, most: int) -> list[str]:
    """Return the lines in the last `most` bytes of a log file, but none before the offset `since`."""
    with log.open("rb") as file:
        file.seek(max(since, size(log) - most))
        return file.read().decode(errors="backslashreplace").splitlines()


def last_words(log: Path, since: int) -> str:
    """Return the last line of a log file that is not blank; only lines after the offset `since` count.

    Returns ``it said nothing`` if there is no such line.
    """
    lines = [*filter(None, map(str.strip, last_lines(log, since, _TAIL)))]
    return printable(lines[-1][:_LONGEST]) if lines else "it said nothing"


def how_it_ended(status: int) -> str:
    """Return an exit status in words."""
    if status < 0:
        with suppress(ValueError):
            return f"was ended by {signal.Signals(-status).name}"
    return f"ended with status {status}"
