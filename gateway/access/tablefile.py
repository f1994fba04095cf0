"""Table files: a row in each line, changed by commands while a server may read them; and the log of changes.

Knows files, and by a function what a line means. The rule it keeps: whoever reads finds either the old file
or the new one, whole; and of two commands that change a file at the same time, one waits for the other.
"""

import errno
import fcntl
import getpass
import os
import stat
import tempfile
import time
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Generic, TypeVar

from gateway.game.text import printable
from gateway.runtime.disk import sync_folder
from gateway.runtime.files import read_file

OPTION = "--players"
"""The option that names the files."""
LONGEST = 16 * 1024 * 1024
"""Bytes that a file may have."""

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class TableFile(Generic[Row]):
    """A file with a row in each line that is neither empty nor a comment, which begins with ``#``."""

    path: str
    header: str
    """The line with which a new file begins, a comment."""
    parse: Callable[[str], Row]
    """Returns the row in a line. Raises ValueError with what is wrong with it."""
    is_optional: bool = False
    """Whether a file that is not there has no rows, in place of an error."""

    def read(self, take: Callable[[Row], object]) -> None:
        """Call `take` with each row. A thread that reads lets others run between any two of them.

        Raises OSError where the file cannot be read. Raises ValueError, which begins with the line's place,
        where a line is not UTF-8, and where `parse` or `take` raises it.
        """
        try:
            data = read_file(self.path, OPTION, LONGEST).removeprefix(BOM_UTF8)
        except FileNotFoundError:
            if not self.is_optional:
                raise
            return
        for number, line in enumerate(BytesIO(data), start=1):
            try:
                row = self._row(line.decode())
                if row is not None:
                    take(row)
            except ValueError as error:
                fault = "not UTF-8" if isinstance(error, UnicodeDecodeError) else error
                raise ValueError(f"{self.path}, line {number}: {fault}") from error

    def rows(self) -> list[Row]:
        """Return all rows. Raises as `read`."""
        rows: list[Row] = []
        self.read(rows.append)
        return rows

    @contextmanager
    def locked(self) -> Iterator["TableFile[Row]"]:
        """Give the file, the one that is behind links, while no other command changes it."""
        path = os.path.realpath(self.path)
        folder = os.open(os.path.dirname(path), os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            yield replace(self, path=path)
        finally:
            os.close(folder)

    def add(self, line: str) -> None:
        """Add a line, without its end, to a locked file."""
        self.rewrite(lambda lines: [*lines, f"{line}\n"])

    def remove(self, row: Row) -> None:
        """Remove a row from a locked file that could be read."""
        self.rewrite(lambda lines: [line for line in lines if self._row(line) != row])

    def rewrite(self, change: Callable[[list[str]], list[str]]) -> None:
        """Write what `change` makes of the lines of a locked file, by way of a file that takes its place.

        The file keeps its owner and mode. A new one is its owner's alone; in a folder that hands its group on
        (the set-group-ID bit) the group may read it.
        """
        folder, name = os.path.split(self.path)
        lines, known = [self.header], None
        with suppress(FileNotFoundError), open(self.path, encoding="utf-8-sig", newline="\n") as old:
            lines, known = old.readlines(), os.fstat(old.fileno())
        if lines and not lines[-1].endswith("\n"):
            lines[-1] += "\n"
        descriptor, path = tempfile.mkstemp(prefix=f".{name}.", dir=folder)
        try:
            with open(descriptor, "w", encoding="utf-8", newline="") as new:
                if known is not None:
                    with suppress(PermissionError):
                        os.fchown(new.fileno(), known.st_uid, known.st_gid)
                    os.fchmod(new.fileno(), known.st_mode & 0o777)  # now, as the mode is for that group
                elif os.stat(folder).st_mode & stat.S_ISGID:
                    os.fchmod(new.fileno(), 0o640)
                new.writelines(change(lines))
                new.flush()
                os.fsync(new.fileno())
            os.replace(path, self.path)
        except BaseException:
            os.unlink(path)
            raise
        sync_folder(Path(folder))

    def _row(self, line: str) -> Row | None:
        """Return the row in a line with its end; None where there is none. Raises ValueError."""
        line = line.rstrip("\r\n")
        return self.parse(line) if line.strip() and not line.startswith("#") else None


@contextmanager
def audited(file: str, *words: str, user: str | None = None) -> Iterator[None]:
    """Log what the block does: a line with the time, the user and the words, unless it raises something.

    The user is the one who runs this process, unless another is given.
    The line is written first, and taken back if need be: a log that takes no more stops the block. Raises
    OSError then, as where the log cannot be written at all.
    """
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    line = ("\t".join((now, user or _user(), *map(printable, words))) + "\n").encode()
    with open(file, "ab", buffering=0) as log:
        fcntl.flock(log, fcntl.LOCK_EX)  # so that no line of another command is taken back
        end = os.fstat(log.fileno()).st_size
        try:
            if log.write(line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), file)
            yield
        except BaseException:
            with suppress(OSError):
                log.truncate(end)
            raise


def _user() -> str:
    """Return who runs the command, behind sudo, too."""
    try:
        return printable(os.environ.get("SUDO_USER") or getpass.getuser())
    except (KeyError, OSError):
        return str(os.getuid())
