"""Play: a person against a player of the server's own, or a bot in the lobby; by mouse, by keys, by touch."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from browsing import PHONE, Windows, expect
from scripted_clients import ArenaClient, connected
from worlds.server import Served

if TYPE_CHECKING:
    from playwright.sync_api import Page, WebSocketRoute

pytestmark = pytest.mark.browser

OPTIONS = ("--grace", "30")
OVER = re.compile("You won|You lost|Draw")
DISCS = ".game svg.board .discs > *"


def choose(page: "Page", name: str) -> None:
    """Begin a game with this opponent by a click."""
    page.locator(".choose li button").filter(has_text=name).click()
    expect(page.locator("section.game")).to_be_visible()


def play_on(page: "Page", drop: Callable[[], None]) -> None:
    """Play a game to its end."""
    for _ in range(42):
        expect(page.locator("#turn")).to_have_text(re.compile(f"Your move|{OVER.pattern}"))
        if OVER.search(page.locator("#turn").inner_text()):
            return
        before = page.locator(DISCS).count()
        drop()
        expect(page.locator(DISCS).nth(before)).to_be_attached()
    pytest.fail("the game does not end")


def test_person_plays_a_whole_game_by_mouse_and_looks_at_it(windows: Windows) -> None:
    page = windows.open("/play")
    choose(page, "random")
    expect(page.locator("#turn")).to_have_text("Your move")
    free = page.get_by_role("button", name=re.compile("column [0-6], [1-6] free"))
    free.first.click()
    expect(page.get_by_role("status")).to_have_text(re.compile("random played column [0-6]. Your move."))
    play_on(page, free.first.click)
    expect(page.get_by_role("button", name="Play again")).to_be_visible()
    page.get_by_role("link", name="Look at the game").click()
    page.wait_for_url("**/game/*")
    expect(page.locator("h1")).to_contain_text("random")


@pytest.mark.usefixtures("long")
def test_person_plays_a_whole_game_by_keys_alone(windows: Windows) -> None:
    page = windows.open("/play")
    page.locator(".choose button[data-name=random]").focus()
    page.keyboard.press("Enter")

    def press() -> None:
        page.keyboard.press(page.locator(".columns button:not([aria-disabled=true])").first.inner_text())

    play_on(page, press)
    again = page.get_by_role("button", name="Play again")
    while not again.evaluate("button => button === document.activeElement"):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#turn")).not_to_have_text(OVER)
    expect(page.locator("#turn")).to_have_text("Your move")
    page.keyboard.press("ArrowRight")
    before = page.locator(DISCS).count()
    page.keyboard.press("Enter")
    expect(page.locator(DISCS).nth(before)).to_be_attached()


@pytest.mark.usefixtures("long")
def test_first_tap_chooses_and_the_second_drops(windows: Windows) -> None:
    page = windows.open("/play", **PHONE)
    page.locator(".choose button[data-name=random]").tap()
    expect(page.locator("#turn")).to_have_text("Your move")
    before = page.locator(DISCS).count()
    column = page.get_by_role("button", name=re.compile("column 5, [1-6] free"))
    column.tap()
    expect(page.get_by_role("button", name="Drop in column 5")).to_be_visible()
    assert page.locator(DISCS).count() == before
    column.tap()
    expect(page.locator(DISCS).nth(before)).to_be_attached()


@pytest.mark.usefixtures("long")
def test_person_plays_a_bot_that_waits_in_the_lobby_and_is_told_when_it_leaves(
    gateway: Served, windows: Windows
) -> None:
    page = windows.open("/play")
    with connected(ArenaClient(gateway, "hannah")) as (bot,):
        choose(page, "hannah")
        for number in range(2):
            expect(page.locator("#turn")).to_have_text(re.compile("Your move|thinks"))
            if page.locator("#turn").inner_text() == "Your move":
                page.keyboard.press("3")
            else:
                bot.play(2)
            expect(page.locator(DISCS).nth(number)).to_be_attached()
    expect(page.locator("#turn")).to_have_text("You won")
    expect(page.locator(".said")).to_contain_text("left")


@pytest.mark.usefixtures("long")
def test_person_whose_connection_broke_goes_on_with_the_game(windows: Windows) -> None:
    page = windows.open("/play")
    sockets: list[tuple[WebSocketRoute, WebSocketRoute]] = []
    page.route_web_socket(re.compile(""), lambda socket: sockets.append((socket, socket.connect_to_server())))
    page.reload()
    choose(page, "random")
    expect(page.locator("#turn")).to_have_text("Your move")
    discs = page.locator(DISCS).count() + 2
    page.keyboard.press("3")
    expect(page.locator(DISCS)).to_have_count(discs)
    for socket in sockets[-1]:
        socket.close(code=3000)  # no farewell
    expect(page.locator(".said")).to_contain_text("Your seat is kept")
    page.get_by_role("button", name="Play again").click()
    expect(page.locator("#turn")).to_have_text("Your move")
    expect(page.locator(DISCS)).to_have_count(discs)


def test_leaving_loses_the_game_only_after_it_was_said_so(windows: Windows) -> None:
    page = windows.open("/play")
    choose(page, "random")
    expect(page).to_have_title("Your move - c4gateway")
    before = page.locator(DISCS).count()
    page.keyboard.press("3")
    expect(page.locator(DISCS)).to_have_count(before + 2)
    page.get_by_role("button", name="Leave").click()
    page.get_by_role("button", name="Stay").click()
    expect(page.get_by_role("button", name="Leave")).to_have_text("Leave")
    page.get_by_role("button", name="Leave").click()
    page.get_by_role("button", name="Leave: the game is lost").click()
    expect(page.locator(".choose")).to_be_visible()
    expect(page).to_have_title("Play - c4gateway")


def test_page_without_scripts_says_how_to_play(windows: Windows) -> None:
    page = windows.open("/play", java_script_enabled=False)
    expect(page.locator("noscript .empty")).to_be_visible()
    expect(page.locator(".choose")).to_be_hidden()


@pytest.mark.usefixtures("long")
def test_board_and_buttons_are_in_sight_in_every_window(windows: Windows) -> None:
    page = windows.open("/play")
    choose(page, "random")
    for width, height in ((390, 664), (390, 844), (768, 720), (1100, 720), (1280, 720), (1366, 768)):
        page.set_viewport_size({"width": width, "height": height})
        tabs = 60 if width < 640 else 0
        for selector in (".columns", ".game svg.board", ".actions .drop", ".actions .leave"):
            box = page.locator(selector).bounding_box()
            assert box is not None
            assert box["y"] + box["height"] <= height - tabs, (width, height, selector)


@pytest.mark.usefixtures("long")
def test_key_drops_nothing_once_a_game_was_left(windows: Windows) -> None:
    page = windows.open("/play")
    choose(page, "random")
    expect(page.locator("#turn")).to_have_text("Your move")
    page.get_by_role("button", name="Leave").click()
    page.locator(".choose button.anyone").click()
    expect(page.locator("section.wait")).to_be_visible()
    page.keyboard.press("3")
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator(".choose")).to_be_visible()
    expect(page.locator(".trouble")).to_be_empty()


@pytest.mark.usefixtures("long")
def test_name_is_kept_and_a_name_of_the_servers_own_is_refused_with_a_reason(windows: Windows) -> None:
    page = windows.open("/play")
    page.locator("input[name=name]").fill("aima")
    page.locator(".choose button[data-name=random]").click()
    expect(page.get_by_role("alert")).not_to_be_empty()
    page.locator("input[name=name]").fill("carla")
    choose(page, "random")
    page.reload()
    expect(page.locator("input[name=name]")).to_have_value("carla")
