"""The arena front end, for clients that connect by websocket and send maps.

Puts the dialect's parts together for one connection. Reads the wanted table and opponent from the request's
query.
"""

from adapters.arena.codec import BEFORE_TOKEN, ArenaCodec, TokenCodec
from adapters.arena.translator import ArenaTranslator
from adapters.client.accepted import Accepted, Serve
from adapters.client.name_check import checked_connection
from gateway.access.accounts import Accounts
from gateway.hub.hub import HubForPlayers


def serving(hub: HubForPlayers, accounts: Accounts | None = None) -> Serve:
    """Return the function that serves clients. `accounts` are the protected names, if any."""

    async def serve(client: Accepted) -> None:
        translator = ArenaTranslator(client.asked("table"), client.asked("against"))
        codec = ArenaCodec() if accounts is None else TokenCodec()
        await checked_connection(hub, client, codec, translator, accounts, BEFORE_TOKEN).run()

    return serve
