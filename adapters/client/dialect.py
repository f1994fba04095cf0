"""What a command needs of a dialect before it speaks it.

A dialect's folder has one value of this kind, in its `__init__`, and `adapters.dialects` lists them. It names
the dialect and says how to begin on either side. The rule it keeps: each side is imported when it is
asked for, so that the server loads no bot, and a bot no server.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from gateway.options.description import Description

if TYPE_CHECKING:
    from adapters.client.accepted import Serve
    from adapters.client.rules import Requirements
    from adapters.client.talk import AnyDialogue, Entry
    from gateway.access.accounts import Accounts
    from gateway.hub.hub import HubForPlayers

Opening: TypeAlias = "AbstractAsyncContextManager[AnyDialogue]"
"""Connects to a server. Raises OSError, UnicodeError, PeerGone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect(Description):
    """A dialect, and how to begin with it."""

    short: str
    """Its name as people say it."""
    mark: str
    """A letter that stands for it."""
    scheme: str = ""
    """Of its URLs, ``ws`` for a websocket; empty where clients send lines, to host and port."""
    answer: str = ""
    """The answer to a request by HTTP that asks for no websocket: how to connect."""
    example: str
    """What to try first: a template of `address`, `host` and `port`."""
    encodings: tuple[str, ...] = ()
    """How a client can write, where it has a choice."""
    refusal: bytes = b""
    """What a client hears that is not let in. Where it is empty, an answer by HTTP says why."""
    allows_blanks: bool = False
    """Whether a player's name may have blanks in it."""
    ignores_case: bool = False
    """Whether upper and lower case are the same where a player asks for another one by name."""
    begins: Callable[[str], bool] | None = None
    """Whether a first message is of this dialect and of no other that comes by websocket, too."""
    front_end: "Callable[[HubForPlayers, Any, Accounts | None], Serve]"
    """Returns what serves a client, by the dialect's own options. Of protected names there may be any."""
    open_dialogue: "Callable[[Entry], Opening]"
    """Opens a player's connection to a server."""
    requirements: "Callable[[], Requirements]"
    """Returns what is asked of its clients, for checking them."""
