"""Comparing players: standings of a choice of games, and scores between players.

Knows the tables. For all games it reads the totals that are kept beside the games, for a smaller `Choice` the
games themselves. It includes only games that count. A rating is always that of all games.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, FromClause, and_, case, func, literal_column, or_, select

from gateway.game.events import Reason
from gateway.store import statistics
from gateway.store.records import REASONS
from gateway.store.schema import games, players, tallies
from gateway.store.statistics import Record, Score, Standing
from gateway.store.totals import Rating

LATEST = 20_000
"""Games in which tables are searched for."""

LOBBY = "lobby"
"""The name that stands for the lobby. No table has it."""
ORDERS: Mapping[str, Callable[[Standing], Any]] = {
    "rating": lambda each: -each.rating.sure,
    "points": lambda each: -each.record.total.points,
    "share": lambda each: -each.record.total.share,
    "games": lambda each: -each.record.total.games,
    "name": lambda each: each.name.casefold(),
    "time": lambda each: -each.record.mean_thought,
}
"""The keys by which standings can be sorted. All but names put the largest first."""
MERITS = ("rating", "points", "share")
"""Those that also give the ranks; in the other orders the ranks are those by rating."""

_NONE = Score(0, 0, 0)


@dataclass(frozen=True, slots=True)
class Choice:
    """A choice of games, by all fields that are not None."""

    since: int | None = None
    """Games that ended at this time or later, in milliseconds of Unix time."""
    table: str | None = None
    """Games at the table of this name, in any case; `LOBBY` for those in the lobby."""

    @property
    def is_everything(self) -> bool:
        """Whether it is all games."""
        return self == EVERYTHING


EVERYTHING = Choice()


@dataclass(frozen=True, slots=True)
class Ranked:
    """A player's row in standings."""

    rank: int
    """From 1. Players who are equal share a rank, and the next one follows by the number of players ahead."""
    standing: Standing


@dataclass(frozen=True, slots=True)
class Comparison:
    """The players of a choice of games, and what they did."""

    choice: Choice
    """The same games by the simplest choice: without `since` if no game is older."""
    standings: list[Standing]
    """The strongest first."""
    reasons: dict[Reason, int]
    """The number of games for each reason."""
    endings: dict[tuple[str, Reason], Score]
    """A player's score in the games that ended for a reason; empty without `by_reason`."""
    tables: list[str]
    """The tables of the latest games, the latest first."""


def ranked(found: Sequence[Standing], order: str = "rating") -> list[Ranked]:
    """Return players in one of `ORDERS`, with their ranks. `found` is in the order that equals keep."""
    merit = ORDERS[order if order in MERITS else "rating"]
    rows: list[Ranked] = []
    for number, each in enumerate(sorted(found, key=merit), 1):
        is_equal = bool(rows) and merit(rows[-1].standing) == merit(each)
        rows.append(Ranked(rows[-1].rank if is_equal else number, each))
    return rows if order in MERITS else sorted(rows, key=lambda row: ORDERS[order](row.standing))


def standings(
    connection: Connection, choice: Choice, *, least: int = 1, order: str = "rating", limit: int | None = None
) -> tuple[list[Ranked], Score]:
    """Return the first `limit` players with at least `least` chosen games, and the score of first movers."""
    if choice.is_everything and least == 1 and order == "rating":  # then the database need not return all
        return ranked(statistics.standings(connection, limit)), statistics.first_movers(connection)
    found = compare(connection, choice).standings
    firsts = sum((each.record.first for each in found), _NONE)
    return ranked(with_games(found, least), order)[:limit], firsts


def with_games(found: Sequence[Standing], least: int) -> list[Standing]:
    """Return the players with at least `least` games."""
    return [each for each in found if each.record.total.games >= least]


def compare(connection: Connection, choice: Choice, *, by_reason: bool = False) -> Comparison:
    """Return the players of the chosen games and their scores; with `by_reason` also `endings`."""
    there = tables(connection)
    if choice.since is not None:
        older = select(games.c.id).where(games.c.ended < choice.since).limit(1)
        if connection.execute(older).first() is None:  # then what is kept beside the games will do
            choice = replace(choice, since=None)
    source = _source(connection, choice)
    query = select(source.c.reason, func.sum(source.c.games)).group_by(source.c.reason)
    ended = {REASONS[reason]: int(count) for reason, count in connection.execute(query)}
    if choice.is_everything and not by_reason:
        return Comparison(choice, statistics.standings(connection), ended, {}, there)
    done: dict[int, Record] = defaultdict(lambda: Record(_NONE, _NONE, 0, 0))
    endings: dict[tuple[int, Reason], Score] = defaultdict(lambda: _NONE)
    for player, reason, record in _records(connection, source, by_reason=by_reason):
        done[player] += record
        if reason is not None:
            endings[player, reason] += record.total
    names = {row.id: row.name for row in connection.execute(select(players.c.id, players.c.name))}
    named = {(names[player], reason): score for (player, reason), score in endings.items()}
    return Comparison(choice, _standings(connection, done), ended, named, there)


def scores(
    connection: Connection, choice: Choice, names: Sequence[str], others: Sequence[str]
) -> dict[tuple[str, str], Score]:
    """Return the score of each of `names` against each of `others` that it met."""
    own, their = _named(connection, names), _named(connection, others)
    source = _source(connection, choice)
    first, second = source.c.first, source.c.second
    met = or_(*(one.in_([*own]) & other.in_([*their]) for one, other in ((first, second), (second, first))))
    query = select(first, second, *_counts(source, 0)).where(met).group_by(first, second)
    found: dict[tuple[str, str], list[tuple[int, int, int]]] = defaultdict(list)
    for opener, replier, *counts in connection.execute(query):
        number, won, drawn = map(int, counts)
        if opener in own and replier in their:
            found[own[opener], their[replier]].append((number, won, drawn))
        if replier in own and opener in their:
            found[own[replier], their[opener]].append((number, number - won - drawn, drawn))
    return {pair: Score(*map(sum, zip(*both, strict=True))) for pair, both in found.items()}


def tables(connection: Connection, limit: int = 200) -> list[str]:
    """Return the names of up to `limit` tables of the latest `LATEST` games, those used last first.

    Of names that differ only in case, which are one table, it returns the latest.
    """
    newest = select(func.max(games.c.id)).scalar_subquery()
    recent = and_(games.c.id > newest - LATEST, games.c.at_table.is_not(None))
    latest = func.max(games.c.id)
    query = select(games.c.at_table).where(recent).group_by(games.c.at_table)
    found: dict[str, str] = {}
    for name in connection.scalars(query.order_by(latest.desc()).limit(limit)):
        found.setdefault(name.casefold(), name)
    return [*found.values()]


def spellings(connection: Connection, table: str) -> list[str]:
    """Return the stored names of a table, which differ in case: each game has what its players wrote."""
    names = connection.scalars(select(games.c.at_table).where(games.c.at_table.is_not(None)).distinct())
    return [name for name in names if name.casefold() == table.casefold()]


def _source(connection: Connection, choice: Choice) -> FromClause:
    """Return the chosen games, with the columns of `tallies`."""
    if choice.is_everything:
        return tallies
    length = func.length(games.c.moves)
    columns: list[ColumnElement[Any]] = [
        # Computed, so that no index is used: grouping most of the games by an index is slower.
        (games.c.first + 0).label("first"),
        (games.c.second + 0).label("second"),
        games.c.reason.concat("").label("reason"),
        games.c.result,
        literal_column("1").label("games"),
        games.c.first_thought,
        games.c.second_thought,
        ((length + 1) // 2).label("first_moves"),
        (length // 2).label("second_moves"),
    ]
    return select(*columns).where(*_conditions(connection, choice)).subquery()


def _records(
    connection: Connection, source: FromClause, *, by_reason: bool
) -> Iterator[tuple[int, Reason | None, Record]]:
    """Yield each player's record on each side, with `by_reason` one for each reason of the end."""
    for side, own in enumerate(("first", "second")):
        sums = (func.sum(source.c[f"{own}_{what}"]) for what in ("thought", "moves"))
        # Not by reason where nobody asks for it: each column makes sorting slower.
        keys = [source.c[own], *([source.c.reason] if by_reason else [])]
        query = select(*_counts(source, side), *sums, *keys).group_by(*keys)
        for number, won, drawn, thought, moves, player, *reasons in connection.execute(query):
            score = Score(int(number), int(won), int(drawn))
            both = (score, _NONE) if side == 0 else (_NONE, score)
            reason = REASONS[reasons[0]] if reasons else None
            yield player, reason, Record(*both, int(thought), int(moves))


def _standings(connection: Connection, done: Mapping[int, Record]) -> list[Standing]:
    """Return the standings of the players in `done`, the strongest first."""
    about = (players.c[name] for name in ("id", "name", "kind", "house", "mean", "deviation"))
    surest = (players.c.mean - 3 * players.c.deviation).desc()
    return [
        Standing(name, kind, house, done[number], Rating(mean, deviation))
        for number, name, kind, house, mean, deviation in connection.execute(
            select(*about).order_by(surest, players.c.name)
        )
        if number in done
    ]


def _conditions(connection: Connection, choice: Choice) -> Iterator[ColumnElement[bool]]:
    yield games.c.counted
    if choice.since is not None:
        yield games.c.ended >= choice.since
    if choice.table is None:
        return
    if choice.table.casefold() == LOBBY:
        yield games.c.at_table.is_(None)
    else:
        yield games.c.at_table.in_(spellings(connection, choice.table))


def _counts(source: FromClause, side: int) -> Iterator[ColumnElement[int]]:
    """Yield the numbers of all games, of those that this side won, and of those that nobody won."""
    yield func.sum(source.c.games)
    for result in (1 + side, 0):
        yield func.sum(case((source.c.result == result, source.c.games), else_=0))


def _named(connection: Connection, names: Sequence[str]) -> dict[int, str]:
    """Return the names of known players, by their numbers."""
    query = select(players.c.id, players.c.name).where(players.c.name.in_(names))
    return {row.id: row.name for row in connection.execute(query)}
