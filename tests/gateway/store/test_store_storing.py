"""Games are stored once and whole, and the totals say what the games say."""

from dataclasses import replace

import pytest
from game_records import drawn, game, numbered, packed, rows
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError
from store_world import NAMES, enclosure, keep, records, recounted
from trials import FEW

from gateway.game.board import FIRST
from gateway.game.events import Objection, Reason, Spoken
from gateway.store import StoreError, storing
from gateway.store.database import Database
from gateway.store.evidence import Line
from gateway.store.games import Filter, Page, evidence_of, page
from gateway.store.records import Cleared, Enclosure, GameRecord
from gateway.store.schema import exchanges, games, players, tallies
from gateway.store.storing import OtherGameError
from gateway.store.totals import Totals

SAID: Spoken = (0.003, "in", "playmove 3", None)
again = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=FEW)


def count(database: Database, table=games) -> int:
    with database.reading() as connection:
        return connection.execute(select(func.count()).select_from(table)).scalar_one()


def both_totals(database: Database) -> tuple[Totals, Totals]:
    with database.reading() as connection:
        return storing.totals_kept(connection), recounted(connection)


def empty(database: Database) -> None:
    with database.writing() as connection:
        storing.clear(connection)


@pytest.mark.parametrize("where_it_is", ["stored", "in the batch"])
def test_another_game_with_the_same_id_is_an_error_and_nothing_is_stored(
    database: Database, where_it_is: str
) -> None:
    first = [game()] if where_it_is == "stored" else []
    keep(database, first)
    with pytest.raises(OtherGameError, match="another game has the id 1") as refused, database.writing() as c:
        storing.store(c, rows([game("carol", game="2"), game(), game(winner=1, reason=Reason.TIME)]))
    assert refused.value.game == "1"
    assert count(database) == len(first)


def test_of_what_is_stored_already_only_the_rest_is_new(database: Database) -> None:
    one, two, three = games_of_three = numbered([game(), drawn(), game("carol")])
    with database.writing() as connection:
        for some, number in (([one, two], 2), ([two, three, three], 3), (games_of_three, 3), ([], 3)):
            assert storing.store(connection, rows(some)) == []
            assert page(connection, Filter(), Page()) == games_of_three[:number][::-1]


@pytest.mark.parametrize("at_once", [False, True])
def test_of_a_game_that_two_servers_end_otherwise_the_first_end_counts(
    database: Database, at_once: bool
) -> None:
    [first] = numbered([game()])
    second = replace(first, winner=None, reason=Reason.STOPPED, counted=False, remote=FIRST)
    with database.writing() as connection:
        if not at_once:
            assert storing.store(connection, rows([first])) == []
            assert storing.store(connection, rows([replace(first, remote=FIRST)])) == []  # it is alike
        [otherwise] = storing.store(connection, rows([first, second] if at_once else [second]))
        assert page(connection, Filter(), Page()) == [first]
    assert GameRecord.of_row(otherwise) == first
    assert otherwise.remote == FIRST


def test_game_that_cannot_be_stored_takes_its_batch_with_it(database: Database) -> None:
    keep(database, [game()])
    with pytest.raises((StoreError, OverflowError)):
        keep(database, [game("carol"), game(series=2**70)], 2)
    assert count(database) == 1
    assert count(database, players) == 2


def test_names_are_players_exactly_as_they_are_spelled(database: Database) -> None:
    names = ["alice", "Alice", "alice ", "al\0ice", "al\N{SYMBOL FOR NULL}ice", "é", "e\u0301", "ALICE"]
    keep(database, [game(name, "bob") for name in names])
    with database.reading() as connection:
        found = set(connection.scalars(select(players.c.name)))
    assert found == {*names, "bob"}


def test_player_is_what_it_was_in_its_last_game(database: Database) -> None:
    keep(database, [game("alice", "bob")])
    keep(database, [game("bob", "alice")], 2)
    with database.reading() as connection:
        kinds = dict(connection.execute(select(players.c.name, players.c.kind)).all())
    assert kinds == {"bob": "nac4", "alice": "arena"}


def test_games_that_do_not_count_are_stored_and_nothing_else(database: Database) -> None:
    keep(database, [game(counted=False)])
    assert count(database) == 1
    assert count(database, tallies) == 0
    kept, counted = both_totals(database)
    assert kept == counted == Totals()


@again
@given(batches=st.lists(st.lists(records(NAMES | st.sampled_from("ab")), max_size=5), max_size=5))
def test_running_totals_equal_those_of_the_games_alone_to_the_last_bit(
    database: Database, batches: list[list[GameRecord]]
) -> None:
    empty(database)
    start = 1
    for batch in batches:
        keep(database, batch, start)
        start += len(batch)
    kept, counted = both_totals(database)
    assert kept == counted


def test_recount_reads_more_than_a_page(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storing, "PAGE", 3)
    keep(
        database,
        [game(), drawn(), game("bob", "alice", winner=1, reason=Reason.TIME), drawn(), game(), drawn()],
    )
    keep(database, [game("carol", "alice")], 7)
    kept, counted = both_totals(database)
    assert kept == counted


# Evidence.


def enclose(database: Database, *enclosures: Enclosure) -> None:
    with database.writing() as connection:
        storing.enclose(connection, packed(enclosures))


def evidence(database: Database, number: int) -> list[list[str] | None]:
    """Return the texts that are kept of either side."""
    with database.reading() as connection:
        both = evidence_of(connection, str(number))
    return [None if side is None else [line.text for line in side] for side in both]


def test_evidence_is_kept_of_either_side_of_its_game_once_and_of_no_other(database: Database) -> None:
    keep(database, [game(), game("carol"), game("dave")])
    again = enclosure(2, 1, (0.0, "in", "another", None))
    for _ in range(2):
        enclose(database, enclosure(2, 1, SAID), again, enclosure(3, 0, SAID, SAID), enclosure(4, 0, SAID))
    assert [evidence(database, number) for number in (1, 2, 3)] == [
        [None, None],
        [None, ["playmove 3"]],
        [["playmove 3", "playmove 3"], None],
    ]
    assert count(database, exchanges) == 2
    with database.reading() as connection:
        assert evidence_of(connection, "2")[1] == (Line(3, "in", "playmove 3"),)


def test_parts_of_evidence_are_joined_in_the_order_of_time(database: Database) -> None:
    """A part may come again, since an error left it open whether it was stored."""
    keep(database, [game()])
    first = enclosure(
        1, 0, (0.0, "out", "newgame", None), (1.0, "in", "playmove 3", 41.5), (2.0, "note", "", "vanished")
    )
    second = enclosure(1, 0, (1.5, "out", "genmove", 40.5), (3.0, "in", "playmove 4", Objection.COLUMN_FULL))
    for part in (second, first, second, enclosure(2, 0, SAID)):
        with database.writing() as connection:
            storing.join_parts(connection, packed([part]))
    with database.reading() as connection:
        lines = evidence_of(connection, "1")[0]
    assert lines == (
        Line(0, "out", "newgame"),
        Line(1000, "in", "playmove 3", "41.500 s left"),
        Line(1500, "out", "genmove", "40.500 s left"),
        Line(2000, "note", "", "vanished"),
        Line(3000, "in", "playmove 4", "refused: column is full"),
    )
    assert count(database, exchanges) == 1


def with_evidence(database: Database, endings: list[int]) -> None:
    keep(database, [game(ended=ended) for ended in endings])
    numbers = range(1, len(endings) + 1)
    enclose(database, *(enclosure(number, side, SAID) for number in numbers for side in (0, 1)))


def prune(database: Database, before: int, most: int = 1000) -> int:
    with database.writing() as connection:
        return storing.prune(connection, before, most)


def test_evidence_goes_with_age_in_small_pieces_and_games_stay(database: Database) -> None:
    with_evidence(database, [100, 200, 300, 400])
    assert [prune(database, 400, most=2) for _ in range(3)] == [2, 1, 0]
    assert [evidence(database, number) == [None, None] for number in (1, 2, 3, 4)] == [True] * 3 + [False]
    assert count(database) == 4


def test_clear_removes_all_and_says_so(database: Database) -> None:
    with_evidence(database, [100, 200])
    with database.writing() as connection:
        assert storing.clear(connection) == Cleared(games=2, players=2)
    assert [count(database, table) for table in (games, players, exchanges, tallies)] == [0] * 4
    keep(database, [game()])
    assert count(database) == 1


def test_database_itself_refuses_a_second_game_of_the_same_id(database: Database) -> None:
    keep(database, [game()])
    with database.writing() as connection:
        row = dict(connection.execute(select(games)).mappings().one())
        with pytest.raises(IntegrityError):
            connection.execute(games.insert(), [row | {"id": 2}])
        connection.rollback()
