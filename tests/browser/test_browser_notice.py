"""What the operator announces, on pages that are open."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from browsing import PHONE, Windows, expect
from worlds.server import EVERY_PORT, Served, served

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

TEXT = "Round 2 at 14:00 <script>alert(1)</script> "
UNBROKEN, WORDS = TEXT + "W" * 150, TEXT + "and so on, " * 13 + "and so on."


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory, browser: object) -> Iterator[Served]:
    """A gateway whose operator has a token."""
    where = tmp_path_factory.mktemp("notice")
    options = ("--db", str(where / "games.db"), "--admin-token", "sesame", "--audit", str(where / "audit"))
    with served(*EVERY_PORT, "--web", "0", *options, addresses=4) as gateway:
        yield gateway


def act(page: "Page", what: str, **about: str) -> None:
    """Have the operator do something, and let the page look for what is new."""
    headers = {"Authorization": "Bearer sesame"}
    assert page.request.post(f"/api/admin/{what}", params=dict(about), headers=headers).ok
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")


@pytest.mark.parametrize(("path", "text"), [("/", UNBROKEN), ("/standings", UNBROKEN), ("/board", WORDS)])
def test_page_that_is_open_shows_an_announcement_and_a_pause_until_they_end(
    windows: Windows, path: str, text: str
) -> None:
    page = windows.open(path, **PHONE if path == "/" else {})
    announced, paused = page.locator(".notices .announcement"), page.locator(".notices .paused")
    expect(announced).to_be_hidden()
    act(page, "announce", text=text)
    expect(announced).to_have_text(text)
    box = "const {top, bottom} = e.getBoundingClientRect(); return [top, bottom]"
    if path == "/board":
        top, bottom = announced.evaluate(f"e => {{ {box} }}")
        head = page.locator("header").evaluate(f"e => {{ {box} }}")
        assert head[0] <= top < bottom <= head[1]
    act(page, "pause")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    act(page, "announce")
    expect(announced).to_be_hidden()
    expect(paused).to_be_visible()
    act(page, "resume")
    expect(paused).to_be_hidden()
