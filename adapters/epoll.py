"""Waiting for bytes on many sockets, with one task.

Knows epoll and trio's way of waiting for a file descriptor. Does not know what is read. With a task for each
socket, every move would wake a task and register the socket anew, which is a system call. Here one poll finds
all readable sockets, and their readers are called at once (docs/performance.md).
"""

import select
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import TypeAlias

import outcome
import trio

Ready: TypeAlias = Callable[[], bool]
"""Reads what there is, without waiting; returns whether to call it again."""
Listener: TypeAlias = tuple[Ready, trio.lowlevel.Task]


class EpollReader:
    """Polls sockets on behalf of the tasks that listen. Needs a system that has epoll."""

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._listeners: dict[int, Listener] = {}

    async def run(self) -> None:
        """Poll until cancelled. After that, no task can listen."""
        with self._epoll:
            while True:
                await trio.lowlevel.wait_readable(self._epoll.fileno())
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

    async def listen(self, sock: socket.socket, ready: Ready) -> None:
        """Call `ready` each time there is something to read, until it returns False.

        Raises what `ready` raises, trio.BusyResourceError if another task listens already, and
        trio.ClosedResourceError when the socket is about to be closed.
        """
        number = sock.fileno()
        if number in self._listeners:
            raise trio.BusyResourceError
        self._epoll.register(number, select.EPOLLIN)
        self._listeners[number] = ready, trio.lowlevel.current_task()

        def give_up(_: object) -> trio.lowlevel.Abort:
            self._forget(number)
            return trio.lowlevel.Abort.SUCCEEDED

        await trio.lowlevel.wait_task_rescheduled(give_up)

    def closing(self, sock: socket.socket) -> None:
        """End the listening to a socket that is about to be closed."""
        listener = self._listeners.get(sock.fileno())
        if listener is not None:
            self._end(sock.fileno(), listener, outcome.Error(trio.ClosedResourceError()))

    def _end(self, number: int, listener: Listener, end: outcome.Outcome[None]) -> None:
        if self._listeners.get(number) is listener:  # otherwise it was cancelled by what it caused
            self._forget(number)
            trio.lowlevel.reschedule(listener[1], end)

    def _forget(self, number: int) -> None:
        del self._listeners[number]
        with suppress(OSError, ValueError):  # after `run` has ended
            self._epoll.unregister(number)
