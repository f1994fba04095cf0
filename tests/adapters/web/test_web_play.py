"""The page on which people play."""

from dataclasses import replace

import httpx
from web_world import Site

from adapters.web.application import Application
from adapters.web.page.views import HOUSE
from adapters.web.site import Site as Shown
from gateway.game.commands import HOUSE_PLAYERS


async def shown(site: Site, about: Shown, path: str = "/play") -> httpx.Response:
    transport = httpx.ASGITransport(Application(about, site.health, None))
    async with httpx.AsyncClient(transport=transport, base_url="http://c4.example:8000") as client:
        return await client.get(path, headers={"Accept": "text/html"})


def test_there_is_something_to_say_of_each_of_the_server_s_own_players() -> None:
    assert {*HOUSE} == HOUSE_PLAYERS


async def test_page_says_where_to_play_and_against_which_of_the_server_s_own(site: Site) -> None:
    answer = await shown(site, replace(site.shown, idle=60.0))
    assert answer.status_code == 200
    assert 'data-address="ws://c4.example:8001" data-idle="60.0"' in answer.text
    names = [name for name in HOUSE if f'data-name="{name}"' in answer.text]
    assert names == ["random", "aimafast"]
    assert 'href="/play" aria-current="page"' in answer.text


async def test_page_may_connect_to_where_it_plays(site: Site) -> None:
    policy = (await shown(site, site.shown)).headers["content-security-policy"]
    assert "ws://c4.example:8001" in policy


async def test_without_the_port_to_play_at_the_page_says_which_it_is(site: Site) -> None:
    fronts = tuple(replace(each, port=None) if each.name == "arena" else each for each in site.shown.fronts)
    answer = await shown(site, replace(site.shown, fronts=fronts))
    assert answer.status_code == 200
    assert "Start the server with <code>--arena 8001</code>" in answer.text
    assert "play.js" not in answer.text
