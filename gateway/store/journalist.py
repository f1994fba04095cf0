"""The program of the journal's process: it has games on the local disk while the database does not take them.

Knows the socket to the server. Knows no database, so that it takes no time to start, and waits for none. Logs
nothing but its own crash: the server hears of every error. When its server has ended, even if killed, it
finishes its work and ends; so the lock of its file is gone, and what is in there can be stored by others.
"""

import gc
import logging
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from gateway.runtime.processes import framed, received
from gateway.store.journal import Journal
from gateway.store.records import GameRecord


def main() -> None:
    """Serve the process that started this one."""
    logging.disable(logging.ERROR)
    gc.freeze()
    serve(socket.socket(fileno=int(sys.argv[1])))


def serve(server: socket.socket) -> None:
    """Answer the messages on the socket, until the server is gone."""
    with server, server.makefile("rb") as messages, suppress(OSError):  # which says that the server is gone
        orders = received(messages)
        if orders is None:
            return
        folder, name, beside = orders
        journal = Journal(Path(folder), name, None if beside is None else Path(beside))
        server.sendall(framed(("done", None)))
        while (games := received(messages)) is not None:
            server.sendall(framed(_answer_to(games, journal)))
        journal.close()


def _answer_to(games: Sequence[Any], journal: Journal) -> tuple[str, object]:
    """Append games; return "done", or "again" or "refused" and an error."""
    try:
        journal.append([GameRecord.from_plain(each) for each in games])
    except (OSError, MemoryError) as error:
        where = getattr(error, "filename", None)
        return "again", f"{where}: {error.strerror}" if isinstance(error, OSError) and where else str(error)
    except Exception as error:  # the server finds out which game is at fault
        return "refused", str(error) or repr(error)
    return "done", None


if __name__ == "__main__":
    main()
