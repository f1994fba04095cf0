"""The server's interface to the store process (`worker`) and to the journal's process (`journal`).

Knows child processes and frames; does not know databases or files. The work is done in processes because
threads would slow down play. A process that dies, hangs or sends an invalid answer is replaced at the next
call.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import trio

from gateway.runtime.child import Child, LinkError
from gateway.runtime.processes import StartedProcess, marshalled, unmarshalled
from gateway.store import StoreError
from gateway.store.records import Batch, Cleared, GameRecord, Refused, Row, TakenUp, Written
from gateway.tournament.log import Known, LoggedEntry, TournamentNews, TournamentResult

PROGRAM = "gateway.store.worker"
JOURNAL_PROGRAM = "gateway.store.journal"
STARTING = 60.0
"""The number of seconds within which a restarted process must be ready."""
PARTING = 0.25
"""The number of seconds that a process has to finish its work before it is killed."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A database that the process has opened."""

    label: str
    """The name of the database in messages."""
    where: str = field(repr=False)
    file: tuple[int, int] | None
    """The file's identity. A restarted process opens the same database by `where` and `file`."""
    run: int
    """The number of this run of the server."""
    journal: tuple[str, str] = ("", "")
    """The folder for journals, and the prefix of the names of this database's journals."""
    trouble: str | None = None
    """Why the folder for journals cannot be used; None if it can."""
    tournaments: Sequence[TournamentNews] = ()
    """All tournaments, without the games in journals."""


class _StoreChild:
    """A child process that answers one question at a time. The first question starts it."""

    def __init__(self, program: str, name: str, orders: tuple[object, ...]) -> None:
        """Set the process's name in errors, and `orders`, the first message that each process gets."""
        self._child = Child(program)
        self._name = name
        self._orders = orders
        self.restarts = 0
        """The number of processes that were started in place of one that had ended."""

    @property
    def pid(self) -> int | None:
        """The process id; None if no process runs."""
        return self._child.pid

    async def close(self, limit: float = PARTING) -> None:
        """End the process; kill it if it has not finished its work within `limit` seconds."""
        await self._child.end(limit)

    async def _start(self, started: StartedProcess | None, limit: float) -> Any:
        """Start the process, send the orders, and return the answer. Raises OSError."""
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
        except Exception as error:  # end the process: its next answer could still belong to this question
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
            raise LinkError("the process has ended, or has sent more than one answer")
        return unmarshalled(answer)


class StoreProcess(_StoreChild):
    """Stores games in a database, in a separate process. Only one call may run at a time.

    All methods raise StoreError if the caller should try again later, and RuntimeError for a bug.
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
        """Use the database at `where`, a path or a URL; with `shared` the server is a node of a cluster.

        Evidence is kept for `keep_wire` days; None means for ever. `journal` is the folder of journals; None
        means the default. A process that does not answer within `patience` seconds is killed; for `clear` the
        limit is ten times as long.
        """
        super().__init__(PROGRAM, "the process that writes", ("open", keep_wire, where, journal, shared))
        self._shared = shared
        self._keep_wire = keep_wire
        self._patience = patience

    async def open(self, started: StartedProcess | None = None) -> Opened:
        """Open the database, and create or migrate it if necessary, which may take minutes.

        Uses the process `started` if it is given. Raises OSError, with a text of one line, if the process
        cannot be started or cannot open the database.
        """
        answer = await self._start(started, math.inf)
        label, path, file, run, journal, trouble, tournaments = answer
        opened = Opened(label, path, file, run, journal, trouble, _news(tournaments))
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
        """Store a batch in one transaction. Games that are already stored stay unchanged."""
        games = [tuple(each.row()) for each in batch.games]
        question = ("write", games, [*map(tuple, batch.evidence)], [*map(tuple, batch.analyses)])
        otherwise, refused, refused_evidence = await self._ask(marshalled(question), self._patience)
        return Written(
            [Row(*each) for each in otherwise], [Refused(*each) for each in refused], refused_evidence
        )

    async def take_up(self) -> TakenUp:
        """Store some games of a journal whose writer has ended."""
        came = TakenUp(*await self._ask(marshalled(("take up",)), self._patience))
        came.refused = [Refused(*each) for each in came.refused]
        return came

    async def tidy(self) -> bool:
        """Delete some of the evidence that is too old; return whether there is more."""
        return bool(await self._ask(marshalled(("tidy",)), self._patience))

    async def tournaments(self, known: Mapping[str, Known]) -> list[TournamentNews]:
        """Return what was added to each tournament after its `known` part."""
        plain = {key: tuple(each) for key, each in known.items()}
        return _news(await self._ask(marshalled(("tournaments", plain)), self._patience))

    async def add_to_log(
        self, key: str, known: Known, entries: Sequence[str], pairings: Sequence[int] = ()
    ) -> bool:
        """Add entries to the log of a tournament, as `gateway.store.tournaments.append` does."""
        question = ("add to log", key, tuple(known), [*entries], [*pairings])
        return bool(await self._ask(marshalled(question), self._patience))

    async def ratings(self, names: Sequence[str]) -> dict[str, float]:
        """Return the ratings of players, less three deviations; players without games are left out."""
        found: dict[str, float] = await self._ask(marshalled(("ratings", [*names])), self._patience)
        return found

    async def clear(self) -> Cleared:
        """Remove all games and players."""
        return Cleared(*await self._ask(marshalled(("clear",)), 10 * self._patience))


def _news(found: Any) -> list[TournamentNews]:
    """Return the tournaments in an answer of the process."""
    return [
        TournamentNews(
            key,
            settings,
            [LoggedEntry(*entry) for entry in entries],
            [TournamentResult(*game) for game in games],
            created,
        )
        for key, settings, entries, games, created in found
    ]


class JournalProcess(_StoreChild):
    """Writes games to the journal in a separate process. Only one `append` may run at a time.

    `close` ends the process and unlocks the file, so that the games in it can be stored. A later `append`
    starts a process with a new file.
    """

    def __init__(self, folder: str, name: str, beside: str | None, *, patience: float = 10.0) -> None:
        """Write files in `folder` whose names begin with `name`, with the mode of `beside` if it exists.

        A process that does not answer within `patience` seconds is killed.
        """
        super().__init__(JOURNAL_PROGRAM, "the process that writes the journal", (folder, name, beside))
        self._patience = patience

    async def append(self, records: Sequence[GameRecord]) -> list[Refused]:
        """Write games to disk; return those that cannot be written. Without games, only start the process.

        Raises StoreError if the caller should try again later, and RuntimeError for a bug.
        """
        found = await self._ask(marshalled([tuple(each.row()) for each in records]), self._patience)
        return [Refused(*each) for each in found]
