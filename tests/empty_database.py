"""An empty database, created once and copied for each test that begins with one."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from gateway.store.database import Database, open_to_write


def open_empty(path: Path) -> Database:
    """Open a database in a file that is not there yet, as the store would create it."""
    path.write_bytes(_empty())
    return open_to_write(str(path))


@cache
def _empty() -> bytes:
    with TemporaryDirectory() as directory:
        path = Path(directory, "empty.db")
        open_to_write(str(path)).close()
        return path.read_bytes()
