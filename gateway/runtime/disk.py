"""Files that several processes use, and what has to be on disk: locks, whole writes, names in folders."""

import errno
import fcntl
import os
from pathlib import Path


def is_locked(file: int) -> bool:
    """Lock an open file until it is closed, unless another process holds it; return whether it is locked.

    Raises OSError where the file system has no locks.
    """
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def write_all(file: int, data: bytes) -> None:
    """Write all of the bytes. Raises OSError; then some of them may be written."""
    left = memoryview(data)
    while left:
        left = left[os.write(file, left) :]


def sync_folder(path: Path) -> None:
    """Wait until the names in a folder are on disk, where the file system can do that for a folder."""
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # as some that are shared over a network say
            raise
    finally:
        os.close(folder)
