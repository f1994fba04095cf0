"""The report on a tournament: what its fields say, and that no game leads to a report that cannot be made."""

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds.tournaments import Played, Stored

from gateway.tournament.log import (
    Announced,
    Begun,
    Ended,
    Entered,
    Entry,
    Forfeited,
    Paired,
    Paused,
    Returned,
    StageBegun,
    StartRequested,
    Withdrawn,
)
from gateway.tournament.report import FORM, described, summary

NAMES = ("ann", "bob", "cid", "dan")


def cup(**settings: object) -> Stored:
    """Return a tournament of four in which ann plays bob, and cid plays dan."""
    stored = Stored(**settings)
    stored.begin(*NAMES, pairings=[(0, 1, 1), (2, 3, 1)])
    return stored


def report(stored: Stored, now: float = 0.0) -> dict[str, Any]:
    found = described(stored.read(), now)
    assert json.loads(json.dumps(found)) == json.loads(json.dumps(found, allow_nan=False))
    return found


def play(stored: Stored, pairing: int, *winners: int | None) -> None:
    for number, winner in enumerate(winners):
        stored.play(pairing, number, winner, "four" if winner is not None else "full", thought=(1000, 3000))


# Any tournament.


@given(st.integers(0, 2**32))
def test_report_of_any_tournament_is_consistent(seed: int) -> None:
    run = Played.drawn(seed)
    for _ in range(40):
        run.step(trouble=0.2, acts=0.2)
        found = report(run.stored, run.unix)
        names = [each.name for each in run.stored.read().entrants]
        assert sorted(row["name"] for row in found["standings"]) == sorted(names)
        ranks = [row["rank"] for row in found["standings"]]
        assert ranks == sorted(ranks)
        assert [each["number"] for each in found["stages"]] == [*range(1, len(found["stages"]) + 1)]
        current = found["stages"][found["stage"] - 1]
        assert {key: found[key] for key in ("round", "rounds", "bracket")} == {
            key: current[key] for key in ("round", "rounds", "bracket")
        }
        for row in found["standings"]:
            assert row["games"] == row["won"] + row["drawn"] + row["lost"]
            assert len(row["form"]) <= FORM
            assert row["form"].count("won") <= row["wins"]
        for each in found["pairings"]:
            decided = {*each["voided"], *(award["number"] for award in each["awarded"])}
            numbers = [game["number"] for game in each["games"]]
            assert not decided & {*numbers}
            assert len({*numbers}) == len(numbers)
            over = len(numbers) + len(decided) + each["forfeited"]
            assert (over == found["settings"]["games"]) is (each["state"] == "over")
        numbers = [each["number"] for each in found["log"]]
        assert numbers == sorted({*numbers})
        if found["undo"] is not None:
            assert found["undo"] in found["log"]
            assert not found["undo"]["undone"]
        if found["next"] is not None:
            waits = {each["number"] for each in found["pairings"] if each["state"] != "over"}
            assert {*found["next"]["waits_for"]} <= waits
            assert found["next"]["at"] is None or found["next"]["waits_for"] == []


# Pairings.


def test_pairing_has_what_was_decided_about_its_games() -> None:
    stored = cup(games=4)
    play(stored, 0, 0)
    stored.act("award", game="1.1", to="bob")
    stored.act("award", game="1.2", to="draw")
    stored.act("void", game="1.3")
    stored.log(Forfeited(0, [3], [0]))
    [pairing, _] = report(stored)["pairings"]
    assert pairing["awarded"] == [{"number": 1, "winner": "bob"}, {"number": 2, "winner": None}]
    assert pairing["voided"] == [3]
    assert (pairing["forfeited"], pairing["absent"], pairing["points"]) == (1, ["ann"], [0.5, 2.5])
    assert (pairing["games"], pairing["without_result"]) == ([], ["00001-000000"])
    assert (pairing["state"], pairing["stage"], pairing["group"]) == ("over", 1, None)


def test_pairings_and_rows_have_the_groups_of_the_first_stage() -> None:
    stored = Stored(groups=2, then="round-robin", advance=1)
    stored.begin(*NAMES, pairings=[(0, 3, 1), (1, 2, 1)])
    stored.log(*(Forfeited(number, [0, 1], [loser]) for number, loser in enumerate((3, 2))))
    stored.log(StageBegun([0, 1]), Paired([(0, 1, 1)]))
    found = report(stored)
    assert [(each["stage"], each["group"]) for each in found["pairings"]] == [(1, "A"), (1, "B"), (2, None)]
    assert {row["name"]: row["group"] for row in found["standings"]} == {
        "ann": "A",
        "dan": "A",
        "bob": "B",
        "cid": "B",
    }
    first, second = found["stages"]
    assert [[row["name"] for row in each["standings"]] for each in first["groups"]] == [
        ["ann", "dan"],
        ["bob", "cid"],
    ]
    assert [row["points"] for row in second["standings"]] == [0, 0]  # of this stage alone
    assert (first["state"], second["state"], second["groups"]) == ("over", "on", [])


@pytest.mark.parametrize(
    ("entries", "states"),
    [
        ([], ["to come", "to come"]),
        ([Begun([0, 1, 2])], ["on", "to come"]),
        ([Begun([0, 1, 2]), StageBegun([0, 1])], ["over", "on"]),
        ([Begun([0, 1, 2]), StageBegun([0, 1]), Ended()], ["over", "over"]),
        ([Begun([0, 1, 2]), Ended(by_director=True)], ["over", "to come"]),
    ],
)
def test_states_of_the_stages(entries: list[Entry], states: list[str]) -> None:
    stored = Stored(then="knockout", advance=2)
    stored.log(*map(Entered, NAMES[:3]), *entries)
    found = report(stored)
    assert [each["state"] for each in found["stages"]] == states
    assert [each["format"] for each in found["stages"]] == ["round-robin", "knockout"]
    assert found["stages"][0]["players"] == 3


def test_byes_have_their_stage_and_round() -> None:
    stored = Stored(format="swiss", then="swiss", advance=3)
    stored.begin(*NAMES[:3], pairings=[(0, 1, 1), (2, None, 1)])
    stored.log(Forfeited(0, [0, 1], [1]), StageBegun([0, 2, 1]), Paired([(1, None, 1)]))
    assert report(stored)["byes"] == [
        {"stage": 1, "round": 1, "player": "cid"},
        {"stage": 2, "round": 1, "player": "bob"},
    ]


# Rows.


def test_form_has_the_latest_pairings_in_the_order_in_which_they_ended() -> None:
    stored = Stored(format="swiss", rounds=1)
    stored.begin("ann", "bob", pairings=[(0, 1, number) for number in range(1, FORM + 3)])
    play(stored, 1, 0, 0)
    play(stored, 0, 1, 1)
    for number in range(2, FORM + 1):
        play(stored, number, None, None)
    stored.log(Forfeited(FORM + 1, [0, 1], [0]))
    ann, bob = (next(row for row in report(stored)["standings"] if row["name"] == name) for name in NAMES[:2])
    assert (ann["form"], ann["wins"]) == (["drawn"] * (FORM - 1) + ["lost"], 1)
    assert (bob["form"][-1], bob["wins"]) == ("won", 2)
    assert (ann["games"], ann["won"], ann["drawn"], ann["lost"]) == (2 * FORM + 2, 2, 2 * FORM - 2, 2)


def test_form_has_the_pairing_last_that_ended_last() -> None:
    stored = Stored(format="swiss")
    stored.begin("ann", "bob", pairings=[(0, 1, 1), (0, 1, 2)])
    play(stored, 1, 0, 0)
    play(stored, 0, 1, 1)
    assert {row["name"]: row["form"] for row in report(stored)["standings"]} == {
        "ann": ["won", "lost"],
        "bob": ["lost", "won"],
    }


def test_void_pairing_is_lost_by_both_in_their_form_and_gives_no_point() -> None:
    stored = cup()
    play(stored, 0, 0, 0)
    stored.act("void", game="1.1")
    assert report(stored)["standings"][0]["points"] == 1
    stored.act("void", game="1.2")
    rows = report(stored)["standings"]
    assert [row["points"] for row in rows] == [0, 0, 0, 0]
    assert {row["name"]: (row["games"], row["wins"]) for row in rows} == dict.fromkeys(NAMES, (0, 0))


def test_withdrawn_player_has_the_reason() -> None:
    stored = cup()
    stored.act("withdraw", player="bob", why="asked for it")
    stored.log(Withdrawn(2, "3 faults in a row", may_return=True))
    rows = {row["name"]: row for row in report(stored)["standings"]}
    assert (rows["bob"]["withdrawn"], rows["bob"]["may_return"]) == ("asked for it", False)
    assert (rows["cid"]["withdrawn"], rows["cid"]["may_return"]) == ("3 faults in a row", True)
    assert (rows["ann"]["withdrawn"], rows["ann"]["may_return"]) == (None, False)


# What comes next.


def test_next_round_has_an_estimate_while_games_are_on_and_a_time_in_a_break() -> None:
    stored = cup(format="swiss", rounds=2, **{"break": 60})
    assert report(stored)["next"] == {
        "stage": 1,
        "round": 2,
        "at": None,
        "about": None,  # no game is over, so nothing is known
        "waits_for": [1, 2],
    }
    paired = stored.now
    play(stored, 0, 0, 0)
    longest = stored.now - paired
    play(stored, 1, 0)
    found = report(stored)["next"]
    assert (found["at"], found["waits_for"]) == (None, [2])
    assert found["about"] == paired + longest + 60_000  # as long as the other one, and the break
    assert report(stored, 1000.0)["next"]["about"] is None  # never in the past
    stored.play(1, 1, 0)
    assert report(stored)["next"] == {
        "stage": 1,
        "round": 2,
        "at": stored.now + 60_000,
        "about": None,
        "waits_for": [],
    }


@pytest.mark.parametrize(("boards", "times"), [(0, 1), (2, 1), (1, 2)])
def test_estimate_regards_the_number_of_boards(boards: int, times: int) -> None:
    """Of two pairings at a time, or one after the other."""
    stored = Stored(format="swiss", rounds=2, boards=boards)
    stored.begin(*NAMES, "eve", "fay", pairings=[(0, 1, 1), (2, 3, 1), (4, 5, 1)])
    paired = stored.now
    play(stored, 2, 0, 0)
    assert report(stored)["next"]["about"] == paired + times * (stored.now - paired)


def test_estimate_of_a_round_robin_is_by_the_pairings_that_are_over() -> None:
    stored = Stored(then="knockout")
    stored.begin("ann", "bob", "cid", pairings=[(0, 1, 1), (0, 2, 2), (1, 2, 3)])
    paired = stored.now
    play(stored, 0, 0, 0)
    assert report(stored)["next"]["about"] == stored.now + 2 * (stored.now - paired)


@pytest.mark.parametrize(
    ("settings", "entries", "expected"),
    [
        ({"format": "swiss", "rounds": 1}, [], None),
        ({"format": "round-robin"}, [], None),
        ({"format": "ladder"}, [], None),
        ({"format": "round-robin", "then": "swiss"}, [], (2, 1)),
        ({"format": "swiss", "rounds": 1, "then": "swiss"}, [], (2, 1)),
        ({"format": "swiss", "rounds": 2, "then": "swiss"}, [], (1, 2)),
        ({"format": "knockout"}, [], (1, 2)),
        ({"format": "swiss", "rounds": 2}, [Ended()], None),
        ({"format": "swiss", "rounds": 2}, [Paused()], (1, 2)),
    ],
)
def test_what_follows(
    settings: dict[str, object], entries: list[Entry], expected: tuple[int, int] | None
) -> None:
    stored = cup(**settings)
    stored.log(*entries)
    found = report(stored)["next"]
    assert (None if found is None else (found["stage"], found["round"])) == expected


# The log.


def test_log_has_what_a_person_decided_and_what_the_server_decided_about_players() -> None:
    stored = Stored(house=["random"])
    stored.log(Entered("random", house=True), *map(Entered, NAMES), StartRequested())
    stored.log(Begun([0, 1, 2, 3, 4]), Paired([(0, 1, 1), (2, 3, 1)]))
    stored.log(Forfeited(0, [0, 1], [1]), Withdrawn(1, "3 faults in a row", may_return=True), Returned(1))
    stored.act("pause", why="lunch")
    stored.log(Ended())
    found = [(each["number"], each["by"], each["act"], each["why"]) for each in report(stored)["log"]]
    assert found == [
        (7, None, "begin", ""),
        (9, None, "forfeit", ""),
        (10, None, "withdraw", ""),
        (11, None, "readmit", ""),
        (12, "nora", "pause", "lunch"),
        (13, None, "end", ""),
    ]


def test_log_has_who_entered_late() -> None:
    stored = cup()
    stored.log(Entered("eve"))
    assert [each["words"] for each in report(stored)["log"]] == ["Began with 4 players", "Entered eve"]


def test_entry_has_the_names_that_its_numbers_had_then() -> None:
    stored = Stored()
    stored.log(*map(Entered, NAMES))
    stored.act("withdraw", player="ann")
    stored.log(Begun([3, 2, 1, 0]))
    stored.act("withdraw", player="dan")
    words = [each["words"] for each in report(stored)["log"]]
    assert [each.partition(":")[0] for each in words] == [
        "Withdrew ann",
        "Began with 4 players",
        "Withdrew dan",
    ]


def test_announcement_and_forbidden_pairs_are_reported_by_name() -> None:
    stored = cup()
    assert (report(stored)["announcement"], report(stored)["forbidden"]) == (None, [])
    stored.act("announce", text="lunch at one")
    stored.act("forbid", player="dan", other="ann")
    stored.act("forbid", player="cid", other="bob")
    assert report(stored)["announcement"] == "lunch at one"
    assert report(stored)["forbidden"] == [["ann", "dan"], ["bob", "cid"]]
    stored.log(Announced(""))
    assert report(stored)["announcement"] is None


def test_settings_are_reported_with_those_of_stages_and_tests() -> None:
    roster = {"ann": "10a", "bob": "10b"}
    stored = Stored(
        groups="roster", roster=roster, then="knockout", advance=1, **{"break": 9, "entry-test": "aima"}
    )
    found = report(stored)["settings"]
    assert (found["groups"], found["roster"], found["then"], found["advance"]) == (
        "roster",
        roster,
        "knockout",
        1,
    )
    assert (found["break"], found["entry_test"]) == (9, "aima")


def test_summary_needs_no_games() -> None:
    run = Played(random.Random(1), NAMES, format="swiss", then="knockout", advance=2)
    for name in NAMES:
        run.sit(name)
    run.turn()
    run.end()
    whole = run.stored.read()
    run.stored.games.clear()
    assert summary(run.stored.read()) == summary(whole)
