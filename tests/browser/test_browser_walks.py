"""What people come for is two clicks away: why a bot lost yesterday, and where a game was decided."""

import importlib.util
import random
import re
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from browsing import Windows, expect
from game_records import game, numbered
from showcase import DAY, fill, history, matches
from worlds.server import EVERY_PORT, Served, served

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(importlib.util.find_spec("bitbully") is None, reason="there is no solver here"),
]

ANALYSED = """async () => {
    for (let rounds = 0; rounds < 600; rounds += 1) {
        const answer = await fetch("/api/games?player=alice&result=lost&mistake=1");
        if ((await answer.json()).games.length > 0) return;
        await new Promise((resolve) => setTimeout(resolve, 100));
    }
}"""
"""Waits until the server has found why alice lost."""
LOST = "32323202"
"""A game that the first mover lost: at move 7 it could win in column 3, and it let the other win."""


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory, browser: object) -> Iterator[Served]:
    """A gateway with games since yesterday, which it analyses by itself, and with some that are on."""
    where = tmp_path_factory.mktemp("walks") / "games.db"
    lot, yesterday = random.Random(2), time.time_ns() // 1_000_000 - DAY
    lost = game("alice", "BluePanda", moves=LOST, winner=1, began=yesterday, ended=yesterday + 2_000)
    fill(where, numbered([*history(lot, 12, days=1), lost]))
    options = (*EVERY_PORT, "--web", "0", "--db", str(where), "--clock", "600", "--rounds", "1")
    with served(*options, addresses=4) as gateway, matches(gateway, lot, 2):
        yield gateway


def assert_shows_the_mistake(page: "Page") -> None:
    """Check that the view of the game shows the move that lost it, and says what it gave away."""
    page.wait_for_url("**/game/13#7")
    expect(page.locator("#board .discs > *")).to_have_count(7)
    expect(page.locator(".turning")).to_have_text("alice let BluePanda win.")


def test_author_finds_in_two_clicks_why_the_bot_lost_yesterday(windows: Windows) -> None:
    page = windows.open("/player/alice")
    page.evaluate(ANALYSED)
    page.get_by_role("link", name="Lost by mistake since yesterday").click()
    expect(page.locator(".sum")).to_contain_text("lost by alice since yesterday, by a mistake of its own")
    page.get_by_role("link", name="Move 7 gave away a win").click()
    assert_shows_the_mistake(page)


def test_spectator_sees_who_is_winning_and_finds_in_two_clicks_where_a_game_was_decided(
    windows: Windows,
) -> None:
    page = windows.open("/")
    page.evaluate(ANALYSED)
    winning = re.compile("With perfect play .+ (wins in|is a draw)")
    expect(page.locator(".featured .sentence")).to_have_text(winning)
    page.reload()
    result = page.locator(".results li", has_text="move 7 let BluePanda win")
    expect(result).to_contain_text("BluePanda beat alice")
    result.locator(".ago").click()
    page.get_by_role("link", name="The game turned at move 7").click()
    assert_shows_the_mistake(page)
