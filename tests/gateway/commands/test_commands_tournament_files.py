"""The commands ``c4gateway tournament grades`` and ``c4gateway tournament export``."""

import csv
import io
import json
import os
import re
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from empty_database import open_empty
from tournament_news import SWISS, SWISS_GAMES, add
from worlds.tournaments import file_of

from gateway.access.roster import Member
from gateway.commands.roster import with_roster
from gateway.store import tournaments
from gateway.store.database import open_to_read, open_to_write
from gateway.tournament.report import described
from gateway.tournament.tournament import Tournament

DATABASE = Path("c4gateway.db")
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def cup() -> None:
    """A Swiss tournament in its second round, with a roster."""
    with closing(open_empty(DATABASE)) as database:
        text = with_roster(
            file_of(name="Cup", format="swiss", rounds=3, tie_breaks=["faults"]),
            [Member("bob", "10b"), Member("=1+1", "x"), Member("ann", "10a")],
        )
        add(database, text, SWISS, SWISS_GAMES)


def report() -> dict[str, object]:
    with closing(open_to_read(str(DATABASE))) as database, database.reading() as connection:
        return described(Tournament.of(*tournaments.news(connection, {}, "cup")), time.time())


@pytest.mark.usefixtures("cup")
def test_grades_are_a_sheet_with_a_line_for_each_player_and_each_absent_name(run: Run) -> None:
    status, out, err = run("grades", "CUP")
    assert (status, err) == (0, "")
    head, *lines = csv.reader(io.StringIO(out))
    rows = [dict(zip(head, line, strict=True)) for line in lines]
    assert [(row["rank"], row["name"], row["group"], row["state"]) for row in rows] == [
        ("1", "ann", "'10a", "played"),
        ("1", "cat", "", "played"),
        ("1", "eve", "", "played"),
        ("4", "bob", "'10b", "played"),
        ("4", "dan", "", "played"),
        ("", "'=1+1", "x", "absent"),
    ]
    assert (rows[3]["illegal"], rows[4]["walkover"], rows[4]["withdrawn"]) == ("1", "1", "'3 faults in a row")
    assert {rows[5][name] for name in ("points", "games", "won", "lost", "faults", "crash")} == {""}


@pytest.mark.usefixtures("cup")
def test_reference_is_any_player_of_the_tournament(run: Run) -> None:
    _, out, _ = run("grades", "cup", "--reference", "ann")
    head, *lines = csv.reader(io.StringIO(out))
    at = head.index("points against ann")
    assert head[at + 1] == "games against ann"
    assert {line[1]: line[at : at + 2] for line in lines}["bob"] == ["0", "2"]
    error = "c4gateway: error: 'anne' takes no part in 'Cup'; did you mean 'ann'?\n"
    assert run("grades", "cup", "--reference", "anne") == (1, "", error)


@pytest.mark.usefixtures("cup")
def test_games_are_exported_by_round(run: Run) -> None:
    _, out, _ = run("export", "cup")
    assert re.findall(r'\[Event "(.*)"\]', out) == ["Cup"] * 5
    assert re.findall(r'\[Round "(.*)"\]', out) == ["1.1.1", "1.1.2", "1.2.1", "1.2.2", "2.4.1"]
    assert re.findall(r'\[Result "(.*)"\]\n\[Termination "walkover"', out) == ["0-1"]
    assert re.findall(r'\[GameId "(.*)"\]', out) == ["1", "2", "4", "5"]
    _, out, _ = run("export", "cup", "--round", "2", "--format", "jsonl")
    assert [json.loads(line)["id"] for line in out.splitlines()] == ["5"]
    _, out, _ = run("export", "cup", "--round", "1", "--stage", "1", "--format", "csv")
    assert [line[0] for line in csv.reader(io.StringIO(out))] == ["id", "1", "2", "4"]
    assert run("export", "cup", "--stage", "2") == (0, "", "")
    assert json.loads(run("export", "cup", "--format", "json")[1]) == json.loads(json.dumps(report()))


@pytest.mark.usefixtures("cup")
def test_export_writes_a_new_file_and_replaces_none(run: Run, folder: Path) -> None:
    assert run("export", "cup", "-o", "cup.pgn") == (0, "", f"{folder / 'cup.pgn'} is written\n")
    assert Path("cup.pgn").read_text() == run("export", "cup")[1]
    assert run("export", "cup", "-o", "cup.pgn") == (1, "", "c4gateway: error: cup.pgn: File exists\n")


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["export", "cup", "--round", "3"], "'Cup' has 2 rounds so far"),
        (
            ["export", "cup", "--format", "json", "--round", "1"],
            "the report is whole: --round and --stage choose",
        ),
        (["export", "cap"], "there is no tournament 'cap'; did you mean 'cup'?"),
        (["grades", "cap"], "there is no tournament 'cap'; did you mean 'cup'?"),
    ],
)
@pytest.mark.usefixtures("cup")
def test_what_cannot_be_exported_is_an_error_of_one_line(run: Run, words: list[str], error: str) -> None:
    status, out, err = run(*words)
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert err.startswith(f"c4gateway: error: {error}")


@pytest.mark.parametrize("words", [["grades", "cup"], ["export", "cup"]])
def test_database_that_does_not_exist_is_an_error_and_is_not_created(
    run: Run, folder: Path, words: list[str]
) -> None:
    error = f"{folder / DATABASE}: No such file or directory; --db says which database"
    assert run(*words) == (1, "", f"c4gateway: error: {error}\n")
    assert os.listdir(folder) == []


@pytest.mark.usefixtures("cup")
def test_game_that_was_removed_is_left_out(run: Run) -> None:
    with closing(open_to_write(str(DATABASE))) as database, database.writing() as connection:
        connection.exec_driver_sql("UPDATE games SET game = 'zzzzz-000001' WHERE game = '2'")
    assert '"1.1.2"' in run("export", "cup")[1]
