"""The gateway that is attacked, seen from outside: its processes' memory and time, and what it writes.

Knows /proc and a stream of log lines; does not know who attacks.
"""

import os
import re
import signal
import time
from contextlib import suppress

import trio

from conformance.lab.abuse.figures import Said
from conformance.lab.meters import NoSuchProcess, Used, children_of, pin, rss_bytes, used_by
from conformance.launch import Server

LIMITED = ("/bin/sh", "-c", 'ulimit -n 1024; exec "$@"', "sh")
"""Before the server's command: it may have as many files open as on many systems, so they can run out."""
LOOK = 0.1
"""Seconds between two looks at the memory."""
PATIENCE = 60.0
"""Seconds after which a server that was told to stop is killed."""

_TRACEBACK = b"Traceback (most recent call last)"
_ERROR = re.compile(rb"\S+ \S+ (?:ERROR|CRITICAL) ")
_CONTROLS = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


class Log:
    """Counts what the server writes on stderr."""

    def __init__(self) -> None:
        self.said = Said()
        self.examples: list[str] = []
        """The first lines that should not be there."""
        self._rest = b""

    def hear(self, data: bytes) -> None:
        """Take in what was written."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._take(line)

    def _take(self, line: bytes) -> None:
        said, text = self.said, line.decode(errors="replace")
        tracebacks, errors = line.count(_TRACEBACK), bool(_ERROR.match(line))
        controls = len(_CONTROLS.findall(text))
        self.said = Said(
            said.tracebacks + tracebacks,
            said.errors + errors,
            said.controls + controls,
            said.size + len(line) + 1,
        )
        if (errors or controls) and len(self.examples) < 20:
            self.examples.append(repr(text[:200])[1:-1])


class Target:
    """A gateway's processes."""

    def __init__(self, server: Server, log: Log) -> None:
        self.log = log
        self.most: int | None = None
        """The most memory that was seen since it was last set to None."""
        self._process = server.process
        self._cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set[int]()
        self._helpers: set[int] = set()

    @property
    def pid(self) -> int:
        """The process in which games are played."""
        return self._process.pid

    def memory(self) -> int | None:
        """Return what all processes hold together, in bytes. Raises NoSuchProcess."""
        main = rss_bytes(self.pid)
        if main is None:
            return None
        helpers = _descendants(self.pid)
        for pid in helpers:
            if pid not in self._helpers:
                self._helpers.add(pid)
                self._let_run(pid)
        total = main + sum(map(_memory_of_helper, helpers))
        self.most = max(total, self.most or 0)
        return total

    def _let_run(self, pid: int) -> None:
        """Let a helper run on any core: one that is started later would stay on that of the server."""
        with suppress(NoSuchProcess):
            pin(pid, *self._cores)

    def used(self) -> Used | None:
        """Return the time that it has used and waited for. Raises NoSuchProcess."""
        return used_by(self.pid)

    async def watch(self) -> None:
        """Look at the memory again and again, until cancelled or there is no server any more."""
        try:
            while True:
                self.memory()
                await trio.sleep(LOOK)
        except NoSuchProcess:
            pass

    async def stop(self) -> tuple[float, int]:
        """Terminate it; return how many seconds that took, and the exit status. A deaf one is killed."""
        begun = time.perf_counter()
        self._process.send_signal(signal.SIGTERM)
        with trio.move_on_after(PATIENCE):
            await self._process.wait()
        seconds = time.perf_counter() - begun
        if self._process.poll() is None:
            self._process.kill()
        return seconds, await self._process.wait()


def _descendants(pid: int) -> list[int]:
    children = children_of(pid)
    return [*children, *(grandchild for child in children for grandchild in _descendants(child))]


def _memory_of_helper(pid: int) -> int:
    try:
        return rss_bytes(pid) or 0
    except NoSuchProcess:  # it has just ended
        return 0
