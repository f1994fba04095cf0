"""A Redis or Valkey server of our own, for a command that needs one.

Knows its programs, their options, and how they are asked. Does not know what is kept there.
"""

import shutil
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from subprocess import DEVNULL
from tempfile import TemporaryDirectory

import trio

from conformance.lab.jobs import LoadError

PROGRAMS = ("redis-server", "valkey-server")
"""Either will do."""
_ATTEMPTS, _PERIOD = 200, 0.05
"""To reach one that begins, and seconds between two of them."""


def redis_program() -> str | None:
    """Return the program of a Redis server, if one is installed."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


class RedisServer:
    """A Redis server on a socket of its own, which keeps nothing."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.socket = f"{folder}/redis"
        """Where it listens."""
        self._process: trio.Process | None = None

    @property
    def url(self) -> str:
        """Where nodes find it."""
        return f"unix://{self.socket}"

    @property
    def pid(self) -> int:
        """The number of its process."""
        assert self._process is not None
        return self._process.pid

    async def start(self) -> None:
        """Start it, with no memory. Raises LoadError."""
        program, log = redis_program(), self._folder / "log"
        if program is None:
            raise LoadError(f"there is no {PROGRAMS[0]}, and no {PROGRAMS[1]}: this needs one of them")
        words = ["--port", "0", "--unixsocket", self.socket, "--unixsocketperm", "700", "--save", ""]
        whole = [program, *words, "--dir", str(self._folder)]
        with log.open("ab") as said:
            self._process = await trio.lowlevel.open_process(whole, stdin=DEVNULL, stdout=said, stderr=said)
        for _ in range(_ATTEMPTS):
            if await self.ask("PING") == "PONG":
                return
            if self._process.poll() is not None:
                break
            await trio.sleep(_PERIOD)
        raise LoadError(f"{program} does not answer; it says: {log.read_text(errors='replace')[-1000:]}")

    async def kill(self) -> None:
        """SIGKILL, and wait, if it was started."""
        if self._process is not None:
            self._process.kill()
            await self._process.wait()

    def send(self, number: signal.Signals) -> None:
        """Send a signal."""
        assert self._process is not None
        self._process.send_signal(number)

    async def ask(self, words: str) -> str:
        """Return the last line of an answer; empty where there is none."""
        try:
            async with await trio.open_unix_socket(self.socket) as stream:
                await stream.send_all(words.encode() + b"\r\n")
                data = await stream.receive_some()
        except (OSError, trio.BrokenResourceError):
            return ""
        return data.decode().rstrip().rpartition("\n")[2].lstrip("+")


@asynccontextmanager
async def redis_server() -> AsyncIterator[RedisServer]:
    """A Redis server for as long as the block lasts. Raises LoadError."""
    with TemporaryDirectory(prefix="c4lab-") as folder:
        server = RedisServer(Path(folder))
        try:
            await server.start()
            yield server
        finally:
            with trio.CancelScope(shield=True):
                await server.kill()
