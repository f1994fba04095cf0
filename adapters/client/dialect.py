"""The description of a dialect, and how to load its server, its client and its rules.

Each dialect's folder has one `Dialect` in its `__init__`, and `adapters.dialects` lists them. The modules of
the server's and of the bot's side are imported only when they are needed, so that neither loads the other.
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
"""Connects to a server until the block ends. Raises OSError, UnicodeError, PeerGone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect(Description):
    """A dialect: its properties, and the functions that load its parts."""

    short: str
    """The dialect's short name, as people write it."""
    mark: str
    """A letter that stands for the dialect."""
    answer: str = ""
    """The answer to an HTTP request that does not ask for a websocket. It says how to connect."""
    example: str
    """A first message to try, such as ``send: connect alice``. The template may contain the fields `address`,
    `host` and `port`."""
    encodings: tuple[str, ...] = ()
    """The encodings from which a client can choose."""
    refusal: bytes = b""
    """The bytes sent to a refused client. If they are empty, an HTTP answer gives the reason."""
    allows_blanks: bool = False
    """Whether a player's name may contain blanks."""
    ignores_case: bool = False
    """Whether case is ignored when a player asks for an opponent by name."""
    begins: Callable[[str], bool] | None = None
    """Returns whether a first message belongs to this dialect and to no other websocket dialect."""
    front_end: "Callable[[HubForPlayers, Any, Accounts | None], Serve]"
    """Takes the hub, the dialect's own options and the protected names; returns the function that serves
    clients."""
    open_dialogue: "Callable[[Entry], Opening]"
    """Opens a player's connection to a server."""
    requirements: "Callable[[], Requirements]"
    """Returns the rules for checking the dialect's clients."""
