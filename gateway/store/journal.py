"""The journal: games that are over and that the database does not have yet, in files on the local disk.

Knows files, and lines as `export --format jsonl` has them. Does not know databases, or who is told of a game.
The rules it keeps:

- What `Journal.append` has returned from survives the end of the process and of the machine.
- A file has one writer, which holds its lock while it lives. One that nobody holds is for whoever stores it.
- A file goes only when all of its games are stored; what is refused stays in a file of another name.
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
"""What comes behind the name of a file with games that the database did not take."""
PORTION = 200
"""Games that are stored at once, so that others who wait for the database wait for some 50 ms."""
_MOST_RUNS = 1 << 48
"""More than there can have been, and less than a database can hold."""
PRIVATE = 0o600
"""The mode of a file beside which there is no database whose mode it could have."""

Line: TypeAlias = tuple[int, bytes]
"""A line of a file, behind its number."""


class Journal:
    """Files to which one process appends games, one after the other. Used by one thread."""

    def __init__(self, folder: Path, name: str, beside: Path | None = None) -> None:
        """Files begin with `name`, and have the mode of the file `beside` if there is one."""
        self._folder = folder
        self._name = name
        self._beside = beside
        self._file: int | None = None
        self._path = folder
        self._end = 0
        """How many bytes of the file are on disk."""

    def append(self, records: Iterable[GameRecord]) -> list[Refused]:
        """Have games on disk; return those that no line can have.

        Raises OSError; then perhaps some of them are, and the next file follows.
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
        """Let go of the file that is open."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _created(self) -> int:
        """Create a file that is locked, and whose name is on disk; return its descriptor."""
        mode = PRIVATE
        if self._beside is not None:
            with suppress(OSError):
                mode = self._beside.stat().st_mode & 0o777
        make_folder(self._folder)
        for number in count(1):
            path = self._folder / f"{self._name}-{number}{SUFFIX}"
            if _refused(path).exists():  # which another file of this name would take the place of
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
            os.close(file)  # who looks for files that are left was faster, and has removed the empty one
        raise AssertionError

    def _abandon(self, file: int) -> None:
        """Leave a file that took no more as it was on disk: after an error of fsync nobody knows what is."""
        with suppress(OSError):
            if self._end:
                os.ftruncate(file, self._end)
            else:
                os.unlink(self._path)
        os.close(file)
        self._file = None


class Left:
    """A file whose writer is gone, locked, and what of it is still to be stored."""

    def __init__(self, path: Path, lines: BinaryIO) -> None:
        self.path = path
        self._lines = lines
        self._number = 0
        self._portion: list[Line] = []
        self._is_refused = False

    def portion(self) -> Sequence[Line]:
        """Return the next lines, the same until they are `done`; none at the end. Raises OSError.

        A last line without an end was being written when its writer was killed: nobody was told of it.
        """
        while len(self._portion) < PORTION and (line := self._lines.readline()).endswith(b"\n"):
            self._number += 1
            self._portion.append((self._number, line))
        return self._portion

    def done(self, *, refused: bool) -> None:
        """Note that these lines are stored, or some `refused` for good."""
        self._portion = []
        self._is_refused |= refused

    def remove(self) -> None:
        """Remove the file, all of which is done, or give it another name if it has what was refused."""
        if self._is_refused:
            self.path.rename(self.kept_as)
        else:
            self.path.unlink()
        sync_folder(self.path.parent)

    @property
    def kept_as(self) -> Path:
        """Where the file is afterwards if it has games that were refused."""
        return _refused(self.path)

    def close(self) -> None:
        """Let go of the file."""
        self._lines.close()


def next_left(folder: Path, name: str, but: Container[Path] = ()) -> Left | None:
    """Return one of the files that begin with `name` and nobody holds, the oldest, but none of `but`.

    Raises OSError if there is none but some that cannot be opened.
    """
    paths = sorted(folder.glob(f"{name}*{SUFFIX}"), key=lambda path: (len(path.name), path.name))
    trouble: OSError | None = None
    for path in paths:
        if path in but:
            continue
        try:
            if (left := _left(path)) is not None:
                return left
        except OSError as error:
            trouble = error
    if trouble is not None:
        raise trouble
    return None


def _left(path: Path) -> Left | None:
    """Return the file if it is there and nobody holds it. Raises OSError."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:  # another server has just stored it
        return None
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):  # to read a pipe could take for ever
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        if is_locked(file) and os.fstat(file).st_nlink:
            return Left(path, os.fdopen(file, "rb"))
    except BaseException:
        os.close(file)
        raise
    os.close(file)
    return None


def _refused(path: Path) -> Path:
    return path.with_name(path.name + REFUSED)


def draw_run(folder: Path, name: str, draw: Callable[[int], int]) -> tuple[int, str | None]:
    """Return what `draw` makes of the highest number that was drawn here, and note it.

    A database that was restored from a backup has forgotten it. If the folder cannot be used, it is
    drawn without that, and the error is returned, too.
    """
    try:
        make_folder(folder)
        file = os.open(folder / f"{name}.run", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE)
    except OSError as error:
        return draw(-1), f"{folder}: {error.strerror}"
    try:
        with suppress(OSError):  # two servers that start at once may note the lower number of two
            fcntl.flock(file, fcntl.LOCK_EX)
        noted = os.pread(file, 20, 0)
        latest = int(noted) if noted.isdigit() else -1
        run = draw(latest if latest < _MOST_RUNS else -1)  # a larger one is damage
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
    """Make sure that the folder is there, for good. Raises OSError."""
    if not folder.is_dir():
        folder.mkdir(mode=0o777, exist_ok=True)
        sync_folder(folder.parent)


# The program of the journal's process: it has games on the local disk while the database does not take them.
#
# Knows the socket to the server. Knows no database, so that it takes no time to start, and waits for none.
# Logs nothing but its own crash: the server hears of every error. When its server has ended, even if killed,
# it finishes its work and ends; so the lock of its file is gone, and what is in there can be stored by
# others.


def main() -> None:
    """Serve the process that started this one."""
    logging.disable(logging.ERROR)
    gc.freeze()
    serve(socket.socket(fileno=int(sys.argv[1])))


def serve(server: socket.socket) -> None:
    """Answer the messages on the socket, until the server is gone."""
    with server, server.makefile("rb") as messages, suppress(OSError):  # which says that the server is gone
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
    """Append games; return "done" and those that were refused, or "failed" or "mistaken" and an error."""
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
