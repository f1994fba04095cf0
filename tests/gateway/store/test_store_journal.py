"""The journal: what is on disk, what becomes of it when its writer or the disk fails, and who stores it."""

import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
import trio
from game_records import game, rows
from sqlalchemy import select
from store_world import child_environment

from gateway.store import StoreError
from gateway.store.database import Database, open_to_write
from gateway.store.formats import jsonl
from gateway.store.journal import PORTION, Journal, draw_run, next_left
from gateway.store.process import JournalProcess
from gateway.store.records import GameRecord
from gateway.store.schema import games
from gateway.store.worker import Worker


def records(*numbers: int) -> list[GameRecord]:
    return [game(series=number, game=str(number)) for number in numbers]


def series(database: Database) -> list[int]:
    with database.reading() as connection:
        return list(connection.scalars(select(games.c.series).order_by(games.c.id)))


def lines(path: Path) -> list[int]:
    return [record.series for line in path.read_bytes().splitlines() for record in jsonl.read(line)]


def left(folder: Path, name: str, *numbers: int) -> Path:
    """Leave a file as a killed server does; return its path."""
    journal = Journal(folder, name)
    journal.append(records(*numbers))
    journal.close()
    return folder / f"{name}-1.jsonl"


# Files.


def test_games_are_lines_of_an_export_in_a_file_of_the_mode_of_the_database(tmp_path: Path) -> None:
    beside = tmp_path / "games.db"
    beside.touch()
    beside.chmod(0o640)
    journal, folder = Journal(tmp_path / "j", "run", beside), tmp_path / "j"
    journal.append([])
    assert not folder.exists()
    journal.append(records(1, 2))
    journal.append(records(3))
    (path,) = folder.iterdir()
    assert (path.name, lines(path), path.stat().st_mode & 0o777) == ("run-1.jsonl", [1, 2, 3], 0o640)
    other = Journal(folder, "run")
    other.append(records(4))
    assert (folder / "run-2.jsonl").stat().st_mode & 0o777 == 0o600
    journal.close()
    other.close()


def test_file_is_nobody_elses_while_its_writer_lives(tmp_path: Path) -> None:
    journal = Journal(tmp_path, "run")
    journal.append(records(1))
    assert next_left(tmp_path, "run") is None
    journal.close()
    found = next_left(tmp_path, "run")
    assert found is not None
    assert next_left(tmp_path, "run") is None
    found.close()
    assert next_left(tmp_path, "other") is None
    assert next_left(tmp_path / "none", "run") is None


FULL_DISK = """
import resource, sys
from pathlib import Path
from game_records import game
from gateway.store.journal import Journal

def limit(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

def refused(numbers):
    try:
        journal.append([game(series=number, game=str(number)) for number in numbers])
    except OSError as error:
        print(error.strerror, flush=True)

journal = Journal(Path(sys.argv[1]), "run")
limit(100)
for _ in range(3):
    refused([1])
limit(2000)
refused([1, 2])
refused(range(3, 100))
limit(resource.RLIM_INFINITY)
refused([3, 4])
"""


def test_full_disk_leaves_no_file_behind_and_nothing_half_written(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, tmp_path],
        capture_output=True,
        text=True,
        env=child_environment(),
        check=True,
    )
    assert done.stdout.splitlines() == ["File too large"] * 4
    assert {path.name: lines(path) for path in tmp_path.iterdir()} == {
        "run-1.jsonl": [1, 2],
        "run-2.jsonl": [3, 4],
    }


def test_highest_run_is_remembered_beside_a_database_that_forgets_it(tmp_path: Path) -> None:
    folder = tmp_path / "j"
    assert draw_run(folder, "base", lambda past: past + 8) == (7, None)
    assert draw_run(folder, "base", lambda past: past + 1) == (8, None)
    assert draw_run(folder, "other", lambda past: past) == (-1, None)
    (folder / "base.run").write_text("torn")
    assert draw_run(folder, "base", lambda past: past) == (-1, None)
    (folder / "base.run").write_text("9" * 20)
    assert draw_run(folder, "base", lambda past: past) == (-1, None)
    file = tmp_path / "file"
    file.touch()
    run, trouble = draw_run(file, "base", lambda past: past)
    assert (run, trouble) == (-1, f"{file}: File exists")


# Storing what was left.


def test_what_a_killed_server_has_left_for_this_database_is_stored_once_and_the_file_goes(
    database: Database, tmp_path: Path
) -> None:
    other = left(tmp_path, "other-run", 5000)
    numbers = [*range(1, 2 * PORTION + 50)]
    path = left(tmp_path, "base-run", *numbers)
    with path.open("ab") as file:
        file.write(b'{"id": "9999", "beg')  # nobody was told of that one
    worker = Worker(database, journal=(str(tmp_path), "base"))
    worker.write(rows(records(2, 7)))
    sums = []
    while path.exists():
        found = worker.take_up()
        sums.append((found.seen, found.new))
    assert sums == [(PORTION, PORTION - 2), (PORTION, PORTION), (49, 49), (0, 0)]
    assert not worker.take_up().more
    assert sorted(series(database)) == numbers
    assert [*tmp_path.glob("*.jsonl")] == [other]


def test_take_up_that_fails_is_gone_on_with(database: Database, tmp_path: Path, impatient: None) -> None:
    left(tmp_path, "base-run", 1, 2)
    worker = Worker(database, journal=(str(tmp_path), "base"))
    other = open_to_write(database.place.where)
    with other.writing(), pytest.raises(StoreError, match="lock"):
        worker.take_up()
    other.close()
    worker.database.reconnect()
    assert worker.take_up().new == 2
    assert worker.take_up().more
    assert not worker.take_up().more
    assert series(database) == [1, 2]


def test_lines_that_are_refused_stay_in_files_that_are_not_tried_again(
    database: Database, tmp_path: Path
) -> None:
    worker = Worker(database, journal=(str(tmp_path / "j"), "base"))
    for number in (1, 2):
        with (
            left(tmp_path / "j", "base-run", number).with_name(f"base-run-{number}.jsonl").open("ab") as file
        ):
            file.write(b"alice beats bob\n" + "".join(jsonl.write(records(number + 10))).encode())
        came = worker.take_up()
        kept = tmp_path / "j" / f"base-run-{number}.jsonl.refused"
        assert (came.more, came.new, came.detail) == (True, 2, str(kept))
        assert [number for number, _ in came.refused] == [2]
        while worker.take_up().more:
            pass
    assert series(database) == [1, 11, 2, 12]
    assert {path.name: path.read_bytes().count(b"\n") for path in kept.parent.iterdir()} == {
        "base-run-1.jsonl.refused": 3,
        "base-run-2.jsonl.refused": 3,
    }


def test_file_that_cannot_be_read_keeps_no_other_from_being_stored(
    database: Database, tmp_path: Path
) -> None:
    (tmp_path / "base-run-1.jsonl").mkdir()
    (tmp_path / "base-run-2.jsonl").write_bytes("".join(jsonl.write(records(1))).encode())
    (tmp_path / "base-run-2.jsonl.refused").mkdir()  # for the file cannot be renamed to that
    with (tmp_path / "base-run-2.jsonl").open("ab") as file:
        file.write(b"alice beats bob\n")
    left(tmp_path, "base-run", 3)
    worker = Worker(database, journal=(str(tmp_path), "base"))
    for _ in range(2):
        said = []
        while (came := worker.take_up()).more:
            said.append(came.detail)
        assert series(database) == [1, 3]
        assert "Is a directory" in said[1]
        assert "not a regular file" in str(came.detail)


def test_pipe_among_the_files_is_read_for_no_moment(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "run-1.jsonl")
    with pytest.raises(OSError, match="not a regular file"):
        next_left(tmp_path, "run")


def test_oldest_file_is_the_first(tmp_path: Path) -> None:
    for number in (10, 9):
        (tmp_path / f"run-{number}.jsonl").touch()
    found = next_left(tmp_path, "run")
    assert found is not None
    assert found.path.name == "run-9.jsonl"
    found.close()


# The process.


@asynccontextmanager
async def process_in(folder: Path, patience: float = 30.0) -> AsyncIterator[JournalProcess]:
    process = JournalProcess(str(folder), "run", None, patience=patience)
    try:
        yield process
    finally:
        await process.close(30.0)


async def test_process_that_hangs_is_given_up(tmp_path: Path) -> None:
    async with process_in(tmp_path, patience=0.3) as process:
        while process.pid is None:
            with suppress(StoreError):  # a machine that is busy
                await process.append([])
        os.kill(process.pid, signal.SIGSTOP)
        with pytest.raises(StoreError, match="has not answered"), trio.fail_after(20):
            await process.append(records(1))


async def test_process_says_why_it_cannot_write_and_which_game_is_at_fault(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    async with process_in(file) as process:
        with pytest.raises(StoreError, match="File exists"):
            await process.append(records(1))
        file.unlink()
        [refused] = await process.append([game(moves="x"), *records(1)])
        assert refused.number == 0
    assert lines(file / "run-1.jsonl") == [1]
