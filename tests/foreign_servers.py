"""Servers on real sockets that share no code with ours, for what stands at the client's end."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import TypeAlias

import trio
import trio_websocket

Talk: TypeAlias = Callable[[trio_websocket.WebSocketConnection, str], Awaitable[None]]
"""Talks to a client, which asked for a target, until the connection is to be closed."""


@asynccontextmanager
async def serving(serve: Callable[[trio.SocketStream], Awaitable[None]]) -> AsyncIterator[int]:
    """Give the port of a server that serves each connection with `serve`."""

    async def handle(stream: trio.SocketStream) -> None:
        async with stream:
            await serve(stream)

    async with trio.open_nursery() as nursery:
        (listener,) = await nursery.start(partial(trio.serve_tcp, handle, 0, host="127.0.0.1"))
        with trio.fail_after(20):
            yield listener.socket.getsockname()[1]
        nursery.cancel_scope.cancel()


@asynccontextmanager
async def serving_websockets(talk: Talk) -> AsyncIterator[int]:
    """Give the port of a server of websockets."""

    async def serve(stream: trio.SocketStream) -> None:
        try:
            async with trio.open_nursery() as nursery:
                request = await trio_websocket.wrap_server_stream(nursery, stream)
                async with await request.accept() as websocket:
                    await talk(websocket, request.path)
        except* trio_websocket.ConnectionClosed:
            pass

    async with serving(serve) as port:
        yield port
