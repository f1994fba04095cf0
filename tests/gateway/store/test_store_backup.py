"""A backup of SQLite's: it has what is stored, or there is none."""

import gzip
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from game_records import game
from store_world import keep

from gateway.commands import stored_games as commands
from gateway.store import StoreError
from gateway.store.database import back_up, open_to_read, open_to_write
from gateway.store.games import Filter

DATA = Path(__file__).with_name("data")
PAGE = 4096


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A database with two games, which nobody has open."""
    path = tmp_path / "games.db"
    database = open_to_write(str(path))
    keep(database, [game(), game()])
    database.close()
    return path


def exported(path: Path) -> str:
    database = open_to_read(str(path))
    try:
        return "".join(commands.export(database, "jsonl", Filter()))
    finally:
        database.close()


def test_backup_has_what_is_stored_while_others_read_and_write(place: Path) -> None:
    before = exported(place)
    writer = open_to_write(str(place))
    with writer.reading(), writer.writing() as connection:
        connection.exec_driver_sql("DELETE FROM games")
        target = place.with_name("backup.db")
        assert "".join(commands.backup(str(place), str(target))) == (
            f"{target}: 2 games, {target.stat().st_size / 1e6:.1f} MB\n"
        )
        connection.rollback()
    writer.close()
    assert exported(target) == before
    assert {path.name for path in place.parent.iterdir()} == {"games.db", "backup.db"}


def test_backup_is_as_private_as_the_database(place: Path) -> None:
    place.chmod(0o640)
    back_up(str(place), str(place.with_name("backup.db")))
    assert stat.S_IMODE(place.with_name("backup.db").stat().st_mode) == 0o640


def test_backup_of_an_older_version_is_made_and_keeps_its_version(tmp_path: Path) -> None:
    old, target = tmp_path / "old.db", tmp_path / "backup.db"
    with gzip.open(DATA / "version-1.db.gz") as packed, old.open("wb") as file:
        shutil.copyfileobj(packed, file)
    games, size = back_up(str(old), str(target))
    assert (games, size) == (36, target.stat().st_size)
    with pytest.raises(StoreError, match="the older version 1"):
        open_to_read(str(target))


def text(path: Path) -> None:
    path.write_bytes(b"something else")


def damaged(path: Path) -> None:
    data = bytearray(path.read_bytes())
    for at in range(PAGE, len(data), PAGE):
        data[at : at + 16] = b"\xff" * 16
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("break_source", "make_target", "target", "why"),
    [
        (Path.unlink, None, "backup.db", "{source}: No such file or directory"),
        (text, None, "backup.db", "{source} is no database of c4gateway"),
        (damaged, None, "backup.db", "{source} was not copied to {target}: "),
        (None, None, "none/backup.db", "{target.parent} is not a directory"),
        (None, Path.touch, "backup.db", "{target} exists already; give the name of a new file"),
        (None, Path.mkdir, "backup.db", "{target} exists already; give the name of a new file"),
        (
            None,
            lambda path: path.symlink_to("nowhere"),
            "backup.db",
            "{target} exists already; give the name of a new file",
        ),
    ],
)
def test_where_there_can_be_no_backup_nothing_is_left_of_it(
    place: Path,
    break_source: Callable[[Path], None] | None,
    make_target: Callable[[Path], None] | None,
    target: str,
    why: str,
) -> None:
    path = place.parent / target
    if break_source is not None:
        break_source(place)
    if make_target is not None:
        make_target(path)
    before = sorted(place.parent.iterdir())
    with pytest.raises(StoreError) as refused:
        back_up(str(place), str(path))
    assert str(refused.value).startswith(why.format(source=place, target=path))
    assert sorted(place.parent.iterdir()) == before


def test_no_backup_on_a_full_disk(place: Path) -> None:
    target = place.with_name("backup.db")
    assert place.stat().st_size > 40 * 1024
    command = f"ulimit -f 40; exec {sys.executable} -m gateway backup --db {place} {target}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"c4gateway: error: {place} was not copied to {target}: ")
    assert done.stderr.count("\n") == 1
    assert [path.name for path in place.parent.iterdir()] == ["games.db"]


def test_postgresql_is_left_to_its_own_command_and_no_password_is_shown() -> None:
    with pytest.raises(StoreError) as refused:
        back_up("postgresql://c4:secret@db.invalid/c4", "backup.dump")
    assert "pg_dump" in str(refused.value)
    assert "secret" not in str(refused.value)
