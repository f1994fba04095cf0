"""Real databases that fail: locked, full, moved away, killed. Nothing is lost, nothing doubled."""

import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio
from game_records import game, rows, stored
from sqlalchemy import select, text
from store_world import KINDS, child_environment, recounted

from gateway.game.ids import game_ids
from gateway.store import StoreError, storing
from gateway.store.batcher import Batch, Batcher, Bounds, Pace
from gateway.store.database import Database, open_to_read, open_to_write
from gateway.store.evidence import Line, recorded
from gateway.store.games import evidence_of
from gateway.store.records import Cleared, Enclosure, GameRecord, TakenUp, Written
from gateway.store.schema import games
from gateway.store.worker import Worker

LIMIT = 30.0


class Local:
    """A store in this process."""

    def __init__(self, database: Database) -> None:
        self._worker = Worker(database)

    async def write(self, batch: Batch) -> Written:
        await trio.lowlevel.checkpoint()
        try:
            return self._worker.write(rows(batch.games), batch.evidence)
        except StoreError:
            self._worker.database.reconnect()
            raise

    async def take_up(self) -> TakenUp:
        await trio.lowlevel.checkpoint()
        return TakenUp()

    async def tidy(self) -> bool:
        await trio.lowlevel.checkpoint()
        return False

    async def clear(self) -> Cleared:
        raise NotImplementedError


class NoJournal:
    """A journal on a disk that is full."""

    async def append(self, records: Sequence[GameRecord]) -> None:
        await trio.lowlevel.checkpoint()
        raise StoreError("no space left")

    async def close(self) -> None:
        await trio.lowlevel.checkpoint()


@asynccontextmanager
async def batcher_to(
    database: Database, patience: float = LIMIT, limit: float = LIMIT
) -> AsyncIterator[Batcher]:
    batcher = Batcher(Local(database), NoJournal(), Bounds(patience=patience), Pace(retry=0.01))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(batcher.run)
        try:
            yield batcher
        finally:
            await batcher.close(limit)


def put(batcher: Batcher, number: int) -> None:
    batcher.put(game(series=number, game=str(number)))


async def keep(batcher: Batcher, number: int) -> None:
    put(batcher, number)
    await stored(batcher.open, str(number))
    assert batcher.open.waiting == 0


def series(where: str) -> list[int]:
    database = open_to_read(where)
    with database.reading() as connection:
        found = list(connection.scalars(select(games.c.series).order_by(games.c.id)))
    database.close()
    return found


async def failing(caplog: pytest.LogCaptureFixture) -> str:
    """Wait until an outage is told of; return what is said."""
    seen = 0
    with trio.fail_after(LIMIT):
        while True:
            for record in caplog.records[seen:]:
                seen += 1
                if "the database has failed" in record.getMessage():
                    return record.getMessage()
            await trio.lowlevel.checkpoint()


async def test_games_are_stored_with_their_evidence(where: str) -> None:
    database = open_to_write(where)
    async with batcher_to(database) as batcher:
        await keep(batcher, 1)
        assert series(where) == [1]
        batcher.add(Enclosure("1", 0, recorded([(0.25, "in", "playmove 3", None)])))
        batcher.add(Enclosure("1", 1, recorded([(0.5, "out", "genmove", None)])))
    with database.reading() as connection:
        assert evidence_of(connection, "1") == (
            (Line(250, "in", "playmove 3"),),
            (Line(500, "out", "genmove"),),
        )
    database.close()


async def test_evidence_that_waited_out_an_outage_is_stored_with_its_game(
    where: str, caplog: pytest.LogCaptureFixture
) -> None:
    database, other = open_to_write(where), open_to_write(where)
    async with batcher_to(database, patience=0.0) as batcher:
        with other.writing():
            for number in (1, 2, 3):
                put(batcher, number)
                batcher.add(Enclosure(str(number), 0, recorded([(0.1, "in", f"playmove {number}", None)])))
            await failing(caplog)
    other.close()
    with database.reading() as connection:
        kept = [evidence_of(connection, str(number))[0] for number in (1, 2, 3)]
    assert kept == [(Line(100, "in", f"playmove {number}"),) for number in (1, 2, 3)]
    database.close()


@pytest.mark.usefixtures("impatient")
async def test_database_that_another_holds_locked_is_waited_for(
    where: str, caplog: pytest.LogCaptureFixture
) -> None:
    database, other = open_to_write(where), open_to_write(where)
    async with batcher_to(database) as batcher:
        with other.writing():
            put(batcher, 1)
            assert "lock" in await failing(caplog)
            assert batcher.open.waiting == 1
        await stored(batcher.open, "1")
    other.close()
    database.close()
    assert series(where) == [1]


async def test_file_that_was_moved_away_is_waited_for(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path, elsewhere = tmp_path / "games.db", tmp_path / "elsewhere.db"
    database = open_to_write(str(path))
    async with batcher_to(database) as batcher:
        await keep(batcher, 1)
        path.rename(elsewhere)
        put(batcher, 2)
        assert f"{path} was moved, removed or replaced" in await failing(caplog)
        assert batcher.open.waiting == 1
        elsewhere.rename(path)
        await stored(batcher.open, "2")
    database.close()
    assert series(str(path)) == [1, 2]


async def test_file_that_was_removed_is_not_made_anew(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "games.db"
    database = open_to_write(str(path))
    async with batcher_to(database, patience=0.0, limit=0.05) as batcher:
        path.unlink()
        put(batcher, 1)
        await failing(caplog)
    assert "not stored: " in caplog.text
    assert not path.exists()
    database.close()


def another_of_ours(path: Path) -> None:
    open_to_write(str(path)).close()


def none_of_ours(path: Path) -> None:
    path.write_text("alice beats bob")


@pytest.mark.parametrize("make", [another_of_ours, none_of_ours])
async def test_file_that_took_the_place_is_left_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, make: Callable[[Path], None]
) -> None:
    path, elsewhere, other = tmp_path / "games.db", tmp_path / "elsewhere.db", tmp_path / "other.db"
    make(other)
    database, before = open_to_write(str(path)), other.read_bytes()
    async with batcher_to(database) as batcher:
        await keep(batcher, 1)
        path.rename(elsewhere)
        other.rename(path)
        put(batcher, 2)
        await failing(caplog)
        with pytest.raises(StoreError, match="was moved"), database.reading():
            pass
        assert path.read_bytes() == before
        assert batcher.open.waiting == 1
        elsewhere.rename(path)
        await stored(batcher.open, "2")
    database.close()
    assert series(str(path)) == [1, 2]


FULL_DISK = """
import resource, signal, sys
from game_records import game, rows
from gateway.store import storing
from gateway.store.batcher import Batch, Batcher, Bounds, Pace
from gateway.store.database import open_to_write
from gateway.store import StoreError
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


def test_every_game_that_was_told_of_survives_a_kill_and_none_is_there_twice(where: str) -> None:
    """Each run of the program is killed in the middle of its work."""
    open_to_write(where).close()
    told = {run: run_and_kill(where, run, games_before=6 * run) for run in (1, 2, 3)}
    database = open_to_write(where)
    with database.reading() as connection:
        for run, number in told.items():
            prefix, _ = next(game_ids(run)).split("-")
            ids = connection.scalars(select(games.c.game).where(games.c.game.startswith(prefix))).all()
            assert len(set(ids)) == len(ids) >= number > 0
        kept, counted = storing.totals_kept(connection), recounted(connection)
        assert kept == counted
    database.close()


def run_and_kill(where: str, run: int, games_before: int) -> int:
    script = str(Path(__file__).with_name("store_killed.py"))
    child = subprocess.Popen(
        [sys.executable, script, where, str(run)],
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
