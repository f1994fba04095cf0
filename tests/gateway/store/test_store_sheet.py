"""CSV as a data frame and a spreadsheet read it."""

import csv
import io
import re

import pytest
from game_records import game
from hypothesis import given
from hypothesis import strategies as st
from store_world import records

from gateway.game.events import Reason
from gateway.store.formats import sheet
from gateway.store.records import GameRecord, Participant

FORMULA = tuple("=+-@\uff1d\uff0b\uff0d\uff20\t\r")
NO_TEXT = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "n/a", "<NA>", "#N/A", "-nan", "1.#IND"]
"""What pandas takes for a missing value."""


def row_of(record: GameRecord) -> dict[str, str]:
    """Return the cells of a game by their columns, as the csv module reads them."""
    text = "".join(sheet.write([record]))
    [row] = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    return row


def named(name: str) -> str:
    """Return the cell of a player of that name, which is also the cell of a table of that name."""
    row = row_of(game(players=(Participant(name, "nac4"), Participant("bob", "arena")), table=name))
    assert row["first"] == row["table"]
    return row["first"]


def test_row_of_a_game_has_everything_but_its_evidence() -> None:
    assert row_of(game(moves="00201050", series=3, round=2)) == {
        "id": "1",
        "began": "2023-11-14T22:13:20.000Z",
        "ended": "2023-11-14T22:13:21.500Z",
        "first": "alice",
        "first_kind": "nac4",
        "first_house": "0",
        "second": "bob",
        "second_kind": "arena",
        "second_house": "0",
        "moves": "'00201050",
        "winner": "1",
        "reason": "four",
        "first_thought": "120",
        "second_thought": "340",
        "table": "lobby",
        "series": "3",
        "round": "2",
        "counted": "1",
    }


def test_game_without_moves_has_no_empty_cell() -> None:
    assert row_of(game(moves="", winner=None, reason=Reason.STOPPED))["moves"] == "none"


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        *((name, name) for name in ("alice", "Jürgen", "漢字", "_x", "c4bot-17", "aima10", "Mary1")),
        *((name, name) for name in ("decade 2", "a, b", 'say "x"')),
        ("a\tb", r"a\tb"),
        ("\t=1", r"'\t=1"),
        ("a\r\n=1+1", r"a\r\n=1+1"),
        ("a\u202eb", r"a\u202eb"),
        (r"a\u202eb", r"a\\u202eb"),
        ("a;=1+1", r"a\x3b=1+1"),
        ("a\x00", r"a\x00"),
    ],
)
def test_cell_is_the_name_with_what_nobody_sees_and_what_parts_cells_elsewhere_escaped(
    name: str, cell: str
) -> None:
    assert named(name) == cell


@pytest.mark.parametrize(
    "name",
    [
        *(
            "007",
            "1-0",
            "1e5",
            "0x1F",
            ".5",
            "5%",
            "$5",
            "2026-11-22",
            "12:30",
            "1may",
            "\uff11\uff12",
            "(5)",
        ),
        *("MAR1", "sept2", "Oct-4", "march 1 2020", "TRUE", "false", "inf", "Infinity", "'quoted", "*"),
        *NO_TEXT,
        *(f'{sign}HYPERLINK("http://x","y")' for sign in "=+-@\uff1d\uff0b\uff0d\uff20"),
    ],
)
def test_name_that_is_read_as_something_else_has_an_apostrophe_in_front(name: str) -> None:
    assert named(name) == f"'{name}"


names = st.text() | st.text(st.sampled_from("=+-@'\t\r\n;, 0e1\\\u202eaNT")) | st.sampled_from(NO_TEXT)


@pytest.mark.parametrize(
    ("game_id", "cell"),
    [
        ("12", "12"),
        ("0000c-000001", "0000c-000001"),
        ("00001-00000c", "00001-00000c"),
        ("00001-000001", "'00001-000001"),
        ("1234e-000001", "'1234e-000001"),
    ],
)
def test_id_that_is_read_as_a_number_or_a_date_has_an_apostrophe(game_id: str, cell: str) -> None:
    assert row_of(game(game=game_id))["id"] == cell


@given(records(names))
def test_no_cell_is_a_formula_or_nothing_wherever_cells_are_parted(record: GameRecord) -> None:
    *_, line = sheet.write([record])
    by_comma = next(csv.reader([line], strict=True))
    assert len(by_comma) == len(sheet.COLUMNS)
    for cell in [*by_comma, *re.split("[;\t]", line.rstrip("\r\n"))]:
        assert not cell.startswith(FORMULA)
    assert not {*by_comma} & {*NO_TEXT}


@given(names, names)
def test_players_who_differ_have_cells_that_differ(one: str, other: str) -> None:
    assert (named(one) == named(other)) == (one == other)
