"""How often the same thing is said."""

from gateway.runtime.throttle import Throttle


def test_one_passes_in_an_interval() -> None:
    throttle = Throttle(10)
    passed = [throttle.passes(now) for now in (5, 6, 14.9, 15, 24, 25)]
    assert passed == [True, False, False, True, False, True]


def test_each_kind_passes_for_itself() -> None:
    throttle = Throttle(10)
    assert throttle.passes(1, "a")
    assert throttle.passes(2, "b")
    assert not throttle.passes(3, "a")
    assert throttle.passes(11, "a")
    assert not throttle.passes(11, "b")
