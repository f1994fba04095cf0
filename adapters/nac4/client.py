"""The client's side of the nac4 dialect.

For bots, tests and tools; speaks to any server of the dialect.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeAlias

from adapters.dial import Client, open_websocket
from adapters.nac4.codec import Nac4ClientCodec
from adapters.nac4.messages import ClientMessage, ServerMessage

Nac4Client: TypeAlias = Client[ClientMessage, ServerMessage]


@asynccontextmanager
async def open_client(url: str) -> AsyncIterator[Nac4Client]:
    """Connect to a server, such as ``ws://127.0.0.1:8080``. Raises OSError, PeerGone."""
    async with open_websocket(url) as transport:
        yield Client(transport, Nac4ClientCodec())
