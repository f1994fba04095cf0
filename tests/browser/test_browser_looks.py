"""What every view keeps to: it can be read by anybody, on any screen, and it is there at once."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pytest
from browsing import LOOKS, Windows, expect
from views import ALL_VIEWS, BOARDS

if TYPE_CHECKING:
    from playwright.sync_api import Request

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("long")]
IS_BUSY = True


def test_live_is_drawn_in_half_a_second_of_the_processor_s_time(windows: Windows) -> None:
    page = windows.open("about:blank")
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})  # others may share the machine
    page.goto("/")
    expect(page.locator(":is(.live-board, .featured) svg.board")).to_have_count(BOARDS)
    found = {each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]}
    assert 0 < found["TaskDuration"] < 0.5


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("view", ALL_VIEWS)
def test_no_fault_for_people_with_disabilities(
    view: str, look: str, games: Mapping[str, str], windows: Windows
) -> None:
    from axe_playwright_python.sync_playwright import Axe  # noqa: PLC0415  an extra

    windows.expect("404")
    path, shown = ALL_VIEWS[view]
    page = windows.open(path.format(**games), **LOOKS[look])
    for place in ("h1:visible", *shown):
        page.locator(place).first.wait_for(state="attached")
    found = Axe().run(page).response["violations"]
    told = [f"{each['id']}: {[node['html'][:200] for node in each['nodes'][:3]]}" for each in found]
    assert told == []


@pytest.mark.parametrize("view", ALL_VIEWS)
def test_view_is_less_than_eighty_kilobytes(view: str, games: Mapping[str, str], windows: Windows) -> None:
    windows.expect("404")
    page = windows.open("about:blank")
    asked: list[Request] = []
    page.on("requestfinished", lambda request: asked.append(request))  # noqa: PLW0108  it is marked
    page.goto(ALL_VIEWS[view].path.format(**games))
    expect(page.locator("h1:visible").first).to_be_visible()
    sizes = [each.sizes() for each in asked]
    assert 0 < sum(each["responseBodySize"] + each["responseHeadersSize"] for each in sizes) < 80_000


def test_theme_is_chosen_by_a_button_and_kept(windows: Windows) -> None:
    page = windows.open("/play")
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    light = page.evaluate(ground)
    button = page.get_by_role("button", name="Theme")
    button.click()
    button.click()
    assert page.locator("html").get_attribute("data-theme") == "dark"
    dark = page.evaluate(ground)
    page.reload()
    assert page.evaluate(ground) == dark != light
