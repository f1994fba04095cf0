"""How fast a client is read, by the numbers of its messages."""

import itertools
from collections.abc import Sequence

import pytest
import trio
import trio.testing
from loop_turns import added_each_turn, slow_turns

from adapters.net.pacing import UNLIMITED, ClientLimits, Pace, Turns
from gateway.runtime.throttle import EACH


def carried_out(pace: Pace, number: int, now: float) -> int:
    """Return the number of the last message that may be carried out now, if there are enough."""
    while number < pace.upto or pace.allows(number, now):
        number += 1
    return number


def test_as_many_messages_as_the_burst_are_read_at_once_and_then_so_many_a_second() -> None:
    pace = Pace(ClientLimits(rate=8, burst=5), 100.0)
    assert carried_out(pace, 0, 100.0) == 5
    assert carried_out(pace, 5, 100.0625) == 5
    assert carried_out(pace, 5, 100.125) == 6
    assert carried_out(pace, 6, 100.375) == 8
    assert carried_out(pace, 8, 1000.0) == 13


def test_parts_of_a_message_are_not_lost() -> None:
    pace = Pace(ClientLimits(rate=10, burst=5), 0.0)
    number = 0
    for step in range(1, 1001):
        number = carried_out(pace, number, step * 0.07)
    assert number in (704, 705)  # 5, and 70 seconds


def test_no_client_gets_more_than_two_bursts_beyond_its_rate() -> None:
    for pause, after in itertools.product((0.0, 3.0, 100.0), (1, 5, 9)):
        pace = Pace(ClientLimits(rate=10, burst=10), 0.0)
        number = after
        assert carried_out(pace, number, pause) - number <= 20


def test_time_that_went_back_allows_nothing() -> None:
    pace = Pace(ClientLimits(rate=8, burst=5), 100.0)
    assert not pace.allows(5, 99.0)
    assert carried_out(pace, 5, 100.125) == 6


def test_client_without_limits_is_never_held_back() -> None:
    pace = Pace(UNLIMITED, 0.0)
    assert pace.upto > 10**12


async def test_client_that_is_too_fast_waits_and_that_is_told_of(
    autojump_clock: trio.testing.MockClock,
) -> None:
    reached: list[tuple[str, str]] = []
    limits = ClientLimits(rate=10, burst=5, reached=lambda *which: reached.append(which))
    begin = trio.current_time()
    pace = Pace(limits, begin)
    await pace.ready(4, "192.0.2.1")
    assert (trio.current_time(), reached) == (begin, [])
    number = 5
    for _ in range(100):
        await pace.ready(number, "192.0.2.1")
        assert number < pace.upto
        number += 1
    assert 9.9 <= trio.current_time() - begin <= 10.2
    assert {*reached} == {("messages-per-second", "192.0.2.1")}


async def test_client_with_a_high_rate_does_not_wait_for_each_message(
    autojump_clock: trio.testing.MockClock,
) -> None:
    reached: list[tuple[str, str]] = []
    pace = Pace(
        ClientLimits(rate=1000, burst=1, reached=lambda *which: reached.append(which)), trio.current_time()
    )
    for number in range(1, 1001):
        await pace.ready(number, "192.0.2.1")
    assert len(reached) == 1000  # a burst of one is one at a time
    reached.clear()
    pace = Pace(
        ClientLimits(rate=1000, burst=100, reached=lambda *which: reached.append(which)), trio.current_time()
    )
    for number in range(100, 1100):
        await pace.ready(number, "192.0.2.1")
    assert 10 < len(reached) <= 1000 / 20


@pytest.mark.parametrize(("turn", "going"), [(0.0, [1] * 10), (3.5 * EACH, [1, 3, 3, 3])])
async def test_clients_go_on_in_their_order_one_a_turn_and_more_if_turns_are_long(
    mock_clock: trio.testing.MockClock, turn: float, going: Sequence[int]
) -> None:
    turns, came, gone = Turns(), list[int](), list[int]()

    async def wait(number: int) -> None:
        came.append(number)
        await turns.take()
        gone.append(number)

    with slow_turns(mock_clock, turn), added_each_turn(gone) as steps:
        async with trio.open_nursery() as nursery:
            for number in range(10):
                nursery.start_soon(wait, number)
    assert steps == going
    for before, after in itertools.pairwise(itertools.accumulate(going, initial=0)):
        assert {*gone[before:after]} == {*came[before:after]}


@pytest.mark.parametrize("leaves", ["while it waits", "when it is its turn"])
async def test_clients_that_leave_keep_no_others_from_their_turns(
    mock_clock: trio.testing.MockClock, leaves: str
) -> None:
    turns, gone = Turns(), set[int]()
    scopes = [trio.CancelScope() for _ in range(10)]

    def leave() -> None:
        for scope in scopes[1::2]:
            scope.cancel()

    async def wait(number: int) -> None:
        with scopes[number]:
            await turns.take()
            leave()  # others of the same turn have not gone on yet
            gone.add(number)
            await trio.lowlevel.checkpoint()

    for _ in range(2):  # the second time, nothing is left of the first
        gone.clear()
        scopes[:] = [trio.CancelScope() for _ in range(10)]
        with slow_turns(mock_clock, 3.5 * EACH):
            async with trio.open_nursery() as nursery:
                for number in range(10):
                    nursery.start_soon(wait, number)
                await trio.lowlevel.checkpoint()
                if leaves == "while it waits":
                    leave()
                for _ in range(20):
                    await trio.lowlevel.checkpoint()
                nursery.cancel_scope.cancel()
        assert gone >= {0, 2, 4, 6, 8}


async def test_client_that_has_left_has_no_turn() -> None:
    turns = Turns()
    with trio.CancelScope() as scope:
        scope.cancel()
        await turns.take()
    assert scope.cancelled_caught
    with trio.testing.assert_checkpoints():
        await turns.take()
