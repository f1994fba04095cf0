"""Tournaments in the API, on the page and on the projector."""

import csv
import io
from urllib.parse import quote

import httpx
import pytest
from tournament_news import KNOCKOUT, KNOCKOUT_GAMES, NAMES, SWISS, SWISS_GAMES, add, begun, played
from web_world import Seen, Site, shown, unkept
from worlds.tournaments import Stored, file_of

from adapters.web.page.sentences import came_through, plain, progress, quarters, rules
from adapters.web.page.tournament import FORMS
from gateway.game.events import Reason
from gateway.game.fact_encoding import encode_fact
from gateway.game.facts import GameStarted, MoveMade
from gateway.game.results import Scheduled
from gateway.store.corrections import rename
from gateway.store.records import GameRecord
from gateway.tournament.log import Announced, Ended, Entered, Entry, Paired, Paused, StageBegun, Voided
from gateway.tournament.report import described
from gateway.tournament.settings import parse
from gateway.tournament.testing import TESTS
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
    assert found["byes"] == [{"stage": 1, "round": 1, "player": "eve"}]
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
        ([*begun(), Ended(by_director=True)], "over"),
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


def words_of(page: str) -> str:
    """Return the texts of a page, with single blanks."""
    return " ".join("".join(Seen(page).texts).split())


def chosen(page: str) -> list[str | None]:
    """Return the links to what is shown already."""
    return [about.get("href") for _, about in Seen(page).elements if about.get("aria-current") == "true"]


@pytest.mark.parametrize("kind", ["round-robin", "gauntlet", "swiss"])
async def test_page_of_each_format_shows_standings_pairs_and_games(site: Site, kind: str) -> None:
    entries = [*begun(), Paired([(0, 1, 1), (0, 2, 2)])]
    add(site.database, file_of(format=kind), entries, [played(0, 0, ("ann", "bob"))])
    page = Seen(await shown(site, "/tournament/cup"))
    assert page.values("data-part") == ["head", "said", "bar", "standings-1", "round", "enter"]
    assert {"/game/1", "/tournament/cup?round=2"} <= {*page.values("href")}
    cells = Seen(await shown(site, "/tournament/cup?view=crosstable"))
    assert "cell-1-1-2" in cells.values("id")
    assert "/game/1" in cells.values("data-newest")
    assert "/games?player=ann&opponent=bob&table=cup" in cells.values("href")


@pytest.mark.parametrize("view", ["standings", "crosstable", "pairs", "faults", "log", "bracket"])
@pytest.mark.parametrize("kind", ["swiss", "knockout"])
async def test_each_view_has_an_address_whatever_the_format(site: Site, kind: str, view: str) -> None:
    add(site.database, file_of(format=kind), [*begun(), Paired([(0, 1, 1), (2, 3, 1)])])
    page = Seen(await shown(site, f"/tournament/cup?view={view}"))
    links = [each for each in page.values("href") if each.startswith("/tournament/cup?")]
    for link in links:
        await shown(site, link)


@pytest.mark.parametrize("query", ["view=all", "stage=2", "stage=0", "round=4", "round=0", "rounds=1"])
async def test_address_of_what_there_is_not_is_refused(cup: Site, query: str) -> None:
    await shown(cup, f"/tournament/cup?{query}", 400)


async def test_page_shows_the_first_round_that_is_not_over_or_the_one_in_the_address(cup: Site) -> None:
    for query, number, player in (("", "2", "cat"), ("?round=1", "1", "dan")):
        page = await shown(cup, f"/tournament/cup{query}")
        assert chosen(page) == [f"/tournament/Cup?round={number}"]
        assert player in words_of(page).partition(f"Round {number}")[2]
    assert "Round 3 is not paired yet." in words_of(await shown(cup, "/tournament/cup?round=3"))


async def test_many_rounds_have_tabs_at_the_ends_and_around_the_chosen_one(site: Site) -> None:
    entries = [*begun(), Paired([(0, 1, number) for number in range(1, 31)])]
    add(site.database, file_of(), entries)
    page = await shown(site, "/tournament/cup?round=15")
    links = dict.fromkeys(each for each in Seen(page).values("href") if "?round=" in each)
    assert [int(each.rpartition("=")[2]) for each in links] == [1, 13, 14, 15, 16, 17, 30]


async def test_page_of_a_knockout_shows_its_bracket_and_who_won(site: Site) -> None:
    add(site.database, file_of(format="knockout"), KNOCKOUT, KNOCKOUT_GAMES)
    page = await shown(site, "/tournament/cup")
    assert Seen(page).values("data-part") == ["head", "said", "bar", "bracket"]
    words = words_of(page)
    assert "It is over; ann won." in words
    assert "Semi-finals ✓ over 1annA c4-arena✓ goes on free 2bobN nac4✓ goes on2 3cat" in words
    assert "ann won: its way is the thick line." in words


async def test_stage_has_an_address_and_groups_have_tables_of_their_own(site: Site) -> None:
    settings = file_of(groups=2, then="knockout", advance=1)
    first = [*begun(), Paired([(0, 3, 1), (1, 2, 1)])]
    add(site.database, settings, [*first, StageBegun([0, 1]), Paired([(0, 1, 1)])])
    page = await shown(site, "/tournament/cup")
    assert "2 of 4 players came through the groups; seeded by their place there." in words_of(page)
    assert "Final: 0 of 1 pair over." in words_of(page)
    assert "bracket" in Seen(page).values("data-part")
    groups = Seen(await shown(site, "/tournament/cup?stage=1"))
    assert groups.values("data-part") == ["head", "said", "bar", "standings-1", "standings-2"]
    assert {"/tournament/cup", "/tournament/cup?stage=1&view=pairs"} <= {*groups.values("href")}


async def test_page_says_who_is_withdrawn_why_who_forfeited_and_who_was_free(cup: Site) -> None:
    words = words_of(await shown(cup, "/tournament/cup?round=1"))
    assert "Round 2 of 3: 0 of 2 pairs over." in words
    assert "Round 3 begins after the last." in words
    assert "dan is withdrawn: 3 faults in a row; it can come back." in words
    assert "1 game forfeited by dan; not counted: 3" in words
    assert "free this round, 2 points; its first" in words
    assert "✕ 1 illegal move 1" in words
    assert "/tournament/Cup/player/bob" in Seen(await shown(cup, "/tournament/cup")).values("href")


async def test_everybody_sees_the_announcement_and_the_log(site: Site) -> None:
    text = "<b>lunch</b> at 12:30"
    entries = [*begun(), Paired([(0, 1, 1)]), Announced(text), Voided(0, [1])]
    add(site.database, file_of(), entries)
    for view in ("", "?view=log", "?view=crosstable"):
        assert text in Seen(await shown(site, f"/tournament/cup{view}")).texts
    (source,) = Seen(await shown(site, "/board?tournament=cup")).values("data-source")
    assert text in Seen(await shown(site, source)).values("data-said")
    words = words_of(await shown(site, "/tournament/cup?view=log"))
    assert f"the serverAnnounced: {text}" in words
    assert words.index("Voided game 1.2 (ann and bob)") < words.index("Announced")
    assert "game 2 is void" in words_of(await shown(site, "/tournament/cup"))


async def test_open_tournament_says_when_it_begins_and_how_to_enter(site: Site) -> None:
    add(site.database, file_of(name="Cup", players=4), [Entered("ann")])
    words = " ".join("".join(Seen(await shown(site, "/tournament/Cup")).texts).split())
    assert "It begins when 4 players are here. 1 player has entered." in words
    assert "nac4: ws://site:8080/?table=Cup" in words
    assert "Droidcon: site:4242 and JOIN Cup" in words


ROSTER = '[roster]\nann = "10b"\nbob = "10a"\ncat = "10b"\n"<dan>" = ""\n'
FAILED = played(TESTS, 0, ("ann", "random"), 1, Reason.LEFT, "crash")
PASSED = played(TESTS + 1, 0, ("ann", "random"), 1), played(TESTS + 1, 1, ("random", "ann"))


async def test_before_the_beginning_the_page_says_who_of_the_roster_is_missing_by_group(site: Site) -> None:
    add(site.database, f"{file_of()}\n{ROSTER}", [Entered("ann"), Entered("Eve")])
    words = words_of(await shown(site, "/tournament/cup"))
    assert "3 not entered yet: bob 10acat 10b<dan>" in words
    assert "Group 10a 0 of 1 Group 10b 1 of 2ann No group 1 of 2Eve" in words
    assert "sits down at the table cup, under its name in the roster:" in words


async def test_addresses_for_late_comers_are_in_the_usual_form_alone(cup: Site) -> None:
    parts = [
        Seen(await shown(cup, f"/tournament/cup{query}")).values("data-part") for query in ("", "?view=log")
    ]
    assert ["enter" in each for each in parts] == [True, False]


async def test_late_comers_see_who_has_not_entered(site: Site) -> None:
    entries = [*begun(("ann", "cat", "eve")), Paired([(0, 1, 1)])]
    add(site.database, f"{file_of()}\n{ROSTER}", entries)
    assert "Not entered yet: bob, <dan>." in words_of(await shown(site, "/tournament/cup"))


@pytest.mark.parametrize(
    ("games", "words"),
    [
        ([FAILED], "ann: test against random, failed: its connection ended game 1"),
        ([FAILED, *PASSED], "Passed the test against random: ann game 1 game 2"),
    ],
)
async def test_latest_test_of_a_player_counts_and_those_passed_share_a_line(
    site: Site, games: list[GameRecord], words: str
) -> None:
    add(site.database, file_of(entry_test="random", expected=["ann"]), [], games)
    text = words_of(await shown(site, "/tournament/cup"))
    assert words in text
    assert text.count("game 1") == 1


async def test_projector_says_before_the_beginning_how_to_enter_and_who_is_missing(site: Site) -> None:
    start = "start = 2026-11-28T10:00:00+01:00"
    settings = f"{file_of(name='Cup', entry_test='random')}\n{start}\n{ROSTER}"
    add(site.database, settings, [Entered("bob"), Entered("eve")], [FAILED])
    text = await shown(site, "/board/tournament?name=cup")
    assert Seen(text).values("data-note") == ["2 entered, 3 not yet"]
    words = words_of(text)
    assert "it begins 09:00" in words
    assert "has played its test against random, under its name in the roster." in words
    assert "nac4ws://site:8080/?table=Cup" in words
    assert "Droidconsite:4242 and JOIN Cup" in words
    assert "Group 10a ✓bob Group 10b ◌anntest failed◌catnot yet No group ✓eve◌<dan>not yet" in words
    assert "Points" not in words


@pytest.mark.parametrize(
    ("settings", "title"),
    [
        ({}, "Round robin"),
        ({"groups": 2, "then": "knockout", "advance": 1}, "Groups, then knockout"),
        ({"format": "swiss", "then": "round-robin"}, "Swiss, then round robin"),
    ],
)
async def test_list_has_the_formats_of_both_stages(
    site: Site, settings: dict[str, object], title: str
) -> None:
    add(site.database, file_of(**settings))
    listed = words_of(await shown(site, "/tournaments"))
    assert f"{title}, 0 players" in listed
    assert f"open{title}0not yet" in listed


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


def on(scheduled: Scheduled, *names: str) -> list[bytes]:
    """Return the facts of a game that is on at the table Cup, with a move in column 3."""
    names = names or ("bob", "cat")
    started = GameStarted(
        "9k3fm-000001", (1, 2), (names[0], names[1]), ("nac4", "arena"), "Cup", 1, 42.0, scheduled
    )
    return [encode_fact(started), encode_fact(MoveMade("9k3fm-000001", 0, 3, 1.5, 40.5))]


async def test_live_game_is_shown_at_its_pairing_also_if_a_client_has_another_name_now(cup: Site) -> None:
    cup.on = on(Scheduled(4, 1), "robert", "cat")
    assert "bobN nac440.50" in words_of(await shown(cup, "/tournament/cup"))


async def test_test_game_is_not_shown_at_a_pairing_of_the_same_two(cup: Site) -> None:
    cup.on = on(Scheduled(TESTS, 1))
    assert Seen(await shown(cup, "/tournament/cup")).values("data-game") == []


async def test_pair_with_a_live_game_shows_its_sides_its_board_and_its_clocks(cup: Site) -> None:
    cup.on = on(Scheduled(4, 1))
    text = await shown(cup, "/tournament/cup")
    page = Seen(text)
    assert "/game/9k3fm-000001" in page.values("href")
    assert (page.values("data-game"), "3" in page.values("data-moves")) == (["9k3fm-000001"], True)
    assert page.values("data-side") == ["1", "0"]
    assert "● ongame 1, move 1" in words_of(text)
    assert "bobN nac440.50" in words_of(text)
    assert "● 1 board on" in words_of(text)
    assert "/game/9k3fm-000001" not in Seen(await shown(cup, "/tournament/cup?round=1")).values("href")


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


async def test_projector_shows_the_boards_and_the_standings_of_a_tournament(cup: Site) -> None:
    board = Seen(await shown(cup, "/board?tournament=CUP"))
    assert board.values("data-stream") == ["/api/live/events?table=Cup&most=100"]
    (source,) = board.values("data-source")
    text = await shown(cup, source)
    assert Seen(text).values("data-note") == ["round 2 of 3"]
    assert Seen(text).values("data-moves") == ["0101010", ""]
    words = words_of(text)
    assert "2=ann" in words
    assert "✓ four" in words


@pytest.mark.parametrize(
    "path",
    [
        "/board/tournament?name=cup",
        "/tournament/cup/player/bob",
        *(f"/tournament/cup?round=1&view={form}" for form in FORMS),
    ],
)
async def test_views_have_the_names_of_the_tournament_after_a_player_was_renamed(
    cup: Site, path: str
) -> None:
    rename(cup.database, "ann", "zoe")
    assert "zoe" not in words_of(await shown(cup, path))


async def test_boards_on_come_before_those_that_are_over_on_the_projector(cup: Site) -> None:
    cup.on = on(Scheduled(4, 1))
    page = Seen(await shown(cup, "/board/tournament?name=cup"))
    assert page.values("data-moves") == ["3", "0101010"]


async def test_projector_has_the_places_since_the_round_before(site: Site) -> None:
    first = [*begun(), Paired([(0, 1, 1), (2, 3, 1)]), Paired([(0, 2, 2), (1, 3, 2)])]
    games = [played(0, 0, ("ann", "bob")), played(0, 1, ("bob", "ann"), 1)]
    games += [played(1, 0, ("cat", "dan")), played(1, 1, ("dan", "cat"), 1)]
    games += [played(2, 0, ("ann", "cat"), 1), played(2, 1, ("cat", "ann"))]
    add(site.database, file_of(format="swiss", rounds=3), first, games)
    words = words_of(await shown(site, "/board/tournament?name=cup"))
    assert [each in words for each in ("1=cat", "2▼ 1ann", "3=dan", "4▼ 1bob")] == [True] * 4


async def test_projector_has_a_table_for_each_group_with_a_line_below_those_who_go_on(site: Site) -> None:
    settings = file_of(groups=2, then="knockout", advance=1)
    add(site.database, settings, [*begun(), Paired([(0, 3, 1), (1, 2, 1)])], [played(0, 0, ("ann", "dan"))])
    page = await shown(site, "/board/tournament?name=cup")
    words = words_of(page)
    assert words.index("Group A") < words.index("ann") < words.index("Group B") < words.index("bob")
    assert Seen(page).values("class").count("last-through") == 2
    assert (await shown(site, "/tournament/cup")).count('class="last-through"') == 2


async def test_round_of_a_knockout_is_the_first_one_with_pairs_that_are_not_over(site: Site) -> None:
    settings = file_of(format="knockout", extra=1)
    entries = [*begun((*NAMES, "eve", "fay", "gus")), Paired([(0, None, 1), (1, 6, 1), (2, 5, 1), (3, 4, 1)])]
    games = [played(1, 0, ("bob", "gus")), played(1, 1, ("gus", "bob")), played(3, 0, ("dan", "eve"))]
    games += [played(3, 1, ("eve", "dan"), 1)]
    add(site.database, settings, [*entries, Paired([(1, 6, 1), (0, 3, 2)])], games)
    page = await shown(site, "/board/tournament?name=cup")
    assert Seen(page).values("data-note") == ["Quarter-finals"]
    words = words_of(page)
    assert "Semi-finals ann 0 : 0dan Quarter-finals 2 of 4 over bob 1 : 1gus cat 0 : 0fay" in words
    assert "✓ goes ondan 2 : 0eve" in words
    words = words_of(await shown(site, "/tournament/cup?view=pairs"))
    assert "Quarter-finals: 1 of 3 pairs over." in words
    assert "Each pair of the semi-finals begins when both of its players are known." in words
    assert "pairing 5" in words
    assert "games game 2.1 game 2.2" in words


async def test_projector_says_in_the_end_who_won_beside_the_boards_of_the_last_rounds(site: Site) -> None:
    add(site.database, file_of(format="knockout"), KNOCKOUT, KNOCKOUT_GAMES)
    page = await shown(site, "/board/tournament?name=cup")
    assert Seen(page).values("data-note") == ["It is over; ann won."]
    assert "Final ✓ over ✓ goes onann 2 : 0bob Semi-finals ✓ over" in words_of(page)
    assert len(Seen(page).values("data-moves")) == 2


async def test_faults_are_listed_by_their_number_and_who_has_none_in_a_line(cup: Site) -> None:
    words = words_of(await shown(cup, "/tournament/cup?view=faults"))
    rows, _, free = words.partition("No faults")
    assert [name for name in (*NAMES, "eve") if f"what went wrong for {name}" in rows] == ["bob", "dan"]
    assert all(name in free for name in ("ann", "cat", "eve"))


async def test_pair_has_the_number_of_its_pairing(cup: Site) -> None:
    words = words_of(await shown(cup, "/tournament/cup?round=2"))
    assert [f"pairing {number}" in words for number in range(1, 6)] == [False, False, False, True, True]


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (0.5, "½"), (8.5, "8½"), (48.25, "48¼"), (0.75, "¾"), (12, "12")]
)
def test_points_are_written_in_quarters(value: float, text: str) -> None:
    assert quarters(value) == text


@pytest.mark.parametrize(
    ("settings", "entries", "words"),
    [
        ({}, [], "It begins when it is started. 0 players have entered."),
        ({"players": 3}, [Entered("ann")], "It begins when 3 players are here. 1 player has entered."),
        ({}, [*begun(), Paired([(0, 1, 1)]), Paused()], "Paused. 0 of 1 pair over."),
        (
            {"format": "swiss", "rounds": 2},
            [*begun(), Paired([(0, 1, 1), (2, 3, 1)])],
            "Round 1 of 2: 0 of 2 pairs over.",
        ),
        ({}, [Entered("ann"), Ended()], "It ended before it began."),
        ({}, [*begun(), Ended()], "It is over; 4 players share the first place."),
        ({"format": "knockout"}, KNOCKOUT, "It is over; ann won."),
        (
            {"format": "knockout"},
            [*KNOCKOUT[:-1], Ended(by_director=True)],
            "It was ended early; ann is first.",
        ),
    ],
)
def test_sentence_says_how_far_a_tournament_is(
    settings: dict[str, object], entries: list[Entry], words: str
) -> None:
    stored = Stored(**settings)
    stored.log(*entries)
    assert plain(progress(described(stored.read(), 0.0))) == words


def test_start_at_a_time_is_said_in_utc() -> None:
    tournament = Tournament(parse(f"{file_of()}\nstart = 2026-11-28T10:00:00+01:00"))
    assert plain(progress(described(tournament, 0.0))).startswith("It begins at 2026-11-28T09:00:00")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"cycles": 2}, "round robin, 2 cycles"),
        ({"format": "gauntlet"}, "gauntlet"),
        ({"format": "swiss", "players": 8}, "Swiss, 3 rounds"),
        ({"format": "knockout"}, "knockout"),
        ({"format": "swiss", "then": "knockout", "advance": 4}, "Swiss, then knockout"),
        ({"groups": 2, "then": "knockout", "advance": 4}, "groups, then knockout"),
    ],
)
def test_rules_are_said_in_a_line(settings: dict[str, object], words: str) -> None:
    report = described(Stored(games=4, **settings).read(), 0.0)
    assert rules(report) == f"{words}, 4 games of each pair, colours swapped"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, ""),
        ({"groups": 4, "then": "knockout", "advance": 2}, "The first 2 of each group go on to the knockout."),
        ({"groups": 4, "then": "knockout", "advance": 1}, "The first of each group goes on to the knockout."),
        ({"groups": 4, "then": "swiss"}, "All go on to the Swiss; the groups decide the seeds."),
        ({"format": "swiss", "then": "knockout", "advance": 8}, "The first 8 of all go on to the knockout."),
        ({"then": "knockout"}, "All go on to the knockout; the first stage decides the seeds."),
    ],
)
def test_sentence_says_how_many_go_on(settings: dict[str, object], words: str) -> None:
    assert came_through(described(Stored(**settings).read(), 0.0)) == words
