"""When bytes arrived, how long the loop kept clients waiting, and what else fits into a turn of it."""

import itertools

import pytest
import trio
import trio.testing
from loop_turns import added_each_turn, slow_turns

from gateway.runtime.histogram import BOUNDS, Histogram
from gateway.runtime.turns import Budget, TimedTurns, Turns


class Loop:
    """A loop each of whose turns the test makes."""

    def __init__(self, clock: trio.testing.MockClock, turns: Turns | None = None) -> None:
        self.turns = turns or Turns()
        self._clock = clock
        self.turn(0, 0)

    def turn(self, work: float, poll: float, timeout: float | None = None) -> None:
        """Work for some seconds, and poll the sockets for some, where `timeout` was to be the most."""
        timeout = poll if timeout is None else timeout
        self._clock.jump(work)
        self.turns.before_io_wait(timeout)
        self._clock.jump(poll)
        self.turns.after_io_wait(timeout)


with_metrics_and_without = pytest.mark.parametrize("made", [Turns, TimedTurns])


# When bytes arrived.


@pytest.mark.parametrize(
    ("work", "poll", "most", "arrived"),
    [
        (0.003, 0.04, 0.05, 0.043),
        (2.0, 0.0, 0.0, 0.0),
        (0.25, 0.07, 0.05, 0.0),
        (0.001, 2.0, 0.05, 0.0),
        (0.5, 0.03, 0.05, 0.0),
        (0.001, 0.5, 0.0, 0.0),
    ],
    ids=[
        "when the poll was over that waited for them",
        "since the poll before, if they lay there after work",
        "since the poll before, if this one was delayed",
        "since the poll before, if this one was stopped and continued",
        "since the poll before, if this one was long after much work only",
        "since the poll before, if this one was not to wait",
    ],
)
@with_metrics_and_without
async def test_bytes_count_as_having_arrived(
    mock_clock: trio.testing.MockClock,
    made: type[Turns],
    work: float,
    poll: float,
    most: float,
    arrived: float,
) -> None:
    loop = Loop(mock_clock, made())
    loop.turn(work=0.001, poll=0.05)
    begin = trio.current_time()
    loop.turn(work, poll, most)
    assert loop.turns.arrived() == pytest.approx(begin + arrived)


@with_metrics_and_without
async def test_poll_that_was_broken_off_is_no_proof_that_nothing_was_there(
    mock_clock: trio.testing.MockClock, made: type[Turns]
) -> None:
    loop = Loop(mock_clock, made())
    loop.turn(work=0.001, poll=0.05)
    seen = trio.current_time()
    loop.turn(work=0.001, poll=2.0, timeout=0.05)
    loop.turn(work=0.001, poll=0)
    assert loop.turns.arrived() == seen


async def test_bytes_of_a_loop_that_nobody_sees_arrive_when_they_are_read() -> None:
    before = trio.current_time()
    assert before <= Turns().arrived() <= trio.current_time()


# How long others were kept waiting.


@with_metrics_and_without
async def test_delay_is_the_work_and_how_late_the_poll_behind_it_ended(
    mock_clock: trio.testing.MockClock, made: type[Turns]
) -> None:
    loop = Loop(mock_clock, made())
    begin = trio.current_time()
    loop.turn(work=0.5, poll=1.25, timeout=0.25)
    loop.turn(work=0.125, poll=0)
    assert loop.turns.delay_since(begin) == pytest.approx(1.5)


@with_metrics_and_without
async def test_longest_of_the_delays_counts_that_ended_since_then(
    mock_clock: trio.testing.MockClock, made: type[Turns]
) -> None:
    loop = Loop(mock_clock, made())
    loop.turn(work=2.0, poll=0)
    then = trio.current_time() + 1
    loop.turn(work=0.25, poll=3.0)
    loop.turn(work=0.125, poll=0)
    assert loop.turns.delay_since(then) == 0.25
    assert loop.turns.delay_since(trio.current_time()) == 0.125
    assert loop.turns.delay_since(trio.current_time() + 1) == 0.0


@with_metrics_and_without
async def test_short_turns_delay_nobody(mock_clock: trio.testing.MockClock, made: type[Turns]) -> None:
    loop = Loop(mock_clock, made())
    begin = trio.current_time()
    loop.turn(work=0.0005, poll=0)
    assert loop.turns.delay_since(begin) == 0.0


def ends(durations: Histogram) -> list[float]:
    """Return the upper end of the interval of each duration."""
    return [bound for bound, count in zip(BOUNDS, durations.counts(), strict=False) for _ in range(count)]


async def test_metrics_count_each_turn_by_its_work_and_by_the_wait_of_what_was_found(
    mock_clock: trio.testing.MockClock,
) -> None:
    turns = TimedTurns()
    loop = Loop(mock_clock, turns)
    for work, poll, timeout in ((0.15, 0.0, 0.0), (0.004, 0.3, 1.0), (0.03, 0.0, 0.0)):
        loop.turn(work, poll, timeout)
    assert ends(turns.delays) == [0.0005, 0.005, 0.05, 0.2]
    assert turns.delays.total == pytest.approx(0.184)
    # What the second poll found may have come when the work before it began; the third found what came then.
    assert turns.answers.total == pytest.approx(0.15 + (0.15 + 0.004) + 0.03)


# What else fits into a turn.


def pieces(budget: Budget, seconds: float = 0.25, most: int = 1000) -> int:
    """Return how many pieces of work still fit into the turn, of so many seconds each."""
    return sum(budget.take(seconds) for _ in range(most))


@pytest.mark.parametrize(
    ("turn", "seconds"), [(0, 1), (4, 1), (8, 2), (20, 5), (32, 8), (33, 8), (10_000, 8), (-5, 1)]
)
def test_budget_is_a_share_of_the_turn_before_within_its_bounds(turn: float, seconds: float) -> None:
    budget = Budget(least=1, share=0.25, most=8)
    for _ in range(2):  # what is left or was taken in one turn says nothing of the next
        budget.renew(turn)
        assert pieces(budget) == 4 * seconds
        assert pieces(budget) == 0


def test_last_piece_of_work_may_take_longer_than_what_is_left() -> None:
    budget = Budget(least=1, share=0.25, most=8)
    budget.renew(0)
    assert [budget.take(seconds) for seconds in (0.75, 100, 0.001)] == [True, True, False]


def test_there_is_time_for_everything_where_nobody_sees_the_turns() -> None:
    assert pieces(Budget(1, 0.25, 8), 1e9) == 1000
    assert pieces(Turns().deferred, 1e9) == pieces(Turns().accepting, 1e9) == 1000


@pytest.mark.parametrize("name", ["accepting", "deferred"])
async def test_each_turn_has_time_by_the_work_of_the_turn_before(
    mock_clock: trio.testing.MockClock, name: str
) -> None:
    loop = Loop(mock_clock)
    budget: Budget = getattr(loop.turns, name)

    def left(work: float, poll: float, timeout: float) -> int:
        loop.turn(work, poll, timeout)
        return pieces(budget, 0.0005)

    short, long, standstill = left(0, 0, 0), left(0.04, 0, 0), left(10.0, 0, 0)
    assert 1 <= short < long <= standstill
    assert standstill < 100  # 50 ms: whoever plays has waited long enough
    assert left(0.0001, 5.0, 10.0) == left(0.0001, 5.0, 1.0) == short  # to wait is not to work


@pytest.mark.parametrize("work", [0.01, 0.02, 0.05, 0.1, 1.0])
async def test_what_can_wait_never_makes_turns_longer_and_longer(
    mock_clock: trio.testing.MockClock, work: float
) -> None:
    loop = Loop(mock_clock)
    loop.turn(work, 0)
    step = work / 10_000
    for budget in (loop.turns.accepting, loop.turns.deferred):
        work -= pieces(budget, step, 10_000) * step
    assert work > 0


# Who goes on in a turn.


async def going_on(turns: Turns, count: int, seconds: float) -> tuple[list[int], list[int], list[int]]:
    """Let tasks wait. Return the orders in which they came and went on, and how many did in each turn."""
    came, gone = list[int](), list[int]()

    async def wait(number: int) -> None:
        came.append(number)
        await turns.wait(seconds)
        gone.append(number)

    with added_each_turn(gone) as steps:
        async with trio.open_nursery() as nursery:
            for number in range(count):
                nursery.start_soon(wait, number)
    return came, gone, steps


async def test_one_goes_on_in_each_turn_though_no_time_is_left(mock_clock: trio.testing.MockClock) -> None:
    with slow_turns(mock_clock, 0.05, is_full=True) as turns:
        came, gone, steps = await going_on(turns, 10, 0.0002)
    assert (gone, steps) == (came, [1] * 10)


async def test_more_go_on_the_more_time_there_is_and_none_before_those_who_came_earlier(
    mock_clock: trio.testing.MockClock,
) -> None:
    highest = []
    for seconds in (0.0, 0.01, 0.04):
        with slow_turns(mock_clock, seconds) as turns:
            came, gone, steps = await going_on(turns, 60, 0.0005)
        highest.append(max(steps))
        for before, after in itertools.pairwise(itertools.accumulate(steps, initial=0)):
            assert {*gone[before:after]} == {*came[before:after]}
    assert 1 < highest[0] < highest[1] < highest[2] < 60


async def test_all_go_on_soon_where_nobody_sees_the_turns() -> None:
    _, _, steps = await going_on(Turns(), 100, 1.0)
    assert (sum(steps), len(steps)) == (100, 2)


@pytest.mark.parametrize("leaves", ["while it waits", "when it is its turn"])
@pytest.mark.parametrize("is_full", [False, True])
async def test_task_that_is_cancelled_keeps_no_other_from_its_turn(
    mock_clock: trio.testing.MockClock, leaves: str, is_full: bool
) -> None:
    gone, scopes = set[int](), list[trio.CancelScope]()

    def leave() -> None:
        for scope in scopes[1::2]:
            scope.cancel()

    async def wait(number: int) -> None:
        with scopes[number]:
            await turns.wait(0.002)
            leave()  # others of the same turn have not gone on yet
            gone.add(number)

    with slow_turns(mock_clock, 0.02, is_full=is_full) as turns:
        for _ in range(2):  # the second time, nothing is left of the first
            gone.clear()
            scopes[:] = [trio.CancelScope() for _ in range(10)]
            async with trio.open_nursery() as nursery:
                for number in range(10):
                    nursery.start_soon(wait, number)
                await trio.lowlevel.checkpoint()
                if leaves == "while it waits":
                    leave()
            assert gone >= {0, 2, 4, 6, 8}


async def test_task_that_was_cancelled_before_has_no_turn_and_any_other_gives_way() -> None:
    turns = Turns()
    with trio.CancelScope() as scope:
        scope.cancel()
        await turns.wait(0.001)
    assert scope.cancelled_caught
    with trio.testing.assert_checkpoints():
        await turns.wait(0.001)
