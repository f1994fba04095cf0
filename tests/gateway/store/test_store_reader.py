"""Reading for who is not of the store, on every kind of database."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from game_records import drawn, game
from store_world import keep

from gateway.store import NotKeptError, StoreError
from gateway.store import reader as reading
from gateway.store.database import Database, open_to_write
from gateway.store.games import Filter, NoGameError, Page
from gateway.store.reader import Reader
from gateway.store.statistics import Meeting


@pytest.fixture
def reader(database: Database) -> Reader:
    keep(database, [game(), drawn("bob", "alice"), game("carol", "alice"), game("carol", "alice")])
    return Reader(database)


def test_games_come_by_page_by_id_and_all(reader: Reader) -> None:
    assert [each.game for each in reader.page(Filter(player="bob"), Page())] == ["2", "1"]
    assert [each.game for each in reader.every(Filter())] == ["1", "2", "3", "4"]
    assert reader.game("2") == (drawn("bob", "alice", game="2"), (None, None))
    with pytest.raises(NoGameError):
        reader.game("5")


def test_players_come_by_name_from_behind_a_name_on(reader: Reader) -> None:
    assert [each.name for each in reader.players(None, 2)] == ["alice", "bob"]
    assert [each.name for each in reader.players("bob", 2)] == ["carol"]
    assert reader.players("carol", 2) == []


def test_those_whose_games_do_not_count_are_players_too(database: Database) -> None:
    keep(database, [game("TEST-1", "bob", counted=False)])
    reader = Reader(database)
    totals = {each.name: each.record.total.games for each in reader.players(None, 5)}
    assert totals == {"TEST-1": 0, "bob": 0}
    assert reader.standings(5)[0] == []


def test_standings_and_profiles_are_those_of_the_statistics(reader: Reader) -> None:
    found, firsts = reader.standings(2)
    assert (found[0].rank, found[0].standing.name) == (1, "carol")
    assert len(found) == 2
    assert (firsts.games, firsts.won, firsts.drawn) == (4, 3, 1)
    profile = reader.profile("carol")
    assert profile is not None
    assert profile.standing == found[0].standing
    assert reader.profile("dave") is None


@pytest.mark.parametrize("at_once", [1, 2, 100])
def test_meetings_are_by_name_in_both_orders(
    reader: Reader, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "PLAYERS", at_once)
    assert [*reader.meetings()] == [
        Meeting("alice", "bob", 1),
        Meeting("alice", "carol", 0),
        Meeting("bob", "alice", 1),
        Meeting("carol", "alice", 2),
    ]


def test_probe_changes_nothing(reader: Reader) -> None:
    reader.probe()
    assert [each.game for each in reader.every(Filter())] == ["1", "2", "3", "4"]


@pytest.fixture
def broken(tmp_path: Path) -> Iterator[Reader]:
    """A reader whose database has become something else."""
    path = tmp_path / "games.db"
    database = open_to_write(str(path))
    keep(database, [game()])
    database.reconnect()
    with path.open("r+b") as file:
        file.write(b"no database " * 1_000)
    yield Reader(database)
    database.close()


def test_whatever_the_database_complains_of_is_one_error_of_one_line(broken: Reader) -> None:
    for ask in (
        lambda: broken.page(Filter(), Page()),
        lambda: next(broken.every(Filter())),
        lambda: broken.game("1"),
        lambda: broken.standings(1),
        lambda: broken.players(None, 1),
        lambda: broken.profile("alice"),
        lambda: next(broken.meetings()),
        broken.probe,
    ):
        with pytest.raises(StoreError) as error:
            ask()
        assert len(str(error.value).splitlines()) == 1


def test_without_a_database_all_of_it_says_how_results_would_be_kept() -> None:
    nothing = Reader(None)
    for ask in (nothing.probe, lambda: nothing.standings(1), lambda: next(nothing.every(Filter()))):
        with pytest.raises(NotKeptError, match="start the server with --db FILE"):
            ask()


@pytest.mark.usefixtures("impatient")
def test_probe_finds_a_database_that_somebody_else_has_locked(reader: Reader) -> None:
    assert reader.database is not None
    with reader.database.writing(), pytest.raises(StoreError):
        Reader(reader.database).probe()
