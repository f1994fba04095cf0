"""Durations, counted by interval."""

import pytest

from gateway.runtime.histogram import BOUNDS, Histogram


@pytest.mark.parametrize(("seconds", "index"), [(0.0, 0), (BOUNDS[0], 0), (0.0007, 1), (5.0, 12), (9.0, 13)])
def test_duration_is_in_the_interval_whose_end_it_does_not_exceed(seconds: float, index: int) -> None:
    durations = Histogram()
    durations.add(seconds)
    assert [number for number, count in enumerate(durations.counts()) if count] == [index]
    assert durations.total == seconds


def test_what_another_one_counted_is_added_interval_by_interval() -> None:
    ours, theirs = Histogram(), Histogram()
    for durations, seconds in ((ours, 0.0), (theirs, 0.0), (theirs, 9.0)):
        durations.add(seconds)
    ours.join(theirs.counts(), theirs.total)
    assert (ours.counts()[0], ours.counts()[-1], ours.total) == (2, 1, 9.0)
    with pytest.raises(ValueError, match="shorter"):
        ours.join(theirs.counts()[1:], 0.0)


def test_what_is_kept_does_not_grow() -> None:
    durations = Histogram()
    for _ in range(1000):
        durations.add(0.25)
    assert (len(durations.counts()), sum(durations.counts()), durations.total) == (len(BOUNDS) + 1, 1000, 250)
