"""Where the search field leads: to a game or to a player, on this server in any case."""

from dataclasses import replace
from urllib.parse import quote, unquote

import pytest
from game_records import game
from web_world import NASTY, Site, keep

from adapters.web.application import Application

ID = "9k3fm-00002a"


async def found(site: Site, typed: str, application: Application | None = None) -> str:
    """Return where a browser is sent that searches."""
    site.application = application or site.application
    async with site.client() as client:
        answer = await client.get("/search", params={"for": typed})
    assert answer.status_code == 303
    return str(answer.headers["location"])


@pytest.mark.parametrize(
    ("typed", "where"),
    [
        ("1", "/game/1"),
        (" 1 ", "/game/1"),
        ("alice", "/player/alice"),
        ("nobody", "/player/nobody"),
        ("77", "/player/77"),
        ("", "/"),
    ],
)
async def test_stored_game_is_found_before_a_player(site: Site, typed: str, where: str) -> None:
    keep(site.database, [game()])
    assert await found(site, typed) == where


@pytest.mark.parametrize("typed", [ID, "9K3FM-OOOO2A"])
async def test_game_that_is_on_is_found(site: Site, typed: str) -> None:
    assert await found(site, typed) == f"/game/{ID}"


async def test_game_that_is_on_is_found_where_no_results_are_kept(site: Site) -> None:
    nowhere = replace(site.shown, database=None)
    assert await found(site, ID, Application(nowhere, site.health, None)) == f"/game/{ID}"
    assert await found(site, "alice") == "/player/alice"


async def test_player_whose_name_looks_like_a_game_is_found(site: Site) -> None:
    keep(site.database, [game(first=ID)])
    assert await found(site, ID) == f"/player/{ID}"


@pytest.mark.parametrize(
    "name", [*filter(str.strip, NASTY), "//evil.example", "/\\evil.example", "javascript:alert(1)"]
)
async def test_no_name_leads_elsewhere(site: Site, name: str) -> None:
    where = await found(site, name)
    path, _, query = where.partition("?name=")
    assert path.startswith("/player/")
    assert "/" not in path.removeprefix("/player/")
    assert unquote(query or path.removeprefix("/player/")) == name.strip()
    assert quote(where, safe="/?=%~") == where
