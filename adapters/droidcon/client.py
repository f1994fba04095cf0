"""The client's side of the Droidcon dialect."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeAlias

from adapters.dial import Client, open_lines
from adapters.droidcon.codec import DroidconClientCodec
from adapters.droidcon.messages import ClientMessage, ServerMessage

DroidconClient: TypeAlias = Client[ClientMessage, ServerMessage]


@asynccontextmanager
async def open_client(host: str, port: int) -> AsyncIterator[DroidconClient]:
    """Connect to a server, such as 127.0.0.1 and 4242. Raises OSError."""
    async with open_lines(host, port) as transport:
        yield Client(transport, DroidconClientCodec())
