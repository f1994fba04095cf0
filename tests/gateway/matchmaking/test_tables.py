import pytest

from gateway.matchmaking.tables import Table


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
