"""The command as a process of its own, for tests that are about real sockets."""

import json
import re
import select
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import TypeAlias

from forking import PATIENCE, ROOT, Forked, may_fork

EVERY_PORT = ("--nac4", "0", "--arena", "0", "--tcp", "0")

_ADDRESS = re.compile(r"(\w+) +(?:wss?://|https?://)?(\[[^]]+\]|[^:\s]+):(\d+)(/\w*)?")


Process: TypeAlias = subprocess.Popen[bytes] | Forked


class Served:
    """A running gateway."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.announced: list[str] = []
        self.addresses: list[tuple[str, str, int]] = []
        """Dialect, host, port."""
        self.paths: dict[str, str] = {}
        """By dialect, where ports are shared."""
        self.tls: ssl.SSLContext | None = None
        """What clients of the tests use for TLS, if they do."""

    def read_addresses(self, count: int) -> None:
        """Read as many lines of what the command prints."""
        assert self.process.stdout is not None
        while len(self.addresses) < count:
            ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE)
            assert ready, "the gateway says nothing"
            line = self.process.stdout.readline().decode()
            found = _ADDRESS.match(json.loads(line)["message"] if line.startswith("{") else line)
            assert found is not None, line
            self.announced.append(line)
            self.addresses.append((found[1], found[2].strip("[]"), int(found[3])))
            self.paths[found[1]] = found[4] or ""

    def port(self, dialect: str) -> int:
        """Return the first port of a dialect."""
        return next(port for name, _, port in self.addresses if name == dialect)

    def url(self, dialect: str, target: str = "/") -> str:
        scheme = "ws" if self.tls is None else "wss"
        path = self.paths[dialect] + target.removeprefix("/") if self.paths[dialect] else target
        return f"{scheme}://127.0.0.1:{self.port(dialect)}{path}"

    def stop(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """Send a signal; return the exit status and what the command has said on stderr."""
        self.process.send_signal(number)
        return self.end()

    def end(self) -> tuple[int, str]:
        """Wait for the end; return the exit status and what the command has said on stderr."""
        _, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, err.decode()


@contextmanager
def served(*options: str, addresses: int = 3) -> Iterator[Served]:
    """Run a gateway with `options`, which print so many addresses, while the context lasts."""
    command = [sys.executable, "-W", "error", "-m", "gateway", "--no-web", "--db", "none", *options]
    with begun(command, addresses) as gateway:
        yield gateway


@contextmanager
def _process(command: Sequence[str], pass_fds: Sequence[int]) -> Iterator[Process]:
    if may_fork(command) and not pass_fds:
        with closing(Forked(command)) as process:
            yield process
        return
    with subprocess.Popen(
        command,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        pass_fds=pass_fds,
    ) as process:
        yield process


@contextmanager
def begun(command: Sequence[str], addresses: int, pass_fds: Sequence[int] = ()) -> Iterator[Served]:
    """Run a command, which prints so many addresses, while the context lasts. It inherits `pass_fds`."""
    with _process(command, pass_fds) as process:
        gateway = Served(process)
        try:
            gateway.read_addresses(addresses)
            yield gateway
        finally:
            if process.poll() is None:
                process.kill()
                process.communicate(timeout=PATIENCE)


def until(sock: socket.socket, end: bytes) -> bytes:
    """Return what comes up to some bytes, and what came with them."""
    data = b""
    while end not in data:
        chunk = sock.recv(65_536)
        assert chunk, data
        data += chunk
    return data


def everything(sock: socket.socket) -> bytes:
    """Return what comes until the other end hangs up."""
    data = b""
    while chunk := sock.recv(65_536):
        data += chunk
    return data


def ran(*options: str) -> tuple[int, str, str]:
    """Run the command to its end; return exit status, stdout, stderr."""
    done = subprocess.run(
        [sys.executable, "-m", "gateway", *options],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr
