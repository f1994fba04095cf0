"""Stages, breaks, groups and the ladder: tournaments from their beginning to their end."""

import random
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds.tournaments import Played, Stored

from gateway.tournament.formats import Pairing
from gateway.tournament.log import Begun, Ended, Entered, Entry, Forfeited, Paired, StageBegun, Withdrawn
from gateway.tournament.report import described
from gateway.tournament.tournament import Tournament

ROSTER = {"ann": "10b", "bob": "10a", "cid": "10b", "dan": "9"}
NAMES = [f"bot {number}" for number in range(8)]


def entries_of(stored: Stored, kind: type[Entry]) -> list[Any]:
    return [each.entry for each in stored.read().log if isinstance(each.entry, kind)]


def asked(tournament: Tournament, now: float) -> Sequence[Pairing] | None:
    """Return further pairings; None if there is no question now."""
    question = tournament.question(now)
    return None if question is None else question()


def played(seed: int, players: int = 8, **settings: object) -> Played:
    """Return a tournament that began with all of its players and was played to its end without trouble."""
    played = Played(random.Random(seed), NAMES[:players], **settings)
    for name in played.names:
        played.sit(name)
    played.turn()
    played.end()
    played.check_end()
    return played


# Two stages.

STAGES: list[dict[str, object]] = [
    {"format": "round-robin", "groups": 2, "then": "knockout", "advance": 2},
    {"format": "round-robin", "groups": 3, "then": "knockout", "advance": 1, "break": 5},
    {"format": "round-robin", "groups": 2, "then": "swiss", "advance": 3},
    {"format": "round-robin", "groups": 4, "then": "round-robin", "advance": 1},
    {"format": "round-robin", "then": "knockout"},
    {"format": "round-robin", "then": "round-robin", "advance": 3, "boards": 2},
    {"format": "swiss", "then": "knockout", "advance": 4, "break": 5},
    {"format": "swiss", "rounds": 2, "then": "swiss", "advance": 4},
]


@pytest.mark.parametrize("settings", STAGES, ids=lambda each: f"{each['format']} then {each['then']}")
@pytest.mark.parametrize("seed", [1, 2])
def test_two_stages_are_played_to_the_end(settings: dict[str, object], seed: int) -> None:
    run = played(seed, **settings)
    tournament = run.stored.read()
    report = described(tournament, run.unix)
    [begun] = entries_of(run.stored, StageBegun)
    first, second = report["stages"]
    names = [tournament.name_of(each) for each in begun.order]
    groups = [each["standings"] for each in first["groups"]] or [first["standings"]]
    advance = int(str(settings.get("advance", 0))) or len(NAMES)
    assert {*names} == {row["name"] for rows in groups for row in rows[:advance]}
    winners = [rows[0]["name"] for rows in groups]
    assert {*names[: len(groups)]} == {*winners}  # they have the first seeds
    assert (report["stage"], first["state"], second["state"]) == (2, "over", "over")
    assert (first["players"], second["players"]) == (len(NAMES), len(names))
    assert [row["name"] for row in report["standings"][: len(names)]] == [
        row["name"] for row in second["standings"]
    ]
    assert sorted(row["name"] for row in report["standings"]) == NAMES
    ranks = [row["rank"] for row in report["standings"]]
    assert ranks == sorted(ranks)
    assert ranks[0] == 1
    stages = [each["stage"] for each in report["pairings"]]
    assert stages == sorted(stages)
    assert {name for each in report["pairings"] if each["stage"] == 2 for name in each["players"]} <= {*names}


@given(st.integers(0, 2**32), st.sampled_from(STAGES))
def test_two_stages_are_played_to_the_end_in_spite_of_anything(
    seed: int, settings: dict[str, object]
) -> None:
    """Players fail, leave, are withdrawn and come late, and the server decides what is due."""
    run = Played(random.Random(seed), NAMES[:6], **{"walkover": 1, "faults": 2, **settings})
    for _ in range(8):
        run.step()
    run.act("start")
    for _ in range(60):
        run.step(trouble=0.15)
        if run.rng.random() < 0.05:
            run.act("withdraw", player=run.rng.choice(run.names))
        if run.rng.random() < 0.05:
            run.act("readmit", player=run.rng.choice(run.names))
        if run.rng.random() < 0.05:
            run.names.append(f"late {len(run.names)}")
    run.end()
    run.check_end()
    tournament = run.stored.read()
    for begun in entries_of(run.stored, StageBegun):
        assert len({*begun.order}) == len(begun.order) > 1
        first = tournament.stages[1].first
        assert all(tournament.schedule.is_over(number) for number in range(first))
        assert {each for state in tournament.pairings[first:] for each in state.players} <= {*begun.order}


def test_order_of_a_round_robin_seeds_the_bracket() -> None:
    stored = Stored(then="knockout", advance=4)
    stored.begin(*NAMES[:5], pairings=[(*pair, 1) for pair in combinations(range(5), 2)])
    for number, (_, second) in enumerate(combinations(range(5), 2)):
        for game in (0, 1):
            stored.play(number, game, 1)  # the player with the greater number is better
        assert second
    tournament = stored.read()
    assert asked(tournament, 0.0) == []
    assert tournament.after_stage() == StageBegun([4, 3, 2, 1])
    stored.log(StageBegun([4, 3, 2, 1]))
    assert asked(stored.read(), 0.0) == [Pairing(4, 1, 1), Pairing(3, 2, 1)]


def test_next_player_comes_through_in_place_of_one_that_has_withdrawn() -> None:
    stored = Stored(then="knockout", advance=2)
    stored.begin(*NAMES[:4], pairings=[(*pair, 1) for pair in combinations(range(4), 2)])
    for number in range(6):
        for game in (0, 1):
            stored.play(number, game, 0)
    stored.log(Withdrawn(0, ""))
    assert stored.read().after_stage() == StageBegun([1, 2])
    stored.log(Withdrawn(1, ""), Withdrawn(2, ""))
    assert stored.read().after_stage() == Ended()  # one player is left


@pytest.mark.parametrize("then", ["knockout", "swiss", "round-robin"])
def test_nobody_enters_the_second_stage_but_all_may_stay(then: str) -> None:
    stored = Stored(then=then, advance=2)
    stored.begin(*NAMES[:3], pairings=[(0, 1, 1), (0, 2, 2), (1, 2, 3)])
    stored.log(*(Forfeited(number, [0, 1], [loser]) for number, loser in enumerate((1, 2, 2))))
    stored.log(StageBegun([0, 1]))
    tournament = stored.read()
    assert [tournament.admits(name) for name in ("bot 0", "bot 2", "new")] == [True, True, False]
    assert tournament.entering(["new", "bot 2"], ()) == []
    assert asked(tournament, 0.0) == [Pairing(0, 1, 1)]


def test_stage_without_any_pairing_goes_over_to_the_next_one() -> None:
    stored = Stored(groups="roster", roster=ROSTER, then="round-robin")
    stored.begin("ann", "bob", "dan")
    tournament = stored.read()
    assert asked(tournament, 0.0) == []
    assert tournament.after_stage() == StageBegun([0, 1, 2])


@pytest.mark.parametrize("settings", [{}, {"players": 8}])
def test_rounds_of_both_stages_are_those_of_their_own(settings: dict[str, object]) -> None:
    stored = Stored(format="swiss", then="swiss", advance=4, **settings)
    stored.begin(*NAMES)
    assert [each["rounds"] for each in described(stored.read(), 0.0)["stages"]] == [3, None]
    stored.log(StageBegun([0, 1, 2, 3]))
    assert [each["rounds"] for each in described(stored.read(), 0.0)["stages"]] == [3, 2]


# Groups.


def groups_of(tournament: Tournament) -> dict[str, list[str]]:
    return {
        each["name"]: sorted(row["name"] for row in each["standings"])
        for each in described(tournament, 0.0)["stages"][0]["groups"]
    }


@pytest.mark.parametrize(("players", "groups"), [(2, 1), (3, 1), (4, 2), (5, 2), (8, 4), (7, 3)])
def test_group_has_two_players_or_more(players: int, groups: int) -> None:
    stored = Stored(groups=4)
    stored.begin(*NAMES[:players])
    found = groups_of(stored.read())
    assert len(found) == groups
    assert min(map(len, found.values())) >= 2


def test_groups_of_a_round_robin_play_within_themselves() -> None:
    stored = Stored(groups=2)
    stored.begin(*NAMES[:6])
    tournament = stored.read()
    assert groups_of(tournament) == {"A": ["bot 0", "bot 3", "bot 4"], "B": ["bot 1", "bot 2", "bot 5"]}
    found = asked(tournament, 0.0)
    assert found is not None
    pairs = {frozenset(each[:2]) for each in found}
    assert pairs == {frozenset(pair) for group in ((0, 3, 4), (1, 2, 5)) for pair in combinations(group, 2)}
    stored.log(Paired(found))
    stored.log(Entered("late"))  # joins the smallest group
    tournament = stored.read()
    assert "late" in groups_of(tournament)["A"]
    assert {frozenset(each[:2]) for each in asked(tournament, 0.0) or ()} == {
        frozenset((6, other)) for other in (0, 3, 4)
    }


def test_groups_of_the_roster_are_those_of_its_names_also_of_late_comers() -> None:
    stored = Stored(groups="roster", roster=ROSTER, house=["random"])
    stored.log(Entered("random", house=True), *map(Entered, ("cid", "bob", "ann")), Begun([3, 2, 1, 0]))
    # Who is in no group of the roster comes into the smallest one that has players.
    assert groups_of(stored.read()) == {"10a": ["bob", "random"], "10b": ["ann", "cid"]}
    stored.log(Entered("dan"), Entered("guest"))
    tournament = stored.read()
    assert groups_of(tournament) == {
        "10a": ["bob", "random"],
        "10b": ["ann", "cid"],
        "9": ["dan", "guest"],
    }
    assert {frozenset(each[:2]) for each in asked(tournament, 0.0) or ()} == {
        frozenset((0, 2)),
        frozenset((1, 3)),
        frozenset((4, 5)),
    }


def test_only_names_of_the_roster_enter_by_themselves() -> None:
    stored = Stored(roster={"ann": "", "bob": ""})
    stored.log(Entered("ann"))
    tournament = stored.read()
    admitted = [tournament.admits(name) for name in ("ann", "bob", "Bob", "eve", "Ann")]
    assert admitted == [True, True, True, False, False]  # Ann is ann, who has entered
    assert tournament.entering(["eve", "bob"], ()) == [Entered("bob")]
    stored.act("enter", player="eve")
    assert stored.read().admits("eve")


def test_group_without_players_is_left_out_and_nobody_comes_through_from_it() -> None:
    stored = Stored(groups="roster", roster=ROSTER, then="knockout", advance=1)
    stored.begin("ann", "bob", pairings=[])
    assert groups_of(stored.read()) == {"10a": ["bob"], "10b": ["ann"]}
    [entry] = [stored.read().after_stage()]
    assert isinstance(entry, StageBegun)
    assert sorted(entry.order) == [0, 1]


# Breaks.


def swiss_round(**settings: object) -> Stored:
    """Return a Swiss tournament whose first round was over at second 100."""
    stored = Stored(**{"format": "swiss", "rounds": 2, "break": 60, **settings})
    stored.begin(*NAMES[:4], pairings=[(0, 1, 1), (2, 3, 1)])
    for pairing in (0, 1):
        for number in (0, 1):
            stored.now = 99_999
            stored.play(pairing, number, 0)
    return stored


def test_next_round_begins_when_the_break_is_over() -> None:
    stored = swiss_round()
    tournament = stored.read()
    assert (tournament.break_ends(), described(tournament, 100.0)["next"]["at"]) == (160.0, 160_000)
    assert asked(tournament, 159.9) is None
    found = asked(tournament, 160.0)
    assert found is not None
    assert {each.round for each in found} == {2}


def test_last_round_has_no_break_after_it_and_a_stage_has_one() -> None:
    for settings, ends in (({"rounds": 1}, None), ({"rounds": 1, "then": "knockout"}, 160.0)):
        tournament = swiss_round(**settings).read()
        assert tournament.break_ends() == ends
        assert asked(tournament, 100.0) == ([] if ends is None else None)
        if ends is not None:
            assert asked(tournament, ends) == []
            assert isinstance(tournament.after_stage(), StageBegun)


def test_break_begins_anew_when_a_game_was_played_again() -> None:
    stored = swiss_round()
    stored.act("replay", game="1.1")
    assert stored.read().break_ends() is None
    stored.now = 120_000
    stored.play(0, 0, 1)
    assert stored.read().break_ends() == 180.001


def test_next_round_that_was_set_waits_for_the_end_of_the_break_too() -> None:
    stored = swiss_round()
    stored.act("next", pairs="bot 3 - bot 0, bot 1 - bot 2")
    tournament = stored.read()
    ends = tournament.break_ends()
    assert ends is not None
    assert asked(tournament, ends - 1) is None
    assert asked(tournament, ends) == [Pairing(3, 0, 2), Pairing(1, 2, 2)]


def test_round_that_was_set_is_played_once_and_by_those_who_are_still_there() -> None:
    stored = swiss_round(**{"break": 0, "rounds": 3})
    stored.act("next", pairs="bot 3 - bot 0, bot 1 - bot 2")
    stored.log(Withdrawn(3, ""), Entered("late"))
    tournament = stored.read()
    found = asked(tournament, 200.0)
    assert found == [Pairing(0, None, 2), Pairing(1, 2, 2), Pairing(4, None, 2)]
    without = Stored.like(stored)
    without.log(Withdrawn(0, ""))
    assert asked(without.read(), 200.0) == [Pairing(1, 2, 2), Pairing(4, None, 2)]
    stored.log(Paired(found))
    for number in (0, 1):
        stored.play(3, number, 0)
    assert {each.round for each in asked(stored.read(), 300.0) or ()} == {3}


def test_who_does_not_come_through_is_ranked_below_all_who_do() -> None:
    stored = Stored(then="swiss", advance=2, **{"tie-breaks": []})
    stored.begin("ann", "bob", "cid", "dan", pairings=[(0, 2, 1)])
    stored.log(Forfeited(0, [0, 1], [2]), StageBegun([1, 0]))
    found = described(stored.read(), 0.0)["standings"]
    assert {row["name"]: row["rank"] for row in found} == {"bob": 1, "ann": 1, "cid": 3, "dan": 3}


@pytest.mark.parametrize("format", ["round-robin", "gauntlet", "swiss"])
def test_withdrawn_player_gets_no_further_pairings(format: str) -> None:
    stored = Stored(format=format)
    stored.begin("ann", "bob", "cid", "dan")
    stored.log(Withdrawn(2, ""))
    found = asked(stored.read(), 0.0)
    assert found
    assert not any(2 in each[:2] for each in found)


def test_forbidden_pair_meets_in_no_further_round() -> None:
    run = Played(random.Random(4), NAMES[:6], format="swiss", rounds=5)
    for name in run.names:
        run.sit(name)
    run.turn()
    run.act("forbid", player="bot 0", other="bot 1")
    run.end()
    run.check_end()
    tournament = run.stored.read()
    pair = {tournament.number_of("bot 0"), tournament.number_of("bot 1")}
    assert all({*each.players} != pair for each in tournament.pairings)
    assert max(each.pairing.round for each in tournament.pairings) == 5


# The ladder.


def climbed(tournament: Tournament) -> list[int]:
    """Return the order of the players of a ladder: whoever beats one above takes its place."""
    order = [*range(len(tournament.entrants))]
    for number, state in enumerate(tournament.pairings):
        meeting = tournament.meeting(number)
        if meeting.is_over and meeting.score[0] != meeting.score[1]:
            won, lost = state.players if meeting.score[0] > meeting.score[1] else state.players[::-1]
            if order.index(won) > order.index(lost):
                order.remove(won)
                order.insert(order.index(lost), won)
    return order


@pytest.mark.parametrize(("players", "rest"), [(2, 0), (3, 3), (7, 3), (8, 0)])
def test_ladder_goes_on_until_the_director_ends_it(players: int, rest: int) -> None:
    run = Played(random.Random(players), NAMES[:players], format="ladder", rest=rest, walkover=1)
    for name in run.names:
        run.sit(name)
    run.turn()
    run.act("start")
    for number in range(300):
        run.step(trouble=0.02)
        run.stored.now += 500
        if number == 100:
            run.names.append("late")
    tournament = run.stored.read()
    assert tournament.state == "running"
    assert len(tournament.pairings) > 30
    assert [row.player for row in tournament.standings()] == climbed(tournament)
    assert [row.rank for row in tournament.standings()] == [*range(1, len(tournament.entrants) + 1)]
    opened = Counter(
        player
        for number in tournament.schedule.unfinished()
        for player in tournament.pairings[number].players
    )
    assert max(opened.values(), default=0) <= 1, "a player has two pairings at a time"
    run.end(100)
    run.check_end()


def test_player_of_a_ladder_rests_between_two_pairings() -> None:
    stored = Stored(format="ladder", rest=30)
    stored.begin(*NAMES[:2], pairings=[(0, 1, 1)])
    stored.now = 99_999
    for number in (0, 1):
        stored.play(0, number, 0)
    tournament = stored.read()
    assert tournament.question(130.0) is None
    assert asked(tournament, 130.001) == [Pairing(1, 0)]


def test_replay_on_a_ladder_leaves_nobody_with_two_pairings_and_the_order_follows() -> None:
    stored = Stored(format="ladder", rest=0)
    stored.begin(*NAMES[:3], pairings=[(0, 1, 1)])
    for number in (0, 1):
        stored.play(0, number, 1)
    tournament = stored.read()
    assert [row.player for row in tournament.standings()] == [1, 0, 2]
    stored.act("replay", game="1.1")
    tournament = stored.read()
    assert [row.player for row in tournament.standings()] == [0, 1, 2]
    assert asked(tournament, 1e9) in (None, [])  # two of three have a pairing
    stored.play(0, 0, 0)
    stored.act("award", game="1.2", to="bot 0")
    tournament = stored.read()
    assert [row.player for row in tournament.standings()] == [0, 1, 2]
    assert asked(tournament, 1e9)


def test_withdrawn_player_of_a_ladder_holds_nobody_up() -> None:
    stored = Stored(format="ladder", rest=0, walkover=10)
    stored.begin(*NAMES[:4], pairings=[(0, 1, 1), (2, 3, 1)])
    stored.act("withdraw", player="bot 0")
    assert stored.read().forfeits_of_withdrawn(9.0) == []
    assert stored.read().forfeits_of_withdrawn(11.0) == [Forfeited(0, [0, 1], [0])]
    stored.act("readmit", player="bot 0")
    stored.log(Withdrawn(0, "3 faults in a row", may_return=True))
    assert stored.read().forfeits_of_withdrawn(9.0) == []
    assert stored.read().forfeits_of_withdrawn(11.0) == [Forfeited(0, [0, 1], [0])]


def test_game_that_is_on_when_a_player_of_a_ladder_is_withdrawn_is_played_to_its_end() -> None:
    run = Played(random.Random(0), ["ann", "bob"], format="ladder", rest=0, walkover=1)
    run.stored.begin("ann", "bob", pairings=[(0, 1, 1)])
    run.read()
    for name in ("ann", "bob"):
        run.sit(name)
    run.begin_series()
    [series] = run.on
    run.begin_game(series)
    run.stored.act("withdraw", player="ann")
    run.stored.now += 60_000
    run.read()
    assert run.tournaments.entries(run.table, run.unix, run.unix) == []
