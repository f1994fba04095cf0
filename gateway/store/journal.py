"""The journal: local files with games that are not in the database yet, and the program that writes them.

Knows files; does not know databases or players. The lines of a file are as in `export --format jsonl`. A
writer locks its file while it runs. The games of a file that is not locked can be stored in the database. The
file is removed when all its games are stored.
"""

import errno
import fcntl
import gc
import logging
import os
import socket
import stat
import sys
from collections.abc import Callable, Container, Iterable, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from gateway.runtime.disk import is_locked, sync_folder, write_all
from gateway.runtime.processes import message_frame, read_message
from gateway.store.formats import jsonl
from gateway.store.records import GameRecord, Refused

SUFFIX = ".jsonl"
REFUSED = ".refused"
"""A file with games that the database rejected gets this suffix."""
PORTION = 200
"""The number of games that are stored in one transaction. Other writers wait about 50 ms for it."""
_MOST_RUNS = 1 << 48
"""All valid run numbers are below this."""
PRIVATE = 0o600
"""The mode of a new file if there is no database file. Otherwise the new file gets that file's mode."""

Line: TypeAlias = tuple[int, bytes]
"""The number of a line in a file, and the line."""


class Journal:
    """Appends games to a file, and begins a new file after an error. Only for one process and one thread."""

    def __init__(self, folder: Path, name: str, beside: Path | None = None) -> None:
        """Write files in `folder` whose names begin with `name`, with the mode of `beside` if it exists."""
        self._folder = folder
        self._name = name
        self._beside = beside
        self._file: int | None = None
        self._path = folder
        self._end = 0
        """The size of the part of the file that is on disk, in bytes."""

    def append(self, records: Iterable[GameRecord]) -> list[Refused]:
        """Write games to disk, with fsync; return those that cannot be written as a line.

        Raises OSError; some of the games may be on disk then. The next call begins a new file.
        """
        lines, refused = list[bytes](), list[Refused]()
        for number, record in enumerate(records):
            try:
                lines.append("".join(jsonl.write([record])).encode())
            except ValueError as error:
                refused.append(Refused(number, str(error)))
        data = b"".join(lines)
        if not data:
            return refused
        if self._file is None:
            self._file = self._created()
        try:
            write_all(self._file, data)
            os.fsync(self._file)
        except OSError:
            self._abandon(self._file)
            raise
        self._end += len(data)
        return refused

    def close(self) -> None:
        """Close the open file, which also unlocks it."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _created(self) -> int:
        """Create and lock a file, and sync its folder; return the descriptor."""
        mode = PRIVATE
        if self._beside is not None:
            with suppress(OSError):
                mode = self._beside.stat().st_mode & 0o777
        make_folder(self._folder)
        for number in count(1):
            path = self._folder / f"{self._name}-{number}{SUFFIX}"
            if _refused(path).exists():  # a new file of this name would replace it when it is renamed
                continue
            try:
                file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL, PRIVATE)
            except FileExistsError:
                continue
            self._path, self._end = path, 0
            try:
                if is_locked(file) and os.fstat(file).st_nlink:
                    os.fchmod(file, mode)
                    sync_folder(self._folder)
                    return file
            except OSError:
                self._abandon(file)
                raise
            os.close(file)  # another process has removed the file before it was locked
        raise AssertionError

    def _abandon(self, file: int) -> None:
        """Close a file after an error, and cut off its last part, which may not be on disk."""
        with suppress(OSError):
            if self._end:
                os.ftruncate(file, self._end)
            else:
                os.unlink(self._path)
        os.close(file)
        self._file = None


class LeftFile:
    """A file of games whose writer has ended, locked by this process until its games are stored."""

    def __init__(self, path: Path, lines: BinaryIO) -> None:
        self.path = path
        self._lines = lines
        self._number = 0
        self._portion: list[Line] = []
        self._is_refused = False

    def portion(self) -> Sequence[Line]:
        """Return the next lines; an empty list at the end of the file. Raises OSError.

        Returns the same lines until `done` is called. An incomplete last line is dropped, since its writer
        was killed before any player got the result.
        """
        while len(self._portion) < PORTION and (line := self._lines.readline()).endswith(b"\n"):
            self._number += 1
            self._portion.append((self._number, line))
        return self._portion

    def done(self, *, refused: bool) -> None:
        """Go on to the next lines; `refused` says that the database rejected some of the current ones."""
        self._portion = []
        self._is_refused |= refused

    def remove(self) -> None:
        """Remove the file, which has no further lines. If the database rejected a line, rename it instead."""
        if self._is_refused:
            self.path.rename(self.kept_as)
        else:
            self.path.unlink()
        sync_folder(self.path.parent)

    @property
    def kept_as(self) -> Path:
        """The path that the file gets if the database rejected some of its lines."""
        return _refused(self.path)

    def close(self) -> None:
        """Close the file, which also unlocks it."""
        self._lines.close()


def next_left(folder: Path, name: str, but: Container[Path] = ()) -> LeftFile | None:
    """Lock and return the oldest file whose name begins with `name` and that is neither locked nor in `but`.

    Returns None if there is no such file. A file that cannot be opened is skipped; if no other file is found,
    its OSError is raised.
    """
    paths = sorted(folder.glob(f"{name}*{SUFFIX}"), key=lambda path: (len(path.name), path.name))
    trouble: OSError | None = None
    for path in paths:
        if path in but:
            continue
        try:
            if (left := _lock_left(path)) is not None:
                return left
        except OSError as error:
            trouble = error
    if trouble is not None:
        raise trouble
    return None


def _lock_left(path: Path) -> LeftFile | None:
    """Lock a file and return it; None if it does not exist or is locked already. Raises OSError."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:  # another server has just stored it
        return None
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):  # reading a pipe could block
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        if is_locked(file) and os.fstat(file).st_nlink:
            return LeftFile(path, os.fdopen(file, "rb"))
    except BaseException:
        os.close(file)
        raise
    os.close(file)
    return None


def _refused(path: Path) -> Path:
    return path.with_name(path.name + REFUSED)


def draw_run(folder: Path, name: str, draw: Callable[[int], int]) -> tuple[int, str | None]:
    """Call `draw` with the latest run number that is stored in this folder; store and return the new number.

    The folder keeps the number, because a database that was restored from a backup does not know the latest
    one. If no valid number can be read, `draw` is called with -1. Also returns the error text if the folder
    cannot be used, otherwise None.
    """
    try:
        make_folder(folder)
        file = os.open(folder / f"{name}.run", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE)
    except OSError as error:
        return draw(-1), f"{folder}: {error.strerror}"
    try:
        with suppress(OSError):  # a lock is not essential: without it, two servers may store the lower number
            fcntl.flock(file, fcntl.LOCK_EX)
        noted = os.pread(file, 20, 0)
        latest = int(noted) if noted.isdigit() else -1
        run = draw(latest if latest < _MOST_RUNS else -1)  # -1: the file is damaged
        try:
            os.pwrite(file, b"%020d" % run, 0)
            os.fsync(file)
            sync_folder(folder)
        except OSError as error:
            return run, f"{folder}: {error.strerror}"
        return run, None
    finally:
        os.close(file)


def make_folder(folder: Path) -> None:
    """Create a folder, with its entry synced to disk, if it does not exist. Raises OSError."""
    if not folder.is_dir():
        folder.mkdir(mode=0o777, exist_ok=True)
        sync_folder(folder.parent)


# The program of the journal's process.
#
# It loads no database library, so that it starts fast. It sends every error to the server as an answer, and
# logs only its own crash. When the server has ended or was killed, the program finishes its work and ends,
# which unlocks its file.


def main() -> None:
    """Run the journal's process: serve the socket whose descriptor is the command's argument."""
    logging.disable(logging.ERROR)
    gc.freeze()
    serve(socket.socket(fileno=int(sys.argv[1])))


def serve(server: socket.socket) -> None:
    """Answer the messages on the socket until the server closes it."""
    with server, server.makefile("rb") as messages, suppress(OSError):  # raised if the server has ended
        orders = read_message(messages)
        if orders is None:
            return
        folder, name, beside = orders
        journal = Journal(Path(folder), name, None if beside is None else Path(beside))
        server.sendall(message_frame(("done", None)))
        while (games := read_message(messages)) is not None:
            server.sendall(message_frame(_answer_to(games, journal)))
        journal.close()


def _answer_to(games: Sequence[Any], journal: Journal) -> tuple[str, object]:
    """Append games; return ("done", refused games), ("failed", error), or ("mistaken", error) for a bug."""
    try:
        refused = journal.append([GameRecord.of_row(each) for each in games])
    except (OSError, MemoryError) as error:
        where = getattr(error, "filename", None)
        return "failed", f"{where}: {error.strerror}" if isinstance(error, OSError) and where else str(error)
    except Exception as error:
        return "mistaken", repr(error)
    return "done", [*map(tuple, refused)]


if __name__ == "__main__":
    main()
