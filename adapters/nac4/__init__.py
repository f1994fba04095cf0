"""The nac4 dialect: bots connect by websocket, receive boards, and play on a clock."""

from typing import TYPE_CHECKING

from adapters.client.dialect import Dialect, Opening
from adapters.nac4.options import Nac4Options

if TYPE_CHECKING:
    from adapters.client.accepted import Serve
    from adapters.client.rules import Requirements
    from adapters.client.talk import Entry
    from gateway.access.accounts import Accounts
    from gateway.hub.hub import HubForPlayers


def _front_end(hub: "HubForPlayers", options: Nac4Options, accounts: "Accounts | None") -> "Serve":
    from adapters.nac4.server import serving  # noqa: PLC0415  a bot needs no server

    return serving(hub, accounts, original=options.nac4_original)


def _open_dialogue(entry: "Entry") -> Opening:
    from adapters.nac4.client import open_dialogue  # noqa: PLC0415  the server needs no bot

    return open_dialogue(entry)


def _requirements() -> "Requirements":
    from adapters.nac4.check import REQUIREMENTS  # noqa: PLC0415  neither server nor bot needs it

    return REQUIREMENTS


DIALECT = Dialect(
    name="nac4",
    short="nac4",
    mark="N",
    title="nac4 (websocket)",
    bots="port for nac4 bots (websocket)",
    option="nac4",
    port=8080,
    scheme="ws",
    names="[A-Za-z0-9_-]{1,64}",
    name_rule="only the letters A to Z and a to z, digits, - and _, at most 64 of them",
    entering=("connect {name} {token}",),
    answer=(
        "This is the nac4 port of a Connect-Four gateway.\n"
        "Connect to it with a websocket client and send: connect NAME\n"
    ),
    example="send: connect alice",
    rules=frozenset({"clock", "penalty", "games_per_pair"}),
    options=Nac4Options,
    front_end=_front_end,
    open_dialogue=_open_dialogue,
    requirements=_requirements,
)
