"""Grades: a row for each player of a tournament and each name of its roster, for a teacher's own records.

Pure. Made of the report and the settings. The server's own players have no row, but keep their ranks.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gateway.game.commands import folded
from gateway.game.results import FAULT_WORDS
from gateway.game.text import did_you_mean, quoted
from gateway.tournament.settings import Settings

PLAYED, ABSENT = "played", "absent"


class InStage(NamedTuple):
    """What a player reached in one stage. All is None for a player that did not play in it."""

    place: int | None = None
    """The place in its group, if there are groups."""
    points: float | None = None
    tie_breaks: Sequence[float | None] = ()


class Grade(NamedTuple):
    """The results of one player. The numbers of a name that never entered are None."""

    rank: int | None
    name: str
    group: str
    """The group in the roster, otherwise the one in the tournament; empty without one."""
    stages: Sequence[InStage]
    games: int | None
    """Those that were played and count."""
    won: int | None
    drawn: int | None
    lost: int | None
    faults: Sequence[int | None]
    """The number of faults of each kind, in the order of `Grades.faults`."""
    all_faults: int | None
    against: tuple[float | None, int | None]
    """The points from games against the reference, and the number of these games."""
    withdrawn: str | None
    """Why the player takes part no more; None if it does."""
    state: str
    """`PLAYED`, or `ABSENT` for a name of the roster that never entered."""


class Grades(NamedTuple):
    """The grades of a tournament."""

    stages: int
    """The number of stages."""
    tie_breaks: Sequence[str]
    faults: Sequence[str]
    """The kinds of faults."""
    reference: str | None
    """The player for whose games there is an extra count; None without one."""
    rows: Sequence[Grade]
    """By rank; players of the same rank, and those that are absent, in the order of the roster."""


def grades(report: Mapping[str, Any], settings: Settings, reference: str | None = None) -> Grades:
    """Return the grades. `report` is a value of `gateway.tournament.report.described`.

    Without a `reference` it is the player of the entry test, or else the first house player in the file.
    Raises ValueError if the reference takes no part.
    """
    standings = report["standings"]
    if reference is None:
        reference = next(filter(None, (settings.entry_test, *settings.house)), None)
    else:
        known = {*settings.house, *(each["name"] for each in standings)}
        known |= {settings.entry_test} - {""} | {each["house"] for each in report["tests"]}
        if reference not in known:
            hint = did_you_mean(reference, sorted(known))
            raise ValueError(f"{quoted(reference)} takes no part in {quoted(settings.name)}{hint}")
    ties = report["settings"]["tie_breaks"]
    nowhere = InStage(tie_breaks=[None] * len(ties))
    stages = [_in_stage(each, ties) for each in report["stages"]]
    order = {folded(name): (place, group) for place, (name, group) in enumerate(settings.roster.items())}
    entered = {folded(each["name"]) for each in standings}
    rows = list[Grade]()
    for each in standings:
        if each["house"]:
            continue
        _, group = order.get(folded(each["name"]), (0, ""))
        faults = [each["faults"].get(kind, 0) for kind in FAULT_WORDS]
        rows.append(
            Grade(
                rank=each["rank"],
                name=each["name"],
                group=group or each["group"] or "",
                stages=[found.get(each["name"], nowhere) for found in stages],
                games=each["games"],
                won=each["won"],
                drawn=each["drawn"],
                lost=each["lost"],
                faults=faults,
                all_faults=sum(faults),
                against=_against(report, each["name"], reference),
                withdrawn=each["withdrawn"],
                state=PLAYED,
            )
        )
    rows.sort(key=lambda row: (row.rank, order.get(folded(row.name), (len(order), ""))[0]))
    rows += [
        _absent(name, group, [nowhere] * len(stages))
        for name, group in settings.roster.items()
        if folded(name) not in entered
    ]
    return Grades(len(stages), ties, FAULT_WORDS, reference, rows)


def _in_stage(stage: Mapping[str, Any], ties: Sequence[str]) -> dict[str, InStage]:
    """Return what each player of a stage reached in it, by name."""
    tables = [each["standings"] for each in stage["groups"]] or [stage["standings"]]
    return {
        row["name"]: InStage(row["rank"], row["points"], [row["tie_breaks"][tie] for tie in ties])
        for rows in tables
        for row in rows
    }


def _against(report: Mapping[str, Any], name: str, reference: str | None) -> tuple[float | None, int | None]:
    """Return a player's points from games against the reference, and the number of these games.

    Counts what gave points in the tournament, and test games.
    """
    points, games = 0.0, 0
    for each in report["pairings"]:
        if {*each["players"]} == {name, reference}:
            points += each["points"][each["players"].index(name)]
            games += round(sum(each["points"]))  # each game has one point, for one player or in halves
    for each in report["tests"]:
        if (each["player"], each["house"]) == (name, reference):
            points += each["points"]
            games += len(each["games"])
    return points, games


def _absent(name: str, group: str, stages: Sequence[InStage]) -> Grade:
    return Grade(
        rank=None,
        name=name,
        group=group,
        stages=stages,
        games=None,
        won=None,
        drawn=None,
        lost=None,
        faults=[None] * len(FAULT_WORDS),
        all_faults=None,
        against=(None, None),
        withdrawn=None,
        state=ABSENT,
    )
