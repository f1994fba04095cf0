"""What the author of a bot asks for: its games, the latest one, and who scored what against whom."""

import json

import pytest
from game_records import drawn, game, numbered
from store_world import keep

from gateway.game.events import Reason
from gateway.store import listing
from gateway.store.commands import NO_GAMES
from gateway.store.comparing import Choice
from gateway.store.database import Database
from gateway.store.games import Filter, NoGameError


def lines(database: Database, wanted: Filter, limit: int = 20) -> list[list[str]]:
    return [line.split(maxsplit=4) for line in listing.list_games(database, wanted, limit)]


def test_games_of_a_player_are_told_of_from_its_side_the_newest_first(database: Database) -> None:
    keep(database, [game(), game("carol", "alice", reason=Reason.TIME), drawn("bob", "alice")])
    head, *found = lines(database, Filter(player="alice"))
    assert " ".join(head).split() == ["game", "ended", "result", "opponent", "how", "moves", "seconds"]
    assert [(row[0], row[2], row[3]) for row in found] == [
        ("3", "drawn", "bob"),
        ("2", "lost", "carol"),
        ("1", "won", "bob"),
    ]
    assert found[1][4].startswith("on time")
    assert found[2][4].split()[-2:] == ["7", "1.500"]


def test_games_that_a_player_lost_are_told_of_alone(database: Database) -> None:
    keep(database, [game(), game("carol", "alice"), game("alice", "carol")])
    assert [row[0] for row in lines(database, Filter(player="alice", lost=True))[1:]] == ["2"]


def test_games_of_all_players_name_both(database: Database) -> None:
    keep(database, [game(), game("carol", "dave")])
    head, newest = lines(database, Filter(), limit=1)
    assert head[:4] == ["game", "ended", "first", "second"]
    assert newest[2:4] == ["carol", "dave"]
    assert newest[4].startswith("carol beat dave with four in a row")


def test_where_there_are_no_games_it_says_so(database: Database) -> None:
    assert list(listing.list_games(database, Filter(player="nobody"), 20)) == ["No such games.\n"]
    with pytest.raises(NoGameError, match="'nobody' has no such game"):
        listing.latest(database, Filter(player="nobody"))


def test_games_as_json_are_those_of_an_export(database: Database) -> None:
    keep(database, [game(), game()])
    found = [json.loads(line) for line in listing.list_games(database, Filter(), 1, as_json=True)]
    assert [each["id"] for each in found] == ["2"]


def test_latest_game_of_a_player_is_found(database: Database) -> None:
    keep(database, [game(), game("carol", "dave"), game("alice", "carol")])
    assert listing.latest(database, Filter()) == "3"
    assert listing.latest(database, Filter(player="dave")) == "2"
    assert listing.latest(database, Filter(player="bob", lost=True)) == "1"


def test_board_is_drawn_after_each_move(database: Database) -> None:
    keep(database, numbered([game(moves="01010")]))
    drawing = "".join(listing.move_by_move(database, "1")).splitlines()
    assert drawing[1].split() == ["1.", "0", "2.", "1", "3.", "0", "4.", "1"]
    assert drawing[7].split() == list("X......" + "XO....." + "XO....." + "XO.....")
    assert drawing[10].split() == ["5.", "0"]
    assert len(drawing) == 2 * 9


def test_standings_of_some_games_leave_out_who_played_too_few(database: Database) -> None:
    keep(database, [game(table="green")] * 2 + [game("carol", "alice", table="green"), game("bob", "dave")])
    text = "".join(listing.some_standings(database, Choice(table="green"), 2))
    assert [row.split()[1] for row in text.splitlines()[1:3]] == ["alice", "bob"]
    assert "of 3 games." in text


def test_standings_without_players_say_whether_there_are_games_at_all(database: Database) -> None:
    def said(choice: Choice, least: int) -> str:
        return "".join(listing.some_standings(database, choice, least)).splitlines()[-1]

    assert said(Choice(), 10) == NO_GAMES
    keep(database, [game(table="green")])
    nobody = "No such games, or no player with so many of them."
    assert (said(Choice(), 10), said(Choice(table="red"), 1)) == (nobody, nobody)


def test_cross_table_has_points_of_each_against_each(database: Database) -> None:
    keep(database, [game(), game(), drawn("bob", "alice"), game("carol", "alice")])
    text = "".join(listing.some_standings(database, Choice(), 1, cross=True))
    table = [row.split() for row in text.partition("played:\n\n")[2].splitlines()]
    assert table[0] == ["player", "1", "2", "3"]
    rows = {row[1]: dict(zip([each[1] for each in table[1:]], row[2:], strict=True)) for row in table[1:]}
    assert rows["alice"] == {"alice": "-", "bob": "2.5/3", "carol": "0/1"}
    assert rows["bob"]["alice"] == "0.5/3"
    said = json.loads("".join(listing.some_standings(database, Choice(), 1, cross=True, as_json=True)))
    assert {"name": "carol", "opponent": "alice", "games": 1, "won": 1, "drawn": 0, "lost": 0} in said[
        "cross"
    ]
