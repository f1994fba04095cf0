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


def ids_kept(database: Database) -> list[str]:
    with database.reading() as connection:
        return [each.game for each in page(connection, Filter(), Page(newest_first=False))]


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
    if fault == {"began": "now"} and not database.is_shared:
        pytest.skip("SQLite takes anything")
    games = [game(game="2"), game(**fault), game(game="3")]
    written = Worker(database).write(rows(games), [enclosure(3), Enclosure("2", 0, b"")])
    assert [each.number for each in written.games] == [1]
    assert ids_kept(database) == ["2", "3"]
    assert (evidence_kept(database), len(written.evidence)) == (1, 1)  # the other one cannot be packed


@pytest.mark.parametrize("kind", [OSError, MemoryError, StoreError])
def test_batch_with_a_game_at_fault_is_tried_again_whole_where_the_database_fails_meanwhile(
    database: Database, kind: type[Exception]
) -> None:
    worker = Worker(database)
    batch = rows([game(game="1"), game(game="2", series=2**70), game(game="3")])
    tried = count(1)

    def fail(connection: Connection, name: str) -> None:
        if next(tried) == 5:  # the third game, after all, the first, both others, and the second
            raise kind("it is away")

    event.listen(database.engine, "savepoint", fail)
    assert answer_to(("write", batch, [enclosure(3)], []), worker) == ("failed", "it is away")
    event.remove(database.engine, "savepoint", fail)
    assert ids_kept(database) == []
    assert [each.number for each in worker.write(batch, [enclosure(3)]).games] == [1]
    assert (ids_kept(database), evidence_kept(database)) == (["1", "3"], 1)
    with database.reading() as connection:
        assert storing.totals_kept(connection) == recounted(connection)


def test_evidence_is_kept_for_the_days_that_were_asked_for(database: Database) -> None:
    now = round(time.time() * 1000)
    games = [game(ended=now - age, game=str(n)) for n, age in enumerate([9 * DAY, 3 * DAY, DAY, 1])]
    Worker(database).write(rows(games), [enclosure(n, side) for n in range(4) for side in (0, 1)])
    for keep_wire, was_too_old, kept in ((None, False, 8), (2, True, 4), (2, False, 4), (0, True, 0)):
        assert Worker(database, keep_wire).tidy() is was_too_old
        assert evidence_kept(database) == kept


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


def test_another_game_with_the_same_id_is_the_games_own_fault(database: Database) -> None:
    worker = Worker(database)
    for _ in range(2):
        assert worker.write(rows([game()])).games == ()
    assert worker.write(rows([game("carol")])).games == [(0, "another game has the id 1")]


@pytest.mark.parametrize(
    ("error", "answer"),
    [
        (KeyError("games"), ("mistaken", "KeyError('games')")),
        (StopIteration(), ("mistaken", "StopIteration()")),
        (MemoryError(), ("failed", "MemoryError()")),
    ],
)
def test_what_went_wrong_is_said_in_words_whatever_it_was(
    database: Database, error: Exception, answer: tuple[str, str]
) -> None:
    class Broken(Worker):
        def tidy(self) -> bool:
            raise error

    assert answer_to(("tidy",), Broken(database)) == answer


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
