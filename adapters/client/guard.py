"""Who may be called what on a server with protected names, for all dialects.

A `Guard` stands around a dialect's translator. It looks at the commands that give a name, finds the client's
token, and puts a refusal in the place of a command whose name the client may not bear. Knows accounts, and
where a websocket's handshake has a token; the message with one is the dialect's, as its field `token`. Does
not know how a refusal is worded. Moves pass it by, and a server without protected names hides nothing.

The rule it keeps: no token gets further than here. What is recorded of a client, and what is sent back to it,
is without.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Generic, Protocol
from urllib.parse import parse_qs

from adapters.client.contract import C, S, Translator, Transport
from gateway.access.accounts import Accounts
from gateway.game.commands import Command, Denied, Enter, Introduce, Play
from gateway.game.events import Event
from gateway.game.manners import Manners

HIDDEN = "..."
"""What stands in the place of a token."""

_LIKE_TOKEN = re.compile(r"[A-Za-z0-9_-]{20,}")
"""What may be a token in a text that is no message, such as one with a slip of the pen."""


class Handshaken(Transport, Protocol):
    """A transport that began with a handshake of HTTP's."""

    token: str | None
    """What the handshake had in ``Authorization: Bearer``."""


class Guard(Generic[C, S]):
    """A translator that lets no client bear a protected name without its token."""

    __slots__ = ("_accounts", "_behind", "_given", "_is_proven", "_translator", "_transport", "farewell")

    def __init__(
        self,
        translator: Translator[C, S],
        accounts: Accounts,
        transport: Transport,
        behind: re.Pattern[str],
        given: str | None = None,
    ) -> None:
        """`behind`: what a token follows in a text of the dialect. `given`: the token of the handshake."""
        self._translator = translator
        self._accounts = accounts
        self._transport = transport
        self._behind = behind
        self._given = given
        self._is_proven = False
        """Whether the name that the client gave last is protected, and so its token was right."""
        self.farewell = translator.farewell

    @property
    def manners(self) -> Manners:
        """What the client expects of its server."""
        return self._translator.manners

    def receive(self, message: C, number: int = 0) -> Command:
        """Return what the client asks for, or `Denied` if that is a name that it may not bear."""
        command = self._translator.receive(message, number)
        if isinstance(command, Play):  # which most are
            return command
        if isinstance(command, Enter | Introduce) and command.name is not None:
            denied = self._denied(command.name, message, number)
            if denied is not None:
                return denied
            self._is_proven = self._accounts.is_protected(command.name)
        if self._is_proven and isinstance(command, Enter):
            return replace(command, proven=True)
        return command

    def observe(self, event: Event, asked: C | str | None = None) -> Iterable[S]:
        """Return what the client is told of `event`."""
        if isinstance(asked, str):
            asked = self.hide(asked)
        return self._translator.observe(event, asked)

    def hide(self, text: str) -> str:
        """Return a text of the client's as it may be recorded and sent back: without its token."""
        return without_tokens(self._behind, text) if self._accounts.protects else text

    def _denied(self, name: str, message: C, number: int) -> Denied | None:
        said = getattr(message, "token", None)
        token = said if isinstance(said, str) else self._given
        origin = self._transport.origin
        denial = self._accounts.denial(name, token, origin, self._transport.read_at)
        if denial is None:
            return None
        self._accounts.note(denial, name, self.manners.kind, origin)
        return Denied(denial.objection, denial.pause, number)


def without_tokens(behind: re.Pattern[str], text: str) -> str:
    """Return a client's text without what follows `behind` in it, and without what looks like a token."""
    found = behind.search(text)
    if found is not None:
        text = text[: found.end()] + HIDDEN
    return _LIKE_TOKEN.sub(HIDDEN, text)


def token_of_handshake(accounts: Accounts, transport: Handshaken, target: str) -> str | None:
    """Return the token that a websocket's handshake has in a header, or in its target as ``?token=``."""
    if transport.token is not None:
        return transport.token
    token = parse_qs(target.partition("?")[2]).get("token", [None])[0]
    if token is not None:
        accounts.note_in_url(transport.origin, transport.read_at)
    return token
