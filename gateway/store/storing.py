"""Writing games down: the game, its players, what it does to the totals, and later its evidence.

Knows the tables; does not know threads, or what happens when the database fails: each function works within
the transaction of the connection that it is given, which must exclude other writers (`Database.writing`).
The rule it keeps: a game is stored once, however often it is handed in.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from operator import attrgetter
from typing import Any, TypeAlias, TypeVar

from sqlalchemy import Connection, delete, func, select

from gateway.game.ids import GameId
from gateway.store import evidence
from gateway.store.games import named
from gateway.store.records import WORDS, Cleared, Enclosure, GameRecord, Participant
from gateway.store.schema import exchanges, games, players, spelled, tallies
from gateway.store.totals import Account, Entry, Key, Ratings, Tally, Totals

T = TypeVar("T")
Rerated: TypeAlias = dict[int, Ratings]
"""Ratings after games, by the game's number in the database."""
PAGE = 5_000
"""Games that are read at once where all are read."""

_TOTALS = tuple(Account.__dataclass_fields__)
_SUMS = tuple(Tally.__dataclass_fields__)
_totals_of = attrgetter(*_TOTALS)
_sums_of = attrgetter(*_SUMS)
_UNRATED = Ratings()
_BUSY = ("first", "second", "result", "reason", "first_thought", "second_thought")


class OtherGameError(Exception):
    """There is another game with that id."""

    def __init__(self, game: GameId) -> None:
        super().__init__(f"another game has the id {game}")
        self.game = game


def store(connection: Connection, records: Sequence[GameRecord]) -> list[GameRecord]:
    """Store those games, in this order, that are not stored already; return these.

    Raises `OtherGameError`, and others for what the database will never take.
    """
    fresh = _fresh(connection, records)
    if not fresh:
        return fresh
    roll = _Roll(connection, fresh)
    totals = Totals(accounts=roll.accounts)
    rows = []
    for number, record in enumerate(fresh, connection.execute(_LAST_GAME).scalar_one() + 1):
        first, second = (roll.ids[player.name] for player in record.players)
        ratings = totals.enter(_entry(first, second, record)) if record.counted else _UNRATED
        rows.append((number, *_row(record, first, second), *ratings))
    roll.write(connection)
    _execute(connection, "insert_games", rows)
    _add(connection, totals.tallies)
    return fresh


def enclose(connection: Connection, enclosures: Sequence[Enclosure]) -> None:
    """Store evidence of games, each side's once; of games that are not there, drop it."""
    rows = [(each.side, evidence.stored(each.exchange), each.game) for each in enclosures]
    _execute(connection, "insert_exchanges", rows)


def recount(connection: Connection) -> Totals:
    """Return the totals as the stored games alone give them."""
    totals = Totals()
    for _ in replay(connection, totals):
        pass
    return totals


def replay(connection: Connection, totals: Totals) -> Iterator[Rerated]:
    """Enter all stored games in `totals`, a page at a time; yield the ratings that those of a page lack.

    They are lacking too where they are others than the games alone give.
    """
    kept = (games.c[name] for name in Ratings._fields)
    columns = (games.c.id, *(games.c[name] for name in _BUSY), func.length(games.c.moves), *kept)
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


def rerate(connection: Connection, lacking: Rerated) -> None:
    """Let games keep these ratings."""
    _execute(connection, "update_ratings", [(*ratings, number) for number, ratings in lacking.items()])


def totals_kept(connection: Connection) -> Totals:
    """Return the totals as they are kept beside the games."""
    accounts = connection.execute(select(players.c.id, *(players.c[name] for name in _TOTALS)))
    sums = connection.execute(select(tallies))
    return Totals(
        {row[0]: Account(*row[1:]) for row in accounts if row.opened or row.replied},
        {Key(*row[:4]): Tally(*row[4:]) for row in sums},
    )


def rewrite(connection: Connection, totals: Totals) -> None:
    """Keep these totals beside the games, in place of those that are kept."""
    ids = connection.scalars(select(players.c.id)).all()
    rows = [(*_totals_of(totals.accounts.get(number, Account())), number) for number in ids]
    _execute(connection, "update_totals", rows)
    connection.execute(delete(tallies))
    _add(connection, totals.tallies)


def prune(connection: Connection, before: int, most: int = 1_000) -> int:
    """Delete the evidence of up to `most` games that ended before `before`, the oldest first.

    `before` is in milliseconds of Unix time. Returns of how many it was deleted.
    """
    oldest = select(exchanges.c.game).distinct().order_by(exchanges.c.game).limit(most).subquery()
    old = select(games.c.id).join(oldest, games.c.id == oldest.c.game).where(games.c.ended < before)
    numbers = connection.scalars(old).all()
    if numbers:
        connection.execute(delete(exchanges).where(exchanges.c.game.in_(numbers)))
    return len(numbers)


# Made once: to put a statement together takes longer than to carry it out.
_LAST_GAME = select(func.coalesce(func.max(games.c.id), 0))
_LAST_PLAYER = select(func.coalesce(func.max(players.c.id), 0))


def clear(connection: Connection) -> Cleared:
    """Remove everything but the tables."""
    for table in (exchanges, tallies):
        connection.execute(delete(table))
    removed = connection.execute(delete(games)).rowcount
    return Cleared(removed, connection.execute(delete(players)).rowcount)


class _Roll:
    """The players of some games: their numbers and accounts, known ones and new ones."""

    def __init__(self, connection: Connection, records: Sequence[GameRecord]) -> None:
        self._seen: dict[str, Participant] = {}
        for record in records:
            for player in record.players:
                self._seen[player.name] = player
        self.ids: dict[str, int] = {}
        self.accounts: dict[int, Account] = {}
        for name, number, *totals in self._find(connection):
            self.ids[name] = number
            self.accounts[number] = Account(*totals)
        self._new = [name for name in self._seen if name not in self.ids]
        if self._new:
            for number, name in enumerate(self._new, connection.execute(_LAST_PLAYER).scalar_one() + 1):
                self.ids[name] = number
                self.accounts[number] = Account()

    def write(self, connection: Connection) -> None:
        """Write everybody down as they are now."""
        rows = {name: self._row(name) for name in self._seen}
        _execute(connection, "insert_players", [(*rows.pop(name), spelled(name)) for name in self._new])
        _execute(connection, "update_players", [*rows.values()])

    def _find(self, connection: Connection) -> Iterator[Any]:
        names = {spelled(name): name for name in self._seen}
        mark = _mark(connection.dialect.name)
        for part in _slices([*names]):
            query = f"SELECT name, id, {', '.join(_TOTALS)} FROM players WHERE name IN ({_marks(mark, part)})"
            for name, *found in connection.exec_driver_sql(query, tuple(part)):
                yield names[name], *found

    def _row(self, name: str) -> tuple[Any, ...]:
        player, number = self._seen[name], self.ids[name]
        return (spelled(player.kind), player.house, *_totals_of(self.accounts[number]), number)


def _fresh(connection: Connection, records: Sequence[GameRecord]) -> list[GameRecord]:
    """Return the games that are not stored yet, each once. Raises `OtherGameError`."""
    known: dict[GameId, GameRecord] = {}
    for ids in _slices([record.game for record in records]):
        known |= {record.game: record for record in named(connection, ids)}
    fresh: dict[GameId, GameRecord] = {}
    for record in records:
        there = known.get(record.game) or fresh.setdefault(record.game, record)
        if there != record:
            raise OtherGameError(record.game)
    return list(fresh.values())


def _row(record: GameRecord, opener: int, replier: int) -> tuple[Any, ...]:
    """Return the columns of a game between these two players, from `game` on."""
    first, second = record.players
    return (
        *(record.game, record.began, record.ended, opener, replier),
        *(spelled(first.kind), spelled(second.kind), first.house, second.house),
        *(record.moves, record.result, WORDS[record.reason], *record.thought),
        *(spelled(record.table), record.series, record.round, record.counted),
    )


def _entry(first: int, second: int, record: GameRecord) -> Entry:
    return Entry(first, second, record.result, WORDS[record.reason], *record.thought, len(record.moves))


def _add(connection: Connection, sums: dict[Key, Tally]) -> None:
    """Add to the tallies that are kept."""
    _execute(connection, "add_tallies", [(*key, *_sums_of(tally)) for key, tally in sums.items()])


def _execute(connection: Connection, statement: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Carry out one of `_statements` for each row, without what SQLAlchemy would do for each."""
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
