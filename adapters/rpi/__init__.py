"""The RPI dialect: bots connect by websocket, and send words with colons between them."""

from typing import TYPE_CHECKING

from adapters.client.dialect import Dialect, Opening
from gateway.options.description import NoOptions

if TYPE_CHECKING:
    from adapters.client.accepted import Serve
    from adapters.client.rules import Requirements
    from adapters.client.talk import Entry
    from gateway.access.accounts import Accounts
    from gateway.hub.hub import HubForPlayers


def _begins(text: str) -> bool:
    from adapters.rpi.codec import FIRST_WORDS  # noqa: PLC0415  a bot needs no server

    return text.partition(":")[0] in FIRST_WORDS


def _front_end(hub: "HubForPlayers", options: NoOptions, accounts: "Accounts | None") -> "Serve":
    from adapters.rpi.server import serving  # noqa: PLC0415  a bot needs no server

    return serving(hub, accounts)


def _open_dialogue(entry: "Entry") -> Opening:
    from adapters.rpi.client import open_dialogue  # noqa: PLC0415  the server needs no bot

    return open_dialogue(entry)


def _requirements() -> "Requirements":
    from adapters.rpi.check import REQUIREMENTS  # noqa: PLC0415  neither server nor bot needs it

    return REQUIREMENTS


DIALECT = Dialect(
    name="rpi",
    short="RPI",
    mark="R",
    title="RPI's course protocol (websocket)",
    bots="port for bots of RPI's course (websocket)",
    option="rpi",
    port=8002,
    scheme="ws",
    names=r"(?!ACK$)[^:,|\x00-\x1f\x7f-\x9f]+",
    name_rule="no colons, commas, bars or control characters, and is not ACK",
    entering=("CONNECT:{name}:{token}",),
    answer=(
        "This is the RPI port of a Connect-Four gateway.\n"
        "Connect to it with a websocket client and send: CONNECT:NAME\n"
        "and then, after CONNECT:ACK: READY\n"
    ),
    example="send: CONNECT:alice, then: READY",
    allows_blanks=True,
    rules=frozenset({"rejoin"}),
    begins=_begins,
    front_end=_front_end,
    open_dialogue=_open_dialogue,
    requirements=_requirements,
)
