"""Analyses the stored games in the background, one at a time, the newest first.

Knows the site and its database; does not know the solver. The analyses are stored by the server. A game whose
analysis is lost on the way is analysed after the next start, or when somebody opens it. Of the nodes of a
cluster only one does it.
"""

import logging

import trio

from adapters.web.site import Site
from gateway.store import StoreError
from gateway.store.analyses import Backlog
from gateway.store.claim import ANALYSES, Claim
from gateway.store.records import GameRecord

LOOK = 3.0
"""Seconds between two searches for new games."""
PAUSE = 30.0
"""Seconds to wait after a failure, and before looking whether the node that analysed the games is gone."""

logger = logging.getLogger(__name__)


async def analyse_all(site: Site, look: float = LOOK) -> None:
    """Analyse all games of the site, and those that are stored later, until cancelled.

    `look` is the number of seconds between two searches for new games.
    """
    assert site.database is not None
    backlog, claim = Backlog(), None
    if site.database.is_shared:
        claim = Claim(site.database.place.where, key=ANALYSES)

    def next_game() -> GameRecord | None:
        if claim is not None:
            claim.keep()
            if not claim.is_held:
                raise StoreError("another node analyses the games")
        with site.reading() as connection:
            return backlog.next(connection)

    try:
        await trio.sleep(look)  # the server and its players start at the same time
        while True:
            try:
                record = await site.do(next_game)
            except StoreError:  # it is another node's turn, or the database fails, which requests log
                await trio.sleep(PAUSE)
                continue
            if record is None:
                await trio.sleep(look)
                continue
            try:
                is_done = await site.perfect.analyse(record)
            except ValueError as error:  # its moves cannot be played, so the database is damaged
                about = {"event": "not_analysed", "game": record.game, "error": str(error)}
                logger.warning("game %s cannot be analysed: %s", record.game, error, extra=about)
            else:
                if not is_done:
                    await trio.sleep(PAUSE)
    finally:
        if claim is not None:
            claim.close()
