"""Databases to test with: SQLite always, PostgreSQL where C4TEST_POSTGRES has the URL of one."""

import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from empty_database import open_empty
from sqlalchemy import create_engine, make_url, text
from store_world import KINDS, POSTGRES

import gateway.store.database
from gateway.store.database import Database, open_to_write

LIMITS = "-cstatement_timeout=5000 -clock_timeout=500"
_numbers = count()


@pytest.fixture(params=KINDS)
def where(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Where there is room for a database, and none yet."""
    if request.param == "sqlite":
        yield str(tmp_path / "games.db")
        return
    assert POSTGRES is not None
    schema = f"test_{os.getpid()}_{next(_numbers)}"
    url = make_url(POSTGRES)
    engine = create_engine(url.set(drivername="postgresql+psycopg"))
    with engine.begin() as connection:
        connection.execute(text(f"CREATE SCHEMA {schema}"))
    limited = url.update_query_dict({"options": f"-csearch_path={schema} {LIMITS}"})
    yield limited.render_as_string(hide_password=False)
    with engine.begin() as connection:
        connection.execute(text(f"DROP SCHEMA {schema} CASCADE"))
    engine.dispose()


@pytest.fixture
def database(where: str) -> Iterator[Database]:
    """An open, empty database."""
    opened = open_to_write(where) if "://" in where else open_empty(Path(where))
    yield opened
    opened.close()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what is opened from now on wait for nobody's lock on a file."""
    monkeypatch.setattr(gateway.store.database, "PATIENCE", 0.0)
