"""What is counted of games, and how it looks."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace

import pytest
from match_games import played

from gateway.game.events import Reason
from gateway.match.report import Report
from gateway.match.sprt import Sprt
from gateway.match.tally import ENOUGH, MatchTally


def report(tally: MatchTally, test: Sprt | None = None, failed: Mapping[int, str] | None = None) -> Report:
    return Report(tally, test, games=4, left=0, played=4, seconds=2.0, failed=failed or {})


@pytest.fixture
def tally() -> MatchTally:
    return MatchTally(["a", "b"], [(0, 1)])


def test_pairs_are_counted_once_both_games_are_over_by_the_points_of_the_first_named(
    tally: MatchTally,
) -> None:
    assert Report(tally, Sprt(), games=4, left=4, played=0, seconds=0.0).lines(2)  # of no games
    for number, points in ((0, 1.0), (1, 1.0), (2, 1.0), (3, 0.0), (4, 0.5), (5, 0.0), (6, 1.0)):
        tally.add(played(number, points))
    assert tally.meetings[0].cells == [0, 0, 1, 1, 1]
    assert tally.games == 7
    tally.add(played(7, 0.0))
    assert tally.meetings[0].cells == [0, 0, 1, 1, 2]
    assert tally.different == 4  # the same moves with other colours are another game


def test_players_are_counted_with_their_colours_times_and_faults(tally: MatchTally) -> None:
    tally.add(played(0, 1.0, thought=(40, 30)))
    tally.add(played(1, 1.0, moves="32", reason=Reason.TIME, thought=(10, 500)))
    a, b = tally.players
    assert (a.total.won, a.total.lost, a.by_colour[0].won, a.by_colour[0].games) == (1, 1, 1, 1)
    assert (a.thought, a.moves, a.faults[Reason.TIME]) == (540, 5, 1)
    assert (b.thought, b.moves, b.faults.total()) == (40, 4, 0)
    assert tally.cross[0, 1].points == tally.cross[1, 0].points == 1
    tally.add(replace(played(2), opening=3))  # whose moves are nobody's
    assert [each.moves for each in tally.players] == [7, 6]


def test_pairs_of_which_most_repeat_each_other_prove_nothing(tally: MatchTally) -> None:
    test = Sprt(0, 300)
    for number in range(2 * ENOUGH - 2):
        tally.add(played(number, 1.0 - number % 2))
    assert tally.meetings[0].repeats == ""
    for number in (2 * ENOUGH - 2, 2 * ENOUGH - 1):
        tally.add(played(number, 1.0 - number % 2))
    assert tally.meetings[0].repeats == "most pairs of games repeat each other: of 10 only 1 differ"
    (*_, said) = report(tally, test).lines(10)
    assert said.startswith("SPRT logistic elo0=0 elo1=300: refused, because most pairs of games repeat")
    assert "refused" in report(tally, test).as_object()["sprt"]


def test_table_shows_the_best_first(tally: MatchTally) -> None:
    for number, points in ((0, 1.0), (1, 0.0), (2, 1.0), (3, 0.5)):
        tally.add(played(number, points))
    difference, _, head, first, second, empty, games = report(tally).lines(50)
    assert difference.startswith("a against b: Elo +338.0 (95 %: ")
    assert head.split()[:3] == ["player", "games", "points"]
    assert [line.split()[:2] for line in (first, second)] == [["1", "a"], ["2", "b"]]
    assert empty == ""
    assert games == (
        "4 of 4 games, 3 of them different; first movers scored 62.5 %, 25.0 % drawn; 2.0 games/s"
    )
    assert report(tally).details()[-1].split() == ["b", "0.5/2", "-"]


def test_object_is_json_whoever_won_everything(tally: MatchTally) -> None:
    for number in range(4):
        tally.add(played(number, 1.0 - number % 2))
    found = json.loads(json.dumps(report(tally, Sprt()).as_object(), allow_nan=False))
    assert found["players"][0]["better_than"] == {"b": None}
    assert found["pairings"][0]["pairs"] == [0, 0, 0, 0, 2]
    assert found["pairings"][0]["normalized_elo"] is None
    assert found["pairings"][0]["superiority"] is None


def test_no_likelihood_is_shown_as_certain(tally: MatchTally) -> None:
    for number in range(100):
        tally.add(played(number, 0.5 if number == 0 else 1.0 - number % 2))
    (said, *_) = report(tally).lines(10)
    assert ", better with 99.9 %" in said
    found = report(tally).as_object()
    assert [each["better_than"] for each in found["players"]] == [{"b": 0.999}, {"a": 0.001}]
    assert found["pairings"][0]["superiority"] == 0.999
    assert " 99.9 % " in report(three(*[(1.0, 0.0)] * 100)).lines(100)[2]


@pytest.mark.parametrize("results", [(1.0, 0.0), (0.5, 0.5), (1.0, 0.0, 1.0, 0.0)])
def test_pairs_that_went_alike_do_not_say_who_is_better(
    tally: MatchTally, results: tuple[float, ...]
) -> None:
    for number, points in enumerate(results):
        tally.add(played(number, points))
    (said, *_) = report(tally).lines(10)
    assert said.startswith("a against b: Elo ")
    assert " better " not in said


def three(*pairs: tuple[float, float]) -> MatchTally:
    """Return what is counted where a won both games against each of b and c, who played these pairs."""
    tally = MatchTally(["a", "b", "c"], [(0, 1), (0, 2), (1, 2)])
    for pairing in (0, 1):
        tally.add(played(0, 1.0, pairing))
        tally.add(played(1, 0.0, pairing))
    for number, points in enumerate(each for pair in pairs for each in pair):
        tally.add(played(number, points, 2))
    return tally


def test_elo_of_two_players_is_one_difference_and_without_the_noise_of_floats(tally: MatchTally) -> None:
    for number, points in enumerate((1.0, 1.0, 1.0, 1.0, 1.0, 0.5, 1.0, 0.5, 0.5, 1.0, 0.5, 1.0)):
        tally.add(played(number, points))
    found = report(tally, Sprt()).as_object()
    one, two = found["players"]
    assert (one["elo"], two["elo"], found["pairings"][0]["elo"]) == (0.0, 0.0, 0.0)
    assert one["interval"] == found["pairings"][0]["interval"]
    assert two["interval"] == [-one["interval"][1], -one["interval"][0]]
    figures = json.dumps(found)
    assert not re.findall(r"-0\.0\b|\.[0-9]{5}|[0-9]e-", figures)


def test_player_that_failed_has_no_result_and_its_games_say_nothing_of_the_others() -> None:
    tally = three((1.0, 0.5), (0.5, 0.5))
    head, first, *_ = report(tally).lines(50)
    assert head.split()[:5] == ["player", "Elo", "95", "%", "better"]
    assert first.split()[:2] == ["1", "a"]
    said = [line.partition(":")[0] for line in report(tally).details()[:3]]
    assert said == ["a against b", "a against c", "b against c"]
    failed = report(tally, failed={0: "left 3 of 4 games"})
    _, first, second, last, *_, said = failed.lines(50)
    assert [line.split()[1:3] for line in (first, second)] == [["b", "+44"], ["c", "-44"]]
    assert last.split()[1:4] == ["a", "-", "-"]
    assert said == "no result for a: left 3 of 4 games"
    assert failed.details()[0] == "a against b: no result"
    found = failed.as_object()
    assert [(each["elo"] is None, each["no_result"]) for each in found["players"]] == [
        (True, "left 3 of 4 games"),
        (False, None),
        (False, None),
    ]
    assert found["pairings"][0] == {"players": ["a", "b"], "pairs": [0, 0, 0, 0, 1]}


def test_test_of_a_player_that_failed_has_no_verdict(tally: MatchTally) -> None:
    test, failed = Sprt(0, 300), {1: "left 30 of 30 games"}
    for number in range(30):
        tally.add(played(number, 1.0 - number % 2, moves=f"0101010{number}"))
    first, *_, said, verdict = report(tally, test, failed).lines(10)
    assert (first, said) == ("a against b: no result", "no result for b: left 30 of 30 games")
    assert verdict == "SPRT logistic elo0=0 elo1=300: no verdict"
    assert report(tally, test, failed).as_object()["sprt"]["refused"] == "a player failed"


def test_games_left_by_one_colour_weigh_as_much_as_the_others(tally: MatchTally) -> None:
    """A player that leaves whenever it moves second has left half of its games, of however many."""
    for number in range(0, 20, 2):
        tally.add(played(number, reason=Reason.LEFT, moves="01"))
        assert tally.players[1].leaves_most
    for number in range(1, 15, 2):
        tally.add(played(number))
        assert tally.players[1].leaves_most
    assert tally.players[1].left == [0, 10]
    assert tally.players[1].goes_on_leaving
    assert not tally.players[0].leaves_most
