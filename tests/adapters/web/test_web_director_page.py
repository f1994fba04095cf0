"""The page of the director's view, before its script has run."""

from urllib.parse import quote

import pytest
from tournament_news import add
from web_world import Seen, Site, shown, unkept
from worlds.tournaments import file_of


async def test_page_has_the_addresses_and_not_a_word_about_the_director(site: Site) -> None:
    add(site.database, file_of(name="Cup"))
    text = await shown(site, "/tournament/CUP/director")
    page = Seen(text)
    assert page.values("data-name") == ["Cup"]
    assert page.values("data-home") == ["/tournament/Cup"]
    assert page.values("data-api") == ["/api/tournaments/Cup"]
    assert "director" not in "".join(Seen(text.partition("<template")[0]).texts).casefold()
    assert [each for each in page.attributes if each.startswith("on") or each == "style"] == []


async def test_browser_without_scripts_goes_on_to_the_tournament(site: Site) -> None:
    add(site.database, file_of(name="a/b; c"))
    home = f"/tournament/{quote('a/b; c', safe='')}"
    page = Seen(await shown(site, f"{home}/director"))
    assert f"0; url={home}" in page.values("content")
    assert home in page.values("href")
    await shown(site, home)


@pytest.mark.parametrize("name", ["a/b", "a?b#c%d", '"}],<script>', "ünï ☃", "a+b c", "\\", "a/../director"])
async def test_any_name_has_the_view_beside_its_own(site: Site, name: str) -> None:
    add(site.database, file_of(name=name))
    page = Seen(await shown(site, f"/tournament/{quote(name, safe='')}/director"))
    assert page.values("data-name") == [name]
    assert page.values("data-api") == [f"/api/tournaments/{quote(name, safe='')}"]


async def test_tournament_may_be_called_as_the_view_is(site: Site) -> None:
    add(site.database, file_of(name="cup/director"))
    page = Seen(await shown(site, "/tournament/cup%2Fdirector"))
    assert "data-home" not in page.attributes


@pytest.mark.parametrize("path", ["/tournament/none/director", "/tournament/%ff/director"])
async def test_missing_tournament_is_not_found(site: Site, path: str) -> None:
    await shown(site, path, 404)


async def test_where_no_results_are_kept_the_view_says_so(tmp_path: object) -> None:
    page = await shown(unkept(tmp_path), "/tournament/cup/director")  # type: ignore[arg-type]
    assert "Results are not kept here" in page
