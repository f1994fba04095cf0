"""The arena front end: a websocket port where clients send maps.

Knows how a wire, a hub and the dialect's objects fit together, and what a request's query asks for.
"""

from adapters.arena.codec import BEFORE_TOKEN, ArenaCodec, TokenCodec
from adapters.arena.translator import ArenaTranslator
from adapters.client.connection import Connection
from adapters.client.guard import Guard, token_of_handshake
from adapters.client.upgrade import Endpoint, wanted_place
from adapters.client.websocket import WebSocketTransport
from gateway.access.accounts import Accounts
from gateway.hub.hub import HubForPlayers

TEXT = (
    "This is the arena port of a Connect-Four gateway.\n"
    'Connect to it with a websocket client and send: {"type": "start", "id": "NAME"}\n'
    'or, in EDN: {:type "start", :id "NAME"}\n'
)


def endpoint(hub: HubForPlayers, page: int | None = None, accounts: Accounts | None = None) -> Endpoint:
    """Return what serves clients.

    `page` is the port of the page for people, if there is one. `accounts` are the protected names, if any.
    """

    async def talk(transport: WebSocketTransport, target: str) -> None:
        table, against = wanted_place(target)
        translator = ArenaTranslator(table, against)
        if accounts is None:
            await Connection(hub, transport, ArenaCodec(), translator).run()
            return
        given = token_of_handshake(accounts, transport, target)
        guard = Guard(translator, accounts, transport, BEFORE_TOKEN, given)
        await Connection(hub, transport, TokenCodec(), guard, hide=guard.hide).run()

    return Endpoint(talk, TEXT, page)
