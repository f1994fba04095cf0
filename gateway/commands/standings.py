"""The output of ``standings`` and ``grades``: tables for a terminal, JSON, or CSV.

Does not know options. In names, control characters are escaped for terminals, and formulas for spreadsheets.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from gateway.game.text import aligned, json_text, plural, printable
from gateway.store import presentation, statistics
from gateway.store.database import Database
from gateway.store.formats import sheet
from gateway.store.records import LOSSES, WORDS
from gateway.store.statistics import EVERYTHING, Choice, Ranked, Score

Form: TypeAlias = Literal["text", "json", "csv"]

NO_GAMES = "No games yet. Players appear here after their first game."
_NOBODY = "No such games, or no player with so many of them."
_HEAD = (
    "", "player", "kind", "rating", "+-", "games", "won", "drawn", "lost", "points",
    "first", "second", "s/move",
)  # fmt: skip
_COLUMNS = (
    "rank", "player", "kind", "house", "mean", "deviation", "sure", "games", "won", "drawn", "lost", "points",
    "first_games", "first_won", "first_drawn", "second_games", "second_won", "second_drawn",
    "thought", "moves",
)  # fmt: skip
_GRADES = ("rank", "player", "points", "games", "won", "drawn", "lost", *(WORDS[each] for each in LOSSES))
_ORDER = {
    "rating": "by rating less +-: what a player's strength is at least, but for one case in 700",
    "points": "by points: 1 for a won game, 0.5 for a drawn one",
    "share": "by points a game: 1 for a won game, 0.5 for a drawn one",
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """The request for standings: which games and players, in which order and form."""

    choice: Choice = EVERYTHING
    least: int = 1
    """The minimum number of games of a listed player."""
    order: str = "rating"
    """The order of the players, one of `statistics.ORDERS`."""
    form: Form = "text"


def standings(database: Database, wanted: Wanted, *, cross: bool = False) -> Iterator[str]:
    """Yield the standings; with `cross`, also each player's score against each other player, except in CSV.

    Raises StoreError if no game was played at the chosen table.
    """
    with database.reading() as connection:
        statistics.check_table(connection, wanted.choice)
        choice, least, order = wanted.choice, wanted.least, wanted.order
        found, firsts = statistics.standings(connection, choice, least=least, order=order)
        names = [row.standing.name for row in found]
        scores = statistics.scores(connection, choice, names, names) if cross else {}
    if wanted.form == "json":
        answer = presentation.of_standings(found, firsts)
        if cross:
            answer["cross"] = [
                {"name": one, "opponent": two, **presentation.of_score(score)}
                for (one, two), score in scores.items()
            ]
        yield json_text(answer, indent=2) + "\n"
        return
    if wanted.form == "csv":
        yield from sheet.lines([_COLUMNS, *map(_cells, found)])
        return
    yield aligned([_HEAD, *map(_row, found)], left=(1, 2))
    if not found:
        yield f"\n{NO_GAMES if wanted.choice.is_everything and not firsts.games else _NOBODY}\n"
        return
    yield _order(wanted)
    yield f"First movers won {_percent(firsts.won, firsts)}, drew {_percent(firsts.drawn, firsts)}"
    yield f" and lost {_percent(firsts.lost, firsts)} of {plural(firsts.games, 'game')}.\n"
    if cross:
        yield "\nPoints of each against each, of the games that they played:\n\n"
        yield aligned(_cross_table(found, scores), left=(0, 1))


def grades(database: Database, wanted: Wanted) -> Iterator[str]:
    """Yield each player's rank, points, games, and number of games lost for each reason.

    The server's own players have no row, but games against them count. Raises StoreError if no game was
    played at the chosen table.
    """
    with database.reading() as connection:
        statistics.check_table(connection, wanted.choice)
        compared = statistics.compare(connection, wanted.choice)
        endings = statistics.endings(connection, compared.choice)
    players = [each for each in compared.standings if not each.house]
    shown = sheet.text if wanted.form == "csv" else printable
    rows = list[tuple[str, ...]]()
    for row in statistics.ranked(statistics.with_games(players, wanted.least), wanted.order):
        name, total = row.standing.name, row.standing.record.total
        ends = [endings.get((name, reason)) for reason in LOSSES]
        lost = [0 if score is None else score.lost for score in ends]
        counts = (total.games, total.won, total.drawn, total.lost, *lost)
        rows.append((str(row.rank), shown(name), f"{total.points:g}", *map(str, counts)))
    if wanted.form == "csv":
        yield from sheet.lines([(*_GRADES[:-4], *(f"lost_{word}" for word in _GRADES[-4:])), *rows])
        return
    yield aligned([("", *_GRADES[1:]), *rows], left=(1,))
    if not rows:
        yield f"\n{_NOBODY}\n"
        return
    yield _order(wanted)
    yield "Of the games lost: to four in a row, by an illegal move, on time, by leaving.\n"


def _order(wanted: Wanted) -> str:
    return f"\nThe rank is {_ORDER.get(wanted.order, _ORDER['rating'])}.\n"


def _cross_table(found: Sequence[Ranked], scores: Mapping[tuple[str, str], Score]) -> list[list[str]]:
    names = [row.standing.name for row in found]
    table = [["", "player", *(str(number) for number in range(1, len(names) + 1))]]
    for number, name in enumerate(names, 1):  # numbered by row, since two players may share a rank
        own = (scores.get((name, other)) for other in names)
        cells = ("-" if score is None else f"{score.points:g}/{score.games}" for score in own)
        table.append([str(number), printable(name), *cells])
    return table


def _row(row: Ranked) -> tuple[str, ...]:
    record, rating, total = row.standing.record, row.standing.rating, row.standing.record.total
    return (
        str(row.rank),
        printable(row.standing.name),
        printable(row.standing.kind),
        f"{rating.mean:.2f}",
        f"{3 * rating.deviation:.2f}",
        *(str(count) for count in (total.games, total.won, total.drawn, total.lost)),
        f"{total.points:g}",
        _percent(record.first.won, record.first),
        _percent(record.second.won, record.second),
        f"{record.mean_thought / 1000:.3f}",
    )


def _cells(row: Ranked) -> tuple[object, ...]:
    each, record, total = row.standing, row.standing.record, row.standing.record.total
    return (
        *(row.rank, sheet.text(each.name), sheet.text(each.kind), int(each.house)),
        *(f"{value:.4f}" for value in (each.rating.mean, each.rating.deviation, each.rating.sure)),
        *(total.games, total.won, total.drawn, total.lost, f"{total.points:g}"),
        *(record.first.games, record.first.won, record.first.drawn),
        *(record.second.games, record.second.won, record.second.drawn),
        *(record.thought, record.moves),
    )


def _percent(count: int, score: Score) -> str:
    """Return `count` as a percentage of the games in `score`."""
    return f"{100 * count / score.games:.1f} %" if score.games else "-"
