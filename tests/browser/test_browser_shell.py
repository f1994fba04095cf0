"""What all views share: the search in the header, and the boards."""

import pytest
from browsing import PHONE, STILL, Windows, expect

pytestmark = pytest.mark.browser

FALL = """async (address) => {
    const { Board } = await import(address);
    const place = document.createElement("div");
    document.body.append(place);
    const board = new Board(place);
    const motions = (moves) => {
        board.show(moves);
        return board.svg.getAnimations({ subtree: true }).map((each) => each.animationName);
    };
    const found = [motions("33"), motions("334"), motions("3345632")];
    const cover = () => place.querySelector(".cover");
    board.show("33456321");
    const isAbove = Boolean(
        board.discs.compareDocumentPosition(cover()) & Node.DOCUMENT_POSITION_FOLLOWING
    );
    return [...found, isAbove];
}"""
"""Shows two moves, one more, and several more; the last value is whether the plate covers the disc."""


@pytest.mark.parametrize(("look", "motions"), [({}, ["fall", "hide"]), (STILL, [])])
def test_newest_disc_falls_once_behind_the_plate(
    look: dict[str, str], motions: list[str], windows: Windows
) -> None:
    page = windows.open("/play", **look)
    icon = page.locator("link[rel=icon]").get_attribute("href")
    assert icon is not None
    found = page.evaluate(FALL, icon.replace("favicon.svg", "board.js"))
    assert found == [[], motions, [], True]


def test_search_opens_on_a_phone(windows: Windows) -> None:
    page = windows.open("/standings", **PHONE)
    search = page.get_by_role("search").first
    field = page.get_by_role("combobox", name="Name of a player")
    closed = search.bounding_box()
    search.tap()
    expect(field).to_be_focused()
    opened = search.bounding_box()
    assert closed is not None
    assert opened is not None
    assert closed["width"] == 44
    assert opened["width"] > 300
    page.keyboard.type("nobody")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_contain_text("nobody")
