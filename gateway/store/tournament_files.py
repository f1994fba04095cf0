"""The games of a tournament in the order of its rounds, and files of these games and of its grades.

Knows the store's formats. A report is a value of `gateway.tournament.report.described`.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from gateway.game.ids import GameId
from gateway.store.database import Reading
from gateway.store.formats import jsonl, pgn, sheet
from gateway.store.games import PAGE, rows_of
from gateway.store.records import GameRecord
from gateway.tournament.grades import Grades

Report: TypeAlias = Mapping[str, Any]


class Placed(NamedTuple):
    """A game, and its place in the tournament."""

    record: GameRecord
    place: str
    """ROUND.PAIRING.GAME; in a tournament of two stages STAGE.ROUND.PAIRING.GAME. Pairings are numbered
    through the whole tournament, so PAIRING.GAME names a game for the director's commands, too."""


class Unplayed(NamedTuple):
    """A game that gave points without being played, and its place in the tournament."""

    players: tuple[str, str]
    """The first mover first."""
    winner: str | None
    """None for a draw that was awarded, or if neither player came."""
    how: str
    """``awarded`` or ``walkover``."""
    place: str


Games: TypeAlias = Iterator[Placed | Unplayed]


def rounds(report: Report, stage: int | None = None) -> int:
    """Return the number of the latest round, of one stage or of all."""
    return max((each["round"] for each in report["pairings"] if stage in (None, each["stage"])), default=0)


def placed(
    reading: Reading, report: Report, round: int | None = None, stage: int | None = None
) -> Iterator[Placed | Unplayed]:
    """Yield the games that give points, by stage, round, pairing and number.

    With `round` or `stage` only those of that round or stage. Games without a result, which were played
    again, are left out. Uses no connection between two pages.
    """
    has_stages = len(report["stages"]) > 1
    wanted = list[tuple[GameId, str] | Unplayed]()
    for each in sorted(report["pairings"], key=lambda each: (each["stage"], each["round"], each["number"])):
        if round in (None, each["round"]) and stage in (None, each["stage"]):
            first = f"{each['stage']}." if has_stages else ""
            place = f"{first}{each['round']}.{each['number']}."
            found: dict[int, tuple[GameId, str] | Unplayed] = {
                game["number"]: (game["game"], f"{place}{game['number']}") for game in each["games"]
            }
            found |= _unplayed(each, place)
            wanted += [about for _, about in sorted(found.items())]
    for start in range(0, len(wanted), PAGE):
        part = wanted[start : start + PAGE]
        with reading() as connection:
            rows = rows_of(connection, [about[0] for about in part if not isinstance(about, Unplayed)])
        stored = {row.game: row for row in rows}
        for about in part:
            if isinstance(about, Unplayed):
                yield about
            elif about[0] in stored:  # otherwise it was removed
                yield Placed(GameRecord.of_row(stored[about[0]]), about[1])


def _unplayed(pairing: Mapping[str, Any], place: str) -> dict[int, Unplayed]:
    """Return the games of a pairing that gave points without being played, by number."""
    one, two = pairing["players"]
    came = next((name for name in (one, two) if name not in pairing["absent"]), None)
    ends = [(number, "walkover", came) for number in pairing["forfeits"]]
    ends += [(each["number"], "awarded", each["winner"]) for each in pairing["awarded"]]
    found = dict[int, Unplayed]()
    for number, how, winner in ends:
        players = (one, two) if number % 2 else (two, one)
        found[number] = Unplayed(players, winner, how, f"{place}{number}")
    return found


def _as_pgn(report: Report, games: Games) -> Iterator[str]:
    for each in games:
        if isinstance(each, Placed):
            yield pgn.text_of(each.record, report["name"], each.place)
        else:
            yield pgn.text_without_moves(each.players, each.winner, each.how, report["name"], each.place)


def _as_jsonl(_: Report, games: Games) -> Iterator[str]:
    return jsonl.write(each.record for each in games if isinstance(each, Placed))


def _as_csv(_: Report, games: Games) -> Iterator[str]:
    return sheet.write(each.record for each in games if isinstance(each, Placed))


FORMATS: Mapping[str, Callable[[Report, Games], Iterator[str]]] = {
    "pgn": _as_pgn,
    "jsonl": _as_jsonl,
    "csv": _as_csv,
}
"""The formats of games. Only PGN has those that were not played."""


def grades_sheet(grades: Grades) -> Iterator[str]:
    """Yield the lines of the grades as CSV, as `gateway.store.formats.sheet` describes it.

    Without a second stage the place is the rank, and has no column of its own.
    """
    has_stages = grades.stages > 1
    titles = ("points", *(f"tie_break_{name}" for name in grades.tie_breaks))
    if has_stages:
        titles = tuple(
            f"stage_{number}_{title}"
            for number in range(1, grades.stages + 1)
            for title in ("place", *titles)
        )
    against = (
        ()
        if grades.reference is None
        else (
            sheet.text(f"points against {grades.reference}"),
            sheet.text(f"games against {grades.reference}"),
        )
    )

    def rows() -> Iterator[tuple[object, ...]]:
        yield (
            *("rank", "name", "group", *titles),
            *("games", "won", "drawn", "lost", *grades.faults, "faults", *against, "withdrawn", "state"),
        )
        for each in grades.rows:
            yield (
                *(_or_empty(each.rank), sheet.text(each.name), sheet.text(each.group) if each.group else ""),
                *(
                    _or_empty(number)
                    for place, points, ties in each.stages
                    for number in (*([place] if has_stages else []), points, *ties)
                ),
                *(
                    map(
                        _or_empty,
                        (each.games, each.won, each.drawn, each.lost, *each.faults, each.all_faults),
                    )
                ),
                *(map(_or_empty, each.against) if grades.reference is not None else ()),
                "" if each.withdrawn is None else sheet.text(each.withdrawn),
                each.state,
            )

    return sheet.lines(rows())


def _or_empty(number: float | None) -> str:
    return "" if number is None else f"{number:g}"
