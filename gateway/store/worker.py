"""The program of the store process, which writes games from the server to the database.

Knows the socket to the server, and the errors of the database. The first message opens the database. The
program sends every error to the server as an answer; it logs only its own crash. When the server has ended or
was killed, the program finishes its work and ends.
"""

import gc
import logging
import os
import socket
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple
from pathlib import Path
from typing import Any

from gateway.game.evaluation import Scores
from gateway.game.ids import RUNS, run_sign
from gateway.runtime.processes import give_way, message_frame, read_message
from gateway.store import StoreError, analyses, storing, tournaments
from gateway.store.claim import Claim
from gateway.store.database import Database, Place, is_passing, open_again, open_to_write
from gateway.store.evidence import stored
from gateway.store.journal import LeftFile, draw_run, next_left
from gateway.store.records import Cleared, Enclosure, Row, Solved, TakenUp, Written
from gateway.tournament.log import Known

NICENESS = 10
"""The niceness of the store process. If it shares a processor with the server, it gets about 10 % of it."""
BESIDE = "-unstored"
"""The folder with the journals of a database file has the file's name and this suffix."""
ELSEWHERE = "c4gateway-unstored"
"""The folder with the journals of a PostgreSQL database, in the server's working directory."""
DAY = 86_400_000
"""A day in milliseconds."""


class Worker:
    """Carries out the server's requests in one database."""

    def __init__(
        self,
        database: Database,
        keep_wire: float | None = None,
        journal: tuple[str, str] | None = None,
        claim: Claim | None = None,
    ) -> None:
        """Keep evidence for `keep_wire` days; None means for ever.

        `journal` is the folder with journals, and the prefix of the names of this database's journals.
        `claim` is the server's lock on the database.
        """
        self.database = database
        self._claim = claim
        self._keep_wire = keep_wire
        self._journal = journal
        self._left: LeftFile | None = None
        """The journal file that is being stored."""
        self._failed = set[Path]()
        """Files that could not be read or removed. They are tried again when all others are stored."""

    def write(
        self, games: Sequence[Row], evidence: Iterable[Enclosure] = (), solved: Iterable[Solved] = ()
    ) -> Written:
        """Store games, and evidence and analyses of these and earlier games.

        Games that are already stored do not change.

        Raises StoreError if nothing was stored. The caller should then try again later.
        """
        # Evidence is packed before the transaction begins, so that other writers need not wait for it.
        packed, parts, damaged = list[storing.Packed](), list[storing.Packed](), list[str]()
        for each in evidence:
            try:
                row = each.side, stored(each.exchange), each.game
                (parts if each.is_part else packed).append(row)
            except Exception as error:  # damaged evidence must not keep games from being stored
                if is_passing(error):
                    raise
                damaged.append(repr(error))
        scores = list[tuple[Solved, Sequence[Scores]]]()
        for solution in solved:
            try:
                scores.append((solution, analyses.unpacked(solution)))
            except ValueError as error:
                damaged.append(repr(error))
        try:
            with self.database.writing() as connection:
                written = Written(storing.store(connection, games))
                storing.enclose(connection, packed)
                storing.join_parts(connection, parts)
                analyses.store(connection, scores)
        except Exception as error:
            if is_passing(error):
                raise
            with self.database.writing() as connection:
                written = storing.store_possible(connection, games, packed, parts)
                analyses.store(connection, scores)
        if self._claim is not None:
            self._claim.keep()
        return written._replace(evidence=[*damaged, *written.evidence])

    def tidy(self) -> bool:
        """Delete some of the evidence that is too old; return whether there is more. Raises StoreError."""
        if self._keep_wire is None:
            return False
        before = round(time.time() * 1000 - self._keep_wire * DAY)
        with self.database.writing() as connection:
            return storing.prune(connection, before) > 0

    def take_up(self) -> TakenUp:
        """Store some games of a journal whose writer has ended. Raises StoreError."""
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
                self._close_left()
                return TakenUp(more=True)
        except OSError as error:  # the file is at fault, not the database, so go on with other files
            if self._left is None:
                self._failed.clear()
                return TakenUp(detail=f"{error.filename or folder}: {error.strerror}")
            path = self._left.path
            self._failed.add(path)
            self._close_left()
            return TakenUp(more=True, detail=f"{path}: {error.strerror}")
        came = TakenUp(more=True)
        with self.database.writing() as connection:
            storing.store_lines(connection, lines, came)
        left.done(refused=bool(came.refused))
        came.detail = str(left.kept_as) if came.refused else None
        return came

    def _close_left(self) -> None:
        if self._left is not None:
            self._left.close()
            self._left = None

    def clear(self) -> Cleared:
        """Remove all games and players. Raises StoreError."""
        with self.database.writing(unhurried=True) as connection:
            return storing.clear(connection)


def main() -> None:
    """Run the store process: serve the socket whose descriptor is the command's argument."""
    logging.disable(logging.ERROR)
    gc.freeze()
    serve(socket.socket(fileno=int(sys.argv[1])), NICENESS)


def serve(server: socket.socket, niceness: int = 0) -> None:
    """Answer the messages on the socket until the server closes it, with the priority lowered by `niceness`.

    The priority is lowered after the database is open, because the server waits for that. With PostgreSQL it
    is never lowered, because other servers wait for this process's transactions.
    """
    with server, server.makefile("rb") as messages, suppress(OSError):  # raised if the server has ended
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
    """Open the database that the first message names; return it, the answer, and the place of its journals.

    The place is the folder of the journals and the prefix of their names. The answer to "open" has the fields
    of `process.Opened`. The answer to "open again" is None.
    """
    match orders:
        case ["open", _, where, folder, _]:
            claim.take()
            database = open_to_write(where)
            claim.take()  # again, since the file may be new
            place = database.place
            name = run_sign(database.lineage())
            beside = ELSEWHERE if place.file is None else os.path.realpath(place.where) + BESIDE
            folder = os.path.abspath(folder or beside)
            run, trouble = draw_run(Path(folder), name, database.next_run)
            opened = (
                *(database.label, place.where, place.file, run % RUNS, (folder, name), trouble),
                _news(database, {}),
            )
            return database, opened, (folder, name)
        case _:
            _, _, where, file, (folder, name), _ = orders
            claim.keep()
            return open_again(Place(where, file)), None, (folder, name)


def _news(database: Database, known: Mapping[str, Sequence[int]]) -> list[Any]:
    """Return what was added to tournaments after their known parts, as plain values. Raises StoreError."""
    with database.reading() as connection:
        found = tournaments.news(connection, {key: Known(*each) for key, each in known.items()})
    return [
        (key, settings, [*map(tuple, entries)], [*map(tuple, games)], created)
        for key, settings, entries, games, created in found
    ]


def answer_to(question: Sequence[Any], worker: Worker) -> tuple[str, object]:
    """Carry out a request; return ("done", result), ("failed", error), or ("mistaken", error) for a bug."""
    result: object
    try:
        match question:
            case ["write", games, evidence, solved]:
                rows, pieces = [Row(*each) for each in games], [Enclosure(*each) for each in evidence]
                found = worker.write(rows, pieces, [Solved(*each) for each in solved])
                otherwise, refused, refused_evidence = found
                result = ([*map(tuple, otherwise)], [*map(tuple, refused)], refused_evidence)
            case ["tidy"]:
                result = worker.tidy()
            case ["take up"]:
                came = worker.take_up()
                result = (*astuple(came)[:-2], [*map(tuple, came.refused)], came.detail)
            case ["clear"]:
                result = astuple(worker.clear())
            case ["tournaments", known]:
                result = _news(worker.database, known)
            case ["add to log", key, known, entries, pairings]:
                with worker.database.writing() as connection:
                    result = tournaments.append(connection, key, Known(*known), entries, pairings)
            case ["ratings", names]:
                with worker.database.reading() as connection:
                    result = tournaments.ratings(connection, names)
            case _:
                raise ValueError("not a question")
    except (StoreError, OSError, MemoryError) as error:
        worker.database.reconnect()
        return "failed", str(error) or repr(error)
    except Exception as error:
        return "mistaken", repr(error)
    return "done", result


if __name__ == "__main__":
    main()
