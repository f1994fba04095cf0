"""A server on real sockets: the command as a process of its own, as an operator starts it.

    with served(*EVERY_PORT) as gateway:
        bot = socket.create_connection(("127.0.0.1", gateway.port("droidcon")), PATIENCE)
        ...
        status, log = gateway.stop()

Nothing of the server is replaced; `forking` only spares each process the import of its libraries.
"""

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
from typing import IO, TypeAlias

from forking import PATIENCE, ROOT, Forked, may_fork

EVERY_PORT = ("--nac4", "0", "--arena", "0", "--tcp", "0")
"""Options for a port of its own for each dialect; the system chooses which."""

Process: TypeAlias = subprocess.Popen[bytes] | Forked

_ADDRESS = re.compile(r"(\w+) +(?:wss?://|https?://)?(\[[^]]+\]|[^:\s]+):(\d+)(/\w*)?")
"""A line that says where something listens: its name, host, port, and path."""


@contextmanager
def served(*options: str, addresses: int = 3) -> Iterator["Served"]:
    """Run a server with `options` while the context lasts, without the page unless they ask for it.

    It prints `addresses` lines that say where it listens.
    """
    command = [sys.executable, "-W", "error", "-m", "gateway", "--no-web", "--db", "none", *options]
    with begun(command, addresses) as gateway:
        yield gateway


@contextmanager
def begun(command: Sequence[str], addresses: int, pass_fds: Sequence[int] = ()) -> Iterator["Served"]:
    """Run any command as `served` does. It inherits `pass_fds`, and is killed at the end if it still runs."""
    with _process(command, pass_fds) as process:
        gateway = Served(process)
        try:
            gateway.read_addresses(addresses)
            yield gateway
        finally:
            if process.poll() is None:
                process.kill()
                process.communicate(timeout=PATIENCE)


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


class Served:
    """A running server."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.announced: list[str] = []
        """The lines that say where it listens."""
        self.addresses: list[tuple[str, str, int]] = []
        """The same: name, host, port. A name is a dialect's, or ``page`` or ``metrics``."""
        self.paths: dict[str, str] = {}
        """By name, where ports are shared."""
        self.tls: ssl.SSLContext | None = None
        """What clients of the tests use for TLS, if they do."""

    def read_addresses(self, count: int) -> None:
        """Read on until it has said where so many things listen."""
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

    def port(self, name: str) -> int:
        """Return the first port at which something listens."""
        return next(port for each, _, port in self.addresses if each == name)

    def url(self, dialect: str, target: str = "/") -> str:
        """Return where a websocket of the dialect is opened."""
        scheme = "ws" if self.tls is None else "wss"
        path = self.paths[dialect] + target.removeprefix("/") if self.paths[dialect] else target
        return f"{scheme}://127.0.0.1:{self.port(dialect)}{path}"

    def await_log(self, text: str) -> str:
        """Read the log up to a line with `text`, in any case; return the line."""
        assert self.process.stderr is not None
        return await_line(self.process.stderr, text)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """Send a signal; return the exit status and what the command has said on stderr."""
        self.process.send_signal(number)
        return self.end()

    def end(self) -> tuple[int, str]:
        """Wait for the end; return the exit status and what the command has said on stderr."""
        _, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, err.decode()


def await_line(output: IO[bytes], text: str) -> str:
    """Read an unbuffered output up to a line with `text`, in any case; return the line."""
    line = ""
    while text.lower() not in line.lower():
        assert select.select([output], [], [], PATIENCE)[0], f"it never says: {text}"
        line = output.readline().decode()
        assert line, "it has ended"
    return line


# What clients read.


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
