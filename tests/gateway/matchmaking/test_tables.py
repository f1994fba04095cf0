"""Who opens at a table, whoever comes and goes, and when there is one."""

import pytest

from gateway.matchmaking.tables import Position, Table, Tables


def table_of(*players: str, games: int = 0) -> Table[str]:
    """Return a table at which these sat down in turn, and played so many games."""
    table = Table[str]("round")
    for player in players:
        table.sit(player)
    for _ in range(games):
        table.played()
    return table


def test_table_has_two_seats_and_the_name_that_it_was_given() -> None:
    table = Table[str]("round", "Round")
    assert (table.name, Table[str]("round").name) == ("Round", "round")
    assert (table.is_empty, table.is_full, table.pair()) == (True, False, None)
    table.sit("ann")
    assert (table.is_empty, table.is_full, table.pair()) == (False, False, None)
    table.sit("bob")
    assert table.is_full
    with pytest.raises(ValueError):
        table.sit("cid")
    for player in ("ann", "bob"):
        table.rise(player)
    assert table.is_empty


def test_who_sat_down_first_opens_and_the_opening_swaps_with_every_game() -> None:
    table = table_of("ann", "bob")
    told = []
    for _ in range(4):
        told.append((table.pair(), table.has_opened(1), table.has_opened(2)))
        table.played()
    assert told == [
        (("ann", "bob"), False, False),
        (("bob", "ann"), False, False),
        (("ann", "bob"), True, False),
        (("bob", "ann"), True, False),
    ]
    assert table.has_opened(2)


@pytest.mark.parametrize("games", range(5))
@pytest.mark.parametrize("gone", ["ann", "bob"])
def test_newcomer_takes_the_position_that_the_leaver_had_in_the_last_game(games: int, gone: str) -> None:
    table = table_of("ann", "bob", games=games)
    table.rise(gone)
    table.sit("cid")
    latest = ("bob", "ann") if games and games % 2 == 0 else ("ann", "bob")
    pair = tuple("cid" if name == gone else name for name in latest)
    assert table.pair() == pair
    assert not table.has_opened(1)  # the two count from the start
    table.played()
    assert table.pair() == pair[::-1]
    table.played()
    assert table.has_opened(1)


def test_one_who_stays_keeps_the_position_whoever_comes_and_goes() -> None:
    table = table_of("ann", "bob", games=2)
    table.rise("ann")
    for newcomer in ("cid", "dan"):
        table.sit(newcomer)
        assert table.pair() == ("bob", newcomer)
        table.rise(newcomer)


# What another matchmaker takes over.


@pytest.mark.parametrize("games", range(4))
@pytest.mark.parametrize("later", [0, 1])
def test_players_who_are_seated_as_they_sat_open_as_they_would_have(games: int, later: int) -> None:
    table, heir = table_of("ann", "bob", games=games), Table[str]("round")
    for player, position, number in reversed(table.seated()):
        heir.resume(player, position, number)
    for _ in range(later):
        heir.played()
        table.played()
    assert heir.pair() == table.pair()


@pytest.mark.parametrize(
    ("sat", "pair"),
    [
        ([("ann", 0, 2), ("bob", 1, 3)], ("bob", "ann")),  # one has not heard of the last game
        ([("ann", 0, 20), ("bob", 0, 4)], ("ann", "bob")),  # they have not played each other
        ([("ann", 0, 3), ("bob", 1, 1)], ("ann", "bob")),
    ],
)
def test_two_who_heard_of_different_games_open_by_the_later_one_if_it_was_theirs(
    sat: list[tuple[str, Position, int]], pair: tuple[str, str]
) -> None:
    table = Table[str]("round")
    for each in sat:
        table.resume(*each)
    assert table.pair() == pair
    assert not table.has_opened(2)


def test_newcomer_to_one_who_is_seated_as_it_sat_takes_the_other_position() -> None:
    table = Table[str]("round")
    table.resume("ann", 1, 2)
    table.sit("bob")
    assert table.pair() == ("ann", "bob")


# Tables of one name.


def test_there_is_one_table_of_a_name_until_two_servers_become_one() -> None:
    tables = Tables[str]()
    for player, count, are_full in (("ann", 1, False), ("bob", 1, True), ("cid", 2, False)):
        tables.free("round", "Round").sit(player)
        assert (len(tables.values()), tables.are_full("round")) == (count, are_full)
    one, _ = tables.values()
    one.rise("ann")
    assert tables.clear("round") == ("cid", one)  # who sits alone at the other
    assert tables.values() == [one]
    assert one.pair() == ("cid", "bob")


def test_table_that_is_empty_is_taken_away() -> None:
    tables = Tables[str]()
    table = tables.free("round", "Round")
    table.sit("ann")
    table.rise("ann")
    assert tables.clear("round") is None
    assert tables.values() == []
    assert not tables.are_full("round")
