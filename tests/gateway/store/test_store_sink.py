"""What the database's complaints mean, and that old evidence goes."""

import time

import pytest
from game_records import game
from sqlalchemy import func, select
from store_world import enclosure

from gateway.store.database import Database, open_to_write
from gateway.store.errors import StoreError
from gateway.store.records import Submission
from gateway.store.schema import exchanges
from gateway.store.sink import DAY, DatabaseSink


def evidence_kept(database: Database) -> int:
    with database.reading() as connection:
        return connection.execute(select(func.count()).select_from(exchanges)).scalar_one()


@pytest.mark.parametrize("fault", [{"series": 2**70}, {"round": 2**70}, {"moves": None}, {"began": "now"}])
def test_game_that_no_database_takes_is_not_the_database_s_fault(
    database: Database, fault: dict[str, object]
) -> None:
    sink = DatabaseSink(database)
    if fault == {"began": "now"} and database.engine.dialect.name == "sqlite":
        pytest.skip("SQLite takes anything")
    with pytest.raises(Exception) as raised:
        sink.write([Submission(1, game(**fault))])
    assert not isinstance(raised.value, StoreError)
    sink.write([Submission(2, game())])


def test_database_that_is_locked_is_a_store_error_in_one_line(where: str) -> None:
    database, other = open_to_write(where), open_to_write(where)
    sink = DatabaseSink(database, keep_wire=1)
    with other.writing():
        for attempt in (lambda: sink.write([Submission(1, game())]), sink.tidy):
            with pytest.raises(StoreError, match="lock") as raised:
                attempt()
            assert "\n" not in str(raised.value)
    other.close()
    database.close()


def test_evidence_is_kept_for_the_days_that_were_asked_for(database: Database) -> None:
    now = round(time.time() * 1000)
    ages = [9 * DAY, 3 * DAY, 1 * DAY]
    games = [Submission(n, game(ended=now - age)) for n, age in enumerate(ages)]
    DatabaseSink(database).write([*games, *(enclosure(n, side) for n in range(3) for side in (0, 1))])
    assert DatabaseSink(database).tidy() is False
    assert evidence_kept(database) == 6
    sink = DatabaseSink(database, keep_wire=2)
    assert sink.tidy() is True
    assert evidence_kept(database) == 2
    assert sink.tidy() is False


def test_evidence_that_none_is_to_be_kept_of_goes_whatever_its_age(database: Database) -> None:
    sink = DatabaseSink(database, keep_wire=0)
    sink.write([Submission(1, game(ended=round(time.time() * 1000) - 1)), enclosure(1)])
    assert sink.tidy() is True
    assert evidence_kept(database) == 0


def test_evidence_is_stored_in_the_transaction_of_its_game_wherever_it_stands(database: Database) -> None:
    sink = DatabaseSink(database)
    batch = [enclosure(2, 1), Submission(1, game()), enclosure(1), Submission(2, game())]
    sink.write(batch)
    sink.write(batch)
    assert evidence_kept(database) == 2


def test_evidence_comes_after_its_game_in_a_batch_of_its_own(database: Database) -> None:
    sink = DatabaseSink(database)
    sink.write([Submission(1, game())])
    sink.write([enclosure(1)])
    assert evidence_kept(database) == 1


def test_each_sink_is_a_run_of_its_own(database: Database) -> None:
    for _ in range(2):
        DatabaseSink(database).write([Submission(1, game())])
    with database.reading() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM games").scalar_one() == 2
