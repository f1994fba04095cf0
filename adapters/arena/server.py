"""The arena front end: a websocket port where clients send maps.

Knows how a port, a hub and the dialect's objects fit together, and what stands in a request's query.
"""

import trio

from adapters.arena.codec import ArenaCodec
from adapters.arena.translator import ArenaTranslator
from adapters.connection import Connection
from adapters.transports import WebSocketTransport
from adapters.upgrade import Door, serve_websocket, wanted_place
from gateway.hub import Hub

PAGE = (
    "This is the arena port of a Connect-Four gateway.\n"
    'Connect to it with a websocket client and send: {"type": "start", "id": "NAME"}\n'
    'or, in EDN: {:type "start", :id "NAME"}\n'
)


async def serve(stream: trio.abc.Stream, hub: Hub) -> None:
    """Serve one connection."""

    async def talk(transport: WebSocketTransport, target: str) -> None:
        table, against = wanted_place(target)
        await Connection(hub, transport, ArenaCodec(), ArenaTranslator(table, against)).run()

    await serve_websocket(stream, Door(talk, PAGE))
