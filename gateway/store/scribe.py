"""The scribe: a process that writes to the database, so that play has its own to itself.

Threads of one process take turns in Python: what one of them computes the others wait for. Here is the end
of the scribe that the clerk holds, and what they tell each other: pickles over two pipes, a question and its
answer in turns. What the scribe does with them stands in `scribing`. The rules kept here:

- A scribe that dies, or cannot be understood, is one more way in which a database fails: the next attempt is
  another scribe's.
- A scribe finishes what it is at and ends when its server has ended, however that came.
"""

import os
import pickle
import secrets
import subprocess
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import BinaryIO, Literal

from gateway.processes import ended, started
from gateway.store.database import Database, Place
from gateway.store.errors import StoreError
from gateway.store.records import Item

_PARTING = 0.25
"""Seconds that a scribe with which something is wrong has for ending by itself."""


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
    items: int = 0
    """So many of them follow, which are to be written. Each is a pickle of its own: while one is made or read
    nothing else runs, and all of them take milliseconds."""


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

        Raises OSError where the system gives no process.
        """
        self._orders = Orders(database.place, keep_wire, secrets.randbits(63))
        self._turn = threading.Lock()
        self._closed = False
        self._process = _Process(self._orders)

    @property
    def pid(self) -> int:
        """The process that writes, or the latest that did."""
        return self._process.pid

    def write(self, items: Sequence[Item]) -> None:
        """Store games and evidence for good, all or none; what is stored already stays as it is.

        Raises StoreError where it should be tried again later, UnstorableError where a game is at fault.
        """
        self._ask(Question("write", len(items)), items)

    def tidy(self) -> bool:
        """Do a small piece of what is to be done now and then; return whether there is more. As `write`."""
        return self._ask(Question("tidy")).more

    def reconnect(self) -> None:
        """Begin anew, after a StoreError."""
        with suppress(StoreError, UnstorableError):  # of which the next attempt will tell
            self._ask(Question("reconnect"))

    def close(self, limit: float) -> None:
        """End the process: it has `limit` seconds to finish what it is at, and is killed then.

        Blocks. Who waits for an answer then, or asks later, gets a StoreError.
        """
        self._closed = True
        until = time.monotonic() + limit
        if not self._turn.acquire(timeout=limit):
            self._process.kill()  # and who waits for its answer leaves nothing of it
            if not self._turn.acquire(timeout=_PARTING):
                return
        self._process.end(until - time.monotonic())
        self._turn.release()

    # What follows is how.

    def _ask(self, question: Question, items: Sequence[Item] = ()) -> Answer:
        words = [pickle.dumps(word, pickle.HIGHEST_PROTOCOL) for word in (question, *items)]
        with self._turn:
            answer = self._asked(words)
        if answer.error is None:
            return answer
        raise StoreError(answer.error) if answer.is_passing else UnstorableError(answer.error)

    def _asked(self, words: Sequence[bytes]) -> Answer:
        if self._closed:
            raise StoreError("the store is closed")
        if self._process.status is not None:
            self._process = self._successor()
        try:
            return self._process.answer(words)
        except Exception as error:  # whatever it was, what would come next is an answer to something else
            self._process.end(_PARTING)
            status = self._process.status
            raise StoreError(f"the process that writes has ended, with status {status}") from error

    def _successor(self) -> "_Process":
        try:
            return _Process(self._orders)
        except OSError as error:
            raise StoreError(f"the process that writes cannot be started: {error}") from error


class _Process:
    """A process, and the two pipes to it. Its stdout is none of them: anything may print there."""

    def __init__(self, orders: Orders) -> None:
        """Start it, and tell it its orders. Raises OSError."""
        hears, says = os.pipe()
        self._answers: BinaryIO = os.fdopen(hears, "rb")
        try:
            self._process = started("gateway.store.scribing", [says], subprocess.PIPE)
        except BaseException:
            self._answers.close()
            raise
        finally:
            os.close(says)
        with suppress(OSError):  # the first who asks it something will hear of that
            self._tell([pickle.dumps(orders)])

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    @property
    def status(self) -> int | None:
        """With which it ended; None until that is known."""
        return self._process.returncode

    def answer(self, words: Sequence[bytes]) -> Answer:
        """Ask something and wait for the answer. Raises anything where there is none."""
        self._tell(words)
        answer = pickle.load(self._answers)
        if not isinstance(answer, Answer):
            raise TypeError("this is no answer")
        return answer

    def kill(self) -> None:
        """Kill it; whoever waits for an answer will hear of that."""
        self._process.kill()

    def end(self, limit: float) -> None:
        """Let it end by itself, for which it has `limit` seconds, and leave nothing of it."""
        assert self._process.stdin is not None
        with suppress(OSError):  # there may be words in it that nobody will read
            self._process.stdin.close()
        ended(self._process, limit)
        self._answers.close()

    def _tell(self, words: Sequence[bytes]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.writelines(words)
        self._process.stdin.flush()
