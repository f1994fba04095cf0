"""Who may serve a database: one server that is alone, or the nodes of a cluster."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import text

from gateway.store.claim import Claim
from gateway.store.database import Database, is_url, open_to_write
from gateway.store.errors import StoreError

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="files are claimed on Linux alone")

_HOLDS = """
import sys
from gateway.store.claim import Claim
claim = Claim(sys.argv[1])
claim.take()
print(flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Claim.take, "__defaults__", (0.0,))


@contextmanager
def claimed(where: str, *, shared: bool = False) -> Iterator[Claim]:
    claim = Claim(where, shared=shared)
    claim.take()
    yield claim
    claim.close()


def test_second_server_is_refused_in_one_line_until_the_first_has_ended(database: Database) -> None:
    where = database.place.where
    with (
        claimed(where),
        pytest.raises(StoreError, match=r"is in use by another server.*; stop that first") as said,
    ):
        Claim(where).take()
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
    command = [sys.executable, "-c", _HOLDS, where]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        with pytest.raises(StoreError):
            Claim(where).take()
        holder.kill()
        holder.wait()
    claim = Claim(where)
    claim.take(10.0)
    claim.close()


def test_database_that_is_not_there_yet_is_refused_to_nobody(where: str) -> None:
    claim = Claim(where)
    claim.take()
    claim.close()


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("second", [False, True])
def test_nodes_share_a_database_and_a_lone_server_shares_it_with_nobody(
    database: Database, first: bool, second: bool
) -> None:
    where = database.place.where
    if not is_url(where):
        return
    with claimed(where, shared=first):
        other = Claim(where, shared=second)
        if first and second:
            other.take()
            other.close()
        else:
            with pytest.raises(StoreError, match="--cluster"):
                other.take()


def test_lock_that_was_lost_is_taken_anew(database: Database) -> None:
    where = database.place.where
    if not is_url(where):
        return
    with claimed(where) as claim:
        with database.engine.connect() as connection:
            connection.execute(
                text(
                    "SELECT pg_terminate_backend(pid) FROM pg_locks"
                    " WHERE locktype = 'advisory' AND classid = 4348 AND objid ="
                    " hashtext(current_schema())::bigint & 4294967295"
                )
            )
            connection.execute(text("SELECT pg_sleep(0.2)"))
        claim.keep()
        with pytest.raises(StoreError):
            Claim(where).take()
