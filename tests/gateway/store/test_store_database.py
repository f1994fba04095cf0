"""Opening a database: what is made, what is refused, and that what is refused stays as it was."""

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from game_records import game, numbered, rows
from sqlalchemy import create_engine, func, make_url, select, text, update
from sqlalchemy.exc import OperationalError
from store_world import POSTGRES, keep

from gateway.game.ids import RUNS
from gateway.store import VERSION, StoreError, schema, storing
from gateway.store.database import Database, label_of, open_to_read, open_to_write
from gateway.store.games import Filter, every, one
from gateway.store.schema import schema_version
from gateway.store.sqlite import APPLICATION_ID, connect


def refusal(where: str) -> str:
    with pytest.raises(StoreError) as refused:
        open_to_write(where)
    line = str(refused.value)
    assert len(line.splitlines()) == 1
    return line


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_newer_version_is_refused(where: str) -> None:
    database = open_to_write(where)
    with database.writing() as connection:
        connection.execute(update(schema_version).values(version=VERSION + 1))
    database.close()
    assert f"has version {VERSION + 1}" in refusal(where)


def test_two_that_open_at_once_make_one_database(where: str) -> None:
    first, second = open_to_write(where), open_to_write(where)
    keep(first, [game()], 1)
    keep(second, [game()], 2)
    keep(first, [game()], 3)
    with second.reading() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM games").scalar_one() == 3
    first.close()
    second.close()


def test_runs_of_several_servers_on_one_database_are_counted_together(where: str) -> None:
    first, second = open_to_write(where), open_to_write(where)
    runs = [database.next_run() for database in (first, second, first, second)]
    assert [(run - runs[0]) % RUNS for run in runs] == [0, 1, 2, 3]
    with first.writing() as connection:
        connection.execute(update(schema.runs).values(latest=RUNS - 2))
    assert [database.next_run() % RUNS for database in (first, second)] == [RUNS - 1, 0]
    first.close()
    second.close()


def test_number_of_a_run_grows_with_time_and_beyond_what_is_known_elsewhere(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = database.next_run()
    with database.writing() as connection:
        before = connection.execute(schema.runs.select()).one()
    lost = [database.next_run() for _ in range(3)]
    with database.writing() as connection:  # what a backup of before had
        connection.execute(update(schema.runs).values(latest=before.latest, base=before.base))
    assert database.next_run(lost[-1]) == lost[-1] + 1 == first + 4
    with database.writing() as connection:
        connection.execute(update(schema.runs).values(latest=before.latest))
    later = time.time() + 30 * 100
    monkeypatch.setattr(time, "time", lambda: later)
    assert lost[-1] < database.next_run() <= first + 101
    monkeypatch.setattr(time, "time", lambda: 0.0)
    assert database.next_run() > first + 99


def test_database_and_its_backup_are_of_one_lineage_and_two_others_hardly_ever(where: str) -> None:
    first, second = open_to_write(where), open_to_write(where)
    assert first.lineage() == second.lineage() < RUNS
    first.close()
    second.close()


@pytest.mark.usefixtures("impatient")
def test_who_reads_on_after_a_game_misses_none_of_several_writers(where: str) -> None:
    """A second writer cannot number games before the first has committed."""
    first, second = open_to_write(where), open_to_write(where)
    with first.writing() as connection:
        storing.store(connection, rows(numbered([game()], 1)))
        with pytest.raises(StoreError, match="lock"):
            keep(second, [game()], 2)
    keep(second, [game()], 2)
    keep(first, [game()], 3)
    assert [each.game for each in every(second.reading, Filter())] == ["1", "2", "3"]
    first.close()
    second.close()


def test_one_transaction_sees_one_state(database: Database) -> None:
    keep(database, [game()])
    count = select(func.count()).select_from(schema_version)
    with database.reading() as connection:
        before = connection.execute(count).scalar_one()
        keep(database, [game()], 2)
        assert connection.exec_driver_sql("SELECT count(*) FROM games").scalar_one() == 1
    assert before == 1


# A file that is none of ours. SQLite only.


def other_database(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE games (id)")
    connection.close()


def newer_database(path: Path) -> None:
    open_to_write(str(path)).close()
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    connection.close()


FOREIGN = {
    "text": lambda path: path.write_text("alice beats bob\n" * 1000),
    "a short text": lambda path: path.write_text("x"),
    "another's database": other_database,
    "a newer database": newer_database,
    "half a header": lambda path: path.write_bytes(b"SQLite format 3\0"),
}


@pytest.mark.parametrize("kind", FOREIGN)
@pytest.mark.parametrize("opening", [open_to_read, open_to_write])
def test_foreign_file_is_refused_and_left_as_it_was(tmp_path: Path, kind: str, opening) -> None:
    path = tmp_path / "games.db"
    FOREIGN[kind](path)
    before = contents(tmp_path)
    with pytest.raises(StoreError, match=r"is no database of c4gateway|has version"):
        opening(str(path))
    assert contents(tmp_path) == before


def test_newer_version_that_a_killed_process_left_in_the_log_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "games.db"
    open_to_write(str(path)).close()
    if (child := os.fork()) == 0:
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
        os.kill(os.getpid(), 9)
    os.waitpid(child, 0)
    before = contents(tmp_path)
    assert set(before) == {"games.db", "games.db-wal", "games.db-shm"}
    assert f"has version {VERSION + 1}" in refusal(str(path))
    assert contents(tmp_path)["games.db"] == before["games.db"]
    assert contents(tmp_path)["games.db-wal"] == before["games.db-wal"]


def empty(path: Path) -> None:
    path.touch()


def cut_short(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.close()


@pytest.mark.parametrize("make", [None, empty, cut_short])
def test_database_is_created_by_who_writes_alone_also_of_a_file_that_is_empty_or_was_cut_short(
    tmp_path: Path, make: Callable[[Path], None] | None
) -> None:
    path = tmp_path / "games.db"
    if make is not None:
        make(path)
    before = {*contents(tmp_path)}
    with pytest.raises(StoreError, match=r"is no database of c4gateway|is empty|No such file"):
        open_to_read(str(path))
    if make is None:
        with pytest.raises(sqlite3.OperationalError):
            connect(path, 0.0)
    assert {*contents(tmp_path)} == before
    open_to_write(str(path)).close()
    open_to_read(str(path)).close()
    header = path.read_bytes()[:100]
    assert int.from_bytes(header[60:64]) == VERSION
    assert int.from_bytes(header[68:72]) == APPLICATION_ID


def test_path_with_every_odd_character_is_a_path(tmp_path: Path) -> None:
    path = tmp_path / "a b?mode=ro#%41é.db"
    open_to_write(str(path)).close()
    assert [found.name for found in tmp_path.iterdir()] == [path.name]


# What fails while the database is in use.


@pytest.fixture
def broken(tmp_path: Path) -> Iterator[Database]:
    """A database that has become something else."""
    path = tmp_path / "games.db"
    database = open_to_write(str(path))
    keep(database, [game()])
    database.reconnect()
    with path.open("r+b") as file:
        file.write(b"no database " * 1_000)
    yield database
    database.close()


def refuses(database: Database, *asked: Callable[[], object]) -> None:
    for ask in asked:
        with pytest.raises(StoreError) as error:
            ask()
        assert len(str(error.value).splitlines()) == 1


def test_whatever_a_broken_database_complains_of_is_one_error_of_one_line(broken: Database) -> None:
    refuses(broken, lambda: next(every(broken.reading, Filter())), broken.probe, broken.next_run)


@pytest.mark.usefixtures("impatient")
def test_probe_finds_a_database_that_is_locked_and_changes_nothing_in_another(database: Database) -> None:
    keep(database, [game()])
    with database.writing():
        refuses(database, database.probe, database.next_run)
    database.probe()
    assert [each.game for each in every(database.reading, Filter())] == ["1"]


def test_error_while_a_connection_is_in_use_is_one_of_the_store(database: Database) -> None:
    with pytest.raises(StoreError, match="the disk is gone"), database.reading():
        raise OperationalError("SELECT", {}, OSError("the disk\nis gone"))


# What cannot be opened.


@pytest.mark.parametrize(
    ("where", "why"),
    [
        ("{tmp}", "{tmp}: Is a directory"),
        ("{tmp}/no/games.db", "No such file or directory"),
        ("postgresql://me:secret@/games?host={tmp}", "postgresql://me:***@/games: "),
        ("postgresql://me:secret@host:port/games", "this is no URL of a database"),
        ("postgresql+nothing://me:secret@x/y", "postgresql.nothing"),
        (
            "postgresql://me:sec@ret@host/games",
            "an @ in the name or the password of the URL of a database is",
        ),
        (
            "postgresql+pg8000://me:secret@host/games",
            "pg8000 is not installed, which PostgreSQL needs; pip install 'c4gateway[postgres]'",
        ),
    ],
)
def test_what_cannot_be_opened_is_one_line_without_the_password(where: str, why: str, tmp_path: Path) -> None:
    if "host=" in where:
        pytest.importorskip("psycopg", reason="needs the driver for PostgreSQL")
    line = refusal(where.format(tmp=tmp_path))
    assert why.format(tmp=tmp_path) in line
    assert "secret" not in line
    assert "ret@" not in line
    label = label_of("postgres://me:secret@host/games?password=secret")
    assert label == "postgresql://me:***@host/games"


def test_commit_is_on_disk_before_it_returns(tmp_path: Path) -> None:
    database = open_to_write(str(tmp_path / "games.db"))
    with database.writing() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar_one() == 2  # FULL
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar_one() == "wal"
    database.close()


def test_file_that_moves_during_a_transaction_is_noticed(tmp_path: Path) -> None:
    database = open_to_write(str(tmp_path / "games.db"))
    with pytest.raises(StoreError, match="was moved"), database.writing():
        (tmp_path / "games.db").rename(tmp_path / "elsewhere.db")
    database.close()


# The encoding of a PostgreSQL database.


@pytest.fixture
def encoded(encoding: str) -> Iterator[str]:
    """The URL of a new database in an encoding."""
    if POSTGRES is None:
        pytest.skip("no PostgreSQL here")
    url = make_url(POSTGRES).set(drivername="postgresql+psycopg")
    name, engine = f"encoded_{os.getpid()}", create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as server:
        about = f"ENCODING '{encoding}' TEMPLATE template0 LOCALE 'C' LOCALE_PROVIDER libc"
        server.execute(text(f"CREATE DATABASE {name} {about}"))
        yield url.set(database=name).render_as_string(hide_password=False)
        server.execute(text(f"DROP DATABASE {name}"))
    engine.dispose()


@pytest.mark.parametrize("encoding", ["SQL_ASCII"])
def test_database_that_was_made_without_a_locale_takes_every_name(encoded: str) -> None:
    database = open_to_write(encoded)
    keep(database, [game("\u4e00")])
    with database.reading() as connection:
        found = one(connection, "1")
    assert found.players[0].name == "\u4e00"
    database.close()


@pytest.mark.parametrize("encoding", ["LATIN1"])
def test_database_that_does_not_take_every_name_is_not_begun(encoded: str) -> None:
    assert "has the encoding LATIN1, which lacks letters of names" in refusal(encoded)
