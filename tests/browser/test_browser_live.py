"""Live and the projector: boards that move while clients play, and viewers that were cut off."""

import os
import re
import signal
import socket
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from browsing import PHONE, Windows, expect
from scripted_clients import ArenaClient, Client, DroidconClient, Nac4Client, connected
from worlds.server import Served

from conformance.lab.meters import children_of

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = pytest.mark.browser

OPTIONS = ("--grace", "30")
WON = (0, 1, 0, 1, 0, 1, 0)
LOST_CONNECTION = "ERR_(INTERNET_DISCONNECTED|CONNECTION|CONTENT_LENGTH|INCOMPLETE|EMPTY|NETWORK)"
LONG = 90_000
"""Milliseconds within which the games of an earlier test are gone."""
tables = map("t{}".format, count())


class FragileClient(ArenaClient):
    """An arena player whose connection a test can break."""

    def break_off(self) -> None:
        """End the connection without a farewell."""
        self._websocket.socket.shutdown(socket.SHUT_RDWR)


def couple(gateway: Served) -> tuple[Client, Client]:
    """Return a nac4 player and an arena player for a table of their own."""
    table = next(tables)
    return Nac4Client(gateway, f"alice-{table}", table), ArenaClient(gateway, f"bob-{table}", table)


def board_of(page: "Page", client: Client) -> "Locator":
    """Return where the page shows this player's game: on the featured board, or on one of the others."""
    boards = page.locator(".live-board:not(.vacant), .featured:visible")
    return boards.filter(has=page.get_by_text(client.name, exact=True))


def shows(card: "Locator", discs: int) -> None:
    """Wait until this many discs are on the board."""
    expect(card.locator("svg.board .discs > *")).to_have_count(discs)


def play(first: Client, second: Client, *columns: int) -> None:
    """Let two play, beginning with the first."""
    for number, column in enumerate(columns):
        (first, second)[number % 2].play(column)


def test_boards_move_while_clients_of_two_dialects_play(gateway: Served, windows: Windows) -> None:
    page = windows.open("/")
    first, second = couple(gateway)
    with connected(first, second):
        card = board_of(page, first)
        for number, column in enumerate(WON):
            shows(card, number)
            (first, second)[number % 2].play(column)
        expect(card.get_by_text("✓ four")).to_be_visible()
        expect(card.locator("svg.board line.four")).to_have_count(1)
        card.get_by_role("link", name="Watch this game").click()
        page.wait_for_url("**/game/*")


def test_spectator_sees_a_game_its_result_and_how_it_came_about(gateway: Served, windows: Windows) -> None:
    """In two clicks from an address that was opened while nobody played, without a reload on the way."""
    page = windows.open("/")
    expect(page.get_by_role("heading", name="Nobody is playing")).to_be_visible(timeout=LONG)
    expect(page.get_by_role("heading", name="Join")).to_be_visible()
    page.evaluate("window.isSame = true")
    first, second = couple(gateway)
    with connected(first, second):
        featured = page.locator(".featured")
        expect(page.get_by_role("heading", name="1 game now")).to_be_visible()
        for number, column in enumerate(WON):
            shows(featured, number)
            (first, second)[number % 2].play(column)
        expect(featured.get_by_text("it is over")).to_be_visible()
        result = page.locator(":is(.results, .ends) li:visible").first
        expect(result).to_contain_text(f"{first.name} beat {second.name}")
        # Where the solver is installed, what lost the game is told after a while.
        expect(result).to_contain_text(re.compile("four at move 7|blunder move [246] "))
        assert page.evaluate("window.isSame")
        result.get_by_role("link", name="Game").click()
        page.wait_for_url("**/game/*")
        expect(page.get_by_role("heading", level=1)).to_contain_text(f"{first.name} beat {second.name}")


def test_viewer_stays_with_a_pair_and_follows_a_player(gateway: Served, windows: Windows) -> None:
    page = windows.open("/")
    pairs = [couple(gateway) for _ in range(3)]
    with connected(*pairs[0]), connected(*pairs[1]), connected(*pairs[2]):
        play(*pairs[1], 3, 3)
        featured = page.locator(".featured")
        expect(featured.locator(".side .name").first).not_to_be_empty()
        name = str(featured.locator(".side .name").first.text_content())
        featured.get_by_role("button", name="Stay with it").click()
        expect(featured).to_contain_text("It stays with")
        page.mouse.move(0, 0)
        page.reload()
        expect(featured.get_by_role("button", name="Stay with it")).to_have_attribute("aria-pressed", "true")
        expect(featured.locator(".side .name").first).to_have_text(name)
        others = page.locator(".boards .live-board:not(.vacant, .over)")
        expect(others).to_have_count(len(pairs) - 1)
        followed = str(others.last.locator(".name").last.text_content())
        page.evaluate("name => localStorage.setItem('followed', JSON.stringify([name]))", followed)
        page.reload()
        expect(page).to_have_title(re.compile(f"^● {followed} plays "))
        expect(page.locator(".boards .live-board").first).to_contain_text(followed)


def test_title_of_a_hidden_tab_says_that_a_followed_player_plays(gateway: Served, windows: Windows) -> None:
    page = windows.open("/")
    first, second = couple(gateway)
    page.evaluate("name => localStorage.setItem('followed', JSON.stringify([name]))", first.name)
    page.add_init_script("Object.defineProperty(document, 'hidden', { value: true })")
    page.clock.install()
    page.reload()
    expect(page).to_have_title("Live - c4gateway")
    with connected(first, second):
        while not page.request.get(f"/api/live?player={first.name}").json()["games"]:
            pass
        page.clock.fast_forward(31_000)
        expect(page).to_have_title(f"● {first.name} plays {second.name} - c4gateway")


def test_list_of_those_who_wait_says_why(gateway: Served, windows: Windows) -> None:
    page = windows.open("/")
    with connected(DroidconClient(gateway, "bob", "@Ada")):
        page.locator("details.lobby summary").click()
        waits = page.locator(".waiting li").filter(has=page.get_by_text("bob", exact=True))
        expect(waits.locator(".why")).to_have_text("wishes for Ada, who is not here")
        with connected(ArenaClient(gateway, "\u0430da", next(tables))):
            expect(waits.locator(".why")).to_have_text("wishes for Ada, who is not here; \u0430da is")


def test_viewer_that_was_cut_off_misses_nothing(gateway: Served, windows: Windows) -> None:
    """The process of the web is killed; the server starts another."""
    windows.expect(LOST_CONNECTION)
    first, second = couple(gateway)
    with connected(first, second):
        play(first, second, 3, 3)
        page = windows.open("/")
        shows(board_of(page, first), 2)
        for pid in children_of(gateway.process.pid):
            if b"adapters.web.serving" in Path(f"/proc/{pid}/cmdline").read_bytes():
                os.kill(pid, signal.SIGKILL)
        play(first, second, 4, 4)
        expect(page.locator(".connection")).to_have_text("connecting again")
        shows(board_of(page, first), 4)
        expect(page.locator(".connection")).to_have_text("connected")
        play(first, second, 2, 2)
        shows(board_of(page, first), 6)


def test_player_whose_connection_broke_is_away_until_it_is_back(gateway: Served, windows: Windows) -> None:
    """On a card that stays as it is, for whoever watched before and for whoever comes."""
    early, table = windows.open("/", **PHONE), next(tables)
    first = Nac4Client(gateway, f"alice-{table}", table)
    second = FragileClient(gateway, f"bob-{table}", table)
    with connected(first, second):
        play(first, second, 3, 3)
        card = board_of(early, first)
        shows(card, 2)
        before = card.locator("svg.board").bounding_box()
        second.break_off()
        expect(card.locator(".away[data-side='1']")).to_have_text(re.compile(r"^◌\saway [1-9]\d?\ss of\s30$"))
        assert card.locator("svg.board").bounding_box() == before
        late = windows.open("/")
        card.get_by_role("link", name="Watch this game").click()
        early.wait_for_url("**/game/*")
        expect(board_of(late, first).locator(".away[data-side='1']")).to_contain_text("away")
        expect(early.locator(".player .away[data-side='1']")).to_contain_text("away")
        second.enter()
        for page in (early, late):
            expect(page.locator(".away:not(:empty)")).to_have_count(0)
        expect(early.get_by_role("status")).to_have_text(f"{second.name} is back")
        play(first, second, 4, 4)
        shows(board_of(late, first), 4)


@pytest.mark.usefixtures("long")
def test_projector_shows_boards_and_no_controls(gateway: Served, windows: Windows) -> None:
    first, second = couple(gateway)
    with connected(first, second):
        play(first, second, 3, 3)
        page = windows.open("/board")
        shows(board_of(page, first), 2)
        assert page.locator("button:visible, input:visible").count() == 0
