"""Queries for stored games: one game by its id, or the games that match a filter, a page at a time.

Knows the tables. Games are in the order in which they were stored. A page begins after a given game, so all
pages take the same time, and no transaction stays open between two pages.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, ScalarSelect, Select, and_, bindparam, select, true, union

from gateway.game.events import Reason
from gateway.game.ids import GameId
from gateway.game.text import did_you_mean, quoted
from gateway.store import StoreError, evidence
from gateway.store.database import Reading
from gateway.store.evidence import Exchange
from gateway.store.records import WORDS, GameRecord, Row
from gateway.store.schema import exchanges, games, players

PAGE = 250
"""The number of games that `every` reads at a time. They take about 50 KB of memory."""


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter of games. A field that is None matches all games."""

    player: str | None = None
    """The name of one player, on either side."""
    opponent: str | None = None
    """The name of the other player. Needs `player`."""
    since: int | None = None
    """The game ended at this time or later, in milliseconds of Unix time."""
    until: int | None = None
    """The game ended before this time."""
    reason: Reason | None = None
    counted: bool | None = None
    lost: bool = False
    """Only games that `player` lost."""

    def __post_init__(self) -> None:
        """Raise ValueError if there is an opponent but no player."""
        if self.opponent is not None and self.player is None:
            raise ValueError("an opponent needs a player")


@dataclass(frozen=True, slots=True)
class Page:
    """A part of the stored games: those between `after` and `before`, without these two."""

    after: GameId | None = None
    before: GameId | None = None
    limit: int = 100
    newest_first: bool = True


class NoGameError(StoreError):
    """No stored game has this id."""


def page(connection: Connection, wanted: Filter, part: Page) -> list[GameRecord]:
    """Return up to `part.limit` games. Raises `NoGameError` if the game `after` or `before` is not stored."""
    condition = and_(*_conditions(wanted), *_bounds(connection, part))
    order = games.c.id.desc() if part.newest_first else games.c.id
    if wanted.player is None:
        numbers = select(games.c.id).where(condition).order_by(order).limit(part.limit)
    else:
        numbers = _of_player(wanted.player, wanted, condition, order, part.limit)
    query = _WHOLE.where(games.c.id.in_(numbers)).order_by(order)
    return [GameRecord.of_row(row) for row in connection.execute(query)]


def every(reading: Reading, wanted: Filter) -> Iterator[GameRecord]:
    """Yield all games that match, the oldest first. Uses no connection between two pages.

    Raises `NoGameError` if all games are removed between two pages.
    """
    last = None
    while True:
        with reading() as connection:
            found = page(connection, wanted, Page(after=last, limit=PAGE, newest_first=False))
        yield from found
        if len(found) < PAGE:
            return
        last = found[-1].game


def check_players(connection: Connection, wanted: Filter) -> None:
    """Raise StoreError if no stored game has a player of the filter. The error suggests similar names."""
    for name in (wanted.player, wanted.opponent):
        if name is not None and connection.scalar(select(number_of(name))) is None:
            raise unknown_player(connection, name)


def number_of(name: str) -> ScalarSelect[int]:
    """Return a subquery for the number of a player; NULL if there is no player of this name."""
    return select(players.c.id).where(players.c.name == name).scalar_subquery()


def unknown_player(connection: Connection, name: str) -> StoreError:
    """Return the error for a name that no stored game has. It suggests similar names."""
    most_active = (players.c.opened + players.c.replied).desc()
    known = connection.scalars(select(players.c.name).order_by(most_active, players.c.name))
    return StoreError(f"no stored game has a player called {quoted(name)}{did_you_mean(name, known)}")


def rows_of(connection: Connection, ids: Sequence[GameId]) -> list[Row]:
    """Return the games with these ids. Ids of games that are not stored are ignored."""
    return [Row._make((*row, None, None)) for row in connection.execute(_NAMED, {"ids": ids})]


def one(connection: Connection, game: GameId) -> GameRecord:
    """Return the game with this id. Raises `NoGameError`."""
    for row in rows_of(connection, [game]):
        return GameRecord.of_row(row)
    raise NoGameError(f"there is no game {game}")


def evidence_of(connection: Connection, game: GameId) -> tuple[Exchange | None, Exchange | None]:
    """Return the evidence of a game's first and second mover; None if it is missing or damaged."""
    query = select(exchanges.c.side, exchanges.c.body).join(games).where(games.c.game == game)
    bodies = {side: evidence.unpacked(body) for side, body in connection.execute(query)}
    return bodies.get(0), bodies.get(1)


_first, _second = players.alias("opener"), players.alias("replier")
_WHOLE = (
    select(*games.c[1:4], _first.c.name, _second.c.name, *games.c[6:19])  # in the order of `Row`
    .join(_first, games.c.first == _first.c.id)
    .join(_second, games.c.second == _second.c.id)
)
_NAMED = _WHOLE.where(games.c.game.in_(bindparam("ids", expanding=True)))


def _conditions(wanted: Filter) -> Iterator[ColumnElement[bool]]:
    yield true()
    if wanted.since is not None:
        yield games.c.ended >= wanted.since
    if wanted.until is not None:
        yield games.c.ended < wanted.until
    if wanted.reason is not None:
        yield games.c.reason == WORDS[wanted.reason]
    if wanted.counted is not None:
        yield games.c.counted if wanted.counted else ~games.c.counted


def _bounds(connection: Connection, part: Page) -> Iterator[ColumnElement[bool]]:
    if part.after is not None:
        yield games.c.id > _place_of(connection, part.after)
    if part.before is not None:
        yield games.c.id < _place_of(connection, part.before)


def _place_of(connection: Connection, game: GameId) -> int:
    """Return a game's number; games are numbered in the order of storing. Raises `NoGameError`."""
    number: int | None = connection.execute(select(games.c.id).where(games.c.game == game)).scalar()
    if number is None:
        raise NoGameError(f"there is no game {game}")
    return number


def _of_player(
    name: str, wanted: Filter, condition: ColumnElement[bool], order: ColumnElement[int], limit: int
) -> Select[Any]:
    """Return a query for the numbers of one player's games. The query uses the index of each side."""
    sides = []
    both = (games.c.first, games.c.second)
    for side, (own, other) in enumerate((both, both[::-1])):
        where = [own == number_of(name), condition]
        if wanted.opponent is not None:
            where.append(other == number_of(wanted.opponent))
        if wanted.lost:
            where.append(games.c.result == 2 - side)
        sides.append(select(games.c.id).where(*where).order_by(order).limit(limit).subquery())
    found_in = union(*(select(side.c.id) for side in sides)).subquery()
    number = found_in.c.id
    return select(number).order_by(number if order is games.c.id else number.desc()).limit(limit)
