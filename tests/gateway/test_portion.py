"""How many of those who wait are served in one turn of the event loop."""

from gateway.portion import EACH, portion


def test_few_are_served_after_a_short_turn_and_a_share_of_it_after_a_long_one() -> None:
    assert [portion(2, turn * EACH) for turn in (0, 1, 2.5, 3.5, 100.5)] == [2, 2, 2, 3, 100]


def test_turn_that_ended_before_it_began_is_a_short_one() -> None:
    assert portion(2, -1.0) == 2
