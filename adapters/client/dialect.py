"""The description of a dialect, and how to load its server, its client and its rules.

Each dialect's folder has one `Dialect` in its `__init__`, and `adapters.dialects` lists them. The modules of
the server's and of the bot's side are imported only when they are needed, so that neither loads the other.
Packages of others may have dialects, too (docs/plug-ins.md). For them this interface, and that of the modules
to which it leads, is provisional: it may change with any version of c4gateway.
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

INTERFACE = 1
"""The version of the interface for dialects in packages of others. A change that such a package has to follow
makes it another one."""

Opening: TypeAlias = "AbstractAsyncContextManager[AnyDialogue]"
"""Connects to a server until the block ends. Raises OSError, UnicodeError, PeerGone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect(Description):
    """A dialect: its properties, and the functions that load its parts."""

    interface: int = 0
    """The value of `INTERFACE` for which a plug-in is made. The built-in dialects need none."""

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
    """Returns whether a first message belongs to this dialect, and not to a later one with its transport.

    On the one port, the last dialect that accepts a message gets it, so a later dialect may single out
    messages that an earlier one would take. Dialects without this function take the rest.
    """
    front_end: "Callable[[HubForPlayers, Any, Accounts | None], Serve]"
    """Takes the hub, the dialect's own options and the protected names; returns the function that serves
    clients."""
    open_dialogue: "Callable[[Entry], Opening]"
    """Opens a player's connection to a server."""
    requirements: "Callable[[], Requirements]"
    """Returns the rules for checking the dialect's clients."""

    @property
    def document(self) -> str:
        """The name of the dialect's reference."""
        return "its PROTOCOL.md" if self.interface else f"adapters/{self.name}/PROTOCOL.md"
