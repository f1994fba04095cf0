"""Standings and players: what the page shows is what the API says, however it is sorted."""

import random
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from browsing import Windows, expect
from showcase import CAST, fill, history
from worlds.server import EVERY_PORT, Served, served

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

GAMES = 50


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory, browser: object) -> Iterator[Served]:
    """A gateway with fifty games of twelve players."""
    where = tmp_path_factory.mktemp("standings") / "games.db"
    fill(where, history(random.Random(1), GAMES))
    with served(*EVERY_PORT, "--web", "0", "--db", str(where), addresses=4) as gateway:
        yield gateway


def shown(page: "Page", cell: str) -> list[str]:
    """Return a column of the table."""
    return [text.strip() for text in page.locator(f"table.standings tbody tr {cell}").all_inner_texts()]


def test_standings_agree_with_the_api_after_fifty_games(windows: Windows) -> None:
    page = windows.open("/standings")
    said = page.request.get("/api/standings").json()
    rows = said["standings"]
    assert len(rows) == len(CAST)
    names = page.locator("table.standings tbody .player .name")
    assert [each.get_attribute("title") for each in names.all()] == [row["name"] for row in rows]
    sure = [f"{row['rating']['sure']:.1f}".replace("-", "\N{MINUS SIGN}") for row in rows]
    assert shown(page, ".sure") == sure
    expect(page.locator("main")).to_contain_text(f"{said['first_movers']['games']} games")
