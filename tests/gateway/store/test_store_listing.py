"""What the author of a bot asks for: its games, and the latest one."""

import json

import pytest
from game_records import drawn, game, numbered
from store_world import keep

from gateway.commands import stored_games as commands
from gateway.game.events import Reason
from gateway.store.database import Database
from gateway.store.games import Filter, NoGameError


def lines(database: Database, wanted: Filter, limit: int = 20) -> list[list[str]]:
    text = "".join(commands.list_games(database, wanted, limit))
    return [line.split(maxsplit=4) for line in text.splitlines()]


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
    assert [row[0] for row in lines(database, Filter(player="alice", result="lost"))[1:]] == ["2"]


def test_games_of_all_players_name_both_and_are_lines_of_an_export_as_json(database: Database) -> None:
    keep(database, [game(), game("carol", "dave")])
    head, newest = lines(database, Filter(), limit=1)
    assert head[:4] == ["game", "ended", "first", "second"]
    assert newest[2:4] == ["carol", "dave"]
    assert newest[4].startswith("carol beat dave with four in a row")
    [line] = commands.list_games(database, Filter(), 1, as_json=True)
    assert json.loads(line)["id"] == "2"


def test_latest_game_of_a_player_is_found_or_there_is_none(database: Database) -> None:
    keep(database, [game(), game("carol", "dave"), game("alice", "carol")])
    assert commands.latest(database, Filter()) == "3"
    assert commands.latest(database, Filter(player="dave")) == "2"
    assert commands.latest(database, Filter(player="bob", result="lost")) == "1"
    with pytest.raises(NoGameError, match="'alice' has no such game"):
        commands.latest(database, Filter(player="alice", result="lost"))
    with pytest.raises(NoGameError, match="there is no game 9"):
        list(commands.show(database, "9"))
    wanted = Filter(player="bob", reason=Reason.LEFT)
    assert list(commands.list_games(database, wanted, 20)) == ["No such games.\n"]


def test_board_is_drawn_after_each_move(database: Database) -> None:
    keep(database, numbered([game(moves="01010")]))
    drawing = "".join(commands.move_by_move(database, "1")).splitlines()
    assert drawing[1].split() == ["1.", "0", "2.", "1", "3.", "0", "4.", "1"]
    assert drawing[7].split() == list("X......" + "XO....." + "XO....." + "XO.....")
    assert drawing[10].split() == ["5.", "0"]
    assert len(drawing) == 2 * 9
