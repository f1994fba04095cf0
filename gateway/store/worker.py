"""The program of the store process: it writes what the server sends to the database.

Knows the socket to the server, and which of the database's errors mean that it cannot be used now. Logs
nothing but its own crash: the server hears of every error, and logs it. Its first order
is to open the database. The rules it keeps:

- When its server has ended, even if killed, it finishes its work and ends.
- What the database will never take keeps nothing else from being stored: the answer names it.
- An error of the database is answered with "failed", and the next attempt makes a new connection.
- It gives way to play once the database is open: until then the server waits for it. Not with PostgreSQL:
  there the writers of other servers wait for it, and for as long as it is kept from the processor.
- What takes time is done before a transaction begins.
"""

import gc
import logging
import os
import socket
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import astuple
from pathlib import Path
from typing import Any

from gateway.game.ids import RUNS, run_sign
from gateway.runtime.processes import give_way, message_frame, read_message
from gateway.store import StoreError, storing
from gateway.store.claim import Claim
from gateway.store.database import Database, Place, is_passing, open_again, open_to_write
from gateway.store.evidence import stored
from gateway.store.journal import Left, draw_run, next_left
from gateway.store.records import Cleared, Enclosure, Row, TakenUp, Written

NICENESS = 10
"""The niceness of this process. On a processor shared with play it still gets about 10 %."""
BESIDE = "-unstored"
"""What comes behind the name of a file with a database, for the folder of its journals."""
ELSEWHERE = "c4gateway-unstored"
"""The folder of the journals of a database that is no file, where the server was started."""
DAY = 86_400_000
"""Milliseconds."""


class Worker:
    """Stores games in a database."""

    def __init__(
        self,
        database: Database,
        keep_wire: float | None = None,
        journal: tuple[str, str] | None = None,
        claim: Claim | None = None,
    ) -> None:
        """Keep evidence for `keep_wire` days; None for ever.

        `journal` is the folder with journals, and what the names of those of this database begin with.
        `claim` is the server's on the database.
        """
        self.database = database
        self._claim = claim
        self._keep_wire = keep_wire
        self._journal = journal
        self._left: Left | None = None
        """The file of a journal that is being stored."""
        self._failed = set[Path]()
        """Files that could not be read or removed, since all others were stored."""

    def write(self, games: Sequence[Row], evidence: Iterable[Enclosure] = ()) -> Written:
        """Store games, and the evidence of these and earlier ones; what is stored already stays as it is.

        Raises StoreError if nothing is stored, and all of it should be tried again later.
        """
        packed, damaged = list[storing.Packed](), list[str]()
        for each in evidence:
            try:
                packed.append((each.side, stored(each.exchange), each.game))
            except Exception as error:  # whatever is wrong with it, nothing else waits for that
                if is_passing(error):
                    raise
                damaged.append(repr(error))
        try:
            with self.database.writing() as connection:
                written = Written(storing.store(connection, games))
                storing.enclose(connection, packed)
        except Exception as error:
            if is_passing(error):
                raise
            with self.database.writing() as connection:
                written = storing.store_possible(connection, games, packed)
        if self._claim is not None:
            self._claim.keep()
        return written._replace(evidence=[*damaged, *written.evidence])

    def tidy(self) -> bool:
        """Delete some of the evidence that is too old; return whether there is more. Raises as `write`."""
        if self._keep_wire is None:
            return False
        before = round(time.time() * 1000 - self._keep_wire * DAY)
        with self.database.writing() as connection:
            return storing.prune(connection, before) > 0

    def take_up(self) -> TakenUp:
        """Store some games of a journal whose writer is gone. Raises as `tidy`."""
        if self._journal is None:
            return TakenUp()
        folder, name = self._journal
        try:
            self._left = left = self._left or next_left(Path(folder), name, self._failed)
            if left is None:
                self._failed.clear()
                return TakenUp()
            lines = left.portion()
            if not lines:
                left.remove()
                self._let_go()
                return TakenUp(more=True)
        except OSError as error:  # no fault of the database's; other files are stored all the same
            if self._left is None:
                self._failed.clear()
                return TakenUp(said=f"{error.filename or folder}: {error.strerror}")
            path = self._left.path
            self._failed.add(path)
            self._let_go()
            return TakenUp(more=True, said=f"{path}: {error.strerror}")
        came = TakenUp(more=True)
        with self.database.writing() as connection:
            storing.store_lines(connection, lines, came)
        left.done(refused=bool(came.refused))
        came.said = str(left.kept_as) if came.refused else None
        return came

    def _let_go(self) -> None:
        if self._left is not None:
            self._left.close()
            self._left = None

    def clear(self) -> Cleared:
        """Remove all games and players. Raises as `write`."""
        with self.database.writing(unhurried=True) as connection:
            return storing.clear(connection)


def main() -> None:
    """Serve the process that started this one."""
    logging.disable(logging.ERROR)
    gc.freeze()
    serve(socket.socket(fileno=int(sys.argv[1])), NICENESS)


def serve(server: socket.socket, niceness: int = 0) -> None:
    """Answer the messages on the socket, until the server is gone; give way by `niceness` meanwhile."""
    with server, server.makefile("rb") as messages, suppress(OSError):  # which says that the server is gone
        orders = read_message(messages)
        if orders is None:
            return
        try:
            claim = Claim(orders[2], shared=orders[-1])
            database, opened, journal = _opened(orders, claim)
        except (StoreError, OSError) as error:
            server.sendall(message_frame(("failed", str(error))))
            return
        give_way(0 if database.is_shared else niceness)
        server.sendall(message_frame(("done", opened)))
        worker = Worker(database, orders[1], journal, claim)
        while (question := read_message(messages)) is not None:
            server.sendall(message_frame(answer_to(question, worker)))
        database.close()
        claim.close()


def _opened(orders: Sequence[Any], claim: Claim) -> tuple[Database, object, tuple[str, str]]:
    """Open a database; return it, the answer, and where its journals are.

    Where the database was not open before, the answer has the fields of `process.Opened`.
    """
    match orders:
        case ["open", _, where, folder, _]:
            claim.take()
            database = open_to_write(where)
            claim.take()  # the file may be new
            place = database.place
            name = run_sign(database.lineage())
            beside = ELSEWHERE if place.file is None else os.path.realpath(place.where) + BESIDE
            folder = os.path.abspath(folder or beside)  # the same by whatever path the database is reached
            run, trouble = draw_run(Path(folder), name, database.next_run)
            opened = (database.label, place.where, place.file, run % RUNS, (folder, name), trouble)
            return database, opened, (folder, name)
        case _:
            _, _, where, file, (folder, name), _ = orders
            claim.keep()
            return open_again(Place(where, file)), None, (folder, name)


def answer_to(question: Sequence[Any], worker: Worker) -> tuple[str, object]:
    """Carry out a request; return "done" and its result, or "failed" or "mistaken" and an error."""
    try:
        match question:
            case ["write", games, evidence]:
                rows, pieces = [Row(*each) for each in games], [Enclosure(*each) for each in evidence]
                otherwise, refused, refused_evidence = worker.write(rows, pieces)
                return "done", ([*map(tuple, otherwise)], [*map(tuple, refused)], refused_evidence)
            case ["tidy"]:
                return "done", worker.tidy()
            case ["take up"]:
                came = worker.take_up()
                return "done", (*astuple(came)[:-2], [*map(tuple, came.refused)], came.said)
            case ["clear"]:
                return "done", astuple(worker.clear())
            case _:
                raise ValueError("not a question")
    except (StoreError, OSError, MemoryError) as error:
        worker.database.reconnect()
        return "failed", str(error) or repr(error)
    except Exception as error:
        return "mistaken", repr(error)


if __name__ == "__main__":
    main()
