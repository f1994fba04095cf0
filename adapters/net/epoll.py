"""Waits for all sockets in one task.

Knows epoll and how trio waits for a file descriptor. Does not know what is read. With one task for each
socket, every move would cost a task switch, and a system call to register the socket again. Here one poll
finds all readable sockets, and the poller calls their readers directly.
"""

import select
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Protocol, TypeAlias

import outcome
import trio

from gateway.runtime.turns import Turns

Ready: TypeAlias = Callable[[], bool]
"""Reads the available bytes without waiting. Returns whether the poller has to call it again."""

LEAVING = 0.0003
"""The estimated work of a task after `listen` has returned, in seconds. Most such tasks hang up."""

_Listener: TypeAlias = tuple[Ready, trio.lowlevel.Task]


class Poller(Protocol):
    """Waits for sockets."""

    async def listen(self, sock: socket.socket, ready: Ready) -> None:
        """Call `ready` each time there is something to read, until it returns False.

        Raises trio.BusyResourceError if another task already listens, trio.ClosedResourceError after
        `closing`, and the exceptions of `ready`.
        """

    def listens(self, sock: socket.socket) -> bool:
        """Return whether a task listens on the socket, so that arriving bytes are read at once."""

    async def wait_writable(self, sock: socket.socket) -> None:
        """Wait until the system accepts more bytes. Raises trio.ClosedResourceError after `closing`."""

    def closing(self, sock: socket.socket) -> None:
        """Raise trio.ClosedResourceError in all tasks that wait for a socket. Call this before closing it."""


class TaskPoller:
    """Waits for each socket in the task that listens to it.

    Clients use this poller, and servers on systems without epoll.
    """

    def __init__(self) -> None:
        self._listening: set[int] = set()

    async def listen(self, sock: socket.socket, ready: Ready) -> None:
        """Implement `Poller.listen`."""
        number = sock.fileno()
        if number in self._listening:
            raise trio.BusyResourceError
        self._listening.add(number)
        try:
            await trio.lowlevel.wait_readable(sock)
            while ready():
                await trio.lowlevel.wait_readable(sock)
        finally:
            self._listening.discard(number)

    def listens(self, sock: socket.socket) -> bool:
        """Implement `Poller.listens`."""
        return sock.fileno() in self._listening

    async def wait_writable(self, sock: socket.socket) -> None:
        """Implement `Poller.wait_writable`."""
        await trio.lowlevel.wait_writable(sock)

    def closing(self, sock: socket.socket) -> None:
        """Implement `Poller.closing`."""
        trio.lowlevel.notify_closing(sock)


class EpollPoller:
    """Polls all sockets at once. Needs a system that has epoll."""

    def __init__(self, turns: Turns | None = None) -> None:
        self._turns = turns or Turns()
        self._epoll = select.epoll()
        self._listeners: dict[int, _Listener] = {}
        self._ended: dict[trio.lowlevel.Task, outcome.Outcome[None]] = {}
        """Tasks that have to be resumed because their `listen` has ended, and the outcome of each."""

    async def run(self) -> None:
        """Poll until cancelled. After that, no task can listen."""
        with self._epoll:
            while True:
                if self._ended:
                    await trio.lowlevel.checkpoint()
                else:
                    await trio.lowlevel.wait_readable(self._epoll.fileno())
                # One poll has to find all ready sockets. Bytes that only the next poll found would count as
                # having arrived later.
                for number, _ in self._epoll.poll(0, len(self._listeners) or 1):
                    listener = self._listeners.get(number)
                    if listener is None:  # another reader has removed it
                        continue
                    try:
                        if not listener[0]():
                            self._end(number, listener, outcome.Value(None))
                    # The outcome is not kept in a variable: the error's traceback refers to this frame
                    except (Exception, SystemExit) as error:  # a plug-in may call `sys.exit`
                        self._end(number, listener, outcome.Error(error))
                listener = None  # otherwise the last listener would live until the next poll
                # If many clients hang up at once, their tasks are resumed over several turns.
                while self._ended:
                    task = next(iter(self._ended))
                    trio.lowlevel.reschedule(task, self._ended.pop(task))
                    if not self._turns.deferred.take(LEAVING):
                        break

    async def listen(self, sock: socket.socket, ready: Ready) -> None:
        """Implement `Poller.listen`."""
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
        """Implement `Poller.listens`."""
        return sock.fileno() in self._listeners

    async def wait_writable(self, sock: socket.socket) -> None:
        """Implement `Poller.wait_writable`."""
        await trio.lowlevel.wait_writable(sock)

    def closing(self, sock: socket.socket) -> None:
        """Implement `Poller.closing`."""
        trio.lowlevel.notify_closing(sock)
        listener = self._listeners.get(sock.fileno())
        if listener is not None:
            self._forget(sock.fileno())
            trio.lowlevel.reschedule(listener[1], outcome.Error(trio.ClosedResourceError()))

    def _end(self, number: int, listener: _Listener, end: outcome.Outcome[None]) -> None:
        if self._listeners.get(number) is listener:  # otherwise the reader itself has ended the listening
            self._forget(number)
            self._ended[listener[1]] = end

    def _forget(self, number: int) -> None:
        del self._listeners[number]
        with suppress(OSError, ValueError):  # after `run` has ended
            self._epoll.unregister(number)


@asynccontextmanager
async def polling(turns: Turns) -> AsyncIterator[Poller]:
    """Provide a poller until the block ends.

    It is an `EpollPoller` if the system has epoll, else a `TaskPoller`.
    """
    if not hasattr(select, "epoll"):
        yield TaskPoller()
        return
    poller = EpollPoller(turns)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(poller.run)
        yield poller
        nursery.cancel_scope.cancel()
