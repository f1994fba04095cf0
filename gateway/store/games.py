"""Queries for stored games: one game by its id, or the games that match a filter, a page at a time.

Knows the tables. Games are in the order in which they were stored. A page begins after a given game, so all
pages take the same time, and no transaction stays open between two pages.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    Subquery,
    and_,
    bindparam,
    exists,
    func,
    or_,
    select,
    true,
    union,
)

from gateway.game.board import Side
from gateway.game.events import Reason
from gateway.game.ids import GameId
from gateway.store import StoreError, evidence
from gateway.store.database import Reading
from gateway.store.evidence import Exchange
from gateway.store.names import known, number_of, unknown
from gateway.store.records import FAULTS, WORDS, GameRecord, Row
from gateway.store.schema import analyses, exchanges, games, players

PAGE = 250
"""The number of games that `every` reads at a time. They take about 50 KB of memory."""
COUNTED = 10_000
"""The default limit of `count`."""
LOBBY = "lobby"
"""The name of the lobby in a filter. No table can have this name."""
LATEST = 20_000
"""The number of games, the latest ones, that are searched for what no index finds."""
_FEW, _FEW_TO_COUNT = 2_000, 200_000
"""The most games that are read because an index finds them, to sort or to count those that match the other
conditions. Among more games, enough that match are soon found by reading in the order of storing."""
_RECENT = 5_000
"""The most games that are compared to find a remarkable one."""
_MANY = 10
"""The least number of games of which one is the shortest."""
_LONGEST_SERIES = 500
"""The most games of a series before and after a given game."""

Result: TypeAlias = Literal["won", "drawn", "lost"]


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
    result: Result | None = None
    """The result for `player`; without `player`, for the first mover."""
    table: str | None = None
    """The name of the table; letter case does not matter. `LOBBY` means the lobby."""
    mistake: bool = False
    """Only games in which the loser made a mistake: a fault, or a move that turned the game."""
    analysed: bool | None = None
    """Whether the game has an analysis, without which turning moves are not known."""
    side: Side | None = None
    """The side of `player`, which it needs."""

    def __post_init__(self) -> None:
        """Raise ValueError if there is an opponent or a side, but no player."""
        if self.player is None and (self.opponent is not None or self.side is not None):
            raise ValueError(f"{'an opponent' if self.side is None else 'a side'} needs a player")


@dataclass(frozen=True, slots=True)
class Page:
    """A part of the stored games: those between `after` and `before`, without these two."""

    after: GameId | None = None
    before: GameId | None = None
    limit: int = 100
    newest_first: bool = True
    skipped: int = 0
    """The number of games of this part that are left out at its beginning. Each of them takes time."""


class NoGameError(StoreError):
    """No stored game has this id."""


def page(connection: Connection, wanted: Filter, part: Page) -> list[GameRecord]:
    """Return up to `part.limit` games. Raises `NoGameError` if the game `after` or `before` is not stored."""
    numbers = _numbers(connection, wanted, part, [*_bounds(connection, part)])
    order = games.c.id.desc() if part.newest_first else games.c.id
    query = _WHOLE.where(games.c.id.in_(numbers)).order_by(order)
    return [GameRecord.of_row(row) for row in connection.execute(query)]


def count(connection: Connection, wanted: Filter, limit: int = COUNTED) -> int:
    """Return the number of games that match, but `limit` if there are more."""
    numbers = _numbers(connection, wanted, Page(limit=limit), few=_FEW_TO_COUNT).subquery()
    return int(connection.execute(select(func.count()).select_from(numbers)).scalar_one())


def has_analyses(connection: Connection) -> bool:
    """Whether any game has an analysis."""
    return connection.scalar(select(analyses.c.game).limit(1)) is not None


def unanalysed(connection: Connection, wanted: Filter) -> int:
    """Return the number of games, as `count` does, that may match a filter for mistakes after their analysis.

    Returns 0 if no game has an analysis, because there is no solver.
    """
    if wanted.reason not in (None, Reason.FOUR) or not has_analyses(connection):
        return 0
    return count(connection, replace(wanted, reason=Reason.FOUR, mistake=False, analysed=False))


def total(connection: Connection) -> int:
    """Return the number of all games."""
    return int(connection.execute(select(func.count()).select_from(games)).scalar_one())


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


def shortest(connection: Connection, since: int) -> GameId | None:
    """Return the game that ended by four in a row after the fewest moves, since a time.

    Returns None if several games did, or if there were fewer than `_MANY` such games. Only the latest
    `_RECENT` games are compared.
    """
    recent = _recent(since)
    won = select(recent).where(recent.c.reason == WORDS[Reason.FOUR])
    found = connection.execute(won.order_by(recent.c.moves, recent.c.id).limit(_MANY)).all()
    is_one = len(found) == _MANY and found[0].moves < found[1].moves
    return found[0].game if is_one else None


def best(connection: Connection, since: int) -> GameId | None:
    """Return the game since a time that turned most often, and of these the longest; None without a game.

    Only the latest `_RECENT` games are compared, and only those that ended on the board.
    """
    recent = _recent(since)
    turned = func.coalesce(analyses.c.turned, 0)
    query = (
        select(recent.c.game)
        .join(analyses, analyses.c.game == recent.c.id, isouter=True)
        .where(recent.c.reason.in_([WORDS[Reason.FOUR], WORDS[Reason.FULL]]))
        .order_by(turned.desc(), recent.c.moves.desc(), recent.c.id.desc())
    )
    return connection.scalar(query.limit(1))


def _recent(since: int) -> Subquery:
    """Return the latest `_RECENT` games since a time."""
    length = func.length(games.c.moves).label("moves")
    query = select(games.c.id, games.c.game, games.c.reason, length).where(games.c.ended + 0 >= since)
    return query.order_by(games.c.id.desc()).limit(_RECENT).subquery()


def check_players(connection: Connection, wanted: Filter) -> None:
    """Raise StoreError if no stored game has a player of the filter. The error suggests similar names."""
    for name in (wanted.player, wanted.opponent):
        if name is not None and not known(connection, [name]):
            raise unknown(connection, name)


def neighbours(connection: Connection, game: GameId) -> tuple[GameId | None, GameId | None]:
    """Return the games that were stored before and after a game. Raises `NoGameError`."""
    number = _place_of(connection, game)
    before = select(games.c.game).where(games.c.id < number).order_by(games.c.id.desc()).limit(1)
    after = select(games.c.game).where(games.c.id > number).order_by(games.c.id).limit(1)
    return connection.scalar(before), connection.scalar(after)


def series_of(connection: Connection, record: GameRecord) -> list[GameRecord]:
    """Return the games of a record's series in the order of play, with the record itself.

    A game from a database of version 1 is alone: it is not known which run of the server played it. Of a
    long series, only the games near the record are returned. Raises `NoGameError`.
    """
    run, _, _ = record.game.rpartition("-")
    if not run:
        return [record]
    number = _place_of(connection, record.game)
    numbers: list[int] = []
    one, other = (each.name for each in record.players)
    for first, second in {(one, other), (other, one)}:
        pair = games.c.first == number_of(first), games.c.second == number_of(second)
        for nearby, order in ((games.c.id <= number, games.c.id.desc()), (games.c.id > number, games.c.id)):
            near = select(games.c.id, games.c.series, games.c.game).where(*pair, nearby).order_by(order)
            near_ids = near.limit(_LONGEST_SERIES).subquery()
            # Numbers of series are unique within a run, whose games' ids begin alike.
            same = near_ids.c.series == record.series, near_ids.c.game.startswith(f"{run}-")
            numbers += connection.scalars(select(near_ids.c.id).where(*same))
    rows = connection.execute(_WHOLE.where(games.c.id.in_(numbers)).order_by(games.c.round, games.c.id))
    return [GameRecord.of_row(row) for row in rows]


def all_tables(connection: Connection) -> list[str]:
    """Return the names of all tables, sorted. Each spelling of a name is included."""
    # Jumping from name to name in the index is much faster than reading all of its entries.
    first = select(func.min(games.c.at_table, type_=games.c.at_table.type).label("name"))
    names = first.where(games.c.at_table.is_not(None)).cte("names", recursive=True)
    following = (
        select(func.min(games.c.at_table, type_=games.c.at_table.type))
        .where(games.c.at_table > names.c.name)
        .scalar_subquery()
    )
    names = names.union_all(select(following).where(names.c.name.is_not(None)))
    return [*connection.scalars(select(names.c.name).where(names.c.name.is_not(None)))]


def spellings(connection: Connection, table: str) -> list[str]:
    """Return all spellings of a table's name, which differ in letter case. The lobby has none."""
    key = table.casefold()
    return [each for each in all_tables(connection) if each.casefold() == key] if key != LOBBY else []


def rows_of(connection: Connection, ids: Sequence[GameId]) -> list[Row]:
    """Return the games with these ids. Ids of games that are not stored are ignored."""
    return [Row._make((*row, None, None)) for row in connection.execute(_NAMED, {"ids": ids})]


def one(connection: Connection, game: GameId) -> GameRecord:
    """Return the game with this id. Raises `NoGameError`."""
    for row in rows_of(connection, [game]):
        return GameRecord.of_row(row)
    raise NoGameError(f"there is no game {game}")


def ending(connection: Connection, number: str) -> GameId | None:
    """Return the newest of the latest `LATEST` games whose id ends with the number of a game in its run."""
    newest = select(func.max(games.c.id)).scalar_subquery()
    query = select(games.c.game).where(games.c.id > newest - LATEST, games.c.game.endswith(f"-{number}"))
    found: GameId | None = connection.scalar(query.order_by(games.c.id.desc()).limit(1))
    return found


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


# The numbers of the games that match a filter.
#
# The database does not know how many games a condition matches. So `_numbers` finds the most selective
# condition that has an index, and hides the columns of the others in expressions, so that their indexes are
# not used.

_Index: TypeAlias = Literal["player", "table", "time", "reason", ""]
_RESULTS = {"won": (1, 2), "drawn": (0, 0), "lost": (2, 1)}
"""The value of the column `result` for each result of the first and of the second mover."""
_AT_FAULT = games.c.reason.concat("").in_([WORDS[reason] for reason in FAULTS])
_ANALYSIS = (analyses.c.game == games.c.id,)


def _numbers(
    connection: Connection,
    wanted: Filter,
    part: Page,
    bounds: Sequence[ColumnElement[bool]] = (),
    few: int = _FEW,
) -> Select[Any]:
    """Return a query for the numbers of the games that match, in the order of `part`."""
    spelled = () if wanted.table is None else spellings(connection, wanted.table)
    index = _most_selective(connection, wanted, spelled, few)
    number = games.c.id + 0 if index in {"table", "time"} else games.c.id  # these indexes have another order
    order = number.desc() if part.newest_first else number
    end = part.skipped + part.limit
    parts = [
        select(games.c.id).where(each, *bounds).order_by(order).limit(end)
        for each in _conditions(wanted, spelled, index)
    ]
    if len(parts) == 1:
        return parts[0].limit(part.limit).offset(part.skipped)
    # A game of two players of one name is in both parts.
    found = union(*(select(each.subquery().c.id) for each in parts)).subquery().c.id
    both = select(found).order_by(found.desc() if part.newest_first else found)
    return both.limit(part.limit).offset(part.skipped)


def _most_selective(connection: Connection, wanted: Filter, spelled: Sequence[str], few: int) -> _Index:
    """Return the index of the condition that matches the fewest games, if these are at most `few`.

    Otherwise return an index that has the games in their order.
    """
    alone: dict[_Index, Filter] = {}
    if wanted.player is not None:
        alone["player"] = Filter(wanted.player, wanted.opponent, side=wanted.side)
    if wanted.table is not None:
        alone["table"] = Filter(table=wanted.table)
    if wanted.since is not None or wanted.until is not None:
        alone["time"] = Filter(since=wanted.since, until=wanted.until)
    if wanted.reason is not None:
        alone["reason"] = Filter(reason=wanted.reason)
    in_order: _Index = "player" if "player" in alone else "reason" if "reason" in alone else ""
    best, least = in_order, few + 1
    for index, condition in alone.items() if len(alone) > 1 or in_order == "" else ():
        number = 0
        for each in _conditions(condition, spelled, index):
            found = select(games.c.id).where(each).limit(few + 1).subquery()
            number += connection.scalar(select(func.count()).select_from(found)) or 0
        if number < least:
            best, least = index, number
    return best


def _conditions(wanted: Filter, spelled: Sequence[str], index: _Index) -> list[ColumnElement[bool]]:
    """Return the conditions of a filter. With the index of the player there is one for each of its sides."""
    others = and_(true(), *_of_any_player(wanted, spelled, index))
    sides = (0, 1) if wanted.player is not None and wanted.side is None else (wanted.side or 0,)
    found = [and_(true(), *_of_player(wanted, side, index)) for side in sides]
    return [and_(each, others) for each in found] if index == "player" else [and_(or_(*found), others)]


def _of_player(wanted: Filter, side: int, index: _Index) -> Iterator[ColumnElement[bool]]:
    """Yield the conditions for a game in which the player has this side."""
    columns: list[ColumnElement[int]] = [games.c.first, games.c.second]
    if index != "player":
        columns = [column + 0 for column in columns]
    if wanted.player is not None:
        yield columns[side] == number_of(wanted.player)
    if wanted.opponent is not None:
        yield columns[1 - side] == number_of(wanted.opponent)
    if wanted.result is not None:
        yield games.c.result == _RESULTS[wanted.result][side]


def _of_any_player(wanted: Filter, spelled: Sequence[str], index: _Index) -> Iterator[ColumnElement[bool]]:
    """Yield the conditions that do not concern a player."""
    ended = games.c.ended if index == "time" else games.c.ended + 0
    if wanted.since is not None:
        yield ended >= wanted.since
    if wanted.until is not None:
        yield ended < wanted.until
    if wanted.reason is not None:
        yield (games.c.reason if index == "reason" else games.c.reason.concat("")) == WORDS[wanted.reason]
    if wanted.table is not None:
        at_table = games.c.at_table if index == "table" else games.c.at_table.concat("")
        yield at_table.is_(None) if wanted.table.casefold() == LOBBY else at_table.in_(spelled)
    if wanted.counted is not None:
        yield games.c.counted if wanted.counted else ~games.c.counted
    if wanted.result == "drawn":  # a game without a result has no winner either
        yield games.c.reason.concat("") == WORDS[Reason.FULL]
    if wanted.mistake:
        yield or_(_AT_FAULT, exists().where(*_ANALYSIS, analyses.c.lost_by.is_not(None)))
    if wanted.analysed is not None:
        yield exists().where(*_ANALYSIS) if wanted.analysed else ~exists().where(*_ANALYSIS)
