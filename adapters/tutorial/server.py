"""The tutorial front end, for clients that connect by websocket and send JSON.

Puts the dialect's parts together for one connection. Reads the player's name, and the wanted table or
opponent, from the request's query (PROTOCOL.md 3.4, 3.9).
"""

from adapters.client.accepted import Accepted, Serve
from adapters.client.name_check import checked_connection
from adapters.tutorial.codec import BEFORE_TOKEN, TutorialCodec
from adapters.tutorial.observers import Observers
from adapters.tutorial.translator import TutorialTranslator, guest, new_key, place_in
from gateway.access.accounts import Accounts
from gateway.hub.hub import HubForPlayers


def serving(hub: HubForPlayers, accounts: Accounts | None = None) -> Serve:
    """Return the function that serves clients. `accounts` are the protected names, if any."""

    observers = Observers(hub)

    async def serve(client: Accepted) -> None:
        place = place_in(client.asked("table"), client.asked("against"))
        name = client.asked("name") or ""
        translator = TutorialTranslator(name if name.strip() else guest(), new_key(), place)
        connection = checked_connection(
            hub, client, TutorialCodec(), translator, accounts, BEFORE_TOKEN, queries=observers
        )
        observers.add(connection, translator)
        try:
            await connection.run()
        finally:
            observers.forget(connection)

    return serve
