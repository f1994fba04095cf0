"""Players compared over some of the games, against what a plain look at all games says."""

from collections.abc import Sequence

import pytest
from game_records import BEGAN, drawn, game
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from store_world import keep, keep_only, records
from trials import FEW

from gateway.game.events import Reason
from gateway.store import comparing
from gateway.store.comparing import Choice
from gateway.store.database import Database
from gateway.store.records import GameRecord
from gateway.store.statistics import Record, Score
from gateway.store.totals import Rating

again = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=FEW)
SOME = st.sampled_from(["a", "b", "c"])
CHOICES = st.builds(
    Choice, since=st.none() | st.integers(0, 2**45), table=st.none() | st.sampled_from(["a", "finals"])
)


def chosen(kept: Sequence[GameRecord], choice: Choice) -> list[GameRecord]:
    """Return the games that are in the choice, seen with one's own eyes."""
    return [
        each
        for each in kept
        if each.counted
        and (choice.since is None or each.ended >= choice.since)
        and choice.table in (None, each.table)
    ]


def score(name: str, kept: Sequence[GameRecord], side: int) -> Score:
    own = [each for each in kept if each.players[side].name == name]
    return Score(len(own), sum(each.winner == side for each in own), sum(each.winner is None for each in own))


def record(name: str, kept: Sequence[GameRecord]) -> Record:
    sides = [(each, side) for each in kept for side in (0, 1) if each.players[side].name == name]
    thought = sum(each.thought[side] for each, side in sides)
    return Record(
        score(name, kept, 0), score(name, kept, 1), thought, sum(len(e.moves[side::2]) for e, side in sides)
    )


@again
@given(kept=st.lists(records(SOME), max_size=12), choice=CHOICES)
def test_comparison_is_what_the_chosen_games_say(
    database: Database, kept: list[GameRecord], choice: Choice
) -> None:
    keep_only(database, kept)
    own = chosen(kept, choice)
    names = {player.name for each in own for player in each.players}
    with database.reading() as connection:
        found = comparing.compare(connection, choice, by_reason=True)
        shorter = comparing.compare(connection, choice)
        assert (shorter.standings, shorter.reasons) == (found.standings, found.reasons)
        assert {each.name: each.record for each in found.standings} == {n: record(n, own) for n in names}
        reasons = {each.reason for each in own}
        assert found.reasons == {why: sum(each.reason is why for each in own) for why in reasons}
        assert {*found.tables} == {each.table for each in kept} - {None}
        for name in names:
            for why in Reason:
                so = [each for each in own if each.reason is why]
                assert found.endings.get((name, why), Score(0, 0, 0)) == score(name, so, 0) + score(
                    name, so, 1
                )


@again
@given(kept=st.lists(records(SOME), max_size=12), choice=CHOICES)
def test_scores_are_those_of_the_games_between_two(
    database: Database, kept: list[GameRecord], choice: Choice
) -> None:
    keep_only(database, kept)
    with database.reading() as connection:
        found = comparing.scores(connection, choice, ["a", "b"], ["b", "c", "nobody"])
    for one, other in (("a", "b"), ("a", "c"), ("b", "c")):
        met = [e for e in chosen(kept, choice) if {player.name for player in e.players} == {one, other}]
        expected = score(one, met, 0) + score(one, met, 1)
        assert found.pop((one, other), Score(0, 0, 0)) == expected
    assert all(one == other for one, other in found)


@pytest.mark.parametrize("choice", [Choice(), Choice(since=BEGAN), Choice(table="finals")])
def test_order_and_rating_are_those_of_all_games(database: Database, choice: Choice) -> None:
    at_table = {"table": "finals"}
    keep(database, [game("carol", "dave", **at_table)] * 3 + [drawn("b", "a", **at_table)])
    keep(database, [game("dave", "carol", began=0, ended=1)] * 9, start=5)
    with database.reading() as connection:
        found = comparing.compare(connection, choice).standings
        ratings = {each.name: each.rating for each in comparing.compare(connection, Choice()).standings}
    assert [each.name for each in found] == ["dave", "a", "b", "carol"]
    assert {each.name: each.rating for each in found} == ratings
    assert ratings["dave"].mean > Rating().mean


def test_latest_tables_come_first_and_the_lobby_is_none(database: Database) -> None:
    keep(database, [game(table=name) for name in ("x", "y", None, "x", "\0")])
    with database.reading() as connection:
        assert comparing.tables(connection) == ["\0", "x", "y"]
        assert comparing.tables(connection, limit=1) == ["\0"]


def test_table_in_several_cases_is_one(database: Database) -> None:
    keep(database, [game(table=name) for name in ("green", "Blue", "GREEN", "blue")])
    with database.reading() as connection:
        assert comparing.tables(connection) == ["blue", "GREEN"]


def test_tables_are_those_of_the_latest_games(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparing, "LATEST", 2)
    keep(database, [game(table=name) for name in ("x", "y", "z")])
    with database.reading() as connection:
        assert comparing.tables(connection) == ["z", "y"]


def test_time_before_which_there_was_no_game_is_left_out(database: Database) -> None:
    keep(database, [game(ended=BEGAN), game(ended=BEGAN + 5)])
    with database.reading() as connection:
        assert comparing.compare(connection, Choice(since=BEGAN)).choice == Choice()
        later = comparing.compare(connection, Choice(since=BEGAN + 1))
    assert later.choice == Choice(since=BEGAN + 1)
    assert {each.record.total.games for each in later.standings} == {1}
