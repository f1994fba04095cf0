"""The dialect of a tutorial for browsers: clients connect by websocket and send JSON."""

import re
from typing import TYPE_CHECKING

from adapters.client.dialect import Dialect, Opening
from gateway.options.description import NoOptions

if TYPE_CHECKING:
    from adapters.client.accepted import Serve
    from adapters.client.rules import Requirements
    from adapters.client.talk import Entry
    from gateway.access.accounts import Accounts
    from gateway.hub.hub import HubForPlayers

_INIT = re.compile(r'\s*\{\s*"type"\s*:\s*"init"')
"""The beginning of an `init` as all known clients write it."""


def _front_end(hub: "HubForPlayers", options: NoOptions, accounts: "Accounts | None") -> "Serve":
    from adapters.tutorial.server import serving  # noqa: PLC0415  a bot needs no server

    return serving(hub, accounts)


def _begins(text: str) -> bool:
    return _INIT.match(text) is not None


def _open_dialogue(entry: "Entry") -> Opening:
    from adapters.tutorial.client import open_dialogue  # noqa: PLC0415  the server needs no bot

    return open_dialogue(entry)


def _requirements() -> "Requirements":
    from adapters.tutorial.check import REQUIREMENTS  # noqa: PLC0415  neither server nor bot needs it

    return REQUIREMENTS


DIALECT = Dialect(
    name="tutorial",
    short="the tutorial's",
    mark="T",
    title="the protocol of the websockets tutorial (websocket)",
    bots="port for clients of the tutorial of the library websockets (websocket, JSON)",
    option="tutorial",
    port=8003,
    scheme="ws",
    entering=('{{"type": "init", "name": {quoted}, "token": "{token}"}}',),
    answer=(
        "This is the tutorial port of a Connect-Four gateway.\n"
        'Connect to it with a websocket client and send: {"type": "init"}\n'
    ),
    example='send: {{"type": "init"}}',
    allows_blanks=True,
    rules=frozenset({"rejoin"}),
    begins=_begins,
    front_end=_front_end,
    open_dialogue=_open_dialogue,
    requirements=_requirements,
)
