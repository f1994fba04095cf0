"""Checks the names of clients on a server with protected names, for all dialects.

A `NameCheck` wraps a dialect's translator. If a client may not have the name in a command, the `NameCheck`
returns a refusal instead. Knows accounts, and the field `token` of a dialect's messages. Does not know the
wording of a refusal. Tokens are removed from all records of a client, and from the server's answers.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Generic

from adapters.client.accepted import Accepted
from adapters.client.connection import Connection, Queries
from adapters.client.contract import C, Codec, S, Translator
from gateway.access.accounts import Accounts
from gateway.game.commands import Command, Denied, Enter, Introduce, Play
from gateway.game.events import Event
from gateway.game.manners import Manners
from gateway.hub.hub import HubForPlayers

HIDDEN = "..."
"""The replacement for a token."""

_LIKE_TOKEN = re.compile(r"[A-Za-z0-9_-]{20,}")
"""Matches any word that may be a token. A mistyped message, for example, may have a token anywhere."""


class NameCheck(Generic[C, S]):
    """A translator that refuses a protected name to a client without the name's token."""

    __slots__ = ("_accounts", "_behind", "_client", "_is_proven", "_token", "_translator", "farewell")

    def __init__(
        self,
        translator: Translator[C, S],
        accounts: Accounts,
        client: Accepted,
        behind: re.Pattern[str],
    ) -> None:
        """`behind` matches the part of a dialect's text that precedes a token."""
        self._translator = translator
        self._accounts = accounts
        self._client = client.socket
        self._behind = behind
        self._token = client.token
        """The token in the handshake: from a header, or from ``?token=`` in the target."""
        if self._token is None:
            self._token = client.asked("token")
            if self._token is not None:
                accounts.note_in_url(client.socket.origin, client.socket.read_at)
        self._is_proven = False
        """Whether the client's latest name is protected, and the client gave the right token."""
        self.farewell = translator.farewell

    @property
    def manners(self) -> Manners:
        """The manners of the client's dialect."""
        return self._translator.manners

    def receive(self, message: C, number: int = 0) -> Command:
        """Return the command for a message, or `Denied` if the client may not have the requested name."""
        command = self._translator.receive(message, number)
        if isinstance(command, Play):  # most commands are of this class
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
        """Return the messages to send for an event. For a refusal, `asked` is the refused message."""
        if isinstance(asked, str):
            asked = self.hide(asked)
        return self._translator.observe(event, asked)

    def hide(self, text: str) -> str:
        """Return a text from the client without its token, for records and for answers."""
        return without_tokens(self._behind, text) if self._accounts.protects else text

    def _denied(self, name: str, message: C, number: int) -> Denied | None:
        said = getattr(message, "token", None)
        token = said if isinstance(said, str) else self._token
        origin = self._client.origin
        denial = self._accounts.denial(name, token, origin, self._client.read_at)
        if denial is None:
            return None
        self._accounts.note(denial, name, self.manners.kind, origin)
        return Denied(denial.objection, denial.pause, number)


def checked_connection(
    hub: HubForPlayers,
    client: Accepted,
    codec: Codec[C, S],
    translator: Translator[C, S],
    accounts: Accounts | None,
    behind: re.Pattern[str],
    queries: Queries[C] | None = None,
) -> Connection[C, S]:
    """Return the connection of a client. If names are protected, the connection checks the client's names.

    `queries` are as for `Connection`.
    """
    if accounts is None:
        return Connection(hub, client, codec, translator, queries=queries)
    checked = NameCheck(translator, accounts, client, behind)
    return Connection(hub, client, codec, checked, hide=checked.hide, queries=queries)


def without_tokens(behind: re.Pattern[str], text: str) -> str:
    """Return a client's text without tokens.

    Replaces everything after a match of `behind`, and everything that looks like a token.
    """
    found = behind.search(text)
    if found is not None:
        text = text[: found.end()] + HIDDEN
    return _LIKE_TOKEN.sub(HIDDEN, text)
