"""The nac4 front end: a websocket port where clients say ``connect``.

Puts the dialect's parts together for one connection. A client says in the URL where it wants to play, so that
is read here and not in a message (PROTOCOL.md 4).
"""

from adapters.client.accepted import Accepted, Serve
from adapters.client.name_check import checked_connection
from adapters.nac4.codec import BEFORE_TOKEN, Nac4Codec, TokenCodec
from adapters.nac4.translator import Nac4Translator
from gateway.access.accounts import Accounts
from gateway.game.commands import Wish, place_for
from gateway.hub.hub import HubForPlayers


def serving(hub: HubForPlayers, accounts: Accounts | None = None, *, original: bool = False) -> Serve:
    """Return what serves clients; `original` words endings for those that know no ``Disconnected``.

    `accounts` are the protected names, if any.
    """

    async def serve(client: Accepted) -> None:
        against = client.asked("against")
        place = place_for(client.asked("table"), None if against is None else Wish(against))
        translator = Nac4Translator(place, original=original)
        has_tokens = accounts is not None and accounts.protects  # where nobody has one, it is no token
        codec = TokenCodec() if has_tokens else Nac4Codec()
        await checked_connection(hub, client, codec, translator, accounts, BEFORE_TOKEN).run()

    return serve
