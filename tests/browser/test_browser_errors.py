"""What a person sees of an address that leads nowhere."""

import pytest
from browsing import Windows

pytestmark = pytest.mark.browser


def test_address_that_leads_nowhere_is_a_page_with_two_ways_on(windows: Windows) -> None:
    windows.expect("404")
    page = windows.open("/nowhere")
    assert page.locator("main h1").inner_text() == "Not found"
    assert page.locator("main svg.board").count() == 1
    assert page.locator("main a").count() == 2


@pytest.mark.usefixtures("long")
def test_theme_is_chosen_by_a_button_and_kept(windows: Windows) -> None:
    windows.expect("404")
    page = windows.open("/nowhere")
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    light = page.evaluate(ground)
    button = page.get_by_role("button", name="Theme")
    button.click()
    button.click()
    assert page.locator("html").get_attribute("data-theme") == "dark"
    dark = page.evaluate(ground)
    page.reload()
    assert page.evaluate(ground) == dark != light
