"""The view Standings: what is asked for, in which order, and what becomes of odd names."""

import re

import pytest
from game_records import BEGAN, drawn, game
from web_world import Site, keep, shown

from adapters.web.page.standings import asked
from adapters.web.query import BadRequestError
from gateway.game.events import Reason
from gateway.store.records import from_moment
from gateway.store.statistics import Choice

DAY = 86_400_000


def rows(page: str) -> list[str]:
    """Return the players, in the order of their rows."""
    return re.findall(r'<th scope="row" class="player">.*?<bdi>(.*?)</bdi>', page)


def test_nothing_asked_for_is_everything() -> None:
    wish = asked({})
    assert wish.choice == Choice()
    assert wish.address() == "/standings"


@pytest.mark.parametrize(
    ("since", "at"), [("today", from_moment("today")), ("2023-11-01", 1_698_796_800_000)]
)
def test_time_is_a_word_or_a_moment(since: str, at: int) -> None:
    assert asked({"since": since}).choice == Choice(since=at)


@pytest.mark.parametrize(
    "given",
    [
        {"form": "circle"},
        {"sort": "weight"},
        {"sort": "--name"},
        {"since": "sometime"},
        {"least": "0"},
        {"least": "-1"},
        {"least": "\N{SUPERSCRIPT TWO}"},
        {"page": "1e3"},
        {"page": "9" * 30},
    ],
)
def test_what_cannot_be_meant_is_refused(given: dict[str, str]) -> None:
    with pytest.raises(BadRequestError):
        asked(given)


def test_address_keeps_what_was_chosen_and_begins_at_the_first_page() -> None:
    wish = asked({"table": "a&b", "page": "3", "sort": "-name"})
    path, _, query = wish.address(form="side").partition("?")
    assert path == "/standings"
    assert {*query.split("&")} == {"form=side", "table=a%26b", "sort=-name"}
    assert "page=4" in wish.address(page="4")


def test_second_click_on_a_head_turns_the_order_round() -> None:
    wish = asked({"sort": "games"})
    assert wish.sorting("games") == ("/standings?sort=-games", "descending")
    assert asked({"sort": "-games"}).sorting("games") == ("/standings?sort=games", "ascending")
    assert asked({"sort": "name"}).sorting("name") == ("/standings?sort=-name", "ascending")
    assert wish.sorting("rating") == ("/standings", None)


@pytest.mark.parametrize(
    ("former", "now"), [("sure", "rating"), ("-sure", "-rating"), ("score", "share"), ("-score", "-share")]
)
def test_address_from_before_orders_had_the_words_of_the_api_still_works(former: str, now: str) -> None:
    assert asked({"sort": former}) == asked({"sort": now})


async def test_filters_that_leave_nobody_say_so(site: Site) -> None:
    keep(site.database, [game()])
    assert "Nobody is listed" in await shown(site, "/standings?least=2")
    assert "Nobody is listed" in await shown(site, "/standings?table=nowhere")
    assert "Nobody is listed" in await shown(site, "/standings?page=2")


async def test_rows_are_sorted_as_asked_and_the_head_says_so(site: Site) -> None:
    keep(site.database, [game("carol", "Bob")] * 3 + [game("Bob", "adam")])
    assert rows(await shown(site, "/standings")) == ["carol", "Bob", "adam"]
    by_name = await shown(site, "/standings?sort=name")
    assert rows(by_name) == ["adam", "Bob", "carol"]
    assert by_name.count("aria-sort") == 1
    assert rows(await shown(site, "/standings?sort=-name")) == ["carol", "Bob", "adam"]
    assert rows(await shown(site, "/standings?sort=games"))[0] == "Bob"
    assert rows(await shown(site, "/standings?sort=-share"))[0] == "adam"
    assert rows(await shown(site, "/standings?sort=points")) == ["carol", "Bob", "adam"]
    assert rows(await shown(site, "/standings?sort=time"))[0] == "adam"


async def test_places_are_by_points_if_that_is_the_order_and_equals_share_one(site: Site) -> None:
    def places(page: str) -> list[str]:
        return re.findall(r'<td class="number place">(.*?)</td>', page)

    keep(site.database, [game("a", "b"), game("c", "d"), game("b", "a"), drawn("b", "a")])
    page = await shown(site, "/standings?sort=points")
    assert (places(page), {*rows(page)[:2]}) == (["1", "1", "3", "4"], {"a", "b"})
    assert '<td class="number points">1½</td>' in page
    assert page.count('<td class="own">') == 4
    assert "The place is by <b>points</b>" in page
    assert "decides the place" not in page
    page = await shown(site, "/standings?sort=games")
    assert "decides the place" in page


async def test_table_time_and_least_games_filter(site: Site) -> None:
    keep(site.database, [game("a", "b", table="finals"), game("c", "d", ended=BEGAN + DAY), game("c", "a")])
    assert {*rows(await shown(site, "/standings?table=finals"))} == {"a", "b"}
    page = await shown(site, "/standings?since=2023-11-15")
    assert {*rows(page)} == {"c", "d"}
    assert re.findall(r'aria-current="true">(Since .*?)</time>', page) == [
        'Since <time datetime="2023-11-15T00:00:00.000Z" data-precision="day and minute">11-15 00:00'
    ]
    assert {*rows(await shown(site, "/standings?least=2"))} == {"a", "c"}
    assert "The rating is that of all games" in await shown(site, "/standings?table=finals")
    assert "The rating is that of all games" not in await shown(site, "/standings")


async def test_cross_table_shows_points_of_the_row_against_the_column(site: Site) -> None:
    keep(site.database, [game("a", "b"), game("a", "b"), drawn("b", "a"), game("c", "d")])
    page = await shown(site, "/standings")
    assert (
        '<td class="won-2"><a href="/games?player=a&amp;opponent=b&amp;counted=1">2½<i> of 3</i></a></td>'
        in page
    )
    assert (
        '<td class="lost-2"><a href="/games?player=b&amp;opponent=a&amp;counted=1">½<i> of 3</i></a></td>'
        in page
    )
    assert page.count('<td class="own">') == 4


async def test_forms_by_side_and_by_reason_count_what_they_name(site: Site) -> None:
    keep(site.database, [game("a", "b"), game("a", "b", reason=Reason.ILLEGAL, winner=1), drawn("b", "a")])
    side = await shown(site, "/standings?form=side")
    assert 'aria-label="1 won, 0 drawn, 1 lost"' in side
    assert "as second mover" in side
    reason = await shown(site, "/standings?form=reason")
    assert 'aria-label="0 won, 0 drawn, 1 lost"' in reason
    assert "illegal move" in reason


async def test_many_players_come_in_pages(site: Site) -> None:
    names = {f"player {number}" for number in range(150)}
    keep(site.database, [game(name, "zed") for name in names])
    first, second = [await shown(site, f"/standings?page={number}") for number in (1, 2)]
    assert "Players 101 to 151" in first
    assert "Players" not in re.findall(r'class="more".*', second)
    assert (len(rows(first)), {*rows(first), *rows(second)}) == (100, {*names, "zed"})


async def test_charts_show_ratings_with_dates_ends_with_shares_and_times(site: Site) -> None:
    keep(site.database, [game(ended=BEGAN + hours * 3_600_000) for hours in (0, 4)] + [drawn()] * 2)
    page = await shown(site, "/standings?since=2023-11-01")
    assert re.findall(r'<foreignObject class="date".*?>(\d\d:\d\d)</time>', page) == [
        "23:00",
        "00:00",
        "01:00",
        "02:00",
    ]
    assert re.search(r'<td data-y="[0-9.]+"><b>2[0-9.]+</b> <span>± [0-9.]+</span></td>', page)
    assert 'href="/games?reason=full&amp;since=2023-11-01&amp;counted=1"' in page
    assert "<b>2</b> 50 %" in page
    assert "the middle 80 %: " in page


async def test_every_listed_player_has_a_column_or_a_way_to_it(site: Site) -> None:
    keep(site.database, [game(f"player-{number:02}", "zed") for number in range(30)])

    def columns(page: str) -> set[str]:
        return {*re.findall(r'<th scope="col" class="rank[^>]*title="(.*?)"', page)}

    first = await shown(site, "/standings")
    assert "24 of 31 players" in first
    assert 'href="/standings?form=cross&amp;columns=2">Columns 25 to 31' in first
    second = await shown(site, "/standings?form=cross&columns=2")
    assert 'href="/standings?form=cross">Columns 1 to 24' in second
    assert columns(first) | columns(second) == {*rows(first)}
    assert columns(await shown(site, "/standings?columns=99")) == columns(second)
    assert "have a column" not in await shown(site, "/standings?form=side")


async def test_numbers_lead_to_the_games_that_they_count(site: Site) -> None:
    keep(site.database, [game("a&b", "c", table="x")] * 3 + [drawn("a&b", "c", table="x")])
    page = await shown(site, "/standings?table=x&since=week&least=1")
    assert "Nobody is listed" in page
    page = await shown(site, "/standings?table=x")
    for filters in (
        "",
        "player=a%26b&amp;",
        "player=a%26b&amp;opponent=c&amp;",
        "player=a%26b&amp;result=drawn&amp;",
    ):
        assert f'href="/games?{filters}table=x&amp;counted=1"' in page
    page = await shown(site, "/standings?form=reason")
    assert 'href="/games?player=a%26b&amp;reason=full&amp;counted=1">1</a> 25 %' in page


async def test_projector_gets_the_strongest_eight_at_a_time(site: Site) -> None:
    keep(site.database, [game(first=f"player-{number}", second="<b>") for number in range(9)])
    text = await shown(site, "/board/standings")
    assert re.findall('data-note="(.*?)"', text) == ["9 games · 1 to 8 of 10", "9 games · 9 to 10 of 10"]
    assert "<b>" not in text
    assert len(re.findall('class="rank"', text)) == 10
