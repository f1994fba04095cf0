"""Names that are meant to do harm, on every page: they are text, and no more."""

from urllib.parse import quote

import pytest
from game_records import drawn, game
from web_world import NASTY, Seen, Site, keep, said, shown

from adapters.web.page.sentences import address
from gateway.game.fact_encoding import encode_fact
from gateway.game.facts import Came, GameStarted, Waits

MARKUP = "<b>&amp;"
"""The name of the opponent."""
ODD = [*NASTY, ".", "<img src=x onerror=alert(1)>", "\u202eevil", "%", "%41", "\N{LARGE YELLOW CIRCLE}" * 256]
ON = "9k3fm-00002a"


def on(name: str) -> list[bytes]:
    """Return that a player of this name waits, and another plays, both at tables of that name."""
    players, kinds = (name, MARKUP), ("droidcon", "nac4")
    waits = Came(7, name, "arena"), Waits(7, name, 0.0)
    return [*map(encode_fact, waits), encode_fact(GameStarted(ON, (1, 2), players, kinds, name, 1, 42.0))]


@pytest.mark.parametrize("name", ODD)
async def test_name_is_text_on_every_page(site: Site, name: str) -> None:
    games = [game(name, MARKUP, table=name), drawn(MARKUP, name)]
    keep(site.database, games, (said("x"), said("y")))
    site.on = on(name)
    quoted = quote(name, safe="")
    for path in (
        f"/player/{address(name)}",
        "/game/1",
        f"/game/{ON}",
        "/standings",
        "/standings?form=side",
        "/standings?form=reason",
        "/board/standings",
        f"/?player={quoted}&table={quoted}",
    ):
        page = Seen(await shown(site, path))
        assert name in page.texts, path
        assert "img" not in page.tags
        assert page.tags.count("script") <= 4
        assert not [each for each in page.attributes if each == "style" or each.startswith("on")]


@pytest.mark.parametrize("name", ODD)
async def test_player_that_waits_has_a_page_whatever_its_name(site: Site, name: str) -> None:
    site.on = on(name)
    page = Seen(await shown(site, f"/player/{address(name)}"))
    assert name in page.texts
    assert "img" not in page.tags


async def test_name_that_no_database_contains_breaks_no_page(site: Site) -> None:
    keep(site.database, [game()])
    site.on = on("odd\ud800")
    for path in (f"/game/{ON}", "/", f"/api/live/games/{ON}/evaluation"):
        await shown(site, path)
