"""The nac4 front end: a websocket port where clients say ``connect``.

Puts the dialect's parts together for one connection. A client says in the URL where it wants to play, so that
is read here and not in a message (PROTOCOL.md 4).
"""

from adapters.client.connection import Connection
from adapters.client.guard import Guard, token_of_handshake
from adapters.client.upgrade import Endpoint, wanted_place
from adapters.client.websocket import WebSocketTransport
from adapters.nac4.codec import BEFORE_TOKEN, Nac4Codec, TokenCodec
from adapters.nac4.translator import Nac4Translator
from gateway.access.accounts import Accounts
from gateway.game.commands import Wish, place_for
from gateway.hub.hub import HubForPlayers

TEXT = (
    "This is the nac4 port of a Connect-Four gateway.\n"
    "Connect to it with a websocket client and send: connect NAME\n"
)


def endpoint(
    hub: HubForPlayers, page: int | None = None, accounts: Accounts | None = None, *, original: bool = False
) -> Endpoint:
    """Return what serves clients; `original` words endings for those that know no ``Disconnected``.

    `page` is the port of the page for people, if there is one. `accounts` are the protected names, if any.
    """

    async def talk(transport: WebSocketTransport, target: str) -> None:
        table, against = wanted_place(target)
        place = place_for(table, None if against is None else Wish(against))
        translator = Nac4Translator(place, original=original)
        if accounts is None:
            await Connection(hub, transport, Nac4Codec(), translator).run()
            return
        given = token_of_handshake(accounts, transport, target)
        guard = Guard(translator, accounts, transport, BEFORE_TOKEN, given)
        codec = TokenCodec() if accounts.protects else Nac4Codec()  # where nobody has one, it is no token
        await Connection(hub, transport, codec, guard, hide=guard.hide).run()

    return Endpoint(talk, TEXT, page)
