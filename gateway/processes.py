"""Starting and ending the server's child processes.

Knows Python's command line and signals. Does not know what a process is for.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress

_DEAF_TO = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
"""Signals that a terminal or a supervisor sends to all processes of the server at once."""


def started(module: str, given: Iterable[int], stdin: int = subprocess.DEVNULL) -> "subprocess.Popen[bytes]":
    """Start a process that runs `module`, with the inherited file descriptors `given` as its arguments.

    It uses the server's import path, writes to the server's stderr, and ignores SIGINT, SIGTERM and SIGHUP.
    Raises OSError if the system cannot start it.
    """
    numbers = [*given]
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _DEAF_TO)  # a new process inherits the mask
    try:
        return subprocess.Popen(
            [sys.executable, "-P", "-m", module, *map(str, numbers)],
            stdin=stdin,
            stdout=subprocess.DEVNULL,
            pass_fds=numbers,
            # In the server's order, so that it imports the same modules.
            env=os.environ | {"PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)},
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def ended(process: "subprocess.Popen[bytes]", limit: float) -> int:
    """Wait `limit` seconds for a process to end, then kill it. Return its status."""
    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def give_way(by: int) -> None:
    """Lower this process's priority: `by` as for nice, 0 to 19."""
    with suppress(OSError):  # without the permission it keeps its priority
        os.nice(by)
