"""The view of games: its filters, its pages, and what it says when there is nothing."""

import sys
import time

import pytest
from game_records import drawn, game
from tournament_news import KNOCKOUT, KNOCKOUT_GAMES, SWISS, SWISS_GAMES, add
from web_world import NASTY, Seen, Site, analyse, keep, said, shown
from worlds.tournaments import file_of

from adapters.web.page.games import ROWS
from gateway.game.events import Reason
from gateway.store import storing
from gateway.store.records import GameRecord

NOW = time.time_ns() // 1_000_000
DAY = 86_400_000


def text_of(page: str) -> str:
    return " ".join("".join(Seen(page).texts).split())


def links(page: str, prefix: str) -> list[str]:
    return [each for each in Seen(page).values("href") if each.startswith(prefix)]


def listed(page: str) -> list[str]:
    """Return the games of a page."""
    return list(
        dict.fromkeys(each.removeprefix("/game/").partition("#")[0] for each in links(page, "/game/"))
    )


async def test_games_are_listed_the_newest_first_and_winner_first(site: Site) -> None:
    keep(site.database, [game(), game(winner=1, moves="30101010"), drawn()])
    page = await shown(site, "/games")
    assert listed(page) == ["3", "2", "1"]
    text = text_of(page)
    assert "Games3, the newest first" in text.replace(" 3", "3")
    for words in (
        "aliceN nac4 beat moving second, bob",
        "bobA c4-arena beat",
        "drew with",
        "✓ four",
        "= drawn",
        "full board",
    ):
        assert words in text


async def test_mistakes_of_a_bot_since_yesterday_are_one_address(site: Site) -> None:
    records = [
        game("bob", "alice", ended=NOW - 3 * DAY),
        game("bob", "alice", ended=NOW),
        game("alice", "bob", ended=NOW, winner=1, reason=Reason.TIME, moves="01"),
        game("alice", "bob", ended=NOW),
    ]
    keep(site.database, records)
    address = "/games?player=alice&since=yesterday&mistake=1&result=lost"
    page = await shown(site, address)
    assert listed(page) == ["3"]
    assert "1 of 4: lost by alice since yesterday, by a mistake of its own" in text_of(page)
    assert links(page, "/game/3#") == ["/game/3#2"]
    assert "/games?player=alice&since=yesterday" in links(page, "/games"), "lost and by mistake go together"
    analyse(site, 2, [0, 5, 5, -5, 5, -5, 5])
    page = await shown(site, address)
    assert listed(page) == ["3", "2"]
    assert "not analysed" not in text_of(page)
    keep(site.database, [game("bob", "alice", ended=NOW)])
    assert "; 1 more is not analysed yet" in text_of(await shown(site, address))


async def test_without_a_solver_only_faults_are_known_as_mistakes(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(site.database, [game(), game(moves="33", winner=0, reason=Reason.LEFT)])
    words = "which moves were mistakes is not known without the extra perfect"
    monkeypatch.setitem(sys.modules, "bitbully", None)
    assert words in text_of(await shown(site, "/games?mistake=1"))
    assert words not in text_of(await shown(site, "/games?mistake=1&reason=left"))
    analyse(site, 1, [0] * 7)
    assert words not in text_of(await shown(site, "/games?mistake=1"))


async def test_turning_move_is_said_and_linked(site: Site) -> None:
    keep(site.database, [game()])
    analyse(site, 1, [0, 0, 0, 0, 5, -5, 5])
    page = await shown(site, "/games")
    assert "Move 4 gave away a draw, by column 1; columns 2 and 6 held it." in text_of(page)
    assert "/game/1#4" in links(page, "/game/")


async def test_fault_is_said_from_the_evidence(site: Site) -> None:
    keep(site.database, [game(winner=1, reason=Reason.ILLEGAL, moves="01")], (said("9 is my move"), ()))
    assert "Sent 9 is my move, which was refused: cannot be read." in text_of(await shown(site, "/games"))


async def test_filter_that_is_set_can_be_removed_alone(site: Site) -> None:
    keep(site.database, [game(table="Show", ended=NOW)])
    page = await shown(
        site, "/games?player=alice&opponent=bob&result=won&reason=four&table=show&since=week&counted=1"
    )
    assert listed(page) == ["1"]
    found = links(page, "/games")
    rest = "since=week&counted=1"
    assert f"/games?reason=four&table=show&{rest}" in found, "the opponent and the result need the player"
    for without in (
        f"player=alice&result=won&reason=four&table=show&{rest}",
        f"player=alice&opponent=bob&reason=four&table=show&{rest}",
        f"player=alice&opponent=bob&result=won&table=show&{rest}",
        f"player=alice&opponent=bob&result=won&reason=four&{rest}",
        "player=alice&opponent=bob&result=won&reason=four&table=show&since=week",
    ):
        assert f"/games?{without}" in found
    assert (
        "1 of 1: won by alice against bob by four in a row at table show in the last 7 days that count"
        in (text_of(page))
    )


async def test_pages_have_links_and_the_first_no_newer_games(site: Site) -> None:
    keep(site.database, [game()] * (7 * ROWS + 1))
    first = await shown(site, "/games?player=bob")
    assert listed(first) == [str(number) for number in range(71, 61, -1)]
    assert "prev" not in Seen(first).values("rel")
    assert "/games?player=bob&page=8" in links(first, "/games")
    assert "page 1page 2page 3…page 8older" in text_of(first)
    last = await shown(site, "/games?player=bob&page=8")
    assert listed(last) == ["1"]
    assert "next" not in Seen(last).values("rel")
    assert "The last page" in await shown(site, "/games?page=9")


async def test_nothing_found_says_without_which_filter_there_are_games(site: Site) -> None:
    keep(site.database, [game(), game(), drawn()])
    page = await shown(site, "/games?player=alice&result=lost&reason=four")
    assert "No such game" in page
    assert "without Result lost 2 games" in text_of(page)
    assert "without Reason" not in text_of(page)
    assert "/games?player=alice&reason=four" in links(page, "/games")
    page = await shown(site, "/games?player=alicf&opponent=bobb")
    assert "Nobody called alicf has finished a game; did you mean alice?" in text_of(page)
    assert "/games?player=alice&opponent=bobb" in links(page, "/games")
    keep(site.database, [game(table="Cup")])
    assert "No game was played at a table called cuq; did you mean Cup?" in text_of(
        await shown(site, "/games?table=cuq")
    )


@pytest.mark.parametrize(
    ("result", "words"), [("won", "beat moving first"), ("lost", "lost to moving second")]
)
async def test_game_of_namesakes_is_shown_as_the_result_says(site: Site, result: str, words: str) -> None:
    keep(site.database, [game("ann", "ann", winner=1, moves="30101010")])
    assert words in text_of(await shown(site, f"/games?player=ann&result={result}"))


async def test_game_of_a_tournament_links_to_its_round(site: Site) -> None:
    add(site.database, file_of(format="swiss", rounds=3), SWISS, SWISS_GAMES)
    page = await shown(site, "/games?table=cup")
    assert "cup, round 1" in text_of(page)
    assert "/tournament/cup?stage=1&round=2" in links(page, "/tournament/")


async def test_round_is_that_of_the_tournament_that_has_the_name_now(site: Site) -> None:
    add(site.database, file_of(format="swiss", rounds=3), SWISS, SWISS_GAMES)
    async with site.client() as client:
        await client.get("/games?table=cup", headers={"Accept": "text/html"})
        with site.database.writing() as connection:
            storing.clear(connection)
        add(site.database, file_of(format="knockout"), KNOCKOUT, KNOCKOUT_GAMES)
        page = (await client.get("/games?table=cup", headers={"Accept": "text/html"})).text
    assert "/tournament/cup?stage=1&round=2" in links(page, "/tournament/")


@pytest.mark.parametrize("path", ["/games?player=", "/games?result=", "/games"])
async def test_empty_database_says_how_to_begin(site: Site, path: str) -> None:
    page = await shown(site, path)
    assert "No game has been played yet" in page
    assert "ws://site:8080" in page


async def test_server_without_results_says_how_to_keep_them(site: Site) -> None:
    site.database.close()
    site.show(database=None)
    assert "Results are not kept here" in await shown(site, "/games")


async def test_any_name_and_table_can_be_shown(site: Site) -> None:
    records: list[GameRecord] = [game(name, "x" * 256, table=name) for name in NASTY]
    keep(site.database, records)
    page = await shown(site, "/games")
    assert "<script>" not in page
    for address in {*links(page, "/games?table=")} - {"/games?table=lobby"}:
        assert "No such game" not in await shown(site, address), address


async def test_impossible_choice_is_refused(site: Site) -> None:
    for query in ("opponent=bob", "result=lose", "mistake=2", "page=0", "page=1001", "since=never", "x=1"):
        await shown(site, f"/games?{query}", 400)
