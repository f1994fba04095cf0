"""Where the search leads: to a game, to a player, or to a choice of players."""

from urllib.parse import quote, unquote

import httpx
import pytest
from game_records import game, rows
from web_world import HTML, NASTY, Seen, Site, keep

from gateway.game.fact_encoding import encode_fact
from gateway.game.facts import Came
from gateway.store import storing

ID = "9k3fm-00002a"
HALF = "/player/half%20%ED%A0%BD"


def came(number: int, name: str) -> bytes:
    """Return what the server tells of a connected player."""
    return encode_fact(Came(number, name, "arena"))


async def answer(site: Site, typed: str, path: str = "/search") -> httpx.Response:
    async with site.client() as client:
        return await client.get(path, params={"for": typed}, headers=HTML)


async def found(site: Site, typed: str) -> str:
    """Return where a browser is sent that searches."""
    response = await answer(site, typed)
    assert response.status_code == 303
    return str(response.headers["location"])


async def listed(site: Site, typed: str) -> list[str]:
    """Return the links to players on the page that shows what was found."""
    response = await answer(site, typed)
    assert response.status_code == 200
    return [each for each in Seen(response.text).values("href") if each.startswith("/player/")]


@pytest.mark.parametrize(
    ("typed", "where"),
    [
        ("1", "/game/1"),
        (" 1 ", "/game/1"),
        ("alice", "/player/alice"),
        ("ALIC", "/player/alice"),
        ("ice", "/player/alice"),
        ("100%", "/player/100%25"),
        ("Ωμ", "/player/%CF%89%CE%BC%CE%AD%CE%B3%CE%B1"),
        ("", "/"),
    ],
)
async def test_game_or_player_that_is_meant_beyond_doubt_is_shown(site: Site, typed: str, where: str) -> None:
    keep(site.database, [game(), game("100%", "1000"), game("ωμέγα", "x")])
    assert await found(site, typed) == where


async def test_part_of_several_names_shows_these_players_the_most_active_first(site: Site) -> None:
    keep(
        site.database, [game("anna", "bob"), game("joanna", "bob"), game("Anne", "bob"), game("Anne", "bob")]
    )
    assert await listed(site, "ann") == ["/player/Anne", "/player/anna", "/player/joanna"]
    assert await found(site, "anna") == "/player/anna"
    assert await found(site, "ANNE") == "/player/Anne"


async def test_name_that_is_mistyped_shows_similar_ones(site: Site) -> None:
    keep(site.database, [game()])
    assert await listed(site, "alcie") == ["/player/alice"]
    assert await listed(site, "zzz") == []
    assert await listed(site, "4711") == []
    assert await listed(site, "x" * 300) == []


async def test_connected_player_that_has_finished_no_game_is_found(site: Site) -> None:
    keep(site.database, [game()])
    site.on = [came(1, "hannah"), came(2, "alice"), came(3, "half \ud83d")]
    assert await found(site, "hann") == "/player/hannah"
    assert await listed(site, "a") == ["/player/alice", "/player/hannah", HALF]
    site.show(database=None)
    assert await listed(site, "a") == ["/player/hannah", "/player/alice", HALF]


async def test_connected_player_of_the_very_name_is_found_among_many(site: Site) -> None:
    site.on = [*(came(number, f"anna{number}") for number in range(60)), came(60, "ann")]
    assert await found(site, "ann") == "/player/ann"


@pytest.mark.parametrize("typed", [ID, "9K3FM-OOOO2A"])
async def test_game_that_is_on_is_found(site: Site, typed: str) -> None:
    assert await found(site, typed) == f"/game/{ID}"
    site.show(database=None)
    assert await found(site, typed) == f"/game/{ID}"


@pytest.mark.parametrize("typed", ["00002a", "OOOO2A"])
async def test_number_alone_finds_the_latest_game_that_has_it(site: Site, typed: str) -> None:
    with site.database.writing() as connection:
        storing.store(connection, rows([game(game=f"{run}-00002a") for run in ("9k3fm", "9k3fn")]))
    assert await found(site, typed) == "/game/9k3fn-00002a"


async def test_player_whose_name_looks_like_a_game_is_found(site: Site) -> None:
    keep(site.database, [game(first=ID)])
    assert await found(site, ID) == f"/player/{ID}"


async def test_search_goes_on_while_the_server_tells_nothing(site: Site, autojump_clock: object) -> None:
    keep(site.database, [game()])
    site.is_silent = True
    assert await found(site, "alice") == "/player/alice"


async def test_suggestions_are_the_same_as_plain_values(site: Site) -> None:
    keep(site.database, [game()])
    response = await answer(site, "al", "/api/search")
    players = [{"name": "alice", "kind": "nac4", "games": 1}]
    assert response.json() == {"game": None, "players": players, "similar": []}


@pytest.mark.parametrize(
    "name", [*filter(str.strip, NASTY), "//evil.example", "/\\evil.example", "javascript:alert(1)"]
)
async def test_no_name_leads_elsewhere(site: Site, name: str) -> None:
    keep(site.database, [game(name.strip())])
    where = await found(site, name)
    path, _, query = where.partition("?name=")
    assert path.startswith("/player/")
    assert "/" not in path.removeprefix("/player/")
    assert unquote(query or path.removeprefix("/player/")) == name.strip()
    assert quote(where, safe="/?=%~") == where
