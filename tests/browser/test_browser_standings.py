"""Standings and players: what the page shows is what the API says, however it is sorted."""

import random
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from browsing import PHONE, Windows, expect
from showcase import CAST, fill, history
from worlds.server import EVERY_PORT, Served, served

if TYPE_CHECKING:
    from playwright.sync_api import Page, Request

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


def test_pointing_at_a_chart_shows_what_each_line_has_there(windows: Windows) -> None:
    page = windows.open("/standings")
    chart, box = page.locator("svg.lines"), page.locator(".pointed")
    chart.scroll_into_view_if_needed()
    place = chart.bounding_box()
    assert place is not None
    last = page.locator(".plot tbody tr").last
    page.mouse.move(place["x"] + place["width"] - 1, place["y"] + 2)
    lines = page.locator(".plot thead th").all_text_contents()[1:]
    assert box.locator(".of").all_text_contents() == lines
    assert box.locator("b").all_text_contents() == last.locator("b").all_text_contents()
    third = float(last.locator("td").nth(2).get_attribute("data-y") or "")
    page.mouse.move(place["x"] + place["width"] - 1, place["y"] + third)
    expect(chart.locator(".series-3")).to_have_class("series series-3 chosen")
    expect(page.locator(".band.chosen")).to_have_count(1)
    page.mouse.move(0, 0)
    expect(box).to_be_hidden()
    expect(chart.locator(".series-1")).to_have_class("series series-1 chosen")


def test_keys_move_along_a_chart_and_say_what_is_there(windows: Windows) -> None:
    page = windows.open("/standings")
    page.locator("svg.lines").focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    value = page.locator(".plot tbody tr").nth(1).locator("td:not(:empty)").first.text_content()
    assert value is not None
    expect(page.get_by_role("status")).to_contain_text(value)
    expect(page.locator(".pointed")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".pointed")).to_be_hidden()


def test_phone_has_two_lines_a_player_and_folded_choices(windows: Windows) -> None:
    page = windows.open("/standings", **PHONE)
    row = page.locator("table.standings tbody tr").first
    place, header = row.bounding_box(), page.locator("header.top").bounding_box()
    assert place is not None
    assert header is not None
    assert place["height"] == 62
    assert place["y"] - header["height"] <= 180
    expect(page.locator("select[name=table]")).to_be_hidden()
    page.get_by_role("button", name="any table").click()
    expect(page.locator("select[name=table]")).to_be_visible()
    page.locator("select[name=form]").select_option("cross")
    page.wait_for_url("**/standings?form=cross*")
    expect(page.locator("td.own").first).to_be_visible()


CUT = """async () => {
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    const place = document.querySelector(".scroller");
    const { right } = place.getBoundingClientRect();
    const heads = [...place.querySelectorAll("thead th")].map((head) => head.getBoundingClientRect());
    const cut = heads.find((head) => head.left < right && head.right > right + 1);
    return cut && (right - cut.left) / cut.width;
}"""
"""Returns which part of the column at the edge of the table is in sight; null if all columns are."""


@pytest.mark.parametrize(
    ("path", "width"), [("/standings", 768), ("/standings?form=cross", 390), ("/standings?form=reason", 390)]
)
def test_table_that_scrolls_shows_half_a_column_at_its_edge(path: str, width: int, windows: Windows) -> None:
    page = windows.open(path, viewport={"width": width, "height": 800})
    for wide in (width, width + 23):
        page.set_viewport_size({"width": wide, "height": 800})
        assert page.evaluate(CUT) == pytest.approx(0.5, abs=0.05)


def test_standings_are_less_than_eighty_kilobytes(windows: Windows) -> None:
    page = windows.open("about:blank")
    asked: list[Request] = []
    page.on("requestfinished", lambda request: asked.append(request))  # noqa: PLW0108  it is marked
    page.goto("/standings")
    page.wait_for_load_state("networkidle")
    sizes = [each.sizes() for each in asked]
    assert 0 < sum(each["responseBodySize"] + each["responseHeadersSize"] for each in sizes) < 80_000
