"""The boundary around one client, or one player of the house, where our own mistakes end.

Knows trio, and what a peer that is gone raises. Does not know what is served. The rule it keeps: whatever
fails in here ends one connection, is logged once, and reaches no other.
"""

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from itertools import count

import trio

from adapters.client.contract import PeerGone
from adapters.net.wire import Wire

logger = logging.getLogger(__name__)
_ids = count(1)


async def serve_connection(
    name: str,
    serve: Callable[[Wire], Awaitable[None]],
    wired: Callable[[trio.SocketStream], Wire],
    stream: trio.SocketStream,
) -> None:
    """Serve a client's stream until it is closed; let no error reach any other client."""
    wire = wired(stream)
    try:
        await guarded(name, partial(serve, wire))
    finally:
        wire.close()


async def guarded(name: str, work: Callable[[], Awaitable[None]]) -> None:
    """Do the work of one player; let no error reach any other."""
    number = next(_ids)
    about = {"front_end": name, "connection": number}
    logger.debug("%s connection %d opened", name, number, extra={"event": "connection_opened", **about})
    try:
        await work()
    except* PeerGone:
        logger.debug("%s connection %d lost", name, number, extra={"event": "connection_lost", **about})
    except* Exception:
        words = "%s connection %d closed after an internal error"
        logger.exception(words, name, number, extra={"event": "connection_failed", **about})
    finally:
        logger.debug("%s connection %d closed", name, number, extra={"event": "connection_closed", **about})
