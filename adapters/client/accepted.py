"""A client that has been let in, as its dialect receives it.

Knows its socket and its framing, and what is done with both before and after it is served.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeAlias
from urllib.parse import parse_qs

import trio

from adapters.client.contract import Farewell
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


async def first_texts(sock: Socket, framing: Framing) -> list[str]:
    """Return what a client says first; nothing if it hangs up without a word. Raises what sockets raise."""
    texts: list[str] = []
    while not texts and not framing.ended:
        if framing.has_more:
            await sock.turns.wait(TURN)
            texts = framing.feed()
        else:
            texts = framing.feed(await sock.receive_some())
        if framing.replies:
            replies, framing.replies = framing.replies, b""
            await sock.send_all(replies)
        if sock.ended and not framing.has_more:
            texts += framing.end()
    return texts


async def hang_up(sock: Socket, framing: Framing, farewell: Farewell) -> None:
    """Say good-bye, and close the connection so that what was sent still arrives.

    Raises nothing, and takes no longer than 2 seconds.
    """

    def ready() -> bool:
        framing.feed(sock.read())
        if sock.ended and not framing.has_more:
            framing.end()
        return not (framing.ended or framing.has_more)

    try:
        goodbye = framing.close(farewell)
        if goodbye:
            sock.write(goodbye)
            with trio.move_on_after(GOODBYE_LIMIT):
                await sock.drain()
                while not framing.ended:  # the client answers, and leaves it to the server to hang up first
                    await sock.listen(ready)
                    while framing.has_more:
                        await sock.turns.wait(TURN)
                        framing.feed()
    except BROKEN:
        pass
    await sock.linger()
