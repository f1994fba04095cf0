"""How fast a client is read, by the numbers of its messages."""

import itertools

import pytest
import trio
import trio.testing

from adapters.client.rate_limit import ClientLimits, RateLimit


def carried_out(rate: RateLimit, number: int, now: float) -> int:
    """Return the number of the last message that may be carried out now, if there are enough."""
    while number < rate.upto or rate.allows(number, now):
        number += 1
    return number


def test_as_many_messages_as_the_burst_are_read_at_once_and_then_so_many_a_second() -> None:
    rate = RateLimit(ClientLimits(rate=8, burst=5), 100.0)
    assert carried_out(rate, 0, 100.0) == 5
    assert not rate.allows(5, 99.0)  # time may go back
    assert carried_out(rate, 5, 100.0625) == 5
    assert carried_out(rate, 5, 100.125) == 6
    assert carried_out(rate, 6, 100.375) == 8
    assert carried_out(rate, 8, 1000.0) == 13


def test_parts_of_a_message_are_not_lost() -> None:
    rate = RateLimit(ClientLimits(rate=10, burst=5), 0.0)
    number = 0
    for step in range(1, 1001):
        number = carried_out(rate, number, step * 0.07)
    assert number in (704, 705)  # 5, and 70 seconds


@pytest.mark.parametrize(("pause", "after"), [*itertools.product((0.0, 3.0, 100.0), (1, 5, 9))])
def test_no_client_gets_more_than_two_bursts_beyond_its_rate(pause: float, after: int) -> None:
    rate = RateLimit(ClientLimits(rate=10, burst=10), 0.0)
    assert carried_out(rate, after, pause) - after <= 20


class Reached:
    """Counts how often a client reaches a limit, by option and origin."""

    def __init__(self) -> None:
        self.times = 0
        self.which = set[tuple[str, str]]()

    def __call__(self, option: str, origin: str) -> None:
        self.times += 1
        self.which.add((option, origin))


async def test_client_that_is_too_fast_waits_and_its_origin_is_reported(
    autojump_clock: trio.testing.MockClock,
) -> None:
    reached = Reached()
    begin = trio.current_time()
    rate = RateLimit(ClientLimits(rate=10, burst=5, reached=reached), begin)
    for number in range(105):
        await rate.wait(number, "192.0.2.1")
        assert number < rate.upto
        assert (reached.times > 0) is (trio.current_time() > begin) is (number >= 5)
    assert 9.9 <= trio.current_time() - begin <= 10.2
    assert reached.which == {("messages-per-second", "192.0.2.1")}


@pytest.mark.parametrize(("burst", "least", "most"), [(1, 1000, 1000), (100, 10, 50)])
async def test_client_with_a_burst_does_not_wait_for_each_message(
    autojump_clock: trio.testing.MockClock, burst: int, least: int, most: int
) -> None:
    reached = Reached()
    rate = RateLimit(ClientLimits(rate=1000, burst=burst, reached=reached), trio.current_time())
    for number in range(burst, burst + 1000):
        await rate.wait(number, "192.0.2.1")
    assert least <= reached.times <= most
