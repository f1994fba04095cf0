"""Storing games: the game, its players, the totals, and later the evidence.

Knows the tables; does not know processes, or what happens when the database fails. Each function works in the
transaction of its connection, which must exclude other writers (`Database.writing`). The rule it keeps: a
game is stored once, however often it is handed in.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias, TypeVar

from sqlalchemy import Connection, delete, func, select

from gateway.game.board import Side
from gateway.game.events import Reason
from gateway.game.ids import GameId
from gateway.store import evidence
from gateway.store.database import is_passing
from gateway.store.formats import jsonl
from gateway.store.games import named
from gateway.store.journal import Line
from gateway.store.records import WORDS, Cleared, Enclosure, GameRecord, TakenUp
from gateway.store.schema import exchanges, games, players, spelled, tallies
from gateway.store.totals import Account, Entry, Key, Ratings, Tally, Totals

T = TypeVar("T")
Packed: TypeAlias = tuple[Side, bytes, GameId]
"""Evidence of one side of a game, as it is kept."""
PAGE = 5_000
"""Games in one read of all games."""

_TOTALS = tuple(Account.__dataclass_fields__)
_SUMS = tuple(Tally.__dataclass_fields__)
_totals_of = attrgetter(*_TOTALS)
_sums_of = attrgetter(*_SUMS)


class OtherGameError(Exception):
    """There is another game with that id."""

    def __init__(self, game: GameId) -> None:
        super().__init__(f"another game has the id {game}")
        self.game = game


class Merged(NamedTuple):
    """What came of games that were to be stored, and that may have been told already."""

    fresh: Sequence[GameRecord]
    """Those that were not stored before."""
    replaced: Sequence[GameRecord]
    """Those that another server had stored without a result, having lost this one: now as they ended here."""
    lost: Sequence[GameRecord]
    """Those that this server had without a result, having lost the other one, which had stored their end."""
    other: Sequence[GameRecord]
    """Those whose id another game has."""


class Recounted(NamedTuple):
    """What came of a recount."""

    totals: Totals
    were_right: bool
    """Whether the totals were kept so."""
    rerated: int
    """Games with which ratings were missing or wrong."""


def store(connection: Connection, records: Sequence[GameRecord]) -> Sequence[GameRecord]:
    """Store the games that are not stored yet, in this order.

    Return shared ones that another server had stored with another end, as they are stored.
    Raises `OtherGameError`, and other errors for a game that the database will never take.
    """
    fresh, differing = _compared(connection, records)
    otherwise = []
    for there, record in differing:
        if record.remote is None:
            raise OtherGameError(record.game)
        otherwise.append(replace(there, remote=record.remote))
    _insert_games(connection, fresh)
    return otherwise


def merge(connection: Connection, records: Sequence[GameRecord]) -> Merged:
    """Store games of a journal or an export; pass over those whose id is taken, mostly by themselves.

    Raises errors for a game that the database will never take.
    """
    fresh, differing = _compared(connection, records)
    new, replaced = {record.game: record for record in fresh}, dict[GameId, GameRecord]()
    lost, other = list[GameRecord](), list[GameRecord]()
    for there, record in differing:
        one, two = sorted((there.moves, record.moves), key=len)
        if there.players != record.players or not two.startswith(one):
            other.append(record)
        elif record.reason is Reason.STOPPED:
            lost.append(record)
        elif there.reason is Reason.STOPPED:
            (new if record.game in new else replaced)[record.game] = record
        else:
            other.append(record)
    kept = _withdraw(connection, [*replaced])
    _insert_games(connection, [*new.values(), *replaced.values()])
    enclose(connection, kept)
    return Merged([*new.values()], [*replaced.values()], lost, other)


def _insert_games(connection: Connection, fresh: Sequence[GameRecord]) -> None:
    """Store games that are not stored, with their players and totals."""
    if not fresh:
        return
    seen = {player.name: player for record in fresh for player in record.players}
    ids, accounts = dict[str, int](), dict[int, Account]()
    for name, number, *kept in _known(connection, seen):
        ids[name], accounts[number] = number, Account(*kept)
    new = [name for name in seen if name not in ids]
    for number, name in enumerate(new, _last(connection, "players") + 1):
        ids[name], accounts[number] = number, Account()
    totals = Totals(accounts=accounts)
    rows = []
    for number, record in enumerate(fresh, _last(connection, "games") + 1):
        first, second = (ids[player.name] for player in record.players)
        ratings = Ratings()
        if record.counted:
            word, moves = WORDS[record.reason], len(record.moves)
            ratings = totals.enter(Entry(first, second, record.result, word, *record.thought, moves))
        rows.append((number, *_row(record, first, second), *ratings))
    changed = {
        name: (spelled(player.kind), player.house, *_totals_of(accounts[ids[name]]), ids[name])
        for name, player in seen.items()
    }
    _execute(connection, "insert_players", [(*changed.pop(name), spelled(name)) for name in new])
    _execute(connection, "update_players", [*changed.values()])
    _execute(connection, "insert_games", rows)
    _add(connection, totals.tallies)


def _known(connection: Connection, names: Iterable[str]) -> Iterator[Any]:
    """Yield the name, the number and the totals of each of these players who has played before."""
    spellings = {spelled(name): name for name in names}
    mark = _mark(connection.dialect.name)
    for part in _slices([*spellings]):
        query = f"SELECT name, id, {', '.join(_TOTALS)} FROM players WHERE name IN ({_marks(mark, part)})"
        for name, *found in connection.exec_driver_sql(query, tuple(part)):
            yield spellings[name], *found


def _withdraw(connection: Connection, ids: Sequence[GameId]) -> list[Packed]:
    """Remove games that do not count, and so are in no total; return their evidence."""
    if not ids:
        return []
    query = select(exchanges.c.side, exchanges.c.body, games.c.game).join(games).where(games.c.game.in_(ids))
    kept = [(row.side, row.body, row.game) for row in connection.execute(query)]
    numbers = connection.scalars(select(games.c.id).where(games.c.game.in_(ids))).all()
    connection.execute(delete(exchanges).where(exchanges.c.game.in_(numbers)))
    connection.execute(delete(games).where(games.c.id.in_(numbers)))
    return kept


def packed(enclosures: Iterable[Enclosure]) -> list[Packed]:
    """Return evidence as it is kept. That takes time: do it while no other writer is excluded."""
    return [(each.side, evidence.stored(each.exchange), each.game) for each in enclosures]


def enclose(connection: Connection, rows: Sequence[Packed]) -> None:
    """Store evidence, once for each side of a game. Evidence of an unknown game is dropped."""
    _execute(connection, "insert_exchanges", rows)


def replay(connection: Connection, totals: Totals) -> Iterator[dict[int, Ratings]]:
    """Enter all stored games in `totals`, a page at a time.

    Yields the missing and wrong ratings of each page, by the number of the game in the database.
    """
    kept = (games.c[name] for name in Ratings._fields)
    columns = (games.c.id, *(games.c[name] for name in Entry._fields[:-1]), func.length(games.c.moves), *kept)
    query = select(*columns).where(games.c.counted).order_by(games.c.id).limit(PAGE)
    last = 0
    while page := connection.execute(query.where(games.c.id > last)).all():
        lacking = {}
        for number, *about in page:
            entry, ratings = about[: -len(Ratings._fields)], about[-len(Ratings._fields) :]
            right = totals.enter(Entry(*entry))
            if right != (*ratings,):
                lacking[number] = right
        yield lacking
        last = page[-1].id


def recount(connection: Connection) -> Recounted:
    """Compute all totals, tallies and ratings again from the games alone, and put right what differs."""
    kept, counted, rerated = totals_kept(connection), Totals(), 0
    for lacking in replay(connection, counted):
        _execute(connection, "update_ratings", [(*ratings, number) for number, ratings in lacking.items()])
        rerated += len(lacking)
    if kept != counted:
        ids = connection.scalars(select(players.c.id)).all()
        rows = [(*_totals_of(counted.accounts.get(number, Account())), number) for number in ids]
        _execute(connection, "update_totals", rows)
        connection.execute(delete(tallies))
        _add(connection, counted.tallies)
    return Recounted(counted, kept == counted, rerated)


def totals_kept(connection: Connection) -> Totals:
    """Return the totals that are kept beside the games."""
    accounts = connection.execute(select(players.c.id, *(players.c[name] for name in _TOTALS)))
    sums = connection.execute(select(tallies))
    return Totals(
        {row[0]: Account(*row[1:]) for row in accounts if row.opened or row.replied},
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
    """Remove all rows."""
    for table in (exchanges, tallies):
        connection.execute(delete(table))
    removed = connection.execute(delete(games)).rowcount
    return Cleared(removed, connection.execute(delete(players)).rowcount)


def _compared(
    connection: Connection, records: Sequence[GameRecord]
) -> tuple[list[GameRecord], list[tuple[GameRecord, GameRecord]]]:
    """Return the games that are not stored yet, without repetitions, and those that are stored otherwise.

    Each of these comes behind the game that is there.
    """
    known: dict[GameId, GameRecord] = {}
    mark = _mark(connection.dialect.name)
    for ids in _slices([record.game for record in records]):
        query = f"SELECT 1 FROM games WHERE game IN ({_marks(mark, ids)}) LIMIT 1"
        if connection.exec_driver_sql(query, tuple(ids)).first() is not None:
            known |= {record.game: record for record in named(connection, ids)}
    fresh, differing = dict[GameId, GameRecord](), list[tuple[GameRecord, GameRecord]]()
    for record in records:
        there = known.get(record.game) or fresh.setdefault(record.game, record)
        if there != record:
            differing.append((there, record))
    return list(fresh.values()), differing


def _last(connection: Connection, table: str) -> int:
    """Return the highest number in a table, 0 if it is empty."""
    number: int = connection.exec_driver_sql(f"SELECT coalesce(max(id), 0) FROM {table}").scalar_one()
    return number


def _row(record: GameRecord, opener: int, replier: int) -> tuple[Any, ...]:
    """Return the columns of a game from `game` on; `opener` and `replier` are numbers of players."""
    game, began, ended, _, _, *others, _ = record.plain()
    columns = (spelled(each) if isinstance(each, str) else each for each in others)
    return (game, began, ended, opener, replier, *columns)


def _add(connection: Connection, sums: dict[Key, Tally]) -> None:
    """Add to the stored tallies."""
    _execute(connection, "add_tallies", [(*key, *_sums_of(tally)) for key, tally in sums.items()])


def _execute(connection: Connection, statement: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Execute one of `_statements` for all rows, without the cost of SQLAlchemy for each row."""
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


# Storing lines of games that were kept elsewhere for a while: in a journal, or in an export.
#
# Knows lines, and how a game at fault is found among others. Does not know files. The rule it keeps: a line
# that cannot be stored keeps no other from being stored.

_LONGEST = 300
"""Characters of an error that are shown: it may quote what the line has."""


def store_lines(connection: Connection, lines: Sequence[Line], came: TakenUp) -> None:
    """Store what can be stored, in the connection's transaction, and add to `came`."""
    numbered = list[tuple[int, GameRecord]]()
    for number, line in lines:
        try:
            numbered += [(number, record) for record in jsonl.read(line)]
        except ValueError as error:
            came.refused.append((number, str(error)[:_LONGEST]))
    _store(connection, numbered, came)


def _store(connection: Connection, numbered: Sequence[tuple[int, GameRecord]], came: TakenUp) -> None:
    """Store games; find one at fault by halves."""
    if not numbered:
        return
    try:
        with connection.begin_nested():
            merged = merge(connection, [record for _, record in numbered])
    except Exception as error:
        if is_passing(error):
            raise
        if len(numbered) > 1:
            half = len(numbered) // 2
            _store(connection, numbered[:half], came)
            _store(connection, numbered[half:], came)
            return
        cause = " ".join(str(getattr(error, "orig", None) or error).split())
        came.refused.append((numbered[0][0], f"the database will never take it: {cause[:_LONGEST]}"))
        return
    came.seen += len(numbered) - len(merged.other)
    came.new += len(merged.fresh)
    came.replaced += len(merged.replaced)
    came.differing += [f"game {each.game} has an end in the database, and none here" for each in merged.lost]
    for record in merged.other:
        number = next(number for number, each in numbered if each is record)
        why = f"another game has the id {record.game}, or this one was corrected since by void or rename"
        came.refused.append((number, why))
