"""The view of one game: its moves by keys, the line that lost it, and a game that is still on."""

import importlib.util
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from browsing import PHONE, Windows, expect
from scripted_clients import ArenaClient, DroidconClient, connected
from showcase import ILLEGAL_GAME, play_illegal
from worlds.server import EVERY_PORT, Served, served

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = pytest.mark.browser

MADE = len(ILLEGAL_GAME) - 1


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory, browser: object) -> Iterator[Served]:
    """A gateway where dropout has lost to alice by an illegal move."""
    where = tmp_path_factory.mktemp("game") / "games.db"
    with served(*EVERY_PORT, "--web", "0", "--db", str(where), "--rounds", "1", addresses=4) as gateway:
        play_illegal(gateway, paced=False)
        yield gateway


@pytest.fixture
def page(windows: Windows) -> "Page":
    """The view of that game."""
    return opened(windows)


def opened(windows: Windows, **look: object) -> "Page":
    page = windows.open("about:blank", **look)
    [about] = page.request.get("/api/games?player=dropout").json()["games"]
    page.goto(f"/game/{about['id']}")
    return page


def discs(page: "Page") -> "Locator":
    return page.locator("#board .discs > *")


def test_keys_go_through_the_moves(page: "Page") -> None:
    expect(discs(page)).to_have_count(MADE)
    for key, count in {"Home": 0, "ArrowRight": 1, "ArrowLeft": 0, "End": MADE}.items():
        page.keyboard.press(key)
        expect(discs(page)).to_have_count(count)
    position = "".join(str(int(each) + 1) for each in ILLEGAL_GAME[:MADE])
    expect(page.locator(".position code")).to_have_text(position)
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".position code")).to_have_text(position[:-1])
    expect(page.get_by_role("slider")).to_have_attribute("aria-valuetext", f"move {MADE - 1} of {MADE}")
    expect(page.get_by_role("status")).to_contain_text(f"move {MADE - 1}")


@pytest.mark.usefixtures("long")
def test_line_that_is_chosen_shows_the_position_behind_it(page: "Page") -> None:
    page.locator("tr[data-move='5']").click()
    expect(discs(page)).to_have_count(5)
    page.keyboard.press("r")
    expect(page.locator("tr.refused")).to_contain_text("PUT 3")
    expect(page.locator("tr.refused")).to_be_in_viewport()
    expect(discs(page)).to_have_count(MADE)


@pytest.mark.usefixtures("long")
def test_phone_shows_moves_or_what_was_said(windows: Windows) -> None:
    page = opened(windows, **PHONE)
    expect(page.locator("tr.refused")).to_be_visible()
    page.get_by_role("button", name="Moves").tap()
    expect(page.get_by_role("region", name="List of moves")).to_be_visible()
    expect(page.locator("tr.refused")).not_to_be_visible()


def test_game_that_is_on_is_followed_to_its_stored_end_at_the_same_address(
    gateway: Served, windows: Windows
) -> None:
    first, second = ArenaClient(gateway, "ann", "t"), DroidconClient(gateway, "ben", "t")
    with connected(first, second):
        first.play(3)
        page = windows.open("/")
        page.get_by_role("link").filter(has_text="ann").click()
        page.wait_for_url("**/game/*")
        expect(discs(page)).to_have_count(1)
        address = page.url
        for number, column in enumerate((4, 3, 4, 3, 4, 3)):
            (second, first)[number % 2].play(column)
            expect(discs(page)).to_have_count(number + 2)
        expect(page.locator("h1")).to_contain_text("four in a row")
        assert page.url == address


@pytest.mark.usefixtures("long")
def test_game_is_followed_again_when_the_server_that_holds_it_returns(
    gateway: Served, windows: Windows
) -> None:
    """As in a cluster, whose nodes may lose each other for a while."""
    windows.expect("status of 404")  # a page asks for a result until it is stored
    with connected(ArenaClient(gateway, "away-ann", "away"), ArenaClient(gateway, "away-bob", "away")):
        page = windows.open("about:blank")
        [game] = page.request.get("/api/live?table=away").json()["games"]
        games = [game]
        page.route(
            "**/api/live/events?*",
            lambda route: route.fulfill(
                content_type="text/event-stream",
                body=f"retry: 50\nevent: snapshot\ndata: {json.dumps({'games': games})}\n\n",
            ),
        )
        page.goto(f"/game/{game['game']}")
        expect(page.locator(".where")).to_have_text("move 0 of 0")
        games.clear()
        expect(page.locator(".why")).to_have_text("The game is not on any more. Looking for its result.")
        games.append({**game, "moves": "3"})
        expect(page.locator(".why")).to_have_text("The game is on.")
        expect(discs(page)).to_have_count(1)


@pytest.mark.usefixtures("long")
def test_perfect_play_is_shown_or_said_how_to_get(windows: Windows, page: "Page") -> None:
    solver = importlib.util.find_spec("bitbully")
    if solver is None:
        windows.expect("status of 501")
    page.keyboard.press("s")
    expect(page.locator(".perfect")).to_contain_text("win" if solver else "pip install bitbully")
