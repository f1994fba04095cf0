"""A client in memory for what needs a stream of trio's: the server has the socket at its other end."""

import socket
from collections import Counter
from typing import TypeVar, cast

import trio

from adapters.entrance.admission import Admission, without_limits
from adapters.entrance.entrance import Entrance
from adapters.entrance.one_port import Receive
from adapters.entrance.preamble import Preamble
from adapters.net.socket import Backlogs, Socket
from conformance.lab.fuzz.memory import MemoryPoller, MemorySocket

S = TypeVar("S", bound=Socket)


class _Noticed(MemorySocket):
    """A socket whose client notices at once what the server does."""

    def send(self, data: bytes | bytearray) -> int:
        sent = super().send(data)
        self.changed.unpark_all()
        return sent

    def shutdown(self, how: int) -> None:
        super().shutdown(how)
        self.changed.unpark_all()

    def close(self) -> None:
        super().close()
        self.changed.unpark_all()


class MemoryClient(trio.abc.HalfCloseableStream):
    """The client's end of a connection in memory."""

    def __init__(self) -> None:
        self.socket = _Noticed()
        """The server's end, as the system has it."""
        self.is_mute = False
        """Whether nothing arrives of what the client sends."""

    def reset(self) -> None:
        """Vanish without a word."""
        self.socket.resets()

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        """Return what the server has sent, whatever `max_bytes` is; no bytes at the end of the stream."""
        await trio.lowlevel.checkpoint()
        while not (self.socket.sent or self.socket.has_ended or self.socket.is_closed):
            await self.socket.changed.park()
        return self.socket.take()

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """Let data arrive. Raises trio.BrokenResourceError where the server is gone."""
        await trio.lowlevel.checkpoint()
        if self.socket.is_closed or self.socket.is_reset:
            raise trio.BrokenResourceError
        if not self.is_mute:
            self.socket.arrives(bytes(data))

    async def wait_send_all_might_not_block(self) -> None:
        """Return at once."""
        await trio.lowlevel.checkpoint()

    async def send_eof(self) -> None:
        """Send no more."""
        await trio.lowlevel.checkpoint()
        self.socket.ends()

    async def aclose(self) -> None:
        """Send no more; the server notices nothing else."""
        await self.send_eof()


def socket_of(
    client: MemoryClient,
    kind: type[S] = Socket,  # type: ignore[assignment]
    backlogs: Backlogs | None = None,
) -> S:
    """Return the server's end."""
    return kind(cast("socket.socket", client.socket), MemoryPoller(), backlogs=backlogs)


async def serve(
    client: MemoryClient,
    name: str,
    receive: Receive,
    admission: Admission | None = None,
    preamble: Preamble | None = None,
) -> None:
    """Serve a client as on a port of its own, from its first byte on."""
    entrance = Entrance(
        name,
        receive,
        lambda _: socket_of(client),
        admission or without_limits(),
        preamble or Preamble(None, Counter()),
    )
    await entrance.serve(cast("trio.SocketStream", None))
