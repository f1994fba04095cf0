"""What the pages offer: nothing that this server does not have."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from web_world import HTML, Site, shown, unkept

PAGES = ("/", "/standings", "/play", "/nowhere")
OF_RESULTS = ("/standings", "/standings?since=week", "/player/alice", "/player/", "/game/9k3fm-00002b")
ADDRESS = re.compile('<a [^>]*href="(/[^"]*)"')


def without_arena(site: Site) -> None:
    """Let the server have no port at which the page can play."""
    site.show(
        fronts=tuple(replace(each, port=None) if each.name == "arena" else each for each in site.shown.fronts)
    )


@pytest.mark.parametrize("path", ["/", "/standings", "/nowhere"])
async def test_nobody_is_sent_to_play_where_the_page_cannot(site: Site, path: str) -> None:
    status = 404 if path == "/nowhere" else 200
    assert 'href="/play"' in await shown(site, path, status)
    without_arena(site)
    assert 'href="/play"' not in await shown(site, path, status)


async def test_empty_live_page_names_the_ports_that_are_open(site: Site) -> None:
    without_arena(site)
    page = await shown(site, "/")
    assert all(f"<code>{each}</code>" in page for each in ("ws://site:8080", "site:4242"))
    assert "8001" not in page


@pytest.mark.parametrize("path", OF_RESULTS)
async def test_page_that_needs_results_says_how_to_keep_them(tmp_path: Path, path: str) -> None:
    page = await shown(unkept(tmp_path), path)
    assert "Results are not kept here" in page
    assert "<code>--db c4gateway.db</code>" in page


@pytest.mark.parametrize("path", PAGES)
async def test_no_link_leads_to_an_error_where_results_are_not_kept(tmp_path: Path, path: str) -> None:
    site = unkept(tmp_path)
    addresses = {*ADDRESS.findall(await shown(site, path, 404 if path == "/nowhere" else 200))}
    assert "/" in addresses
    async with site.client() as client:
        told = {each: (await client.get(each, headers=HTML)).status_code for each in addresses}
    assert told == dict.fromkeys(addresses, 200)


async def test_scripts_ask_for_no_results_where_none_are_kept(site: Site, tmp_path: Path) -> None:
    (tmp_path / "unkept").mkdir()
    other = unkept(tmp_path / "unkept")
    for path, mark in (("/play", " data-keeps"), ("/", " data-keeps"), ("/board", " data-standings")):
        assert mark in await shown(site, path)
        assert mark not in await shown(other, path)


async def test_program_is_told_that_results_are_not_kept_by_status(tmp_path: Path) -> None:
    async with unkept(tmp_path).client() as client:
        for path in ("/standings", "/api/standings", "/board/standings"):
            answer = await client.get(path)
            assert answer.status_code == 404
            assert "--db FILE" in answer.json()["error"]
        assert (await client.get("/api/standings", headers=HTML)).status_code == 404
