"""Functions that write games, their players, totals and evidence to the database.

Knows the tables; does not know processes or failures of the database. Each function works in the transaction
of its connection, which must exclude other writers (`Database.writing`). Storing a game twice does no harm.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias, TypeVar

from sqlalchemy import Connection, delete, func, select, update

from gateway.game.board import Side
from gateway.game.events import Reason
from gateway.game.ids import GameId
from gateway.store.database import by_halves
from gateway.store.evidence import joined
from gateway.store.formats import jsonl
from gateway.store.games import rows_of
from gateway.store.journal import Line
from gateway.store.records import WORDS, Cleared, Refused, Row, TakenUp, TournamentGame, Written
from gateway.store.schema import (
    analyses,
    exchanges,
    games,
    players,
    spelled,
    tallies,
    tournament_entries,
    tournament_games,
    tournaments,
)
from gateway.store.totals import Entry, Key, PlayerTotals, Ratings, Tally, Totals

T = TypeVar("T")
Packed: TypeAlias = tuple[Side, bytes, GameId]
"""Evidence of one side of a game, encoded for the database."""
PAGE = 5_000
"""The number of games that are read at a time when all games are read."""

_STOPPED = WORDS[Reason.STOPPED]
_LONGEST = 300
"""The maximum length of an error text, in characters, since an error may quote the line."""
_TOTALS = tuple(PlayerTotals.__dataclass_fields__)
_SUMS = tuple(Tally.__dataclass_fields__)
_totals_of = attrgetter(*_TOTALS)
_sums_of = attrgetter(*_SUMS)


class OtherGameError(Exception):
    """A game cannot be stored, because a different game with its id is stored."""

    def __init__(self, game: GameId) -> None:
        super().__init__(f"another game has the id {game}")
        self.game = game


class Merged(NamedTuple):
    """The result of `merge`. Each game is in one of the lists, except games that were stored already."""

    fresh: Sequence[Row]
    """Games that are stored now."""
    replaced: Sequence[Row]
    """Games that replaced a stored game without a result.

    Another server stored that game when it lost the connection to the server of the other player.
    """
    lost: Sequence[Row]
    """Games without a result that are not stored, since the database has the same games with a result."""
    other: Sequence[Row]
    """Games that are not stored, since the database has a game with the same id that differs otherwise."""


class Recounted(NamedTuple):
    """The result of a recount."""

    totals: Totals
    were_right: bool
    """Whether the stored totals were correct."""
    rerated: int
    """The number of games whose ratings were missing or wrong."""


def store_possible(
    connection: Connection, games: Sequence[Row], evidence: Sequence[Packed], parts: Sequence[Packed] = ()
) -> Written:
    """Store games, evidence, and parts of evidence; skip those that the database rejects.

    This is slower than `store` and `enclose`, since savepoints make SQLite write pages to a file.
    """
    otherwise = list[Row]()

    def store_some(numbered: Sequence[tuple[int, Row]]) -> None:
        otherwise.extend(store(connection, [row for _, row in numbered]))

    refused = by_halves(connection, [*enumerate(games)], store_some)
    refused_evidence = [
        *by_halves(connection, evidence, partial(enclose, connection)),
        *by_halves(connection, parts, partial(join_parts, connection)),
    ]
    return Written(
        otherwise,
        [Refused(number, why) for (number, _), why in refused],
        [why for _, why in refused_evidence],
    )


def store(connection: Connection, rows: Sequence[Row]) -> list[Row]:
    """Store the games that are not stored yet, in this order.

    Returns the stored rows of shared games that another server had stored with a different ending. Raises
    `OtherGameError`, and other errors for a game that the database rejects.
    """
    fresh, differing = _compared(connection, rows)
    otherwise = []
    for there, row in differing:
        if row.remote is None:
            raise OtherGameError(row.game)
        otherwise.append(there._replace(remote=row.remote))
    _insert_games(connection, fresh)
    return otherwise


def merge(connection: Connection, rows: Sequence[Row]) -> Merged:
    """Store games of a journal or an export that are not stored yet, or are stored without a result.

    Raises an error for a game that the database rejects.
    """
    fresh, differing = _compared(connection, rows)
    new, replaced = {row.game: row for row in fresh}, dict[GameId, Row]()
    lost, other = list[Row](), list[Row]()
    for there, row in differing:
        one, two = sorted((there.moves, row.moves), key=len)
        if _players(there) != _players(row) or not two.startswith(one):
            other.append(row)
        elif row.reason == _STOPPED:
            lost.append(row)
        elif there.reason == _STOPPED:
            (new if row.game in new else replaced)[row.game] = row
        else:
            other.append(row)
    last = _last(connection, "games")  # a game that is replaced gets another number, so readers notice it
    kept = _withdraw(connection, [*replaced])
    _insert_games(connection, [*new.values(), *replaced.values()], last)
    enclose(connection, kept)
    return Merged([*new.values()], [*replaced.values()], lost, other)


def _players(row: Row) -> Sequence[Any]:
    return row[3:9]  # names, kinds, whether they are house players


def _insert_games(connection: Connection, fresh: Sequence[Row], last: int | None = None) -> None:
    """Insert games that are not stored, and update their players and the totals.

    `last` is the number of the latest game; None to read it.
    """
    if not fresh:
        return
    seen = dict[str, tuple[str, bool]]()
    for row in fresh:
        seen[row.first] = row.first_kind, row.first_house
        seen[row.second] = row.second_kind, row.second_house
    ids, accounts = dict[str, int](), dict[int, PlayerTotals]()
    for name, number, *kept in _known(connection, seen):
        ids[name], accounts[number] = number, PlayerTotals(*kept)
    new = [name for name in seen if name not in ids]
    for number, name in enumerate(new, _last(connection, "players") + 1):
        ids[name], accounts[number] = number, PlayerTotals()
    totals = Totals(accounts=accounts)
    rows, places = [], list[tuple[Any, ...]]()
    for number, row in enumerate(fresh, (_last(connection, "games") if last is None else last) + 1):
        first, second = ids[row.first], ids[row.second]
        ratings = Ratings()
        if row.counted:
            thought = (row.first_thought, row.second_thought)
            ratings = totals.enter(Entry(first, second, row.result, row.reason, *thought, len(row.moves)))
        others = (spelled(each) if isinstance(each, str) else each for each in row[5:-2])
        rows.append((number, row.game, row.began, row.ended, first, second, *others, *ratings))
        if row.scheduled is not None and row.table is not None:
            *place, created = row.scheduled
            places.append((number, *place, spelled(row.table.casefold()), created))
    changed = {
        name: (spelled(kind), house, *_totals_of(accounts[ids[name]]), ids[name])
        for name, (kind, house) in seen.items()
    }
    _execute(connection, "insert_players", [(*changed.pop(name), spelled(name)) for name in new])
    _execute(connection, "update_players", [*changed.values()])
    _execute(connection, "insert_games", rows)
    _execute(connection, "insert_places", places)
    _add(connection, totals.tallies)


def _known(connection: Connection, names: Iterable[str]) -> Iterator[Any]:
    """Yield the name, number and totals of those players that are in the database."""
    spellings = {spelled(name): name for name in names}
    mark = _mark(connection.dialect.name)
    for part in _slices([*spellings]):
        query = f"SELECT name, id, {', '.join(_TOTALS)} FROM players WHERE name IN ({_marks(mark, part)})"
        for name, *found in connection.exec_driver_sql(query, tuple(part)):
            yield spellings[name], *found


def _withdraw(connection: Connection, ids: Sequence[GameId]) -> list[Packed]:
    """Delete the games `ids`, which must not count in the totals; return their evidence."""
    if not ids:
        return []
    query = select(exchanges.c.side, exchanges.c.body, games.c.game).join(games).where(games.c.game.in_(ids))
    kept = [(row.side, row.body, row.game) for row in connection.execute(query)]
    numbers = connection.scalars(select(games.c.id).where(games.c.game.in_(ids))).all()
    for table in (exchanges, analyses, tournament_games):
        connection.execute(delete(table).where(table.c.game.in_(numbers)))
    connection.execute(delete(games).where(games.c.id.in_(numbers)))
    return kept


def enclose(connection: Connection, rows: Sequence[Packed]) -> None:
    """Store evidence. Skip evidence of an unknown game, or of a side that has evidence already."""
    _execute(connection, "insert_exchanges", rows)


def join_parts(connection: Connection, rows: Sequence[Packed]) -> None:
    """Store parts of evidence, joined with the parts that are stored. Skip those of an unknown game."""
    for side, body, game in rows:
        query = select(exchanges.c.game, exchanges.c.body).join(games)
        there = connection.execute(query.where(games.c.game == game, exchanges.c.side == side)).first()
        if there is None:
            enclose(connection, [(side, body, game)])
        else:
            change = update(exchanges).where(exchanges.c.game == there.game, exchanges.c.side == side)
            connection.execute(change.values(body=joined(there.body, body)))


def replay(connection: Connection, totals: Totals) -> Iterator[dict[int, Ratings]]:
    """Add all stored games that count to `totals`, a page at a time.

    Yields a dictionary for each page. It has the correct ratings of the games whose stored ratings are
    missing or wrong, by the number of the game in the database.
    """
    kept = (games.c[name] for name in Ratings._fields)
    columns = (games.c.id, *(games.c[name] for name in Entry._fields[:-1]), func.length(games.c.moves), *kept)
    query = select(*columns).where(games.c.counted).order_by(games.c.id).limit(PAGE)
    last = 0
    while page := connection.execute(query.where(games.c.id > last)).all():
        lacking = {}
        for number, *values in page:
            entry, ratings = values[: -len(Ratings._fields)], values[-len(Ratings._fields) :]
            right = totals.enter(Entry(*entry))
            if right != (*ratings,):
                lacking[number] = right
        yield lacking
        last = page[-1].id


def recount(connection: Connection) -> Recounted:
    """Compute all totals, tallies and ratings again from the games, and correct the stored ones."""
    kept, counted, rerated = totals_kept(connection), Totals(), 0
    for lacking in replay(connection, counted):
        _execute(connection, "update_ratings", [(*ratings, number) for number, ratings in lacking.items()])
        rerated += len(lacking)
    if kept != counted:
        ids = connection.scalars(select(players.c.id)).all()
        rows = [(*_totals_of(counted.accounts.get(number, PlayerTotals())), number) for number in ids]
        _execute(connection, "update_totals", rows)
        connection.execute(delete(tallies))
        _add(connection, counted.tallies)
    return Recounted(counted, kept == counted, rerated)


def totals_kept(connection: Connection) -> Totals:
    """Return the stored totals."""
    accounts = connection.execute(select(players.c.id, *(players.c[name] for name in _TOTALS)))
    sums = connection.execute(select(tallies))
    return Totals(
        {row[0]: PlayerTotals(*row[1:]) for row in accounts if row.opened or row.replied},
        {Key(*row[:4]): Tally(*row[4:]) for row in sums},
    )


def prune(connection: Connection, before: int, most: int = 1_000) -> int:
    """Delete the evidence of up to `most` games that ended before `before`, the oldest first.

    `before` is in milliseconds of Unix time. Returns the number of games.
    """
    oldest = select(exchanges.c.game).distinct().order_by(exchanges.c.game).limit(most).subquery()
    old = select(games.c.id).join(oldest, games.c.id == oldest.c.game).where(games.c.ended < before)
    numbers = connection.scalars(old).all()
    if numbers:
        connection.execute(delete(exchanges).where(exchanges.c.game.in_(numbers)))
    return len(numbers)


def clear(connection: Connection) -> Cleared:
    """Delete all games, players, tallies, evidence, analyses and tournaments."""
    for table in (exchanges, analyses, tallies, tournament_games, tournament_entries, tournaments):
        connection.execute(delete(table))
    removed = connection.execute(delete(games)).rowcount
    return Cleared(removed, connection.execute(delete(players)).rowcount)


def _compared(connection: Connection, rows: Sequence[Row]) -> tuple[list[Row], list[tuple[Row, Row]]]:
    """Return the games that are not stored yet, without repetitions, and those that differ from the stored
    ones.

    A game that differs is returned as a pair: the stored game, then the new game with the same id.
    """
    known: dict[GameId, Row] = {}
    mark = _mark(connection.dialect.name)
    for ids in _slices([row.game for row in rows]):
        query = f"SELECT 1 FROM games WHERE game IN ({_marks(mark, ids)}) LIMIT 1"
        if connection.exec_driver_sql(query, tuple(ids)).first() is not None:
            known |= {row.game: row for row in rows_of(connection, ids)}
    fresh, differing = dict[GameId, Row](), list[tuple[Row, Row]]()
    for row in rows:
        there = known.get(row.game) or fresh.setdefault(row.game, row)
        if there[:-2] != row[:-2]:  # the last two values are not in the table of games
            differing.append((there, row))
    return list(fresh.values()), differing


def _last(connection: Connection, table: str) -> int:
    """Return the highest id in a table; 0 if the table is empty."""
    number: int = connection.exec_driver_sql(f"SELECT coalesce(max(id), 0) FROM {table}").scalar_one()
    return number


def _add(connection: Connection, sums: dict[Key, Tally]) -> None:
    """Add sums to the stored tallies."""
    _execute(connection, "add_tallies", [(*key, *_sums_of(tally)) for key, tally in sums.items()])


def _execute(connection: Connection, statement: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Execute one of `_statements` for all rows. This avoids SQLAlchemy's cost per row."""
    if rows:
        connection.exec_driver_sql(_statements(connection.dialect.name)[statement], rows)


@cache
def _statements(dialect: str) -> dict[str, str]:
    mark = _mark(dialect)
    key = ", ".join(tallies.primary_key.columns.keys())
    sums = ", ".join(f"{name} = tallies.{name} + excluded.{name}" for name in _SUMS)
    kept = ", ".join(f"{name} = {mark}" for name in _TOTALS)
    after = ", ".join(f"{name} = {mark}" for name in Ratings._fields)
    return {
        "insert_games": _insert("games", games.c.keys(), mark),
        "insert_players": _insert("players", ("kind", "house", *_TOTALS, "id", "name"), mark),
        "update_players": f"UPDATE players SET kind = {mark}, house = {mark}, {kept} WHERE id = {mark}",
        "update_totals": f"UPDATE players SET {kept} WHERE id = {mark}",
        "update_ratings": f"UPDATE games SET {after} WHERE id = {mark}",
        "add_tallies": _insert("tallies", tallies.c.keys(), mark)
        + f" ON CONFLICT ({key}) DO UPDATE SET {sums}",
        "insert_places": (
            "INSERT INTO tournament_games (game, tournament, pairing, number, culprit, fault)"
            f" SELECT {mark}, tournaments.id, {_marks(mark, TournamentGame._fields[:-1])}"
            f" FROM tournaments WHERE key = {mark} AND {mark} IN (0, began) ON CONFLICT DO NOTHING"
        ),
        "insert_exchanges": (
            f"INSERT INTO exchanges (game, side, body) SELECT id, {mark}, {mark} FROM games"
            f" WHERE game = {mark} ON CONFLICT DO NOTHING"
        ),
    }


def _insert(table: str, columns: Iterable[str], mark: str) -> str:
    names = [*columns]
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({_marks(mark, names)})"


def _mark(dialect: str) -> str:
    return "?" if dialect == "sqlite" else "%s"


def _marks(mark: str, values: Sequence[object]) -> str:
    return ", ".join([mark] * len(values))


def _slices(names: Sequence[T], length: int = 500) -> Iterable[Sequence[T]]:
    return (names[start : start + length] for start in range(0, len(names), length))


def store_lines(connection: Connection, lines: Sequence[Line], came: TakenUp) -> None:
    """Store the games in lines of a journal or an export, and add the counts to `came`.

    If a line cannot be stored, all other lines are stored nevertheless.
    """
    numbered = list[tuple[int, Row]]()
    for number, line in lines:
        try:
            numbered += [(number, record.row()) for record in jsonl.read(line)]
        except ValueError as error:
            came.refused.append(Refused(number, str(error)[:_LONGEST]))

    def merge_some(some: Sequence[tuple[int, Row]]) -> None:
        merged = merge(connection, [row for _, row in some])
        came.seen += len(some) - len(merged.other)
        came.new += len(merged.fresh)
        came.replaced += len(merged.replaced)
        came.differing += [
            f"game {each.game} has an end in the database, and none here" for each in merged.lost
        ]
        for row in merged.other:
            number = next(number for number, each in some if each is row)
            why = f"another game has the id {row.game}, or this one was corrected since by void or rename"
            came.refused.append(Refused(number, why))

    for (number, _), why in by_halves(connection, numbered, merge_some):
        came.refused.append(Refused(number, f"the database will never take it: {why}"))
