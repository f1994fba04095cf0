"""Who may serve a database: one server that is alone, or the nodes of a cluster."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from game_records import game, rows
from sqlalchemy import text

from gateway.store import StoreError
from gateway.store.claim import ANALYSES, Claim
from gateway.store.database import Database, is_url, open_to_write
from gateway.store.worker import Worker

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="files are claimed on Linux alone")

_OPENS = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
print(connection.execute("SELECT count(*) FROM games").fetchone()[0])
connection.close()
"""
_HOLDS = """
import sys
from gateway.store.claim import Claim
claim = Claim(sys.argv[1])
claim.take()
print(flush=True)
sys.stdin.read()
"""


@contextmanager
def claimed(where: str, *, shared: bool = False) -> Iterator[Claim]:
    claim = Claim(where, shared=shared)
    claim.take(0.0)
    yield claim
    claim.close()


@contextmanager
def claimed_elsewhere(where: str) -> Iterator[subprocess.Popen[bytes]]:
    """Let another process have the lock."""
    command = [sys.executable, "-c", _HOLDS, where]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        yield holder


def test_second_server_is_refused_in_one_line_until_the_first_has_ended(database: Database) -> None:
    where = database.place.where
    with (
        claimed(where),
        pytest.raises(StoreError, match=r"is in use by another server.*; stop that first") as said,
    ):
        Claim(where).take(0.0)
    assert "\n" not in str(said.value)
    with claimed(where):
        pass


def test_command_beside_a_server_is_not_refused(database: Database) -> None:
    with claimed(database.place.where):
        open_to_write(database.place.where).close()
        with database.writing() as connection:
            connection.execute(text("SELECT 1"))


def test_lock_ends_with_a_killed_server(database: Database) -> None:
    where = database.place.where
    with claimed_elsewhere(where) as holder:
        with pytest.raises(StoreError):
            Claim(where).take(0.0)
        holder.kill()
        holder.wait()
    claim = Claim(where)
    claim.take(10.0)
    claim.close()


def test_database_that_is_not_there_yet_is_refused_to_nobody(where: str) -> None:
    with claimed(where):
        pass


def test_results_are_kept_although_another_server_has_the_lock(tmp_path: Path) -> None:
    where = str(tmp_path / "games.db")
    database, claim = open_to_write(where), Claim(where)
    worker = Worker(database, claim=claim)
    with claimed_elsewhere(where):
        worker.write(rows([game()]))
        # Where nobody has it in use, SQLite removes the log of the database that is closed last.
        subprocess.run([sys.executable, "-c", _OPENS, where], check=True)
        worker.write(rows([game(game="2")]))
        counted = subprocess.run([sys.executable, "-c", _OPENS, where], check=True, stdout=subprocess.PIPE)
    assert int(counted.stdout) == 2
    claim.keep()
    with pytest.raises(StoreError):
        Claim(where).take(0.0)
    database.close()
    claim.close()


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("second", [False, True])
def test_nodes_share_a_database_and_a_lone_server_shares_it_with_nobody(
    database: Database, first: bool, second: bool
) -> None:
    where = database.place.where
    if not is_url(where):
        pytest.skip("a file has no nodes")
    with claimed(where, shared=first):
        other = Claim(where, shared=second)
        if first and second:
            other.take(0.0)
            other.close()
        else:
            with pytest.raises(StoreError, match="--cluster"):
                other.take(0.0)


def test_lock_that_was_lost_is_taken_anew(database: Database) -> None:
    where = database.place.where
    if not is_url(where):
        pytest.skip("the lock of a file is not lost")
    with claimed(where) as claim:
        with database.engine.connect() as connection:
            connection.execute(
                text(
                    "SELECT pg_terminate_backend(pid, 5000) FROM pg_locks"
                    " WHERE locktype = 'advisory' AND classid = 4348 AND objid ="
                    " hashtext(current_schema())::bigint & 4294967295"
                )
            )
        claim.keep()
        with pytest.raises(StoreError):
            Claim(where).take(0.0)


def test_games_of_a_shared_database_are_analysed_by_one_process_until_that_has_ended(
    database: Database,
) -> None:
    if not database.is_shared:
        pytest.skip("a file has no nodes")
    where = database.place.where
    with claimed(where, shared=True), claimed(where, shared=True):
        one, other = (Claim(where, key=ANALYSES) for _ in range(2))
        for _ in range(2):
            one.keep()
            other.keep()
            assert (one.is_held, other.is_held) == (True, False)
        one.close()
        other.keep()
        assert (one.is_held, other.is_held) == (False, True)
        other.close()
