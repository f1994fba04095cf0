"""Table files, which have a row in each line, and the audit log.

Knows files and locks; a function given by the caller parses a line. Commands may change a file while a server
reads it: the server sees either the complete old file or the complete new one. If two commands change a file
at the same time, one waits for the other.
"""

import errno
import fcntl
import getpass
import os
import stat
import tempfile
import time
from codecs import BOM_UTF8
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Generic, TypeVar

from gateway.game.text import printable
from gateway.runtime.disk import sync_folder
from gateway.runtime.files import read_file

OPTION = "--players"
"""The option that names the files, for error texts."""
LONGEST = 16 * 1024 * 1024
"""The largest file, in bytes."""

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class TableFile(Generic[Row]):
    """A file with a row in each line. Blank lines, and comments that begin with ``#``, are not rows."""

    path: str
    header: str
    """The first line of a new file, a comment."""
    parse: Callable[[str], Row]
    """Returns the row in a line. Raises ValueError, which says what is wrong with the line."""
    is_optional: bool = False
    """Whether a missing file counts as a file without rows. If not, a missing file is an error."""

    def read(self, take: Callable[[Row], object]) -> None:
        """Call `take` with each row. Between two calls other threads can run.

        Raises OSError if the file cannot be read. Raises ValueError if a line is not UTF-8, or if `parse` or
        `take` raises it; the text begins with the path and the line number.
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
        """Return all rows. Raises what `read` raises."""
        rows: list[Row] = []
        self.read(rows.append)
        return rows

    @contextmanager
    def locked(self) -> Iterator["TableFile[Row]"]:
        """Lock the file against other commands during the block. Yields it with symbolic links resolved."""
        path = os.path.realpath(self.path)
        folder = os.open(os.path.dirname(path), os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            yield replace(self, path=path)
        finally:
            os.close(folder)

    def add(self, line: str) -> None:
        """Add a line, given without its line break, to a locked file."""
        self.rewrite(lambda lines: [*lines, f"{line}\n"])

    def remove(self, row: Row) -> None:
        """Remove a row from a locked file. All lines of the file have to be valid."""
        self.rewrite(lambda lines: [line for line in lines if self._row(line) != row])

    def exchange(self, old: Container[Row], new: Iterable[str]) -> None:
        """Remove rows from a locked file and add lines, given without line breaks, in one step.

        All lines of the file have to be valid.
        """
        self.rewrite(
            lambda lines: [
                *(line for line in lines if (row := self._row(line)) is None or row not in old),
                *(f"{line}\n" for line in new),
            ]
        )

    def rewrite(self, change: Callable[[list[str]], list[str]]) -> None:
        """Replace the lines of a locked file by `change(lines)`, with a temporary file and a rename.

        The file keeps its owner and mode. A new file has mode 0600; in a folder with the set-group-ID bit it
        has mode 0640, so that the group may read it.
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
                    os.fchmod(new.fileno(), known.st_mode & 0o777)  # after fchown: the mode is for that group
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
        """Return the row in a line, None if it has none. Raises ValueError."""
        line = line.rstrip("\r\n")
        return self.parse(line) if line.strip() and not line.startswith("#") else None


@contextmanager
def audited(file: str, *words: str, user: str | None = None) -> Iterator[None]:
    """Append a line with the time, the user and `words` to the audit log; remove it if the block fails.

    It stays if the block is cancelled or interrupted, since then the change may have been made. `user` is by
    default the user who runs this process. The line is written before the block runs, so that nothing is done
    without a line in the log. Raises OSError if the log cannot be written.
    """
    with all_audited(file, [words], user=user):
        yield


@contextmanager
def all_audited(file: str, changes: Iterable[Sequence[str]], *, user: str | None = None) -> Iterator[None]:
    """Append a line for each change, as `audited` does; remove all these lines if the block fails."""
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    who = user or user_name()
    texts = ["\t".join((now, who, *map(printable, words))) + "\n" for words in changes]
    lines = "".join(texts).encode()
    with open(file, "ab", buffering=0) as log:
        fcntl.flock(log, fcntl.LOCK_EX)  # otherwise `truncate` could remove another command's line
        end = os.fstat(log.fileno()).st_size
        try:
            if log.write(lines) < len(lines):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), file)
            yield
        except Exception:  # if the block is cancelled or interrupted, it may have been done
            with suppress(OSError):
                log.truncate(end)
            raise


def user_name() -> str:
    """Return the name of the user who runs the command; with sudo, of the user who called sudo."""
    try:
        return printable(os.environ.get("SUDO_USER") or getpass.getuser())
    except (KeyError, OSError):
        return str(os.getuid())
