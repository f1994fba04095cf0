"""Files of lines that commands change while a server may read them, and the log of such changes.

Knows files only. The rule it keeps: whoever reads finds either the old file or the new one, whole; and of two
commands that change a file at the same time, one waits for the other.
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
from io import BytesIO

from gateway.game.text import printable
from gateway.runtime.files import read_file

LONGEST = 16 * 1024 * 1024
"""Bytes that a file may have."""


def entries(file: str, option: str) -> Iterator[tuple[str, str]]:
    """Yield the lines of a file that are neither empty nor comments, each behind words that say where it is.

    `option` names the file. A thread that reads it lets others run between any two lines. Raises OSError
    where the file cannot be read, ValueError where a line is not UTF-8.
    """
    data = read_file(file, option, LONGEST).removeprefix(BOM_UTF8)
    for number, raw in enumerate(BytesIO(data), start=1):
        where = f"{file}, line {number}"
        try:
            line = raw.rstrip(b"\r\n").decode()
        except UnicodeDecodeError as error:
            raise ValueError(f"{where}: not UTF-8") from error
        if line.strip() and not line.startswith("#"):
            yield where, line


@contextmanager
def locked(file: str) -> Iterator[str]:
    """Give the path of the file that is behind links, while no other command changes it."""
    path = os.path.realpath(file)
    folder = os.open(os.path.dirname(path), os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield path
    finally:
        os.close(folder)


def rewrite(file: str, header: str, change: Callable[[list[str]], list[str]]) -> None:
    """Write what `change` makes of the lines of a locked file, by way of another file that takes its place.

    The file keeps its owner and mode. A new one begins with `header`, and is its owner's alone; in a folder
    that hands its group on (the set-group-ID bit) the group may read it.
    """
    lines, known = [header], None
    with suppress(FileNotFoundError), open(file, encoding="utf-8-sig", newline="\n") as old:
        lines, known = old.readlines(), os.fstat(old.fileno())
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    descriptor, path = tempfile.mkstemp(prefix=f".{os.path.basename(file)}.", dir=os.path.dirname(file))
    try:
        with open(descriptor, "w", encoding="utf-8", newline="") as new:
            if known is not None:
                os.fchmod(new.fileno(), known.st_mode & 0o777)
                with suppress(PermissionError):
                    os.fchown(new.fileno(), known.st_uid, known.st_gid)
            elif os.stat(os.path.dirname(file)).st_mode & stat.S_ISGID:
                os.fchmod(new.fileno(), 0o640)
            new.writelines(change(lines))
            new.flush()
            os.fsync(new.fileno())
        os.replace(path, file)
    except BaseException:
        os.unlink(path)
        raise


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
