"""Real databases that fail: full, moved away, killed. Nothing is lost, nothing doubled."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from game_records import game, rows
from sqlalchemy import select, text
from store_world import KINDS, child_environment, recounted

from gateway.game.ids import game_ids
from gateway.store import StoreError, storing
from gateway.store.database import open_to_read, open_to_write
from gateway.store.schema import games
from gateway.store.worker import Worker, answer_to


def series(where: str) -> list[int]:
    database = open_to_read(where)
    with database.reading() as connection:
        found = list(connection.scalars(select(games.c.series).order_by(games.c.id)))
    database.close()
    return found


def nothing(path: Path) -> None:
    pass


def another_of_ours(path: Path) -> None:
    open_to_write(str(path)).close()


def none_of_ours(path: Path) -> None:
    path.write_text("alice beats bob")


@pytest.mark.parametrize("make", [nothing, another_of_ours, none_of_ours])
def test_file_that_was_moved_away_is_not_made_anew_nor_another_one_written_to(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    path, elsewhere, other = tmp_path / "games.db", tmp_path / "elsewhere.db", tmp_path / "other.db"
    make(other)
    before = other.read_bytes() if other.exists() else None
    database = open_to_write(str(path))
    worker = Worker(database)
    worker.write(rows([game(series=1)]))
    path.rename(elsewhere)
    if before is not None:
        other.rename(path)
    question = ("write", rows([game(series=2, game="2")]), [], [])
    for _ in range(2):
        kind, why = answer_to(question, worker)
        assert (kind, f"{path} was moved, removed or replaced" in str(why)) == ("failed", True)
    with pytest.raises(StoreError, match="was moved"), database.reading():
        pass
    assert (path.read_bytes() if path.exists() else None) == before
    elsewhere.rename(path)
    assert answer_to(question, worker)[0] == "done"
    database.close()
    assert series(str(path)) == [1, 2]


FULL_DISK = """
import resource, signal, sys
from game_records import game, rows
from gateway.store import StoreError
from gateway.store.database import open_to_write
from gateway.store.worker import Worker

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
worker = Worker(open_to_write(sys.argv[1]))
batch = rows([game(f"player {n}", game=str(n)) for n in range(500)])
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
try:
    worker.write(batch)
except StoreError as error:
    print(error)
    worker.database.reconnect()
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
worker.write(batch)
worker.database.close()
"""


def test_full_disk_leaves_nothing_half_stored_and_is_waited_for(tmp_path: Path) -> None:
    where = str(tmp_path / "games.db")
    child = subprocess.run(
        [sys.executable, "-c", FULL_DISK, where],
        capture_output=True,
        text=True,
        env=child_environment(),
        check=True,
    )
    assert "disk" in child.stdout
    assert len(series(where)) == 500


STORES = """
import sys
from itertools import count
from game_records import game, rows
from gateway.game.ids import game_ids
from gateway.store import storing
from gateway.store.database import open_to_write

database, ids = open_to_write(sys.argv[1]), game_ids(int(sys.argv[2]))
for stored in count(3, 3):
    with database.writing() as connection:
        storing.store(connection, rows([game(f"p{n}", game=next(ids)) for n in range(3)]))
    print(stored, flush=True)
"""
"""Stores games until it is killed; prints how many are stored. Arguments: where, and the run."""


def test_every_game_that_was_told_of_survives_a_kill_and_none_is_there_twice(where: str) -> None:
    """Each run of the program is killed in the middle of its work."""
    open_to_write(where).close()
    told = {run: run_and_kill(where, run, games_before=6 * run) for run in (1, 2)}
    database = open_to_write(where)
    with database.reading() as connection:
        for run, number in told.items():
            prefix, _ = next(game_ids(run)).split("-")
            ids = connection.scalars(select(games.c.game).where(games.c.game.startswith(prefix))).all()
            assert len(set(ids)) == len(ids) >= number > 0
        assert storing.totals_kept(connection) == recounted(connection)
    database.close()


def run_and_kill(where: str, run: int, games_before: int) -> int:
    child = subprocess.Popen(
        [sys.executable, "-c", STORES, where, str(run)],
        stdout=subprocess.PIPE,
        text=True,
        env=child_environment(),
    )
    assert child.stdout is not None
    told = 0
    with child, child.stdout:
        while told < games_before:
            told = int(child.stdout.readline())
        child.kill()
        return max([told, *map(int, child.stdout.read().split())])


@pytest.mark.skipif("postgresql" not in KINDS, reason="needs PostgreSQL")
@pytest.mark.parametrize("where", ["postgresql"], indirect=True)
def test_connection_that_the_server_cut_is_made_anew(where: str) -> None:
    database, other = open_to_write(where), open_to_write(where)
    with pytest.raises(StoreError):  # noqa: PT012, SIM117 - the server ends it between two statements
        with database.writing() as connection, other.reading() as elsewhere:
            number = connection.execute(text("SELECT pg_backend_pid()")).scalar_one()
            elsewhere.execute(text(f"SELECT pg_terminate_backend({number}, 1000)"))
            storing.store(connection, rows([game(series=1)]))
    Worker(database).write(rows([game(series=1)]))
    other.close()
    database.close()
    assert series(where) == [1]
