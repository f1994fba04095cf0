"""The view of a tournament, and its links from Live and on the projector, while its games are played."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from browsing import PROJECTOR, Windows, expect
from empty_database import open_empty
from scripted_clients import DroidconClient, connected, play_out
from tournament_news import add
from worlds.server import EVERY_PORT, Served, served
from worlds.tournaments import file_of

pytestmark = pytest.mark.browser

WON = (0, 1, 0, 1, 0, 1, 0)


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory, browser: object) -> Iterator[Served]:
    """A gateway with a tournament that begins when two players are here."""
    where = tmp_path_factory.mktemp("tournament") / "games.db"
    with closing(open_empty(where)) as database:
        add(database, file_of(name="Cup", players=2))
    with served(*EVERY_PORT, "--web", "0", "--db", str(where), addresses=4) as gateway:
        yield gateway


def test_games_appear_by_themselves_and_are_linked_from_live(gateway: Served, windows: Windows) -> None:
    page = windows.open("/tournament/cup")
    live, board = windows.open("/"), windows.open("/board?tournament=cup", **PROJECTOR)
    expect(page.locator(".state")).to_contain_text("It begins when 2 players are here")
    first, second = DroidconClient(gateway, "alice", "Cup"), DroidconClient(gateway, "bob", "Cup")
    with connected(first, second):
        expect(page.locator(".pairing .is-on")).to_be_visible()
        expect(live.locator(".live-board a.tournament")).to_have_attribute("href", "/tournament/Cup")
        expect(board.locator(".live-board:not(.vacant)")).to_have_count(1)
        play_out(first, second, WON)
        play_out(second, first, WON)
        expect(page.locator(".state")).to_contain_text("2 players share the first place")
    page.locator(".crosstable summary").first.click()
    page.locator(".crosstable details[open] a").first.click()
    page.wait_for_url("**/game/*")
