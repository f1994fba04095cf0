"""Functions that start the server's child processes, exchange messages with them, and end them.

Knows Python's command line, sockets and signals; does not know the purpose of a process.
"""

import ctypes
import marshal
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

LENGTH = 4
"""The number of bytes at the start of a frame that hold the length of its data."""
_DEAF_TO = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
"""The signals that a terminal or a supervisor sends to all processes of the server at once."""
LOG_JSON = "C4GATEWAY_LOG_JSON"
"""The environment variable for ``--log-json``. With it, the server's child processes log JSON, too."""
_WITH_JSON_OUTPUT = ("gateway.server.streams",)
"""The module that runs another module and logs its errors as JSON."""


class StartedProcess(NamedTuple):
    """A child process that was started, and this process's end of the socket to it."""

    process: "subprocess.Popen[bytes]"
    socket: socket.socket


def start(module: str, sockets: Iterable[int] = ()) -> StartedProcess:
    """Start a process that runs `module`.

    The arguments of the process are the file descriptors of its end of the socket and of `sockets`. The
    process uses the server's import path, writes to the server's stderr, and ignores SIGINT, SIGTERM and
    SIGHUP. Raises OSError if the system cannot start the process.
    """
    with_json_output = _WITH_JSON_OUTPUT if os.environ.get(LOG_JSON) == "true" else ()
    ours, theirs = socket.socketpair()
    numbers = [theirs.fileno(), *sockets]
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _DEAF_TO)  # a new process inherits the mask
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", *with_json_output, module, *map(str, numbers)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=numbers,
            env=with_import_path(os.environ),
        )
    except BaseException:
        ours.close()
        raise
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        theirs.close()
    return StartedProcess(process, ours)


def running(module: str) -> list[str]:
    """Return the command that runs one of the server's modules, which in turn runs the user's Python code.

    The user's folder comes after the server's modules in the import path, so that a ``gateway.py`` in that
    folder does not replace the server's package. The path is not set by an environment variable, because
    processes that the user's code starts would inherit it.
    """
    root = str(Path(__file__).parents[2])
    start = f"import runpy, sys; sys.path += [{root!r}, '']"
    run = f"runpy.run_module({module!r}, run_name='__main__', alter_sys=True)"
    return [sys.executable, "-P", "-c", f"{start}; {run}"]


def with_import_path(environment: Mapping[str, str]) -> dict[str, str]:
    """Return `environment` with the variable that gives another Python process the same import path."""
    return {**environment, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}


def ended(process: "subprocess.Popen[bytes]", limit: float) -> int:
    """Wait up to `limit` seconds for a process to end, then kill it; return its exit status."""
    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def frame(data: bytes) -> bytes:
    """Return a frame: the length of `data`, then `data`."""
    return len(data).to_bytes(LENGTH) + data


def marshalled(message: Any) -> bytes:
    """Return a message encoded by `marshal`. Raises ValueError if it does not consist of plain values.

    This is the fastest encoding. It is safe between the server and its store process, because both run the
    same Python, and no other process can write to their socket.
    """
    return marshal.dumps(message)


def unmarshalled(data: bytes) -> Any:
    """Decode a message from `marshalled`. Raises ValueError, EOFError or TypeError for other bytes."""
    return marshal.loads(data)


def message_frame(message: Any) -> bytes:
    """Return the frame of a message. Raises ValueError if it does not consist of plain values."""
    return frame(marshalled(message))


def read_message(frames: BinaryIO) -> Any:
    """Return the message of the next frame; None if the other end is closed and no complete frame is left."""
    length = frames.read(LENGTH)
    data = frames.read(int.from_bytes(length))
    return unmarshalled(data) if len(length) == LENGTH and len(data) == int.from_bytes(length) else None


def give_way(by: int) -> None:
    """Lower this process's priority by 0 to 19 steps of niceness."""
    with suppress(OSError):  # a process without the permission keeps its priority
        os.nice(by)


# Run as a program, on Linux, this module runs a command that gets a signal when the parent process ends.

_PR_SET_PDEATHSIG = 1


def run_tied(parent: int, number: int, command: list[str]) -> None:
    """Replace this process by `command`, which gets the signal `number` when the process `parent` ends.

    The command also gets the sockets that systemd passed to the parent. Returns only if the parent has
    already ended. Raises OSError.
    """
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, number):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    if os.getppid() != parent:
        return
    if "LISTEN_FDS" in os.environ:
        os.environ["LISTEN_PID"] = str(os.getpid())
    os.execvp(command[0], command)


if __name__ == "__main__":
    run_tied(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
