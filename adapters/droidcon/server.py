"""The Droidcon front end: a TCP port where clients, or people with telnet, type lines (PROTOCOL.md 1.1).

Knows which transport, codec and translator make a connection of this dialect. What a connection does, for all
dialects, stands in `adapters/client/connection.py`.
"""

from adapters.client.connection import Connection
from adapters.client.guard import Guard
from adapters.client.transports import LineTransport
from adapters.droidcon.codec import BEFORE_TOKEN, DroidconCodec
from adapters.droidcon.translator import DroidconTranslator
from adapters.net.wire import Wire
from gateway.access.accounts import Accounts
from gateway.hub.hub import HubForPlayers


async def serve(wire: Wire, hub: HubForPlayers, *, rounds: int, accounts: Accounts | None = None) -> None:
    """Serve one connection; a series in which such a client plays has `rounds` games.

    `accounts` are the protected names, if any.
    """
    transport, translator = LineTransport(wire), DroidconTranslator(rounds)
    if accounts is None:
        await Connection(hub, transport, DroidconCodec(), translator).run()
        return
    guard = Guard(translator, accounts, transport, BEFORE_TOKEN)
    await Connection(hub, transport, DroidconCodec(), guard, hide=guard.hide).run()
