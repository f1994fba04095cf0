"""Statistics, read from what is kept beside the games: who stands where, and who did how against whom.

Knows the tables; computes nothing that `gateway.store.totals` does not keep. Only games that count are in it:
none of TEST players, none between players of the server's own, none that was aborted or cut short.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    Subquery,
    case,
    func,
    literal_column,
    select,
    union_all,
)

from gateway.game.events import Reason
from gateway.store.records import REASONS
from gateway.store.schema import players, tallies
from gateway.store.totals import Rating


@dataclass(frozen=True, slots=True)
class Score:
    """Some games of one player."""

    games: int
    won: int
    drawn: int

    @property
    def lost(self) -> int:
        """Games that were lost."""
        return self.games - self.won - self.drawn

    @property
    def points(self) -> float:
        """1 for a won game, a half for a drawn one."""
        return self.won + self.drawn / 2

    @property
    def share(self) -> float:
        """Points a game, 0 to 1; a half if there are no games."""
        return self.points / self.games if self.games else 0.5

    def __add__(self, other: "Score") -> "Score":
        """Return both together."""
        return Score(self.games + other.games, self.won + other.won, self.drawn + other.drawn)


@dataclass(frozen=True, slots=True)
class Record:
    """Some games of one player, by side, and what it thought in them."""

    first: Score
    """As first mover."""
    second: Score
    thought: int
    """Milliseconds, all games together."""
    moves: int

    def __add__(self, other: "Record") -> "Record":
        """Return both together."""
        return Record(
            self.first + other.first,
            self.second + other.second,
            self.thought + other.thought,
            self.moves + other.moves,
        )

    @property
    def total(self) -> Score:
        """Both sides together."""
        return self.first + self.second

    @property
    def mean_thought(self) -> float:
        """Milliseconds a move."""
        return self.thought / self.moves if self.moves else 0.0


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a player stands."""

    name: str
    kind: str
    """What it spoke in its last game."""
    house: bool
    record: Record
    rating: Rating


@dataclass(frozen=True, slots=True)
class Profile:
    """All there is to say of one player."""

    standing: Standing
    reasons: dict[Reason, Record]
    """By how the games ended."""
    opponents: dict[str, Record]
    """By opponent, those that it played most first."""


@dataclass(frozen=True, slots=True)
class Meeting:
    """How often two players met with these two as first and as second mover."""

    first: str
    second: str
    games: int


def standings(connection: Connection, limit: int | None = None) -> list[Standing]:
    """Return those who have played games that count, the strongest first."""
    query = _STANDING.where(players.c.opened + players.c.replied > 0)
    surest = (players.c.mean - 3 * players.c.deviation).desc()
    return [_standing(row) for row in connection.execute(query.order_by(surest, players.c.name).limit(limit))]


def roll(connection: Connection, after: str | None = None, limit: int = 100) -> list[Standing]:
    """Return those who have played any game, by name, from behind the name `after` on."""
    query = _STANDING if after is None else _STANDING.where(players.c.name > after)
    return [_standing(row) for row in connection.execute(query.order_by(players.c.name).limit(limit))]


def profile(connection: Connection, name: str, opponents: int = 100) -> Profile | None:
    """Return all of one player, with up to so many `opponents`; None for one who never played."""
    row = connection.execute(_STANDING.add_columns(players.c.id).where(players.c.name == name)).one_or_none()
    if row is None:
        return None
    seen = _seen_by(row.id)
    reasons = connection.execute(_by_reason(seen))
    return Profile(
        _standing(row),
        {REASONS[each.key]: _record(each) for each in reasons},
        {each.key: _record(each) for each in connection.execute(_by_opponent(seen, opponents))},
    )


def meetings(connection: Connection, names: Sequence[str]) -> list[Meeting]:
    """Return how often each of `names` moved first against each player that it met in either order.

    They are sorted by both names.
    """
    chosen = select(players.c.id).where(players.c.name.in_(names))
    ahead = select(tallies.c.first, tallies.c.second, tallies.c.games).where(tallies.c.first.in_(chosen))
    behind = select(tallies.c.second, tallies.c.first, literal_column("0")).where(
        tallies.c.second.in_(chosen)
    )
    met = union_all(ahead, behind).subquery()
    sums = select(met.c.first, met.c.second, func.sum(met.c.games).label("games"))
    pairs = sums.group_by(met.c.first, met.c.second).subquery()
    one, other = players.alias("opener"), players.alias("replier")
    query = (
        select(one.c.name, other.c.name, pairs.c.games)
        .join_from(pairs, one, pairs.c.first == one.c.id)
        .join(other, pairs.c.second == other.c.id)
        .order_by(one.c.name, other.c.name)
    )
    return [Meeting(first, second, int(games)) for first, second, games in connection.execute(query)]


def first_movers(connection: Connection) -> Score:
    """Return how all first movers together did: the advantage of moving first."""
    sums = (func.coalesce(func.sum(column), 0) for column in _OPENED)
    games, won, drawn = connection.execute(select(*sums)).one()
    return Score(int(games), int(won), int(drawn))


_OPENED = (players.c.opened, players.c.opened_won, players.c.opened_drawn)
_STANDING = select(*(column for column in players.c if column.name != "id"))


def _standing(row: Row[Any]) -> Standing:
    first = Score(row.opened, row.opened_won, row.opened_drawn)
    second = Score(row.replied, row.replied_won, row.replied_drawn)
    record = Record(first, second, row.thought, row.moves)
    return Standing(row.name, row.kind, row.house, record, Rating(row.mean, row.deviation))


def _seen_by(player: int) -> Subquery:
    """Return the tallies of a player, as that player sees them."""
    parts = []
    for side, own, other in ((1, "first", "second"), (2, "second", "first")):
        part = select(
            tallies.c[other].label("opponent"),
            tallies.c.reason,
            literal_column(str(side)).label("side"),
            tallies.c.games,
            case((tallies.c.result == side, tallies.c.games), else_=0).label("won"),
            case((tallies.c.result == 0, tallies.c.games), else_=0).label("drawn"),
            tallies.c[f"{own}_thought"].label("thought"),
            tallies.c[f"{own}_moves"].label("moves"),
        )
        parts.append(part.where(tallies.c[own] == player))
    return union_all(*parts).subquery()


def _sums(seen: Subquery) -> Iterator[ColumnElement[Any]]:
    for side in (1, 2):
        for name in ("games", "won", "drawn"):
            on_side = case((seen.c.side == side, seen.c[name]), else_=0)
            yield func.sum(on_side).label(f"{name}_{side}")
    yield func.sum(seen.c.thought).label("thought")
    yield func.sum(seen.c.moves).label("moves")


def _by_reason(seen: Subquery) -> Select[Any]:
    key = seen.c.reason.label("key")
    return select(key, *_sums(seen)).group_by(key).order_by(key)


def _by_opponent(seen: Subquery, limit: int) -> Select[Any]:
    most = func.sum(seen.c.games).label("most")
    of_all = select(seen.c.opponent, most, *_sums(seen)).group_by(seen.c.opponent).subquery()
    columns = [column for column in of_all.c if column.name not in ("opponent", "most")]
    named = select(players.c.name.label("key"), *columns).join(of_all, of_all.c.opponent == players.c.id)
    return named.order_by(of_all.c.most.desc(), players.c.name).limit(limit)


def _record(row: Row[Any]) -> Record:
    first = Score(int(row.games_1), int(row.won_1), int(row.drawn_1))
    second = Score(int(row.games_2), int(row.won_2), int(row.drawn_2))
    return Record(first, second, int(row.thought), int(row.moves))
