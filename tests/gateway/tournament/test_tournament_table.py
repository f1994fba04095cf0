"""The table of a tournament, who plays whom there, and what is added to the log."""

import math
import weakref
from collections.abc import Sequence

import pytest
from worlds.tournaments import Stored, file_of

from gateway.game.results import Scheduled
from gateway.tournament.log import (
    COMPLETE,
    Begun,
    Ended,
    Entered,
    Entry,
    Forfeited,
    Known,
    LoggedEntry,
    Paired,
    Paused,
    Resumed,
    Returned,
    StartRequested,
    TournamentNews,
    Withdrawn,
)
from gateway.tournament.table import PATIENCE, RECENT, TournamentTable
from gateway.tournament.tournaments import Tournaments

ALL_OF_FOUR = [(0, 3, 1), (1, 2, 1), (3, 2, 2), (0, 1, 2), (1, 3, 3), (2, 0, 3)]


class Run:
    """A stored tournament and the server that has read it. Player `number` sits on seat 10 + `number`."""

    def __init__(self, *names: str, pairings: Sequence[tuple[int, int | None, int]] = (), **settings: object):
        self.stored = Stored(**settings)
        if names:
            self.stored.begin(*names, pairings=pairings)
        self.names = names
        self.woken = 0
        self.now = 0.0
        self.tournaments = Tournaments()
        self.tournaments.wake = self._wake
        self.read()

    def _wake(self) -> None:
        self.woken += 1

    @property
    def table(self) -> TournamentTable:
        return self.tournaments.tables["cup"]

    def read(self, *entries: Entry) -> None:
        """Read what was added, and these entries besides."""
        if entries:
            self.stored.log(*entries)
        known = self.tournaments.known(math.inf).get("cup")
        assert self.tournaments.take([self.stored.news(known)], self.now, self.tournaments.epoch) == {}

    def sit(self, *numbers: int) -> None:
        for number in numbers:
            self.table.sit(10 + number, self.names[number])
            self.table.wait(10 + number)

    def play(self, scheduled: Scheduled, games: int) -> None:
        """Play the first games of a series, all won by the first player of the pairing; then it is over."""
        for number in range(scheduled.first, scheduled.first + games):
            self.table.began(scheduled)
            self.stored.play(scheduled.pairing, number, 0)
        self.table.finished(scheduled)

    def pairs(self) -> list[tuple[int, int, int, Scheduled]]:
        """Return the series that can begin, with players in place of their seats."""
        return [(one - 10, two - 10, games, which) for one, two, games, which in self.table.pairs()]

    def decide(self, *, is_paused: bool = False) -> Sequence[Entry]:
        return self.tournaments.entries(self.table, self.now, unix=1e9, is_paused=is_paused)


def four(**settings: object) -> Run:
    """Return a round robin of four that has begun, and in which all pairings are known."""
    return Run("ann", "bob", "cid", "dan", pairings=ALL_OF_FOUR, **settings)


# Seats.


def test_name_has_one_seat_at_a_time() -> None:
    run = Run()
    assert run.table.admits("ann")
    run.table.sit(7, "ann")
    run.table.sit(3, "bob")
    assert (run.table.seated(), run.table.here) == ([7, 3], ["ann", "bob"])
    assert [run.table.admits(name) for name in ("ann", "Ann")] == [False, True]
    run.table.rise(7)
    run.table.rise(99)
    assert (run.table.seated(), run.table.here, run.table.admits("ann")) == ([3], ["bob"], True)


def test_director_is_woken_when_somebody_comes_or_goes_or_a_series_is_over() -> None:
    run = four()
    run.sit(0)
    assert run.woken == 1
    run.sit(3)
    [(*_, scheduled)] = run.pairs()
    before = run.woken
    run.table.finished(scheduled)
    assert run.woken == before + 1
    run.table.rise(10)
    assert run.woken == before + 2


def test_table_has_the_name_of_the_tournament_and_is_found_by_it_in_any_case() -> None:
    tournaments = Tournaments()
    tournaments.take([TournamentNews("cup 7", file_of(name="Cup 7"), [], [])], 0.0)
    table = tournaments.tables["cup 7"]
    assert (table.key, table.name) == ("cup 7", "Cup 7")


# Pairs.


def test_two_that_wait_play_two_games_of_their_pairing_at_a_time() -> None:
    run = four(games=4)
    run.sit(0)
    assert run.pairs() == []
    run.sit(3)
    assert run.table.is_stirred
    assert run.pairs() == [(0, 3, 2, Scheduled(0, 0, True))]
    assert not run.table.is_stirred
    run.sit(1, 2)
    assert run.pairs() == [(1, 2, 2, Scheduled(1, 0, True))]


def test_next_two_games_begin_before_the_results_of_the_first_were_read() -> None:
    run = four(games=4)
    for first in (0, 2):
        run.sit(0, 3)
        assert run.pairs() == [(0, 3, 2, Scheduled(0, first))]
        run.play(Scheduled(0, first), 2)
    run.sit(0, 3)
    assert run.pairs() == []
    run.read()
    assert not run.table.is_busy
    assert run.table.tournament.meeting(0).points == (4, 0)


def test_rest_of_a_series_that_was_broken_off_is_played_once_its_results_were_read() -> None:
    run = four(games=4)
    run.sit(0, 3)
    [(*_, scheduled)] = run.pairs()
    run.play(scheduled, 1)
    run.sit(0, 3)
    assert run.pairs() == [(0, 3, 2, Scheduled(0, 2))]  # it is not known yet what is left of the first two
    run.play(Scheduled(0, 2), 2)
    run.read()
    run.sit(0, 3)
    assert run.pairs() == [(3, 0, 1, Scheduled(0, 1))]


@pytest.mark.parametrize(
    "entry", [Paused(), Ended(by_director=True), Withdrawn(0, "by the director"), Withdrawn(3, "4 faults")]
)
def test_no_further_games_of_a_pairing_begin_after_the_two_that_are_on(entry: Entry) -> None:
    run = four(games=4)
    run.sit(0, 3)
    [(*_, scheduled)] = run.pairs()
    run.read(entry)
    run.play(scheduled, 2)
    run.read()
    run.sit(0, 3)
    assert run.pairs() == []
    assert run.table.tournament.meeting(0).points == (2, 0)


def test_pairing_does_not_wait_for_one_of_an_earlier_round() -> None:
    run = four(rated=False)
    run.sit(0, 2, 3)
    assert run.pairs() == [(0, 3, 2, Scheduled(0, 0, False))]
    run.table.rise(10)
    run.sit(1)
    assert run.pairs() == [(1, 2, 2, Scheduled(1, 0, False))]


def test_series_goes_on_with_the_first_game_that_is_left_and_its_mover() -> None:
    run = four(games=4)
    run.stored.play(0, 0, 0)
    run.stored.play(0, 2, 0)
    run.read()
    run.sit(0, 3)
    assert run.pairs() == [(3, 0, 1, Scheduled(0, 1, True))]  # game 2 has been played


@pytest.mark.parametrize(
    ("entries", "numbers"),
    [
        ([Paused()], []),
        ([Paused(), Resumed()], [0, 1]),
        ([Ended()], []),
        ([Withdrawn(0, "by the director")], [1]),
        ([Withdrawn(0, "3 faults in a row", may_return=True), Returned(0)], [0, 1]),
        ([Forfeited(0, [0, 1], [3])], [1]),
    ],
)
def test_what_the_log_says_decides_who_plays(entries: Sequence[Entry], numbers: list[int]) -> None:
    run = four()
    run.sit(0, 1, 2, 3)
    run.read(*entries)
    pairs = run.pairs()
    assert [which.pairing for *_, which in pairs] == numbers


@pytest.mark.parametrize(("boards", "found"), [(0, [0, 1]), (1, [0]), (2, [0, 1])])
def test_no_more_pairings_are_on_than_there_are_boards(boards: int, found: list[int]) -> None:
    run = four(boards=boards)
    run.sit(0, 1, 2, 3)
    series = [which for *_, which in run.pairs()]
    assert [each.pairing for each in series] == found
    assert run.pairs() == []
    run.table.began(series[0])
    run.table.finished(series[0])
    assert [which.pairing for *_, which in run.pairs()] == ([1] if boards == 1 else [])


def test_tournament_that_has_not_begun_pairs_nobody() -> None:
    run = Run()
    run.table.sit(1, "ann")
    run.table.sit(2, "bob")
    for seat in (1, 2, 3):
        run.table.wait(seat)
    assert [*run.table.pairs()] == []


def test_who_stands_up_is_paired_no_more() -> None:
    run = four()
    run.sit(0, 3)
    run.table.rise(13)
    assert run.pairs() == []
    run.table.wait(13)
    assert run.pairs() == []


# Series that are over.


def test_series_that_was_not_started_is_paired_again() -> None:
    run = four()
    run.sit(0, 3)
    [(*_, scheduled)] = run.pairs()
    run.table.finished(scheduled)
    assert not run.table.is_busy
    run.sit(0, 3)
    assert [which for *_, which in run.pairs()] == [scheduled]


@pytest.mark.parametrize("stored", [0, 1, 2])
def test_games_whose_results_do_not_come_are_played_again(stored: int) -> None:
    run = four()
    run.sit(0, 3)
    [(*_, scheduled)] = run.pairs()
    run.table.began(scheduled)
    run.table.began(scheduled)
    for number in range(stored):
        run.stored.play(0, number, 0)
    run.table.finished(scheduled)
    run.sit(0, 3)
    assert run.table.awaits_results
    run.read()
    assert (run.pairs(), run.table.awaits_results) == ([], stored < 2)
    run.now = PATIENCE - 0.1
    run.read()
    assert run.pairs() == []
    run.now = PATIENCE
    run.read()
    lost = [(0, 3, 2, Scheduled(0, 0)), (3, 0, 1, Scheduled(0, 1))]
    assert run.pairs() == lost[stored : stored + 1]


def test_late_result_counts_unless_the_game_was_played_again() -> None:
    run = four()
    run.sit(0, 3)
    [(*_, scheduled)] = run.pairs()
    run.table.began(scheduled)
    run.table.finished(scheduled)
    for run.now in (0.0, PATIENCE):
        run.read()
    run.stored.play(0, 0, 0)
    run.read()
    run.sit(0, 3)
    [(*_, again)] = run.pairs()
    assert again == Scheduled(0, 1)
    run.stored.play(0, 0, 1)
    run.read()
    assert run.table.tournament.meeting(0).points == (1, 0)


def test_game_without_a_result_is_played_again_at_once() -> None:
    run = four()
    run.sit(0, 3)
    [(*_, scheduled)] = run.pairs()
    run.table.began(scheduled)
    run.stored.play(0, 0, None, "aborted", fault_of=1)
    run.table.finished(scheduled)
    run.read()
    run.sit(0, 3)
    assert run.pairs() == [(0, 3, 2, scheduled)]


def test_series_that_began_under_another_matchmaker_is_not_begun_again() -> None:
    run = four(games=4)
    run.stored.play(0, 0, 0)
    run.read()
    run.sit(0, 3)
    run.table.resume(Scheduled(0, 1))
    run.table.resume(Scheduled(0, 1))
    run.table.resume(Scheduled(77, 0))  # of an entry that was not read yet
    assert (run.pairs(), run.table.is_busy) == ([], True)
    run.table.began(Scheduled(77, 0))
    run.table.began(Scheduled(0, 1))
    for number in (1, 2):
        run.stored.play(0, number, 1)
    run.table.finished(Scheduled(0, 2))  # of another series
    run.read()
    assert not run.table.awaits_results
    run.table.finished(Scheduled(0, 1))
    run.read()
    assert run.pairs() == [(3, 0, 1, Scheduled(0, 3))]


def test_last_game_of_a_series_that_began_under_another_matchmaker_is_awaited() -> None:
    run = four(games=4)
    run.stored.play(0, 0, 0)
    run.read()
    run.sit(0, 3)
    run.table.resume(Scheduled(0, 0))
    run.table.finished(Scheduled(0, 0))
    for run.now in (0.0, PATIENCE - 0.1):
        run.read()
        assert run.table.awaits_results
    run.sit(0, 3)
    assert run.pairs() == [(0, 3, 2, Scheduled(0, 2))]
    run.play(Scheduled(0, 2), 2)
    run.now = PATIENCE
    run.read()
    run.sit(0, 3)
    assert run.pairs() == [(3, 0, 1, Scheduled(0, 1))]


def test_series_whose_earlier_game_was_not_read_yet_is_on() -> None:
    run = four(games=2)
    run.sit(0, 3)
    run.table.resume(Scheduled(0, 1))  # of which game 0 was read by none but the other matchmaker
    assert run.pairs() == []
    run.stored.play(0, 0, 0)
    run.stored.play(0, 1, 0)
    run.table.finished(Scheduled(0, 1))
    run.read()
    assert run.pairs() == []
    assert run.table.tournament.meeting(0).is_over


def test_series_of_an_earlier_tournament_of_this_name_takes_no_game() -> None:
    run = four()
    run.sit(0, 3)
    for number in (0, 77):
        run.table.resume(Scheduled(number, 0, created=7))
    assert not run.table.is_busy
    assert run.pairs() == [(0, 3, 2, Scheduled(0, 0))]


@pytest.mark.parametrize(("number", "first"), [(-1, 0), (0, -1), (0, 2), (77, 2)])
def test_series_that_the_tournament_cannot_have_takes_no_game(number: int, first: int) -> None:
    run = four(games=2)
    run.sit(0, 3)
    run.table.resume(Scheduled(number, first))
    assert not run.table.is_busy
    assert run.pairs() == [(0, 3, 2, Scheduled(0, 0))]


def test_series_of_a_pairing_that_was_not_read_yet_is_on() -> None:
    run = Run("ann", "bob")
    run.sit(0, 1)
    run.table.resume(Scheduled(0, 0))
    assert run.table.is_busy
    run.read(Paired([(0, 1, 1), (0, 1, 2)]))
    assert run.pairs() == [(0, 1, 2, Scheduled(1, 0))]


# Acts of the director while a series is on.


def begun_series(*, games: int = 2) -> tuple[Run, Scheduled]:
    """Return a round robin in which ann and dan play games 1 and 2 of their pairing; game 1 is over."""
    run = four(games=games)
    run.sit(0, 3)
    [(*_, scheduled)] = run.pairs()
    run.table.began(scheduled)
    run.stored.play(0, 0, 0)
    run.read()
    return run, scheduled


def act(run: Run, act: str, **given: str) -> None:
    run.stored.act(act, **given)
    run.read()


def finish(run: Run, scheduled: Scheduled, winner: int = 0) -> None:
    """Play game 2 of a series; then both wait again."""
    run.table.began(scheduled)
    run.stored.play(scheduled.pairing, scheduled.first + 1, winner)
    run.table.finished(scheduled)
    run.sit(0, 3)


def test_replay_of_a_game_of_a_series_that_is_on_follows_after_it_once() -> None:
    run, scheduled = begun_series()
    act(run, "replay", game="1.1")
    run.table.wait(10)
    run.table.wait(13)
    assert run.pairs() == []  # they play
    finish(run, scheduled)
    run.read()
    assert run.pairs() == [(0, 3, 1, Scheduled(0, 0))]
    run.table.began(Scheduled(0, 0))
    run.stored.play(0, 0, 1)
    run.table.finished(Scheduled(0, 0))
    run.sit(0, 3)
    run.read()
    assert run.pairs() == []
    assert run.table.tournament.meeting(0).points == (1, 1)


def test_replay_is_not_played_twice_because_results_are_read_late() -> None:
    run, scheduled = begun_series()
    finish(run, scheduled)
    run.stored.act("replay", game="1.1")
    assert run.pairs() == []  # neither the act nor the result was read
    run.read()
    assert run.pairs() == [(0, 3, 1, Scheduled(0, 0))]
    run.table.began(Scheduled(0, 0))
    run.table.finished(Scheduled(0, 0))
    run.sit(0, 3)
    run.read()
    assert run.pairs() == []  # its result may still come
    run.stored.play(0, 0, 1)
    run.read()
    assert run.pairs() == []
    assert run.table.tournament.meeting(0).points == (1, 1)


def test_both_games_are_played_again_as_one_series_with_swapped_sides_at_their_second() -> None:
    run, scheduled = begun_series()
    finish(run, scheduled)
    run.read()
    for game in ("1.2", "1.1"):
        act(run, "replay", game=game)
    assert run.pairs() == [(0, 3, 2, Scheduled(0, 0))]
    run.play(Scheduled(0, 0), 2)
    run.read()
    act(run, "replay", game="1.2")
    run.sit(0, 3)
    assert run.pairs() == [(3, 0, 1, Scheduled(0, 1))]


def test_replay_waits_for_a_later_series_of_the_pairing() -> None:
    run, scheduled = begun_series(games=4)
    finish(run, scheduled)
    [(*_, later)] = run.pairs()
    assert later == Scheduled(0, 2)
    act(run, "replay", game="1.2")
    run.table.wait(10)
    run.table.wait(13)
    assert run.pairs() == []
    run.play(later, 2)
    run.sit(0, 3)
    run.read()
    assert run.pairs() == [(3, 0, 1, Scheduled(0, 1))]


@pytest.mark.parametrize(
    ("game", "found"),
    [
        ("1.1", [(3, 0, 1, Scheduled(0, 1)), (1, 2, 2, Scheduled(1, 0))]),
        ("1.2", [(0, 3, 1, Scheduled(0, 0)), (1, 2, 2, Scheduled(1, 0))]),
    ],
)
@pytest.mark.parametrize("act_name", ["award", "void"])
def test_game_that_was_decided_before_it_began_is_not_played(
    act_name: str, game: str, found: list[tuple[int, int, int, Scheduled]]
) -> None:
    run = four()
    act(run, act_name, game=game, **({"to": "ann"} if act_name == "award" else {}))
    run.sit(0, 1, 2, 3)
    assert run.pairs() == found


def test_pairing_of_which_all_games_were_decided_is_not_played_and_holds_nobody_up() -> None:
    run = four()
    run.sit(0, 1, 2, 3)
    for number in (1, 2):
        act(run, "award", game=f"1.{number}", to="dan")
        act(run, "void", game=f"2.{number}")
    assert [which.pairing for *_, which in run.pairs()] == [2, 3]


def test_next_game_of_a_series_that_was_decided_while_the_first_is_on_is_not_played_again() -> None:
    run = four()
    run.sit(0, 3)
    [(*_, scheduled)] = run.pairs()
    run.table.began(scheduled)
    act(run, "award", game="1.2", to="dan")
    run.play(scheduled, 1)  # and the series ends, or game 2 is ended as soon as it has begun
    run.read()
    run.sit(0, 3)
    assert run.pairs() == []
    assert run.table.tournament.meeting(0).points == (1, 1)


def test_undo_while_a_series_is_on_begins_none_of_its_games_again() -> None:
    """It makes the tournament count anew, which does not know what is being played."""
    run, scheduled = begun_series(games=4)
    act(run, "announce", text="lunch")
    act(run, "undo")
    run.table.wait(10)
    run.table.wait(13)
    assert run.pairs() == []
    finish(run, scheduled)
    act(run, "announce", text="lunch")
    act(run, "undo")
    assert run.pairs() == [(0, 3, 2, Scheduled(0, 2))]
    assert run.table.tournament.meeting(0).points == (2, 0)


def test_undo_of_a_void_game_that_was_not_played_lets_it_be_played_after_the_series() -> None:
    run, scheduled = begun_series()
    act(run, "void", game="1.2")
    run.table.finished(scheduled)
    run.sit(0, 3)
    run.read()
    assert run.pairs() == []
    act(run, "undo")
    assert run.pairs() == [(3, 0, 1, Scheduled(0, 1))]


def test_forbidden_pair_stops_after_the_series_that_is_on() -> None:
    run, scheduled = begun_series(games=4)
    act(run, "forbid", player="ann", other="dan")
    finish(run, scheduled)
    run.read()
    assert run.pairs() == []
    assert run.table.tournament.meeting(0).is_over
    assert run.table.tournament.meeting(0).points == (1, 0)  # what was over when it was forbidden


def test_replay_in_a_series_that_began_under_another_matchmaker_is_played_after_it() -> None:
    run = four()
    run.sit(0, 3)
    run.table.resume(Scheduled(0, 0))
    run.stored.play(0, 0, 0)
    run.read()
    act(run, "replay", game="1.1")
    assert run.pairs() == []
    run.stored.play(0, 1, 0)
    run.table.finished(Scheduled(0, 0))
    run.sit(0, 3)
    for run.now in (0.0, PATIENCE):
        run.read()
    assert run.pairs() == [(0, 3, 1, Scheduled(0, 0))]


def test_award_in_the_moment_of_a_walkover_stands() -> None:
    run = four(walkover=5)
    run.sit(0, 1, 2)
    run.decide()
    run.now = 5.0
    [forfeit] = run.decide()
    assert forfeit == Forfeited(0, [0, 1], [3])
    act(run, "award", game="1.1", to="dan")
    assert run.decide() == [Forfeited(0, [1], [3])]
    run.read(Forfeited(0, [1], [3]))
    assert run.table.tournament.meeting(0).points == (1, 1)


def test_withdrawn_player_that_is_readmitted_plays_its_open_games() -> None:
    run, scheduled = begun_series(games=4)
    act(run, "withdraw", player="dan")
    finish(run, scheduled)
    run.read()
    assert run.pairs() == []
    act(run, "readmit", player="dan")
    assert run.pairs() == [(0, 3, 2, Scheduled(0, 2))]


# Walkovers.


@pytest.mark.parametrize(
    ("here", "entries"),
    [
        ([0, 1, 2, 3], []),
        ([0, 1, 2], [Forfeited(0, [0, 1], [3])]),
        # 0 and 3 are both away, and meet each other first; each loses one pairing at a time.
        ([1, 2], [Forfeited(0, [0, 1], [0, 3])]),
        ([0], [Forfeited(0, [0, 1], [3]), Forfeited(1, [0, 1], [1, 2])]),
        ([], []),  # the network has failed
    ],
)
def test_player_that_is_not_here_in_time_loses_a_pairing(here: list[int], entries: list[Entry]) -> None:
    run = four(walkover=5)
    run.sit(*here)
    assert run.decide() == []
    run.now = 4.9
    assert run.decide() == []
    run.now = 5.0
    assert run.decide() == entries


def test_absence_does_not_count_while_all_clients_are_absent() -> None:
    pairings = [(0, 1, 1), (0, 2, 2), (1, 2, 3)]
    run = Run("random", "ann", "bob", pairings=pairings, walkover=5, house=["random"])
    run.sit(0)
    for run.now in (0.0, 100.0):
        assert run.decide() == []
    run.sit(1)
    for run.now in (101.0, 105.9):
        assert run.decide() == []
    run.now = 106.0
    assert run.decide() == [Forfeited(1, [0, 1], [2])]


def test_absence_of_the_only_client_that_still_takes_part_counts() -> None:
    run = Run("random", "ann", "bob", pairings=[(0, 1, 1), (0, 2, 1)], walkover=5, house=["random"])
    run.read(Withdrawn(2, "by the director"))
    run.sit(0)
    run.decide()
    run.now = 5.0
    assert run.decide() == [Forfeited(0, [0, 1], [1])]


def test_absence_does_not_count_while_the_server_begins_no_games() -> None:
    run = four(walkover=5)
    run.sit(0, 1, 2)
    for run.now, is_paused in ((0.0, False), (4.9, False), (5.0, True), (100.0, True), (100.0, False)):
        assert run.decide(is_paused=is_paused) == []
    run.now = 104.9
    assert run.decide() == []
    run.now = 105.0
    assert run.decide() == [Forfeited(0, [0, 1], [3])]


def test_games_of_a_withdrawn_player_are_not_lost_while_the_server_begins_no_games() -> None:
    run = Run("ann", "bob", pairings=[(0, 1, 1)])
    run.read(Withdrawn(1, "by the director"))
    assert run.decide(is_paused=True) == []
    assert run.decide() == [Forfeited(0, [0, 1], [1])]


def test_players_that_were_here_a_moment_ago_are_remembered_for_as_long_as_a_walkover_takes() -> None:
    run = Run(walkover=5)
    run.names = ("ann", "bob", "cid")
    run.sit(0, 1, 2)
    run.now = 1.0
    run.decide()
    run.table.rise(11)
    run.now = 3.0
    run.decide()
    run.table.rise(12)
    found = [sorted(run.table.seen(now)) for now in (3.0, 6.0, 6.1, 8.0, 8.1)]
    assert found == [["ann", "bob", "cid"], ["ann", "bob", "cid"], ["ann", "cid"], ["ann", "cid"], ["ann"]]


def test_table_keeps_no_name_of_a_player_that_left_without_entering() -> None:
    class Name(str):
        """A text that can be referred to weakly."""

    run = Run()
    name = Name("ann")
    kept = weakref.ref(name)
    run.table.sit(10, name)
    run.table.wait(10)
    run.table.note_absences(0.0)
    run.table.rise(10)
    del name
    run.table.note_absences(RECENT)
    assert kept() is not None
    run.table.note_absences(RECENT + 0.1)
    assert kept() is None


def test_one_pairing_is_lost_at_a_time_and_none_while_the_player_is_back() -> None:
    run = four(walkover=5)
    run.sit(0, 1, 2)
    run.decide()
    run.now = 5.0
    assert run.decide() == [Forfeited(0, [0, 1], [3])]
    run.read(Forfeited(0, [0, 1], [3]))
    run.now = 9.9
    assert run.decide() == []
    run.sit(3)
    run.now = 10.0
    assert run.decide() == []
    run.table.rise(13)
    run.decide()
    run.now = 14.9
    assert run.decide() == []
    run.now = 15.0
    assert run.decide() == [Forfeited(2, [0, 1], [3])]


def test_pairing_does_not_begin_while_its_forfeit_is_being_stored() -> None:
    run = four(walkover=5)
    run.sit(0)
    run.decide()
    run.now = 5.0
    assert Forfeited(0, [0, 1], [3]) in run.decide()
    run.sit(3)
    assert run.pairs() == []


def test_forfeit_that_could_not_be_stored_is_decided_again_at_once() -> None:
    run = four(walkover=5)
    run.sit(0, 1, 2)
    run.decide()
    for run.now in (5.0, 5.1, 6.0):
        assert run.decide() == [Forfeited(0, [0, 1], [3])]
    run.read(Forfeited(0, [0, 1], [3]))
    for run.now in (6.0, 10.9):
        assert run.decide() == []
    run.now = 11.0
    assert run.decide() == [Forfeited(2, [0, 1], [3])]


def test_forfeit_is_decided_again_at_once_if_the_director_added_something_first() -> None:
    run = four(walkover=5)
    run.sit(0, 1, 2)
    run.decide()
    run.now = 5.0
    assert run.decide() == [Forfeited(0, [0, 1], [3])]
    run.read(Withdrawn(1, "by the director"))
    assert run.decide() == [Forfeited(0, [0, 1], [3])]


def test_forfeit_that_could_not_be_stored_holds_nothing_up() -> None:
    run = four(walkover=5)
    run.sit(0)
    run.decide()
    run.now = 5.0
    assert Forfeited(0, [0, 1], [3]) in run.decide()
    run.sit(3)
    assert run.pairs() == []
    run.now = 6.0
    run.decide()
    assert run.table.is_stirred
    assert run.pairs() == [(0, 3, 2, Scheduled(0, 0))]


def test_absence_does_not_count_while_nothing_is_played() -> None:
    run = four(walkover=5)
    run.read(Paused())
    run.sit(0, 1, 2)
    for run.now in (0.0, 100.0):
        assert run.decide() == []
    run.read(Resumed())
    for run.now in (100.0, 104.9):
        assert run.decide() == []


def test_absence_counts_only_from_the_moment_at_which_a_pairing_is_due() -> None:
    """A player that was absent during the break before a round has as long as any other one."""
    run = Run("ann", "bob", "cid", pairings=[(0, 1, 1)], walkover=5, format="swiss", rounds=2)
    run.sit(0, 1)
    for run.now in (0.0, 100.0):
        assert run.decide() == []
    run.read(Paired([(0, 2, 2)]))
    for run.now in (100.0, 104.9):
        assert run.decide() == []
    run.now = 105.0
    assert run.decide() == [Forfeited(1, [0, 1], [2])]


def test_pairing_that_is_on_is_not_lost() -> None:
    run = four(walkover=5)
    run.sit(0, 3)
    [(*_, scheduled)] = run.pairs()
    run.table.began(scheduled)
    run.table.rise(13)
    run.decide()
    run.now = 5.0
    assert [each for each in run.decide() if isinstance(each, Forfeited) and each.pairing == 0] == []


# What is due.


def test_director_adds_one_thing_after_the_other_until_the_end() -> None:
    """Of a gauntlet of three, in which one has gone; all that is added was decided after it was read."""
    run = Run(format="gauntlet", walkover=1, faults=2)
    run.names = ("ann", "bob", "cid")
    run.sit(0, 1, 2)
    seen = list[str]()
    for _ in range(20):
        run.now += 1.0
        entries = [*run.decide()]
        tournament = run.table.tournament
        if not entries and tournament.is_to_begin(run.table.here, run.now):
            entries = [tournament.beginning({}, run.table.seen(run.now))]
        elif not entries and (question := tournament.question(0.0)) is not None:
            entries = [*run.tournaments.pairings(run.table, question())]
        seen += (type(each).__name__ for each in entries)
        if not entries:
            run.table.rise(11)
            for number in (each for *_, each in run.pairs()):
                for game in range(2):
                    run.table.began(number)
                    run.stored.play(number.pairing, game, 0)
                run.table.finished(number)
            run.sit(0, 2)
        if entries and isinstance(entries[-1], Entered):
            entries.append(StartRequested())
        assert run.stored.append(tournament.known, entries)
        run.read()
    assert seen[:5] == ["Entered", "Entered", "Entered", "Begun", "Paired"]
    assert {*seen[5:]} == {"Forfeited", "Ended"}
    assert seen[-1] == "Ended"
    assert run.table.tournament.state == "over"
    assert run.decide() == []


def test_withdrawn_player_returns_only_if_it_sits_down_anew() -> None:
    run = four()
    run.sit(0, 1, 2, 3)
    run.pairs()
    out = Withdrawn(3, "3 faults in a row", may_return=True)
    for _ in range(2):
        assert run.decide() == []
        run.read(out)
        assert run.decide() == []
        run.table.rise(13)
        assert run.decide() == []
        run.sit(3)
        assert run.decide() == [Returned(3)]
        run.read(Returned(3))
        run.table.finished(Scheduled(0, 0))
        run.sit(0, 3)
        run.pairs()


def test_player_that_sat_down_after_its_latest_game_returns_from_a_later_withdrawal() -> None:
    run = four()
    run.sit(0, 1, 2, 3)
    run.pairs()
    run.table.rise(13)
    run.sit(3)
    assert run.decide() == []
    run.read(Withdrawn(3, "3 faults in a row", may_return=True))
    assert run.decide() == [Returned(3)]


def test_games_of_a_withdrawn_player_are_not_lost_while_results_may_come() -> None:
    run = Run("ann", "bob", "cid", pairings=[(0, 1, 1), (0, 2, 1)])
    run.sit(0, 1)
    [(*_, scheduled)] = run.pairs()
    run.table.began(scheduled)
    run.read(Withdrawn(1, "by the director"), Withdrawn(2, "by the director"))
    assert run.decide() == []
    run.stored.play(0, 0, 0)
    run.table.finished(scheduled)
    run.read()
    assert run.decide() == [Forfeited(0, [1], [1]), Forfeited(1, [0, 1], [2])]


def test_end_is_added_once_all_is_played_and_the_format_has_no_more() -> None:
    run = Run("ann", "bob", pairings=[(0, 1, 1)])
    assert run.tournaments.pairings(run.table, []) == []
    run.read(Forfeited(0, [0, 1], [1]))
    assert run.tournaments.pairings(run.table, []) == [Ended()]
    run.read(Paused())
    assert run.tournaments.pairings(run.table, []) == []


@pytest.mark.parametrize("entry", [Paired([(0, 1, 1)]), Ended()])
def test_what_could_not_be_added_is_decided_again(entry: Entry) -> None:
    """As where the director has added a pause meanwhile."""
    run = Run("ann", "bob")
    if isinstance(entry, Ended):
        run.read(Paired([(0, 1, 1)]), Forfeited(0, [0, 1], [1]))
    for _ in range(2):
        question = run.table.tournament.question(0.0)
        assert question is not None
        assert run.tournaments.pairings(run.table, question()) == [entry]
        run.read(Paused(), Resumed())


def test_tournament_that_cannot_be_read_has_an_ordinary_table_and_is_reported_once() -> None:
    run = Run()
    bad = TournamentNews("odd", 'name = "odd"', [], [])
    good = run.stored.news(run.tournaments.known(math.inf)["cup"])
    missing = "the key format is missing; c4gateway tournament new --example shows a file"
    assert run.tournaments.take([bad, good], 0.0) == {"odd": missing}
    assert run.tournaments.take([bad, good], 0.0) == {}
    assert run.tournaments.tables.keys() == {"cup"}
    later = good._replace(entries=[LoggedEntry(1, "{}")])
    assert [*run.tournaments.take([bad, later], 0.0)] == ["cup"]
    assert run.tournaments.tables.keys() == set()


def test_tournament_that_was_deleted_has_no_table() -> None:
    run = Run()
    run.tournaments.take([], 0.0)
    assert (run.tournaments.tables, run.tournaments.known(math.inf)) == ({}, {})


def test_tournament_that_was_created_anew_is_read_whole() -> None:
    run = four()
    again = run.stored.news()._replace(created=7, entries=[], games=[])
    for _ in range(2):
        assert run.tournaments.take([again], 0.0) == {}
    assert run.tournaments.known(math.inf) == {"cup": Known()}
    bad = again._replace(created=8, settings="")
    for _ in range(2):
        run.tournaments.take([bad], 0.0)
    assert run.tournaments.tables == {}
    for _ in range(2):
        run.tournaments.take([again._replace(created=9)], 0.0)
    assert run.tournaments.known(math.inf) == {"cup": Known()}


def test_what_was_read_is_known() -> None:
    run = four()
    run.stored.play(0, 0, 0)
    run.read()
    assert run.tournaments.known(math.inf) == {"cup": Known(6, 1)}


def test_tournament_that_is_over_is_read_until_its_games_are_over_too() -> None:
    run = four()
    run.sit(0, 3)
    [(*_, scheduled)] = run.pairs()
    run.read(Ended(by_director=True))
    assert run.tournaments.known(math.inf) == {"cup": Known(7, 0)}
    run.play(scheduled, 2)
    assert run.tournaments.known(math.inf) == {"cup": Known(7, 0)}
    run.read()
    assert run.tournaments.known(math.inf) == {"cup": COMPLETE}
    run.read()
    assert run.table.tournament.meeting(0).points == (2, 0)
    for _ in range(2):
        run.tournaments.take([run.stored.news()._replace(created=7, entries=[], games=[])], 0.0)
    assert run.tournaments.known(math.inf) == {"cup": Known()}


def test_new_matchmaker_begins_without_seats_and_with_all_games() -> None:
    run = four()
    run.sit(0, 1, 2, 3)
    found = run.pairs()
    run.tournaments.forget_seats()
    assert (run.table.seated(), run.table.is_busy) == ([], False)
    run.sit(0, 1, 2, 3)
    assert run.pairs() == []  # it does not know which results have been stored
    run.read()
    assert run.pairs() == found


def test_nothing_is_paired_before_everything_stored_was_read_in_the_matchmakers_own_epoch() -> None:
    """As where the server starts with results in a journal, or another node paired until now."""
    run = four()
    tournaments, news = Tournaments(), run.stored.news()
    for epoch in (None, tournaments.epoch - 1):
        tournaments.take([news], 0.0, epoch)
        news = run.stored.news(tournaments.known(math.inf)["cup"])
        for number in (0, 3):
            tournaments.tables["cup"].sit(number, run.names[number])
            tournaments.tables["cup"].wait(number)
        assert [*tournaments.tables["cup"].pairs()] == []
    begun = tournaments.epoch
    tournaments.forget_seats()  # while the store is being read
    tournaments.take([news], 0.0, begun)
    run.tournaments = tournaments
    run.sit(0, 3)
    assert run.pairs() == []
    run.stored.play(0, 0, 0)  # which a journal had
    run.read()
    assert run.table.is_stirred
    assert run.pairs() == [(3, 0, 1, Scheduled(0, 1))]


def test_entries_and_pairings_of_a_director_are_those_of_its_log() -> None:
    run = Run(expected=["ann"])
    run.table.sit(1, "bob")
    assert run.decide() == [Entered("ann"), Entered("bob")]
    run.read(Entered("ann"), Entered("bob"), Begun([0, 1]))
    question = run.table.tournament.question(0.0)
    assert question is not None
    assert run.tournaments.pairings(run.table, question()) == [Paired([(0, 1, 1)])]
