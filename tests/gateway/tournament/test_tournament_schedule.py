"""Which games there are, and who gets them: each of them once, pairs together."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.tournament.schedule import AT_MOST, Schedule

TRIANGLE = [(0, 1), (0, 2), (1, 2)]


def schedule_of(pairings: Sequence[tuple[int, int]], games: int) -> Schedule:
    schedule = Schedule(games)
    schedule.add(pairings)
    return schedule


@given(st.integers(1, 60), st.integers(1, 5))
def test_each_game_is_taken_once_and_no_pair_is_torn(pairs: int, tables: int) -> None:
    schedule = schedule_of([(0, 1)], 2 * pairs)
    for _ in range(tables):
        schedule.assign()
    found = []
    while taken := schedule.take(0):
        assert len(taken) <= AT_MOST
        assert [each % 2 for each in taken] == [0, 1] * (len(taken) // 2)
        found += taken
    assert found == list(range(2 * pairs))


def test_tables_come_to_the_pairings_with_fewest_tables() -> None:
    schedule = schedule_of(TRIANGLE, 4)
    assert [schedule.assign() for _ in range(4)] == [0, 1, 2, 0]


def test_what_a_table_took_and_did_not_play_is_played_by_another() -> None:
    """As where a game was aborted."""
    schedule = schedule_of([(0, 1)], 4)
    schedule.assign()
    taken = schedule.take(0)
    schedule.count(0, taken[0], 1.0)
    schedule.release(0, taken[1:])
    assert schedule.assign() == 0
    assert schedule.take(0) == [1, 2, 3]
    assert schedule.left == 3


def test_half_a_pair_is_taken_with_what_follows_it() -> None:
    schedule = schedule_of([(0, 1)], 6)
    schedule.count(0, 0, 1.0)
    assert schedule.take(0) == [1, 2, 3]


@given(st.sets(st.integers(0, 5)), st.sets(st.integers(0, 5)))
def test_a_series_is_the_first_open_pair_or_its_open_half(over: set[int], unplayed: set[int]) -> None:
    schedule = schedule_of([(0, 1)], 6)
    for number in over:
        schedule.count(0, number, 0.5)
    found: list[int] = []
    while games := schedule.take_series(0):
        pair = games[0] // 2
        assert [*games] == [each for each in (2 * pair, 2 * pair + 1) if each not in over]
        found += games
    assert found == sorted({*range(6)} - over)
    schedule.release(0, unplayed - over)
    again: list[int] = []
    while games := schedule.take_series(0):
        again += games
    assert again == sorted(unplayed - over)


@pytest.mark.parametrize(("pairing", "number"), [(0, 2), (0, -1), (1, 0), (-1, 0), (0, 1)])
def test_game_that_is_none_or_is_there_already_is_not_counted(pairing: int, number: int) -> None:
    schedule = schedule_of([(0, 1)], 2)
    schedule.count(0, 1, 1.0)
    with pytest.raises(ValueError, match=r"has no game|is there twice"):
        schedule.count(pairing, number, 1.0)
    assert (schedule.left, schedule.points(0)) == (1, (1.0, 0.0))


def test_points_are_those_of_both_players_and_a_game_may_give_none() -> None:
    schedule = schedule_of([(0, 1)], 4)
    for number, (points, given_) in enumerate([(1.0, 1.0), (0.5, 1.0), (0.0, 1.0)]):
        assert not schedule.is_over(0)
        schedule.count(0, number, points, given_)
    schedule.count(0, 3, 0.0, 0.0)
    assert schedule.points(0) == (1.5, 1.5)
    assert schedule.is_over(0)


def test_games_of_a_player_who_has_withdrawn_are_played_no_more_until_it_returns() -> None:
    schedule = schedule_of(TRIANGLE, 4)
    schedule.assign()
    taken = schedule.take(0)
    assert schedule.withdraw(0) == 12 - 4
    assert not schedule.is_wanted(0, taken[0])
    schedule.release(0, taken)
    assert (schedule.left, schedule.open_pairings()) == (4, [2])
    assert schedule.assign() == 2
    assert schedule.take(0) == []
    assert not schedule.take_series(0)
    assert (schedule.withdraw(1), schedule.left) == (4, 0)
    schedule.restore(0)
    assert schedule.open_pairings() == [1]
    assert [[*schedule.take_series(1)] for _ in range(3)] == [[0, 1], [2, 3], []]


def test_all_games_that_were_taken_can_be_released_at_once() -> None:
    schedule = schedule_of(TRIANGLE, 2)
    schedule.assign()
    schedule.take(0)
    schedule.take_series(1)
    schedule.release_all()
    assert ([*schedule.take_series(0)], [*schedule.take_series(1)], schedule.assign()) == ([0, 1], [0, 1], 2)


@given(
    st.dictionaries(st.integers(0, 5), st.sampled_from([(1.0, 0.0), (0.5, 0.5), (0.0, 1.0), (0.0, 0.0)])),
    st.dictionaries(st.integers(0, 5), st.sampled_from([(1.0, 0.0), (0.5, 0.5), (0.0, 1.0), (0.0, 0.0)])),
    st.integers(0, 3),
)
def test_recount_replaces_all_results_but_not_what_is_being_played(
    before: dict[int, tuple[float, float]], after: dict[int, tuple[float, float]], series: int
) -> None:
    schedule = schedule_of([(0, 1), (2, 3)], 6)
    schedule.recount(0, before)
    taken = {number for _ in range(series) for number in schedule.take_series(0)}
    schedule.recount(0, after)
    assert schedule.points(0) == (
        sum(one for one, _ in after.values()),
        sum(two for _, two in after.values()),
    )
    assert schedule.is_over(0) is (len(after) == 6)
    assert schedule.unfinished() == ([1] if len(after) == 6 else [0, 1])
    assert schedule.over == (len(after) == 6)
    assert schedule.left == 12 - len(after)
    assert all(schedule.is_wanted(0, number) is (number not in after) for number in range(6))
    found: list[int] = []
    while games := schedule.take_series(0):
        found += games
    assert sorted(found) == sorted({*range(6)} - taken - after.keys())
    assert schedule.take(0) == []
    schedule.release(0, taken - after.keys())
    again: list[int] = []
    while games := schedule.take_series(0):
        again += games
    assert sorted(again) == sorted(taken - after.keys())


def test_game_that_is_not_over_any_more_can_be_taken_by_a_table_again() -> None:
    schedule = schedule_of([(0, 1)], 4)
    assert [*schedule.take_series(0)] == [0, 1]
    schedule.recount(0, {0: (1.0, 0.0), 1: (1.0, 0.0)})
    assert schedule.take(0) == [2, 3]
    schedule.recount(0, {1: (1.0, 0.0)})
    assert (schedule.take(0), schedule.points(0)) == ([0], (1.0, 0.0))
