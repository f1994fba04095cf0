"""The page of one game."""

import csv
import io
import json
import re
import time
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from game_records import drawn, game, packed, rows
from markupsafe import escape
from tournament_news import add, begun, played
from web_world import NASTY, Seen, Site, analyse, keep, said, shown, unkept
from worlds.tournaments import file_of

from gateway.commands import stored_games as commands
from gateway.game.events import Objection, Reason
from gateway.game.fact_encoding import encode_fact
from gateway.game.facts import GameStarted, Standing
from gateway.game.text import is_visible, printable
from gateway.store import storing
from gateway.store.evidence import recorded
from gateway.store.games import Filter
from gateway.store.records import Enclosure, Participant
from gateway.tournament.log import Announced, Awarded, Entry, Paired, Replayed, Voided

HTML = {"Accept": "text/html"}
LINE = (Participant("ann", "droidcon"), Participant("bob", "nac4"))
ILLEGAL = game(players=LINE, moves="33", winner=1, reason=Reason.ILLEGAL)
SAID = (
    (0.0, "out", "YOUR_MOVE", 42.0),
    (0.1, "in", "PUT 3", None),
    (0.3, "out", "PUT 3", None),
    (0.5, "in", "PUT 9", Objection.OUTSIDE),
    (0.6, "note", "", "lost by an illegal move"),
)
STARTED = GameStarted("9k3fm-00002a", (1, 2), ("<ann>", "bob"), ("droidcon", "nac4"), None, 1, 42.0)
HEARD = ((0.1, "out", "genmove", None), (0.3, "in", "playmove 3", None))


async def page_of(site: Site, target: str = "/game/1", status: int = 200) -> str:
    async with site.client() as client:
        response = await client.get(target, headers=HTML)
    assert response.status_code == status, response.text
    return response.text


def words(page: str) -> str:
    """Return what can be read, in one line."""
    main = page[page.index("<main") :]
    return " ".join(unescape(re.sub(r"<[^>]*>", "", main)).split())


async def test_page_says_who_won_and_why_and_where_and_when(site: Site) -> None:
    keep(site.database, [game(table="corner", series=7, round=2)])
    shown = words(await page_of(site))
    assert "alice beat bob with four in a row" in shown
    assert "Move 7, in column 0, made four in a row." in shown
    assert (
        "Game 1 · table corner · series 7, round 2 · 11-14 22:13 2023-11-14T22:13:20.000Z · 7 moves" in shown
    )


async def test_link_that_is_shared_tells_who_beat_whom_and_how(site: Site) -> None:
    keep(site.database, [game()])
    page = await page_of(site)
    assert '<meta property="og:title" content="alice beat bob with four in a row">' in page
    assert "alice beat bob with four in a row, 7 moves. Move 7, in column 0, made four in a row." in page


async def test_game_leads_to_the_games_around_it_and_to_the_rounds_of_its_series(site: Site) -> None:
    ids = [f"9k3fm-00000{number}" for number in range(1, 4)]
    rounds = [game("alice", "bob"), game("bob", "alice"), drawn("alice", "bob")]
    about = [{"game": each, "series": 58, "round": number} for number, each in enumerate(ids, 1)]
    with site.database.writing() as connection:
        records = [replace(each, **more) for each, more in zip(rounds, about, strict=True)]
        storing.store(connection, rows(records))
    page = await page_of(site, f"/game/{ids[1]}")
    assert [f'rel="{each}"' in page for each in ("prev", "next")] == [True, True]
    shown = words(page)
    assert "Series 58, alice 1½ : 1½ bob Round 1 ✓ alice Round 2 ✓ bob Round 3 = drawn" in shown
    assert "All 3 games of the two" in shown
    assert 'href="/games?player=bob&amp;opponent=alice"' in page
    assert 'rel="prev"' not in await page_of(site, f"/game/{ids[0]}")


async def test_silence_that_lost_is_told_to_whom_it_concerns(site: Site) -> None:
    exchange = ((0.1, "out", "genmove", None), (0.3, "in", "playmove 3", None))
    other = ((0.3, "out", "YOUR_MOVE", 1.2), (1.5, "out", "YOU_LOST", None))
    record = game(players=LINE[::-1], moves="3", winner=0, reason=Reason.TIME)
    keep(site.database, [record], (exchange, other))
    shown = words(await page_of(site))
    assert "ann was silent for 1.2 s after move 1." in shown
    assert "✕ time 300 ✕ no move for 1.2 s its clock ran out at 0.0" in shown


async def test_analysis_that_is_stored_is_shown_also_without_the_solver(site: Site) -> None:
    keep(site.database, [game()])
    analyse(site, 1, [0, 0, 0, 0, 5, -5, 5])
    assert 'class="game solves"' in await page_of(site)


async def test_game_has_its_board_and_its_moves_without_a_script(site: Site) -> None:
    keep(site.database, [ILLEGAL], (SAID, HEARD))
    page = await page_of(site)
    assert 'class="final"' in page
    assert "1 3 0.10 3 0.20 3 9 ✕ 0.20" in words(page)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (Announced("lunch"), ""),
        (Awarded(0, 0, 1), "In the tournament cup it was awarded to bob."),
        (Awarded(0, 0, None), "In the tournament cup it was awarded as a draw."),
        (Voided(0, [0]), "In the tournament cup it was made void."),
        (Replayed(0, [0], ["1"]), "In the tournament cup it was played again."),
        (Voided(0, [1]), ""),
    ],
)
@pytest.mark.parametrize("rated", [True, False])
async def test_game_whose_result_does_not_count_in_its_tournament_says_so(
    site: Site, entry: Entry, words: str, rated: bool
) -> None:
    games = [replace(played(0, 0, ("ann", "bob")), counted=rated)]
    add(site.database, file_of(), [*begun(), Paired([(0, 1, 1)]), entry], games)
    text = " ".join("".join(Seen(await shown(site, "/game/1")).texts).split())
    assert "ann beat bob" in text
    assert words in text
    assert ("In the tournament" in text) == bool(words)


async def test_illegal_move_is_quoted_with_what_was_wrong(site: Site) -> None:
    keep(site.database, [ILLEGAL], (SAID, HEARD))
    page = await page_of(site)
    assert "At move 3 ann sent PUT 9, which was refused: outside the board. A Droidcon player loses" in words(
        page
    )
    assert page.count('class="refused"') == 1
    assert [int(each) for each in re.findall('data-move="([0-9]+)"', page)] == [1, 2]


async def test_script_gets_moves_and_times_and_no_more_than_it_needs(site: Site) -> None:
    keep(site.database, [ILLEGAL], (SAID, HEARD))
    found = re.search('data-game="([^"]*)"', await page_of(site))
    assert found is not None
    assert json.loads(unescape(found[1])) == {
        "game": "1",
        "names": ["ann", "bob"],
        "moves": "33",
        "turns": [{"used": 100, "left": 41_900}, {"used": 200, "left": None}],
        "attempt": {"column": "9", "used": 200},
        "thought": [120, 340],
        "winner": 1,
        "reason": "illegal",
    }


@pytest.mark.parametrize("text", [*NASTY, "<img src=x onerror=alert(1)>", "\u202eecila", "\ud800"])
async def test_no_text_on_a_wire_is_more_than_visible_text(site: Site, text: str) -> None:
    evidence = ((0.1, "in", text, Objection.UNREADABLE), (0.2, "out", text, None), (0.3, "note", "", text))
    keep(site.database, [game(winner=1, reason=Reason.ILLEGAL)], (evidence, evidence))
    page = await page_of(site)
    visible = escape(printable(text.rstrip("\r\n")))
    assert page.count(f'"wire">{visible}</bdi>') == 4
    assert "img" not in Seen(page).tags
    assert all(is_visible(each) for each in words(page))


async def test_game_that_ended_just_now_is_looked_at_again_for_what_was_said(site: Site) -> None:
    keep(site.database, [game(ended=round(1000 * time.time()) + 3_600_000)])
    page = await page_of(site)
    assert "The messages are not kept yet" in words(page)
    assert "data-early" in page


async def test_player_of_the_server_s_own_has_no_wire(site: Site) -> None:
    record = game(players=(LINE[0], Participant("aima", "house", house=True)))
    keep(site.database, [record])
    with site.database.writing() as connection:
        storing.enclose(connection, packed([Enclosure("1", 0, recorded(said("x")))]))
    shown = words(await page_of(site))
    assert "aima: one of the server's own players, without a connection." in shown


@pytest.mark.parametrize("typed", ["9K3FM-00002A", "9k3fm-ooo02a", "9k3fm-00oO2a"])
async def test_id_that_is_typed_otherwise_leads_to_the_address_of_the_game(site: Site, typed: str) -> None:
    async with site.client() as client:
        response = await client.get(f"/game/{typed}", headers=HTML)
    assert (response.status_code, response.headers["location"]) == (301, "/game/9k3fm-00002a")


@pytest.mark.parametrize("unknown", ["4711", "9k3fm-00002a"])
async def test_game_that_there_is_not_leads_on(site: Site, unknown: str) -> None:
    keep(site.database, [game()])
    page = await page_of(site, f"/game/{unknown}", 404)
    assert f"There is no game {unknown} The newest is game 1." in words(page)
    assert 'href="/"' in page
    assert 'href="/standings"' in page
    async with site.client() as client:
        response = await client.get(f"/game/{unknown}")
    assert response.json() == {"error": f"there is no game {unknown}"}


@pytest.mark.parametrize("text", ["x", "<b>", "%00", "0", "9k3fm-00002", "9k3fm-00002a.frob", "1.frob"])
async def test_what_is_no_id_or_no_format_is_not_found(site: Site, text: str) -> None:
    keep(site.database, [game()])
    page = await page_of(site, f"/game/{text}", 404)
    assert "<b>" not in page
    assert "<h1>There is no such" in page


async def test_game_that_is_on_is_shown_at_its_address(site: Site) -> None:
    site.on = [encode_fact((STARTED, Standing((3, 3), (0.1, 0.2), (41.0, 40.0), 0.5)))]
    page = await page_of(site, "/game/9k3fm-00002a")
    assert "<ann> plays bob The game is on." in words(page)
    assert "Moves only while the game is on" in words(page)
    assert "Game 9k3fm-00002a · lobby · round 1 · 42 s for each player" in words(page)
    assert "/api/live/events?game=9k3fm-00002a" in page
    assert ".pgn" not in page


async def test_game_that_is_on_tells_what_is_known_of_its_players(site: Site) -> None:
    players = ("<ann>", "bob")
    keep(site.database, [game(*players), *(drawn(*players[::-1], game=each) for each in ("2", "3"))])
    site.on = [encode_fact((STARTED, Standing((3,), (0.1,), (41.0, 40.0), 0.5)))]
    shown = words(await page_of(site, "/game/9k3fm-00002a"))
    assert "Head to head <ann> 2 : 1 bob" in shown
    assert "won 1, drew 2, lost 0" in shown
    assert "1st, sure" in shown
    assert "By rating" in shown
    assert "Their last games 3 bob first = drawn 2 bob first = drawn 1 <ann> first ✓ four Chip" in shown
    assert "All 3 games of the two" in shown


async def test_game_that_is_on_is_shown_where_no_results_are_kept(tmp_path: Path) -> None:
    site = unkept(tmp_path)
    site.on = [encode_fact((STARTED, Standing((3,), (0.1,), (41.0, 42.0), 0.5)))]
    shown = words(await page_of(site, f"/game/{STARTED.game}"))
    assert "This server keeps no results and no messages." in shown
    assert "Results are not kept here" in words(await page_of(site, "/game/9k3fm-00002b"))


@pytest.mark.parametrize("form", ["csv", "jsonl", "pgn", "arena"])
async def test_game_is_given_in_every_format_as_the_exporter_has_it(site: Site, form: str) -> None:
    keep(site.database, [game("=cmd()", "bob")])
    async with site.client() as client:
        response = await client.get(f"/game/1.{form}")
    assert response.headers["content-disposition"] == f'attachment; filename="1.{form}"'
    assert response.text == "".join(commands.export(site.database, form, Filter()))
    if form == "csv":
        (row,) = csv.DictReader(io.StringIO(response.text))
        assert row["first"] == "'=cmd()"
