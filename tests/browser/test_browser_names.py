"""Names that are meant to do harm, from clients of every dialect, on every view: they are text, no more."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from browsing import PHONE, Windows, expect
from scripted_clients import ArenaClient, Client, DroidconClient, Nac4Client, connected, play_out
from worlds.server import EVERY_PORT, Served, served

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("long")]

WON = (0, 1, 0, 1, 0, 1, 0)
MARKUP = '<img src=x onerror="document.title=1"><script>alert(1)</script>'
TURNED = "\u202eecila\u2066\u200f"
LONG = "🟡" * 256
ODD_END = "/%2e%2e/../?x#y"
ODD = f"a\0b\x1b[31m \u2028{ODD_END}"
COUPLES = (
    (ArenaClient, MARKUP, DroidconClient, "<img/src=x/onerror=document.title=1>"),
    (DroidconClient, TURNED, ArenaClient, LONG),
    (Nac4Client, "-" * 64, ArenaClient, ODD),
)
"""Who plays whom. An arena player may have any name, a Droidcon player one word, a nac4 player ASCII."""
NAMES = [name for _, first, _, second in COUPLES for name in (first, second)]
WAITS = "<h1>waits"
VIEWS = {
    "live": "/",
    "standings": "/standings",
    "board": "/board",
    "play": "/play",
    "new player": f"/player/{quote(WAITS)}",
}


def clients(gateway: Served, table: str) -> list[tuple[Client, Client]]:
    """Return the couples, each at a table of its own."""
    return [
        (one(gateway, first, f"{table}{at}"), other(gateway, second, f"{table}{at}"))
        for at, (one, first, other, second) in enumerate(COUPLES)
    ]


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory, browser: object) -> Iterator[Served]:
    """A gateway where such players have played, play, and wait."""
    where = tmp_path_factory.mktemp("names") / "games.db"
    options = (*EVERY_PORT, "--web", "0", "--db", str(where), "--rounds", "1", "--clock", "600")
    with served(*options, addresses=4) as gateway, ExitStack() as stack:
        for pair in clients(gateway, "<b>"):
            with connected(*pair):
                play_out(*pair, WON)
        for pair in clients(gateway, "\u202e<i>"):
            stack.enter_context(connected(*pair))
            pair[0].play(3)
        stack.enter_context(connected(DroidconClient(gateway, WAITS, "@<nobody>")))
        yield gateway


def check(page: "Page", *names: str) -> None:
    """Find each name as text in an element of its own, and nothing made of it."""
    for name in names:
        text = ODD_END if name == ODD else name  # HTML has no NUL
        expect(page.locator("bdi").get_by_text(text, exact=name != ODD).first).to_be_attached()
    assert page.locator("img, script:not([src]):not([type='application/json'])").count() == 0
    assert page.title() != "1"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("look", [{}, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("view", VIEWS)
def test_names_are_text_on_every_view(view: str, look: dict[str, object], windows: Windows) -> None:
    page = windows.open(VIEWS[view], **look)
    check(page, *(NAMES if view in {"live", "standings"} else []))
