"""File functions that Python lacks: locks, complete writes, and folders synced to disk."""

import errno
import fcntl
import os
from pathlib import Path


def is_locked(file: int) -> bool:
    """Lock an open file until it is closed; return False if another process has locked it.

    Raises OSError if the file system has no locks.
    """
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def write_all(file: int, data: bytes) -> None:
    """Write all bytes to a file descriptor. Raises OSError; some bytes may have been written then."""
    left = memoryview(data)
    while left:
        left = left[os.write(file, left) :]


def sync_folder(path: Path) -> None:
    """Wait until the entries of a folder are on disk, if the file system supports that."""
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some network file systems cannot sync folders
            raise
    finally:
        os.close(folder)
