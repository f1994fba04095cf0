"""Tournaments in the database: their settings, their logs, and the games that belong to them.

Knows the tables. Does not know what an entry of a log means. Each function works in the transaction of its
connection. The numbers of entries have no gaps, so of several programs that add to a log at the same time
only one succeeds; the others have to read the log again.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, func, insert, select

from gateway.game.ids import GameId
from gateway.game.text import did_you_mean, quoted
from gateway.store import StoreError
from gateway.store.schema import games, players, tournament_entries, tournament_games, tournaments
from gateway.store.totals import Rating
from gateway.tournament.log import COMPLETE, Known, LoggedEntry, TournamentNews, TournamentResult
from gateway.tournament.settings import parse
from gateway.tournament.tournament import Tournament

_TOURNAMENTS = select(
    tournaments.c.id, tournaments.c.key, tournaments.c.settings, tournaments.c.began
).order_by(tournaments.c.id)


class NoTournamentError(StoreError):
    """There is no such tournament, or this version cannot read it."""


def create(connection: Connection, key: str, settings: str) -> None:
    """Add a tournament. Raises StoreError if there is one with this key."""
    if connection.scalar(select(tournaments.c.id).where(tournaments.c.key == key)) is not None:
        raise StoreError(f"there is a tournament {quoted(key)} already; give this one another name")
    number = connection.scalar(select(func.coalesce(func.max(tournaments.c.id), 0)))
    values = {"id": (number or 0) + 1, "key": key, "settings": settings, "began": _now()}
    connection.execute(insert(tournaments).values(values))


def append(
    connection: Connection, key: str, known: Known, entries: Sequence[str], pairings: Sequence[int] = ()
) -> bool:
    """Add entries to a log, if its writer knows the whole log and all games of `pairings`.

    Otherwise return False, and add none. Raises NoTournamentError.
    """
    number = _number_of(connection, key)
    of_this = tournament_entries.c.tournament == number
    there = connection.scalar(select(func.count()).select_from(tournament_entries).where(of_this))
    if there != known.entries:
        return False
    games_of_it = tournament_games.c.tournament == number, tournament_games.c.pairing.in_(pairings)
    latest = select(func.max(tournament_games.c.game)).where(*games_of_it)
    if pairings and (connection.scalar(latest) or 0) > known.row:
        return False
    rows = [
        {"tournament": number, "number": place, "made": _now(), "entry": entry}
        for place, entry in enumerate(entries, known.entries + 1)
    ]
    connection.execute(insert(tournament_entries), rows)
    return True


def news(connection: Connection, known: Mapping[str, Known], only: str | None = None) -> list[TournamentNews]:
    """Return what was added to each tournament after its known part; also tournaments without news.

    A tournament that is not in `known` is returned whole, others without their settings. Of those known as
    `COMPLETE` nothing is read. With `only`, return just that tournament. Raises NoTournamentError.
    """
    if only is not None:
        _number_of(connection, only)
    found = [row for row in connection.execute(_TOURNAMENTS) if only in (None, row.key)]
    added = list[TournamentNews]()
    for row in found:
        part = known.get(row.key, Known())
        settings = "" if row.key in known else row.settings
        if part == COMPLETE:
            added.append(TournamentNews(row.key, settings, [], [], row.began))
        else:
            entries, games = _entries(connection, row.id, part.entries), _games(connection, row.id, part.row)
            added.append(TournamentNews(row.key, settings, entries, games, row.began))
    return added


def named(connection: Connection, name: str) -> Tournament:
    """Return the tournament of this name, in upper or lower case.

    Raises NoTournamentError, also if this version cannot read it.
    """
    [found] = news(connection, {}, name.casefold())
    try:
        return Tournament.of(found)
    except ValueError as error:
        raise NoTournamentError(f"the tournament {quoted(name)} cannot be read: {error}") from error


def without_games(connection: Connection) -> list[TournamentNews]:
    """Return the settings and the log of each tournament, without its games, in the order of creation."""
    return [
        TournamentNews(row.key, row.settings, _entries(connection, row.id, 0), [], row.began)
        for row in connection.execute(_TOURNAMENTS).all()
    ]


def faults(connection: Connection, name: str) -> list[TournamentResult]:
    """Return the stored games of a tournament that ended by a fault. Raises NoTournamentError."""
    number = _number_of(connection, name.casefold())
    where = tournament_games.c.tournament == number, tournament_games.c.fault.is_not(None)
    return _results(connection.execute(_GAMES.where(*where)))


def places(connection: Connection, ids: Sequence[GameId]) -> dict[GameId, tuple[str, int, int]]:
    """Return the place in a tournament of each of these games that has one.

    It is the tournament's key, the time at which it was made, and the number of the pairing.
    """
    query = (
        select(games.c.game, tournaments.c.key, tournaments.c.began, tournament_games.c.pairing)
        .join(tournament_games, tournament_games.c.game == games.c.id)
        .join(tournaments, tournaments.c.id == tournament_games.c.tournament)
        .where(games.c.game.in_(ids))
    )
    return {game: (key, began, pairing) for game, key, began, pairing in connection.execute(query)}


def ratings(connection: Connection, names: Sequence[str]) -> dict[str, float]:
    """Return the ratings of players, less three deviations. Players without rated games are left out."""
    query = select(players.c.name, players.c.mean, players.c.deviation, players.c.opened + players.c.replied)
    rows = connection.execute(query.where(players.c.name.in_(names)))
    return {name: Rating(mean, deviation).sure for name, mean, deviation, games in rows if games}


def hides_winning(connection: Connection, key: str, created: int | None) -> bool:
    """Whether the file of a tournament keeps from everybody who is winning a game of it that is on.

    `created` is as in `Scheduled`; None for a game at a table of that name that belongs to no tournament.
    Returns True, too, if the tournament was removed, or this version cannot read its file.
    """
    row = connection.execute(_TOURNAMENTS.where(tournaments.c.key == key)).one_or_none()
    if row is None or created not in (None, 0, row.began):
        return created is not None
    try:
        return not parse(row.settings).live_evaluation
    except ValueError:
        return True


def _number_of(connection: Connection, key: str) -> int:
    number: int | None = connection.scalar(select(tournaments.c.id).where(tournaments.c.key == key))
    if number is None:
        known = connection.scalars(select(tournaments.c.key)).all()
        raise NoTournamentError(f"there is no tournament {quoted(key)}{did_you_mean(key, known)}")
    return number


def _entries(connection: Connection, tournament: int, known: int) -> list[LoggedEntry]:
    query = (
        select(tournament_entries.c.made, tournament_entries.c.entry)
        .where(tournament_entries.c.tournament == tournament, tournament_entries.c.number > known)
        .order_by(tournament_entries.c.number)
    )
    return [LoggedEntry(*row) for row in connection.execute(query)]


_first, _second = players.alias("opener"), players.alias("replier")
_GAMES = (
    select(
        games.c.id,
        games.c.game,
        tournament_games.c.pairing,
        tournament_games.c.number,
        games.c.ended,
        _first.c.name,
        _second.c.name,
        games.c.result,
        games.c.reason,
        games.c.first_thought,
        games.c.second_thought,
        tournament_games.c.culprit,
        tournament_games.c.fault,
    )
    .join(games, tournament_games.c.game == games.c.id)
    .join(_first, games.c.first == _first.c.id)
    .join(_second, games.c.second == _second.c.id)
    .order_by(games.c.id)
)


def _games(connection: Connection, tournament: int, known: int) -> list[TournamentResult]:
    where = tournament_games.c.tournament == tournament, tournament_games.c.game > known
    return _results(connection.execute(_GAMES.where(*where)))


def _results(rows: Iterable[Any]) -> list[TournamentResult]:
    return [TournamentResult._make((*row[:9], (row[9], row[10]), *row[11:])) for row in rows]


def _now() -> int:
    return round(1000 * time.time())
