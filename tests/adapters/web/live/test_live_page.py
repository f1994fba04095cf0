"""Live and the projector: which stream a page reads, and that what is asked for stays text."""

import json
import re
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from game_records import game as stored
from live_world import game
from tournament_news import SWISS, add
from web_world import Seen, Site, keep, unkept
from worlds.tournaments import file_of

from adapters.web.page.live import Coming, Slot, head_to_head, next_tournament, strip
from adapters.web.page.results import Best
from adapters.web.page.sentences import plain
from gateway.game.events import Reason
from gateway.game.fact_encoding import encode_fact
from gateway.store.analyses import analysis_of
from gateway.store.statistics import Score
from gateway.tournament.log import Entered

PAGES = ("/", "/board")
NASTY = "<img src=x>"
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


@pytest.mark.parametrize("path", ["/", "/play", "/standings"])
async def test_page_names_all_its_modules_ahead(site: Site, path: str) -> None:
    page = await seen(site, path)
    scripts = {named(about["src"]) for _, about in page.elements if about.get("type") == "module"}
    ahead = {named(about["href"]) for _, about in page.elements if about.get("rel") == "modulepreload"}
    assert "header.js" in scripts
    assert ahead == set().union(*map(needed, scripts)) - scripts


def named(address: str | None) -> str:
    """Return the name of the file at an address."""
    return (address or "").rpartition("/")[2]


def needed(module: str) -> set[str]:
    """Return the names of a module of the page and of all that it imports."""
    text = STATIC.joinpath(module).read_text()
    return {module}.union(*map(needed, re.findall(r'(?:from|import) "\./([^"]+)"', text)))


async def test_live_lists_the_games_that_are_on_without_a_script(site: Site) -> None:
    site.on = [encode_fact(game(1, (NASTY, "bob"))), encode_fact(game(2))]
    page = await seen(site, "/")
    text = " ".join(page.texts)
    assert "2 games" in text
    assert text.count("move 0") == 2
    assert {"/game/00000-000001", "/game/00000-000002"} <= {*page.values("href")}
    description = f"2 games now: ann plays bob, {NASTY} plays bob"
    assert page.values("content").count(description) == 2  # of the page, and of links to it
    assert "img" not in page.tags
    assert "Nobody is playing" not in " ".join((await seen(site, "/?player=eve")).texts)


async def test_live_says_how_to_join_and_what_was_last_while_nobody_plays(site: Site) -> None:
    keep(site.database, [stored(), stored(winner=1)])
    page = await seen(site, "/")
    assert "Nobody is playing" in page.texts
    assert page.values("data-text") == ["ws://site:8080", "ws://site:8001", "site:4242"]
    assert {"/game/1", "/game/2", "/games"} <= {*page.values("href")}
    assert "data-today" in page.attributes


async def test_live_needs_no_database(tmp_path: Path) -> None:
    site = unkept(tmp_path)
    assert "Nobody is playing" in (await seen(site, "/")).texts
    for path in ("/live/results", "/live/idle"):
        await got(site, path)


async def test_live_does_not_wait_for_the_games(site: Site, autojump_clock: object) -> None:
    site.is_silent = True
    page = await seen(site, "/")
    assert "data-stream" in page.attributes
    assert "The games cannot be listed at the moment" in " ".join(page.texts)


@pytest.mark.parametrize("address", ["/?stay=ann", "/?with=bob", "/live/meetings?first=ann"])
async def test_two_players_are_asked_for_together(site: Site, address: str) -> None:
    await got(site, address, 400)


async def test_who_stays_with_a_pair_has_no_filter(site: Site) -> None:
    page = await seen(site, "/?stay=a%26b&with=%22c")
    assert [json.loads(each) for each in page.values("data-pair")] == [["a&b", '"c']]
    assert "data-filtered" not in page.attributes


async def test_tournament_that_begins_next_is_named(site: Site) -> None:
    later, soon = file_of(name="Later"), file_of(name="Soon") + "\nstart = 2030-01-01T10:00:00Z"
    add(site.database, later, [])
    add(site.database, soon, [Entered("ann")])
    add(site.database, file_of(name="Over"), SWISS)
    found = next_tournament(site.shown.reading)
    assert found == Coming("Soon", "Round robin", 1_893_492_000_000, 1)


@pytest.mark.parametrize(
    ("score", "text"),
    [
        (None, "They have not met before."),
        (Score(8, 5, 0), "Head to head 5\N{EN DASH}3 for ann."),
        (Score(4, 1, 1), "Head to head 2½\N{EN DASH}1½ for bob."),
        (Score(3, 1, 1), "Head to head 1½\N{EN DASH}1½."),
    ],
)
def test_score_is_told_from_the_side_of_the_better_one(score: Score | None, text: str) -> None:
    assert plain(head_to_head("ann", "bob", score)) == text


def test_win_is_drawn_the_higher_the_sooner_it_comes_and_a_draw_flat() -> None:
    record = stored(moves="01", reason=Reason.LEFT)
    scores = [
        {0: 0, 1: -1},
        {0: 0, 1: -18},
        {0: 18},
    ]  # the first mover wins by its fourth move, if it goes on
    best = Best(record, (), (), (), analysis_of(record.moves, record.winner, scores))
    assert strip(best) == [Slot(1, "draw", 0.0), Slot(2, "first", round(1 - 0.75 * 5 / 42, 2))]
    assert strip(replace(best, analysis=None)) == []
