"""An admitted client, in the form in which its dialect gets it.

Also has functions to read a client's first texts, and to hang up on a client.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeAlias
from urllib.parse import parse_qs

import trio

from adapters.client.contract import SEND_LIMIT, Farewell
from adapters.client.framing import Framing
from adapters.client.rate_limit import UNLIMITED, ClientLimits
from adapters.net.socket import BROKEN, GOODBYE_LIMIT, Socket
from gateway.game.manners import Manners

TURN = 0.0002
"""Seconds of work that a client may cause after each `Turns.wait`."""


@dataclass(slots=True)
class Accepted:
    """A client that may speak its dialect now."""

    socket: Socket
    framing: Framing
    limits: ClientLimits = UNLIMITED
    target: str = ""
    """Path and query of the client's HTTP request, such as ``/?table=x``; empty without a request."""
    token: str | None = field(default=None, repr=False)
    """The token in the request's header ``Authorization: Bearer``."""
    texts: list[str] = field(default_factory=list)
    """Texts that were already read. They are carried out first."""
    dialect: str = ""
    """The name of a plug-in's dialect, which its players' `Manners.kind` must be; otherwise empty."""

    def asked(self, name: str) -> str | None:
        """Return a parameter of the request's query, such as ``table`` or ``against``; None if missing."""
        return asked_in(self.target, name)

    def kind(self, manners: Manners) -> str:
        """Return the kind in a player's manners. Raises ValueError if it is not the plug-in's name."""
        if self.dialect not in ("", manners.kind):  # its games would be stored as those of another dialect
            raise ValueError(f"the kind in the manners is {manners.kind!r}, not {self.dialect!r}")
        return manners.kind


def asked_in(target: str, name: str) -> str | None:
    """Return a parameter in the query of a request's `target`; None if missing."""
    return parse_qs(target.partition("?")[2]).get(name, [None])[0]


Serve: TypeAlias = Callable[[Accepted], Awaitable[None]]
"""Serves a client in a dialect until the client or the server hangs up."""


def texts_of(sock: Socket, framing: Framing, data: bytes) -> list[str]:
    """Feed `data` to the framing, and return the texts that are complete.

    If the stream has ended, the framing's remaining texts are included.
    """
    texts = framing.feed(data)
    if sock.ended and not framing.has_more:
        texts += framing.end()
    return texts


async def first_texts(sock: Socket, framing: Framing) -> list[str]:
    """Wait for a client's first texts and return them; no texts if the client hangs up before.

    Raises the exceptions of `Socket`.
    """
    texts: list[str] = []
    while not texts and not framing.ended:
        if framing.has_more:
            await sock.turns.wait(TURN)
            texts = texts_of(sock, framing, b"")
        else:
            texts = texts_of(sock, framing, await sock.receive_some())
        replies, framing.replies = framing.replies, b""
        if replies or sock.waiting:  # TLS may have added an answer of its own
            with trio.move_on_after(SEND_LIMIT) as patience:
                await sock.send_all(replies)
            if patience.cancelled_caught:
                raise trio.BrokenResourceError
    return texts


async def hang_up(sock: Socket, framing: Framing, farewell: Farewell) -> None:
    """Send the farewell, and close the connection without losing bytes that were sent.

    Raises nothing, and takes at most 2 seconds. Further bytes from the client no longer matter, so they are
    read only when a turn has time for that.
    """
    try:
        goodbye = framing.close(farewell)
        if goodbye:
            sock.write(goodbye)
            with trio.move_on_after(GOODBYE_LIMIT):
                await sock.drain()
                while not framing.ended:  # the client answers, and waits for the server to hang up first
                    data = b"" if framing.has_more else await sock.receive_some()
                    await sock.turns.wait(TURN)
                    texts_of(sock, framing, data)
    except BROKEN:
        pass
    await sock.linger()
