"""The Droidcon dialect: bots connect by TCP and send lines."""

from typing import TYPE_CHECKING

from adapters.client.dialect import Dialect, Opening
from adapters.droidcon.options import DroidconOptions

if TYPE_CHECKING:
    from adapters.client.accepted import Serve
    from adapters.client.rules import Requirements
    from adapters.client.talk import Entry
    from gateway.access.accounts import Accounts
    from gateway.hub.hub import HubForPlayers


def _front_end(hub: "HubForPlayers", options: DroidconOptions, accounts: "Accounts | None") -> "Serve":
    from adapters.droidcon.server import serving  # noqa: PLC0415  a bot needs no server

    return serving(hub, accounts, rounds=options.rounds)


def _open_dialogue(entry: "Entry") -> Opening:
    from adapters.droidcon.client import open_dialogue  # noqa: PLC0415  the server needs no bot

    return open_dialogue(entry)


def _requirements() -> "Requirements":
    from adapters.droidcon.check import REQUIREMENTS  # noqa: PLC0415  neither server nor bot needs it

    return REQUIREMENTS


DIALECT = Dialect(
    name="droidcon",
    short="Droidcon",
    mark="D",
    title="the Droidcon hackathon's protocol (TCP)",
    bots="port for Droidcon bots (TCP); works with nc and telnet",
    option="tcp",
    port=4242,
    names=r"\S+",
    name_rule="no blanks",
    entering=("NAME {name} {token}", "JOIN {table}"),
    ignores_case=True,
    refusal=b"Error CHANNEL_IS_FULL\n",
    example="try: nc {host} {port}  and type: NAME alice, then: JOIN lobby",
    options=DroidconOptions,
    front_end=_front_end,
    open_dialogue=_open_dialogue,
    requirements=_requirements,
)
