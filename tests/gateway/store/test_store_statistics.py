"""Statistics: standings, scores and careers, against what a plain look at all games says."""

from collections import Counter
from collections.abc import Sequence

import pytest
from game_records import BEGAN, FOUR, drawn, game, packed
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from store_world import keep, keep_only, records
from trials import FEW

from gateway.game.events import Objection, Reason, Spoken
from gateway.store import statistics, storing
from gateway.store.database import Database
from gateway.store.evidence import recorded
from gateway.store.records import Enclosure, GameRecord, Participant
from gateway.store.statistics import Choice, Meeting, Record, Score, Spread
from gateway.store.totals import Rating, rated

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
    found = Record(*scores, thought, moves)
    assert found.mean_thought == (thought / moves if moves else 0)
    return found


@again
@given(kept=st.lists(records(SOME), max_size=12))
def test_statistics_are_what_the_games_say(database: Database, kept: list[GameRecord]) -> None:
    keep_only(database, kept)
    with database.reading() as connection:
        listed, movers = statistics.standings(connection)
        found = {row.standing.name: row.standing.record for row in listed}
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
        assert movers == Score(len(firsts), won, drawn_games)


def test_strongest_stands_first_and_equals_by_name(database: Database) -> None:
    keep(database, [game("carol", "dave")] * 5 + [drawn("b", "a")])
    with database.reading() as connection:
        found, _ = statistics.standings(connection)
        assert [each.standing.name for each in found] == ["carol", "a", "b", "dave"]
        sure = [each.standing.rating.sure for each in found]
        assert sure == sorted(sure, reverse=True)
        assert statistics.standings(connection, limit=2)[0] == found[:2]


def test_names_sort_by_their_characters_in_every_database(database: Database) -> None:
    names = ["Zoe", "adam", "eve", "\u00e9mile", "_x", "9"]
    keep(database, [drawn(name, "%") for name in names])
    with database.reading() as connection:
        opponents = statistics.profile(connection, "%").opponents
    assert list(opponents) == sorted(names)


def test_games_that_do_not_count_are_in_no_statistics(database: Database) -> None:
    with database.reading() as connection:
        assert statistics.profile(connection, "bob") is None
        assert statistics.standings(connection) == ([], Score(0, 0, 0))
    keep(database, [game(counted=False), game("alice", "carol"), game("a", "a", counted=False)])
    with database.reading() as connection:
        assert [each.games for each in statistics.career(connection, "a").clients] == [1]
        assert len(statistics.curve(connection, "alice", 10)) == 1
        assert [each.standing.name for each in statistics.standings(connection)[0]] == ["alice", "carol"]
        bob = statistics.profile(connection, "bob")
        assert bob.standing.rating == Rating()
        assert bob.opponents == bob.reasons == {}


def test_opponents_are_those_played_most(database: Database) -> None:
    keep(
        database,
        [game("a", "x"), game("a", "y"), game("y", "a"), game("a", "z"), game("z", "a"), game("a", "z")],
    )
    with database.reading() as connection:
        assert list(statistics.profile(connection, "a", opponents=2).opponents) == ["z", "y"]


# Players by name, and who met whom.


@pytest.fixture
def four_games(database: Database) -> Database:
    keep(database, [game(), drawn("bob", "alice"), game("carol", "alice"), game("carol", "alice")])
    return database


def test_players_come_by_name_from_behind_a_name_on(four_games: Database) -> None:
    with four_games.reading() as connection:
        parts = [statistics.players_by_name(connection, after, 2) for after in (None, "bob", "carol")]
    assert [[each.name for each in part] for part in parts] == [["alice", "bob"], ["carol"], []]


def test_those_whose_games_do_not_count_are_players_too(database: Database) -> None:
    keep(database, [game("TEST-1", "bob", counted=False)])
    with database.reading() as connection:
        found = statistics.players_by_name(connection)
        assert statistics.standings(connection)[0] == []
    assert {each.name: each.record.total.games for each in found} == {"TEST-1": 0, "bob": 0}


@pytest.mark.parametrize("at_once", [1, 2, 3, 100])
def test_meetings_are_by_name_in_both_orders(four_games: Database, at_once: int) -> None:
    assert [*statistics.meetings(four_games.reading, at_once)] == [
        Meeting("alice", "bob", 1),
        Meeting("alice", "carol", 0),
        Meeting("bob", "alice", 1),
        Meeting("carol", "alice", 2),
    ]


# Players compared.

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


@again
@given(kept=st.lists(records(SOME), max_size=12), choice=CHOICES)
def test_comparison_is_what_the_chosen_games_say(
    database: Database, kept: list[GameRecord], choice: Choice
) -> None:
    keep_only(database, kept)
    own = chosen(kept, choice)
    names = {player.name for each in own for player in each.players}
    with database.reading() as connection:
        found = statistics.compare(connection, choice)
        assert {each.name: each.record for each in found.standings} == {n: record_of(n, own) for n in names}
        reasons = {each.reason for each in own}
        assert found.reasons == {why: sum(each.reason is why for each in own) for why in reasons}
        assert {*found.tables} == {each.table for each in kept} - {None}
        endings = statistics.endings(connection, choice)
        assert statistics.endings(connection, choice, ["a"]) == {
            key: score for key, score in endings.items() if key[0] == "a"
        }
        for name in names:
            for why in Reason:
                so = [each for each in own if each.reason is why]
                assert endings.get((name, why), Score(0, 0, 0)) == record_of(name, so).total
        scores = statistics.scores(connection, choice, ["a", "b"], ["b", "c", "nobody"])
    for one, other in (("a", "b"), ("a", "c"), ("b", "c")):
        assert scores.pop((one, other), Score(0, 0, 0)) == record_of(one, own, other).total
    assert all(one == other for one, other in scores)


@pytest.mark.parametrize("choice", [Choice(), Choice(since=BEGAN), Choice(table="finals")])
def test_order_and_rating_are_those_of_all_games(database: Database, choice: Choice) -> None:
    at_table = {"table": "finals"}
    keep(database, [game("carol", "dave", **at_table)] * 3 + [drawn("b", "a", **at_table)])
    keep(database, [game("dave", "carol", began=0, ended=1)] * 9, start=5)
    with database.reading() as connection:
        found = statistics.compare(connection, choice).standings
        ratings = {each.name: each.rating for each in statistics.compare(connection, Choice()).standings}
    assert [each.name for each in found] == ["dave", "a", "b", "carol"]
    assert {each.name: each.rating for each in found} == ratings
    assert ratings["dave"].mean > Rating().mean


def test_latest_tables_come_first_in_any_case_and_the_lobby_is_none(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(database, [game(table=name) for name in ("green", "Blue", "x", "GREEN", None, "blue", "\0")])
    with database.reading() as connection:
        assert statistics.tables(connection) == ["\0", "blue", "GREEN", "x"]
        assert statistics.tables(connection, limit=1) == ["\0"]
        monkeypatch.setattr(statistics, "LATEST", 2)
        assert statistics.tables(connection) == ["\0", "blue"]


def test_time_before_which_there_was_no_game_is_left_out(database: Database) -> None:
    keep(database, [game(ended=BEGAN), game(ended=BEGAN + 5)])
    with database.reading() as connection:
        assert statistics.compare(connection, Choice(since=BEGAN)).choice == Choice()
        later = statistics.compare(connection, Choice(since=BEGAN + 1))
    assert later.choice == Choice(since=BEGAN + 1)
    assert {each.record.total.games for each in later.standings} == {1}


# One player.


def ratings(kept: Sequence[GameRecord], name: str) -> list[Rating]:
    """Return a player's ratings after each of its games that counts, by rating all of them."""
    now: dict[str, Rating] = {}
    found = []
    for each in kept:
        if each.counted:
            one, other = (player.name for player in each.players)
            now[one], now[other] = rated(now.get(one, Rating()), now.get(other, Rating()), each.result)
            if name in (one, other):
                found.append(now[name])
    return found


@again
@given(
    kept=st.lists(records(SOME).filter(lambda each: each.players[0].name != each.players[1].name), max_size=8)
)
def test_career_is_what_the_games_say(database: Database, kept: list[GameRecord]) -> None:
    keep_only(database, kept)
    own = [each for each in kept if "a" in (each.players[0].name, each.players[1].name)]
    with database.reading() as connection:
        found = statistics.career(connection, "a")
        if not own:
            assert found is None
            return
        assert found is not None
        assert found.profile == statistics.profile(connection, "a")
        assert [point.rating for point in found.curve] == ratings(kept, "a")
        assert [point.ended for point in found.curve] == [each.ended for each in own if each.counted]
        kinds = Counter(player.kind for each in own for player in each.players if player.name == "a")
        assert {each.kind: each.games for each in found.clients} == kinds
        for side in (0, 1):
            begun = [each for each in own if each.counted and each.moves and each.players[side].name == "a"]
            for moves in {each.moves[:length] for each in begun for length in range(1, 5)}:
                so = [each for each in begun if each.moves.startswith(moves)]
                won, drew = sum(e.winner == side for e in so), sum(e.winner is None for e in so)
                assert found.openings[side][moves] == Score(len(so), won, drew)
        listed, _ = statistics.standings(connection)
        own_rank = [row.rank for row in listed if row.standing.name == "a"]
        assert found.place == ((own_rank[0], len(listed)) if own_rank else None)
        ranks = {row.standing.name: (row.rank, row.standing.rating) for row in listed}
        assert statistics.places(connection, [*ranks, "nobody"]) == ranks


def test_long_curve_is_thinned_out_but_keeps_both_ends(database: Database) -> None:
    keep(database, [game(ended=BEGAN + number) for number in range(101)])
    with database.reading() as connection:

        def ended(since: int | None = None) -> list[int]:
            curve = statistics.curve(connection, "alice", 10, since and BEGAN + since)
            return [point.ended - BEGAN for point in curve]

        assert ended() == [*range(0, 101, 10)]
        assert ended(since=96) == [*range(96, 101)]
        assert ended(since=101) == []
        assert statistics.curve(connection, "nobody", 10) == []


def test_curve_has_the_last_rated_game_of_each_part_of_the_time(database: Database) -> None:
    keep(
        database,
        [game("bob", "x"), *[game()] * 2, *[game("x", "y")] * 50, game("y", "alice", ended=BEGAN + 9)],
    )
    keep(database, [game(counted=False), game("x", "y")], start=60)
    with database.reading() as connection:
        alice, x = (statistics.curve(connection, name, 4) for name in ("alice", "x"))
    assert [point.ended for point in alice] == [BEGAN + 1500, BEGAN + 1500, BEGAN + 9]
    assert len(x) == 5


def test_clients_are_listed_the_latest_first(database: Database) -> None:
    bob = Participant("bob", "arena")
    for number, kind in enumerate(("nac4", "droidcon", "nac4"), 1):
        keep(database, [game(players=(bob, Participant("x", kind)), ended=BEGAN + number)], start=number)
    with database.reading() as connection:
        found = statistics.clients(connection, "x")
    assert [(each.kind, each.games, each.latest) for each in found] == [
        ("nac4", 2, BEGAN + 3),
        ("droidcon", 1, BEGAN + 2),
    ]


def enclosures(game_id: str, *took: float) -> list[Enclosure]:
    """Return the evidence of a game of `FOUR` whose moves took so many seconds, one after the other."""
    both: list[list[Spoken]] = [[], []]
    now = 0.0
    for number, seconds in enumerate(took):
        said = both[number % 2]
        said.append((now, "out", "your move", 5.0))
        now += seconds
        said.append((now, "in", "9", Objection.OUTSIDE))
        said.append((now, "in", FOUR[number], None))
    return [Enclosure(game_id, side, recorded(said)) for side, said in enumerate(both)]


def test_move_times_are_those_of_the_evidence_by_move_of_one_s_own(database: Database) -> None:
    keep(database, [game(moves=FOUR), game("bob", "alice", moves=FOUR)])
    with database.writing() as connection:
        both = enclosures("1", 1, 1, 2, 1, 3, 1, 4) + enclosures("2", 1, 3, 1, 2, 1, 1, 1)
        storing.enclose(connection, packed(both))
    with database.reading() as connection:

        def medians(name: str, latest: int = 50) -> list[float]:
            return [each.median for each in statistics.move_times(connection, name, latest)]

        assert statistics.move_times(connection, "alice")[1] == Spread(2000, 2000, 2000)
        assert medians("alice", latest=1) == [3000, 2000, 1000]
        assert medians("carol") == []
    keep(database, [game("dave", "eve", moves=FOUR)], start=3)
    with database.writing() as connection:
        storing.enclose(connection, packed(enclosures("3", 1, 1, 2, 1, 3)))
        assert medians("dave") == [1000, 2000, 3000]  # no more are known


def test_thinking_is_the_spread_of_the_latest_moves_and_without_evidence_of_the_means(
    database: Database,
) -> None:
    keep(database, [game(moves=FOUR), game("bob", "alice", moves=FOUR, thought=(4000, 9000))])
    with database.writing() as connection:
        storing.enclose(connection, packed(enclosures("1", 1, 9, 2, 9, 3, 9, 4)))
    with database.reading() as connection:
        assert statistics.thinking(connection, "alice") == Spread(2000, 3000, 3000)  # of 1 2 3 4 3 3 3
        assert statistics.thinking(connection, "alice", latest=1) == Spread(3000, 3000, 3000)
        assert statistics.thinking(connection, "nobody") is None


def test_player_that_lost_before_its_first_move_has_no_times(database: Database) -> None:
    silent = {"moves": "", "winner": 1, "thought": (30_000, 0)}
    keep(database, [game(**silent, reason=Reason.TIME), game(**silent, reason=Reason.LEFT)])
    with database.reading() as connection:
        assert statistics.thinking(connection, "alice") is None
        assert statistics.move_times(connection, "alice") == []


def test_spread_leaves_a_tenth_at_each_end() -> None:
    assert statistics.spread(range(100, -1, -1)) == Spread(10, 50, 90)
    assert statistics.spread([7]) == Spread(7, 7, 7)
