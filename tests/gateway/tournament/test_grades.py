"""Grades, from reports."""

from typing import Any

import pytest

from gateway.game.results import FAULT_WORDS
from gateway.tournament.grades import Grades, grades
from gateway.tournament.settings import parse

Report = dict[str, Any]


def row(name: str, rank: int = 1, **about: object) -> Report:
    """Return a player's row of the standings."""
    usual: Report = {
        "rank": rank,
        "name": name,
        "house": False,
        "points": 1.5,
        "tie_breaks": {"faults": 0.0},
        "games": 4,
        "won": 2,
        "drawn": 1,
        "lost": 1,
        "faults": dict.fromkeys(FAULT_WORDS, 0),
        "withdrawn": None,
        "may_return": False,
        "group": None,
    }
    return usual | about


def pairing(one: str, other: str, points: tuple[float, float], **about: object) -> Report:
    return {"players": [one, other], "points": [*points], "games": [], **about}


def made(
    rows: list[Report],
    pairings: list[Report] | None = None,
    *,
    file: str = "",
    reference: str | None = None,
    **more: object,
) -> Grades:
    report = {
        "settings": {"tie_breaks": ["faults"]},
        "standings": rows,
        "pairings": pairings or [],
        "stages": [{"groups": [], "standings": rows}],
        "tests": [],
        **more,
    }
    return grades(report, parse(f'name = "cup"\nformat = "round-robin"\n{file}'), reference)


def test_grade_has_what_the_standings_have_and_the_sum_of_the_faults() -> None:
    faults = dict(zip(FAULT_WORDS, (1, 0, 2, 0, 3), strict=True))
    found = made([row("ann", 2, faults=faults, tie_breaks={"faults": 6.0}, withdrawn="3 faults in a row")])
    (grade,) = found.rows
    assert (found.tie_breaks, found.faults, found.reference) == (["faults"], FAULT_WORDS, None)
    assert (grade.rank, grade.name, grade.stages) == (2, "ann", [(2, 1.5, [6.0])])
    assert (grade.games, grade.won, grade.drawn, grade.lost) == (4, 2, 1, 1)
    assert (grade.faults, grade.all_faults) == ([1, 0, 2, 0, 3], 6)
    assert (grade.withdrawn, grade.state) == ("3 faults in a row", "played")


def test_order_is_by_rank_then_by_roster_and_names_that_never_entered_come_last() -> None:
    found = made(
        [row("eve"), row("bob"), row("cat", 3), row("ann")],
        file='[roster]\ndan = "10c"\nann = "10a"\nbob = "10b"\n',
    )
    assert [(each.rank, each.name, each.group, each.state) for each in found.rows] == [
        (1, "ann", "10a", "played"),
        (1, "bob", "10b", "played"),
        (1, "eve", "", "played"),
        (3, "cat", "", "played"),
        (None, "dan", "10c", "absent"),
    ]
    absent = found.rows[-1]
    assert absent.stages == [(None, None, [None])]
    assert {absent.games, absent.won, absent.drawn, absent.lost, absent.all_faults} == {None}
    assert {*absent.faults, *absent.against, absent.withdrawn} == {None}


def test_name_in_another_case_is_the_one_of_the_roster() -> None:
    found = made([row("ANN")], file='[roster]\nann = "10a"\n')
    assert [(each.name, each.group, each.state) for each in found.rows] == [("ANN", "10a", "played")]


@pytest.mark.parametrize(
    ("roster", "group", "shown"), [('ann = "10a"', "A", "10a"), ('ann = ""', "A", "A"), ("", None, "")]
)
def test_group_is_that_of_the_roster_or_else_that_in_the_tournament(
    roster: str, group: str | None, shown: str
) -> None:
    found = made([row("ann", group=group)], file=f"[roster]\n{roster}\n")
    assert [each.group for each in found.rows] == [shown]


def test_players_of_the_server_have_no_row_and_keep_their_rank() -> None:
    found = made([row("aima", 1, house=True), row("ann", 2)])
    assert [(each.rank, each.name) for each in found.rows] == [(2, "ann")]


@pytest.mark.parametrize(
    ("file", "reference", "expected"),
    [
        ("", None, None),
        ('house = ["aima", "random"]', None, "aima"),
        ('house = ["aima"]\nentry-test = "random"', None, "random"),
        ('house = ["aima"]\nentry-test = "random"', "aima", "aima"),
        ("", "bob", "bob"),
        ("", "perfect", "perfect"),
    ],
)
def test_reference_is_the_one_asked_for_or_that_of_the_entry_test_or_the_first_of_the_house(
    file: str, reference: str | None, expected: str | None
) -> None:
    tests = [{"player": "ann", "house": "perfect", "games": [], "points": 0.0, "state": "waits", "why": ""}]
    assert made([row("ann"), row("bob")], file=file, reference=reference, tests=tests).reference == expected


def test_reference_that_takes_no_part_is_an_error_with_the_one_that_was_meant() -> None:
    with pytest.raises(ValueError, match="'an' takes no part in 'cup'; did you mean 'ann'"):
        made([row("ann")], reference="an")


def test_games_against_the_reference_are_those_of_pairings_that_gave_points_and_of_tests() -> None:
    pairings = [
        pairing("ann", "aima", (0.5, 1.5)),
        pairing("aima", "ann", (1.0, 0.0)),  # one of two games so far
        pairing("ann", "bob", (2.0, 0.0)),
        pairing("aima", "bob", (0.0, 0.0)),
    ]
    tests = [
        {"player": "ann", "house": "aima", "games": ["1", "2"], "points": 1.0, "state": "passed", "why": ""},
        {"player": "ann", "house": "random", "games": ["3"], "points": 1.0, "state": "failed", "why": ""},
        {"player": "bob", "house": "aima", "games": ["4"], "points": 0.0, "state": "waits", "why": ""},
    ]
    found = made([row("ann"), row("bob")], pairings, file='house = ["aima"]', tests=tests)
    assert [each.against for each in found.rows] == [(1.5, 5), (0.0, 1)]


def test_without_a_reference_no_games_count_extra() -> None:
    found = made([row("ann")], [pairing("ann", "bob", (2.0, 0.0))])
    assert [each.against for each in found.rows] == [(0.0, 0)]


def test_stages_have_the_places_in_the_groups_and_nothing_for_who_did_not_come_through() -> None:
    groups = [
        {"name": "A", "standings": [row("ann", 1, points=3), row("cat", 2, points=1)]},
        {"name": "B", "standings": [row("bob", 1, points=2)]},
    ]
    second = [row("bob", 1, points=1), row("ann", 2, points=0)]
    found = made(
        [*second, row("cat", 3, points=1)],
        stages=[{"groups": groups, "standings": []}, {"groups": [], "standings": second}],
    )
    assert {each.name: [*each.stages] for each in found.rows} == {
        "bob": [(1, 2, [0.0]), (1, 1, [0.0])],
        "ann": [(1, 3, [0.0]), (2, 0, [0.0])],
        "cat": [(2, 1, [0.0]), (None, None, [None])],
    }
