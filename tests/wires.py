"""Wires for tests: on sockets as in the server, on memory streams by a socket that only looks like one."""

from typing import cast

import trio

from adapters.net.epoll import EpollReader
from adapters.net.pacing import Turns
from adapters.net.sockets import DirectSocket
from adapters.net.wire import Backlogs, Wire
from conformance.lab.fuzz.memory import MemorySocket
from gateway.runtime.turns import ArrivalTimes


def wired(
    stream: trio.abc.Stream,
    epoll: EpollReader | None = None,
    arrivals: ArrivalTimes | None = None,
    backlogs: Backlogs | None = None,
    turns: Turns | None = None,
) -> Wire:
    """Return a wire over a stream of any kind."""
    if isinstance(stream, trio.SocketStream):
        return Wire(DirectSocket(stream, epoll), arrivals, backlogs, turns)
    return Wire(cast("DirectSocket", MemorySocket(stream)), arrivals, backlogs, turns)
