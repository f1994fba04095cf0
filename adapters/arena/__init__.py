"""c4-arena: bots that come by websocket and send maps, in JSON or EDN."""

from argparse import Namespace
from functools import partial
from typing import TYPE_CHECKING

from adapters.dialect import Dialect, Opening, Serve

if TYPE_CHECKING:
    from adapters.bot.talk import Entry
    from gateway.hub.interfaces import HubForPlayers


def _front_end(hub: "HubForPlayers", options: Namespace, page: int | None) -> Serve:
    from adapters.arena.server import serve  # noqa: PLC0415  a bot needs no server

    return partial(serve, hub=hub, page=page, accounts=options.accounts)


def _open_dialogue(entry: "Entry") -> Opening:
    from adapters.arena.client import open_dialogue  # noqa: PLC0415  the server needs no bot

    return open_dialogue(entry)


DIALECT = Dialect(
    name="arena",
    short="c4-arena",
    mark="A",
    title="c4-arena (websocket)",
    bots="c4-arena bots, by websocket, in JSON or EDN",
    option="arena",
    port=8001,
    scheme="ws",
    example='send: {{"type": "start", "id": "alice"}}',
    encodings=("json", "edn"),
    allows_blanks=True,
    rules=frozenset({"rejoin"}),
    front_end=_front_end,
    open_dialogue=_open_dialogue,
)
