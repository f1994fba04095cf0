"""Players found by a part of their names, and in the order of their games."""

import pytest
from game_records import game
from store_world import keep_only

from gateway.store import names
from gateway.store.database import Database
from gateway.store.names import Named


def played(database: Database, *pairs: tuple[str, str]) -> None:
    keep_only(database, [game(*pair) for pair in pairs])


def found(database: Database, text: str, limit: int = 9) -> list[str]:
    with database.reading() as connection:
        return [each.name for each in names.containing(connection, text, limit)]


def test_the_name_itself_comes_first_then_those_that_begin_so_then_the_most_active(
    database: Database,
) -> None:
    pairs = [("joanna", "anna"), ("joanna", "Anne"), ("joanna", "Anne"), ("Ann", "bob")]
    played(database, *pairs)
    assert found(database, "Ann") == ["Ann", "Anne", "anna", "joanna"]
    assert found(database, "ann", 2) == ["Ann", "Anne"]
    assert found(database, "zoe") == []
    with database.reading() as connection:
        assert names.containing(connection, "joa", 1) == [Named("joanna", "nac4", 3)]


@pytest.mark.parametrize("text", ["%", "_", "\\", "50%", "a\0b", "É", "straße"])
def test_signs_of_patterns_and_any_letters_are_only_themselves(database: Database, text: str) -> None:
    played(database, ("plain", f"x{text.lower()}y"))
    assert found(database, text) == [f"x{text.lower()}y"]


def test_most_active_players_and_most_frequent_opponents_come_first(database: Database) -> None:
    played(database, ("ann", "bob"), ("cat", "ann"), ("ann", "cat"), ("bob", "bob"))
    with database.reading() as connection:
        assert names.most_active(connection) == ["ann", "bob", "cat"]
        assert names.most_active(connection, 1) == ["ann"]
        assert names.opponents(connection, "ann", 9) == ["cat", "bob"]
        assert names.opponents(connection, "nobody", 9) == []
        assert names.known(connection, ["ann", "zoe", "half \ud83d"]) == ["ann"]
