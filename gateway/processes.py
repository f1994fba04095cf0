"""Processes of the server's own: how one is started, so that it is the server's in every respect.

Knows Python's command line and signals; does not know what a process is for.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress

_DEAF_TO = {signal.SIGINT, signal.SIGTERM}
"""Who stops the server by them, a terminal or a supervisor, mostly sends them to all its processes."""


def started(module: str, given: Iterable[int], stdin: int = subprocess.DEVNULL) -> "subprocess.Popen[bytes]":
    """Return a process that runs `module`, told of the file descriptors that it is given.

    It imports what the server would, writes to the server's stderr, and SIGINT and SIGTERM do not reach it.
    Raises OSError where the system gives no process.
    """
    numbers = [*given]
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _DEAF_TO)  # which a new process is born with
    try:
        return subprocess.Popen(
            [sys.executable, "-P", "-m", module, *map(str, numbers)],
            stdin=stdin,
            stdout=subprocess.DEVNULL,
            pass_fds=numbers,
            # In the server's order, so that it imports what the server would.
            env=os.environ | {"PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)},
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def ended(process: "subprocess.Popen[bytes]", limit: float) -> int:
    """Let a process end by itself, for which it has `limit` seconds, and kill it then; return its status."""
    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def give_way(by: int) -> None:
    """Let others go before this process where a processor is shared: `by` as for nice, 0 to 19."""
    with suppress(OSError):  # who may not is as fast as the others
        os.nice(by)
