"""Durations, counted by interval."""

import pytest

from gateway.histogram import BOUNDS, Histogram


@pytest.mark.parametrize(("seconds", "index"), [(0.0, 0), (BOUNDS[0], 0), (0.0007, 1), (5.0, 12), (9.0, 13)])
def test_duration_is_in_the_interval_whose_end_it_does_not_exceed(seconds: float, index: int) -> None:
    durations = Histogram()
    durations.add(seconds)
    assert [number for number, count in enumerate(durations.counts()) if count] == [index]
    assert durations.total == seconds


def test_what_is_kept_does_not_grow() -> None:
    durations = Histogram()
    for _ in range(1000):
        durations.add(0.25)
    assert (len(durations.counts()), sum(durations.counts()), durations.total) == (len(BOUNDS) + 1, 1000, 250)
