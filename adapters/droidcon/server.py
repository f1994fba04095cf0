"""The Droidcon front end: a TCP port where clients, or people with telnet, type lines (PROTOCOL.md 1.1).

Knows which transport, codec and translator make a connection of this dialect. `adapters/connection.py` says
what a connection does, for all dialects.
"""

from adapters.connection import Connection
from adapters.droidcon.codec import DroidconCodec
from adapters.droidcon.translator import DroidconTranslator
from adapters.transports import LineTransport
from adapters.wire import Wire
from gateway.hub.interfaces import HubForPlayers


async def serve(wire: Wire, hub: HubForPlayers, *, rounds: int) -> None:
    """Serve one connection; a series in which such a client plays has `rounds` games."""
    transport = LineTransport(wire)
    await Connection(hub, transport, DroidconCodec(), DroidconTranslator(rounds)).run()
