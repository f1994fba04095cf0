"""The Droidcon front end: a TCP port where clients, or people with telnet, type lines (PROTOCOL.md 1.1).

Knows which codec and translator make a connection of this dialect. What a connection does, for all dialects,
stands in `adapters/client/connection.py`.
"""

from adapters.client.accepted import Accepted, Serve
from adapters.client.connection import Connection
from adapters.client.name_check import NameCheck
from adapters.droidcon.codec import BEFORE_TOKEN, DroidconCodec
from adapters.droidcon.translator import DroidconTranslator
from gateway.access.accounts import Accounts
from gateway.hub.interfaces import HubForPlayers


def serving(hub: HubForPlayers, accounts: Accounts | None = None, *, rounds: int) -> Serve:
    """Return what serves clients; a series in which such a client plays has `rounds` games.

    `accounts` are the protected names, if any.
    """

    async def serve(client: Accepted) -> None:
        translator = DroidconTranslator(rounds)
        if accounts is None:
            await Connection(hub, client, DroidconCodec(), translator).run()
            return
        checked = NameCheck(translator, accounts, client, BEFORE_TOKEN)
        await Connection(hub, client, DroidconCodec(), checked, hide=checked.hide).run()

    return serve
