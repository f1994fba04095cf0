"""Gateways without the wait for their libraries: a process that has loaded them forks one for each test.

To import what a gateway needs takes most of what a test of a whole server costs. So each process of tests
has one that imports it once, as `python -W error`, and forks it for each gateway. The gateway is the command
from there to its end, with arguments, environment and files of its own; only what it imports is there
already. What the interpreter reads at its start, and files at numbers of their own, need one that is started
anew: see `may_fork`.
"""

import atexit
import json
import os
import select
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import IO

ROOT = Path(__file__).parents[1]
PATIENCE = 30
"""Seconds after which a test has failed; nothing here takes long."""
_FORKED = [sys.executable, "-W", "error", "-m", "gateway"]
_LOADED = (
    *("gateway.__main__", "gateway.cli", "gateway.commands.reports", "ssl"),
    *(f"adapters.{each.parent.name}.server" for each in ROOT.glob("adapters/*/translator.py")),
)


def may_fork(command: Sequence[str]) -> bool:
    """Whether a command is that of a gateway which nothing but its arguments tells from others."""
    return [*command[: len(_FORKED)]] == _FORKED and _read_at_start() == _AT_START


def _read_at_start() -> dict[str, str]:
    """Return what an interpreter takes from the environment when it starts."""
    return {
        name: value for name, value in os.environ.items() if name.startswith(("PYTHON", "LC_", "LANG", "TZ"))
    }


_AT_START = _read_at_start()


class Forked:
    """A running gateway, as `subprocess.Popen` has it with pipes for stdout and stderr."""

    def __init__(self, command: Sequence[str]) -> None:
        source = _source()
        out, theirs_out = os.pipe()
        err, theirs_err = os.pipe()
        state, theirs = os.pipe()
        order = json.dumps([command[len(_FORKED) :], dict(os.environ)]).encode()
        socket.send_fds(source, [len(order).to_bytes(4) + order], [theirs_out, theirs_err, theirs])
        for number in (theirs_out, theirs_err, theirs):
            os.close(number)
        self.stdout, self.stderr = open(out, "rb", 0), open(err, "rb", 0)  # noqa: SIM115 - closed by `close`
        self._state = open(state, "rb", 0)  # noqa: SIM115
        self.pid = int(self._state.readline())
        self.returncode: int | None = None

    def poll(self) -> int | None:
        return self._ended(0)

    def wait(self, timeout: float | None = None) -> int:
        if self._ended(timeout) is None:
            raise subprocess.TimeoutExpired("gateway", timeout or 0)
        assert self.returncode is not None
        return self.returncode

    def send_signal(self, number: int) -> None:
        with suppress(ProcessLookupError):
            if self.poll() is None:
                os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float) -> tuple[bytes, bytes]:
        """Return the rest of stdout and of stderr, once the gateway has ended."""
        deadline = time.monotonic() + timeout
        rest: dict[IO[bytes], bytes] = {self.stdout: b"", self.stderr: b""}
        with selectors.DefaultSelector() as selector:
            for stream in rest:
                selector.register(stream, selectors.EVENT_READ, stream)
            while selector.get_map():
                ready = selector.select(deadline - time.monotonic())
                if not ready:
                    raise subprocess.TimeoutExpired("gateway", timeout)
                for key, _ in ready:
                    chunk = key.data.read(65_536)
                    rest[key.data] += chunk
                    if not chunk:
                        selector.unregister(key.data)
        self.wait(deadline - time.monotonic())
        return rest[self.stdout], rest[self.stderr]

    def close(self) -> None:
        for stream in (self.stdout, self.stderr, self._state):
            stream.close()

    def _ended(self, timeout: float | None) -> int | None:
        if self.returncode is None:
            with selectors.DefaultSelector() as selector:
                selector.register(self._state, selectors.EVENT_READ)
                if selector.select(timeout):
                    self.returncode = int(self._state.readline())
        return self.returncode


@cache
def _source() -> socket.socket:
    """Return a socket to the process that forks; it ends when these tests end.

    Raises RuntimeError with what it says where it fails, or complains as a gateway would that was started.
    """
    ours, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-W", "error", __file__, str(theirs.fileno())],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,  # no file, or what it forks would take its own for one
            stderr=subprocess.PIPE,
            pass_fds=[theirs.fileno()],
        )
    assert process.stderr is not None
    if not ours.recv(1) or select.select([process.stderr], [], [], 0)[0]:
        ours.close()
        said = process.communicate(timeout=PATIENCE)[1].decode()
        raise RuntimeError(f"the process that forks gateways said, when it loaded what they need:\n{said}")

    def end() -> None:
        ours.close()
        process.communicate(timeout=PATIENCE)

    atexit.register(end)
    return ours


# In the process that forks.


def fork(orders: socket.socket) -> bool:
    """Fork a gateway for each order; return whether this process is one, and else that no orders come."""
    while True:
        head, files, _, _ = socket.recv_fds(orders, 4, 3)
        if not head:
            return False
        arguments, environment = json.loads(orders.recv(int.from_bytes(head), socket.MSG_WAITALL))
        if not os.fork():
            orders.close()  # or they could still be sent when nobody forks any more
            if not _keep(files[2]):
                _become(arguments, environment, files[:2])
                return True
            os._exit(0)
        for number in files:
            os.close(number)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _keep(state: int) -> int:
    """Fork, and tell the process and then its end; return 0 in that process."""
    process = os.fork()
    if process:
        os.write(state, b"%d\n" % process)
        os.closerange(0, state)
        status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        os.write(state, b"%d\n" % status)
    else:
        os.close(state)
    return process


def _become(arguments: list[str], environment: dict[str, str], files: list[int]) -> None:
    for number, file in enumerate(files, 1):
        os.dup2(file, number)
        os.close(file)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv[1:] = arguments
    import_module("trio._core._run")._r.seed()  # or all gateways would run their tasks in one order
    signal.signal(signal.SIGINT, signal.default_int_handler)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.path[0] = os.getcwd()
    for module in _LOADED:
        import_module(module)
    with socket.socket(fileno=int(sys.argv[1])) as orders:
        orders.sendall(b"+")
        is_gateway = fork(orders)
    if is_gateway:
        from gateway.__main__ import main

        sys.exit(main())
    with suppress(ChildProcessError):
        while os.wait():
            pass
