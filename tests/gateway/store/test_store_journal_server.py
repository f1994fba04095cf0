"""A server whose database is away, from outside: what players hear, and what is stored after `kill -9`."""

import os
import shutil
import signal
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path

import pytest
from scripted_clients import play_out
from shared_ports import MOVES
from sqlalchemy import update
from test_stopping import game, hear_log
from worlds.server import EVERY_PORT, Served, ran, served

from conformance.lab.meters import children_of
from gateway.game.ids import RUNS
from gateway.store.database import open_to_read, open_to_write
from gateway.store.games import Filter, every
from gateway.store.records import GameRecord
from gateway.store.schema import runs

pytestmark = pytest.mark.operation


def games_in(where: str) -> list[GameRecord]:
    with closing(open_to_read(where)) as database:
        return [each for each in every(database.reading, Filter()) if each.moves]


def kill(gateway: Served) -> None:
    """Kill the server and all of its processes."""
    for child in children_of(gateway.process.pid):
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
    gateway.process.kill()
    gateway.end()


def options(where: str, folder: Path) -> Sequence[str]:
    return (*EVERY_PORT, "--db", where, "--journal", str(folder), "--log-json")


def restarted(where: str, folder: Path) -> list[GameRecord]:
    """Start the server once more, let it store what was left, and return all games."""
    with served(*options(where, folder)) as gateway:
        hear_log(gateway, "journal_taken_up")
        gateway.stop()
    assert [*folder.glob("*.jsonl*")] == []
    return games_in(where)


def test_result_that_was_told_while_the_database_was_away_is_stored_after_a_kill(
    where: str, tmp_path: Path
) -> None:
    database, folder = open_to_write(where), tmp_path / "j"
    with served(*options(where, folder)) as gateway, database.writing(), game(gateway) as players:
        play_out(*players, MOVES)
        (path,) = folder.glob("*.jsonl")
        kill(gateway)
    copied = shutil.copy(path, tmp_path / "copy.jsonl")
    database.close()
    (stored,) = restarted(where, folder)
    assert (stored.moves, stored.result, stored.counted) == ("".join(map(str, MOVES)), 1, True)
    assert ran("import", copied, "--db", where)[:2] == (0, "0 games imported, 1 stored already\n")
    elsewhere = str(tmp_path / "elsewhere.db")
    assert ran("import", copied, "--db", elsewhere)[:2] == (0, "1 game imported, 0 stored already\n")


@pytest.mark.parametrize("folder", ["kept", "lost"])
def test_restored_backup_gives_out_no_id_twice(folder: str, tmp_path: Path) -> None:
    where, backup = str(tmp_path / "games.db"), tmp_path / "backup.db"
    database = open_to_write(where)
    with database.writing() as connection:  # more starts than half-minutes: the number is not the clock's
        connection.execute(update(runs).values(latest=runs.c.latest + RUNS))
    database.close()
    shutil.copy(where, backup)
    ids = list[str]()
    for _ in range(2):
        with served(*EVERY_PORT, "--db", where) as gateway:
            with game(gateway) as players:
                play_out(*players, MOVES)
            gateway.stop()
        ids += [each.game for each in games_in(where)]
        status, lines, _ = ran("export", "--db", where)
        assert status == 0
        (tmp_path / f"{len(ids)}.jsonl").write_text(lines)
        for path in tmp_path.glob("games.db*"):
            if path.is_file():
                path.unlink()
            elif folder == "lost":
                shutil.rmtree(path)
        shutil.copy(backup, where)
    assert len({each[:5] for each in ids}) == (2 if folder == "kept" else 1)
    for number in range(1, len(ids) + 1):
        assert ran("import", str(tmp_path / f"{number}.jsonl"), "--db", where)[0] == 0
    assert {each.game for each in games_in(where)} == {*ids}
    assert len({*ids}) == 2
