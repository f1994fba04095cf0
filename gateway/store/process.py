"""The processes that keep games, as the server sees them. They are processes, not threads: those slow play.

This is the server's end of the sockets to the store process, whose program is `worker`, and to the journal's,
whose program is `journal`. The second one is for when the first one fails, or waits for the database. The
rules:

- A process that dies, hangs, or cannot be understood is one more way in which a database or a disk fails: the
  next attempt is made with another process.
- At the end a process has a moment to finish its work; then it is killed.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import trio

from gateway.runtime.child import Child, LinkError
from gateway.runtime.processes import StartedProcess, marshalled, unmarshalled
from gateway.store import StoreError, UnstorableError
from gateway.store.batcher import Batch
from gateway.store.records import Cleared, GameRecord, TakenUp

PROGRAM = "gateway.store.worker"
JOURNAL_PROGRAM = "gateway.store.journal"
STARTING = 60.0
"""Seconds that a successor has to become ready."""
PARTING = 0.25
"""Seconds that a process has to end by itself."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A database that the process has opened."""

    label: str
    """What to call it to people."""
    where: str = field(repr=False)
    file: tuple[int, int] | None
    """What another process needs to open it, as in `gateway.store.database.Place`."""
    run: int
    """The number that it gave to this run of the server."""
    journal: tuple[str, str] = ("", "")
    """The folder for journals, and what the names of those of this database begin with."""
    trouble: str | None = None
    """Why that folder cannot be used, if it cannot."""


class _StoreChild:
    """A child process that answers one question at a time. It is started when it is needed."""

    def __init__(self, program: str, name: str, orders: tuple[object, ...]) -> None:
        """`name` is what an error calls it; `orders` come before all questions."""
        self._child = Child(program)
        self._name = name
        self._orders = orders
        self.restarts = 0
        """How often a process was started because there was none any more."""

    @property
    def pid(self) -> int | None:
        """The process, if there is one."""
        return self._child.pid

    async def close(self, limit: float = PARTING) -> None:
        """End the process. It has `limit` seconds to finish its work; then it is killed."""
        await self._child.end(limit)

    async def _start(self, started: StartedProcess | None, limit: float) -> Any:
        """Start the process, and return its answer to its orders. Raises OSError."""
        await self._child.start(started)
        try:
            return await self._ask(marshalled(self._orders), limit)
        except StoreError as error:
            raise OSError(str(error)) from error

    async def _ask(self, question: bytes, patience: float) -> Any:
        if self._child.link is None:
            self.restarts += 1
            try:
                await self._start(None, STARTING)
            except OSError as error:
                raise StoreError(f"{self._name} cannot be started: {error}") from error
        try:
            with trio.fail_after(patience):
                kind, value = await self._answer(question)
        except trio.TooSlowError as error:
            await self._child.end(0.0)
            raise StoreError(f"{self._name} has not answered for {patience:.0f} s") from error
        except Exception as error:  # the next answer would belong to another question
            status = await self._child.end(PARTING)
            raise StoreError(f"{self._name} has ended, with status {status}") from error
        if kind == "done":
            return value
        raise StoreError(value) if kind == "again" else UnstorableError(value)

    async def _answer(self, question: bytes) -> Any:
        assert self._child.link is not None
        await self._child.link.send(question)
        answer = await self._child.link.receive()
        if answer is None or self._child.link.has_more:
            raise LinkError("the process is gone, or has said more than it was asked")
        return unmarshalled(answer)


class StoreProcess(_StoreChild):
    """A `Store` in a process of its own. One call at a time."""

    def __init__(
        self,
        where: str,
        keep_wire: float | None = None,
        journal: str | None = None,
        *,
        shared: bool = False,
        patience: float = 60.0,
    ) -> None:
        """Write to the database at `where`, a path or a URL; `shared` as in `gateway.store.claim`.

        Evidence is kept for `keep_wire` days, None for ever. `journal` is the folder of journals, None for
        the usual one. A process that does not answer for `patience` seconds hangs; one that removes all
        results has ten times as long.
        """
        super().__init__(PROGRAM, "the process that writes", ("open", keep_wire, where, journal, shared))
        self._shared = shared
        self._keep_wire = keep_wire
        self._patience = patience

    async def open(self, started: StartedProcess | None = None) -> Opened:
        """Have the process open the database, creating or migrating it; that may take minutes.

        `started` is the process, where it has been started already. Raises OSError, with one line, if the
        system cannot start it, or it cannot open the database.
        """
        opened = Opened(*await self._start(started, math.inf))
        self._orders = (
            "open again",
            self._keep_wire,
            opened.where,
            opened.file,
            opened.journal,
            self._shared,
        )
        return opened

    async def write(self, batch: Batch) -> Sequence[GameRecord]:
        """Store games and evidence for good, all or none; what is stored already stays as it is.

        Return shared games that are stored otherwise, as they are stored. Raises StoreError if it should be
        tried again later, UnstorableError if a game is at fault.
        """
        games = [each.plain() for each in batch.games]
        evidence = [(each.game, each.side, each.exchange) for each in batch.evidence]
        question = _marshalled(("write", games, evidence))
        return [GameRecord.from_plain(each) for each in await self._ask(question, self._patience)]

    async def take_up(self) -> TakenUp:
        """Store some games of a journal that no process writes any more. Raises as `write`."""
        return TakenUp(*await self._ask(marshalled(("take up",)), self._patience))

    async def tidy(self) -> bool:
        """Delete some of the evidence that is too old; return whether there is more. Raises as `write`."""
        return bool(await self._ask(marshalled(("tidy",)), self._patience))

    async def clear(self) -> Cleared:
        """Remove all games and players. Raises as `write`."""
        games, players = await self._ask(marshalled(("clear",)), 10 * self._patience)
        return Cleared(games, players)


class JournalProcess(_StoreChild):
    """A `Journal` in a process of its own, which runs only while it is needed. One `append` at a time."""

    def __init__(self, folder: str, name: str, beside: str | None, *, patience: float = 10.0) -> None:
        """Write files that begin with `name`, and have the mode of the file `beside`.

        A process that does not answer for `patience` seconds hangs.
        """
        super().__init__(JOURNAL_PROGRAM, "the process that writes the journal", (folder, name, beside))
        self._patience = patience

    async def append(self, records: Sequence[GameRecord]) -> None:
        """Have games on disk for good; of none, have the process ready. Raises StoreError.

        It raises UnstorableError if a game is at fault.
        """
        await self._ask(_marshalled([each.plain() for each in records]), self._patience)


def _marshalled(question: object) -> bytes:
    """Return a question about games. Raises UnstorableError."""
    try:
        return marshalled(question)
    except ValueError as error:
        raise UnstorableError(str(error)) from error
