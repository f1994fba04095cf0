"""At every size of the window nothing is clipped, nothing overlaps, and what a view is for is in sight."""

import random
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from browsing import STILL, Windows, expect
from directing import CUP, directed
from directing import TOKEN as DIRECTOR
from showcase import fill, history
from views import ALL_VIEWS, BOARDS_OF_A_HALL, TITLE, TOKEN, VIEWS, View
from worlds.server import served

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser
IS_BUSY = True

SIZES = (
    (390, 720), (390, 844), (640, 720), (640, 960), (768, 720), (768, 1024), (1100, 720), (1100, 900),
    (1280, 720), (1280, 1024), (1366, 768), (1440, 900), (2560, 1080), (2560, 1440),
)  # fmt: skip
"""Seven widths with two heights each, in pixels. A width between the last laptops has one height."""
HALL = ((1280, 720), (1366, 768), (1920, 1080), (2560, 1440))
"""Those of projectors."""
QUIET = ("/", "/games", "/standings", "/tournaments", "/player/alice", "/play")
"""What is looked at where nobody plays, or nobody has played yet."""
LAYOUT = Path(__file__).with_name("layout.js").read_text()
WIDE = "table.crosstable, table[class*=form-], .bracket"
"""What may be wider than its place, which then scrolls sideways."""
LONGEST_WORDS = """document.querySelectorAll(".connection").forEach((each) => {
    each.hidden = false;
    each.classList.add("is-lost");
    each.querySelector(".word").textContent = "connecting again";
})"""
"""Writes the longest words that the header can have."""
ANNOUNCED = "The finals begin at 14:00 in the large hall, and lunch is at 12:30 for all. " * 2
SETTLED = "new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))"
FAST = ("live", "standings", "game lost by an illegal move", "cross-table of 16")
"""The views that are measured with each change, at `FAST_SIZES`."""
FAST_SIZES = ((390, 844), (768, 1024), (1280, 720), (1366, 768))


def measured(page: "Page", shown: Sequence[str], sizes: Sequence[tuple[int, int]]) -> list[str]:
    """Return what is wrong with the page at these sizes, each with the sizes at which it is."""
    page.evaluate(LAYOUT)
    found = dict[str, list[str]]()
    for width, height in sizes:
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate(SETTLED)
        for wrong in page.evaluate("([shown, wide]) => measure(shown, wide)", [[*shown], WIDE]):
            found.setdefault(wrong, []).append(f"{width}x{height}")
    return [f"{wrong} at {', '.join(at)}" for wrong, at in found.items()]


def assert_nothing(found: Sequence[str]) -> None:
    """Fail with what was found, a line each."""
    assert not found, "\n".join(found)


def measured_view(
    view: View, games: Mapping[str, str], windows: Windows, sizes: Sequence[tuple[int, int]]
) -> list[str]:
    windows.expect("404")
    page = windows.open(view.path.format(**games), **STILL)
    expect(page.locator("h1:visible").first).to_be_visible()
    for place in view.shown:
        page.locator(place).first.wait_for(state="attached")
    page.evaluate(LONGEST_WORDS)
    return measured(page, view.shown, sizes)


@pytest.mark.parametrize("name", FAST)
def test_view_fits_the_usual_windows(name: str, games: Mapping[str, str], windows: Windows) -> None:
    assert_nothing(measured_view(VIEWS[name], games, windows, FAST_SIZES))


@pytest.mark.usefixtures("long")
@pytest.mark.parametrize("name", VIEWS)
def test_view_fits_every_window(name: str, games: Mapping[str, str], windows: Windows) -> None:
    assert_nothing(measured_view(VIEWS[name], games, windows, SIZES))


@pytest.mark.usefixtures("long")
@pytest.mark.parametrize("name", BOARDS_OF_A_HALL)
def test_view_for_a_projector_fits_it(name: str, games: Mapping[str, str], windows: Windows) -> None:
    assert_nothing(measured_view(BOARDS_OF_A_HALL[name], games, windows, HALL))


@pytest.mark.usefixtures("long")
@pytest.mark.parametrize("name", ["live", "standings", "game that is on", "play", "board", "board of many"])
def test_notices_of_the_operator_fit_every_window(
    name: str, games: Mapping[str, str], windows: Windows
) -> None:
    page = windows.open("about:blank", **STILL)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    for act in (f"announce?text={quote(ANNOUNCED)}", "pause"):
        assert page.request.post(f"/api/admin/{act}", headers=headers).ok
    page.goto(ALL_VIEWS[name].path.format(**games))
    expect(page.locator(".announcement")).to_be_visible()
    is_hall = name in BOARDS_OF_A_HALL  # where an announcement is more important than the pause
    shown = [".announcement"] if is_hall else [".announcement", ".paused"]
    found = measured(page, shown, HALL if is_hall else SIZES)
    for act in ("announce", "resume"):
        assert page.request.post(f"/api/admin/{act}", headers=headers).ok
    assert_nothing(found)


@pytest.mark.usefixtures("long")
@pytest.mark.parametrize("played", [0, 40])
def test_views_fit_every_window_while_nobody_plays(played: int, tmp_path: Path, browser: "Browser") -> None:
    where = tmp_path / "games.db"
    fill(where, history(random.Random(1), played))
    with served("--tcp", "0", "--web", "0", "--db", str(where), addresses=2) as gateway:
        home = f"http://127.0.0.1:{gateway.port('page')}"
        for path in QUIET:
            with closing(Windows(browser, home)) as windows:
                found = measured_view(View(path, (TITLE,)), {}, windows, SIZES)
                assert_nothing([f"{path}: {each}" for each in found])


@pytest.mark.usefixtures("long")
def test_view_of_the_director_fits_every_window(browser: "Browser", tmp_path: Path) -> None:
    with directed(tmp_path) as desk, closing(Windows(browser, f"http://127.0.0.1:{desk.port}")) as windows:
        page = windows.open("about:blank", **STILL)
        page.goto(f"/tournament/{quote(CUP)}/director#{DIRECTOR}")
        expect(page.locator("tbody tr").first).to_be_visible()
        page.evaluate(LONGEST_WORDS)
        assert_nothing(measured(page, (TITLE, ".needs p"), SIZES))


STYLES = """
body { margin: 0 } div { height: 20px; font: 14px / 20px sans-serif }
.narrow { width: 60px; overflow: hidden; white-space: nowrap; text-overflow: ellipsis }
.aside { margin: -14px 0 0 60px } .wide { width: 150vw }
.framed { width: 60px; border: 1px solid; white-space: nowrap }
.scroll { width: 80px; overflow-x: auto } .below { margin-top: 200vh } svg { width: 20px }
"""
WORD = "a word that is long"
WRONG = {
    f'<div class="narrow" title="{WORD}">{WORD}</div><h1>whole</h1>': "",
    f'<div class="narrow">{WORD}</div>': "clipped: div.narrow",
    '<svg viewBox="0 0 20 9"><rect width="30" height="5"/></svg>': "clipped: rect",
    f'<div class="framed">{WORD}</div>': "out of its frame: div.framed",
    '<div>one</div><div class="aside">two words</div>': "",
    '<div>one two three four</div><div class="aside">five</div>': "overlap: div",
    f'<div class="wide">{WORD}</div>': "the document scrolls sideways by ",
    f'<div class="scroll"><div class="wide">{WORD}</div></div>': "scrolls sideways: div.scroll",
    '<div class="below"><p id="main">it</p></div>': "not in sight: #main",
}
"""Documents, and how the sentence begins that says what is wrong with each; empty if nothing is."""


@pytest.mark.parametrize("body", WRONG)
def test_what_is_wrong_is_found(body: str, windows: Windows) -> None:
    page = windows.open("about:blank")
    page.set_content(f"<style>{STYLES}</style>{body}")
    found, expected = measured(page, ["#main"] if "main" in body else [], [(390, 844)]), WRONG[body]
    assert [each[: len(expected)] for each in found] == [expected] * bool(expected)
