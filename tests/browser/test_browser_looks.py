"""What every view keeps to: it can be read by anybody, on any screen, and it is there at once."""

import random
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from browsing import LOOKS, PHONE, Windows, expect
from scripted_clients import DroidconClient, connected
from showcase import HOSTILE, fill, history, matches, play_illegal
from tournament_news import KNOCKOUT, KNOCKOUT_GAMES, NAMES, SWISS, SWISS_GAMES, add, begun
from worlds.server import EVERY_PORT, Served, served
from worlds.tournaments import file_of

from gateway.store.database import open_to_write
from gateway.tournament.log import Announced, Entered, Entry, Paired, StageBegun

if TYPE_CHECKING:
    from playwright.sync_api import Request

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("long")]

BOARDS = 6
GROUPS: list[Entry] = [
    *begun((*NAMES, HOSTILE, "a-name-of-many-letters-without-a-blank")),
    Paired([(0, 3, 1), (1, 2, 1), (4, 0, 2)]),
    Announced("Lunch is at 12:30 in the hall; the next round begins at 13:15"),
    StageBegun([0, 1]),
    Paired([(0, 1, 1)]),
]
"""A tournament of two stages, with an announcement."""


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory, browser: object) -> Iterator[Served]:
    """A gateway with players, stored games, and games that are on."""
    where = tmp_path_factory.mktemp("busy") / "games.db"
    lot = random.Random(1)
    fill(where, history(lot, 60))
    with closing(open_to_write(str(where))) as database:
        add(database, file_of(format="swiss", rounds=3), SWISS, SWISS_GAMES)
        add(database, file_of(name="KO", format="knockout"), KNOCKOUT, KNOCKOUT_GAMES)
        add(database, file_of(name="Groups", groups=2, then="knockout", advance=1), GROUPS)
        roster = {
            HOSTILE: "10a",
            "a-name-of-many-letters-without-a-blank": "10b",
            **dict.fromkeys(NAMES, "10c"),
        }
        add(database, file_of(name="Open", roster=roster), [*map(Entered, (HOSTILE, "ann"))])
    options = (*EVERY_PORT, "--web", "0", "--db", str(where), "--clock", "600", "--rounds", "1")
    with served(*options, addresses=4) as gateway:
        play_illegal(gateway, paced=False)
        with matches(gateway, lot, BOARDS), connected(DroidconClient(gateway, "hannah", "@nobody")):
            yield gateway


def address_of_game(windows: Windows) -> str:
    """Return the address of the game that was lost by an illegal move."""
    page = windows.open("about:blank")
    [about, *_] = page.request.get("/api/games?player=dropout&reason=illegal").json()["games"]
    page.context.close()
    return f"/game/{about['id']}"


LOST = """document.querySelectorAll(".connection").forEach((each) => {
    each.hidden = false;
    each.querySelector(".word").textContent = "connecting again";
})"""
"""Writes the longest words that the header can have."""
VIEWS = {
    "live": "/",
    "standings": "/standings",
    "player": "/player/alice",
    "hostile player": f"/player/{quote(HOSTILE, safe='')}",
    "new player": "/player/hannah",
    "play": "/play",
    "board": "/board",
    "tournaments": "/tournaments",
    "swiss": "/tournament/cup",
    "cross-table": "/tournament/cup?view=crosstable",
    "faults": "/tournament/cup?view=faults",
    "log of a tournament": "/tournament/cup?view=log",
    "faults of a player": "/tournament/cup/player/bob",
    "knockout": "/tournament/ko",
    "pairs": "/tournament/ko?view=pairs",
    "groups": "/tournament/groups?stage=1",
    "board of a tournament": "/board?tournament=cup",
    "board of a knockout": "/board?tournament=ko",
    "tournament before the beginning": "/tournament/open",
    "board before the beginning": "/board?tournament=open",
    "missing": "/game/nowhere",
}


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("view", [*VIEWS, "game"])
def test_no_serious_fault_for_people_with_disabilities(view: str, look: str, windows: Windows) -> None:
    from axe_playwright_python.sync_playwright import Axe  # noqa: PLC0415  an extra

    windows.expect("404")
    page = windows.open(VIEWS.get(view) or address_of_game(windows), **LOOKS[look])
    expect(page.locator("h1:visible").first).to_be_visible()
    found = Axe().run(page).response["violations"]
    serious = [each for each in found if each["impact"] in {"serious", "critical"}]
    told = [f"{each['id']}: {[node['html'][:200] for node in each['nodes'][:3]]}" for each in serious]
    assert told == []


@pytest.mark.parametrize("view", [*VIEWS, "game"])
def test_page_scrolls_down_and_never_across(view: str, windows: Windows) -> None:
    windows.expect("404")
    page = windows.open(VIEWS.get(view) or address_of_game(windows), **PHONE)
    expect(page.locator("h1:visible").first).to_be_visible()
    page.evaluate(LOST)
    for width in (320, 390, 640, 720, 1100, 1366):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_live_is_less_than_a_hundred_kilobytes(windows: Windows) -> None:
    page = windows.open("about:blank")
    asked: list[Request] = []
    page.on("requestfinished", lambda request: asked.append(request))  # noqa: PLW0108  it is marked
    page.goto("/")
    expect(page.locator(".live-board:not(.vacant)")).to_have_count(BOARDS)
    sizes = [each.sizes() for each in asked]
    assert 0 < sum(each["responseBodySize"] + each["responseHeadersSize"] for each in sizes) < 100_000


def test_live_is_drawn_in_half_a_second_of_the_processor_s_time(windows: Windows) -> None:
    page = windows.open("about:blank")
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})  # others may share the machine
    page.goto("/")
    expect(page.locator(".live-board svg.board")).to_have_count(BOARDS)
    found = {each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]}
    assert 0 < found["TaskDuration"] < 0.5


def test_theme_is_chosen_by_a_button_and_kept(windows: Windows) -> None:
    page = windows.open("/play")
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    light = page.evaluate(ground)
    button = page.get_by_role("button", name="Theme")
    button.click()
    button.click()
    assert page.locator("html").get_attribute("data-theme") == "dark"
    dark = page.evaluate(ground)
    page.reload()
    assert page.evaluate(ground) == dark != light
