"""The I32CFSP dialect: clients of a course connect by TCP, and play one game with the first move."""

from typing import TYPE_CHECKING

from adapters.client.dialect import Dialect, Opening

if TYPE_CHECKING:
    from adapters.client.accepted import Serve
    from adapters.client.rules import Requirements
    from adapters.client.talk import Entry
    from gateway.access.accounts import Accounts
    from gateway.hub.hub import HubForPlayers


def _front_end(hub: "HubForPlayers", options: object, accounts: "Accounts | None") -> "Serve":
    from adapters.i32cfsp.server import serving  # noqa: PLC0415  a bot needs no server

    return serving(hub, accounts)


def _open_dialogue(entry: "Entry") -> Opening:
    from adapters.i32cfsp.client import open_dialogue  # noqa: PLC0415  the server needs no bot

    return open_dialogue(entry)


def _requirements() -> "Requirements":
    from adapters.i32cfsp.check import REQUIREMENTS  # noqa: PLC0415  neither server nor bot needs it

    return REQUIREMENTS


def _begins(text: str) -> bool:
    return text.lstrip(" \t").startswith("I32CFSP_HELLO")


DIALECT = Dialect(
    name="i32cfsp",
    short="I32CFSP",
    mark="I",
    title="the I32CFSP protocol of a course at UC Irvine (TCP)",
    bots="port for I32CFSP clients (TCP)",
    option="i32cfsp",
    port=4444,
    names=r"\S+",
    name_rule="no blanks",
    entering=("I32CFSP_HELLO {name} {token}", "AI_GAME 7 6"),
    has_places=False,
    refusal=b"ERROR\r\n",
    example="try: nc {host} {port}  and type: I32CFSP_HELLO alice, then: AI_GAME 7 6",
    begins=_begins,
    front_end=_front_end,
    open_dialogue=_open_dialogue,
    requirements=_requirements,
)
