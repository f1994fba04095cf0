"""The nac4 front end, for clients that connect by websocket.

Puts the dialect's parts together for one connection. Reads the wanted table or opponent from the URL
(PROTOCOL.md 4).
"""

from adapters.client.accepted import Accepted, Serve
from adapters.client.name_check import checked_connection
from adapters.nac4.codec import BEFORE_TOKEN, Nac4Codec, TokenCodec
from adapters.nac4.translator import Nac4Translator
from gateway.access.accounts import Accounts
from gateway.game.commands import Wish, place_for
from gateway.hub.hub import HubForPlayers


def serving(hub: HubForPlayers, accounts: Accounts | None = None, *, original: bool = False) -> Serve:
    """Return the function that serves clients.

    With `original`, clients get ``Ok`` instead of ``Disconnected`` when the opponent has left, because the
    original client needs that. `accounts` are the protected names, if any.
    """

    async def serve(client: Accepted) -> None:
        against = client.asked("against")
        place = place_for(client.asked("table"), None if against is None else Wish(against))
        translator = Nac4Translator(place, original=original)
        # Without protected names, a second word after `connect` is an error, not a token
        has_tokens = accounts is not None and accounts.protects
        codec = TokenCodec() if has_tokens else Nac4Codec()
        await checked_connection(hub, client, codec, translator, accounts, BEFORE_TOKEN).run()

    return serve
