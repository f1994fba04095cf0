"""Runs the work of one client or one house player, so that an error in it affects no other player.

Knows trio, and the exception for a peer that is gone. Does not know what the work is.
"""

import logging
from collections.abc import Awaitable, Callable
from itertools import count

from adapters.client.contract import PeerGone

logger = logging.getLogger(__name__)
_ids = count(1)


async def contained(name: str, work: Callable[[], Awaitable[None]]) -> None:
    """Do the work of one player. An error in it is logged once, and affects no other player."""
    number = next(_ids)
    about = {"front_end": name, "connection": number}
    logger.debug("%s connection %d opened", name, number, extra={"event": "connection_opened", **about})
    try:
        await work()
    except* PeerGone:
        logger.debug("%s connection %d lost", name, number, extra={"event": "connection_lost", **about})
    except* (Exception, SystemExit):  # `sys.exit` in the code of a plug-in must not end the server
        words = "%s connection %d closed after an internal error"
        logger.exception(words, name, number, extra={"event": "connection_failed", **about})
    finally:
        logger.debug("%s connection %d closed", name, number, extra={"event": "connection_closed", **about})
