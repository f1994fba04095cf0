"""One player in time, against what a plain look at its games says."""

from collections import Counter
from collections.abc import Sequence

from game_records import BEGAN, FOUR, drawn, game
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from store_world import keep, keep_only, records
from trials import FEW

from gateway.game.events import Objection, Reason, Spoken
from gateway.store import careers, games, statistics, storing
from gateway.store.comparing import ranked
from gateway.store.database import Database
from gateway.store.evidence import recorded
from gateway.store.games import Filter, Page
from gateway.store.records import Enclosure, GameRecord, Participant
from gateway.store.statistics import Score
from gateway.store.totals import Rating, rated

again = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=FEW)
SOME = st.sampled_from(["a", "b", "c"])


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
        found = careers.career(connection, "a")
        if not own:
            assert found is None
            return
        assert found is not None
        assert found.profile == statistics.profile(connection, "a")
        assert [point.rating for point in found.curve] == ratings(kept, "a")
        assert [point.number for point in found.curve] == [*range(1, len(found.curve) + 1)]
        assert [point.ended for point in found.curve] == [each.ended for each in own if each.counted]
        kinds = Counter(player.kind for each in own for player in each.players if player.name == "a")
        assert {each.kind: each.games for each in found.clients} == kinds
        for side in (0, 1):
            begun = [each for each in own if each.counted and each.moves and each.players[side].name == "a"]
            for moves in {each.moves[:length] for each in begun for length in range(1, 5)}:
                so = [each for each in begun if each.moves.startswith(moves)]
                won, drew = sum(e.winner == side for e in so), sum(e.winner is None for e in so)
                assert found.openings[side][moves] == Score(len(so), won, drew)
        listed = ranked(statistics.standings(connection))
        own_rank = [row.rank for row in listed if row.standing.name == "a"]
        assert found.place == ((own_rank[0], len(listed)) if own_rank else None)
        lost = [e.game for e in games.page(connection, Filter(player="a", lost=True), Page(limit=99))]
    sides = [(str(n), each, side) for n, each in enumerate(kept, 1) for side in (0, 1)]
    assert {*lost} == {n for n, e, side in sides if e.players[side].name == "a" and e.winner == 1 - side}


def test_long_curve_is_thinned_out_but_keeps_both_ends(database: Database) -> None:
    keep(database, [game(ended=BEGAN + number) for number in range(100)])
    with database.reading() as connection:
        curve = careers.curve(connection, "alice", 10)
        assert [point.number for point in curve] == [1, *range(10, 101, 10)]
        assert [point.number for point in careers.curve(connection, "alice", 10, since=BEGAN + 95)] == [
            *range(1, 6)
        ]
        assert careers.curve(connection, "nobody", 10) == []


def test_games_without_a_rating_are_not_on_the_curve(database: Database) -> None:
    keep(database, [game(), game(counted=False), drawn()])
    with database.reading() as connection:
        assert [point.number for point in careers.curve(connection, "bob", 10)] == [1, 2]


def test_player_that_plays_itself_is_one_player(database: Database) -> None:
    keep(database, [game("a", "a", counted=False)])
    with database.reading() as connection:
        found = careers.career(connection, "a")
    assert found is not None
    assert found.place is None
    assert [each.games for each in found.clients] == [1]


def test_clients_are_listed_the_latest_first(database: Database) -> None:
    bob = Participant("bob", "arena")
    for number, kind in enumerate(("nac4", "droidcon", "nac4"), 1):
        keep(database, [game(players=(bob, Participant("x", kind)), ended=BEGAN + number)], start=number)
    with database.reading() as connection:
        found = careers.clients(connection, "x")
    assert [(each.kind, each.games, each.latest) for each in found] == [
        ("nac4", 2, BEGAN + 3),
        ("droidcon", 1, BEGAN + 2),
    ]


def enclosures(game: str, *took: float) -> list[Enclosure]:
    """Return the evidence of a game of `FOUR` whose moves took so many seconds, one after the other."""
    both: list[list[Spoken]] = [[], []]
    now = 0.0
    for number, seconds in enumerate(took):
        said = both[number % 2]
        said.append((now, "out", "your move", 5.0))
        now += seconds
        said.append((now, "in", "9", Objection.OUTSIDE))
        said.append((now, "in", FOUR[number], None))
    return [Enclosure(game, side, recorded(said)) for side, said in enumerate(both)]


def test_move_times_are_means_by_move_of_one_s_own(database: Database) -> None:
    keep(database, [game(moves=FOUR), game("bob", "alice", moves=FOUR)])
    with database.writing() as connection:
        both = enclosures("1", 1, 1, 2, 1, 3, 1, 4) + enclosures("2", 1, 3, 1, 2, 1, 1, 1)
        storing.enclose(connection, storing.packed(both))
    with database.reading() as connection:
        assert careers.move_times(connection, "alice") == [2000, 2000, 2000, 4000]
        assert careers.move_times(connection, "alice", latest=1) == [3000, 2000, 1000]
        assert careers.move_times(connection, "carol") == []


def test_move_of_unknown_time_ends_the_list(database: Database) -> None:
    keep(database, [game(moves=FOUR)])
    with database.writing() as connection:
        storing.enclose(connection, storing.packed(enclosures("1", 1, 1, 2, 1, 3)))
    with database.reading() as connection:
        assert careers.move_times(connection, "alice") == [1000, 2000, 3000]


def test_lost_games_can_be_asked_for_by_reason(database: Database) -> None:
    keep(
        database, [game(), game(winner=1, reason=Reason.ILLEGAL), game("bob", "alice", reason=Reason.ILLEGAL)]
    )
    with database.reading() as connection:
        wanted = Filter(player="alice", lost=True, reason=Reason.ILLEGAL)
        assert [each.game for each in games.page(connection, wanted, Page())] == ["3", "2"]
