"""The time of a move beside house players that think: the arithmetic, and one small run."""

import re

import pytest

from conformance.__main__ import main
from conformance.dialects.script import DRAWN
from conformance.lab import house, house_hog, house_load
from conformance.lab.figures import percentile
from conformance.lab.house import HouseGames


@pytest.mark.parametrize(("percent", "value"), [(1, 1), (50, 50), (99, 99), (100, 100)])
def test_percentile_is_a_value_that_so_many_do_not_exceed(percent: int, value: float) -> None:
    assert percentile([float(number) for number in range(100, 0, -1)], percent) == value


def test_percentiles_of_one_value_are_that_value() -> None:
    assert [percentile([3.0], percent) for percent in (1, 50, 99, 100)] == [3.0] * 4


@pytest.mark.parametrize("slow", [1, 2])
def test_one_slow_move_in_a_hundred_is_good_and_two_are_not(slow: int) -> None:
    times = [1.0] * (100 - slow) + [20.1] * slow
    assert any(row.is_missed for row in house_load.rows(HouseGames(), times)) == (slow > 1)


def test_rows_name_games_moves_and_milliseconds() -> None:
    games = HouseGames()
    games.on, games.finished, games.answers = 2, 3, 4
    found = {f"{row.part} {row.what}": row.found for row in house_load.rows(games, [1.0, 2.0])}
    assert found == {
        "games on": 2,
        "games finished": 3,
        "games house moves": 4,
        "moves measured": 2,
        "moves p50": 1.0,
        "moves p99": 2.0,
        "moves max": 2.0,
    }


def figures(out: str) -> dict[str, float]:
    """Return what is printed, by part and name."""
    return {name: float(value) for name, value in re.findall(r"^(.*?) {2,}([0-9.]+)", out, re.MULTILINE)}


def test_timed_game_fills_the_board() -> None:
    assert sorted(DRAWN.moves) == sorted("0123456" * 6)


@pytest.mark.lab
def test_small_run_measures_moves_while_games_are_on(capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["house-load", "--games", "2", "--seconds", "1"])
    found = figures(capsys.readouterr().out)
    assert found["games: on"] == 2
    assert found["moves: measured"] > 42
    assert 0 < found["moves: p50"] <= found["moves: p99"] <= found["moves: max"]
    assert status == (0 if found["moves: p99"] <= 20 else 1)  # how fast it is here is no matter of this test


@pytest.mark.lab
def test_player_that_is_not_there_is_asked_about(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(house, "PATIENCE", 1.0)
    assert main(["house-load", "--games", "1", "--player", "nosuch"]) == 1
    assert capsys.readouterr().err == (
        "conformance: 0 of 1 games began within 1 s; is 'nosuch' a player of the server's own?\n"
    )


@pytest.mark.parametrize("words", [["--games", "0"], ["--seconds", "-1"], ["more"]])
def test_bad_usage_is_status_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["house-load", *words]) == 2
    assert capsys.readouterr().err.endswith("(--help tells more)\n")


@pytest.mark.lab
def test_hog_is_refused_and_another_is_answered(capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["house-hog", "--wishes", "8", "--player", "random", "--seconds", "0.5"])
    found = figures(capsys.readouterr().out)
    assert found["hog: refusals"] > 0
    assert found["hog: games"] + found["hog: refusals"] == 8
    assert 0 < found["moves: median"] <= found["moves: worst"]
    assert status == (0 if found["moves: worst"] <= 1000 else 1)


@pytest.mark.parametrize("worst", [1000.0, 1000.1])
def test_one_slow_answer_is_not_good(worst: float) -> None:
    found = house_hog.rows(house_hog.Hog(1), [1.0] * 1000 + [worst])
    assert any(row.is_missed for row in found) == (worst > 1000)
