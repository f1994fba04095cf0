"""The view of one game: its moves, perfect play, another column, the address, and a game that is still on."""

import importlib.util
import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

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
    [about] = page.request.get("/api/games?player=dropout&reason=illegal").json()["games"]
    page.goto(f"/game/{about['id']}")
    return page


def on_now(page: "Page", table: str) -> dict[str, Any]:
    """Return the game at a table, as soon as viewers get it."""
    games: list[dict[str, Any]] = []
    while not games:
        games = page.request.get(f"/api/live?table={table}").json().get("games", [])
    return games[0]


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


def test_shown_move_is_in_the_address_and_kept_on_reload(page: "Page") -> None:
    address = page.url
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.wait_for_url(f"{address}#1")
    page.reload()
    expect(discs(page)).to_have_count(1)
    page.evaluate("location.hash = '#5'")
    expect(discs(page)).to_have_count(5)
    for wrong in ("#99", "#x", "#-1"):
        page.evaluate(f"location.hash = '{wrong}'")
        expect(discs(page)).to_have_count(5)


def test_game_is_played_through_until_somebody_takes_over(page: "Page") -> None:
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Pause")).to_have_attribute("aria-pressed", "true")
    expect(discs(page)).to_have_count(2)
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("button", name="Play it through")).to_be_visible()
    expect(discs(page)).to_have_count(1)


def test_another_column_is_tried_and_left_again(page: "Page") -> None:
    page.keyboard.press("End")
    page.keyboard.press("2")
    expect(discs(page)).to_have_count(MADE + 1)
    expect(page.locator(".trying")).to_contain_text(f"You try: move {MADE + 1}, column 2")
    page.locator("#board svg").click(position={"x": 20, "y": 60})
    expect(page.locator(".trying")).to_contain_text(f"You try: move {MADE + 2}, column 0")
    page.get_by_role("button", name="Back to the game").click()
    expect(discs(page)).to_have_count(MADE)
    expect(page.locator(".trying")).to_be_hidden()


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
        page = windows.open("about:blank")
        game = on_now(page, "t")
        page.goto(f"/game/{game['game']}")
        expect(discs(page)).to_have_count(1)
        address = page.url
        board = page.locator("#board svg")
        moves = page.get_by_role("region", name="Moves with times")
        expect(moves).to_contain_text("thinks for")
        for number, column in enumerate((4, 3, 4, 3, 4, 3)):
            (second, first)[number % 2].play(column)
            expect(discs(page)).to_have_count(number + 2)
            if number < 5:
                before = board.bounding_box()
                expect(moves.locator(f"tr[data-move='{number + 2}']")).to_contain_text(
                    re.compile(rf"column {column}\s*[0-9]+\.[0-9]{{2}} s")
                )
        expect(page.locator("h1")).to_contain_text("four in a row")
        expect(page.get_by_role("region", name="Messages of both players")).to_contain_text("PUT 3")
        assert board.bounding_box() == before
        assert page.url == address


def test_game_is_followed_where_the_browser_allows_neither_storage_nor_sound(
    gateway: Served, windows: Windows
) -> None:
    windows.expect("there is no sound")
    first, second = ArenaClient(gateway, "mute-ann", "mute"), DroidconClient(gateway, "mute-ben", "mute")
    with connected(first, second):
        page = windows.open("about:blank")
        game = on_now(page, "mute")
        page.add_init_script(
            """for (const name of ["localStorage", "sessionStorage"]) {
              Object.defineProperty(window, name, { get() { throw new DOMException("", "SecurityError"); } });
            }
            window.AudioContext = class { constructor() { throw new Error("there is no sound"); } };"""
        )
        page.goto(f"/game/{game['game']}")
        sound = page.get_by_role("button", name="Sound")
        for words in ("when it is over", "at each move"):
            sound.click()
            expect(sound).to_contain_text(words)
        first.play(3)
        expect(discs(page)).to_have_count(1)
        second.play(4)
        expect(discs(page)).to_have_count(2)


@pytest.mark.usefixtures("long")
def test_game_is_followed_again_when_the_server_that_holds_it_returns(
    gateway: Served, windows: Windows
) -> None:
    """As in a cluster, whose nodes may lose each other for a while."""
    windows.expect("status of 404")  # a page asks for a result until it is stored
    with connected(ArenaClient(gateway, "away-ann", "away"), ArenaClient(gateway, "away-bob", "away")):
        page = windows.open("about:blank")
        game = on_now(page, "away")
        games = [game]
        page.route(
            "**/api/live/events?*",
            lambda route: route.fulfill(
                content_type="text/event-stream",
                body=f"retry: 50\nevent: snapshot\ndata: {json.dumps({'games': games})}\n\n",
            ),
        )
        page.goto(f"/game/{game['game']}")
        expect(page.locator(".where")).to_have_text("Move 0 of 0.")
        games.clear()
        expect(page.locator(".why")).to_have_text("The game is not on any more. Looking for its result.")
        games.append({**game, "moves": "3", "used": [0.1]})
        expect(page.locator(".why")).to_contain_text("to move.")
        expect(discs(page)).to_have_count(1)


def test_game_that_is_just_over_leads_to_the_one_that_the_two_play_now(
    gateway: Served, windows: Windows
) -> None:
    page = opened(windows)
    expect(page.locator("h1")).to_contain_text("dropout lost to alice")
    alice, dropout = ArenaClient(gateway, "alice", "next"), DroidconClient(gateway, "dropout", "next")
    with connected(alice, dropout):
        alice.play(3)
        game = on_now(page, "next")
        page.reload()
        expect(page.get_by_role("link", name="on now")).to_have_attribute("href", f"/game/{game['game']}")


@pytest.mark.skipif(importlib.util.find_spec("bitbully") is None, reason="there is no solver here")
def test_perfect_play_is_shown_by_itself_with_the_moves_that_turned_the_game(page: "Page") -> None:
    expect(page.locator(".better")).to_have_text(
        "It was winning: with perfect play at move 40, by column 2 or 5."
    )
    expect(page.get_by_role("button", name="column 2: win at move 42")).to_be_visible()
    page.get_by_role("link", name="The game turned at move 9").click()
    expect(discs(page)).to_have_count(9)
    expect(page.locator(".turning")).to_have_text("alice let dropout win.")
    page.keyboard.press("End")
    page.get_by_role("button", name="column 2: win at move 42").click()
    expect(page.locator(".strip .tried")).to_have_count(1)
    expect(page.get_by_role("button", name="column 2: lose at move")).to_be_visible()


def test_game_without_javascript_has_its_final_board_and_its_moves(gateway: Served, windows: Windows) -> None:
    page = opened(windows, java_script_enabled=False)
    expect(page.locator("#board svg")).to_be_visible()
    expect(page.get_by_role("region", name="List of moves")).to_contain_text("3")
    expect(page.get_by_role("region", name="Messages of both players")).to_contain_text("PUT 3")
    expect(page.get_by_role("button", name="Play it through")).to_be_hidden()
