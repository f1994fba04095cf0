"""A port on real sockets, for what has TLS, or passing sockets on, for its subject."""

import ssl
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

import trio

from adapters.entrance.admission import Admission, without_limits
from adapters.entrance.entrance import Entrance
from adapters.entrance.one_port import Receive
from adapters.entrance.preamble import Preamble
from adapters.net.socket import Socket, taken


@dataclass(frozen=True)
class TcpPort:
    """A port, and how clients come to it."""

    listener: trio.SocketListener
    nursery: trio.Nursery
    stack: AsyncExitStack

    async def dial(
        self,
        receive: Receive,
        preamble: Preamble | None = None,
        tls: ssl.SSLContext | None = None,
        *,
        admission: Admission | None = None,
        before: bytes = b"",
    ) -> trio.abc.Stream:
        """Return a client that is let in; one with `tls` shakes hands when it sends, behind `before`."""
        address = self.listener.socket.getsockname()
        client = await trio.open_tcp_stream(*address)
        self.stack.push_async_callback(trio.aclose_forcefully, client)
        entrance = Entrance(
            "toy",
            receive,
            lambda stream: Socket(taken(stream)),
            admission or without_limits(),
            preamble or Preamble(None, Counter()),
        )
        self.nursery.start_soon(entrance.serve, await self.listener.accept())
        if before:
            await client.send_all(before)
        if tls is None:
            return client
        return trio.SSLStream(client, tls, server_hostname="127.0.0.1", https_compatible=True)


@asynccontextmanager
async def tcp_port() -> AsyncIterator[TcpPort]:
    """Open a port; what it serves is cancelled at the end."""
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    async with listener, AsyncExitStack() as stack, trio.open_nursery() as nursery:
        yield TcpPort(listener, nursery, stack)
        nursery.cancel_scope.cancel()


async def everything(stream: trio.abc.ReceiveStream) -> bytes:
    """Return what comes until the other end hangs up."""
    data = b""
    while chunk := await stream.receive_some():
        data += chunk
    return data


async def until(stream: trio.abc.ReceiveStream, end: bytes) -> bytes:
    """Return what comes up to some bytes, and what came with them."""
    data = b""
    while end not in data:
        chunk = await stream.receive_some()
        assert chunk, data
        data += chunk
    return data
