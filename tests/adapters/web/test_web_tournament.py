"""Tournaments in the API, on the page and on the projector."""

import csv
import io
from urllib.parse import quote

import httpx
import pytest
from tournament_news import KNOCKOUT, KNOCKOUT_GAMES, SWISS, SWISS_GAMES, add, begun, played
from web_world import Seen, Site, shown, unkept
from worlds.tournaments import Stored, file_of

from adapters.web.page.sentences import plain, progress, quarters, rules
from gateway.game.fact_encoding import encode_fact
from gateway.game.facts import GameStarted
from gateway.tournament.log import Ended, Entered, Entry, Paired, Paused
from gateway.tournament.report import described
from gateway.tournament.settings import parse
from gateway.tournament.tournament import Tournament


async def got(site: Site, path: str, status: int = 200) -> httpx.Response:
    async with site.client() as client:
        response = await client.get(path)
    assert response.status_code == status, response.text
    return response


@pytest.fixture
def cup(site: Site) -> Site:
    """A site with a Swiss tournament in its second round."""
    add(site.database, file_of(name="Cup", format="swiss", rounds=3), SWISS, SWISS_GAMES)
    return site


# The API.


async def test_report_has_standings_pairings_byes_faults_and_games_without_result(cup: Site) -> None:
    found = (await got(cup, "/api/tournaments/cup")).json()
    assert [found[name] for name in ("name", "state", "round", "rounds", "players")] == [
        "Cup",
        "running",
        2,
        3,
        5,
    ]
    ranks = {each["name"]: each for each in found["standings"]}
    assert (ranks["ann"]["games"], ranks["ann"]["won"], ranks["bob"]["lost"]) == (3, 3, 2)
    assert (ranks["bob"]["faults"]["illegal"], ranks["dan"]["faults"]["walkover"]) == (1, 1)
    assert [*ranks["ann"]["tie_breaks"]] == found["settings"]["tie_breaks"]
    assert (ranks["dan"]["withdrawn"], ranks["dan"]["may_return"]) == ("3 faults in a row", True)
    assert ranks["ann"]["withdrawn"] is None
    one, other, *_ = found["pairings"]
    assert (one["number"], one["points"], one["state"], one["forfeited"]) == (1, [2.0, 0.0], "over", 0)
    assert [(each["number"], each["first"], each["winner"]) for each in one["games"]] == [
        (1, "ann", 1),
        (2, "bob", 2),
    ]
    assert one["games"][1]["fault"] == "illegal"
    assert (other["points"], other["forfeited"], other["absent"]) == ([1.5, 0.5], 1, ["dan"])
    assert (other["without_result"], [each["game"] for each in other["games"]]) == (["3"], ["4"])
    assert [each["state"] for each in found["pairings"]] == ["over", "over", "waiting", "waiting"]
    assert [each["number"] for each in found["pairings"]] == [1, 2, 4, 5]
    assert found["byes"] == [{"round": 1, "player": "eve"}]
    assert found["bracket"] is None


async def test_report_on_a_knockout_has_its_bracket(site: Site) -> None:
    add(site.database, file_of(format="knockout"), KNOCKOUT, KNOCKOUT_GAMES)
    found = (await got(site, "/api/tournaments/cup")).json()
    assert (found["state"], found["rounds"], found["standings"][0]["name"]) == ("over", 2, "ann")
    assert found["bracket"] == [
        [{"players": ["ann", None], "winner": "ann"}, {"players": ["bob", "cat"], "winner": "bob"}],
        [{"players": ["ann", "bob"], "winner": "ann"}],
    ]


@pytest.mark.parametrize(
    ("entries", "state"),
    [
        ([], "open"),
        ([Entered("ann")], "open"),
        (begun(), "running"),
        ([*begun(), Paused()], "paused"),
        ([*begun(), Ended(by_organiser=True)], "over"),
    ],
)
async def test_list_and_report_agree_on_the_state(site: Site, entries: list[Entry], state: str) -> None:
    add(site.database, file_of(name="Ä/b"), entries)
    (listed,) = (await got(site, "/api/tournaments")).json()["tournaments"]
    found = (await got(site, listed["url"])).json()
    assert listed["state"] == state
    assert found.items() >= {name: value for name, value in listed.items() if name != "url"}.items()


async def test_tournaments_are_found_by_their_names_in_any_case_and_others_are_404(cup: Site) -> None:
    assert (await got(cup, "/api/tournaments/CUP")).json()["name"] == "Cup"
    for path in (
        "/api/tournaments/cub",
        "/api/tournaments/cub/standings.csv",
        "/tournament/cub",
        "/board?tournament=cub",
    ):
        assert (
            "there is no tournament 'cub'; did you mean 'cup'?" in (await got(cup, path, 404)).json()["error"]
        )
    assert (await got(cup, "/api/tournaments/%FF", 400)).json()["error"].startswith("the name")


async def test_tournament_of_a_later_version_is_left_out_of_the_list(cup: Site) -> None:
    with cup.database.writing() as connection:
        connection.exec_driver_sql('UPDATE tournament_entries SET entry = \'{"entry": "Tossed"}\'')
    assert (await got(cup, "/api/tournaments")).json() == {"tournaments": []}
    assert "cannot be read" in (await got(cup, "/api/tournaments/cup", 404)).json()["error"]


async def test_sheet_has_the_standings_and_no_formulas(site: Site) -> None:
    add(site.database, file_of(), begun(("=1+1", "bob")))
    response = await got(site, "/api/tournaments/cup/standings.csv")
    assert response.headers["content-type"] == "text/csv; charset=utf-8"
    head, *lines = csv.reader(io.StringIO(response.text))
    assert {len(line) for line in lines} == {len(head)}
    assert sorted(line[head.index("player")] for line in lines) == ["'=1+1", "bob"]
    assert "tie_break_buchholz" in head


# The page.


@pytest.mark.parametrize("kind", ["round-robin", "gauntlet", "swiss"])
async def test_page_of_each_format_shows_standings_pairings_and_games(site: Site, kind: str) -> None:
    entries = [*begun(), Paired([(0, 1, 1), (0, 2, 2)])]
    add(site.database, file_of(format=kind), entries, [played(0, 0, ("ann", "bob"))])
    page = Seen(await shown(site, "/tournament/cup"))
    assert page.values("data-part") == ["head", "standings", "rounds", "cross", "enter"]
    assert "/game/1" in page.values("href")
    assert "cell-1-2" in page.values("id")
    assert [each for each in page.values("href") if each.startswith("?")] == ["?round=1", "?round=2"]


async def test_page_shows_the_first_round_that_is_not_over_or_the_one_in_the_address(cup: Site) -> None:
    for query, number, player in (("", "2", "cat"), ("?round=1", "1", "dan")):
        page = Seen(await shown(cup, f"/tournament/cup{query}"))
        ((_, about),) = [each for each in page.elements if each[1].get("aria-current") == "true"]
        assert about["href"] == f"?round={number}"
        pairings = "".join(page.texts[page.texts.index("Round ") :])
        assert player in pairings.partition("Cross-table")[0]
    await shown(cup, "/tournament/cup?round=3", 400)


async def test_page_of_a_knockout_shows_its_bracket_and_who_won(site: Site) -> None:
    add(site.database, file_of(format="knockout"), KNOCKOUT, KNOCKOUT_GAMES)
    text = await shown(site, "/tournament/cup")
    page = Seen(text)
    assert page.values("data-part") == ["head", "standings", "rounds", "bracket"]
    assert "Final" in page.texts
    assert "won." in text


async def test_page_says_who_is_withdrawn_why_who_forfeited_and_who_was_free(cup: Site) -> None:
    words = " ".join("".join(Seen(await shown(cup, "/tournament/cup?round=1")).texts).split())
    assert "Round 2 of 3: 0 of 2 pairings over." in words
    assert "dan is withdrawn: 3 faults in a row; it may come back." in words
    assert "1 game forfeited by dan" in words
    assert "free in this round" in words
    assert "✕ 1 illegal move 1" in words


async def test_open_tournament_says_when_it_begins_and_how_to_enter(site: Site) -> None:
    add(site.database, file_of(name="Cup", players=4), [Entered("ann")])
    words = " ".join("".join(Seen(await shown(site, "/tournament/Cup")).texts).split())
    assert "It begins when 4 players are here. 1 player has entered." in words
    assert "nac4: ws://site:8080/?table=Cup" in words
    assert "Droidcon: site:4242 and JOIN Cup" in words


async def test_names_stay_text_and_have_addresses(site: Site) -> None:
    name = "<b>&?#/%"
    add(site.database, file_of(name=name), begun(("<i>", "bob")))
    listed = Seen(await shown(site, "/tournaments"))
    address = f"/tournament/{quote(name, safe='')}"
    assert address in listed.values("href")
    page = Seen(await shown(site, address))
    assert {name, "<i>"} <= {*page.texts}
    assert "i" not in page.tags
    for link in page.values("href"):
        if link.startswith(("/api/", "/board", "/?table")):
            await got(site, link)


async def test_pairing_with_a_live_game_is_marked(cup: Site) -> None:
    started = GameStarted("9k3fm-000001", (1, 2), ("bob", "cat"), ("nac4", "arena"), "Cup", 1, None)
    cup.on = [encode_fact(started)]
    page = Seen(await shown(cup, "/tournament/cup"))
    assert "/game/9k3fm-000001" in page.values("href")


async def test_page_is_complete_while_the_live_games_are_not_known(cup: Site, autojump_clock: object) -> None:
    cup.is_silent = True
    assert "Cross-table" in await shown(cup, "/tournament/cup")


async def test_without_tournaments_the_list_says_how_to_add_one(site: Site) -> None:
    assert "tournament new cup.toml" in await shown(site, "/tournaments")


@pytest.mark.parametrize("path", ["/tournaments", "/tournament/cup", "/board?tournament=cup"])
async def test_where_no_results_are_kept_the_views_say_so(tmp_path: object, path: str) -> None:
    site = unkept(tmp_path)  # type: ignore[arg-type]
    page = await shown(site, path)
    assert "Results are not kept here" in page
    assert "/tournaments" not in Seen(page).values("href")


async def test_projector_shows_the_games_and_the_standings_of_a_tournament(cup: Site) -> None:
    board = Seen(await shown(cup, "/board?tournament=CUP"))
    assert board.values("data-stream") == ["/api/live/events?table=Cup&most=6"]
    (address,) = board.values("data-standings")
    table = Seen(await shown(cup, address))
    assert table.values("data-note") == ["round 2 of 3"]
    assert table.values("data-title") == ["Cup"]


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (0.5, "½"), (8.5, "8½"), (48.25, "48¼"), (0.75, "¾"), (12, "12")]
)
def test_points_are_written_in_quarters(value: float, text: str) -> None:
    assert quarters(value) == text


@pytest.mark.parametrize(
    ("settings", "entries", "words"),
    [
        ({}, [], "It begins when the organiser starts it. 0 players have entered."),
        ({"players": 3}, [Entered("ann")], "It begins when 3 players are here. 1 player has entered."),
        ({}, [*begun(), Paired([(0, 1, 1)]), Paused()], "Paused. 0 of 1 pairing over."),
        (
            {"format": "swiss", "rounds": 2},
            [*begun(), Paired([(0, 1, 1), (2, 3, 1)])],
            "Round 1 of 2: 0 of 2 pairings over.",
        ),
        ({}, [Entered("ann"), Ended()], "It ended before it began."),
        ({}, [*begun(), Ended()], "It is over; 4 players share the first place."),
        ({"format": "knockout"}, KNOCKOUT, "It is over; ann won."),
        (
            {"format": "knockout"},
            [*KNOCKOUT[:-1], Ended(by_organiser=True)],
            "The organiser ended it early; ann is first.",
        ),
    ],
)
def test_sentence_says_how_far_a_tournament_is(
    settings: dict[str, object], entries: list[Entry], words: str
) -> None:
    stored = Stored(**settings)
    stored.log(*entries)
    assert plain(progress(described(stored.read()))) == words


def test_start_at_a_time_is_said_in_utc() -> None:
    tournament = Tournament(parse(f"{file_of()}\nstart = 2026-11-28T10:00:00+01:00"))
    assert plain(progress(described(tournament))).startswith("It begins at 2026-11-28T09:00:00")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"cycles": 2}, "Round robin, 2 cycles, 2 games of each pairing"),
        ({"format": "gauntlet", "games": 4}, "Gauntlet, 4 games of each pairing"),
        ({"format": "swiss", "players": 8}, "Swiss, 3 rounds, 2 games of each pairing"),
        ({"format": "knockout"}, "Knockout, 2 games of each pairing"),
    ],
)
def test_rules_are_said_in_a_line(settings: dict[str, object], words: str) -> None:
    assert rules(described(Stored(**settings).read())) == words
