"""Test games: who plays them and when, what they decide, and that they count for nothing else."""

import random
from collections.abc import Sequence

import pytest
from worlds.tournaments import Played, PlayedSeries, Stored

from gateway.game.board import Side
from gateway.tournament.log import Begun, Entered, Entry, Paired, Paused, Resumed, TournamentResult, Withdrawn
from gateway.tournament.report import TESTS_SHOWN, described
from gateway.tournament.table import MOST_TESTERS, PATIENCE
from gateway.tournament.testing import GAMES, MOST, MOST_OF_PLAYER, TESTS, PlayedTest, add_game

# The games of one test.


def result(
    number: int,
    result: int,
    reason: str = "four",
    culprit: Side | None = None,
    fault: str | None = None,
    row: int = 1,
) -> TournamentResult:
    """Return a game of a test of ann, who moves first in game 0."""
    names = ("ann", "random") if number % 2 == 0 else ("random", "ann")
    return TournamentResult(
        row, f"00001-{row:06}", TESTS, number, 10 + row, *names, result, reason, (0, 0), culprit, fault
    )


LOST = [result(0, 2), result(1, 1)]


@pytest.mark.parametrize(
    ("games", "state", "why"),
    [
        ([], "waits", ""),
        (LOST[:1], "waits", ""),
        (LOST, "passed", ""),  # however badly it plays
        ([result(0, 0, "full"), result(1, 2)], "passed", ""),
        ([result(0, 2, "illegal", 0, "illegal")], "failed", "it made an illegal move"),
        ([LOST[0], result(1, 1, "time", 1, "time")], "failed", "its clock ran out"),
        ([LOST[0], result(1, 1, "time", 1, "stall")], "failed", "it did not move in time"),
        ([result(0, 2, "left", 0, "crash")], "failed", "its connection ended"),
        ([result(0, 0, "aborted", 0, "crash")], "failed", "its connection ended"),
        ([LOST[0], result(1, 2, "time", 0, "stall")], "passed", ""),  # a fault of the house player
        ([LOST[0], result(1, 0, "aborted", 0, "crash")], "waits", ""),
        ([LOST[0], result(1, 0, "stopped")], "waits", ""),
        ([LOST[0], result(1, 0, "stopped"), result(1, 1, row=2)], "passed", ""),
        ([LOST[0], LOST[0], result(GAMES, 1)], "waits", ""),
    ],
)
def test_test_is_passed_by_two_games_without_a_fault(
    games: Sequence[TournamentResult], state: str, why: str
) -> None:
    test = PlayedTest("ann", "random")
    for each in games:
        test.add(each)
    found = "passed" if test.is_passed else "failed" if test.fault is not None else "waits"
    assert (found, test.why) == (state, why)
    assert test.is_over is (state != "waits")


def test_games_of_a_test_are_known_by_the_house_player_on_either_side() -> None:
    for games in (LOST, LOST[::-1]):
        tests = dict[int, PlayedTest]()
        for each in games:
            add_game(tests, each)
        [(number, test)] = tests.items()
        assert (number, test.player, test.house, test.points) == (TESTS, "ann", "random", 0)


def test_game_of_another_player_under_the_same_number_passes_nobody() -> None:
    """As when the first one began before a crash and its result was stored late."""
    tests = dict[int, PlayedTest]()
    add_game(tests, LOST[0])
    add_game(tests, LOST[1]._replace(second="bob"))
    assert not any(each.is_passed for each in tests.values())


def test_game_without_a_result_gives_no_points() -> None:
    test = PlayedTest("ann", "random")
    test.add(result(0, 0, "aborted", 0, "crash"))
    assert (test.is_over, test.points) == (True, 0)


def test_of_tests_that_were_broken_off_only_the_latest_is_reported() -> None:
    stored = Stored(**{"entry-test": "random"})
    stored.games += [LOST[0], LOST[0]._replace(row=2, game="00001-000002", pairing=TESTS + 1)]
    [test] = described(stored.read(), 0.0)["tests"]
    assert (test["state"], test["games"]) == ("waits", ["00001-000002"])


def test_entry_test_is_passed_against_no_other_house_player_than_that_of_the_file() -> None:
    stored = Stored(**{"entry-test": "aima"})
    stored.games += [*LOST]
    assert not stored.read().has_passed("ann")
    other = Stored(**{"entry-test": "random"})
    other.games += [*LOST]
    assert other.read().has_passed("ann")


# Before the beginning.


def cup(*names: str, **settings: object) -> Played:
    """Return an open tournament that demands a test against random, at whose table these players sit."""
    run = Played(random.Random(0), names, **{"entry-test": "random", **settings})
    for name in names:
        run.sit(name)
    run.turn()
    run.turn()
    run.begin_series()
    return run


def under_test(run: Played) -> list[str]:
    """Return the players whose tests are on."""
    return sorted(_player(each) for each in run.on if each.scheduled.pairing >= TESTS)


def _player(series: PlayedSeries) -> str:
    return next(name for name in series.players if name not in ("random", "aima"))


def finish(run: Played, name: str, *, fails: bool = False, reason: str = "four") -> None:
    """Let a player play its test to the end; with another reason, the first game has no result."""
    [series] = [each for each in run.on if name in each.players and each.scheduled.pairing >= TESTS]
    while series in run.on:
        run.begin_game(series)
        side: Side = 0 if series.movers[0] == name else 1
        if fails:
            run.end_game(series, 2 - side, "illegal", side)
        else:
            run.end_game(series, 0 if reason == "stopped" else 2 - side, reason)


def turns(run: Played, seconds: int = 3) -> None:
    for _ in range(seconds):
        run.stored.now += 1000
        run.turn()
        run.begin_series()


def entered(run: Played) -> list[str]:
    return [each.name for each in run.stored.read().entrants]


def test_nobody_enters_before_it_has_passed() -> None:
    run = cup("ann", "bob")
    assert (under_test(run), entered(run)) == (["ann", "bob"], [])
    finish(run, "ann")
    turns(run)
    assert (under_test(run), entered(run)) == (["bob"], ["ann"])
    finish(run, "bob", fails=True)
    turns(run)
    assert (under_test(run), entered(run)) == ([], ["ann"])


def test_test_is_not_rated_and_has_the_grace_of_the_tournament() -> None:
    run = cup("ann", grace=7)
    [series] = run.on
    assert (series.scheduled.is_rated, series.scheduled.grace, series.scheduled.first) == (False, 7.0, 0)
    assert (series.players, series.games) == (("ann", "random"), GAMES)


def test_player_that_failed_is_tested_again_once_it_has_sat_down_again() -> None:
    run = cup("ann")
    finish(run, "ann", fails=True)
    turns(run, 30)
    assert (under_test(run), entered(run)) == ([], [])
    seat = run.seat_of("ann")
    assert seat is not None
    run.rise(seat)
    turns(run)
    run.sit("ann")
    turns(run)
    assert under_test(run) == ["ann"]
    finish(run, "ann")
    turns(run)
    assert entered(run) == ["ann"]
    assert [each["state"] for each in described(run.stored.read(), 0.0)["tests"]] == ["failed", "passed"]


def failures(count: int, names: Sequence[str]) -> list[TournamentResult]:
    """Return the games of tests in which these players failed in turn."""
    return [
        result(0, 2, "illegal", 0, "illegal", row)._replace(
            first=names[row % len(names)], pairing=TESTS + row
        )
        for row in range(1, count + 1)
    ]


@pytest.mark.parametrize(
    ("failed", "is_tested"),
    [
        (failures(MOST_OF_PLAYER - 1, ["ann"]), True),
        (failures(MOST_OF_PLAYER, ["ann"]), False),
        (failures(MOST_OF_PLAYER, ["bob", "cid"]), True),
        (failures(MOST - 1, [f"stranger {number}" for number in range(MOST)]), True),
        (failures(MOST, [f"stranger {number}" for number in range(MOST)]), False),
    ],
    ids=["often", "too often", "others", "strangers", "too many strangers"],
)
def test_player_or_strangers_that_fail_again_and_again_are_not_tested_for_ever(
    failed: Sequence[TournamentResult], is_tested: bool
) -> None:
    run = cup()
    run.stored.games += failed
    run.turn()
    run.sit("ann")
    turns(run)
    run.begin_series()
    assert under_test(run) == ["ann"] * is_tested
    run.stored.act("enter", player="ann")
    assert run.stored.read().number_of("ann") is not None


def test_only_the_latest_tests_of_those_that_have_not_entered_are_reported() -> None:
    stored = Stored(**{"entry-test": "random"})
    stored.log(Entered("ann"))
    stored.games += [*LOST, *failures(TESTS_SHOWN + 7, ["bob"])]
    tests = described(stored.read(), 0.0)["tests"]
    assert [each["player"] for each in tests] == ["ann", *["bob"] * TESTS_SHOWN]
    assert tests[-1]["games"] == [stored.games[-1].game]


def test_player_that_left_during_its_test_has_failed() -> None:
    run = cup("ann")
    run.begin_game(run.on[0])
    seat = run.seat_of("ann")
    assert seat is not None
    run.rise(seat)
    turns(run)
    [test] = described(run.stored.read(), 0.0)["tests"]
    assert (test["state"], test["why"], entered(run)) == ("failed", "its connection ended", [])


def test_test_without_a_result_is_repeated_without_sitting_down_again() -> None:
    run = cup("ann")
    finish(run, "ann", reason="stopped")
    turns(run, int(PATIENCE) + 4)
    assert under_test(run) == ["ann"]
    finish(run, "ann")
    turns(run)
    assert entered(run) == ["ann"]
    assert len({each.pairing for each in run.stored.games}) == 2


def test_test_that_was_on_when_the_server_was_killed_is_played_again() -> None:
    run = cup("ann")
    run.begin_game(run.on[0])
    run.end_game(run.on[0], 2)
    run.on.clear()
    run.seats.clear()
    run.tournaments = type(run.tournaments)()
    run.read()
    run.sit("ann")
    turns(run)
    assert under_test(run) == ["ann"]
    finish(run, "ann")
    turns(run)
    assert entered(run) == ["ann"]


def test_several_are_tested_at_once_but_not_all_of_many() -> None:
    names = [f"bot {number}" for number in range(MOST_TESTERS + 3)]
    run = cup(*names)
    assert len(under_test(run)) == MOST_TESTERS
    for name in under_test(run):
        finish(run, name)
    turns(run)
    assert len(under_test(run)) == 3
    for name in under_test(run):
        finish(run, name)
    turns(run)
    assert sorted(entered(run)) == sorted(names)
    assert run.testers("random") == []


def test_testers_leave_when_there_is_nothing_to_test() -> None:
    run = cup()
    turns(run)
    assert (run.testers("random"), run.table.admits("random")) == ([], False)
    run.sit("ann")
    assert run.table.admits("random")
    turns(run)
    assert len(run.testers("random")) == 1
    assert not run.table.admits("random")
    finish(run, "ann")
    turns(run)
    assert run.testers("random") == []


def test_tester_whose_player_has_gone_before_the_test_leaves() -> None:
    run = cup()
    seat = run.sit("ann")
    assert seat is not None
    run.turn()
    assert len(run.testers("random")) == 1
    run.rise(seat)
    turns(run)
    assert run.testers("random") == []


@pytest.mark.parametrize(("kind", "name"), [("expected", "ann"), ("enter", "ann")])
def test_player_that_the_file_or_the_director_names_enters_without_a_test(kind: str, name: str) -> None:
    run = cup(expected=["ann"]) if kind == "expected" else cup()
    if kind == "enter":
        run.act("enter", player=name)
    run.sit(name)
    turns(run)
    assert (under_test(run), entered(run)) == ([], ["ann"])


def test_player_that_may_not_enter_is_not_tested() -> None:
    run = cup("eve", roster={"ann": ""})
    assert under_test(run) == []
    run.seats[99] = "eve"  # one that sat down before
    run.table.sit(99, "eve")
    run.table.wait(99)
    turns(run)
    assert (under_test(run), run.testers("random")) == ([], [])


@pytest.mark.parametrize(
    ("entries", "is_tested"),
    [
        ([], True),
        ([Paused()], False),
        ([Paused(), Resumed()], True),
        ([Entered("bob"), Entered("cid"), Begun([0, 1])], True),
        ([Entered("bob"), Entered("cid"), Begun([0, 1]), Paused()], False),
    ],
)
def test_no_test_begins_during_a_pause(entries: Sequence[Entry], is_tested: bool) -> None:
    run = cup()
    run.stored.log(*entries)
    run.sit("ann")
    turns(run)
    assert under_test(run) == (["ann"] if is_tested else [])


def test_late_comer_is_tested_too_and_then_plays() -> None:
    run = cup("ann", "bob")
    for name in ("ann", "bob"):
        finish(run, name)
    turns(run)
    run.act("start")
    turns(run)
    assert run.stored.read().state == "running"
    run.sit("cid")
    turns(run)
    assert under_test(run) == ["cid"]
    assert sorted(entered(run)) == ["ann", "bob"]
    finish(run, "cid")
    turns(run)
    assert sorted(entered(run)) == ["ann", "bob", "cid"]
    run.end()
    run.check_end()
    assert len([each for each in run.stored.read().pairings if len(each.players) == 2]) == 3


# On demand.


def running(*, pairings: Sequence[tuple[int, int | None, int]] = (), **settings: object) -> Played:
    """Return a tournament of ann, bob and cid, who sit at the table."""
    run = Played(random.Random(0), ["ann", "bob", "cid"], **settings)
    run.stored.begin("ann", "bob", "cid", pairings=pairings)
    run.read()
    for name in run.names:
        run.sit(name)
    return run


def test_requested_test_is_played_by_a_player_that_is_free() -> None:
    run = running(pairings=[(0, 1, 1)], format="swiss")
    run.act("test", player="cid", house="aima")
    turns(run)
    assert under_test(run) == ["cid"]
    assert [run.stored.read().pairings[0].players] == [(0, 1)]
    assert len(run.on) == 2
    finish(run, "cid", fails=True)
    turns(run)
    assert under_test(run) == []  # once, whether it was passed or not
    tournament = run.stored.read()
    assert all(each.withdrawn is None and not each.faults for each in tournament.entrants)


def test_requested_test_is_played_in_a_pause_too() -> None:
    """A pause is a good time for it."""
    run = running(pairings=[(0, 1, 1)], format="swiss")
    run.act("pause")
    run.act("test", player="ann", house="random")
    turns(run)
    assert under_test(run) == ["ann"]
    assert len(run.on) == 1
    run.act("resume")
    turns(run)
    assert len(run.on) == 1  # ann plays its pairing after the test
    finish(run, "ann")
    turns(run)
    assert [each.players for each in run.on] == [("ann", "bob")]


def test_requested_test_never_comes_before_a_pairing_that_can_begin() -> None:
    run = running(pairings=[(0, 1, 1)], format="swiss")
    run.act("test", player="ann", house="random")
    turns(run)
    assert under_test(run) == []
    assert [each.players for each in run.on] == [("ann", "bob")]
    run.play_all()
    run.turn()
    run.begin_series()
    turns(run)
    assert under_test(run) == ["ann"]


def test_request_is_for_one_test_and_a_second_request_for_another() -> None:
    run = running(pairings=[(1, 2, 1)], format="swiss")
    for count in (1, 2):
        run.act("test", player="ann", house="random")
        turns(run)
        assert under_test(run) == ["ann"]
        finish(run, "ann")
        turns(run, int(PATIENCE) + 3)
        assert under_test(run) == []
        assert len(run.stored.read().tests) == count


def test_request_that_was_undone_or_whose_player_has_withdrawn_is_not_played() -> None:
    run = running(pairings=[(1, 2, 1)], format="swiss")
    run.act("test", player="ann", house="random")
    run.act("undo")
    turns(run)
    assert (under_test(run), run.testers("random")) == ([], [])
    run.act("test", player="ann", house="random")
    run.stored.log(Withdrawn(0, "by the director"))
    turns(run)
    assert (under_test(run), run.testers("random")) == ([], [])


@pytest.mark.parametrize("fault", ["illegal", "left"])
def test_test_counts_in_no_standings_faults_or_withdrawals(fault: str) -> None:
    run = running(pairings=[(0, 1, 1)], format="swiss", faults=1)
    before = described(run.stored.read(), 0.0)
    run.act("test", player="cid", house="random")
    turns(run)
    [series] = [each for each in run.on if "cid" in each.players]
    run.begin_game(series)
    run.end_game(series, 2, fault, 0)
    run.read()
    after = described(run.stored.read(), 0.0)
    same = ("standings", "pairings", "stages", "byes", "next")
    assert {key: after[key] for key in same} == {key: before[key] for key in same}
    assert run.stored.read().withdrawals() == []
    assert len(after["tests"]) == 1


# A house player that takes part itself, and is the tester, too.


def test_house_player_takes_part_and_tests_others_at_the_same_time() -> None:
    run = cup("ann", "bob", house=["random"])
    turns(run)
    assert (under_test(run), entered(run)) == (["ann", "bob"], ["random"])
    assert run.table.here.count("random") == 1
    assert len(run.testers("random")) == 2
    bob = run.seat_of("bob")
    assert bob is not None
    run.rise(bob)
    finish(run, "ann")
    turns(run)
    assert run.testers("random") == []
    assert "random" in run.table.here
    run.act("start")
    turns(run)
    assert [{*each.players} for each in run.on] == [{"ann", "random"}]
    run.sit("bob")
    turns(run, int(PATIENCE) + 1)  # the earlier test of bob might still have a result
    assert [{*each.players} for each in run.on] == [{"ann", "random"}, {"bob", "random"}]
    finish(run, "bob")
    run.end()
    run.check_end()
    tournament = run.stored.read()
    assert sorted(each.name for each in tournament.entrants) == ["ann", "bob", "random"]
    row = next(each for each in described(tournament, 0.0)["standings"] if each["name"] == "random")
    assert row["games"] == 4  # of two pairings


def test_tester_of_a_house_player_that_is_added_later_does_not_take_its_place() -> None:
    run = cup("ann")
    run.act("house", player="random")
    turns(run)
    assert run.table.here.count("random") == 1
    assert len(run.testers("random")) == 1
    finish(run, "ann")
    turns(run)
    run.stored.log(Paused())
    run.turn()
    assert (run.testers("random"), run.table.here) == ([], ["ann", "random"])


def test_house_player_whose_own_pairing_waits_is_not_taken_for_a_test() -> None:
    run = running(format="swiss", house=["random"])
    run.stored.log(Entered("random", house=True), Paired([(0, 3, 1)]))
    run.act("test", player="cid", house="random")
    turns(run)
    assert {each.players for each in run.on} == {("ann", "random"), ("cid", "random")}
    assert len({seat for each in run.on for seat in each.seats}) == 4
