"""The RPI front end, for clients that connect by websocket.

Puts the dialect's parts together for one connection. Reads the wanted table or opponent from the URL
(PROTOCOL.md 4.1).
"""

from adapters.client.accepted import Accepted, Serve
from adapters.client.name_check import checked_connection
from adapters.rpi.codec import BEFORE_TOKEN, RpiCodec
from adapters.rpi.observers import Observers
from adapters.rpi.translator import RpiTranslator
from gateway.access.accounts import Accounts
from gateway.game.commands import Wish, place_for
from gateway.hub.hub import HubForPlayers


def serving(hub: HubForPlayers, accounts: Accounts | None = None) -> Serve:
    """Return the function that serves clients. `accounts` are the protected names, if any."""
    observers = Observers(hub)

    async def serve(client: Accepted) -> None:
        against = client.asked("against")
        place = place_for(client.asked("table"), None if against is None else Wish(against))
        codec, translator = RpiCodec(), RpiTranslator(place)
        connection = checked_connection(
            hub, client, codec, translator, accounts, BEFORE_TOKEN, queries=observers
        )
        try:
            await connection.run()
        finally:
            observers.forget(connection)

    return serve
