"""Waiting for bytes on many sockets, with one task.

Knows epoll and trio's way of waiting for a file descriptor. Does not know what is read. With a task for each
socket, every move would wake a task and register the socket anew, which is a system call. Here one poll finds
all readable sockets, and their readers are called at once (docs/performance.md).

Where the listening of many ends at the same moment, because they leave or are read by their task from then
on, the tasks go on a few in each turn of the event loop, so that the others are served in between.
"""

import select
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from itertools import islice
from typing import TypeAlias

import outcome
import trio

from gateway.runtime.throttle import Portions

Ready: TypeAlias = Callable[[], bool]
"""Reads what there is, without waiting; returns whether to call it again."""
AT_ONCE = 2
"""Tasks whose listening has ended that go on in a short turn of the loop."""

Listener: TypeAlias = tuple[Ready, trio.lowlevel.Task]


class EpollReader:
    """Polls sockets on behalf of the tasks that listen. Needs a system that has epoll."""

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._listeners: dict[int, Listener] = {}
        self._ended: dict[trio.lowlevel.Task, outcome.Outcome[None]] = {}
        """Tasks whose listening has ended, and that have not been told yet."""

    async def run(self) -> None:
        """Poll until cancelled. After that, no task can listen."""
        portions = Portions(AT_ONCE)
        with self._epoll:
            while True:
                if self._ended:
                    await trio.lowlevel.checkpoint()
                else:
                    await trio.lowlevel.wait_readable(self._epoll.fileno())
                    portions.begin(trio.current_time())
                # All ready sockets, however many: bytes that one poll leaves out would count as not yet
                # arrived.
                for number, _ in self._epoll.poll(0, len(self._listeners) or 1):
                    listener = self._listeners.get(number)
                    if listener is None:  # it was removed while others were called
                        continue
                    try:
                        if not listener[0]():
                            self._end(number, listener, outcome.Value(None))
                    except Exception as error:  # kept in no variable: its traceback refers to this frame
                        self._end(number, listener, outcome.Error(error))
                listener = None  # otherwise the last one would live until the next poll
                if self._ended:
                    for task in [*islice(self._ended, portions.next(trio.current_time()))]:
                        trio.lowlevel.reschedule(task, self._ended.pop(task))

    async def listen(self, sock: socket.socket, ready: Ready) -> None:
        """Call `ready` each time there is something to read, until it returns False.

        Raises what `ready` raises, trio.BusyResourceError if another task listens already, and
        trio.ClosedResourceError when the socket is about to be closed.
        """
        number = sock.fileno()
        if number in self._listeners:
            raise trio.BusyResourceError
        self._epoll.register(number, select.EPOLLIN)
        task = trio.lowlevel.current_task()
        self._listeners[number] = ready, task

        def give_up(_: object) -> trio.lowlevel.Abort:
            if self._ended.pop(task, None) is None:
                self._forget(number)
            return trio.lowlevel.Abort.SUCCEEDED

        await trio.lowlevel.wait_task_rescheduled(give_up)

    def listens(self, sock: socket.socket) -> bool:
        """Return whether a task listens whose listening has not ended."""
        return sock.fileno() in self._listeners

    def closing(self, sock: socket.socket) -> None:
        """End the listening to a socket that is about to be closed."""
        listener = self._listeners.get(sock.fileno())
        if listener is not None:
            self._forget(sock.fileno())
            trio.lowlevel.reschedule(listener[1], outcome.Error(trio.ClosedResourceError()))

    def _end(self, number: int, listener: Listener, end: outcome.Outcome[None]) -> None:
        if self._listeners.get(number) is listener:  # otherwise it was cancelled by what it caused
            self._forget(number)
            self._ended[listener[1]] = end

    def _forget(self, number: int) -> None:
        del self._listeners[number]
        with suppress(OSError, ValueError):  # after `run` has ended
            self._epoll.unregister(number)


@asynccontextmanager
async def polling() -> AsyncIterator[EpollReader | None]:
    """Poll for as long as the block lasts, where the system has epoll."""
    if not hasattr(select, "epoll"):
        yield None
        return
    reader = EpollReader()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(reader.run)
        yield reader
        nursery.cancel_scope.cancel()
