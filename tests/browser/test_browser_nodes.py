"""The page of one node of a cluster, while players sit on another, and after that one was killed."""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from browsing import Windows, expect
from scripted_clients import ArenaClient, DroidconClient, Nac4Client, connected
from several_nodes import HAS_REGISTRY, two_nodes
from worlds.server import Served

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

POSTGRES = os.environ.get("C4TEST_POSTGRES")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.thorough,
    pytest.mark.skipif(
        POSTGRES is None or not HAS_REGISTRY, reason="there is no PostgreSQL, or no Redis, here"
    ),
]
NOT_FOUND = "status of 404"


@pytest.fixture
def nodes() -> Iterator[tuple[Served, Served]]:
    with two_nodes("--db", str(POSTGRES)) as both:
        yield both


@pytest.fixture
def windows(browser: "Browser", nodes: tuple[Served, Served]) -> Iterator[Windows]:
    """Pages of the second node."""
    windows = Windows(browser, f"http://127.0.0.1:{nodes[1].port('page')}")
    windows.expect(NOT_FOUND)  # a page asks for a result until it is stored
    yield windows
    windows.close()


def followed(windows: Windows, name: str) -> "Page":
    """Return the page of the game that a player has now, by way of the list of all games."""
    page = windows.open("/")
    page.get_by_role("link").filter(has_text=name).click()
    page.wait_for_url("**/game/*")
    return page


def shows(page: "Page", discs: int) -> None:
    expect(page.locator("#board g:is(.first, .second)")).to_have_count(discs)


def says(windows: Windows, path: str, *texts: str) -> None:
    page = windows.open(path)
    for text in texts:
        expect(page.locator("main")).to_contain_text(text)


def test_page_of_one_node_shows_players_of_another_until_that_is_killed(
    nodes: tuple[Served, Served], windows: Windows
) -> None:
    one, other = nodes
    away = Nac4Client(one, "nodes-ann", "nodes-x"), ArenaClient(one, "nodes-bob", "nodes-x")
    between = Nac4Client(one, "nodes-cid", "nodes-y"), DroidconClient(other, "nodes-dan", "nodes-y")
    with connected(DroidconClient(one, "nodes-eve", "@nobody"), *away, *between):
        live, games = windows.open("/"), [followed(windows, pair[0].name) for pair in (away, between)]
        live.locator(".lobby summary").click()
        waiting = live.get_by_role("list", name="Players that wait")
        expect(waiting).to_contain_text("nodes-eve")
        says(windows, "/player/nodes-eve", "has waited in the lobby since")
        says(windows, "/player/nodes-bob", "It plays game", "against nodes-ann")
        for pair, page in zip((away, between), games, strict=True):
            for number, column in enumerate((3, 0, 3, 0, 3, 0)):
                pair[number % 2].play(column)
                shows(page, number + 1)
        away[0].play(3)
        expect(games[0].locator("h1")).to_contain_text("four in a row")
        says(windows, "/player/nodes-bob", "four in a row", "1 game that counts")
        says(windows, "/standings?table=nodes-x", "nodes-ann", "nodes-bob")
        lone = Nac4Client(one, "nodes-fay", "nodes-z"), ArenaClient(one, "nodes-gus", "nodes-z")
        with connected(*lone):
            page = followed(windows, "nodes-fay")
            one.process.kill()
            expect(page.locator(".why")).to_have_text("The game is not on any more. Looking for its result.")
            expect(games[1].locator("h1")).to_contain_text("were cut off by the server")
            expect(games[1].locator(".line").first).to_contain_text("table nodes-y · round 1")
            expect(waiting).to_contain_text("nodes-dan")
            expect(waiting).not_to_contain_text("nodes-eve")
            expect(live.locator("main")).to_contain_text("Nobody is playing")
            expect(live.locator(".connection")).to_have_text("connected")
