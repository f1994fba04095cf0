import pytest

from gateway.commands import HOUSE_PLAYERS, AtTable, InLobby, Wish, place_for


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
