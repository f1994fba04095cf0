"""Which sockets can be read, as cheaply as the system tells it: epoll, or poll where there is none."""

import select
from typing import Protocol


class Poller(Protocol):
    """What epoll and poll have in common."""

    def add(self, number: int) -> None:
        """Watch a socket."""

    def remove(self, number: int) -> None:
        """Watch it no longer."""

    def wait(self, seconds: float) -> list[tuple[int, int]]:
        """Return, within so many seconds, the sockets that can be read or have failed, each with a mask."""


class _Epoll:
    def __init__(self) -> None:
        self._epoll = select.epoll()

    def add(self, number: int) -> None:
        self._epoll.register(number, select.EPOLLIN)

    def remove(self, number: int) -> None:
        self._epoll.unregister(number)

    def wait(self, seconds: float) -> list[tuple[int, int]]:
        return self._epoll.poll(seconds)


class _Poll:
    def __init__(self) -> None:
        self._poll = select.poll()

    def add(self, number: int) -> None:
        self._poll.register(number, select.POLLIN)

    def remove(self, number: int) -> None:
        self._poll.unregister(number)

    def wait(self, seconds: float) -> list[tuple[int, int]]:
        return self._poll.poll(seconds * 1000)


def poller() -> Poller:
    """Return the best one there is."""
    return _Epoll() if hasattr(select, "epoll") else _Poll()
