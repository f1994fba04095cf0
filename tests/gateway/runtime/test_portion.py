"""How many of those who wait are served in one turn of the event loop."""

from gateway.runtime.throttle import EACH, MOST, Portions


def test_few_are_served_after_a_short_turn_and_a_share_of_it_after_a_long_one() -> None:
    portions, now = Portions(2), 100.0
    portions.begin(now)
    served = []
    for turn in (0, 1, 2.5, 3.5, 20.5, 1):
        now += turn * EACH
        served.append(portions.next(now))
    assert served == [2, 2, 2, 3, 20, 2]


def test_time_in_which_the_server_stood_still_is_no_reason_to_serve_all() -> None:
    portions = Portions(2)
    portions.begin(100.0)
    assert portions.next(110.0) == MOST


def test_what_was_before_the_beginning_does_not_count() -> None:
    portions = Portions(2)
    portions.begin(100.0)
    assert portions.next(100.0) == 2
    portions.begin(200.0)
    assert portions.next(200.0) == 2


def test_time_that_went_back_lets_the_least_be_served() -> None:
    portions = Portions(2)
    portions.begin(100.0)
    assert portions.next(99.0) == 2
