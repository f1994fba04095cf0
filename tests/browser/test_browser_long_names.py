"""Names of 256 characters without a place to break: no view grows wider than the window."""

import time
from collections.abc import Iterator

import pytest
from browsing import Windows
from game_records import game, numbered
from showcase import fill
from worlds.server import EVERY_PORT, Served, served

pytestmark = pytest.mark.browser

LONG, OTHER = "W" * 256, "M" * 256
WIDTHS = (320, 390, 768, 1366)


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory, browser: object) -> Iterator[Served]:
    where = tmp_path_factory.mktemp("games") / "games.db"
    now = time.time_ns() // 1_000_000
    fill(where, numbered([game(LONG, OTHER, table=LONG, ended=now - 1000 * number) for number in (3, 2, 1)]))
    with served(*EVERY_PORT, "--web", "0", "--db", str(where), addresses=4) as gateway:
        yield gateway


@pytest.mark.parametrize(
    "path",
    [
        "/",
        f"/games?player={LONG}&opponent={OTHER}&table={LONG}",
        f"/games?player={LONG[1:]}",
        f"/standings?table={LONG}",
        f"/standings?table={LONG}&form=side",
        f"/player/{LONG}",
        f"/player/{LONG[1:]}",
        "/search?for=w",
        f"/search?for={LONG}W",
        "/game/1",
    ],
)
def test_view_with_the_longest_names_is_as_wide_as_the_window(path: str, windows: Windows) -> None:
    windows.expect("404")
    page = windows.open(path)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 768})
        assert page.evaluate("document.documentElement.scrollWidth") == width
