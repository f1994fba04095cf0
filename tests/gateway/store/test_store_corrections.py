"""What an operator corrects in stored games."""

import pytest
from game_records import BEGAN, drawn, game, numbered
from store_world import keep

from gateway.commands import stored_games as commands
from gateway.commands.standings import Wanted
from gateway.commands.standings import standings as printed
from gateway.game.events import Reason
from gateway.store import StoreError, games, statistics, storing
from gateway.store.corrections import rename, void
from gateway.store.database import Database
from gateway.store.games import Filter
from gateway.store.records import Participant
from gateway.store.statistics import Choice, Score


def standings(database: Database) -> list[tuple[str, int]]:
    with database.reading() as connection:
        found, _ = statistics.standings(connection)
    return [(row.standing.name, row.standing.record.total.games) for row in found]


def ratings(database: Database) -> str:
    return "".join(printed(database, Wanted(form="json")))


def test_game_that_is_void_is_kept_and_counts_nowhere(database: Database) -> None:
    keep(database, numbered([game(), drawn("bob", "carol"), game("carol", "alice")]))
    assert void(database, "2").startswith("game 2 is kept and counts no more")
    for number, words in (("2", "game 2 counts no more already"), ("4", "game 4 is not stored")):
        with pytest.raises(StoreError, match=words):
            void(database, number)
    assert sorted(standings(database)) == [("alice", 2), ("bob", 1), ("carol", 1)]
    kept = list(games.every(database.reading, Filter()))
    assert [(each.game, each.counted) for each in kept] == [("1", True), ("2", False), ("3", True)]


def test_ratings_are_as_if_a_void_game_had_never_counted(database: Database) -> None:
    keep(database, numbered([game(), game("bob", "alice"), drawn("alice", "bob")]))
    void(database, "1")
    assert "as kept" in "".join(commands.recount(database))
    voided = ratings(database)
    with database.writing() as connection:
        storing.clear(connection)
    keep(database, numbered([game("bob", "alice"), drawn("alice", "bob")]))
    assert ratings(database) == voided


def test_player_has_the_new_name_in_all_games(database: Database) -> None:
    keep(database, numbered([game(), game("carol", "alice")]))
    first, second = rename(database, "alice", "Alice \u5c0f").splitlines()
    assert first == "alice is called Alice \u5c0f in all stored games"
    assert second.startswith("a bot that is connected as alice comes back under that name")
    kept = list(games.every(database.reading, Filter()))
    names = [[player.name for player in each.players] for each in kept]
    assert names == [["Alice \u5c0f", "bob"], ["carol", "Alice \u5c0f"]]
    assert "as kept" in "".join(commands.recount(database))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("eve", "ann", "no stored game has a player called 'eve'"),
        ("ALICE", "ann", "no stored game has a player called 'ALICE'; did you mean 'alice'?"),
        ("alice", "bob", "two players cannot be made one; take another name, or rename 'bob' first"),
        ("alice", "alice", "'alice' has stored games"),
        ("aima", "ann", "'aima' is one of the server's own players"),
        ("alice", "AIMA", "'AIMA': this is a name of the server's own players"),
        ("alice", " ", "not a name of up to 256 visible characters"),
        ("alice", "a\u202eb", "not a name of up to 256 visible characters"),
        ("alice", "x" * 257, "not a name of up to 256 visible characters"),
    ],
)
def test_name_that_cannot_be_given_is_refused(database: Database, old: str, new: str, words: str) -> None:
    players = (Participant("alice", "nac4"), Participant("aima", "house", house=True))
    keep(database, [game(), game(game="2", players=players)])
    before = ratings(database)
    with pytest.raises(StoreError, match=words):
        rename(database, old, new)
    assert ratings(database) == before


CHOICES = [Choice(), Choice(since=BEGAN), Choice(table="a")]


@pytest.mark.parametrize("choice", CHOICES)
def test_comparison_knows_the_new_name_and_not_the_void_game(database: Database, choice: Choice) -> None:
    old = game(table="b", began=BEGAN - 10_000, ended=BEGAN - 9_000)  # so that `since` leaves something out
    keep(database, numbered([old, game(table="a"), drawn("bob", "alice", table="a"), game(table="a")]))
    void(database, "4")
    rename(database, "alice", "Alice \u5c0f")
    lost = 2 if choice == Choice() else 1
    with database.reading() as connection:
        found = statistics.compare(connection, choice)
        assert {each.name for each in found.standings} == {"Alice \u5c0f", "bob"}
        assert statistics.endings(connection, choice)["Alice \u5c0f", Reason.FOUR] == Score(lost, lost, 0)
        score = statistics.scores(connection, choice, ["bob"], ["Alice \u5c0f", "alice"])
        assert score == {("bob", "Alice \u5c0f"): Score(lost + 1, 0, 1)}
