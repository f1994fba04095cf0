"""The Droidcon front end: a TCP port where clients, or people with telnet, type lines (PROTOCOL.md 1.1).

Knows which codec and translator make a connection of this dialect. What a connection does, for all dialects,
stands in `adapters/client/connection.py`.
"""

from adapters.client.accepted import Accepted, Serve
from adapters.client.name_check import checked_connection
from adapters.droidcon.codec import BEFORE_TOKEN, DroidconCodec
from adapters.droidcon.translator import DroidconTranslator
from gateway.access.accounts import Accounts
from gateway.hub.hub import HubForPlayers


def serving(hub: HubForPlayers, accounts: Accounts | None = None, *, rounds: int) -> Serve:
    """Return what serves clients; a series in which such a client plays has `rounds` games.

    `accounts` are the protected names, if any.
    """

    async def serve(client: Accepted) -> None:
        codec, translator = DroidconCodec(), DroidconTranslator(rounds)
        await checked_connection(hub, client, codec, translator, accounts, BEFORE_TOKEN).run()

    return serve
