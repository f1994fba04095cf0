"""The viewers, in the web's process: they wait for events, and the server sends facts while there are any.

Knows trio and the channels; does not know HTTP. The rules it keeps:

- The server sends facts only while somebody watches, and for some seconds after that.
- A viewer that stops reading costs nothing: it is only a number in its channel's ring.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager

import trio

from adapters.web.live.channel import Channel, Wanted
from adapters.web.live.channels import KEPT, Channels
from adapters.web.live.model import Json
from gateway.game.fact_encoding import decode_fact
from gateway.runtime.child import LinkError

MOST = 768
"""Viewers at once."""
PATIENCE = 2.0
"""Seconds that a viewer waits for the first complete state."""
TICK = 1.0
"""Seconds between two looks for what is over."""


class UnavailableError(Exception):
    """Nobody can watch at the moment. Its text says why."""


class Viewer:
    """One viewer."""

    def __init__(self, channel: Channel, number: int | None) -> None:
        """`number` is that of the last event it got; None to begin with a snapshot."""
        self._channel = channel
        self._number = number
        self._woken = trio.Event()

    def take(self) -> bytes:
        """Return the events that it has not got yet. There may be none."""
        data = self._channel.since(self._number, trio.current_time())
        self._number = self._channel.number
        return data

    async def news(self) -> None:
        """Wait until there is something to take."""
        if self._number == self._channel.number:
            self._woken = trio.Event()
            self._channel.await_news(self._wake)
            await self._woken.wait()

    def close(self) -> None:
        """Stop waiting for events."""
        self._channel.await_no_news(self._wake)

    def _wake(self) -> None:
        self._woken.set()


class Live:
    """The live games, for all viewers."""

    def __init__(self, run: str, watch: Callable[[int], Awaitable[object]]) -> None:
        """`run` differs in each process; `watch` asks the server for facts, see `link.Watch`."""
        self.stopping = trio.Event()
        """Set when all viewers are to end."""
        self._watch = watch
        self._channels = Channels(run)
        self._visits = 0
        self._latest = 0.0
        """When the last viewer left."""
        self._visited = trio.Event()
        self._whole = trio.Event()

    async def run(self) -> None:
        """Ask the server for facts while somebody watches, until cancelled."""
        while True:
            await self._visited.wait()
            await self._watch(self._channels.request)
            while self._visits or trio.current_time() < self._latest + KEPT:
                await trio.sleep(TICK)
                self._channels.tick(trio.current_time())
            self._visited, self._whole = trio.Event(), trio.Event()
            self._channels.renew()
            await self._watch(0)

    def begin(self, number: int) -> None:
        """Expect the state for a request."""
        self._channels.begin(number)

    def hear(self, found: Iterable[bytes]) -> None:
        """Take in facts from the server, as `gateway.game.fact_encoding` writes them. Raises LinkError."""
        try:
            facts = [*map(decode_fact, found)]
        except ValueError as error:
            raise LinkError(f"not a fact: {error}") from error
        self._channels.hear(facts, trio.current_time())

    def complete(self) -> None:
        """Take in that the state is complete."""
        self._channels.complete(trio.current_time())
        if self._channels.is_whole:
            self._whole.set()

    async def state(self, wanted: Wanted) -> Json:
        """Return the state that a new viewer would get. Raises UnavailableError."""
        with self._visit():
            await self._all_is_told()
            return self._channels.state(wanted, trio.current_time())

    async def about(self, name: str) -> Json:
        """Return what players of this name are here, and their games. Raises UnavailableError."""
        with self._visit():
            await self._all_is_told()
            return self._channels.about(name, trio.current_time())

    @asynccontextmanager
    async def viewer(self, wanted: Wanted, last: str) -> AsyncIterator[Viewer]:
        """Give a viewer; `last` is the id of the last event it got. Raises UnavailableError."""
        if self._visits >= MOST:
            raise UnavailableError("too many watch at the moment")
        with self._visit():
            await self._all_is_told()
            channel = self._channels.open(wanted)
            viewer = Viewer(channel, channel.number_in(last))
            try:
                yield viewer
            finally:
                viewer.close()
                self._channels.close(channel, trio.current_time())

    @contextmanager
    def _visit(self) -> Iterator[None]:
        self._visits += 1
        self._visited.set()
        try:
            yield
        finally:
            self._visits -= 1
            self._latest = trio.current_time()

    async def _all_is_told(self) -> None:
        with trio.move_on_after(PATIENCE):
            await self._whole.wait()
        if not self._channels.is_whole:
            raise UnavailableError("what is on is not known yet")
