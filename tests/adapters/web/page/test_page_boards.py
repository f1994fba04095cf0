"""Final positions, as paths of dots."""

import pytest

from adapters.web.page.boards import HOLES, position


def test_board_has_a_dot_for_each_cell() -> None:
    assert HOLES.count("M") == 42
    assert HOLES.startswith("M7 57h0M7 47h0")


def test_discs_of_a_game_without_four_are_all_lit() -> None:
    found = position("330")
    assert found.discs == ("M37 57h0M7 57h0", "M37 47h0")
    assert (found.faded, found.line) == (("", ""), "")


def test_four_is_lit_with_a_line_and_the_others_are_faded() -> None:
    found = position("0101010")
    assert found.discs == ("M7 57h0M7 47h0M7 37h0M7 27h0", "")
    assert found.faded == ("", "M17 57h0M17 47h0M17 37h0")
    assert found.line == "M7 57L7 27"


@pytest.mark.parametrize("moves", ["33333333", "9", "x"])
def test_moves_that_cannot_be_played_have_an_empty_board(moves: str) -> None:
    assert position(moves) == position("")


@pytest.mark.parametrize(
    ("moves", "line"),
    [("061626453", "M7 57L47 57"), ("01122323363", "M7 57L37 27"), ("65544343303", "M67 57L37 27")],
    ids=["five", "rising", "falling"],
)
def test_line_goes_through_all_discs_in_a_row(moves: str, line: str) -> None:
    assert {*position(moves).line[1:].split("L")} == {*line[1:].split("L")}
