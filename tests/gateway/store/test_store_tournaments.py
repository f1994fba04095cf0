"""Tournaments in the database: their settings and logs, and the places of their games."""

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest
from game_records import BEGAN, drawn, game, numbered, rows
from sqlalchemy import func, select
from store_world import keep

from gateway.commands import stored_games as commands
from gateway.game.board import FIRST, SECOND
from gateway.game.events import Reason
from gateway.store import StoreError, storing, tournaments
from gateway.store.corrections import rename, void
from gateway.store.database import Database, open_again
from gateway.store.formats import jsonl
from gateway.store.games import Filter
from gateway.store.journal import Journal
from gateway.store.records import GameRecord, TournamentGame
from gateway.store.schema import games, tournament_entries, tournament_games
from gateway.store.schema import tournaments as tournament_table
from gateway.store.totals import Rating
from gateway.store.worker import Worker
from gateway.tournament.log import COMPLETE, Known, TournamentNews, TournamentResult

STOPPED = {"moves": "01", "winner": None, "reason": Reason.STOPPED, "counted": False}


def created(database: Database, *keys: str) -> None:
    with database.writing() as connection:
        for key in keys:
            tournaments.create(connection, key, f"the file of {key}")


def appended(
    database: Database,
    known: int,
    *entries: str,
    key: str = "cup",
    row: int = 0,
    pairings: Sequence[int] = (),
) -> bool:
    with database.writing() as connection:
        return tournaments.append(connection, key, Known(known, row), entries, pairings)


def news(
    database: Database, known: dict[str, Known] | None = None, only: str | None = None
) -> list[TournamentNews]:
    with database.reading() as connection:
        return tournaments.news(connection, known or {}, only)


def log(database: Database, key: str = "cup") -> list[str]:
    [found] = news(database, only=key)
    return [each.entry for each in found.entries]


def results(database: Database, key: str = "cup") -> list[TournamentResult]:
    [found] = news(database, only=key)
    return [*found.games]


def places(database: Database, key: str = "cup") -> dict[str, tuple[object, ...]]:
    """Return the place of each game of a tournament, by the id of the game."""
    found = results(database, key)
    return {each.game: (each.pairing, each.number, each.culprit, each.fault) for each in found}


def placed(pairing: int, number: int, *fault: object, **about: object) -> GameRecord:
    """Return a game of a tournament."""
    usual: dict[str, object] = {"table": "Cup", "scheduled": TournamentGame(pairing, number, *fault)}  # type: ignore[arg-type]
    return game(**(usual | about))


def count(database: Database, *tables) -> list[int]:
    with database.reading() as connection:
        return [connection.execute(select(func.count()).select_from(each)).scalar_one() for each in tables]


# Settings and logs.


def test_tournament_is_read_as_it_was_written(database: Database) -> None:
    before = round(1000 * time.time())
    settings = '# na\u00efve \U0001f642\r\nname = "\u5c0f"\n\0\N{SYMBOL FOR NULL}'
    with database.writing() as connection:
        tournaments.create(connection, "\u5c0f", settings)
    created(database, "cup")
    assert appended(database, 0, '{"a": 1}', '{"b": "\0"}')
    assert appended(database, 2, "{}")
    one, other = news(database)  # in the order of creation
    assert (one.key, one.settings, one.entries, one.games) == ("\u5c0f", settings, [], [])
    assert (other.key, other.settings) == ("cup", "the file of cup")
    assert [each.entry for each in other.entries] == ['{"a": 1}', '{"b": "\0"}', "{}"]
    after = round(1000 * time.time())
    assert all(before <= each.made <= after for each in other.entries)
    assert before <= one.created <= other.created <= after


def test_tournament_that_exists_is_an_error_and_stays(database: Database) -> None:
    created(database, "cup")
    appended(database, 0, "1")
    with pytest.raises(StoreError, match="there is a tournament 'cup' already; give this one another name"):
        created(database, "cap", "cup")
    assert [(each.key, len(each.entries)) for each in news(database)] == [("cup", 1)]


@pytest.mark.parametrize("known", [0, 1, 3, -1])
def test_entries_are_only_added_after_all_that_there_are(database: Database, known: int) -> None:
    created(database, "cup", "other")
    appended(database, 0, "1", "2")
    assert not appended(database, known, "3", "4")
    assert log(database) == ["1", "2"]
    assert appended(database, 2, "3", "4")
    assert (log(database), log(database, "other")) == (["1", "2", "3", "4"], [])


@pytest.mark.parametrize(
    ("row", "pairings", "is_added"),
    [
        (0, [], True),
        (0, [0], False),
        (0, [7], True),  # of which there are no games
        (3, [0], False),  # game 4
        (4, [0, 1], True),
        (4, [0, 1, 2], False),
        (5, [0, 1, 2], True),
    ],
)
def test_pairings_are_forfeited_only_by_a_writer_that_knows_all_their_games(
    database: Database, row: int, pairings: list[int], is_added: bool
) -> None:
    created(database, "cup", "other")
    keep(database, [placed(0, 0), placed(1, 0), game(), placed(0, 1), placed(2, 0)])
    keep(database, [placed(1, 0, table="other"), placed(0, 0, table="other")], start=6)
    assert appended(database, 0, "1", row=row, pairings=pairings) is is_added
    assert log(database) == ["1"] * is_added


def test_of_two_programs_that_add_entries_at_the_same_time_one_reads_the_log_again(
    database: Database,
) -> None:
    created(database, "cup")

    def add(name: str) -> None:
        other = open_again(database.place)
        for number in range(10):
            while not appended(other, len(log(other)), f"{name}{number}"):
                pass
        other.close()

    programs = [Thread(target=add, args=name) for name in "ab"]
    for each in programs:
        each.start()
    for each in programs:
        each.join()
    entries = log(database)
    assert len(entries) == 20
    for name in "ab":
        assert [each for each in entries if each[0] == name] == [f"{name}{number}" for number in range(10)]


@pytest.mark.parametrize(
    ("key", "error"),
    [
        ("cupp", "there is no tournament 'cupp'; did you mean 'cup'?"),
        ("Cup", "there is no tournament 'Cup'; did you mean 'cup'?"),
        ("\x1b[31m", r"there is no tournament '\x1b[31m'"),
    ],
)
def test_tournament_that_does_not_exist_is_an_error_with_the_one_that_was_meant(
    database: Database, key: str, error: str
) -> None:
    created(database, "cup")
    for ask in (lambda: appended(database, 0, "1", key=key), lambda: news(database, only=key)):
        with pytest.raises(tournaments.NoTournamentError) as raised:
            ask()
        assert str(raised.value) == error
    assert log(database) == []


@pytest.mark.parametrize(
    ("known", "entries", "numbers"),
    [
        (None, ["1", "2", "3"], [0, 1, 2]),
        (Known(), ["1", "2", "3"], [0, 1, 2]),
        (Known(2, 0), ["3"], [0, 1, 2]),
        (Known(0, 2), ["1", "2", "3"], [1, 2]),
        (Known(3, 4), [], []),
        (COMPLETE, [], []),
    ],
)
def test_news_are_what_was_added_after_the_known_part(
    database: Database, known: Known | None, entries: list[str], numbers: list[int]
) -> None:
    created(database, "other", "cup")
    appended(database, 0, "1", "2", "3")
    keep(database, [placed(0, 0), game(), placed(0, 1), placed(0, 2)])
    other, cup = news(database, {} if known is None else {"cup": known, "gone": Known(7, 7)})
    assert other[:-1] == ("other", "the file of other", [], [])
    assert cup.settings == ("the file of cup" if known is None else "")
    assert [each.entry for each in cup.entries] == entries
    assert [each.number for each in cup.games] == numbers
    assert news(database, {} if known is None else {"cup": known}, only="cup") == [cup]


def test_tournament_is_found_by_its_name_in_any_case_if_it_can_be_read(database: Database) -> None:
    with database.writing() as connection:
        tournaments.create(connection, "cup", 'name = "Cup"\nformat = "gauntlet"')
        tournaments.create(connection, "odd", "")
    with database.reading() as connection:
        assert tournaments.named(connection, "CUP").settings.format == "gauntlet"
        for name, why in (("Odd", "'Odd' cannot be read: the key name is missing"), ("cap", "there is no")):
            with pytest.raises(tournaments.NoTournamentError, match=why):
                tournaments.named(connection, name)


def test_settings_and_logs_are_read_without_the_games(database: Database) -> None:
    created(database, "cup", "other")
    appended(database, 0, "1")
    keep(database, [placed(0, 0)])
    with database.reading() as connection:
        found = tournaments.without_games(connection)
    assert found == [each._replace(games=[]) for each in news(database)]
    assert [len(each.entries) for each in found] == [1, 0]


# Games.


def test_game_of_a_tournament_is_news_with_its_place_and_its_fault(database: Database) -> None:
    created(database, "cup")
    lost = {"winner": SECOND, "reason": Reason.TIME, "moves": "0101"}
    keep(
        database,
        [
            placed(0, 0),
            placed(3, 1, FIRST, "stall", **lost),
            placed(1, 0, SECOND, "crash", game="3", **STOPPED),
        ],
    )
    names = {"first": "alice", "second": "bob"}
    common = {"ended": BEGAN + 1500, **names, "thought": (120, 340)}
    four = {"result": 1, "reason": "four", "culprit": None, "fault": None}
    time_out = {"result": 2, "reason": "time", "culprit": 0, "fault": "stall"}
    stopped = {"result": 0, "reason": "stopped", "culprit": 1, "fault": "crash"}
    assert results(database) == [
        TournamentResult(row=1, game="1", pairing=0, number=0, **common, **four),  # type: ignore[arg-type]
        TournamentResult(row=2, game="2", pairing=3, number=1, **common, **time_out),  # type: ignore[arg-type]
        TournamentResult(row=3, game="3", pairing=1, number=0, **common, **stopped),  # type: ignore[arg-type]
    ]


def test_game_belongs_to_the_tournament_of_its_table_in_any_case(database: Database) -> None:
    created(database, "strasse", "\N{SYMBOL FOR NULL}\0")
    tables = ["Stra\u00dfe", "STRASSE", "\N{SYMBOL FOR NULL}\0", "Cup", None]
    keep(database, [placed(0, number, table=table) for number, table in enumerate(tables)])
    keep(database, [game(table="strasse")], start=6)
    assert [*places(database, "strasse")] == ["1", "2"]
    assert [*places(database, "\N{SYMBOL FOR NULL}\0")] == ["3"]
    assert count(database, games, tournament_games) == [6, 3]


def test_game_belongs_to_the_tournament_that_was_created_when_it_says(database: Database) -> None:
    """And not to a later one of this name; 0 matches any."""
    created(database, "cup")
    [cup] = news(database)
    when = (cup.created, 0, cup.created - 1, cup.created + 1)
    keep(database, [placed(0, number, None, None, each) for number, each in enumerate(when)])
    assert [each.number for each in results(database)] == [0, 1]
    assert count(database, games, tournament_games) == [4, 2]


def test_game_and_its_place_are_stored_together_or_not_at_all(database: Database) -> None:
    created(database, "cup")
    with pytest.raises((StoreError, OverflowError)):
        keep(database, [placed(0, 0), placed(0, 1, series=2**70)])
    assert count(database, games, tournament_games) == [0, 0]
    written = Worker(database).write(rows([placed(0, 0), placed(0, 1, game="2", series=2**70)]))
    assert [each.number for each in written.games] == [1]
    assert places(database) == {"1": (0, 0, None, None)}


@pytest.mark.parametrize("remote", [None, FIRST])
@pytest.mark.parametrize("at_once", [False, True])
def test_game_that_is_stored_twice_has_its_first_place(
    database: Database, at_once: bool, remote: int | None
) -> None:
    created(database, "cup")
    one, other = placed(0, 0, FIRST, "crash"), placed(0, 0, remote=remote)
    for batch in ([one, other],) if at_once else ([one], [other]):
        with database.writing() as connection:
            assert storing.store(connection, rows(batch)) == []
    assert places(database) == {"1": (0, 0, FIRST, "crash")}
    assert count(database, games) == [1]


def test_game_that_two_servers_end_otherwise_has_the_place_of_the_end_that_counts(database: Database) -> None:
    created(database, "cup")
    [ended] = numbered([placed(0, 0)])
    stopped = replace(
        ended,
        winner=None,
        reason=Reason.STOPPED,
        counted=False,
        scheduled=TournamentGame(0, 0, FIRST, "crash"),
        remote=FIRST,
    )
    for each in (ended, stopped):
        with database.writing() as connection:
            storing.store(connection, rows([each]))
    assert places(database) == {"1": (0, 0, None, None)}


# Journals, imports, and corrections.


def imported(database: Database, *records: GameRecord) -> str:
    return "".join(commands.add(database, [line.encode() for line in jsonl.write(records)]))


def test_game_in_the_journal_of_a_killed_server_is_stored_with_its_place(
    database: Database, tmp_path: Path
) -> None:
    created(database, "cup")
    journal = Journal(tmp_path, "base")
    records = numbered([placed(2, 3, SECOND, "illegal", reason=Reason.ILLEGAL, moves="0"), game(), drawn()])
    journal.append(records)
    journal.close()
    worker = Worker(database, journal=(str(tmp_path), "base"))
    worker.write(rows(records[2:]))
    came = worker.take_up()
    assert (came.seen, came.new, came.refused) == (3, 2, [])
    while worker.take_up().more:
        pass
    assert places(database) == {"1": (2, 3, SECOND, "illegal")}


def test_result_that_replaces_none_is_news_of_the_tournament_in_its_own_place(database: Database) -> None:
    created(database, "cup")
    keep(database, numbered([placed(0, 0, **STOPPED), placed(0, 1)]))
    known = {"cup": Known(0, 2)}
    ended = placed(0, 0, SECOND, "time", moves="013", reason=Reason.TIME)
    assert imported(database, ended).startswith("1 game imported, 1 of them in place of one without a result")
    [found] = news(database, known)
    assert [(each.row, each.game, each.result, each.fault) for each in found.games] == [(3, "1", 1, "time")]
    assert places(database) == {"2": (0, 1, None, None), "1": (0, 0, SECOND, "time")}
    imported(database, placed(0, 0, **STOPPED), ended)
    assert len(places(database)) == 2


def test_result_in_place_of_the_latest_game_is_news(database: Database) -> None:
    created(database, "cup")
    keep(database, numbered([placed(0, 0, **STOPPED)]))
    known = {"cup": Known(0, 1)}
    assert news(database, known)[0].games == []
    imported(database, placed(0, 0))
    [found] = news(database, known)
    assert [(each.row, each.game, each.result) for each in found.games] == [(2, "1", 1)]


def test_game_of_a_tournament_that_is_not_here_is_imported_as_any_other(database: Database) -> None:
    assert imported(database, placed(0, 0)) == "1 game imported, 0 stored already\n"
    assert count(database, games, tournament_games) == [1, 0]
    created(database, "cup")
    assert imported(database, placed(0, 0)) == "0 games imported, 1 stored already\n"
    assert places(database) == {}


def test_export_has_no_places(database: Database) -> None:
    created(database, "cup")
    keep(database, [placed(0, 0)])
    assert "scheduled" not in "".join(commands.export(database, "jsonl", Filter()))


def test_game_that_is_void_or_of_a_renamed_player_keeps_its_place(database: Database) -> None:
    created(database, "cup")
    keep(database, [placed(0, 0), placed(0, 1)])
    void(database, "1")
    rename(database, "alice", "ann")
    assert [(each.number, each.first) for each in results(database)] == [(0, "ann"), (1, "ann")]


def test_tournaments_are_cleared_with_the_games(database: Database) -> None:
    created(database, "cup")
    appended(database, 0, "1")
    keep(database, [placed(0, 0)])
    with database.writing() as connection:
        storing.clear(connection)
    assert count(database, tournament_table, tournament_entries, tournament_games) == [0, 0, 0]
    created(database, "cup")
    assert [each[:-1] for each in news(database)] == [("cup", "the file of cup", [], [])]


# Ratings.


def test_ratings_are_those_of_the_players_with_games_that_count(database: Database) -> None:
    keep(database, [game("al\0ice", "bob"), game("al\0ice", "bob"), game("cid", "dan", counted=False)])
    with database.reading() as connection:
        found = tournaments.ratings(connection, ["bob", "al\0ice", "cid", "eve", "ALICE"])
        assert tournaments.ratings(connection, []) == {}
    assert found.keys() == {"al\0ice", "bob"}
    assert found["al\0ice"] > Rating().sure > found["bob"]
