"""The I32CFSP front end, for clients that send lines over TCP (PROTOCOL.md 1.1).

Puts the dialect's parts together for one connection.
"""

from adapters.client.accepted import Accepted, Serve
from adapters.client.name_check import checked_connection
from adapters.i32cfsp.codec import BEFORE_TOKEN, I32cfspCodec
from adapters.i32cfsp.translator import I32cfspTranslator
from gateway.access.accounts import Accounts
from gateway.hub.hub import HubForPlayers


def serving(hub: HubForPlayers, accounts: Accounts | None = None) -> Serve:
    """Return the function that serves clients. `accounts` are the protected names, if any."""

    async def serve(client: Accepted) -> None:
        codec, translator = I32cfspCodec(), I32cfspTranslator()
        await checked_connection(hub, client, codec, translator, accounts, BEFORE_TOKEN).run()

    return serve
