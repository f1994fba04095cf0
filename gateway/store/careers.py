"""The history of one player: its rating game by game, its openings, its thinking times, its dialects.

Knows the tables. It reads the player's own games by their indexes, so the cost grows with their number; of a
long history only some points are returned. Ratings, openings and places come from games that count.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from sqlalchemy import Connection, Select, Subquery, and_, func, literal_column, or_, select, union_all

from gateway.game.board import Side
from gateway.store import evidence
from gateway.store.evidence import Moves
from gateway.store.schema import exchanges, games, players
from gateway.store.statistics import Profile, Score, profile
from gateway.store.totals import Rating


@dataclass(frozen=True, slots=True)
class Point:
    """A player's rating after one of its games."""

    number: int
    """The number of the game among its rated games, from 1."""
    ended: int
    """When the game ended, in milliseconds of Unix time."""
    rating: Rating


@dataclass(frozen=True, slots=True)
class Client:
    """A dialect in which a player played."""

    kind: str
    games: int
    latest: int
    """When the latest game ended, in milliseconds of Unix time."""


@dataclass(frozen=True, slots=True)
class Career:
    """The history of one player."""

    profile: Profile
    place: tuple[int, int] | None
    """Its place, and the number of players; None if none of its games counts."""
    curve: list[Point]
    openings: tuple[dict[str, Score], dict[str, Score]]
    """Its scores as first mover and as second, by the first columns of the game."""
    clients: list[Client]
    move_times: list[float]
    """Mean milliseconds for its first move of a game, its second, and so on."""
    kinds: dict[str, str]
    """The dialects of its opponents."""


def career(connection: Connection, name: str) -> Career | None:
    """Return the history of a player; None if it has played no game."""
    found = profile(connection, name)
    if found is None:
        return None
    kinds = select(players.c.name, players.c.kind).where(players.c.name.in_([*found.opponents]))
    return Career(
        profile=found,
        place=place(connection, name),
        curve=curve(connection, name, 120),
        openings=(openings(connection, name, 0), openings(connection, name, 1)),
        clients=clients(connection, name),
        move_times=move_times(connection, name),
        kinds={row.name: row.kind for row in connection.execute(kinds)},
    )


def place(connection: Connection, name: str) -> tuple[int, int] | None:
    """Return the rank of a player and the number of players; None if none of its games counts."""
    counts = players.c.opened + players.c.replied > 0
    sure = players.c.mean - 3 * players.c.deviation
    own = connection.execute(select(sure).where(players.c.name == name, counts)).scalar()
    if own is None:
        return None
    ahead = connection.execute(select(func.count()).where(counts, sure > own)).scalar_one()
    return ahead + 1, connection.execute(select(func.count()).select_from(players).where(counts)).scalar_one()


def curve(connection: Connection, name: str, most: int, since: int | None = None) -> list[Point]:
    """Return a player's rating after its games from `since` on, the oldest first.

    Of more than `most` games it returns evenly spread ones, with the latest. Games without a rating are left
    out.
    """
    rated = _both_sides(connection, name, ("id", "ended", "{side}_mean", "{side}_deviation"))
    numbered = (
        select(
            *rated.c,
            func.row_number().over(order_by=rated.c.id).label("number"),
            func.count().over().label("total"),
        )
        .where(rated.c.mean.is_not(None), rated.c.ended >= (since or 0))
        .subquery()
    )
    number, total = numbered.c.number, numbered.c.total
    step = (total + most - 1) // most
    query = select(number, numbered.c.ended, numbered.c.mean, numbered.c.deviation)
    rows = connection.execute(query.where(or_((total - number) % step == 0, number == 1)).order_by(number))
    return [Point(number, ended, Rating(mean, deviation)) for number, ended, mean, deviation in rows]


def openings(connection: Connection, name: str, side: Side, depth: int = 4) -> dict[str, Score]:
    """Return a player's scores on one side by opening: the first columns, of both players.

    There is an entry for every opening of 1 to `depth` columns.
    """
    own = (games.c.first, games.c.second)[side]
    start = func.substr(games.c.moves, 1, depth)
    query = (
        select(start, games.c.result, func.count())
        .where(own == _number(connection, name), games.c.counted, games.c.moves != "")
        .group_by(start, games.c.result)
    )
    found: dict[str, Score] = {}
    for moves, result, count in connection.execute(query):
        score = Score(count, count * (result == 1 + side), count * (result == 0))
        for length in range(1, len(moves) + 1):
            found[moves[:length]] = found.get(moves[:length], Score(0, 0, 0)) + score
    return found


def clients(connection: Connection, name: str) -> list[Client]:
    """Return the dialects in which a player played, the latest first."""
    seen = _both_sides(connection, name, ("ended", "{side}_kind"))
    latest = func.max(seen.c.ended)
    query = select(seen.c.kind, func.count(), latest).group_by(seen.c.kind).order_by(latest.desc())
    return [Client(*row) for row in connection.execute(query)]


def move_times(connection: Connection, name: str, latest: int = 50) -> list[float]:
    """Return the mean milliseconds for a player's first move, its second, and so on.

    They come from the evidence of its `latest` games. Empty if there is none.
    """
    taken: dict[int, list[int]] = defaultdict(list)
    for side, moves in _latest_moves(connection, name, latest):
        for number in sorted(moves.times)[1:]:
            used = moves.turn(number).used
            if used is not None and number % 2 != side:
                taken[(number - 1) // 2].append(used)
    known = takewhile(bool, (taken[number] for number in range(len(taken))))
    return [sum(each) / len(each) for each in known]


def _latest_moves(connection: Connection, name: str, latest: int) -> Iterator[tuple[int, Moves]]:
    """Yield the player's side in its latest games, and when their moves were made."""
    own = _both_sides(connection, name, ("id", "moves", "first_thought", "second_thought"))
    newest = select(own).order_by(own.c.id.desc()).limit(latest).subquery()
    sides = [exchanges.alias("opener"), exchanges.alias("replier")]
    bodies = (each.c.body for each in sides)
    query = select(newest.c.side, newest.c.moves, newest.c.first_thought, newest.c.second_thought, *bodies)
    for side, each in enumerate(sides):
        query = query.outerjoin(each, and_(each.c.game == newest.c.id, each.c.side == side))
    for side, columns, first, second, *kept in connection.execute(query):
        both = [None if body is None else evidence.unpacked(body) for body in kept]
        yield side, evidence.found(columns, (first, second), both)


def _number(connection: Connection, name: str) -> int | None:
    return connection.execute(select(players.c.id).where(players.c.name == name)).scalar()


def _both_sides(connection: Connection, name: str, columns: Sequence[str]) -> Subquery:
    """Return a player's games on both sides; ``{side}_`` in `columns` stands for the player's side."""
    number = _number(connection, name)

    def parts() -> Iterator[Select[tuple[object, ...]]]:
        for side, own in enumerate(("first", "second")):
            found = (games.c[each.format(side=own)].label(each.removeprefix("{side}_")) for each in columns)
            # A name that plays itself has each of its games once.
            once = games.c.second != games.c.first if side else literal_column("1") == 1
            yield select(*found, literal_column(str(side)).label("side")).where(games.c[own] == number, once)

    return union_all(*parts()).subquery()
