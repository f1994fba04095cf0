"""What every view has around its content: links to the other views, tags for shared links, and colours."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from game_records import game
from web_world import FRONTS, Seen, Site, keep, shown, unkept

from adapters.web.page.assets import assets


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    site = Site(tmp_path)
    yield site
    site.database.close()


def tabs(page: str) -> list[str]:
    """Return the addresses in the header."""
    header = page[page.index("<nav") : page.index("</nav>")]
    return Seen(header).values("href")


async def test_header_leads_to_what_the_server_has(site: Site, tmp_path: Path) -> None:
    assert tabs(await shown(site, "/")) == ["/", "/games", "/standings", "/tournaments", "/play"]
    (tmp_path / "other").mkdir()
    other = unkept(tmp_path / "other")
    other.show(fronts=tuple(replace(each, port=None) for each in FRONTS))
    assert tabs(await shown(other, "/")) == ["/", "/standings"]


async def test_shared_link_shows_the_title_of_the_view(site: Site) -> None:
    keep(site.database, [game('"><b>', "bob")])
    page = Seen(await shown(site, "/game/1"))
    about = {each["property"]: each["content"] for tag, each in page.elements if "property" in each}
    assert '"><b>' in str(about["og:title"])
    assert f"{about['og:title']} - {about['og:site_name']}" in page.texts
    assert about["og:description"]
    assert "og:url" not in about


async def test_name_cannot_turn_the_words_around_it_where_no_element_isolates_it(site: Site) -> None:
    keep(site.database, [game("\u202eevil", "bob")])
    for path in (
        "/player/%E2%80%AEevil",
        "/games?player=%E2%80%AEevil",
        "/game/1",
        "/search?for=%E2%80%AEevils",
    ):
        head = (await shown(site, path)).partition("</head>")[0]
        assert "\u202e" not in head
        assert "\\u202eevil" in head


def test_every_colour_is_there_in_both_themes_and_none_is_used_that_is_not_there() -> None:
    texts = {name: text.decode() for name, text in assets().contents.items()}
    values = re.findall(r"--[\w-]+: (var\(--(?:light|dark), [^;]+);", texts["style.css"])
    assert values
    for value in values:
        assert re.fullmatch(r"var\(--light, #[0-9a-f]{6}\) var\(--dark, #[0-9a-f]{6}\)", value), value
    everything = "".join(texts.values())
    used = set(re.findall(r"var\((--[\w-]+)\)", everything))
    assert used <= set(re.findall(r"(--[\w-]+)[:\"]", everything))  # a script sets some of them
