"""The views of a tournament, and its links from Live and on the projector, while its games are played."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from browsing import LAPTOPS, PROJECTOR, Windows, expect
from empty_database import open_empty
from scripted_clients import DroidconClient, connected, play_out
from tournament_news import KNOCKOUT, KNOCKOUT_GAMES, NAMES, add, begun, played
from worlds.server import EVERY_PORT, Served, served
from worlds.tournaments import file_of

from gateway.tournament.log import Paired

pytestmark = pytest.mark.browser

WON = (0, 1, 0, 1, 0, 1, 0)
LONG = tuple(f"a-bot-with-a-long-name-{number}" for number in range(16))
ROUND_ROBIN = [*begun(LONG), Paired([(one, two, 1) for one in range(16) for two in range(one + 1, 16)])]
"""A round robin of 16 players, in which nobody has met anybody but the first two."""


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory, browser: object) -> Iterator[Served]:
    """A gateway with a tournament that begins when two players are here, and with some that are stored."""
    where = tmp_path_factory.mktemp("tournament") / "games.db"
    with closing(open_empty(where)) as database:
        add(database, file_of(name="Cup", players=2))
        add(database, file_of(name="KO", format="knockout"), KNOCKOUT, KNOCKOUT_GAMES)
        games = [played(0, 0, LONG[:2]), played(0, 1, (LONG[1], LONG[0]), 1)]
        add(database, file_of(name="All"), ROUND_ROBIN, games)
        settings = file_of(name="Groups", groups=2, then="knockout", advance=1)
        add(database, settings, [*begun(), Paired([(0, 3, 1), (1, 2, 1)])])
        add(database, file_of(name="Open", roster={f"player-{number:02}": "" for number in range(1, 71)}))
        add(database, file_of(name="Four"), [*begun(), Paired([(2, 3, 1)])], [played(0, 0, NAMES[2:])])
    with served(*EVERY_PORT, "--web", "0", "--db", str(where), addresses=4) as gateway:
        yield gateway


def test_games_appear_by_themselves_and_are_linked_from_live(gateway: Served, windows: Windows) -> None:
    page = windows.open("/tournament/cup")
    live, board = windows.open("/"), windows.open("/board?tournament=cup", **PROJECTOR)
    expect(page.locator(".state")).to_contain_text("It begins when 2 players are here")
    alice, bob = DroidconClient(gateway, "alice", "Cup"), DroidconClient(gateway, "bob", "Cup")
    with connected(alice, bob):
        expect(page.locator(".pair .on")).to_be_visible()
        is_bob = page.locator('.side:has([data-side="0"]) .name').inner_text() == "bob"
        first, second = (bob, alice) if is_bob else (alice, bob)
        expect(live.locator(".featured a.tournament")).to_have_attribute("href", "/tournament/Cup")
        expect(board.locator(".pair-board[data-game]")).to_have_count(1)
        first.play(WON[0])
        for each in (page, board):
            expect(each.locator("[data-game] svg.board .disc")).to_have_count(1)
        expect(page.locator(".pair .moved")).to_have_text("1")
        play_out(second, first, WON[1:])
        play_out(second, first, WON)
        expect(page.locator(".state")).to_contain_text("2 players share the first place")
        expect(page.locator(".pair .done")).to_be_visible()
    page.locator(".stand a").first.click()
    page.wait_for_url("**/game/*")


def box(place: Any) -> tuple[float, float, float, float]:
    """Return the left, the upper, the right and the lower edge of a place in a page."""
    found = place.bounding_box()
    return found["x"], found["y"], found["x"] + found["width"], found["y"] + found["height"]


@pytest.mark.parametrize("cell", ["#cell-1-1-2", "#cell-1-2-1"])
def test_games_at_a_cell_cover_no_cell_of_its_row(cell: str, windows: Windows) -> None:
    page = windows.open("/tournament/all?view=crosstable", **LAPTOPS["1366"])
    place, listed = page.locator(f"{cell} > summary"), page.locator(f"{cell} .games")
    place.hover()
    expect(listed.locator("li")).to_have_count(2)
    _, upper, _, lower = box(page.locator(f"tr:has({cell})"))
    left, start, right, end = box(listed)
    assert start >= lower - 1 or end <= upper + 1
    assert (left >= 0, right <= 1366) == (True, True)
    page.keyboard.press("Escape")
    expect(listed).to_be_hidden()


def test_cell_is_used_by_the_keyboard(windows: Windows) -> None:
    page = windows.open("/tournament/all?view=crosstable")
    page.locator("#cell-1-1-2 > summary").focus()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('.games') !== null")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/game/*")


def test_cross_table_of_16_fits_on_a_laptop(windows: Windows) -> None:
    page = windows.open("/tournament/all?view=crosstable", **LAPTOPS["1366"])
    left, upper, right, lower = box(page.locator(".crosstable"))
    assert (left >= 0, upper >= 0, right <= 1366, lower <= 768) == (True,) * 4


@pytest.mark.usefixtures("long")
def test_games_at_a_cell_are_there_without_scripts(windows: Windows) -> None:
    page = windows.open("/tournament/all?view=crosstable", java_script_enabled=False)
    page.locator("#cell-1-1-2 > summary").click()
    page.locator("#cell-1-1-2 a").first.click()
    page.wait_for_url("**/game/*")


def test_way_through_the_bracket_is_the_champion_s_or_that_of_the_name_pointed_at(windows: Windows) -> None:
    page = windows.open("/tournament/ko")
    way = page.locator(".lines-between .way")
    expect(way).to_have_attribute("data-seed", "1")
    page.get_by_role("link", name="bob").first.focus()
    expect(way).to_have_attribute("data-seed", "2")
    page.get_by_role("heading", name="KO").hover()
    expect(way).to_have_attribute("data-seed", "1")


def test_projector_turns_all_players_but_the_first_three(windows: Windows) -> None:
    page = windows.open("about:blank", **PROJECTOR)
    page.clock.install()
    page.goto("/board?tournament=all")
    names = page.locator("tbody tr:not([hidden]) .name .name")
    expect(names).to_have_count(10)
    before = names.all_inner_texts()
    page.clock.run_for(12_000)
    expect(names.nth(9)).not_to_have_text(before[9])
    after = names.all_inner_texts()
    assert (len(after), after[:3]) == (10, before[:3])


@pytest.mark.usefixtures("long")
def test_projector_shows_the_groups_in_turns(windows: Windows) -> None:
    page = windows.open("about:blank", **PROJECTOR)
    page.clock.install()
    page.goto("/board?tournament=groups")
    for name in ("A", "B", "A"):
        expect(page.locator(".ranking:visible caption")).to_have_text([f"Group {name}"])
        page.clock.run_for(12_000)


@pytest.mark.usefixtures("long")
def test_projector_shows_all_names_before_the_beginning_in_turns(windows: Windows) -> None:
    page = windows.open("about:blank", **PROJECTOR)
    page.clock.install()
    page.goto("/board?tournament=open")
    names, edge = page.locator(".here .name"), box(page.locator(".here"))
    expect(names).to_have_count(70)
    for first, last in (("player-01", "player-54"), ("player-19", "player-70"), ("player-01", "player-54")):
        shown = [each for each in names.all() if edge[0] <= box(each)[0] < edge[2]]
        assert (shown[0].inner_text(), shown[-1].inner_text()) == (first, last)
        assert {box(each)[3] <= edge[3] for each in shown} == {True}
        page.clock.run_for(12_000)


def test_short_name_is_whole_on_the_page_of_a_bot_s_faults(windows: Windows) -> None:
    page = windows.open("/tournament/four/player/ann", **LAPTOPS["1366"])
    assert page.locator("h1").evaluate("(each) => each.scrollWidth <= each.clientWidth")
