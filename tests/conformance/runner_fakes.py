"""Servers made for one test each, on real loopback sockets with ports that the system picks."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import trio
import trio_websocket

from conformance.outcome import Failed, Outcome
from conformance.play import Setting, play
from conformance.steps import Transcript
from conformance.targets import Address
from conformance.transcript import parse

TcpHandler = Callable[[trio.SocketStream], Awaitable[None]]
WebsocketHandler = Callable[[trio_websocket.WebSocketConnection], Awaitable[None]]

HEAD = {
    "droidcon": "clause droidcon 1.1\nsource derived\nclient a droidcon\n",
    "nac4": "clause nac4 1.1\nsource derived\nclient a nac4\n",
    "arena": "clause arena 1.1\nsource derived\nclient a arena\n",
}
# The head is three lines long, so the first step is line 4.
FIRST = 4


def script(text: str, head: str) -> Transcript:
    return parse(head + text, "dialect/topic", Path("topic.txt"))


@asynccontextmanager
async def tcp_server(handler: TcpHandler) -> AsyncIterator[Address]:
    async with trio.open_nursery() as nursery:
        serve = partial(trio.serve_tcp, handler, 0, host="127.0.0.1")
        listeners = await nursery.start(serve)
        yield Address("127.0.0.1", listeners[0].socket.getsockname()[1])
        nursery.cancel_scope.cancel()


@asynccontextmanager
async def websocket_server(handler: WebsocketHandler) -> AsyncIterator[Address]:
    async def accept(request: trio_websocket.WebSocketRequest) -> None:
        await handler(await request.accept())

    async with trio.open_nursery() as nursery:
        serve = partial(trio_websocket.serve_websocket, accept, "127.0.0.1", 0, None)
        server = await nursery.start(serve)
        yield Address("127.0.0.1", server.port)
        nursery.cancel_scope.cancel()


async def perform(text: str, dialect: str, address: Address, patience: float = 5.0) -> Outcome:
    """Play steps with one client, `a`, of a dialect; the names are `ax1` and so on."""
    return await play(script(text, HEAD[dialect]), Setting({dialect: address}, patience), "x1")


def steps_of(failed: Failed) -> list[str]:
    """The exchange without its times."""
    return [line.split(maxsplit=1)[1] for line in failed.exchange]
