"""Analyses of games in the database: stored once, in step with the games, made for those that lack one."""

from collections.abc import Iterable

import pytest
from game_records import FOUR, game, numbered, rows
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import func, select, update
from store_world import keep

from gateway.game.board import Side
from gateway.game.evaluation import Evaluation, Scores, Turned
from gateway.game.events import Reason
from gateway.store import analyses, storing
from gateway.store.analyses import Analysis, Backlog, analysis_of, packed, unpacked
from gateway.store.database import Database
from gateway.store.records import GameRecord, Solved
from gateway.store.schema import analyses as table
from gateway.store.worker import Worker

LOST_TWICE: list[Scores] = [
    {3: 1, 0: 0},  # the first mover gives the win away, 0
    {2: 0, 0: -1, 1: -18},  # the second the draw, 1
    {0: 17, 1: 0},  # the first the win again, 1
    {1: 0, 4: 0},  # and 1 is a draw
]
MOVES = "0111"


def solved(record: GameRecord, scores: Iterable[Scores] | None = None) -> Solved:
    """Return an analysis of a game, in which by default all is even."""
    even: Scores = dict.fromkeys(range(7), 0)
    moves = record.moves
    return Solved(record.game, moves, packed(scores or [even] * (len(moves) + (not record.board().over))))


def analyse(database: Database, *found: Solved) -> list[str]:
    """Store analyses as the store process does; return what is wrong with them."""
    return [*Worker(database).write([], [], found).evidence]


def of(database: Database, *ids: str) -> dict[str, Analysis]:
    with database.reading() as connection:
        return analyses.of(connection, ids)


def count(database: Database) -> int:
    with database.reading() as connection:
        return connection.scalar(select(func.count()).select_from(table)) or 0


@given(st.lists(st.dictionaries(st.integers(0, 6), st.integers(-21, 21), min_size=7), max_size=42))
def test_what_is_packed_is_unpacked(scores: list[Scores]) -> None:
    assert unpacked(Solved("1", "0" * len(scores), packed(scores))) == scores


@pytest.mark.parametrize("data", [b"", b"x", packed([{0: 1}]), packed([{1: 0}] * 4), packed([{0: 1}] * 5)])
def test_what_is_not_the_analysis_of_the_game_is_refused(database: Database, data: bytes) -> None:
    keep(database, [game(moves="000", winner=0, reason=Reason.LEFT)])
    assert len(analyse(database, Solved("1", "000", data))) == 1
    assert count(database) == 0


@pytest.mark.parametrize(
    ("winner", "lost_by"), [(1, 3), (0, 2), (None, None)], ids=["first lost", "second lost", "nobody lost"]
)
def test_loser_s_last_turning_move_is_the_one_that_lost(winner: Side | None, lost_by: int | None) -> None:
    found = analysis_of(MOVES, winner, LOST_TWICE)
    assert found.turned == [
        Turned(1, "win", "draw", [3]),
        Turned(2, "draw", "lose", [2]),
        Turned(3, "win", "draw", [0]),
    ]
    assert (found.mistake and found.mistake.move) == lost_by
    assert found.evaluations[2:] == [Evaluation(0, 9), Evaluation(None, None), Evaluation(None, None)]


def test_turning_move_is_not_said_without_the_columns_of_its_position() -> None:
    assert analysis_of("01", None, [{0: 0, 3: 1}, None, {0: 17}]).turned == [Turned(1, "win", "draw", [3])]


def test_analyses_are_found_by_the_game(database: Database) -> None:
    lost = game(game="2", moves=MOVES, winner=1, reason=Reason.TIME)
    keep(database, [game(), lost, game()])
    assert analyse(database, solved(game()), solved(lost, LOST_TWICE)) == []
    assert of(database, "1", "2", "3", "4") == {
        "1": analysis_of(FOUR, 0, [dict.fromkeys(range(7), 0)] * 7),
        "2": analysis_of(MOVES, 1, LOST_TWICE),
    }
    with database.reading() as connection:
        kept = connection.execute(select(table.c.turned, table.c.lost_by).order_by(table.c.game)).all()
    assert kept == [(0, None), (3, 3)]


def test_analysis_that_is_there_stays_and_that_of_no_game_or_of_other_moves_is_left_out(
    database: Database,
) -> None:
    keep(database, [game()])
    other = game(moves="0101", winner=0, reason=Reason.LEFT)
    for each in (solved(other), solved(game(game="2")), solved(game()), solved(game(), [{0: 1, 1: 1}] * 7)):
        assert analyse(database, each) == []
    assert of(database, "1", "2") == {"1": analysis_of(FOUR, 0, [dict.fromkeys(range(7), 0)] * 7)}


def test_game_that_is_stored_anew_with_a_result_has_no_analysis_any_more(database: Database) -> None:
    stopped = game(moves="0101", winner=None, reason=Reason.STOPPED, counted=False)
    keep(database, [stopped])
    analyse(database, solved(stopped))
    with database.writing() as connection:
        assert len(storing.merge(connection, rows([game()])).replaced) == 1
    assert count(database) == 0


def test_analyses_go_with_the_results_and_stay_when_evidence_goes(database: Database) -> None:
    keep(database, [game()])
    analyse(database, solved(game()))
    with database.writing() as connection:
        storing.prune(connection, 1 << 60)
    assert count(database) == 1
    with database.writing() as connection:
        storing.clear(connection)
    assert count(database) == 0


def test_analysis_that_is_damaged_is_as_if_it_were_not_there(database: Database) -> None:
    keep(database, [game()])
    analyse(database, solved(game()))
    with database.writing() as connection:
        connection.execute(update(table).values(scores=b"?"))
    assert of(database, "1") == {}


def test_analysis_is_stored_beside_a_game_that_the_database_refuses(database: Database) -> None:
    keep(database, [game()])
    written = Worker(database).write(rows([game(game="2", series=2**70)]), [], [solved(game())])
    assert (len(written.games), len(written.evidence), count(database)) == (1, 0, 1)


def next_games(database: Database, backlog: Backlog, most: int) -> list[str]:
    """Return the next games of the backlog that have no analysis."""
    found = list[str]()
    with database.reading() as connection:
        while len(found) < most and (record := backlog.next(connection)) is not None:
            found.append(record.game)
    return found


def test_backlog_has_the_newest_games_first_and_each_once(database: Database) -> None:
    backlog = Backlog(page=2)
    assert next_games(database, backlog, 1) == []
    keep(database, [game()] * 9)
    analyse(database, *(solved(each) for each in numbered([game()] * 9) if each.game in "2789"))
    assert next_games(database, backlog, 2) == ["6", "5"]
    keep(database, [game()] * 2, 10)
    assert next_games(database, backlog, 3) == ["11", "10", "4"]
    assert next_games(database, Backlog(), 9) == ["11", "10", "6", "5", "4", "3", "1"]
    assert next_games(database, backlog, 9) == ["3", "1"]
    assert next_games(database, backlog, 9) == []


@pytest.mark.parametrize("games", [1, 3, 5])
def test_backlog_begins_again_when_all_results_were_removed(database: Database, games: int) -> None:
    backlog = Backlog()
    keep(database, [game()] * 3)
    assert next_games(database, backlog, 2) == ["3", "2"]
    with database.writing() as connection:
        storing.clear(connection)
    keep(database, [game()] * games, 11)
    assert next_games(database, backlog, 9) == [str(number) for number in range(10 + games, 10, -1)]
