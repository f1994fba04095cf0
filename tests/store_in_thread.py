"""The store process's program in a thread of the tests; a process would load its libraries each time."""

import signal
import socket
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from threading import Thread
from typing import cast

from gateway.runtime.processes import StartedProcess
from gateway.store.process import PROGRAM
from gateway.store.worker import serve


class InThread:
    """The program in a thread, which looks like a process."""

    pid = 0

    def __init__(self, server: socket.socket) -> None:
        self._server = server
        self._status = 0
        self._thread = Thread(target=serve, args=[server])
        self._thread.start()

    def kill(self) -> None:
        """Let it hear and say nothing more."""
        self._status = -signal.SIGKILL
        with suppress(OSError):  # it has ended
            self._server.shutdown(socket.SHUT_RDWR)

    def wait(self, limit: float | None = None) -> int:
        """Wait `limit` seconds for its end, and return its status. Raises TimeoutExpired."""
        self._thread.join(limit)
        if self._thread.is_alive():
            raise subprocess.TimeoutExpired(PROGRAM, limit or 0.0)
        return self._status


def begun_in_thread(_module: str = PROGRAM, _sockets: Sequence[int] = ()) -> StartedProcess:
    """Start the program as `gateway.runtime.processes.start` does, in a thread."""
    ours, theirs = socket.socketpair()
    return StartedProcess(cast("subprocess.Popen[bytes]", InThread(theirs)), ours)
