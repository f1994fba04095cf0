"""Whose move is thought about next: by address, by name, by waiting time."""

import pytest
import trio
import trio.testing

from adapters.house.thinking import Claim, WorkerPool
from gateway.matchmaking.matchmaker import Opponent


class Queue:
    """Moves that take a second each, in the order in which they were served."""

    def __init__(self, nursery: trio.Nursery, workers: int = 1) -> None:
        self.pool = WorkerPool(workers)
        self.served: list[str] = []
        self._nursery = nursery

    def claim(self, origin: str, name: str, seconds: float = 1.0) -> Claim:
        return self.pool.enter(Opponent(origin, name, clocked=False), seconds)

    async def moves(self, label: str, claim: Claim, times: int = 1) -> None:
        """Let a game want a move, and the next as soon as it has that, so many times."""
        self._nursery.start_soon(self._moves, label, claim, times)
        await trio.testing.wait_all_tasks_blocked()

    async def _moves(self, label: str, claim: Claim, times: int) -> None:
        for _ in range(times):
            async with self.pool.worker(claim):
                self.served.append(label)
                await trio.sleep(1)


async def test_moves_of_one_client_are_served_in_the_order_of_their_wishes(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        queue = Queue(nursery)
        for label in "abcd":
            await queue.moves(label, queue.claim("one", "ann"))
    assert queue.served == ["a", "b", "c", "d"]


async def test_addresses_take_turns_however_many_games_they_have(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        queue = Queue(nursery)
        for number in range(20):
            await queue.moves("hog", queue.claim("one", f"name{number}"))
        await queue.moves("other", queue.claim("two", "ann"), times=3)
    assert queue.served[:7] == ["hog", "other"] * 3 + ["hog"]


async def test_names_of_one_address_take_turns(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        queue = Queue(nursery)
        for _ in range(20):
            await queue.moves("hog", queue.claim("one", "hog"))
        await queue.moves("other", queue.claim("one", "ann"), times=3)
    assert queue.served[:7] == ["hog", "other"] * 3 + ["hog"]


async def test_client_that_comes_back_waits_for_one_move_of_the_others_alone(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        queue = Queue(nursery)
        for _ in range(20):
            await queue.moves("hog", queue.claim("one", "hog"))
        ann = queue.claim("two", "ann")
        for at in (3.5, 7.5):
            await trio.sleep_until(at)
            await queue.moves("ann", ann)
        await trio.sleep_until(12)
        nursery.cancel_scope.cancel()
    assert [number for number, label in enumerate(queue.served) if label == "ann"] == [4, 8]


async def test_as_many_moves_at_once_as_there_are_workers(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        queue = Queue(nursery, workers=3)
        for label in "abcd":
            await queue.moves(label, queue.claim("one", label))
        assert queue.served == ["a", "b", "c"]
        assert queue.pool.part() == pytest.approx(3 / 8)
    assert queue.pool.part() == 1.0


@pytest.mark.parametrize("at", [0.5, 1.5])
async def test_who_gives_up_leaves_its_worker_to_the_next(autojump_clock: object, at: float) -> None:
    async with trio.open_nursery() as nursery:
        queue = Queue(nursery)
        await queue.moves("first", queue.claim("one", "ann"))
        with trio.CancelScope(deadline=trio.current_time() + at):
            nursery.start_soon(queue.moves, "last", queue.claim("three", "zoe"))
            async with queue.pool.worker(queue.claim("two", "eve")):
                await trio.sleep(100)
    assert queue.served == ["first", "last"]
    assert trio.current_time() < 3


async def test_who_is_given_a_worker_and_has_just_given_up_leaves_it_to_the_next() -> None:
    pool = WorkerPool(1)
    claim = pool.enter(Opponent("one", "ann", clocked=False), 1.0)
    async with trio.open_nursery() as nursery:
        async with pool.worker(claim):
            waits = trio.CancelScope()
            nursery.start_soon(_thinks, pool, claim, waits)
            await trio.testing.wait_all_tasks_blocked()
        waits.cancel()  # in the same turn of the loop
    async with pool.worker(claim):
        assert pool.part() == 0.5


async def test_who_gave_up_before_it_asked_takes_no_worker() -> None:
    pool = WorkerPool(1)
    given_up = trio.CancelScope()
    given_up.cancel()
    await _thinks(pool, pool.enter(Opponent("one", "ann", clocked=False), 1.0), given_up)
    assert pool.part() == 1.0


async def test_wait_that_is_foreseen_grows_with_own_games_and_with_names_and_addresses() -> None:
    pool = WorkerPool(2)
    ann, eve = Opponent("one", "ann", clocked=False), Opponent("one", "eve", clocked=False)
    bob = Opponent("two", "bob", clocked=False)
    assert pool.wait_with(ann, 3.0) == 1.5
    pool.enter(ann, 3.0)
    assert pool.wait_with(ann, 3.0) == 3.0
    pool.enter(eve, 1.0)
    assert pool.wait_with(ann, 3.0) == 6.0
    pool.enter(bob, 1.0)
    assert pool.wait_with(ann, 3.0) == 12.0
    assert pool.wait_with(bob, 1.0) == 2.0


async def _thinks(pool: WorkerPool, claim: Claim, scope: trio.CancelScope) -> None:
    with scope:
        async with pool.worker(claim):
            await trio.sleep_forever()
