"""Lines over a wire, and what all transports have in common.

Knows where a line ends. Does not know dialects: a transport moves texts. Whatever goes wrong with a peer is
`PeerGone`, and everything that waits has a limit.
"""

from collections.abc import Callable, Iterable
from functools import partial

import trio

from adapters.client.contract import (
    PROBE_LIMIT,
    SEND_LIMIT,
    STOPPED_READING,
    Farewell,
    Heard,
    PeerGone,
    Transport,
)
from adapters.client.framing import Lines
from adapters.net.pacing import ClientLimits
from adapters.net.wire import Wire
from gateway.runtime.accepting import KEEPALIVE_IDLE

HUNG_UP = "hung up"
"""How a client ended its connection without breaking a rule."""

_LOOKS = *(0.01 * 2**look for look in range(8)), PROBE_LIMIT - 0.01 * 255
"""Seconds from a probe, and then from each look for its answer, to the next look: `PROBE_LIMIT` in all."""
_SLACK = 0.02
"""Seconds by which the system's figures for a connection may be wrong."""
_SETTLE_LIMIT = 100
"""Turns of the loop, a millisecond apart. Seconds would pass while the server stands still, too."""


class WireTransport:
    """What every transport has of the wire that carries it."""

    __slots__ = ("_wire", "thinks")

    def __init__(self, wire: Wire) -> None:
        self.thinks = never
        self._wire = wire

    @property
    def origin(self) -> str:
        """Where the client comes from."""
        return self._wire.origin

    @property
    def limits(self) -> ClientLimits:
        """What is held against the client."""
        return self._wire.limits

    @property
    def is_reachable(self) -> bool:
        """Whether nothing says that the client has vanished."""
        return self._wire.is_reachable

    @property
    def waiting(self) -> int:
        """Bytes that were written and have not left."""
        return self._wire.waiting

    @property
    def read_at(self) -> float:
        """When the latest texts arrived."""
        return self._wire.read_at

    def granted(self, texts: int) -> int:
        """Return how many of that many texts of this client may be carried out now, at least one."""
        return self._wire.granted(texts)

    async def turn(self) -> None:
        """Return when it is the turn of this client, of those that have sent more than is done at once."""
        await self._wire.turn()

    async def answers(self, may_think: Callable[[], bool]) -> bool:
        """Return whether the client answers a probe, which is on its way, within `PROBE_LIMIT` seconds."""
        began, reads = trio.current_time(), self._wire.reads
        for pause in _LOOKS:  # rather than until a time: while the server stands still nobody can answer
            await trio.sleep(pause)
            may_not_read = may_think() or self._wire.waiting > 0
            is_acknowledged = self._wire.silence <= trio.current_time() - began + _SLACK
            if self._wire.reads != reads or (may_not_read and is_acknowledged):
                return True
        return self._wire.is_readable

    async def drain(self) -> None:
        """Return when all that was written has left."""
        try:
            with trio.fail_after(SEND_LIMIT):
                await self._wire.drain()
        except trio.TooSlowError:
            raise PeerGone(STOPPED_READING) from None
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            raise PeerGone(STOPPED_READING if self._wire.is_given_up else "") from None


class LineTransport(WireTransport):
    """Lines over a byte stream."""

    __slots__ = ("_ended", "_lines")

    def __init__(self, wire: Wire) -> None:
        super().__init__(wire)
        self._lines = Lines()
        self._ended = False

    @property
    def ended(self) -> str:
        """How the client ended it: lines leave no other way."""
        return HUNG_UP

    async def listen(self, heard: Heard) -> bool:
        """Call `heard` with the lines that arrive; return whether it stopped that, or no more can come."""
        try:
            if not self._ended:
                await self._wire.listen(partial(self._ready, heard))
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            raise PeerGone from None
        return not self._ended

    def _ready(self, heard: Heard) -> bool:
        data = self._wire.read()
        if data:
            lines = self._lines.feed(data)
        elif data is None:
            return True
        else:
            self._ended = True
            lines = self._lines.end()
        return (not lines or heard(lines)) and not self._ended

    async def receive(self) -> list[str]:
        """Return the lines that have arrived, at least one; none at the end of the stream."""
        return await received(self)

    def write(self, texts: Iterable[str]) -> bool:
        """Send one or more texts, each as a line, in as few packets as possible."""
        try:
            return self._wire.write(("\n".join(texts) + "\n").encode())
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            raise PeerGone from None

    async def send(self, texts: Iterable[str]) -> None:
        """Write and drain."""
        if not self.write(texts):
            await self.drain()

    async def answers(self, may_think: Callable[[], bool]) -> bool:
        """Return whether the client's system answers: there is nothing that a client itself would answer."""
        self._wire.probe_after(1)
        try:
            return await super().answers(lambda: True)
        finally:
            self._wire.probe_after(KEEPALIVE_IDLE)

    async def settle(self) -> None:
        """Return when everything that had arrived has been handed out."""
        await settled(lambda: self._wire.is_quiet)

    async def close(self, farewell: Farewell) -> None:
        """Hang up; a stream has no word for good-bye."""
        await self._wire.linger()


def never() -> bool:
    """Say that a client does not think."""
    return False


async def received(transport: Transport) -> list[str]:
    """Return the texts that have arrived, at least one; none when no more can come."""
    arrived: list[str] = []

    def heard(texts: list[str]) -> bool:
        arrived.extend(texts)
        return False

    await transport.listen(heard)
    return arrived


async def settled(is_quiet: Callable[[], bool]) -> None:
    """Return once `is_quiet` has held for a few turns of the loop, in which a text gets handed on."""
    quiet = 0
    for _ in range(_SETTLE_LIMIT):
        await trio.lowlevel.checkpoint()
        quiet = quiet + 1 if is_quiet() else 0
        if quiet == 3:
            return
        if not quiet:
            await trio.sleep(0.001)
