"""The c4-arena dialect: bots connect by websocket and send maps, in JSON or EDN."""

from typing import TYPE_CHECKING

from adapters.client.dialect import Dialect, Opening
from gateway.options.description import NoOptions

_BLANKS = ", \t\r\n"
"""Characters that may precede a map; in EDN a comma is white space."""
_MAP = ("{", "#")
"""The first character of a map; in EDN a tag or a namespace may come first."""

if TYPE_CHECKING:
    from adapters.client.accepted import Serve
    from adapters.client.rules import Requirements
    from adapters.client.talk import Entry
    from gateway.access.accounts import Accounts
    from gateway.hub.hub import HubForPlayers


def _front_end(hub: "HubForPlayers", options: NoOptions, accounts: "Accounts | None") -> "Serve":
    from adapters.arena.server import serving  # noqa: PLC0415  a bot needs no server

    return serving(hub, accounts)


def _begins(text: str) -> bool:
    return text.lstrip(_BLANKS).startswith(_MAP)


def _open_dialogue(entry: "Entry") -> Opening:
    from adapters.arena.client import open_dialogue  # noqa: PLC0415  the server needs no bot

    return open_dialogue(entry)


def _requirements() -> "Requirements":
    from adapters.arena.check import REQUIREMENTS  # noqa: PLC0415  neither server nor bot needs it

    return REQUIREMENTS


DIALECT = Dialect(
    name="arena",
    short="c4-arena",
    mark="A",
    title="c4-arena (websocket)",
    bots="port for c4-arena bots (websocket, JSON or EDN)",
    option="arena",
    port=8001,
    scheme="ws",
    entering=('{{"type": "start", "id": {quoted}, "token": "{token}"}}',),
    answer=(
        "This is the arena port of a Connect-Four gateway.\n"
        'Connect to it with a websocket client and send: {"type": "start", "id": "NAME"}\n'
        'or, in EDN: {:type "start", :id "NAME"}\n'
    ),
    example='send: {{"type": "start", "id": "alice"}}',
    encodings=("json", "edn"),
    allows_blanks=True,
    rules=frozenset({"rejoin"}),
    begins=_begins,
    front_end=_front_end,
    open_dialogue=_open_dialogue,
    requirements=_requirements,
)
