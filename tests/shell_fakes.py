"""What the shell's tests stand on: streams that can break, a transport that can stall, a toy dialect.

Plain objects with the faces of the real ones. Nothing here knows a real dialect.
"""

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager

import trio
import trio.testing
from wires import wired

from adapters.client.contract import PROBE_LIMIT, Farewell, Heard, PeerGone, Transport, WireError
from adapters.client.transports import never, received
from adapters.client.upgrade import Endpoint, serve_websocket
from adapters.net.pacing import UNLIMITED, Turns
from gateway.game.commands import AtTable, Command, Enter, Play, Unfit
from gateway.game.events import Dismissed, Event, Introduced, Refused, ToMove
from gateway.game.manners import Afterwards, Illegal, Manners


class Breakable(trio.abc.HalfCloseableStream):
    """A stream that can be reset from outside."""

    def __init__(self, stream: trio.abc.HalfCloseableStream) -> None:
        self._stream = stream
        self._broken = False
        self._reading: trio.CancelScope | None = None

    def reset(self) -> None:
        """Let the connection break, as the peer's reset would."""
        self._broken = True
        if self._reading is not None:
            self._reading.cancel()

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        if not self._broken:
            with trio.CancelScope() as self._reading:
                return bytes(await self._stream.receive_some(max_bytes))
        raise trio.BrokenResourceError

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        if self._broken:
            raise trio.BrokenResourceError
        await self._stream.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        await self._stream.wait_send_all_might_not_block()

    async def send_eof(self) -> None:
        if self._broken:
            raise trio.BrokenResourceError
        await self._stream.send_eof()

    async def aclose(self) -> None:
        await self._stream.aclose()


class Stallable(trio.abc.Stream):
    """A stream that can stop letting anything out, or lose it."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self.stalls = False
        self.drops = False
        self.dropped = 0
        self._stream = stream

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        return bytes(await self._stream.receive_some(max_bytes))

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        if self.stalls:
            await trio.sleep_forever()
        if self.drops:
            self.dropped += 1
        else:
            await self._stream.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        await self._stream.wait_send_all_might_not_block()

    async def aclose(self) -> None:
        await self._stream.aclose()


class FakeTransport:
    """A client's line that the test holds both ends of."""

    is_reachable = True

    def __init__(self) -> None:
        self.origin = "192.0.2.1"
        self.thinks = never
        self.limits = UNLIMITED
        self.read_at = 0.0
        self.ended = "hung up"
        self.sent: list[str] = []
        self.packets: list[list[str]] = []
        self.farewell: Farewell | None = None
        self.letting_in = trio.Event()
        """Unset: the client has stopped reading."""
        self.letting_in.set()
        self.gone = False
        self.answer = trio.Event()
        """Set: the client answers probes."""
        self.probes = 0
        self.may_think = never
        """What it was probed with."""
        self.turns = Turns()
        self._backlog: list[list[str]] = []
        self._give, self._take = trio.open_memory_channel[list[str]](1000)

    @property
    def waiting(self) -> int:
        return sum(len(text) for packet in self._backlog for text in packet)

    def arrives(self, *texts: str) -> None:
        """Let texts arrive in one packet."""
        self._give.send_nowait([*texts])

    def ends(self) -> None:
        """Let the client's stream end."""
        self._give.close()

    async def listen(self, heard: Heard) -> bool:
        async for texts in self._take:
            if texts == ["gone"]:
                raise PeerGone
            self.read_at = trio.current_time()
            if not heard(texts):
                return True
        return False

    async def receive(self) -> list[str]:
        return await received(self)

    def write(self, texts: Iterable[str]) -> bool:
        if self.gone:
            raise PeerGone
        self._backlog.append([*texts])
        return self.letting_in.is_set() and self._leaves()

    def granted(self, texts: int) -> int:
        return self.turns.granted(texts, self.read_at)

    async def turn(self) -> None:
        await self.turns.take()

    async def answers(self, may_think: Callable[[], bool]) -> bool:
        self.probes += 1
        self.may_think = may_think
        with trio.move_on_after(PROBE_LIMIT):
            await self.answer.wait()
        return self.answer.is_set()

    async def drain(self) -> None:
        await self.letting_in.wait()
        if self.gone:
            raise PeerGone
        self._leaves()

    async def send(self, texts: Iterable[str]) -> None:
        await send(self, texts)

    def _leaves(self) -> bool:
        for packet in self._backlog:
            self.packets.append(packet)
            self.sent += packet
        self._backlog.clear()
        return True

    async def settle(self) -> None:
        await trio.lowlevel.checkpoint()

    async def close(self, farewell: Farewell) -> None:
        self.farewell = farewell


class ToyCodec:
    """Texts are messages; those with an exclamation mark are none."""

    def decode(self, text: str) -> str:
        if "!" in text:
            raise WireError
        return text

    def encode(self, message: str) -> str:
        return message


class ToyTranslator:
    """``enter NAME`` sits down at the one table, ``play N`` plays; what is told are the events' names."""

    manners = Manners(illegal=Illegal.RETRY, afterwards=Afterwards.STEP_OUT)

    def receive(self, message: str, number: int = 0) -> Command:
        match message.split():
            case ["enter", name]:
                return Enter(AtTable("table"), name, number)
            case ["play", column]:
                return Play(int(column), number)
        return Unfit(number)

    def observe(self, event: Event, asked: str | None = None) -> Iterator[str]:
        match event:
            case Refused(objections):
                yield f"Refused {objections.name} {asked}"
            case Introduced(name):
                yield name
            case ToMove() | Dismissed():
                pass
            case _:
                yield type(event).__name__

    def farewell(self, dismissed: Dismissed) -> Farewell:
        return Farewell(1000, dismissed.why.value)


async def send(transport: Transport, texts: Iterable[str]) -> None:
    """Send all texts, and return when they have left."""
    if not transport.write(texts):
        await transport.drain()


async def at_an_endpoint(stream: trio.abc.Stream, endpoint: Endpoint) -> None:
    """Serve a stream that comes to a websocket port."""
    await serve_websocket(wired(stream), endpoint)


@asynccontextmanager
async def sockets() -> AsyncIterator[tuple[trio.SocketStream, trio.SocketStream]]:
    """Give both ends of a TCP connection."""
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port = listener.socket.getsockname()[1]
    with trio.fail_after(20):
        async with (
            listener,
            await trio.open_tcp_stream("127.0.0.1", port) as client,
            await listener.accept() as server,
        ):
            yield server, client


async def collect(transport: Transport, texts: list[str]) -> None:
    def heard(found: list[str]) -> bool:
        texts.extend(found)
        return True

    await transport.listen(heard)


async def drained(stream: trio.abc.ReceiveStream) -> bytes:
    """Return all that comes until the end of a stream."""
    data = b""
    while chunk := await stream.receive_some(65_536):
        data += chunk
    return data
