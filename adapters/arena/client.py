"""The client's side of the arena dialect."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeAlias

from adapters.arena.codec import ArenaClientCodec
from adapters.arena.messages import ClientMessage, Encoding, ServerMessage
from adapters.dial import Client, open_websocket

ArenaClient: TypeAlias = Client[ClientMessage, ServerMessage]


@asynccontextmanager
async def open_client(url: str, encoding: Encoding) -> AsyncIterator[ArenaClient]:
    """Connect to a server, such as ``ws://127.0.0.1:8001``. Raises OSError, PeerGone."""
    async with open_websocket(url) as transport:
        yield Client(transport, ArenaClientCodec(encoding))
