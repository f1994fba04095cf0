"""Finds a game, and players by a part of their names, also players that have finished no game yet.

Knows the site; does not know HTTP. A player that is connected but has finished no game is found only while
the server tells who is connected.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from adapters.web.live.live import UnavailableError
from adapters.web.query import BadRequestError, game_named
from adapters.web.site import Site
from gateway.game.commands import LONGEST_NAME
from gateway.game.ids import GameId, typed
from gateway.game.text import COMPARED, similar
from gateway.store import NotKeptError, games, names
from gateway.store.games import NoGameError
from gateway.store.names import Named

_NUMBER = re.compile("[0-9a-z]{6}")
"""Matches the number of a game in its run."""


@dataclass(frozen=True, slots=True)
class Found:
    """What was found."""

    game: GameId | None
    """A stored game, or one whose id is such that it may be on."""
    is_stored: bool
    """Whether `game` is stored."""
    players: Sequence[Named]
    """The players whose names contain the text; one whose name is the text comes first."""
    similar: Sequence[str] = ()
    """Names like the text, if no name contains it."""


async def search(site: Site, text: str, limit: int) -> Found:
    """Return the game with this id and up to `limit` players whose names contain the text.

    For an empty text, these are the most active players.
    """
    if len(text) > LONGEST_NAME:
        return Found(None, False, ())
    try:
        connected = await site.live.containing(text, limit)
    except UnavailableError:
        connected = {}
    return await site.do(lambda: _search(site, text, connected, limit))


def _search(site: Site, text: str, connected: dict[str, str], limit: int) -> Found:
    game, is_stored = _game(site, text)
    fresh = [Named(name, kind, 0) for name, kind in connected.items()]
    try:
        with site.reading() as connection:
            known = names.containing(connection, text, limit)
            there = {*names.known(connection, [each.name for each in fresh])}
            fresh = [each for each in fresh if each.name not in there]
            alike = [] if known or fresh or game else similar(text, names.most_active(connection, COMPARED))
    except NotKeptError:
        known, alike = [], []
    players = sorted([*known, *fresh], key=lambda each: each.name != text)[:limit]
    return Found(game, is_stored, players, alike)


def _game(site: Site, text: str) -> tuple[GameId | None, bool]:
    """Return the game with the id that was typed, and whether it is stored; None if there can be none."""
    try:
        game = game_named(text)
        site.game(game)
    except BadRequestError:
        return _numbered(site, text)
    except (NoGameError, NotKeptError):
        return (None if game.isdecimal() else game), False  # only old games have decimal ids
    return game, True


def _numbered(site: Site, text: str) -> tuple[GameId | None, bool]:
    """Return the latest game of this number, as lists show it where there is no room for the whole id."""
    number = typed(text)
    if not _NUMBER.fullmatch(number):
        return None, False
    try:
        with site.reading() as connection:
            game = games.ending(connection, number)
    except NotKeptError:
        return None, False
    return game, game is not None
