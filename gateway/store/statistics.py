"""Queries for statistics: standings, scores between players, the history of one player.

Knows the tables. Statistics over all games are read from the stored totals. Those over a smaller `Choice`,
and a player's history, are computed from the games. Only games that count are included (see
`records.record_of`). A rating is always over all games.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    Row,
    Select,
    Subquery,
    and_,
    case,
    desc,
    func,
    literal_column,
    or_,
    select,
    union_all,
)

from gateway.game.board import Side
from gateway.game.events import Reason
from gateway.game.text import did_you_mean, quoted
from gateway.store import StoreError, evidence
from gateway.store.database import Reading
from gateway.store.evidence import Moves
from gateway.store.games import number_of
from gateway.store.records import REASONS
from gateway.store.schema import exchanges, games, players, tallies
from gateway.store.totals import Rating

LATEST = 20_000
"""The number of latest games in which `tables` searches for tables."""
LOBBY = "lobby"
"""The name of the lobby in a `Choice`. No table can have it."""


@dataclass(frozen=True, slots=True)
class Score:
    """A player's result in some games."""

    games: int
    won: int
    drawn: int

    @property
    def lost(self) -> int:
        """The number of lost games."""
        return self.games - self.won - self.drawn

    @property
    def points(self) -> float:
        """The sum of 1 for each won game and 0.5 for each drawn game."""
        return self.won + self.drawn / 2

    @property
    def share(self) -> float:
        """Points per game, 0 to 1; 0.5 without games."""
        return self.points / self.games if self.games else 0.5

    def __add__(self, other: "Score") -> "Score":
        """Return the sum of both."""
        return Score(self.games + other.games, self.won + other.won, self.drawn + other.drawn)


@dataclass(frozen=True, slots=True)
class Record:
    """A player's scores in some games, by side, and its thinking time."""

    first: Score
    """As first mover."""
    second: Score
    """As second mover."""
    thought: int
    """Milliseconds in all these games."""
    moves: int
    """The number of its moves."""

    def __add__(self, other: "Record") -> "Record":
        """Return the sum of both."""
        return Record(
            self.first + other.first,
            self.second + other.second,
            self.thought + other.thought,
            self.moves + other.moves,
        )

    @property
    def total(self) -> Score:
        """The score on both sides."""
        return self.first + self.second

    @property
    def mean_thought(self) -> float:
        """Milliseconds per move."""
        return self.thought / self.moves if self.moves else 0.0


@dataclass(frozen=True, slots=True)
class Standing:
    """A player with its record and rating."""

    name: str
    kind: str
    """The player's dialect in its last game."""
    house: bool
    record: Record
    rating: Rating


@dataclass(frozen=True, slots=True)
class Ranked:
    """A player's row in standings."""

    rank: int
    """One more than the number of players that are ahead, so that equal players share a rank."""
    standing: Standing


@dataclass(frozen=True, slots=True)
class Choice:
    """A choice of games. A field that is None matches all games."""

    since: int | None = None
    """The game ended at this time or later, in milliseconds of Unix time."""
    table: str | None = None
    """The table where it was played, in any case; `LOBBY` for the lobby."""

    @property
    def is_everything(self) -> bool:
        """Whether it matches all games."""
        return self == EVERYTHING


EVERYTHING = Choice()


@dataclass(frozen=True, slots=True)
class Comparison:
    """The players of the chosen games, and their results in these games."""

    choice: Choice
    """The choice, simplified: without `since` if no game is older."""
    standings: list[Standing]
    """The players, the strongest first."""
    reasons: dict[Reason, int]
    """The number of games for each reason."""
    endings: dict[tuple[str, Reason], Score]
    """Scores by player and by the reason for which games ended; empty without `by_reason`."""
    tables: list[str]
    """The tables of the latest games, the latest first."""


@dataclass(frozen=True, slots=True)
class Meeting:
    """The number of games between two players, by who moved first."""

    first: str
    second: str
    games: int


@dataclass(frozen=True, slots=True)
class Profile:
    """The results of one player."""

    standing: Standing
    reasons: dict[Reason, Record]
    """The player's record, by the reason for which games ended."""
    opponents: dict[str, Record]
    """The player's record, by opponent. The most frequent opponents come first."""


@dataclass(frozen=True, slots=True)
class Point:
    """A player's rating after one of its games."""

    number: int
    """The number of the game among the player's rated games, from 1."""
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
    """The player's rank, and the number of players. None if none of the player's games counts."""
    curve: list[Point]
    openings: tuple[dict[str, Score], dict[str, Score]]
    """The player's scores as first mover and as second mover, by the first columns of the game."""
    clients: list[Client]
    move_times: list[float]
    """The mean time of the player's first move of a game, the second, and so on, in milliseconds."""
    kinds: dict[str, str]
    """The dialects of the player's opponents, by name."""


ORDERS: Mapping[str, Callable[[Standing], Any]] = {
    "rating": lambda each: -each.rating.sure,
    "points": lambda each: -each.record.total.points,
    "share": lambda each: -each.record.total.share,
    "games": lambda each: -each.record.total.games,
    "name": lambda each: each.name.casefold(),
    "time": lambda each: -each.record.mean_thought,
}
"""The orders of standings, and their sort keys. All but names have the largest value first."""
MERITS = ("rating", "points", "share")
"""The orders that also determine the ranks. In all other orders the ranks are by rating."""

_NONE = Score(0, 0, 0)
_NOTHING = Record(_NONE, _NONE, 0, 0)
_SIDES = (("first", "second"), ("second", "first"))
"""The columns of a player and of its opponent, by the player's side."""
_SCORE = ("games", "won", "drawn")
_RECORD = (*(f"{side}_{name}" for side, _ in _SIDES for name in _SCORE), "thought", "moves")
"""The columns of a record, as `_sums` can sum them: the score on each side, thinking time, moves."""
_COUNTS = players.c.opened + players.c.replied > 0
"""The condition that some games of a player count."""
_SURE = players.c.mean - 3 * players.c.deviation


# Standings.


def ranked(found: Sequence[Standing], order: str = "rating") -> list[Ranked]:
    """Sort players by one of `ORDERS` and add their ranks. Equal players keep their order in `found`."""
    merit = ORDERS[order if order in MERITS else "rating"]
    rows: list[Ranked] = []
    for number, each in enumerate(sorted(found, key=merit), 1):
        is_equal = bool(rows) and merit(rows[-1].standing) == merit(each)
        rows.append(Ranked(rows[-1].rank if is_equal else number, each))
    return rows if order in MERITS else sorted(rows, key=lambda row: ORDERS[order](row.standing))


def with_games(found: Sequence[Standing], least: int) -> list[Standing]:
    """Return the players with at least `least` games."""
    return [each for each in found if each.record.total.games >= least]


def standings(
    connection: Connection,
    choice: Choice = EVERYTHING,
    *,
    least: int = 1,
    order: str = "rating",
    limit: int | None = None,
) -> tuple[list[Ranked], Score]:
    """Return up to `limit` players with at least `least` chosen games, and the score of first movers."""
    if choice.is_everything and least == 1 and order == "rating":  # the database can apply the limit
        sums = (players.c.opened, players.c.opened_won, players.c.opened_drawn)
        firsts = connection.execute(select(*(func.coalesce(func.sum(column), 0) for column in sums))).one()
        return ranked(_strongest(connection, limit)), Score(*map(int, firsts))
    found = compare(connection, choice).standings
    firsts_of_chosen = sum((each.record.first for each in found), _NONE)
    return ranked(with_games(found, least), order)[:limit], firsts_of_chosen


def players_by_name(connection: Connection, after: str | None = None, limit: int = 100) -> list[Standing]:
    """Return up to `limit` players in the order of names, beginning after the name `after`."""
    query = select(players) if after is None else select(players).where(players.c.name > after)
    return [_standing(row) for row in connection.execute(query.order_by(players.c.name).limit(limit))]


def _strongest(connection: Connection, limit: int | None = None) -> list[Standing]:
    """Return the players of games that count, the strongest first."""
    query = select(players).where(_COUNTS).order_by(_SURE.desc(), players.c.name).limit(limit)
    return [_standing(row) for row in connection.execute(query)]


def _standing(row: Row[Any]) -> Standing:
    first = Score(row.opened, row.opened_won, row.opened_drawn)
    second = Score(row.replied, row.replied_won, row.replied_drawn)
    record = Record(first, second, row.thought, row.moves)
    return Standing(row.name, row.kind, row.house, record, Rating(row.mean, row.deviation))


# Players compared.


def compare(connection: Connection, choice: Choice, *, by_reason: bool = False) -> Comparison:
    """Return the players of the chosen games and their scores; with `by_reason` also `endings`."""
    if choice.since is not None:
        older = select(games.c.id).where(games.c.ended < choice.since).limit(1)
        if connection.execute(older).first() is None:  # all games match, so the stored totals can be used
            choice = replace(choice, since=None)
    source = _source(connection, choice)
    query = select(source.c.reason, func.sum(source.c.games)).group_by(source.c.reason)
    reasons = {REASONS[reason]: int(count) for reason, count in connection.execute(query)}
    found, endings = _strongest(connection), dict[tuple[str, Reason], Score]()
    if by_reason or not choice.is_everything:
        # By reason only if asked for, since each column makes sorting slower.
        keys = ("player", "reason") if by_reason else ("player",)
        done: dict[str, Record] = defaultdict(lambda: _NOTHING)
        for row in connection.execute(_sums(source, keys, _RECORD)):
            record = _record(row)
            done[row.player] += record
            if by_reason:
                endings[row.player, REASONS[row.reason]] = record.total
        found = [replace(each, record=done[each.name]) for each in found if each.name in done]
    return Comparison(choice, found, reasons, endings, tables(connection))


def scores(
    connection: Connection, choice: Choice, names: Sequence[str], others: Sequence[str]
) -> dict[tuple[str, str], Score]:
    """Return the score of each player in `names` against each player in `others` that it has met."""
    query = _sums(_source(connection, choice), ("player", "opponent"), _SCORE, names, others)
    return {
        (name, other): Score(int(number), int(won), int(drawn))
        for number, won, drawn, name, other in connection.execute(query)
    }


def meetings(reading: Reading, at_once: int = 10) -> Iterator[Meeting]:
    """Yield the number of games of each player as first mover against each opponent, ordered by both names.

    Reads the meetings of `at_once` players at a time, without a connection between two reads.
    """
    after = None
    while True:
        with reading() as connection:
            names = [each.name for each in players_by_name(connection, after, at_once)]
            query = _sums(tallies, ("player", "opponent"), ("first_games",), names)
            found = connection.execute(query.order_by("player", "opponent")).all()
        for number, first, second in found:
            yield Meeting(first, second, int(number))
        if len(names) < at_once:
            return
        after = names[-1]


def tables(connection: Connection, limit: int = 200) -> list[str]:
    """Return the names of up to `limit` tables of the latest `LATEST` games, the last used first.

    Names that differ only in case are one table; the latest spelling is returned.
    """
    newest = select(func.max(games.c.id)).scalar_subquery()
    recent = and_(games.c.id > newest - LATEST, games.c.at_table.is_not(None))
    latest = func.max(games.c.id)
    query = select(games.c.at_table).where(recent).group_by(games.c.at_table)
    found: dict[str, str] = {}
    for name in connection.scalars(query.order_by(latest.desc()).limit(limit)):
        found.setdefault(name.casefold(), name)
    return [*found.values()]


def all_tables(connection: Connection) -> list[str]:
    """Return the names of all tables, in each of their spellings."""
    query = select(games.c.at_table).where(games.c.at_table.is_not(None)).distinct()
    return [*connection.scalars(query)]


def check_table(connection: Connection, choice: Choice) -> None:
    """Raise StoreError if no game was played at the choice's table. The error suggests similar names."""
    table = choice.table
    if table is None or table.casefold() == LOBBY:
        return
    known = all_tables(connection)
    if table.casefold() not in map(str.casefold, known):
        raise StoreError(f"no stored game was played at a table {quoted(table)}{did_you_mean(table, known)}")


def _source(connection: Connection, choice: Choice) -> FromClause:
    """Return the chosen games, with the columns of `tallies`."""
    if choice.is_everything:
        return tallies
    chosen: list[ColumnElement[bool]] = [games.c.counted]
    if choice.since is not None:
        chosen.append(games.c.ended >= choice.since)
    table = None if choice.table is None else choice.table.casefold()
    if table == LOBBY:
        chosen.append(games.c.at_table.is_(None))
    elif table is not None:  # games have the spellings that their players used
        spelled = [name for name in all_tables(connection) if name.casefold() == table]
        chosen.append(games.c.at_table.in_(spelled))
    length = func.length(games.c.moves)
    columns: list[ColumnElement[Any]] = [
        # Expressions, so that no index is used: grouping most of the games by an index is slower.
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
    return select(*columns).where(*chosen).subquery()


def _sums(
    source: FromClause,
    by: Sequence[str],
    figures: Sequence[str],
    names: Sequence[str] | None = None,
    others: Sequence[str] | None = None,
) -> Select[Any]:
    """Return a query that sums `figures` over the games of each ``player``, ``opponent`` and ``reason``.

    `source` comes from `_source`. `by` are the columns to group by: one or more of these three. `figures` are
    the columns to sum, from `_SCORE` and `_RECORD`. `names` and `others` restrict players and opponents.
    """
    sides = []
    for side, (own, other) in enumerate(_SIDES):
        counts = {
            "games": source.c.games,
            "won": case((source.c.result == 1 + side, source.c.games), else_=0),
            "drawn": case((source.c.result == 0, source.c.games), else_=0),
        }
        columns: dict[str, ColumnElement[Any]] = {
            "player": source.c[own],
            "opponent": source.c[other],
            "reason": source.c.reason,
            "thought": source.c[f"{own}_thought"],
            "moves": source.c[f"{own}_moves"],
            **counts,
            **{f"{own}_{name}": count for name, count in counts.items()},
            **{f"{other}_{name}": literal_column("0") for name in counts},
        }
        keys = [columns[key].label(key) for key in by]
        if "opponent" in by:
            query = select(*keys, *(columns[name].label(name) for name in figures))
        else:  # summing each side first leaves few rows to sort; pairs of players are too many for that
            sums = (func.sum(columns[name]).label(name) for name in figures)
            query = select(*keys, *sums).group_by(*(columns[key] for key in by))
        if names is not None:
            query = query.where(source.c[own].in_(_numbers(names)))
        if others is not None:
            query = query.where(source.c[other].in_(_numbers(others)))
        sides.append(query)
    both = union_all(*sides).subquery()
    totals = select(*(both.c[key] for key in by), *(func.sum(both.c[name]).label(name) for name in figures))
    summed = totals.group_by(*(both.c[key] for key in by)).subquery()
    # Names are joined last, since grouping by numbers is faster.
    whole = select(*(summed.c[name] for name in figures))
    for key in by:
        column = summed.c[key]
        if key != "reason":
            named = players.alias()
            whole = whole.join(named, named.c.id == column)
            column = named.c.name
        whole = whole.add_columns(column.label(key))
    return whole


def _record(row: Row[Any]) -> Record:
    """Return the record of a row with the columns `_RECORD`."""
    first = Score(int(row.first_games), int(row.first_won), int(row.first_drawn))
    second = Score(int(row.second_games), int(row.second_won), int(row.second_drawn))
    return Record(first, second, int(row.thought), int(row.moves))


def _numbers(names: Sequence[str]) -> Select[tuple[int]]:
    """Return a query for the numbers of these players."""
    return select(players.c.id).where(players.c.name.in_(names))


# One player.


def profile(connection: Connection, name: str, opponents: int = 100) -> Profile | None:
    """Return the profile of a player, with up to `opponents` opponents; None if it has played no game."""
    row = connection.execute(select(players).where(players.c.name == name)).one_or_none()
    if row is None:
        return None
    reasons = _sums(tallies, ("reason",), _RECORD, [name]).order_by("reason")
    met = _sums(tallies, ("opponent",), (*_RECORD, "games"), [name])
    most = met.order_by(desc("games"), "opponent").limit(opponents)
    return Profile(
        _standing(row),
        {REASONS[each.reason]: _record(each) for each in connection.execute(reasons)},
        {each.opponent: _record(each) for each in connection.execute(most)},
    )


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
    own = connection.execute(select(_SURE).where(players.c.name == name, _COUNTS)).scalar()
    if own is None:
        return None
    counts = (func.count().filter(own < _SURE), func.count())
    ahead, everybody = connection.execute(select(*counts).select_from(players).where(_COUNTS)).one()
    return ahead + 1, everybody


def curve(connection: Connection, name: str, most: int, since: int | None = None) -> list[Point]:
    """Return a player's rating after each game that ended at `since` or later, the oldest first.

    If there are more than `most` games, evenly spaced ones are returned, among them the first and the latest.
    Games without a rating are omitted.
    """
    rated = _games_of(name, ("id", "ended", "{side}_mean", "{side}_deviation"))
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
    """Return a player's scores on one side, by opening: the first 1 to `depth` columns of a game."""
    start = func.substr(games.c.moves, 1, depth)
    query = (
        select(start, games.c.result, func.count())
        .where(games.c[_SIDES[side][0]] == number_of(name), games.c.counted, games.c.moves != "")
        .group_by(start, games.c.result)
    )
    found: dict[str, Score] = defaultdict(lambda: _NONE)
    for moves, result, count in connection.execute(query):
        score = Score(count, count * (result == 1 + side), count * (result == 0))
        for length in range(1, len(moves) + 1):
            found[moves[:length]] += score
    return found


def clients(connection: Connection, name: str) -> list[Client]:
    """Return the dialects in which a player played, the latest first."""
    seen = _games_of(name, ("ended", "{side}_kind"))
    latest = func.max(seen.c.ended)
    query = select(seen.c.kind, func.count(), latest).group_by(seen.c.kind).order_by(latest.desc())
    return [Client(*row) for row in connection.execute(query)]


def move_times(connection: Connection, name: str, latest: int = 50) -> list[float]:
    """Return the mean time of a player's first move, its second, and so on, in milliseconds.

    The times come from the evidence of the player's `latest` games. The list is empty without evidence.
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
    """Yield, for each of a player's latest games, its side and the times of the moves."""
    own = _games_of(name, ("id", "moves", "first_thought", "second_thought"))
    newest = select(own).order_by(own.c.id.desc()).limit(latest).subquery()
    sides = [exchanges.alias("opener"), exchanges.alias("replier")]
    bodies = (each.c.body for each in sides)
    query = select(newest.c.side, newest.c.moves, newest.c.first_thought, newest.c.second_thought, *bodies)
    for side, each in enumerate(sides):
        query = query.outerjoin(each, and_(each.c.game == newest.c.id, each.c.side == side))
    for side, columns, first, second, *kept in connection.execute(query):
        both = [None if body is None else evidence.unpacked(body) for body in kept]
        yield side, evidence.find_moves(columns, (first, second), both)


def _games_of(name: str, columns: Sequence[str]) -> Subquery:
    """Return a player's games on both sides; ``{side}_`` in `columns` stands for the player's side."""
    parts = []
    for side, (own, _) in enumerate(_SIDES):
        found = (games.c[each.format(side=own)].label(each.removeprefix("{side}_")) for each in columns)
        part = select(*found, literal_column(str(side)).label("side"))
        part = part.where(games.c[own] == number_of(name))
        # Do not count games of a name against itself twice.
        parts.append(part.where(games.c.second != games.c.first) if side else part)
    return union_all(*parts).subquery()
