"""What the database's complaints mean, and that old evidence goes."""

import time
from collections.abc import Iterator
from itertools import count

import pytest
from game_records import game, rows
from sqlalchemy import Connection, event, func, select
from store_world import enclosure, recounted

from gateway.store import StoreError, storing
from gateway.store.database import Database, open_to_write
from gateway.store.games import Filter, Page, page
from gateway.store.records import Enclosure
from gateway.store.schema import exchanges
from gateway.store.worker import DAY, Worker, answer_to


def evidence_kept(database: Database) -> int:
    with database.reading() as connection:
        return connection.execute(select(func.count()).select_from(exchanges)).scalar_one()


@pytest.mark.parametrize(
    "fault",
    [
        {"series": 2**70},
        {"round": 2**70},
        {"moves": None},
        {"moves": None, "counted": False},
        {"began": "now"},
    ],
)
def test_game_that_no_database_takes_keeps_no_other_and_is_named(
    database: Database, fault: dict[str, object]
) -> None:
    worker = Worker(database)
    if fault == {"began": "now"} and database.engine.dialect.name == "sqlite":
        pytest.skip("SQLite takes anything")
    written = worker.write(rows([game(game="2"), game(**fault), game(game="3")]), [enclosure(3)])
    assert [each.number for each in written.games] == [1]
    with database.reading() as connection:
        assert [each.game for each in page(connection, Filter(), Page())] == ["3", "2"]
    assert evidence_kept(database) == 1


@pytest.mark.parametrize("kind", [OSError, MemoryError, StoreError])
def test_batch_with_a_game_at_fault_is_tried_again_whole_where_the_database_fails_meanwhile(
    database: Database, kind: type[Exception]
) -> None:
    worker = Worker(database)
    batch = rows([game(game="1"), game(game="2", series=2**70), game(game="3")])
    question = ("write", batch, [enclosure(3)])

    tried = count(1)

    def fail(connection: Connection, name: str) -> None:
        if next(tried) == 5:  # the third game, after all, the first, both others, and the second
            raise kind("it is away")

    event.listen(database.engine, "savepoint", fail)
    assert answer_to(question, worker) == ("failed", "it is away")
    event.remove(database.engine, "savepoint", fail)
    with database.reading() as connection:
        assert page(connection, Filter(), Page()) == []
    written = worker.write(batch, [enclosure(3)])
    assert [each.number for each in written.games] == [1]
    with database.reading() as connection:
        assert [each.game for each in page(connection, Filter(), Page())] == ["3", "1"]
        assert storing.totals_kept(connection) == recounted(connection)
    assert evidence_kept(database) == 1


@pytest.mark.usefixtures("impatient")
def test_database_that_is_locked_is_a_store_error_in_one_line(where: str) -> None:
    database, other = open_to_write(where), open_to_write(where)
    worker = Worker(database, keep_wire=1)
    with other.writing():
        for attempt in (lambda: worker.write(rows([game()])), worker.tidy):
            with pytest.raises(StoreError, match="lock") as raised:
                attempt()
            assert "\n" not in str(raised.value)
    other.close()
    database.close()


def test_evidence_is_kept_for_the_days_that_were_asked_for(database: Database) -> None:
    now = round(time.time() * 1000)
    ages = [9 * DAY, 3 * DAY, 1 * DAY]
    games = [game(ended=now - age, game=str(n)) for n, age in enumerate(ages)]
    Worker(database).write(rows(games), [enclosure(n, side) for n in range(3) for side in (0, 1)])
    assert Worker(database).tidy() is False
    assert evidence_kept(database) == 6
    worker = Worker(database, keep_wire=2)
    assert worker.tidy() is True
    assert evidence_kept(database) == 2
    assert worker.tidy() is False


def test_evidence_that_none_is_to_be_kept_of_goes_whatever_its_age(database: Database) -> None:
    worker = Worker(database, keep_wire=0)
    worker.write(rows([game(ended=round(time.time() * 1000) - 1)]), [enclosure(1)])
    assert worker.tidy() is True
    assert evidence_kept(database) == 0


@pytest.mark.usefixtures("impatient")
def test_evidence_is_packed_while_no_other_writer_waits_for_that(where: str) -> None:
    database, other = open_to_write(where), open_to_write(where)

    def evidence() -> Iterator[Enclosure]:
        for side in (0, 1):
            yield enclosure(1, side)
            with other.writing():  # which a transaction of the worker's would exclude
                pass

    Worker(database).write(rows([game()]), evidence())
    assert evidence_kept(database) == 2
    other.close()
    database.close()


def test_evidence_is_not_refused_for_want_of_memory_to_pack_it(database: Database) -> None:
    class Large:
        game, side = "1", 0

        @property
        def exchange(self) -> bytes:
            raise MemoryError

    with pytest.raises(MemoryError):
        Worker(database).write(rows([game()]), [Large()])


def test_evidence_that_cannot_be_packed_keeps_no_other_and_is_named(database: Database) -> None:
    written = Worker(database).write(rows([game()]), [Enclosure("1", 0, b""), enclosure(1, 1)])
    assert (len(written.evidence), evidence_kept(database)) == (1, 1)


def test_evidence_is_stored_in_the_transaction_of_its_game(database: Database) -> None:
    worker = Worker(database)
    for _ in range(2):
        worker.write(rows([game(), game(game="2")]), [enclosure(2, 1), enclosure(1)])
    assert evidence_kept(database) == 2


def test_evidence_comes_after_its_game_in_a_batch_of_its_own(database: Database) -> None:
    worker = Worker(database)
    worker.write(rows([game()]))
    worker.write([], [enclosure(1)])
    assert evidence_kept(database) == 1


def test_another_game_with_the_same_id_is_the_games_own_fault(database: Database) -> None:
    worker = Worker(database)
    worker.write(rows([game()]))
    worker.write(rows([game()]))
    [refused] = worker.write(rows([game("carol")])).games
    assert refused == (0, "another game has the id 1")


def test_what_went_wrong_is_said_in_words_whatever_it_was(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = Worker(database)
    monkeypatch.setattr(worker, "clear", lambda: {}["games"])
    assert answer_to(("clear",), worker) == ("mistaken", "KeyError('games')")
    monkeypatch.setattr(worker, "tidy", lambda: next(iter(())))
    assert answer_to(("tidy",), worker) == ("mistaken", "StopIteration()")
    monkeypatch.setattr(worker, "tidy", lambda: (_ for _ in ()).throw(MemoryError))
    assert answer_to(("tidy",), worker) == ("failed", "MemoryError()")


def test_clearing_takes_as_long_as_it_takes(database: Database) -> None:
    if not database.is_shared:
        pytest.skip("SQLite has no limit for a statement")
    worker = Worker(database)
    worker.write(rows([game()]))
    with database.engine.begin() as connection:
        sleep = "BEGIN PERFORM pg_sleep(0.1); RETURN NULL; END"
        connection.exec_driver_sql(f"CREATE FUNCTION slow() RETURNS trigger AS '{sleep}' LANGUAGE plpgsql")
        connection.exec_driver_sql("CREATE TRIGGER slow AFTER DELETE ON games EXECUTE FUNCTION slow()")
    event.listen(
        database.engine, "begin", lambda begun: begun.exec_driver_sql("SET LOCAL statement_timeout = 50")
    )
    assert worker.clear().games == 1
