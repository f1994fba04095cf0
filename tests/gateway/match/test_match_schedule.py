"""Which games there are, and who gets them: each of them once, pairs together."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.match.schedule import AT_MOST, Schedule


def test_everybody_meets_everybody() -> None:
    assert Schedule(3, 2).pairings == [(0, 1), (0, 2), (1, 2)]
    assert Schedule(3, 2).left == 6


def test_in_a_gauntlet_the_first_meets_all_others() -> None:
    assert Schedule(4, 2, gauntlet=True).pairings == [(0, 1), (0, 2), (0, 3)]


@given(st.integers(1, 60), st.integers(1, 5))
def test_each_game_is_taken_once_and_no_pair_is_torn(pairs: int, tables: int) -> None:
    schedule = Schedule(2, 2 * pairs)
    for _ in range(tables):
        schedule.sit()
    found = []
    while taken := schedule.take(0):
        assert len(taken) <= AT_MOST
        assert [each % 2 for each in taken] == [0, 1] * (len(taken) // 2)
        found += taken
    assert found == list(range(2 * pairs))


def test_tables_come_to_the_pairings_with_fewest_tables() -> None:
    schedule = Schedule(3, 4)
    assert [schedule.sit() for _ in range(4)] == [0, 1, 2, 0]


def test_what_a_table_took_and_did_not_play_is_played_by_another() -> None:
    schedule = Schedule(2, 4)
    schedule.sit()
    taken = schedule.take(0)
    schedule.done(0, taken[0])
    schedule.rise(0, taken)
    assert schedule.sit() == 0
    assert schedule.take(0) == [1, 2, 3]
    assert schedule.left == 3


def test_half_a_pair_is_taken_with_what_follows_it() -> None:
    schedule = Schedule(2, 6)
    schedule.done(0, 0)
    assert schedule.take(0) == [1, 2, 3]


@pytest.mark.parametrize(("pairing", "number"), [(0, 2), (0, -1), (1, 0), (-1, 0)])
def test_game_that_is_none_is_not_counted(pairing: int, number: int) -> None:
    with pytest.raises(ValueError, match="is there twice, or is none"):
        Schedule(2, 2).done(pairing, number)


def test_game_is_not_counted_twice() -> None:
    schedule = Schedule(2, 2)
    schedule.done(0, 1)
    with pytest.raises(ValueError, match="twice"):
        schedule.done(0, 1)


def test_pairing_that_is_dropped_is_played_no_more() -> None:
    schedule = Schedule(3, 4)
    schedule.sit()
    taken = schedule.take(0)
    assert schedule.drop(0) == 4
    schedule.rise(0, taken)
    assert schedule.left == 8
    assert schedule.sit() == 1
    assert schedule.take(0) == []
