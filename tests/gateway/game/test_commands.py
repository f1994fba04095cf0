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


def test_a_wish_is_for_a_name_exactly_as_spelled() -> None:
    assert Wish("Bob").grants("Bob")
    assert not Wish("Bob").grants("bob")
    assert not Wish("Bob").grants("Bobby")


def test_a_wish_in_any_case_is_for_a_name_in_any_case() -> None:
    assert Wish("BOB", any_case=True).grants("Bob")
    assert not Wish("BOB", any_case=True).grants("Rob")


@pytest.mark.parametrize("name", sorted(HOUSE_PLAYERS))
def test_a_house_players_name_is_wished_for_in_any_case(name: str) -> None:
    assert Wish(name).is_for_house
    assert Wish(name.upper()).is_for_house
    assert Wish(name.upper()).grants(name)
    assert not Wish(name + "x").is_for_house


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


def test_who_names_nothing_is_in_the_lobby() -> None:
    assert place_for(None, None) == InLobby()


def test_who_names_an_opponent_is_in_the_lobby_with_a_wish() -> None:
    assert place_for(None, Wish("bob")) == InLobby(Wish("bob"))


def test_a_table_outranks_a_wish() -> None:
    assert place_for("club", None) == AtTable("club")
    assert place_for("club", Wish("bob")) == AtTable("club")


@pytest.mark.parametrize("name", ["lobby", "LOBBY", "Lobby"])
def test_the_table_called_lobby_is_the_lobby(name: str) -> None:
    assert place_for(name, None) == InLobby()
    assert place_for(name, Wish("bob")) == InLobby()
