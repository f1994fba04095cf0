"""The latest results, as sentences."""

import time

import pytest
from game_records import drawn, game
from web_world import Site, analyse, keep

from adapters.web.page.results import best_of_today, latest
from adapters.web.page.sentences import plain
from gateway.game.events import Reason

NOW = time.time_ns() // 1_000_000


def said(site: Site, limit: int = 9) -> list[tuple[str, str, str]]:
    with site.database.reading() as connection:
        return [(plain(each.sentence), each.badge, plain(each.detail)) for each in latest(connection, limit)]


def test_results_say_who_beat_whom_and_how_the_newest_first(site: Site) -> None:
    keep(
        site.database,
        [
            game(),
            drawn(),
            game(moves="010", winner=0, reason=Reason.TIME),
            game(moves="0", winner=1, reason=Reason.LEFT),
            game(moves="01", winner=1, reason=Reason.ILLEGAL),
            game(moves="01", winner=None, reason=Reason.STOPPED),
        ],
    )
    assert said(site) == [
        ("bob beat alice", "illegal", "move 3 of alice was illegal"),
        ("bob beat alice", "left", "alice left after 1 move"),
        ("alice beat bob", "time", "bob ran out of time at move 4"),
        ("alice drew with bob", "", "the board is full"),
        ("alice beat bob", "", "four at move 7"),
    ]
    assert len(said(site, 2)) == 2


def test_winner_of_a_much_lower_rank_is_an_upset(site: Site) -> None:
    ranks = [game(f"p{one}", f"p{other}") for one in range(10) for other in range(one + 1, 10)]
    silent = game("p9", "p0", moves="010", reason=Reason.TIME)
    keep(site.database, [*ranks * 3, game("p9", "p0"), game("p8", "p2"), silent])
    assert said(site, 3) == [
        ("p9 beat p0", "time", "10th beat 2nd; p0 ran out of time at move 4"),
        ("p8 beat p2", "", "four at move 7"),
        ("p9 beat p0", "upset", "10th beat 2nd; four at move 7"),
    ]


@pytest.mark.parametrize(
    ("others", "short", "words"), [(9, 1, ", the shortest today"), (8, 1, ""), (9, 2, "")]
)
def test_shortest_game_of_today_is_named_among_many(site: Site, others: int, short: int, words: str) -> None:
    long = "3251403001234"  # the first mover wins by its seventh move
    keep(site.database, [game(moves=long, ended=NOW)] * others + [game(ended=NOW)] * short)
    assert said(site, short) == [("alice beat bob", "", f"four at move 7{words}")] * short


def test_no_results_are_no_mistake(site: Site) -> None:
    assert said(site) == []


def test_last_turning_move_of_the_loser_is_a_blunder(site: Site) -> None:
    keep(site.database, [game(), game("carl", "dan"), game(moves="010", reason=Reason.LEFT)])
    analyse(site, 1, [0, 0, 0, 0, 5, -5, 5])
    analyse(site, 2, [0, 5, 5, -5, 5, -5, 5])
    analyse(site, 3, [0, 0, 5, -5])
    assert said(site) == [
        ("alice beat bob", "left", "bob left after 3 moves"),
        ("carl beat dan", "blunder", "move 2 let carl win"),
        ("alice beat bob", "blunder", "move 4 gave away a draw"),
    ]
    with site.database.reading() as connection:
        assert [each.mistake for each in latest(connection, 3)] == [2, 2, 4]


def test_best_game_of_today_turned_most_often_and_of_these_is_the_longest(site: Site) -> None:
    with site.database.reading() as connection:
        assert best_of_today(connection) is None
    keep(site.database, [game(ended=NOW), drawn(ended=NOW), game(ended=NOW), drawn()])
    with site.database.reading() as connection:
        found = best_of_today(connection)
    assert found is not None
    assert (found.record.game, found.turns, found.analysis) == ("2", [], None)
    assert plain(found.sentence) == "alice drew with bob at move 42"
    analyse(site, 3, [5, 5, 5, -5, 5, 0, 5])
    with site.database.reading() as connection:
        found = best_of_today(connection)
    assert found is not None
    assert [(number, plain(words)) for number, words in found.turns] == [
        (1, "alice let bob win"),
        (2, "bob gave it back to alice"),
        (5, "alice gave away a win"),
        (6, "bob gave away a draw"),
    ]
    assert plain(found.detail) == (
        "1st beat 2nd, and the game turned 4 times. Move 6, column 1, was the last mistake."
    )
