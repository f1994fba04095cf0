"""Real sockets for tests of what has sockets for its subject."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio


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


async def drained(stream: trio.abc.ReceiveStream) -> bytes:
    """Return all that comes until the end of a stream."""
    data = b""
    while chunk := await stream.receive_some(65_536):
        data += chunk
    return data
