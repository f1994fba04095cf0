"""What a command needs to know of a dialect before it speaks it.

A dialect's folder has one value of this kind, in its `__init__`, and `adapters.dialects` lists them. Each
side is imported only when it is needed, so that the server loads no bot, and a bot no server.
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
    """Its name for people."""
    mark: str
    """A letter that stands for it."""
    scheme: str = ""
    """The scheme of its URLs: ``ws`` for a websocket; empty if clients send lines to host and port."""
    answer: str = ""
    """The answer to an HTTP request that asks for no websocket: how to connect."""
    example: str
    """What to try first: a template with `address`, `host` and `port`."""
    encodings: tuple[str, ...] = ()
    """The encodings between which a client can choose."""
    refusal: bytes = b""
    """What a refused client gets. If it is empty, an answer by HTTP has the reason."""
    allows_blanks: bool = False
    """Whether a player's name may contain blanks."""
    ignores_case: bool = False
    """Whether case is ignored when a player asks for an opponent by name."""
    begins: Callable[[str], bool] | None = None
    """Whether a first message belongs to this dialect, and to no other one that uses websockets."""
    front_end: "Callable[[HubForPlayers, Any, Accounts | None], Serve]"
    """Returns the function that serves clients, from the hub, the dialect's own options and the protected
    names."""
    open_dialogue: "Callable[[Entry], Opening]"
    """Opens a player's connection to a server."""
    requirements: "Callable[[], Requirements]"
    """Returns the rules by which its clients are checked."""
