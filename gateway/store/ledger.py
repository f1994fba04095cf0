"""Writing games down: the game, its players, what it does to the books, and later its evidence.

Knows the tables; does not know threads, or what happens when the database fails: each function works within
the transaction of the connection that it is given, which must exclude other writers (`Database.writing`).
The rule it keeps: a game is stored once, however often it is handed in.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from operator import attrgetter
from typing import Any

from sqlalchemy import Connection, Insert, Table, bindparam, delete, func, insert, select, update

from gateway.store import evidence
from gateway.store.books import Account, Books, Entry, Key, Tally
from gateway.store.records import WORDS, Enclosure, GameRecord, Participant, Submission
from gateway.store.schema import exchanges, games, players, tallies

PAGE = 5_000
"""Games that are read at once where all are read."""

_TOTALS = tuple(Account.__dataclass_fields__)
_SUMS = tuple(Tally.__dataclass_fields__)
_totals_of = attrgetter(*_TOTALS)
_sums_of = attrgetter(*_SUMS)
_BUSY = ("first", "second", "result", "reason", "first_thought", "second_thought")


def store(connection: Connection, boot: int, submissions: Sequence[Submission]) -> None:
    """Store those games of the run `boot`, in this order, that are not stored already."""
    known = _known(connection, boot, submissions) if submissions else set()
    fresh = [submission for submission in submissions if submission.number not in known]
    if not fresh:
        return
    roll = _Roll(connection, fresh)
    books = Books(accounts=roll.accounts)
    rows = []
    for game_id, submission in enumerate(fresh, connection.execute(_LAST_GAME).scalar_one() + 1):
        record = submission.record
        first, second = (roll.ids[player.name] for player in record.players)
        row = {"id": game_id, "boot": boot, "number": submission.number, "first": first, "second": second}
        rows.append(row | _row(record))
        if record.counted:
            books.enter(_entry(first, second, record))
    roll.write(connection)
    connection.execute(_INSERT_GAMES, rows)
    _add(connection, books.tallies)


def enclose(connection: Connection, boot: int, enclosures: Sequence[Enclosure]) -> None:
    """Store evidence of games of the run `boot`, each side's once; of games that are not there, drop it."""
    rows = [
        {"run": boot, "at": each.number, "of": each.side, "packed": evidence.pack(each.said, each.began)}
        for each in enclosures
    ]
    if rows:
        connection.execute(_insert_exchanges(connection.dialect.name), rows)


def recount(connection: Connection) -> Books:
    """Return the books as the stored games alone give them."""
    books = Books()
    columns = (games.c.id, *(games.c[name] for name in _BUSY), func.length(games.c.moves))
    query = select(*columns).where(games.c.counted).order_by(games.c.id).limit(PAGE)
    last = 0
    while page := connection.execute(query.where(games.c.id > last)).all():
        for _, *entry in page:
            books.enter(Entry(*entry))
        last = page[-1].id
    return books


def books_kept(connection: Connection) -> Books:
    """Return the books as they are kept beside the games."""
    accounts = connection.execute(select(players.c.id, *(players.c[name] for name in _TOTALS)))
    sums = connection.execute(select(tallies))
    return Books(
        {row[0]: Account(*row[1:]) for row in accounts if row.opened or row.replied},
        {Key(*row[:4]): Tally(*row[4:]) for row in sums},
    )


def rewrite(connection: Connection, books: Books) -> None:
    """Keep these books beside the games, in place of those that are kept."""
    ids = connection.scalars(select(players.c.id)).all()
    _write_accounts(connection, {number: books.accounts.get(number, Account()) for number in ids})
    connection.execute(delete(tallies))
    _add(connection, books.tallies)


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
_FIND_NUMBERS = select(games.c.number).where(
    games.c.boot == bindparam("run"), games.c.number.between(bindparam("lowest"), bindparam("highest"))
)
_FIND_PLAYERS = select(players.c.id, players.c.name, *(players.c[name] for name in _TOTALS)).where(
    players.c.name.in_(bindparam("names", expanding=True))
)
_LAST_GAME = select(func.coalesce(func.max(games.c.id), 0))
_LAST_PLAYER = select(func.coalesce(func.max(players.c.id), 0))
_UPDATE_PLAYER = update(players).where(players.c.id == bindparam("key"))
_INSERT_PLAYERS, _INSERT_GAMES = insert(players), insert(games)
_EXCHANGE = select(
    games.c.id, bindparam("of", type_=exchanges.c.side.type), bindparam("packed", type_=exchanges.c.body.type)
).where(games.c.boot == bindparam("run"), games.c.number == bindparam("at"))


@dataclass(frozen=True, slots=True)
class Cleared:
    """What `clear` removed."""

    games: int
    players: int


def clear(connection: Connection) -> Cleared:
    """Remove everything but the tables."""
    for table in (exchanges, tallies):
        connection.execute(delete(table))
    removed = connection.execute(delete(games)).rowcount
    return Cleared(removed, connection.execute(delete(players)).rowcount)


# What follows is how.


class _Roll:
    """The players of some games: their numbers and accounts, known ones and new ones."""

    def __init__(self, connection: Connection, submissions: Sequence[Submission]) -> None:
        self._seen: dict[str, Participant] = {}
        for submission in submissions:
            for player in submission.record.players:
                self._seen[player.name] = player
        self.ids: dict[str, int] = {}
        self.accounts: dict[int, Account] = {}
        for number, name, *totals in self._find(connection):
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
        new = [{"id": self.ids[name], "name": name, **rows.pop(name)} for name in self._new]
        if new:
            connection.execute(_INSERT_PLAYERS, new)
        if rows:
            known = [{"key": self.ids[name], **row} for name, row in rows.items()]
            connection.execute(_UPDATE_PLAYER, known)

    def _find(self, connection: Connection) -> Iterator[Any]:
        for names in _slices(list(self._seen)):
            yield from connection.execute(_FIND_PLAYERS, {"names": names})

    def _row(self, name: str) -> dict[str, Any]:
        player = self._seen[name]
        return {"kind": player.kind, "house": player.house, **_totals(self.accounts[self.ids[name]])}


def _known(connection: Connection, boot: int, submissions: Sequence[Submission]) -> set[int]:
    numbers = [submission.number for submission in submissions]
    about = {"run": boot, "lowest": min(numbers), "highest": max(numbers)}
    return set(connection.scalars(_FIND_NUMBERS, about))


def _row(record: GameRecord) -> dict[str, Any]:
    first, second = record.players
    return {
        "began": record.began,
        "ended": record.ended,
        "first_kind": first.kind,
        "second_kind": second.kind,
        "first_house": first.house,
        "second_house": second.house,
        "moves": record.moves,
        "result": record.result,
        "reason": WORDS[record.reason],
        "first_thought": record.thought[0],
        "second_thought": record.thought[1],
        "at_table": record.table,
        "series": record.series,
        "round": record.round,
        "counted": record.counted,
    }


def _entry(first: int, second: int, record: GameRecord) -> Entry:
    return Entry(first, second, record.result, WORDS[record.reason], *record.thought, len(record.moves))


def _totals(account: Account) -> dict[str, Any]:
    return dict(zip(_TOTALS, _totals_of(account), strict=True))


def _write_accounts(connection: Connection, accounts: dict[int, Account]) -> None:
    if accounts:
        rows = [{"key": number, **_totals(account)} for number, account in accounts.items()]
        connection.execute(_UPDATE_PLAYER, rows)


def _add(connection: Connection, sums: dict[Key, Tally]) -> None:
    """Add to the tallies that are kept."""
    if not sums:
        return
    names = tuple(tallies.c.keys())
    rows = [dict(zip(names, (*key, *_sums_of(tally)), strict=True)) for key, tally in sums.items()]
    connection.execute(_upsert(connection.dialect.name), rows)


@cache
def _insert_exchanges(dialect: str) -> Insert:
    statement = _into(exchanges, dialect).from_select(["game", "side", "body"], _EXCHANGE)
    once: Insert = statement.on_conflict_do_nothing()
    return once


@cache
def _upsert(dialect: str) -> Insert:
    statement = _into(tallies, dialect)
    added = {name: tallies.c[name] + statement.excluded[name] for name in _SUMS}
    key = [column.name for column in tallies.primary_key]
    upsert: Insert = statement.on_conflict_do_update(index_elements=key, set_=added)
    return upsert


def _into(table: Table, dialect: str) -> Any:
    # Both spell what follows alike. Only the one that is needed is imported: PostgreSQL's takes 50 ms.
    return import_module(f"sqlalchemy.dialects.{dialect}").insert(table)


def _slices(names: Sequence[str], length: int = 500) -> Iterable[Sequence[str]]:
    return (names[start : start + length] for start in range(0, len(names), length))
