"""The state of a tournament: what its log and its games say, in any order, and what has to be added."""

import random
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds.tournaments import Stored

from gateway.tournament.formats import Pairing
from gateway.tournament.log import (
    Begun,
    Ended,
    Entered,
    Entry,
    Forbidden,
    Forfeited,
    Known,
    LoggedEntry,
    Paired,
    Paused,
    RequestedTest,
    Resumed,
    Returned,
    StartRequested,
    TournamentNews,
    Withdrawn,
    parsed,
)
from gateway.tournament.pairings import BREAKS
from gateway.tournament.report import described
from gateway.tournament.settings import MOST_PLAYERS
from gateway.tournament.tournament import MOST_BEFORE, Tournament

BACK = Withdrawn(1, "3 faults in a row", may_return=True)
OUT = Withdrawn(1, "by the director")


def two_of_four() -> Stored:
    """Return a tournament of ann, bob, cid and dan, in which ann plays bob, and cid plays dan."""
    stored = Stored()
    stored.begin("ann", "bob", "cid", "dan", pairings=[(0, 1, 1), (2, 3, 1)])
    return stored


def points(stored: Stored, pairing: int = 0) -> tuple[float, float]:
    return stored.read().meeting(pairing).points


# Who enters.


def test_players_of_the_file_enter_first_and_others_as_they_sat_down() -> None:
    stored = Stored(house=["random"], expected=["bob", "eve"])
    entries = stored.read().entering(["cid", "bob", "ann"], ())
    assert entries == [
        Entered("random", house=True),
        *(Entered(name) for name in ("bob", "eve", "cid", "ann")),
    ]
    stored.log(*entries)
    assert stored.read().entering(["ann", "bob", "dan"], ()) == [Entered("dan")]


@pytest.mark.parametrize("first", [Paused(), StartRequested()])
def test_players_of_the_file_enter_also_if_the_director_was_faster_than_the_server(first: Entry) -> None:
    stored = Stored(expected=["ann"])
    stored.log(first)
    assert stored.read().entering(["bob"], ()) == [Entered("ann"), Entered("bob")]


@pytest.mark.parametrize(
    ("settings", "has_begun", "most"),
    [
        ({}, False, MOST_BEFORE),  # some of them will have left by the beginning
        ({}, True, MOST_PLAYERS),
        ({"cycles": 100}, False, MOST_BEFORE),
        ({"cycles": 100}, True, 14),
    ],
)
def test_no_more_players_enter_than_a_tournament_may_have(
    settings: dict[str, object], has_begun: bool, most: int
) -> None:
    stored = Stored(house=["random"], **settings)
    names = [f"bot {number}" for number in range(most + 1)]
    if has_begun:
        stored.log(Entered("random", house=True), Entered(names[0]), Begun([0, 1]))
    entries = stored.read().entering(names, ())
    house = [] if has_begun else [Entered("random", house=True)]
    assert entries == [*house, *(Entered(name) for name in names[int(has_begun) : most - 1])]
    stored.log(*entries)
    assert stored.read().entering(names, ()) == []
    assert [stored.read().admits(name) for name in names[most - 2 : most]] == [True, False]


@pytest.mark.parametrize(
    ("settings", "logged", "admitted"),
    [
        ({}, [], "ann bob new"),
        ({"late": False}, [], "ann bob new"),
        ({}, [Begun([0, 1])], "ann bob new"),
        ({}, [Begun([0, 1]), Paused()], "ann bob new"),
        ({"late": False}, [Begun([0, 1])], "ann bob"),
        ({"format": "knockout"}, [Begun([0, 1])], "ann bob"),
        ({"format": "knockout"}, [], "ann bob new"),
        ({}, [BACK], "ann bob new"),
        ({}, [OUT], "ann new"),
        ({}, [BACK, OUT], "ann new"),
        ({"late": False}, [Begun([1, 0]), Withdrawn(0, "3 faults in a row", may_return=True)], "ann bob"),
        ({}, [Begun([0, 1]), Ended()], ""),
    ],
)
def test_who_may_sit_down(settings: dict[str, object], logged: Sequence[Entry], admitted: str) -> None:
    stored = Stored(**settings)
    stored.log(Entered("ann"), Entered("bob"), *logged)
    tournament = stored.read()
    assert [name for name in ("ann", "bob", "new") if tournament.admits(name)] == admitted.split()
    new = [Entered("new")] if "new" in admitted else []
    assert tournament.entering(["ann", "new"], ()) == new


def test_withdrawn_player_returns_once_it_has_sat_down_anew() -> None:
    stored = Stored()
    stored.begin("ann", "bob")
    stored.log(BACK)
    assert stored.read().entering(["ann", "bob"], ()) == []
    assert stored.read().entering(["ann"], {"bob"}) == []
    assert stored.read().entering(["ann", "bob"], {"bob"}) == [Returned(1)]
    stored.log(OUT)
    assert stored.read().entering(["ann", "bob"], {"bob"}) == []


# The beginning.


@pytest.mark.parametrize(
    ("settings", "logged", "here", "is_due"),
    [
        ({}, [], "ann bob cid", False),
        ({}, [StartRequested()], "ann bob", True),
        ({}, [StartRequested()], "ann eve", False),  # bob and cid have left
        ({"expected": ["bob"]}, [StartRequested()], "ann", True),
        ({"expected": ["bob", "cid"]}, [StartRequested()], "", True),
        ({}, [StartRequested(), Withdrawn(0, "by the director"), OUT], "ann bob cid", False),
        ({"players": 3}, [], "ann bob cid", True),
        ({"players": 3}, [], "ann bob eve", False),
        ({"players": 3}, [StartRequested()], "ann bob", True),
        ({"players": 3, "expected": ["bob"]}, [], "ann cid", False),
        ({"players": 3}, [OUT], "ann bob cid", False),
        ({"players": 3}, [Ended(by_director=True)], "ann bob cid", False),
        ({"players": 3}, [Paused()], "ann bob cid", True),
        ({"players": 3}, [Begun([0, 1, 2])], "ann bob cid", False),
    ],
)
def test_when_it_begins(
    settings: dict[str, object], logged: Sequence[Entry], here: str, is_due: bool
) -> None:
    stored = Stored(**settings)
    stored.log(*map(Entered, ("ann", "bob", "cid")), *logged)
    assert stored.read().is_to_begin(here.split(), 0.0) is is_due


def test_it_begins_at_its_time_or_once_there_are_two() -> None:
    stored = Stored()
    stored.file += "\nstart = 2000-01-01T01:00:10+01:00"
    start = 946_684_810.0
    stored.log(Entered("ann"))
    assert not stored.read().is_to_begin(["ann"], start + 1)
    stored.log(Entered("bob"))
    both = ["ann", "bob"]
    assert [stored.read().is_to_begin(both, now) for now in (start - 0.1, start)] == [False, True]
    assert not stored.read().is_to_begin(["ann"], start + 1)


@pytest.mark.parametrize(
    ("settings", "order"),
    [
        ({}, [1, 3, 0, 2]),
        ({"seeds": "rating"}, [1, 3, 0, 2]),
        ({"seeds": ["cid", "nobody", "ann"]}, [2, 0, 1, 3]),
    ],
)
def test_seeds_are_those_of_the_file_and_then_by_rating(
    settings: dict[str, object], order: list[int]
) -> None:
    stored = Stored(**settings)
    names = ("ann", "bob", "cid", "dan")
    stored.log(*map(Entered, names))
    assert stored.read().beginning({"bob": 20.0, "dan": 3.0}, names) == Begun(order)


def test_players_who_have_left_before_the_beginning_take_no_part_except_those_of_the_file() -> None:
    stored = Stored(house=["random"], expected=["eve"])
    stored.log(Entered("random", house=True), *map(Entered, ("eve", "ann", "bob", "cid")))
    stored.log(Withdrawn(3, "by the director"))
    assert stored.read().beginning({}, ["cid"]) == Begun([0, 1, 3, 4])  # bob stays withdrawn
    stored.log(Begun([0, 1, 3, 4]))
    tournament = stored.read()
    assert [each.name for each in tournament.entrants] == ["random", "eve", "bob", "cid"]
    assert (len(tournament.entrants), tournament.present) == (4, {0, 1, 3})
    assert tournament.entering(["ann"], ()) == [Entered("ann")]  # it comes late


@pytest.mark.parametrize(("settings", "most"), [({}, MOST_PLAYERS), ({"cycles": 100}, 14)])
def test_it_begins_with_as_many_as_it_may_have(settings: dict[str, object], most: int) -> None:
    stored = Stored(**settings)
    names = [f"bot {number}" for number in range(most + 2)]
    stored.log(*map(Entered, names))
    assert stored.read().beginning({}, names) == Begun([*range(most)])
    assert stored.read().beginning({}, names[2:]) == Begun([*range(2, most + 2)])


def test_late_player_does_not_inherit_the_withdrawal_of_one_who_had_its_number() -> None:
    stored = Stored()
    stored.log(*map(Entered, ("ann", "bob", "cid", "dan")), Withdrawn(3, "by the director"))
    stored.log(Begun([0, 1, 3]), Entered("eve"), Paired([(0, 3, 1), (1, 2, 1)]))
    assert stored.read().schedule.open_pairings() == [0]


def test_players_have_their_numbers_by_seed_from_the_beginning_on() -> None:
    stored = Stored()
    stored.log(*map(Entered, ("ann", "bob", "cid")), OUT, Begun([2, 1, 0]), Paired([(0, 2, 1)]))
    tournament = stored.read()
    assert [each.name for each in tournament.entrants] == ["cid", "bob", "ann"]
    assert (len(tournament.entrants), tournament.present) == (3, {0, 2})
    assert tournament.begun_at == stored.now


def test_what_was_decided_before_the_beginning_is_about_the_same_players_after_it() -> None:
    stored = Stored()
    stored.log(*map(Entered, ("ann", "bob", "cid", "dan")), Forbidden([0, 1]), Forbidden([0, 3]))
    stored.log(RequestedTest(0, "aima"), RequestedTest(3, "aima"), Begun([2, 1, 0]))
    report = described(stored.read(), 0.0)
    assert report["forbidden"] == [["ann", "bob"]]
    assert [each["player"] for each in report["tests"]] == ["ann"]


def test_who_withdrew_before_the_beginning_is_out_and_nobody_else() -> None:
    stored = Stored()
    stored.log(*map(Entered, ("ann", "bob", "cid")), Withdrawn(0, "by the director"), Begun([1, 2, 0]))
    stored.log(Paired([(0, 1, 1)]))
    tournament = stored.read()
    assert tournament.schedule.open_pairings() == [0]
    assert tournament.forfeits_of_withdrawn(1e9) == []


# Further pairings.


@pytest.mark.parametrize(
    ("format", "asked_while_on"),
    [("round-robin", True), ("gauntlet", True), ("swiss", False), ("knockout", True)],
)
def test_further_pairings_are_asked_for_once_in_each_state(format: str, asked_while_on: bool) -> None:
    stored = Stored(format=format, games=2)
    stored.log(*map(Entered, ("ann", "bob", "cid", "dan")))
    assert stored.read().question(0.0) is None
    stored.log(Begun([0, 1, 2, 3]))
    tournament = stored.read()
    question = tournament.question(0.0)
    assert question is not None
    pairings = question()
    assert {each.round for each in pairings} >= {1}
    assert tournament.question(0.0) is None
    tournament.ask_again()
    assert (tournament.question(0.0) is not None) is True

    stored.log(Paired(tuple(pairings)))
    stored.log(Paused())
    assert stored.read().question(0.0) is None
    stored.log(Resumed())
    assert (stored.read().question(0.0) is not None) is asked_while_on
    for number in range(len(pairings)):
        stored.play(number, 0, 0)
        stored.play(number, 1, 0)
    question = stored.read().question(0.0)
    assert question is not None
    assert [each.round for each in question()] == {"swiss": [2, 2], "knockout": [2]}.get(format, [])


def test_knockout_is_asked_again_after_each_pairing_that_is_over() -> None:
    stored = Stored(format="knockout")
    stored.begin("ann", "bob", "cid", "dan", pairings=[(0, 3, 1), (1, 2, 1)])
    tournament = stored.read()
    asked = [tournament.question(0.0) is not None]
    for number in range(2):
        stored.play(0, number, 0)
        tournament.add(stored.news(tournament.known))
        asked.append(tournament.question(0.0) is not None)
    assert asked == [True, False, True]


@pytest.mark.parametrize(
    ("settings", "entered", "rounds"),
    [
        ({}, 2, 1),
        ({}, 5, 3),
        ({}, 8, 3),
        ({}, 9, 4),
        ({"players": 16}, 3, 4),
        ({"rounds": 7}, 8, 7),
        ({}, 0, 1),
    ],
)
def test_swiss_has_by_default_the_rounds_of_a_knockout(
    settings: dict[str, object], entered: int, rounds: int
) -> None:
    stored = Stored(format="swiss", **settings)
    stored.log(*(Entered(str(number)) for number in range(entered)))
    assert stored.read().rounds == rounds


# Games.


def test_games_count_for_the_players_of_the_pairing_whoever_moved_first() -> None:
    stored = two_of_four()
    stored.play(0, 0, 0, thought=(5, 7), fault_of=1)
    assert points(stored) == (1, 0)
    stored.play(0, 1, 0, thought=(10, 20), fault_of=1)
    meeting = stored.read().meeting(0)
    assert (meeting.points, meeting.thought, meeting.faults) == ((2, 0), (15, 27), (0, 2))
    assert meeting.is_over
    stored.play(1, 0)
    stored.play(1, 1, 1, fault_of=0)
    meeting = stored.read().meeting(1)
    assert (meeting.points, meeting.faults) == ((0.5, 1.5), (1, 0))
    assert [(row.player, row.points) for row in stored.read().standings()] == [
        (0, 1.0),
        (3, 1.0),
        (2, 0.0),
        (1, 0.0),
    ]


@pytest.mark.parametrize("reason", ["aborted", "stopped"])
def test_game_without_a_result_is_played_again_and_its_fault_is_a_fault(reason: str) -> None:
    stored = two_of_four()
    stored.play(0, 0, reason=reason, fault_of=1)
    tournament = stored.read()
    assert points(stored) == (0, 0)
    assert tournament.schedule.open_pairings() == [0, 1]
    assert [each.faults for each in tournament.entrants] == [{}, {"crash": 1}, {}, {}]
    stored.play(0, 0, 1)
    assert points(stored) == (0, 1)


@pytest.mark.parametrize(("number", "culprit"), [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_game_that_the_same_player_has_broken_off_so_often_is_lost_by_it(number: int, culprit: int) -> None:
    stored = two_of_four()
    stored.play(0, number, reason="aborted", fault_of=1 - culprit)
    for player in (0, 1):
        stored.play(0, 1 - number, reason="aborted", fault_of=player)
    stored.play(0, number, reason="stopped")
    for _ in range(BREAKS - 1):
        stored.play(0, number, reason="aborted", fault_of=culprit)
    assert points(stored) == (0, 0)
    stored.play(0, number, reason="aborted", fault_of=culprit)
    assert points(stored) == (float(culprit == 1), float(culprit == 0))
    state = stored.read().pairings[0]
    assert {game: result.reason for game, result in state.games.items()} == {number: "left"}
    stored.play(0, number, culprit)  # too late
    assert points(stored) == (float(culprit == 1), float(culprit == 0))


def test_game_that_the_server_broke_off_is_played_again_however_often() -> None:
    stored = two_of_four()
    for _ in range(2 * BREAKS):
        stored.play(0, 0, reason="stopped")
    assert stored.read().schedule.open_pairings() == [0, 1]
    assert len(stored.read().pairings[0].broken) == 2 * BREAKS


def test_second_result_of_a_game_does_not_count() -> None:
    stored = two_of_four()
    stored.play(0, 0, 0)
    stored.play(0, 0, 1)
    assert points(stored) == (1, 0)
    state = stored.read().pairings[0]
    assert ([*state.games], len(state.broken), len(state.stored([0]))) == ([0], 1, 2)


def test_game_beyond_those_of_its_pairing_does_not_count() -> None:
    stored = two_of_four()
    stored.play(0, 2, 0)
    assert points(stored) == (0, 0)
    assert stored.read().schedule.open_pairings() == [0, 1]


def test_game_of_a_bye_does_not_count() -> None:
    """It belongs to an earlier tournament of this name."""
    stored = Stored(format="swiss")
    stored.begin("ann", pairings=[(0, None, 1)])
    stored.play(0, 0, 0, fault_of=0)
    assert points(stored) == (2, 0)
    assert stored.read().entrants[0].faults == {}


def test_game_counts_once_its_pairing_is_known() -> None:
    """A reader may see a game earlier than the entry with its pairing."""
    stored = two_of_four()
    stored.play(1, 0, 0)
    stored.play(1, 1, 0)
    whole = stored.news()
    tournament = Tournament.of(whole._replace(entries=()))
    tournament.add(whole._replace(games=()))
    assert described(tournament, 0.0) == described(stored.read(), 0.0)
    assert tournament.known == stored.read().known == Known(6, 2)


# Forfeits.


@pytest.mark.parametrize(
    ("absent", "result"), [([0], (0, 2)), ([1], (2, 0)), ([0, 1], (0, 0)), ([1, 0], (0, 0))]
)
def test_forfeited_games_are_won_by_whoever_was_here(absent: list[int], result: tuple[float, float]) -> None:
    stored = two_of_four()
    stored.log(stored.read().forfeit(0, absent))
    meeting = stored.read().meeting(0)
    assert (meeting.is_over, meeting.points) == (True, result)
    assert meeting.faults == (absent.count(0), absent.count(1))
    faults = [{"walkover": 1} if player in absent else {} for player in range(4)]
    assert [each.faults for each in stored.read().entrants] == faults


def test_games_with_a_result_are_not_forfeited() -> None:
    stored = two_of_four()
    stored.play(0, 1, 1)
    entry = stored.read().forfeit(0, [1])
    assert entry == Forfeited(0, [0], [1])
    stored.log(entry)
    assert points(stored) == (1, 1)
    stored.play(0, 0, 1)  # too late
    assert points(stored) == (1, 1)


def test_game_is_forfeited_once() -> None:
    stored = two_of_four()
    stored.log(Forfeited(0, [0], [1]), Forfeited(0, [0, 1], [0]))
    assert points(stored) == (1, 1)


@pytest.mark.parametrize("entry", [Withdrawn(9, "by the director"), Paired([(0, "1", 1)]), Begun([0, 9])])  # type: ignore[list-item]
def test_entry_about_a_player_that_is_none_cannot_be_read(entry: Entry) -> None:
    stored = Stored()
    stored.log(Entered("ann"), Entered("bob"), entry, Forfeited(0, [0], [1]))
    with pytest.raises(ValueError):
        stored.read()


def test_forfeit_by_nobody_cannot_be_read() -> None:
    stored = two_of_four()
    stored.log(Forfeited(0, [0, 1], []))
    with pytest.raises(ValueError, match="neither player was absent"):
        stored.read()


def test_games_of_a_withdrawn_player_are_forfeited_once_nothing_else_can_be_played() -> None:
    stored = Stored()
    stored.begin("ann", "bob", "cid", pairings=[(0, 1, 1), (1, 2, 1), (0, 2, 1)])
    stored.log(BACK)
    for number in range(2):
        assert stored.read().forfeits_of_withdrawn(1e9) == []
        stored.play(2, number, 0)
    forfeits = [Forfeited(0, [0, 1], [1]), Forfeited(1, [0, 1], [1])]
    assert stored.read().forfeits_of_withdrawn(1e9) == forfeits
    stored.log(Paused())
    assert stored.read().forfeits_of_withdrawn(1e9) == []
    stored.log(Resumed(), Returned(1))
    assert stored.read().forfeits_of_withdrawn(1e9) == []
    assert stored.read().schedule.open_pairings() == [0, 1]
    stored.log(BACK, *forfeits)
    assert stored.read().is_played
    assert stored.read().entrants[1].faults == {}  # the withdrawal was enough


@pytest.mark.parametrize("entry", [BACK, OUT])
def test_games_of_a_withdrawn_player_are_lost_after_some_time(entry: Entry) -> None:
    """It may come back, or the director may take the withdrawal back."""
    stored = Stored(walkover=30)
    stored.begin("ann", "bob", pairings=[(0, 1, 1)])
    stored.now = 9_999
    stored.log(entry)
    found = [bool(stored.read().forfeits_of_withdrawn(10 + after)) for after in (0, 29.9, 30)]
    assert found == [False, False, True]


def test_pairing_waits_for_either_player_that_may_return() -> None:
    stored = Stored(walkover=30)
    stored.begin("ann", "bob", pairings=[(0, 1, 1)])
    stored.now = 9_999
    stored.log(OUT, Withdrawn(0, "3 faults in a row", may_return=True))
    assert stored.read().forfeits_of_withdrawn(39.9) == []
    assert stored.read().forfeits_of_withdrawn(40.0) == [Forfeited(0, [0, 1], [0, 1])]


# Withdrawals.


@pytest.mark.parametrize(
    ("faults", "games", "is_due"),
    [
        (3, "fff", True),
        (3, "ff", False),
        (3, "fffw", False),
        (3, "ffwff", False),
        (3, "wfff", True),
        (3, "ffaf", True),  # a game without a result that was nobody's fault
        (3, "fFf", True),  # a game without a result by the player's own fault
        (3, "ffx", True),  # a walkover
        (3, "ffrf", False),  # it has returned
        (3, "ffrfff", True),
        (1, "f", True),
        (1000, "ffffffff", False),
    ],
)
def test_player_is_withdrawn_after_so_many_faults_in_a_row(faults: int, games: str, is_due: bool) -> None:
    stored = Stored(faults=faults, games=40)
    stored.begin("ann", "bob", pairings=[(0, 1, 1), (0, 1, 2)])
    steps: dict[str, Callable[[int], object]] = {
        "f": lambda number: stored.play(0, number, 0, "left", fault_of=1),
        "F": lambda number: stored.play(0, number, None, "aborted", fault_of=1),
        "w": lambda number: stored.play(0, number, 1),
        "a": lambda number: stored.play(0, number, None, "stopped"),
        "x": lambda _: stored.log(Forfeited(1, [0], [1])),
        "r": lambda _: stored.log(BACK, Returned(1)),
    }
    for number, each in enumerate(games):
        steps[each](number)
    due: list[Entry] = [Withdrawn(1, f"{faults} faults in a row", may_return=True)] if is_due else []
    assert stored.read().withdrawals() == due
    stored.log(*due)
    assert stored.read().withdrawals() == []


def test_nobody_is_withdrawn_during_a_pause_or_after_the_end() -> None:
    stored = Stored(faults=1)
    stored.begin("ann", "bob", pairings=[(0, 1, 1)])
    stored.play(0, 0, 0, "time", fault_of=1)
    for entry in (Paused(), Ended()):
        stored.log(entry)
        assert stored.read().withdrawals() == []


# The director.


@pytest.mark.parametrize(
    ("settings", "logged", "fault"),
    [
        ({}, [], "a round robin needs 2 players or more"),
        ({}, [Entered("ann"), Entered("bob"), OUT], "a round robin needs 2 players or more"),
        ({}, [Entered("ann"), Entered("bob")], None),
        ({}, [Entered("ann"), Entered("bob"), Begun([0, 1])], "'cup' has begun already"),
        ({}, [Ended()], "'cup' is over"),
        (
            {"format": "swiss", "rounds": 2},
            [Entered("ann"), Entered("bob")],
            "2 players can play 1 Swiss round without meeting twice, not 2",
        ),
    ],
)
def test_director_is_told_in_one_line_why_it_cannot_begin(
    settings: dict[str, object], logged: Sequence[Entry], fault: str | None
) -> None:
    stored = Stored(**settings)
    stored.log(*logged)
    assert stored.read().fault_of_start() == fault


@pytest.mark.parametrize(
    ("logged", "state"),
    [
        ([], "open"),
        ([Paused()], "open"),
        ([Begun([])], "running"),
        ([Paused(), Begun([])], "paused"),
        ([Begun([]), Paused(), Resumed()], "running"),
        ([Begun([]), Paused(), Ended()], "over"),
        ([Ended(by_director=True)], "over"),
    ],
)
def test_states_follow_from_the_log(logged: Sequence[Entry], state: str) -> None:
    stored = Stored()
    stored.log(*logged)
    assert stored.read().state == state


def test_bye_is_a_pairing_that_is_over() -> None:
    stored = Stored(format="swiss")
    stored.begin("ann", "bob", "cid", pairings=[(0, 1, 1), (2, None, 1)])
    tournament = stored.read()
    assert tournament.meeting(1).score == (1.0, 0.0)
    assert (tournament.meeting(1).pairing, tournament.meeting(1).is_over) == (Pairing(2, None, 1), True)
    assert not tournament.is_played
    assert tournament.schedule.open_pairings() == [0]


# In any order.


def some_tournament(rng: random.Random) -> Stored:
    """Return a tournament with anything in its log and its games that the server may have added."""
    stored = Stored(format=rng.choice(["round-robin", "swiss", "knockout"]), faults=rng.choice([1, 3]))
    names = [f"bot {number}" for number in range(rng.randint(2, 5))]
    stored.log(*map(Entered, names))
    stored.log(stored.read().beginning({}, names))
    for _ in range(rng.randint(0, 40)):
        tournament = stored.read()
        question = tournament.question(0.0)
        found = question() if question is not None and rng.random() < 0.5 else []
        games = [
            (pairing, number)
            for pairing, state in enumerate(tournament.pairings)
            for number in range(2)
            if state.pairing.second is not None and number not in state.forfeited
        ]
        if found:
            stored.log(Paired(found))
        elif tournament.withdrawals():
            stored.log(*tournament.withdrawals())
        elif rng.random() < 0.1 and tournament.present != {*range(len(names))}:
            out = [number for number in range(len(names)) if number not in tournament.present]
            stored.log(*map(Returned, out))
        elif rng.random() < 0.2 and tournament.schedule.open_pairings():
            pairing = tournament.schedule.open_pairings()[0]
            players = [each for each in tournament.pairings[pairing].pairing[:2] if each is not None]
            stored.log(tournament.forfeit(pairing, rng.sample(players, rng.randint(1, 2))))
        elif games:
            winner = rng.choice([None, 0, 1])
            reason = "aborted" if winner is None and rng.random() < 0.5 else "four"
            stored.play(*rng.choice(games), winner, reason, fault_of=None if winner is None else 1 - winner)
    return stored


@given(st.randoms(use_true_random=False))
def test_same_entries_and_games_give_the_same_state_however_they_were_read(rng: random.Random) -> None:
    stored = some_tournament(rng)
    whole = stored.read()
    parts = Tournament.of(stored.news()._replace(entries=(), games=()))
    entries, games = [*stored.entries], [*stored.games]
    while entries or games:
        # A forfeit is decided by one who has read all games until then.
        until = entries[0].made if entries else stored.now
        ready = [each for each in games if each.ended < until or not entries]
        first, taken = (ready[: rng.randint(1, 3)], 0) if ready else ([], 1)
        news = TournamentNews("cup", stored.file, entries[:taken], first)
        del entries[:taken], games[: len(first)]
        parts.add(news)
    assert described(parts, 0.0) == described(whole, 0.0)
    assert parts.log == whole.log
    assert [(each.made, each.signed) for each in whole.log] == [
        (each.made, parsed(each.entry)) for each in stored.entries
    ]
    assert parts.known == whole.known
    assert parts.schedule.open_pairings() == whole.schedule.open_pairings()


def test_entry_of_a_later_version_makes_it_unreadable() -> None:
    stored = two_of_four()
    stored.entries.append(LoggedEntry(1, '{"entry": "Promoted", "player": 1}'))
    with pytest.raises(ValueError, match="not an entry"):
        stored.read()
