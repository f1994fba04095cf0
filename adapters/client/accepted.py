"""A client that has been let in, as its dialect receives it.

Knows its socket and its framing, and what is done with both before and after it is served.
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

TURN = 0.0002
"""Seconds of work that are granted to each client that has waited in `Turns.wait`."""


@dataclass(slots=True)
class Accepted:
    """A client that may speak its dialect now."""

    socket: Socket
    framing: Framing
    limits: ClientLimits = UNLIMITED
    target: str = ""
    """Path and query of its request, such as ``/?table=x``; empty where there was none."""
    token: str | None = field(default=None, repr=False)
    """What the request had in ``Authorization: Bearer``."""
    texts: list[str] = field(default_factory=list)
    """What it has said already, to be heard first."""

    def asked(self, name: str) -> str | None:
        """Return what the request's query says under a name, such as ``table`` or ``against``."""
        return parse_qs(self.target.partition("?")[2]).get(name, [None])[0]


Serve: TypeAlias = Callable[[Accepted], Awaitable[None]]
"""Serves a client in a dialect until one of them hangs up."""


def texts_of(sock: Socket, framing: Framing, data: bytes) -> list[str]:
    """Return the texts that are complete with `data`, and with the end of the stream if that was read."""
    texts = framing.feed(data)
    if sock.ended and not framing.has_more:
        texts += framing.end()
    return texts


async def first_texts(sock: Socket, framing: Framing) -> list[str]:
    """Return what a client says first; nothing if it hangs up without a word. Raises what sockets raise."""
    texts: list[str] = []
    while not texts and not framing.ended:
        if framing.has_more:
            await sock.turns.wait(TURN)
            texts = texts_of(sock, framing, b"")
        else:
            texts = texts_of(sock, framing, await sock.receive_some())
        replies, framing.replies = framing.replies, b""
        if replies or sock.waiting:  # TLS may answer by itself
            with trio.move_on_after(SEND_LIMIT) as patience:
                await sock.send_all(replies)
            if patience.cancelled_caught:
                raise trio.BrokenResourceError
    return texts


async def hang_up(sock: Socket, framing: Framing, farewell: Farewell) -> None:
    """Say good-bye, and close the connection so that what was sent still arrives.

    Raises nothing, and takes no longer than 2 seconds. What the client still sends is read in turns: it is
    owed nothing any more.
    """
    try:
        goodbye = framing.close(farewell)
        if goodbye:
            sock.write(goodbye)
            with trio.move_on_after(GOODBYE_LIMIT):
                await sock.drain()
                while not framing.ended:  # the client answers, and leaves it to the server to hang up first
                    data = b"" if framing.has_more else await sock.receive_some()
                    await sock.turns.wait(TURN)
                    texts_of(sock, framing, data)
    except BROKEN:
        pass
    await sock.linger()
