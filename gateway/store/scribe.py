"""The scribe: a process that writes to the database, so that play has its own to itself.

Threads of one process take turns in Python: what one of them computes the others wait for. Here is the end
of the scribe that the clerk holds, and what they tell each other: pickles over two pipes, a question and its
answer in turns. What the scribe does with them stands in `scribing`. The rules kept here:

- A scribe that dies is one more way in which a database fails: the next attempt is another scribe's.
- A scribe finishes what it is at and ends when its server has ended, however that came.
"""

import os
import pickle
import secrets
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from gateway.store.database import Database, Place
from gateway.store.errors import StoreError
from gateway.store.records import Item

_ROOT = str(Path(__file__).parents[2])
"""Where a scribe finds its program, wherever the server was started."""
_DEAF_TO = {signal.SIGINT, signal.SIGTERM}
"""Who stops the server by them, a terminal or a supervisor, mostly sends them to all its processes."""
_Process: TypeAlias = "subprocess.Popen[bytes]"


@dataclass(frozen=True, slots=True)
class Orders:
    """What a scribe is told first."""

    place: Place
    keep_wire: float | None
    """Days for which evidence is kept; None for ever."""
    boot: int
    """The number of this run of the server."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a scribe is to do."""

    method: Literal["write", "tidy", "reconnect"]
    """Of its sink."""
    items: Sequence[Item] | None = None
    """What is to be written."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of it."""

    more: bool = False
    """Whether there is more to be tidied up."""
    error: str | None = None
    """What went wrong."""
    is_passing: bool = False
    """Whether it should be tried again later."""


class UnstorableError(Exception):
    """What was to be stored is itself at fault, says the database."""


class Scribe:
    """A sink in a process of its own. For one thread, `close` for any."""

    def __init__(self, database: Database, keep_wire: float | None = None) -> None:
        """Write to the database that is open here as `database`; keep evidence for `keep_wire` days.

        Raises OSError where the system has no process to give.
        """
        self._orders = Orders(database.place, keep_wire, secrets.randbits(63))
        self._turn = threading.Lock()
        self._closed = False
        self._process = _started(self._orders)

    @property
    def pid(self) -> int:
        """The process that writes, or the latest that did."""
        return self._process.pid

    def write(self, items: Sequence[Item]) -> None:
        """Store games and evidence for good, all or none; what is stored already stays as it is.

        Raises StoreError where it should be tried again later, UnstorableError where a game is at fault.
        """
        self._ask(Question("write", items))

    def tidy(self) -> bool:
        """Do a small piece of what is to be done now and then; return whether there is more. As `write`."""
        return self._ask(Question("tidy")).more

    def reconnect(self) -> None:
        """Begin anew, after a StoreError."""
        with suppress(StoreError):  # of which the next attempt will tell
            self._ask(Question("reconnect"))

    def close(self, limit: float) -> None:
        """End the process: it has `limit` seconds to finish what it is at, and is killed then.

        Blocks. Who waits for an answer then, or asks later, gets a StoreError.
        """
        self._closed = True
        is_idle = self._turn.acquire(timeout=limit)
        if is_idle:
            _end(self._process, limit)
            self._turn.release()
        else:
            self._process.kill()

    # What follows is how.

    def _ask(self, question: Question) -> Answer:
        with self._turn:
            answer = self._asked(question)
        if answer.error is None:
            return answer
        raise StoreError(answer.error) if answer.is_passing else UnstorableError(answer.error)

    def _asked(self, question: Question) -> Answer:
        if self._closed:
            raise StoreError("the store is closed")
        if self._process.returncode is not None:
            self._process = self._successor()
        try:
            _tell(self._process, question)
            assert self._process.stdout is not None
            answer: Answer = pickle.load(self._process.stdout)
        except (OSError, EOFError, pickle.UnpicklingError) as error:
            self._process.kill()
            _end(self._process, None)
            status = self._process.returncode
            raise StoreError(f"the process that writes has ended, with status {status}") from error
        return answer

    def _successor(self) -> _Process:
        try:
            return _started(self._orders)
        except OSError as error:
            raise StoreError(f"the process that writes cannot be started: {error}") from error


def _started(orders: Orders) -> _Process:
    """Return a new scribe, which has been told these orders."""
    paths = [_ROOT, *filter(None, [os.environ.get("PYTHONPATH")])]
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _DEAF_TO)  # which a new process is born with
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "gateway.store.scribing"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    with suppress(OSError):  # the first who asks it something will hear of that
        _tell(process, orders)
    return process


def _tell(process: _Process, words: Orders | Question) -> None:
    assert process.stdin is not None
    process.stdin.write(pickle.dumps(words, pickle.HIGHEST_PROTOCOL))
    process.stdin.flush()


def _end(process: _Process, limit: float | None) -> None:
    """Let a scribe end by itself, for which it has `limit` seconds, and leave nothing of it."""
    assert process.stdin is not None
    assert process.stdout is not None
    with suppress(OSError):  # there may be words in it that nobody will read
        process.stdin.close()
    try:
        process.wait(limit)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    process.stdout.close()
