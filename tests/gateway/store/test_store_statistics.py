"""Statistics, against what a plain look at all games says."""

from collections.abc import Sequence

from game_records import drawn, game
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from store_world import keep, keep_only, records
from trials import FEW

from gateway.game.events import Reason
from gateway.store import statistics
from gateway.store.database import Database
from gateway.store.records import GameRecord
from gateway.store.statistics import Record, Score
from gateway.store.totals import Rating

again = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=FEW)
SOME = st.sampled_from(["a", "b", "c"])


def record_of(name: str, kept: Sequence[GameRecord], opponent: str | None = None) -> Record:
    """Return what `name` did in those games that count, seen with one's own eyes."""
    scores, thought, moves = [], 0, 0
    for side in (0, 1):
        own = [
            each
            for each in kept
            if each.counted
            and each.players[side].name == name
            and opponent in (None, each.players[1 - side].name)
        ]
        won = sum(each.winner == side for each in own)
        scores.append(Score(len(own), won, sum(each.winner is None for each in own)))
        thought += sum(each.thought[side] for each in own)
        moves += sum(len(each.moves[side::2]) for each in own)
    return Record(*scores, thought, moves)


@again
@given(kept=st.lists(records(SOME), max_size=12))
def test_statistics_are_what_the_games_say(database: Database, kept: list[GameRecord]) -> None:
    keep_only(database, kept)
    with database.reading() as connection:
        found = {each.name: each.record for each in statistics.standings(connection)}
        names = {player.name for each in kept if each.counted for player in each.players}
        assert found == {name: record_of(name, kept) for name in names}
        for name in {player.name for each in kept for player in each.players}:
            profile = statistics.profile(connection, name)
            assert profile is not None
            assert profile.standing.record == record_of(name, kept)
            for reason in Reason:
                ended_so = record_of(name, [each for each in kept if each.reason is reason])
                assert profile.reasons.get(reason, ended_so) == ended_so
                assert (reason in profile.reasons) == (ended_so.total.games > 0)
            for opponent, record in profile.opponents.items():
                assert record == record_of(name, kept, opponent)
            met = sum(each.total.games for each in profile.opponents.values())
            assert met == profile.standing.record.total.games
        firsts = [each for each in kept if each.counted]
        won, drawn_games = (
            sum(each.winner == 0 for each in firsts),
            sum(each.winner is None for each in firsts),
        )
        assert statistics.first_movers(connection) == Score(len(firsts), won, drawn_games)


def test_strongest_stands_first_and_equals_by_name(database: Database) -> None:
    keep(database, [game("carol", "dave")] * 5 + [drawn("b", "a")])
    with database.reading() as connection:
        found = statistics.standings(connection)
        assert [each.name for each in found] == ["carol", "a", "b", "dave"]
        assert [each.rating.sure for each in found] == sorted((e.rating.sure for e in found), reverse=True)
        assert statistics.standings(connection, limit=2) == found[:2]


def test_names_sort_by_their_characters_in_every_database(database: Database) -> None:
    names = ["Zoe", "adam", "eve", "\u00e9mile", "_x", "9"]
    keep(database, [drawn(name, "%") for name in names])
    with database.reading() as connection:
        opponents = statistics.profile(connection, "%").opponents
    assert list(opponents) == sorted(names)


def test_games_that_do_not_count_are_in_no_statistics(database: Database) -> None:
    keep(database, [game(counted=False), game("alice", "carol")])
    with database.reading() as connection:
        assert [each.name for each in statistics.standings(connection)] == ["alice", "carol"]
        bob = statistics.profile(connection, "bob")
        assert bob.standing.rating == Rating()
        assert bob.opponents == bob.reasons == {}


def test_unknown_player_has_no_profile(database: Database) -> None:
    with database.reading() as connection:
        assert statistics.profile(connection, "nobody") is None
        assert statistics.standings(connection) == []
        assert statistics.first_movers(connection) == Score(0, 0, 0)


def test_opponents_are_those_played_most(database: Database) -> None:
    keep(
        database,
        [game("a", "x"), game("a", "y"), game("y", "a"), game("a", "z"), game("z", "a"), game("a", "z")],
    )
    with database.reading() as connection:
        assert list(statistics.profile(connection, "a", opponents=2).opponents) == ["z", "y"]


def test_mean_time_is_by_move() -> None:
    score = Score(1, 1, 0)
    assert Record(score, score, 700, 7).mean_thought == 100
    assert Record(score, score, 700, 0).mean_thought == 0
    assert (score + Score(3, 1, 1)).lost == 1
