"""Starting, addressing and ending the server's child processes.

Knows Python's command line, sockets and signals. Does not know what a process is for.
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
"""Bytes of a frame's length."""
_DEAF_TO = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
"""Signals that a terminal or a supervisor sends to all processes of the server at once."""
LOG_JSON = "C4GATEWAY_LOG_JSON"
"""The option, in the environment of a server's processes: where it is set, they log as JSON, too."""
_WITH_JSON_OUTPUT = ("gateway.server.streams",)
"""What runs another module so that all that it writes is JSON."""


class StartedProcess(NamedTuple):
    """A child process, and this process's end of the socket to it."""

    process: "subprocess.Popen[bytes]"
    socket: socket.socket


def start(module: str, sockets: Iterable[int] = ()) -> StartedProcess:
    """Start a process that runs `module`.

    Its arguments are the file descriptors of its end of the socket and of `sockets`. It uses the server's
    import path, writes to the server's stderr, and ignores SIGINT, SIGTERM and SIGHUP. Raises OSError if the
    system cannot start it.
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
    """Return the words that run a module of ours which runs the user's Python code, too.

    Our modules are found first and the user's folder last, so that a ``gateway.py`` there is none of ours.
    No variable of the environment says so, because what the user's code starts would inherit that.
    """
    root = str(Path(__file__).parents[2])
    start = f"import runpy, sys; sys.path += [{root!r}, '']"
    run = f"runpy.run_module({module!r}, run_name='__main__', alter_sys=True)"
    return [sys.executable, "-P", "-c", f"{start}; {run}"]


def with_import_path(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which another Python imports the same modules, by the same path."""
    return {**environment, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}


def ended(process: "subprocess.Popen[bytes]", limit: float) -> int:
    """Wait `limit` seconds for a process to end, then kill it. Return its status."""
    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def frame(data: bytes) -> bytes:
    """Return bytes as the socket to a child process carries them: their length comes first."""
    return len(data).to_bytes(LENGTH) + data


def marshalled(message: Any) -> bytes:
    """Return what `marshal` makes of a message. Raises ValueError if it is not of plain values.

    That is the fastest form, and safe between a server and what it started to keep results: both ends run the
    same Python, and no other process can write to the socket.
    """
    return marshal.dumps(message)


def unmarshalled(data: bytes) -> Any:
    """Undo `marshalled`. Raises ValueError, EOFError, TypeError."""
    return marshal.loads(data)


def message_frame(message: Any) -> bytes:
    """Return the frame of a message. Raises ValueError if it is not of plain values."""
    return frame(marshalled(message))


def read_message(frames: BinaryIO) -> Any:
    """Return the message of the next frame; None if the other end is gone, perhaps within one."""
    length = frames.read(LENGTH)
    data = frames.read(int.from_bytes(length))
    return unmarshalled(data) if len(length) == LENGTH and len(data) == int.from_bytes(length) else None


def give_way(by: int) -> None:
    """Lower this process's priority: `by` as for nice, 0 to 19."""
    with suppress(OSError):  # without the permission it keeps its priority
        os.nice(by)


# Runs a program that ends when the process that started it does, however that ends: on Linux.
#
# The arguments are that process's id, the number of the signal that the program then gets, and the program
# with its own arguments. It takes this process's place, and keeps its id. Sockets that were handed over to
# the one who started it (`listening`) are handed on.

_PR_SET_PDEATHSIG = 1


def run_tied(parent: int, number: int, command: list[str]) -> None:
    """Become the program. Return if whoever started this has ended already. Raises OSError."""
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, number):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    if os.getppid() != parent:
        return
    if "LISTEN_FDS" in os.environ:
        os.environ["LISTEN_PID"] = str(os.getpid())
    os.execvp(command[0], command)


if __name__ == "__main__":
    run_tied(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
