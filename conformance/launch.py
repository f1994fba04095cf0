"""The gateway as a subprocess: start it, read its addresses from its output, stop it with SIGTERM.

Uses only the gateway's command line, the addresses in its output, and its exit status. Must not import the
gateway.
"""

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import NoReturn

import trio

from conformance.dialects import DIALECTS, dialects
from conformance.targets import WEB, Address, addresses_in

COMMAND = (
    sys.executable,
    "-m",
    "gateway",
    *(word for each in DIALECTS.values() for word in each.port),
    "--db",
    "none",
    "--no-web",
    "--house",
    "none",
)
"""The command that starts a gateway with a port for each built-in dialect. Its lobby has no house players."""
START_SECONDS = 15.0
STOP_SECONDS = 15.0

_MOST_KEPT = 20_000


class ServerError(Exception):
    """The gateway did not start, died, or did not stop in good order. The message quotes its last output."""


@dataclass(slots=True)
class Server:
    """A running gateway, created by `start`. The caller must await `stop`."""

    process: trio.Process
    options: tuple[str, ...]
    addresses: dict[str, Address] = field(default_factory=dict)
    hear: Callable[[bytes], object] = len
    """Called with each piece of the gateway's stderr."""
    _stderr: bytearray = field(default_factory=bytearray)
    _started: trio.Event = field(default_factory=trio.Event)
    _stderr_over: trio.Event = field(default_factory=trio.Event)

    async def stop(self) -> None:
        """Send SIGTERM, and wait. Raises ServerError if it had died, or if its exit status is not 0."""
        if self.process.poll() is not None:
            await self.fail(f"died with status {self.process.returncode} while transcripts were played")
        self.process.terminate()
        with trio.move_on_after(STOP_SECONDS):
            await self.process.wait()
        if self.process.poll() is None:
            self.process.kill()
            await self.fail(f"did not stop within {STOP_SECONDS:g} s of SIGTERM")
        if self.process.returncode != 0:
            await self.fail(f"exited with status {self.process.returncode} after SIGTERM")

    @property
    def _has_named_all(self) -> bool:
        wanted = {*DIALECTS, *(name for name, each in dialects().items() if each.port[0] in self.options)}
        return wanted | ({WEB} if "--web" in self.options else set()) <= self.addresses.keys()

    async def _begin(self) -> None:
        with trio.move_on_after(START_SECONDS):
            await self._started.wait()
        if self._has_named_all:
            return
        if self._started.is_set():
            # The gateway's stdout has ended. A process that closed its stdout and still runs is useless too.
            with trio.move_on_after(1):
                await self.process.wait()
        if self.process.poll() is None:
            self.process.kill()
            await self.fail(f"did not name its addresses within {START_SECONDS:g} s")
        await self.fail(f"exited with status {self.process.returncode} before it named its addresses")

    async def fail(self, what: str) -> NoReturn:
        """Raise ServerError with `what` and the last output. The process must have ended or been killed."""
        await self.process.wait()
        words = await self.last_words()
        # The message leaves out a database's URL, because it may contain a password.
        options = ["URL" if "://" in option else option for option in self.options]
        started = f"the server started with {' '.join(options)}" if options else "the server"
        raise ServerError(f"{started} {what}; its stderr" + (f":\n{words}" if words else " is empty"))

    async def last_words(self) -> str:
        """Return the end of the stderr of a process that has ended."""
        with trio.move_on_after(1):
            await self._stderr_over.wait()
        return self._stderr.decode(errors="backslashreplace").strip()

    async def _read_stdout(self) -> None:
        assert self.process.stdout is not None
        pending = b""
        async with self.process.stdout as stdout:
            async for data in stdout:
                *lines, pending = (pending + data).split(b"\n")
                for line in lines:
                    self.addresses.update(addresses_in(line.decode(errors="backslashreplace")))
                if self._has_named_all:
                    self._started.set()
        self._started.set()

    async def _read_stderr(self) -> None:
        assert self.process.stderr is not None
        async with self.process.stderr as stderr:
            async for data in stderr:
                self.hear(bytes(data))
                self._stderr += data
                del self._stderr[:-_MOST_KEPT]
        self._stderr_over.set()


async def start(
    nursery: trio.Nursery,
    options: Sequence[str],
    command: Sequence[str] = COMMAND,
    hear: Callable[[bytes], object] = len,
) -> Server:
    """Start the gateway and wait until it has printed its addresses.

    Tasks of `nursery` read its output and pass each piece of its stderr to `hear`. Raises ServerError.
    """
    process = await trio.lowlevel.open_process(
        [*command, *options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=_environment(os.environ),
    )
    server = Server(process, tuple(options), hear=hear)
    nursery.start_soon(server._read_stdout)
    nursery.start_soon(server._read_stderr)
    begun = False
    try:
        await server._begin()
        begun = True
    finally:
        if not begun and process.poll() is None:
            process.kill()
    return server


@asynccontextmanager
async def running(
    options: Sequence[str], command: Sequence[str] = COMMAND, hear: Callable[[bytes], object] = len
) -> AsyncIterator[Server]:
    """Run the gateway for as long as the block lasts. Raises ServerError, wrapped as a nursery does."""
    async with trio.open_nursery() as nursery:
        server = await start(nursery, options, command, hear)
        try:
            yield server
        finally:
            with trio.CancelScope(shield=True):
                await server.stop()
        nursery.cancel_scope.cancel()


def _environment(given: Mapping[str, str]) -> dict[str, str]:
    """Return this process's environment, with settings that make a Python child write unbuffered."""
    return {**given, "PYTHONUNBUFFERED": "1"}
