"""Commands of a user who may read a database and not write to it, while a server runs and while none does."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from forking import ROOT
from game_records import game, rows
from sqlalchemy import create_engine, make_url, text
from store_world import POSTGRES

from gateway.commands.reports import main
from gateway.store import StoreError
from gateway.store.database import Database, open_to_write
from gateway.store.sqlite import require_still
from gateway.store.worker import Worker

COMMANDS = [["standings"], ["standings", "--cross"], ["games"], ["show", "--last"], ["export"]]
NOBODY = 65534
PROGRAM = f"""
import json, os, sys
import sqlalchemy.dialects.sqlite
from gateway.commands import reports
if os.getuid() == 0:
    os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY})
sys.exit(max([reports.main(words) for words in json.loads(sys.argv[1])]))
"""
"""Run commands as a user who may not write, although this user may do everything."""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that everybody can enter, and that nobody may write to once it is `closed`."""
    with TemporaryDirectory() as made:
        Path(made).chmod(0o755)
        yield Path(made)
        Path(made).chmod(0o755)


def closed(folder: Path) -> None:
    for path in folder.iterdir():
        path.chmod(0o444)
    folder.chmod(0o555)


def kept(path: Path) -> Database:
    """Return an open database with a game, which is in the log beside the file."""
    database = open_to_write(str(path))
    Worker(database).write(rows([game()]))
    return database


def said(path: Path, *commands: list[str]) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps([[*command, "--db", str(path)] for command in commands])],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("runs", [True, False])
def test_who_may_only_read_can_run_every_command_that_reads(folder: Path, runs: bool) -> None:
    path = folder / "games.db"
    database = kept(path)
    if not runs:
        database.close()
    before = sorted(folder.iterdir())
    closed(folder)
    status, out, err = said(path, *COMMANDS)
    assert (status, err) == (0, "")
    assert out.count("alice") >= len(COMMANDS)
    assert sorted(folder.iterdir()) == before
    database.close()


def left(folder: Path, *suffixes: str) -> Path:
    """Return a database as a machine leaves it that loses its power, with these of the files beside it."""
    with TemporaryDirectory() as other:
        database = kept(Path(other, "games.db"))
        for suffix in ("", *suffixes):
            shutil.copy(Path(other, f"games.db{suffix}"), folder)
        database.close()
    closed(folder)
    return folder / "games.db"


def test_what_only_the_log_has_is_read_too(folder: Path) -> None:
    status, out, _ = said(left(folder, "-wal", "-shm"), ["standings"])
    assert status == 0
    assert "alice" in out


def test_log_that_cannot_be_read_is_one_line_that_says_what_to_do(folder: Path) -> None:
    status, out, err = said(left(folder, "-wal"), ["standings"])
    assert (status, out) == (1, "")
    assert "was not closed, and this user cannot read its write-ahead log; start the server" in err
    assert err.count("\n") == 1


def test_database_that_is_read_as_if_nobody_wrote_is_refused_once_somebody_does(folder: Path) -> None:
    path = folder / "games.db"
    kept(path).close()
    require_still(path)
    writing = kept(path)
    with pytest.raises(StoreError, match="a server writes to"):
        require_still(path)
    writing.close()


@pytest.mark.skipif(POSTGRES is None, reason="needs C4TEST_POSTGRES")
def test_role_that_may_only_select_can_run_every_command_that_reads(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert POSTGRES is not None
    url = make_url(POSTGRES)
    schema = role = f"reader_{os.getpid()}"
    engine = create_engine(url.set(drivername="postgresql+psycopg"))
    options = {"options": f"-csearch_path={schema}"}
    with engine.begin() as connection:
        connection.execute(text(f"CREATE SCHEMA {schema}"))
        connection.execute(text(f"CREATE ROLE {role} LOGIN"))
    try:
        kept_here = open_to_write(url.update_query_dict(options).render_as_string(hide_password=False))
        Worker(kept_here).write(rows([game()]))
        kept_here.close()
        with engine.begin() as connection:
            connection.execute(text(f"GRANT USAGE ON SCHEMA {schema} TO {role}"))
            connection.execute(text(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role}"))
        reader = url.set(username=role).update_query_dict(options)
        for command in COMMANDS:
            assert main([*command, "--db", reader.render_as_string(hide_password=False)]) == 0
            out, err = capsys.readouterr()
            assert ("alice" in out, err) == (True, "")
    finally:
        with engine.begin() as connection:
            connection.execute(text(f"DROP SCHEMA {schema} CASCADE"))
            connection.execute(text(f"DROP ROLE {role}"))
        engine.dispose()
