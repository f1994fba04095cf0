"""Queries for statistics: standings, scores between players, the history of one player.

Knows the tables. Statistics over all games are read from the stored totals. Statistics over a smaller
`Choice`, and a player's history, are computed from the games. Only games that count are included (see
`records.record_of`). Ratings are always computed from all games.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile
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
    literal,
    literal_column,
    select,
    union_all,
)

from gateway.game.board import Side
from gateway.game.events import Reason
from gateway.game.text import did_you_mean, quoted
from gateway.store import StoreError, evidence
from gateway.store.database import Reading
from gateway.store.evidence import Moves
from gateway.store.games import LATEST, LOBBY, all_tables, spellings
from gateway.store.names import number_of
from gateway.store.records import REASONS
from gateway.store.schema import exchanges, games, players, tallies
from gateway.store.totals import Rating

RECENT = 5_000
"""The number of a player's games on each side, the latest ones, in which `openings` and `clients` look."""


@dataclass(frozen=True, slots=True)
class Score:
    """The numbers of games that a player played, won and drew."""

    games: int
    won: int
    drawn: int

    @property
    def lost(self) -> int:
        """The number of lost games."""
        return self.games - self.won - self.drawn

    @property
    def points(self) -> float:
        """The points: 1 for each won game and 0.5 for each drawn game."""
        return self.won + self.drawn / 2

    @property
    def share(self) -> float:
        """The points per game, 0 to 1; 0.5 without games."""
        return self.points / self.games if self.games else 0.5

    @property
    def opposite(self) -> "Score":
        """The score of the opponents in these games."""
        return Score(self.games, self.lost, self.drawn)

    def __add__(self, other: "Score") -> "Score":
        """Return the sum of two scores."""
        return Score(self.games + other.games, self.won + other.won, self.drawn + other.drawn)


@dataclass(frozen=True, slots=True)
class Record:
    """A player's scores in some games, by side, and its thinking time."""

    first: Score
    """The score as first mover."""
    second: Score
    """The score as second mover."""
    thought: int
    """The thinking time in all these games, in milliseconds."""
    moves: int
    """The number of the player's moves."""

    def __add__(self, other: "Record") -> "Record":
        """Return the sum of two records."""
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
        """The mean thinking time per move, in milliseconds."""
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
    """The number of players ahead, plus one. Equal players share a rank."""
    standing: Standing


@dataclass(frozen=True, slots=True)
class Choice:
    """A choice of games. A field that is None matches all games."""

    since: int | None = None
    """The game ended at this time or later, in milliseconds of Unix time."""
    table: str | None = None
    """The name of the game's table; letter case does not matter. `LOBBY` means the lobby."""

    @property
    def is_everything(self) -> bool:
        """Whether the choice matches all games."""
        return self == EVERYTHING


EVERYTHING = Choice()


@dataclass(frozen=True, slots=True)
class Comparison:
    """The players of the chosen games, and their results in these games."""

    choice: Choice
    """The choice that was asked for. Its `since` is None if no game is older than the `since` asked for."""
    standings: list[Standing]
    """The players, the strongest first."""
    reasons: dict[Reason, int]
    """The number of games for each reason."""
    tables: list[str]
    """The tables of the latest games, the latest first."""


@dataclass(frozen=True, slots=True)
class Meeting:
    """How many games `first` played against `second` and moved first in them."""

    first: str
    second: str
    games: int


@dataclass(frozen=True, slots=True)
class Profile:
    """The results of one player."""

    standing: Standing
    reasons: dict[Reason, Record]
    """The player's record for each reason for which its games ended."""
    opponents: dict[str, Record]
    """The player's record against each opponent. The most frequent opponents come first."""


@dataclass(frozen=True, slots=True)
class Point:
    """A player's rating after one of its games."""

    ended: int
    """When the game ended, in milliseconds of Unix time."""
    rating: Rating


@dataclass(frozen=True, slots=True)
class Client:
    """A dialect that a player used."""

    kind: str
    games: int
    latest: int
    """When the latest game ended, in milliseconds of Unix time."""


@dataclass(frozen=True, slots=True)
class Spread:
    """The spread of some values."""

    low: float
    """A tenth of the values are smaller."""
    median: float
    high: float
    """A tenth of the values are larger."""


@dataclass(frozen=True, slots=True)
class Career:
    """The history of one player."""

    profile: Profile
    place: tuple[int, int] | None
    """The player's rank, and the number of players. None if none of the player's games counts."""
    curve: list[Point]
    openings: tuple[dict[str, Score], dict[str, Score]]
    """The player's scores by opening (the first columns of a game), as first mover and as second mover."""
    clients: list[Client]
    move_times: list[Spread]
    """The times, in milliseconds, of the player's first move in a game, its second move, and so on."""
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
"""The orders of standings, and their sort keys. All orders except by name have the largest value first."""
MERITS = ("rating", "points", "share")
"""The orders that also determine the ranks. With the other orders the ranks are by rating."""

_NONE = Score(0, 0, 0)
_SIDES = (("first", "second"), ("second", "first"))
"""For each side, the column of a player on that side and the column of its opponent."""
_SCORE = ("games", "won", "drawn")
_RECORD = (*(f"{side}_{name}" for side, _ in _SIDES for name in _SCORE), "thought", "moves")
"""The columns of a record that `_sums` can sum: the score on each side, the thinking time, the moves."""
_COUNTS = players.c.opened + players.c.replied > 0
"""The condition that a player has at least one game that counts."""
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
    """Return the standings of the players that have at least `least` games."""
    return [each for each in found if each.record.total.games >= least]


def standings(
    connection: Connection,
    choice: Choice = EVERYTHING,
    *,
    least: int = 1,
    order: str = "rating",
    limit: int | None = None,
) -> tuple[list[Ranked], Score]:
    """Return the standings of the chosen games, and the score of all first movers in these games.

    The standings have up to `limit` players, each with at least `least` of the games.
    """
    if choice.is_everything and least == 1 and order == "rating":  # the database can apply the limit
        sums = (players.c.opened, players.c.opened_won, players.c.opened_drawn)
        firsts = connection.execute(select(*(func.coalesce(func.sum(column), 0) for column in sums))).one()
        return ranked(_strongest(connection, limit)), Score(*map(int, firsts))
    found = compare(connection, choice).standings
    firsts_of_chosen = sum((each.record.first for each in found), _NONE)
    return ranked(with_games(found, least), order)[:limit], firsts_of_chosen


def players_by_name(connection: Connection, after: str | None = None, limit: int = 100) -> list[Standing]:
    """Return up to `limit` players ordered by name, beginning after the name `after` if it is given."""
    query = select(players) if after is None else select(players).where(players.c.name > after)
    return [_standing(row) for row in connection.execute(query.order_by(players.c.name).limit(limit))]


def players_named(connection: Connection, names: Sequence[str]) -> dict[str, Standing]:
    """Return the standings of the players with these names, by name. Unknown names are left out."""
    query = select(players).where(players.c.name.in_(names))
    return {row.name: _standing(row) for row in connection.execute(query)}


def _strongest(connection: Connection, limit: int | None = None) -> list[Standing]:
    """Return the standings of up to `limit` players with games that count, the strongest player first."""
    query = select(players).where(_COUNTS).order_by(_SURE.desc(), players.c.name).limit(limit)
    return [_standing(row) for row in connection.execute(query)]


def _standing(row: Row[Any]) -> Standing:
    first = Score(row.opened, row.opened_won, row.opened_drawn)
    second = Score(row.replied, row.replied_won, row.replied_drawn)
    record = Record(first, second, row.thought, row.moves)
    return Standing(row.name, row.kind, row.house, record, Rating(row.mean, row.deviation))


# Comparisons of players.


def compare(connection: Connection, choice: Choice) -> Comparison:
    """Return the players of the chosen games and their scores."""
    if choice.since is not None:
        older = select(games.c.id).where(games.c.ended < choice.since).limit(1)
        if connection.execute(older).first() is None:  # all games match, so the stored totals can be used
            choice = replace(choice, since=None)
    source = _source(connection, choice)
    query = select(source.c.reason, func.sum(source.c.games)).group_by(source.c.reason)
    reasons = {REASONS[reason]: int(count) for reason, count in connection.execute(query)}
    found = _strongest(connection)
    if not choice.is_everything:
        done = {row.player: _record(row) for row in connection.execute(_sums(source, ("player",), _RECORD))}
        found = [replace(each, record=done[each.name]) for each in found if each.name in done]
    return Comparison(choice, found, reasons, tables(connection))


def endings(
    connection: Connection, choice: Choice, names: Sequence[str] | None = None
) -> dict[tuple[str, Reason], Score]:
    """Return scores by player and by the reason for which games ended, of players in `names` or of all."""
    query = _sums(_source(connection, choice), ("player", "reason"), _SCORE, names)
    return {
        (name, REASONS[reason]): Score(int(number), int(won), int(drawn))
        for number, won, drawn, name, reason in connection.execute(query)
    }


def scores(
    connection: Connection, choice: Choice, names: Sequence[str], others: Sequence[str]
) -> dict[tuple[str, str], Score]:
    """Return each player's score against each opponent, for players in `names` and opponents in `others`.

    Pairs of players without a common game are omitted.
    """
    query = _sums(_source(connection, choice), ("player", "opponent"), _SCORE, names, others)
    return {
        (name, other): Score(int(number), int(won), int(drawn))
        for number, won, drawn, name, other in connection.execute(query)
    }


def meetings(reading: Reading, at_once: int = 10) -> Iterator[Meeting]:
    """Yield the number of games for each first mover and each opponent, ordered by the two names.

    Reads the games of `at_once` first movers at a time. Uses no connection between two reads.
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
    """Return the names of up to `limit` tables of the latest `LATEST` games, the last used table first.

    Names that differ only in letter case mean the same table; the latest spelling is returned.
    """
    newest = select(func.max(games.c.id)).scalar_subquery()
    recent = and_(games.c.id > newest - LATEST, games.c.at_table.is_not(None))
    latest = func.max(games.c.id)
    query = select(games.c.at_table).where(recent).group_by(games.c.at_table)
    found: dict[str, str] = {}
    for name in connection.scalars(query.order_by(latest.desc()).limit(limit)):
        found.setdefault(name.casefold(), name)
    return [*found.values()]


def check_table(connection: Connection, choice: Choice) -> None:
    """Raise StoreError if no stored game was played at the chosen table. The error suggests similar names."""
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
    if choice.table is not None and choice.table.casefold() == LOBBY:
        chosen.append(games.c.at_table.is_(None))
    elif choice.table is not None:  # the name is stored as the players of each game spelled it
        chosen.append(games.c.at_table.in_(spellings(connection, choice.table)))
    length = func.length(games.c.moves)
    columns: list[ColumnElement[Any]] = [
        # Expressions keep the database from using an index, which is slower for most of the games.
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
    """Return a query that groups the games of `source`, which is a result of `_source`, and sums `figures`.

    `by` has the columns to group by: one or more of ``player``, ``opponent`` and ``reason``. `figures` has
    the columns to sum, from `_SCORE` and `_RECORD`. `names` and `others` restrict the players and the
    opponents.
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
        else:  # summing each side first leaves few rows to sort, unless there is a row per pair of players
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
    """Make a record from a row that has the columns `_RECORD`."""
    first = Score(int(row.first_games), int(row.first_won), int(row.first_drawn))
    second = Score(int(row.second_games), int(row.second_won), int(row.second_drawn))
    return Record(first, second, int(row.thought), int(row.moves))


def _numbers(names: Sequence[str]) -> Select[tuple[int]]:
    """Return a query for the players' numbers in the database."""
    return select(players.c.id).where(players.c.name.in_(names))


# One player.


def profile(connection: Connection, name: str, opponents: int = 100) -> Profile | None:
    """Return a player's profile, with up to `opponents` opponents; None for an unknown player."""
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
    """Return a player's history; None for an unknown player."""
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
    """Return a player's rank and the number of players; None if none of the player's games counts."""
    own = connection.execute(select(_SURE).where(players.c.name == name, _COUNTS)).scalar()
    if own is None:
        return None
    counts = (func.count().filter(own < _SURE), func.count())
    ahead, everybody = connection.execute(select(*counts).select_from(players).where(_COUNTS)).one()
    return ahead + 1, everybody


def places(connection: Connection, names: Collection[str]) -> dict[str, tuple[int, Rating]]:
    """Return the ranks and ratings of the players with these names, if any of their games counts."""
    rank = func.rank().over(order_by=_SURE.desc()).label("rank")
    everybody = select(players.c.name, players.c.mean, players.c.deviation, rank).where(_COUNTS).subquery()
    query = select(everybody).where(everybody.c.name.in_(names))
    return {row.name: (row.rank, Rating(row.mean, row.deviation)) for row in connection.execute(query)}


def curve(connection: Connection, name: str, most: int, since: int | None = None) -> list[Point]:
    """Return a player's rating after games that ended at `since` or later, the oldest first.

    The games of all players in this time are divided into `most` parts. The first rated game of the player is
    included, and the last one of each part, which an index finds at once, however many games there are.
    """
    number = connection.scalar(select(number_of(name)))
    oldest = select(games.c.id).where(games.c.ended >= (since or 0)).order_by(games.c.ended).limit(1)
    start = 0 if since is None else connection.scalar(oldest)
    if number is None or start is None:
        return []
    rated = [
        select(games.c.id)
        .where(games.c[own] == number, games.c[f"{own}_mean"].is_not(None))
        .where(games.c.id >= start, games.c.ended >= (since or 0))
        for own, _ in _SIDES
    ]
    ends = [
        connection.scalar(each.order_by(order).limit(1))
        for order in (games.c.id, games.c.id.desc())
        for each in rated
    ]
    known = [end for end in ends if end is not None]
    if not known:
        return []
    first, last = min(known), max(known)
    bounds = [first - 1, *dict.fromkeys(first + (last - first) * part // most for part in range(most + 1))]
    parts = union_all(
        *(select(literal(low).label("low"), literal(high).label("high")) for low, high in pairwise(bounds))
    ).subquery()
    latest = (
        each.where(games.c.id > parts.c.low, games.c.id <= parts.c.high)
        .order_by(games.c.id.desc())
        .limit(1)
        .scalar_subquery()
        for each in rated
    )
    found = [max(each or 0 for each in row) for row in connection.execute(select(*latest).select_from(parts))]
    is_first = games.c.first == number
    query = select(
        games.c.ended,
        case((is_first, games.c.first_mean), else_=games.c.second_mean),
        case((is_first, games.c.first_deviation), else_=games.c.second_deviation),
    )
    rows = connection.execute(query.where(games.c.id.in_(found)).order_by(games.c.id))
    return [Point(ended, Rating(mean, deviation)) for ended, mean, deviation in rows]


def openings(connection: Connection, name: str, side: Side, depth: int = 4) -> dict[str, Score]:
    """Return a player's score on one side for each opening: the first 1, 2, ... `depth` columns of a game.

    Only the latest `RECENT` games on this side are included.
    """
    latest = (
        select(func.substr(games.c.moves, 1, depth).label("start"), games.c.result)
        .where(games.c[_SIDES[side][0]] == number_of(name), games.c.counted, games.c.moves != "")
        .order_by(games.c.id.desc())
        .limit(RECENT)
        .subquery()
    )
    keys = (latest.c.start, latest.c.result)
    query = select(*keys, func.count()).group_by(*keys)
    found: dict[str, Score] = defaultdict(lambda: _NONE)
    for moves, result, count in connection.execute(query):
        score = Score(count, count * (result == 1 + side), count * (result == 0))
        for length in range(1, len(moves) + 1):
            found[moves[:length]] += score
    return found


def clients(connection: Connection, name: str) -> list[Client]:
    """Return the dialects that a player used in its latest games, `RECENT` on each side; the latest first."""
    seen = _games_of(name, ("ended", "{side}_kind"), RECENT)
    latest = func.max(seen.c.ended)
    query = select(seen.c.kind, func.count(), latest).group_by(seen.c.kind).order_by(latest.desc())
    return [Client(*row) for row in connection.execute(query)]


def spread(values: Iterable[float]) -> Spread:
    """Return the spread of one or more values."""
    order = sorted(values)
    low, median, high = (order[round(share * (len(order) - 1))] for share in (0.1, 0.5, 0.9))
    return Spread(low, median, high)


def move_times(connection: Connection, name: str, latest: int = 50) -> list[Spread]:
    """Return the times, in milliseconds, of a player's first move in a game, its second, and so on.

    The times come from the evidence of the player's `latest` games. The list is empty without evidence.
    """
    taken: dict[int, list[int]] = defaultdict(list)
    for each in _latest_moves(connection, name, latest):
        for number, used in each.used():
            taken[(number - 1) // 2].append(used)
    known = takewhile(bool, (taken[number] for number in range(len(taken))))
    return [spread(each) for each in known]


def thinking(connection: Connection, name: str, latest: int = 20) -> Spread | None:
    """Return the spread of the times, in milliseconds, of a player's moves in its `latest` games.

    In a game without evidence, each move counts with the mean of the player's moves in this game. Returns
    None if the player has made no move.
    """
    taken: list[float] = []
    for each in _latest_moves(connection, name, latest):
        known = [used for _, used in each.used()]
        number = (len(each.columns) + 1 - each.side) // 2
        if number:  # otherwise the player lost before its first move
            taken += known or [each.thought[each.side] / number] * number
    return spread(taken) if taken else None


@dataclass(frozen=True, slots=True)
class _Played:
    """A player's game, with the times of its moves."""

    side: int
    """The player's side."""
    columns: str
    thought: tuple[int, int]
    moves: Moves

    def used(self) -> Iterator[tuple[int, int]]:
        """Yield the number and the time of each of the player's moves whose time is known."""
        for number in range(self.side + 1, len(self.columns) + 1, 2):
            used = self.moves.turn(number).used
            if used is not None:
                yield number, used


def _latest_moves(connection: Connection, name: str, latest: int) -> Iterator[_Played]:
    """Yield a player's latest games with the times of the moves."""
    newest = _games_of(name, ("id", "moves", "first_thought", "second_thought"), latest)
    sides = [exchanges.alias("opener"), exchanges.alias("replier")]
    bodies = (each.c.body for each in sides)
    query = select(newest.c.side, newest.c.moves, newest.c.first_thought, newest.c.second_thought, *bodies)
    for side, each in enumerate(sides):
        query = query.outerjoin(each, and_(each.c.game == newest.c.id, each.c.side == side))
    rows = connection.execute(query.order_by(newest.c.id.desc()).limit(latest))
    for side, columns, first, second, *kept in rows:
        both = [None if body is None else evidence.unpacked(body) for body in kept]
        thought = (first, second)
        yield _Played(side, columns, thought, evidence.find_moves(columns, thought, both))


def _games_of(name: str, columns: Sequence[str], latest: int) -> Subquery:
    """Return the `latest` games of a player on each side.

    In `columns`, ``{side}`` is replaced by the player's side.
    """
    parts = []
    for side, (own, _) in enumerate(_SIDES):
        found = (games.c[each.format(side=own)].label(each.removeprefix("{side}_")) for each in columns)
        part = select(*found, literal_column(str(side)).label("side"))
        part = part.where(games.c[own] == number_of(name))
        # A game of two players with this name must not be counted twice.
        part = part.where(games.c.second != games.c.first) if side else part
        # The database reads no others, since it has an index of each side.
        parts.append(select(part.order_by(games.c.id.desc()).limit(latest).subquery()))
    return union_all(*parts).subquery()
