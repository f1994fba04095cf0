"""Which name somebody may have meant."""

import pytest

from gateway.game.text import COMPARED, did_you_mean


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        ("Robot", "; did you mean 'robot'?"),
        ("robto", "; did you mean 'robot'?"),
        ("ROBOTX", "; did you mean 'robot'?"),
        ("ANN", "; did you mean 'Ann' or 'ann'?"),
        ("it's-me", "; did you mean 'it\\'s me'?"),
        ("zzz", ""),
        ("", ""),
    ],
)
def test_names_that_are_similar_are_proposed(typed: str, hint: str) -> None:
    assert did_you_mean(typed, ["robot", "Ann", "ann", "it's me", "b\x1bb"]) == hint


def test_proposed_name_controls_no_terminal() -> None:
    assert did_you_mean("bb", ["b\x1bb"]) == r"; did you mean 'b\x1bb'?"


def test_among_very_many_names_case_is_looked_at_in_all_and_letters_in_the_first() -> None:
    many = [f"{number:0>40}" for number in range(COMPARED)]
    assert did_you_mean("ROBOT", [*many, "robot"]) == "; did you mean 'robot'?"
    assert did_you_mean("robto", [*many, "robot"]) == ""
