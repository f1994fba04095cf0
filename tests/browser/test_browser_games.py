"""The view of games and the search, as people use them: with a mouse, with keys, and without scripts."""

import random
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from browsing import Windows, expect
from game_records import game, numbered
from showcase import fill, history
from worlds.server import EVERY_PORT, Served, served

from gateway.game.events import Reason

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory, browser: object) -> Iterator[Served]:
    where = tmp_path_factory.mktemp("games") / "games.db"
    lost = game("alice", "bob", ended=time.time_ns() // 1_000_000, moves="33", winner=1, reason=Reason.TIME)
    fill(where, numbered([*history(random.Random(3), 60), lost]))
    with served(*EVERY_PORT, "--web", "0", "--db", str(where), addresses=4) as gateway:
        yield gateway


def chosen(page: "Page") -> list[str]:
    return page.locator(".filter.is-set b").all_text_contents()


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])
def test_author_finds_the_games_that_its_bot_lost(windows: Windows, *, scripts: bool) -> None:
    page = windows.open("/games", java_script_enabled=scripts)
    page.get_by_text("Player any").click()
    page.get_by_role("link", name="alice", exact=True).first.click()
    page.get_by_text("Result any").click()
    page.get_by_role("link", name="lost", exact=True).click()
    page.get_by_role("link", name="lost by mistake").click()
    expect(page).to_have_url(f"{windows.home}/games?player=alice&result=lost&mistake=1")
    assert chosen(page) == ["alice", "lost", "lost by mistake"]
    for verb in page.locator(".found .verb").all_text_contents():
        assert verb == "lost to"
    page.locator(".found .where a").first.click()
    expect(page.locator("main h1")).to_contain_text("alice")
    page.go_back()
    page.get_by_role("link", name="Player alice").click()
    expect(page.locator(".filter.is-set b")).to_have_text(["lost by mistake"])


def test_another_player_is_typed_into_the_menu(windows: Windows) -> None:
    page = windows.open("/games?reason=four")
    page.get_by_text("Player any").click()
    page.get_by_label("Another").first.fill("dropout")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{windows.home}/games?reason=four&player=dropout")
    assert chosen(page) == ["dropout", "four in a row"]


def test_one_menu_is_open_and_escape_closes_it(windows: Windows) -> None:
    page = windows.open("/games")
    menus = page.locator("details.menu[open]")
    page.get_by_text("Reason any").click()
    page.get_by_text("Table any").click()
    expect(menus).to_have_count(1)
    page.keyboard.press("Escape")
    expect(menus).to_have_count(0)
    expect(page.get_by_text("Table any")).to_be_focused()


def test_search_suggests_players_and_is_used_with_keys_only(windows: Windows) -> None:
    page = windows.open("/standings")
    page.keyboard.press("/")
    field = page.get_by_role("combobox", name="Name of a player")
    options = page.get_by_role("listbox", name="Suggestions").get_by_role("option")
    expect(field).to_be_focused()
    page.keyboard.type("ALI")
    expect(options).to_have_count(1)
    assert field.get_attribute("aria-expanded") == "true"
    page.keyboard.press("ArrowDown")
    expect(options.first).to_have_attribute("aria-selected", "true")
    assert field.get_attribute("aria-activedescendant") == options.first.get_attribute("id")
    page.keyboard.press("Escape")
    expect(options).to_have_count(0)
    assert field.input_value() == "ALI"
    page.keyboard.type("C")
    expect(options).to_have_count(1)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{windows.home}/player/alice")


def test_search_without_suggestions_leads_to_what_is_meant(windows: Windows) -> None:
    page = windows.open("/standings", java_script_enabled=False)
    page.get_by_label("Name of a player").fill("blupanda")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="BluePanda").click()
    expect(page).to_have_url(f"{windows.home}/player/BluePanda")
