"""One lobby over three nodes: servers, sockets, Redis and PostgreSQL as an operator would have them."""

import os
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
import trio

from conformance.lab.servers import redis_program
from conformance.lab.survive.lobby import meetings

POSTGRES = os.environ.get("C4TEST_POSTGRES")
"""The URL of a database to test with, if there is one."""
GAMES = 12
"""That everybody plays at least, three times."""

pytestmark = [
    pytest.mark.operation,
    pytest.mark.skipif(redis_program() is None, reason="no Redis server here"),
    pytest.mark.skipif(POSTGRES is None, reason="no PostgreSQL here"),
]


@pytest.fixture
def database() -> Iterator[str]:
    """The URL of an empty database."""
    psycopg = pytest.importorskip("psycopg", reason="needs the driver for PostgreSQL")
    assert POSTGRES is not None
    name = f"lobby_{os.getpid()}"
    with psycopg.connect(POSTGRES, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        yield urlsplit(POSTGRES)._replace(path=f"/{name}").geturl()
        connection.execute(f"DROP DATABASE {name}")


def test_players_of_all_dialects_and_nodes_meet_and_agree_with_the_database(database: str) -> None:
    found = trio.run(meetings, database, GAMES)
    assert found.differences == []
    assert [pair for pair, games in found.by_dialect().items() if not games] == []
    assert found.unmet_nodes() == 0
