"""The folder that several workers have in common while they run: of their Redis server and their sockets.

Knows files. The rules it keeps: only this user can enter it, and it goes at the end. If its process is killed
it stays, and goes at the next start: a living process holds its folder's lock.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import gettempdir, mkdtemp

from gateway.runtime.disk import is_locked

PREFIX = "c4gateway-workers-"


@contextmanager
def private_folder() -> Iterator[Path]:
    """Give a folder of this process's own. Raises OSError."""
    _remove_left()
    folder = Path(mkdtemp(prefix=PREFIX))
    try:
        with _locked(folder):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _remove_left() -> None:
    """Remove the folders of processes that were killed. Those that cannot be removed stay."""
    for folder in Path(gettempdir()).glob(f"{PREFIX}*"):
        try:
            # An empty one may be so new that its process does not hold the lock yet.
            if folder.lstat().st_uid == os.geteuid() and any(folder.iterdir()):
                with _locked(folder):
                    shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            continue  # another process lives in it, or has just removed it


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder. Raises OSError if another process does."""
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        if not is_locked(number):
            raise BlockingIOError(f"another process holds {folder}")
        yield
    finally:
        os.close(number)
