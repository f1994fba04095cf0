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
from gateway.store import StoreError
from gateway.store.records import Batch, Cleared, GameRecord, Refused, Row, TakenUp, Written

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
        match kind:
            case "done":
                return value
            case "failed":
                raise StoreError(value)
            case _:
                raise RuntimeError(f"{self._name} is mistaken: {value}")

    async def _answer(self, question: bytes) -> Any:
        assert self._child.link is not None
        await self._child.link.send(question)
        answer = await self._child.link.receive()
        if answer is None or self._child.link.has_more:
            raise LinkError("the process is gone, or has said more than it was asked")
        return unmarshalled(answer)


class StoreProcess(_StoreChild):
    """Stores games in a database, in a process of its own. One call at a time.

    All calls raise StoreError if they should be tried again later, RuntimeError for a mistake of ours.
    """

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

    async def write(self, batch: Batch) -> Written:
        """Store games and evidence for good, in one transaction; what is stored already stays as it is."""
        question = ("write", [tuple(each.row()) for each in batch.games], [*map(tuple, batch.evidence)])
        otherwise, refused, refused_evidence = await self._ask(marshalled(question), self._patience)
        return Written(
            [Row(*each) for each in otherwise], [Refused(*each) for each in refused], refused_evidence
        )

    async def take_up(self) -> TakenUp:
        """Store some games of a journal that no process writes any more."""
        came = TakenUp(*await self._ask(marshalled(("take up",)), self._patience))
        came.refused = [Refused(*each) for each in came.refused]
        return came

    async def tidy(self) -> bool:
        """Delete some of the evidence that is too old; return whether there is more."""
        return bool(await self._ask(marshalled(("tidy",)), self._patience))

    async def clear(self) -> Cleared:
        """Remove all games and players."""
        return Cleared(*await self._ask(marshalled(("clear",)), 10 * self._patience))


class JournalProcess(_StoreChild):
    """Keeps games on disk for as long as the database does not take them, one `append` at a time.

    Its process runs only while it is needed. Games of which `close` has let go can be stored; more may be
    appended all the same.
    """

    def __init__(self, folder: str, name: str, beside: str | None, *, patience: float = 10.0) -> None:
        """Write files that begin with `name`, and have the mode of the file `beside`.

        A process that does not answer for `patience` seconds hangs.
        """
        super().__init__(JOURNAL_PROGRAM, "the process that writes the journal", (folder, name, beside))
        self._patience = patience

    async def append(self, records: Sequence[GameRecord]) -> list[Refused]:
        """Have games on disk for good; return those that are refused for good. Of none, get ready for others.

        Raises StoreError if it should be tried again later, RuntimeError for a mistake of ours.
        """
        found = await self._ask(marshalled([tuple(each.row()) for each in records]), self._patience)
        return [Refused(*each) for each in found]
