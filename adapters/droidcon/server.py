"""The Droidcon front end: a TCP port where clients, or people with telnet, type lines."""

import trio

from adapters.connection import Connection
from adapters.droidcon.codec import DroidconCodec
from adapters.droidcon.translator import DroidconTranslator
from adapters.transports import LineTransport, Wire
from gateway.hub import Hub


async def serve(stream: trio.abc.Stream, hub: Hub, *, rounds: int) -> None:
    """Serve one connection; a series of two such clients has `rounds` games."""
    transport = LineTransport(Wire(stream))
    await Connection(hub, transport, DroidconCodec(), DroidconTranslator(rounds)).run()
