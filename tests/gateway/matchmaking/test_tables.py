import pytest

from gateway.matchmaking.tables import Table, Tables


@pytest.fixture
def table() -> Table[str]:
    return Table("round")


def test_a_table_has_two_seats(table: Table[str]) -> None:
    assert table.is_empty
    table.sit("ann")
    assert not table.is_empty
    assert not table.is_full
    table.sit("bob")
    assert table.is_full
    with pytest.raises(ValueError):
        table.sit("cid")


def test_a_table_bears_the_name_that_it_was_given() -> None:
    assert Table("round", "Round").name == "Round"
    assert Table("round").name == "round"


def test_one_alone_plays_nobody(table: Table[str]) -> None:
    assert table.pair() is None
    table.sit("ann")
    assert table.pair() is None


def test_the_one_who_sat_down_first_opens(table: Table[str]) -> None:
    table.sit("ann")
    table.sit("bob")
    assert table.pair() == ("ann", "bob")


def test_the_opening_swaps_with_every_game(table: Table[str]) -> None:
    table.sit("ann")
    table.sit("bob")
    pairs = []
    for _ in range(4):
        pairs.append(table.pair())
        table.played()
    assert pairs == [("ann", "bob"), ("bob", "ann")] * 2


@pytest.mark.parametrize(("gone", "pair"), [("ann", ("cid", "bob")), ("bob", ("ann", "cid"))])
def test_a_newcomer_takes_the_free_seat_and_its_position(
    table: Table[str], gone: str, pair: tuple[str, str]
) -> None:
    table.sit("ann")
    table.sit("bob")
    table.rise(gone)
    table.sit("cid")
    assert table.pair() == pair


@pytest.mark.parametrize(
    ("games", "gone", "pair"),
    [
        (1, "ann", ("cid", "bob")),
        (1, "bob", ("ann", "cid")),
        (2, "ann", ("bob", "cid")),
        (2, "bob", ("cid", "ann")),
        (3, "ann", ("cid", "bob")),
        (3, "bob", ("ann", "cid")),
        (4, "ann", ("bob", "cid")),
        (4, "bob", ("cid", "ann")),
    ],
)
def test_a_newcomer_takes_the_position_of_the_last_game(
    table: Table[str], games: int, gone: str, pair: tuple[str, str]
) -> None:
    table.sit("ann")
    table.sit("bob")
    for _ in range(games):
        table.played()
    table.rise(gone)
    table.sit("cid")
    assert table.pair() == pair


@pytest.mark.parametrize("games", [1, 2, 3])
def test_with_a_newcomer_the_games_count_from_the_start(table: Table[str], games: int) -> None:
    table.sit("ann")
    table.sit("bob")
    for _ in range(games):
        table.played()
    table.rise("bob")
    table.sit("cid")
    first = table.pair()
    assert not table.has_opened(1)
    table.played()
    assert table.pair() != first
    table.played()
    assert table.pair() == first
    assert table.has_opened(1)


def test_one_who_stays_keeps_the_position_whoever_comes_and_goes(table: Table[str]) -> None:
    table.sit("ann")
    table.sit("bob")
    table.played()
    table.played()
    table.rise("ann")
    for newcomer in ("cid", "dan"):
        table.sit(newcomer)
        assert table.pair() == ("bob", newcomer)
        table.rise(newcomer)


def test_a_table_that_both_have_left_is_empty(table: Table[str]) -> None:
    table.sit("ann")
    table.sit("bob")
    table.rise("ann")
    table.rise("bob")
    assert table.is_empty


def test_each_has_opened_a_game_after_two(table: Table[str]) -> None:
    table.sit("ann")
    table.sit("bob")
    opened = []
    for _ in range(4):
        table.played()
        opened.append((table.has_opened(1), table.has_opened(2)))
    assert opened == [(False, False), (True, False), (True, False), (True, True)]


# What another matchmaker takes over.


@pytest.mark.parametrize("games", [0, 1, 2, 3])
@pytest.mark.parametrize("later", [0, 1])
def test_players_who_are_seated_as_they_sat_open_as_they_would_have(
    table: Table[str], games: int, later: int
) -> None:
    table.sit("ann")
    table.sit("bob")
    for _ in range(games):
        table.played()
    heir = Table[str]("round")
    for player, position, number in reversed(table.seated()):
        heir.resume(player, position, number)
    for _ in range(later):
        heir.played()
        table.played()
    assert heir.pair() == table.pair()


def test_of_two_who_heard_of_different_games_the_later_one_is_right(table: Table[str]) -> None:
    table.resume("ann", 0, 2)
    table.resume("bob", 1, 3)
    assert table.pair() == ("bob", "ann")


def test_two_who_have_not_played_each_other_count_from_the_start(table: Table[str]) -> None:
    table.resume("ann", 0, 20)
    table.resume("bob", 0, 4)
    assert table.pair() == ("ann", "bob")
    assert not table.has_opened(1)


def test_newcomer_to_one_who_is_seated_as_it_sat_takes_the_other_position(table: Table[str]) -> None:
    table.resume("ann", 1, 2)
    table.sit("bob")
    assert table.pair() == ("ann", "bob")


def test_there_is_one_table_of_a_name_until_two_servers_become_one() -> None:
    tables = Tables[str]()
    for player in ("ann", "bob"):
        tables.free("round", "Round").sit(player)
    assert len(tables.values()) == 1
    assert tables.are_full("round")
    tables.free("round", "Round").sit("cid")
    assert len(tables.values()) == 2
    assert not tables.are_full("round")


def test_two_who_are_alone_at_tables_of_one_name_sit_down_together() -> None:
    tables = Tables[str]()
    for player in ("ann", "bob", "cid"):
        tables.free("round", "Round").sit(player)
    one, other = tables.values()
    one.rise("ann")
    assert tables.clear("round") == ("cid", one)
    assert tables.values() == [one]
    assert other not in tables.values()
    assert one.pair() == ("cid", "bob")


def test_table_that_is_empty_is_taken_away() -> None:
    tables = Tables[str]()
    table = tables.free("round", "Round")
    table.sit("ann")
    table.rise("ann")
    assert tables.clear("round") is None
    assert tables.values() == []
    assert not tables.are_full("round")
