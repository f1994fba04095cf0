import pytest

from gateway.game.commands import (
    HOUSE_PLAYERS,
    LONGEST_NAME,
    AtTable,
    InLobby,
    Place,
    Wish,
    is_house_name,
    is_too_long,
    place_for,
)


@pytest.mark.parametrize(
    ("wish", "granted", "others"),
    [
        (Wish("Bob"), ["Bob"], ["bob", "Bobby"]),
        (Wish("BOB", any_case=True), ["Bob", "BOB"], ["Rob"]),
        (Wish("RANDOM"), ["random", "Random"], ["randomx"]),  # which is the house's
    ],
)
def test_wish_is_for_a_name_exactly_unless_case_makes_no_difference(
    wish: Wish, granted: list[str], others: list[str]
) -> None:
    assert all(map(wish.grants, granted))
    assert not any(map(wish.grants, others))


@pytest.mark.parametrize("name", sorted(HOUSE_PLAYERS))
def test_house_players_name_is_wished_for_in_any_case(name: str) -> None:
    assert [Wish(each).is_for_house for each in (name, name.upper(), name + "x")] == [True, True, False]


@pytest.mark.parametrize(
    "name",
    [
        *sorted(HOUSE_PLAYERS),
        "AIMA",
        "RanDom",
        " aima",
        "aima \t\r\n",
        "\0aima",
        "ai\0ma",
        "aima\x1b",
        "ai\u200bma",  # a blank without width
        "aima\ufe0f",  # a selector of variants
        "ai\u034fma",  # a joiner of graphemes
        "\u3164aima",  # a filler
        "\u202eaima",  # from right to left
        "\ufeffaima\u00a0",
        "\uff41\uff49\uff4d\uff41",  # of full width
        "aima\u00b9\u2070",  # digits above the line
        "\u24d0ima",  # in a circle
    ],
)
def test_what_looks_like_a_house_players_name_is_one(name: str) -> None:
    assert is_house_name(name)


@pytest.mark.parametrize(
    "name", ["", " ", "\0", "aim", "aima_", "aima2", "ai ma", "my-random", "ann", "\ufb01"]
)
def test_other_names_are_anybodys(name: str) -> None:
    assert not is_house_name(name)


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("{}", InLobby()),
        ("{}", AtTable("x")),
        (None, AtTable("{}")),
        ("ann", AtTable("{}")),
        (None, InLobby(Wish("{}"))),
    ],
)
def test_every_name_has_the_same_limit(name: str | None, place: Place) -> None:
    def grown(length: int) -> tuple[str | None, Place]:
        word = length * "\N{GRINNING FACE}"
        at = AtTable(place.name.format(word)) if isinstance(place, AtTable) else place
        if isinstance(at, InLobby) and at.wish is not None:
            at = InLobby(Wish(at.wish.name.format(word)))
        return None if name is None else name.format(word), at

    assert not is_too_long(*grown(LONGEST_NAME))
    assert is_too_long(*grown(LONGEST_NAME + 1))


def test_tables_match_without_case() -> None:
    assert AtTable("Club").key == AtTable("cLUB").key
    assert AtTable("Club").key != AtTable("Club ").key


@pytest.mark.parametrize(
    ("table", "wish", "place"),
    [
        (None, None, InLobby()),
        (None, Wish("bob"), InLobby(Wish("bob"))),
        ("club", None, AtTable("club")),
        ("club", Wish("bob"), AtTable("club")),
        ("LOBBY", Wish("bob"), InLobby()),
    ],
)
def test_table_outranks_a_wish_and_the_table_called_lobby_is_the_lobby(
    table: str | None, wish: Wish | None, place: Place
) -> None:
    assert place_for(table, wish) == place
