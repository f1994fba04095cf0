"""The arena front end: a websocket port where clients send maps.

Knows how a wire, a hub and the dialect's objects fit together, and what a request's query asks for.
"""

from adapters.arena.codec import ArenaCodec
from adapters.arena.translator import ArenaTranslator
from adapters.connection import Connection
from adapters.upgrade import Endpoint, wanted_place
from adapters.websocket import WebSocketTransport
from gateway.hub.interfaces import HubForPlayers

TEXT = (
    "This is the arena port of a Connect-Four gateway.\n"
    'Connect to it with a websocket client and send: {"type": "start", "id": "NAME"}\n'
    'or, in EDN: {:type "start", :id "NAME"}\n'
)


def endpoint(hub: HubForPlayers, page: int | None = None) -> Endpoint:
    """Return what serves clients; `page` is the port of the page for people, if there is one."""

    async def talk(transport: WebSocketTransport, target: str) -> None:
        table, against = wanted_place(target)
        await Connection(hub, transport, ArenaCodec(), ArenaTranslator(table, against)).run()

    return Endpoint(talk, TEXT, page)
