"""What ``standings`` and ``grades`` print, and in which order players stand."""

import csv
import io
import json

import pytest
from game_records import BEGAN, drawn, game
from store_world import keep

from gateway.commands.standings import NO_GAMES, Wanted, grades, standings
from gateway.game.events import Reason
from gateway.store import StoreError
from gateway.store.database import Database
from gateway.store.records import Participant
from gateway.store.statistics import Choice

FORMULA = '=HYPERLINK("http://x";"y")'


def ranks(database: Database, wanted: Wanted) -> list[tuple[str, str]]:
    """Return the ranks and names in the order of the rows."""
    found = csv.DictReader(io.StringIO("".join(standings(database, wanted))))
    return [(row["rank"], row["player"]) for row in found]


def test_standings_are_a_table_in_the_order_of_strength(database: Database) -> None:
    keep(database, [game("carol", "a long name")] * 3 + [drawn("carol", "dave")])
    head, *rows = "".join(standings(database, Wanted())).splitlines()
    words = "player kind rating +- games won drawn lost points first second s/move"
    assert " ".join(head.split()) == words
    assert [row.split()[:2] for row in rows[:3]] == [["1", "carol"], ["2", "dave"], ["3", "a"]]
    assert rows[0].split()[5:] == ["4", "3", "1", "0", "3.5", "75.0", "%", "-", "0.015"]
    assert "First movers won 75.0 %, drew 25.0 % and lost 0.0 % of 4 games." in rows[-1]
    for order, by in (("points", "points"), ("games", "rating less +-")):
        assert f"The rank is by {by}: " in "".join(standings(database, Wanted(order=order)))
    at_least_3 = "".join(standings(database, Wanted(Choice(table="lobby"), 3))).splitlines()
    assert [row.split()[1] for row in at_least_3[1:3]] == ["carol", "a"]
    assert at_least_3[3] == ""
    assert "of 4 games." in at_least_3[-1]


def test_standings_as_json_say_all_that_is_kept(database: Database) -> None:
    keep(database, [game(), drawn("bob", "alice")])
    found = json.loads("".join(standings(database, Wanted(form="json"))))
    assert found["first_movers"] == {"games": 2, "won": 1, "drawn": 1, "lost": 0}
    alice, bob = found["standings"]
    assert (alice["rank"], alice["name"], bob["rank"], bob["name"]) == (1, "alice", 2, "bob")
    assert (alice["points"], bob["points"]) == (1.5, 0.5)
    assert alice["first"] == {"games": 1, "won": 1, "drawn": 0, "lost": 0}
    assert alice["second"] == {"games": 1, "won": 0, "drawn": 1, "lost": 0}
    assert alice["thought"] == 120 + 340
    assert alice["rating"]["sure"] == alice["rating"]["mean"] - 3 * alice["rating"]["deviation"]


def test_standings_without_players_say_whether_there_are_games_at_all(database: Database) -> None:
    def said(choice: Choice, least: int) -> str:
        return "".join(standings(database, Wanted(choice, least))).splitlines()[-1]

    assert said(Choice(), 10) == NO_GAMES
    keep(database, [game(table="green")])
    nobody = "No such games, or no player with so many of them."
    assert (said(Choice(), 10), said(Choice(since=BEGAN + 9999), 1)) == (nobody, nobody)


def test_cross_table_has_points_of_each_against_each(database: Database) -> None:
    keep(database, [game(), game(), drawn("bob", "alice"), game("carol", "alice")])
    text = "".join(standings(database, Wanted(), cross=True))
    table = [row.split() for row in text.partition("played:\n\n")[2].splitlines()]
    assert table[0] == ["player", "1", "2", "3"]
    rows = {row[1]: dict(zip([each[1] for each in table[1:]], row[2:], strict=True)) for row in table[1:]}
    assert rows["alice"] == {"alice": "-", "bob": "2.5/3", "carol": "0/1"}
    assert rows["bob"]["alice"] == "0.5/3"
    said = json.loads("".join(standings(database, Wanted(form="json"), cross=True)))
    assert {"name": "carol", "opponent": "alice", "games": 1, "won": 1, "drawn": 0, "lost": 0} in said[
        "cross"
    ]


def test_those_who_are_equal_share_a_rank(database: Database) -> None:
    keep(database, [game("a", "x"), game("b", "y"), drawn("c", "z")])
    by_points = ranks(database, Wanted(order="points", form="csv"))
    assert by_points == [("1", "a"), ("1", "b"), ("3", "c"), ("3", "z"), ("5", "x"), ("5", "y")]
    assert ranks(database, Wanted(form="csv")) == by_points
    found = json.loads("".join(standings(database, Wanted(order="points", form="json"))))["standings"]
    assert [each["rank"] for each in found] == [1, 1, 3, 3, 5, 5]


@pytest.mark.parametrize(
    ("order", "names"),
    [
        ("points", ["busy", "Sure", "a", "z"]),  # 3, 2, 1 and 0 points
        ("share", ["Sure", "busy", "a", "z"]),  # 1, 3/5, 1/2 and 0
        ("games", ["busy", "Sure", "a", "z"]),
        ("name", ["a", "busy", "Sure", "z"]),
        ("time", ["z", "a", "busy", "Sure"]),
    ],
)
def test_order_is_the_one_that_is_asked_for(database: Database, order: str, names: list[str]) -> None:
    lost = {"winner": 1, "reason": Reason.TIME}
    keep(
        database, [game("busy", "p", thought=(40, 0))] * 3 + [game("busy", "q", thought=(40, 0), **lost)] * 2
    )
    keep(database, [game("Sure", "p", thought=(4, 0))] * 2, start=6)
    keep(database, [game("a", "q", thought=(400, 0)), game("a", "q", thought=(400, 0), **lost)], start=8)
    keep(database, [game("z", "p", thought=(4000, 0), **lost)], start=10)
    found = ranks(database, Wanted(order=order, form="csv"))
    assert [name for _, name in found if name in names] == names
    if order in ("games", "name", "time"):
        assert sorted(found, key=lambda row: int(row[0])) == ranks(database, Wanted(form="csv"))


def test_table_is_found_in_any_case_and_the_lobby_by_its_name(database: Database) -> None:
    keep(
        database, [game("a", "b", table="Salle \u00c9"), game("c", "d", table="SALLE \u00e9"), game("e", "f")]
    )
    assert {name for _, name in ranks(database, Wanted(Choice(table="salle \u00e9"), form="csv"))} == {
        *"abcd"
    }
    assert {name for _, name in ranks(database, Wanted(Choice(table="Lobby"), form="csv"))} == {*"ef"}


@pytest.mark.parametrize(("table", "meant"), [("gren", "; did you mean 'Green'?"), ("blue", "")])
def test_table_that_no_game_has_is_an_error_with_the_one_that_was_meant(
    database: Database, table: str, meant: str
) -> None:
    keep(database, [game(table="Green")])
    for made in (standings, grades):
        with pytest.raises(StoreError) as error:
            list(made(database, Wanted(Choice(table=table))))
        assert str(error.value) == f"no stored game was played at a table '{table}'{meant}"


def test_standings_as_csv_have_all_figures_and_no_formula(database: Database) -> None:
    keep(database, [game(FORMULA, "bob"), drawn("bob", FORMULA)])
    rows = [*csv.DictReader(io.StringIO("".join(standings(database, Wanted(form="csv")))))]
    assert rows[0]["player"] == '\'=HYPERLINK("http://x"\\x3b"y")'
    numbers = {name: value for name, value in rows[0].items() if name not in ("player", "kind")}
    assert all(float(value) is not None for value in numbers.values())
    assert (numbers["games"], numbers["won"], numbers["points"]) == ("2", "1", "1.5")
    assert (numbers["first_games"], numbers["second_drawn"], numbers["thought"]) == ("1", "1", "460")
    assert float(numbers["sure"]) == pytest.approx(
        float(numbers["mean"]) - 3 * float(numbers["deviation"]), abs=0.001
    )


def test_grades_are_ranks_points_and_losses_by_how_they_came_about(database: Database) -> None:
    aima = Participant("aima", "house", house=True)
    lost = [game("ann", "bob", winner=1, reason=why) for why in (Reason.TIME, Reason.LEFT, Reason.ILLEGAL)]
    keep(database, [*lost, game("ann", "bob"), game(players=(Participant("ann", "nac4"), aima), winner=1)])
    head, *rows = "".join(grades(database, Wanted(order="points"))).splitlines()
    assert " ".join(head.split()) == "player points games won drawn lost four illegal time left"
    assert rows[0].split() == ["1", "bob", "3", "4", "3", "0", "1", "1", "0", "0", "0"]
    assert rows[1].split() == ["2", "ann", "1", "5", "1", "0", "4", "1", "1", "1", "1"]
    assert rows[2] == ""
    table = [*csv.DictReader(io.StringIO("".join(grades(database, Wanted(order="points", form="csv")))))]
    assert [row["player"] for row in table] == ["bob", "ann"]
    assert table[1]["lost_illegal"] == "1"
    nobody = "".join(grades(database, Wanted(Choice(since=BEGAN + 10000))))
    assert nobody.endswith("No such games, or no player with so many of them.\n")
    assert "The rank is by points: " in "".join(grades(database, Wanted(order="points")))
