"""The view of one player: what its games show, and addresses that hold any name."""

import re
import time
from pathlib import Path

import pytest
import trio.testing
from game_records import BEGAN, FOUR, drawn, game
from web_world import Site, keep, shown, unkept

from adapters.web.live.state import LOBBY
from gateway.game.events import Reason, Spoken
from gateway.game.fact_encoding import encode_fact
from gateway.game.facts import Came, GameStarted, Waits
from gateway.store.records import Participant, moment


def games(page: str) -> list[str]:
    """Return the ids of the games that are listed."""
    return re.findall(r'href="/game/([^"]*)"', page)


@pytest.mark.parametrize("path", ["nobody", "%ED%A0%80", "%FF", "a%00", "..%2F..", "alice/"])
async def test_name_that_never_played_is_not_found(site: Site, path: str) -> None:
    keep(site.database, [game()])
    page = await shown(site, f"/player/{path}", 404)
    assert "No player of that name is connected, or has finished a game here" in page


@pytest.mark.parametrize("typed", ["aliec", "lic", "ALICE"])
async def test_player_that_may_be_meant_is_named(site: Site, typed: str) -> None:
    keep(site.database, [game("alice", "bob")])
    page = await shown(site, f"/player/{typed}", 404)
    assert "Did you mean <a" in page
    assert 'href="/player/alice"' in page
    assert 'href="/player/bob"' not in page


def waiting(name: str, table: str | None = None, waited: float = 0.0, player: int = 7) -> list[str]:
    """Return that a player is here and waits, as the server tells it."""
    return [encode_fact(Came(player, name, "arena")), encode_fact(Waits(player, table, waited))]


async def test_player_that_waits_has_a_page_before_its_first_game(site: Site) -> None:
    site.on = waiting("alice", "x")
    page = await shown(site, "/player/alice")
    assert "No finished games yet" in page
    assert "It has waited at table" in page


async def test_page_of_a_player_that_waits_says_since_when(
    site: Site, monkeypatch: pytest.MonkeyPatch, mock_clock: trio.testing.MockClock
) -> None:
    monkeypatch.setattr(time, "time", lambda: BEGAN / 1000)
    site.on = waiting("alice", waited=90.0)
    page = await shown(site, "/player/alice")
    assert f'It has waited in the lobby since <time datetime="{moment(BEGAN - 90_000)}">' in page


async def test_player_has_a_page_however_many_wait(site: Site) -> None:
    for player in range(LOBBY + 1):
        site.on += waiting(f"bot-{player}", player=player)
    assert "It has waited in the lobby" in await shown(site, "/player/bot-0")


async def test_page_of_a_player_in_its_first_game_leads_to_the_game_and_the_opponent(site: Site) -> None:
    players = ("ann", "a/b")
    site.on = [encode_fact(GameStarted("9k3fm-00002a", (1, 2), players, ("arena", "nac4"), None, 1, None))]
    page = await shown(site, "/player/ann")
    assert "It plays game" in page
    assert games(page) == ["9k3fm-00002a"]
    assert 'href="/player/a%2Fb"' in page


async def test_player_that_neither_waits_nor_plays_has_a_page_while_it_is_connected(site: Site) -> None:
    site.on = [encode_fact(Came(7, "alice", "arena"))]
    assert "It is connected" in await shown(site, "/player/alice")
    await shown(site, "/player/bob", 404)


async def test_player_that_waits_has_a_page_where_no_results_are_kept(tmp_path: Path) -> None:
    site = unkept(tmp_path)
    site.on = waiting("alice")
    page = await shown(site, "/player/alice")
    assert "It has waited in the lobby" in page
    assert "This server does not keep results." in page
    assert "Results are not kept here" in await shown(site, "/player/bob")


async def test_latest_games_are_listed_and_the_others_linked(site: Site) -> None:
    keep(site.database, [game() for _ in range(20)])
    page = await shown(site, "/player/alice")
    assert games(page) == [str(number) for number in range(20, 7, -1)]
    assert 'href="/games?player=alice">All games' in page


async def test_numbers_lead_to_the_games_that_they_count(site: Site) -> None:
    fault = game("a/b", "alice", reason=Reason.ILLEGAL, winner=1)
    keep(site.database, [game("alice", "a/b"), fault, drawn("a/b", "alice")])
    page = await shown(site, "/player/a%2Fb")
    assert 'href="/games?player=a%2Fb&amp;result=lost&amp;reason=illegal&amp;counted=1"' in page
    assert 'href="/games?player=a%2Fb&amp;result=drawn&amp;counted=1"' in page
    assert (
        'href="/games?player=a%2Fb&amp;opponent=alice&amp;counted=1" title="3 games">½ \N{EN DASH} 2½</a>'
        in page
    )
    assert 'href="/games?player=a%2Fb&amp;result=lost&amp;mistake=1&amp;since=yesterday"' in page
    assert 'class="fault"' in page


@pytest.mark.parametrize(
    ("query", "filters"),
    [("lost=illegal", "reason=illegal&result=lost"), ("opponent=a%2Fb", "opponent=a%2Fb")],
)
async def test_former_addresses_of_its_games_still_lead_there(site: Site, query: str, filters: str) -> None:
    async with site.client() as client:
        answer = await client.get(f"/player/alice?{query}", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (301, f"/games?player=alice&{filters}")


@pytest.mark.parametrize("query", ["before=99", "page=2"])
async def test_what_cannot_be_meant_is_refused(site: Site, query: str) -> None:
    keep(site.database, [game()])
    await shown(site, f"/player/alice?{query}", 400)


async def test_game_without_a_result_is_listed_as_such(site: Site) -> None:
    keep(site.database, [game(moves="3", winner=None, reason=Reason.STOPPED, counted=False)])
    page = await shown(site, "/player/alice")
    assert "no result" in page
    assert "None of its games counts" in page
    assert "It has no opponents" in page
    assert "No games that count." in page


async def test_place_and_score_are_told(site: Site) -> None:
    keep(site.database, [game("alice", "bob"), drawn("bob", "alice")])
    page = await shown(site, "/player/alice")
    assert "<b>1</b> of 2" in page
    assert "1 won, 1 drawn, 0 lost" in page
    assert "first 1 of 1, second ½ of 1" in page
    assert "It has lost no game that counts." in page


async def test_rating_openings_and_clients_are_drawn(site: Site) -> None:
    other = game(players=(Participant("alice", "droidcon"), Participant("bob", "arena")), ended=BEGAN + 9)
    keep(site.database, [game(), other])
    page = await shown(site, "/player/alice")
    assert "Rating over time, with three deviations</caption>" in page
    assert "column 0, 2 of 2" in page
    assert page.count('<td class="number">1 game</td>') == 2


async def test_times_of_moves_come_from_the_texts_that_are_kept(site: Site) -> None:
    both: tuple[list[Spoken], list[Spoken]] = ([], [])
    for number, column in enumerate(FOUR):
        both[number % 2].append((0.25 * (number + 1), "in", column, None))
    keep(site.database, [game()], both)
    keep(site.database, [game("carol", "dave")])
    assert '<th scope="row">move 4</th><td data-y="0.0"><b>250 ms</b></td>' in await shown(
        site, "/player/alice"
    )
    assert "There is no evidence of its latest 50 games" in await shown(site, "/player/carol")
