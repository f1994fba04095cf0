"""The Droidcon front end, for clients and people that send lines over TCP (PROTOCOL.md 1.1).

Puts the dialect's parts together for one connection.
"""

from adapters.client.accepted import Accepted, Serve
from adapters.client.name_check import checked_connection
from adapters.droidcon.codec import BEFORE_TOKEN, DroidconCodec
from adapters.droidcon.translator import DroidconTranslator
from gateway.access.accounts import Accounts
from gateway.hub.hub import HubForPlayers


def serving(hub: HubForPlayers, accounts: Accounts | None = None, *, rounds: int) -> Serve:
    """Return the function that serves clients. A series with a Droidcon client has `rounds` games.

    `accounts` are the protected names, if any.
    """

    async def serve(client: Accepted) -> None:
        codec, translator = DroidconCodec(), DroidconTranslator(rounds)
        await checked_connection(hub, client, codec, translator, accounts, BEFORE_TOKEN).run()

    return serve
