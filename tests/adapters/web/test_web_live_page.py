"""Live and the projector: which stream a page reads, and that what is asked for stays text."""

import re
from importlib.resources import files
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from web_world import Seen, Site

PAGES = ("/", "/board")
STATIC = files("adapters.web.page").joinpath("static")


async def got(site: Site, path: str, status: int = 200) -> httpx.Response:
    async with site.client() as client:
        response = await client.get(path, headers={"Accept": "text/html"})
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert "script-src 'self';" in response.headers["content-security-policy"]
    return response


async def seen(site: Site, path: str) -> Seen:
    return Seen((await got(site, path)).text)


async def stream(site: Site, path: str) -> tuple[str, dict[str, list[str]]]:
    """Return the path of the stream that a page reads, and what it is asked for."""
    (address,) = (await seen(site, path)).values("data-stream")
    return urlsplit(address).path, parse_qs(urlsplit(address).query, errors="strict")


@pytest.mark.parametrize(("path", "most"), [("/", "56"), ("/board", "6")])
async def test_page_reads_the_stream_of_as_many_games_as_it_draws(site: Site, path: str, most: str) -> None:
    assert await stream(site, path) == ("/api/live/events", {"most": [most]})


@pytest.mark.parametrize("path", PAGES)
async def test_filter_of_the_address_is_the_stream_s(site: Site, path: str) -> None:
    _, asked = await stream(site, f"{path}?player=a%26b&table=t%20%2B")
    assert asked["player"] == ["a&b"]
    assert asked["table"] == ["t +"]


@pytest.mark.parametrize("path", PAGES)
async def test_page_names_only_files_that_there_are(site: Site, path: str) -> None:
    page = await seen(site, path)
    named = [each for each in [*page.values("href"), *page.values("src")] if each.startswith("/static/")]
    assert len(named) > 3
    async with site.client() as client:
        assert {each: (await client.get(each)).status_code for each in named} == dict.fromkeys(named, 200)


async def test_live_loads_all_its_modules_at_once(site: Site) -> None:
    page = await seen(site, "/")
    ahead = {about["href"] or "" for _, about in page.elements if about.get("rel") == "modulepreload"}
    assert {each.rpartition("/")[2] for each in ahead} == needed("live.js") - {"live.js"}


def needed(module: str) -> set[str]:
    """Return the names of a module of the page and of all that it imports."""
    text = STATIC.joinpath(module).read_text()
    return {module}.union(*map(needed, re.findall(r'(?:from|import) "\./([^"]+)"', text)))
