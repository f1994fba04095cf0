"""What the operator says, on all views and for programs."""

import pytest
from game_records import game
from web_world import Site, keep, shown

from gateway.server.acts import Notice

VIEWS = ("/", "/standings", "/play", "/board", "/game/1", "/player/alice", "/player/nobody", "/none")


@pytest.mark.parametrize("path", VIEWS)
async def test_all_views_show_it_as_text_and_nothing_where_there_is_none(site: Site, path: str) -> None:
    keep(site.database, [game()])
    status = 404 if path in ("/none", "/player/nobody") else 200
    text = await shown(site, path, status)
    assert '<p class="announcement" hidden></p>' in text
    assert '<p class="paused" hidden>' in text
    site.shown.notice = Notice("<b>Round 2</b>", paused=True)
    text = await shown(site, path, status)
    assert '<p class="announcement">&lt;b&gt;Round 2&lt;/b&gt;</p>' in text
    assert '<p class="paused">Pairing is paused' in text


async def test_programs_and_pages_that_are_open_ask_for_it(site: Site) -> None:
    async with site.client() as client:
        assert (await client.get("/api/notice")).json() == {"announcement": None, "paused": False}
        site.shown.notice = Notice("Round 2")
        assert (await client.get("/api/notice")).json() == {"announcement": "Round 2", "paused": False}
