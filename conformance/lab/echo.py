"""Two echo servers, called floors, and their bots. They show the lowest possible cost of a message.

One echoes lines with trio's SocketStream, the other echoes texts with trio-websocket, each in the simplest
way. A message is as long as a move. Its echo stands for the message that reports the move to the opponent.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import trio
import trio_websocket

from conformance.dialects.droidcon import cut_lines
from conformance.dialects.frames import cut_frames, frame
from conformance.dialects.script import Cut, Phase, Place, Script, Step, Wish
from conformance.lab.workers import LoadError, reply, worker
from conformance.targets import Address

TCP, WEBSOCKET = "tcp", "websocket"
STARTING = 15.0
"""Seconds within which a floor must report its port."""
_CHUNK = 4096


class LineEcho(Script):
    """A bot that sends a line over TCP, and sends it again whenever it receives the echo."""

    start = Place(Phase.PLAYING)
    said, heard = b"PUT 3\n", b"PUT 3"

    def resource(self, wish: Wish) -> str | None:
        return None

    def opening(self, wish: Wish) -> bytes:
        return self.said

    def cut(self, data: bytes) -> Cut:
        return cut_lines(data)

    def advance(self, place: Place, message: bytes, name: str) -> Step | None:
        return Step(self.start, told=1, move=self.said) if message == self.heard else None


class TextEcho(LineEcho):
    """A bot that sends a text over a websocket, and sends it again whenever it receives the echo."""

    said, heard = frame(b"playmove 3\r\n"), b"playmove 3\r\n"

    def resource(self, wish: Wish) -> str | None:
        return "/"

    def cut(self, data: bytes) -> Cut:
        return cut_frames(data)


ECHOES: dict[str, type[LineEcho]] = {TCP: LineEcho, WEBSOCKET: TextEcho}


@asynccontextmanager
async def echoing(transport: str) -> AsyncIterator[tuple[int, Address]]:
    """Run a floor for as long as the block lasts; yield its process id and address. Raises LoadError."""
    async with worker(serve, transport) as floor:
        port = None
        with trio.move_on_after(STARTING):
            port = await floor.receive()
        if port is None:
            raise LoadError(f"the {transport} floor did not start")
        yield floor.pid, Address("127.0.0.1", port)


def serve(transport: str) -> None:
    """Reply with the port, and serve until killed."""
    trio.run(_serve, transport)


async def _serve(transport: str) -> None:
    async with trio.open_nursery() as nursery:
        if transport == TCP:
            listeners = await nursery.start(partial(trio.serve_tcp, _echo_lines, 0, host="127.0.0.1"))
            reply(listeners[0].socket.getsockname()[1])
        else:
            server = await nursery.start(trio_websocket.serve_websocket, _echo_texts, "127.0.0.1", 0, None)
            reply(server.port)


async def _echo_lines(stream: trio.SocketStream) -> None:
    rest = b""
    try:
        while data := await stream.receive_some(_CHUNK):
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                await stream.send_all(line + b"\n")
    except trio.BrokenResourceError:
        pass


async def _echo_texts(request: trio_websocket.WebSocketRequest) -> None:
    websocket = await request.accept()
    try:
        while True:
            await websocket.send_message(await websocket.get_message())
    except trio_websocket.ConnectionClosed:
        pass
