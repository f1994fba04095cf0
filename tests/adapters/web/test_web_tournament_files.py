"""Grades and games of a tournament in the API."""

import csv
import io
import json
import re

import httpx
import pytest
from tournament_news import SWISS, SWISS_GAMES, add, begun, played
from web_world import Site
from worlds.tournaments import file_of

from gateway.tournament.log import Paired


async def got(site: Site, path: str, status: int = 200) -> httpx.Response:
    async with site.client() as client:
        response = await client.get(f"/api/tournaments/{path}")
    assert response.status_code == status, response.text
    return response


@pytest.fixture
def cup(site: Site) -> Site:
    """A site with a Swiss tournament in its second round, and a roster."""
    text = f'{file_of(name="Cup", format="swiss", rounds=3)}\n[roster]\nbob = "10b"\n"=1+1" = ""'
    add(site.database, text, SWISS, SWISS_GAMES)
    return site


async def test_grades_have_a_line_for_each_player_and_each_name_of_the_roster(cup: Site) -> None:
    response = await got(cup, "cup/grades.csv?reference=ann")
    assert response.headers["content-type"] == "text/csv; charset=utf-8"
    head, *lines = csv.reader(io.StringIO(response.text))
    rows = {line[1]: dict(zip(head, line, strict=True)) for line in lines}
    assert {*rows} == {"ann", "bob", "cat", "dan", "eve", "'=1+1"}
    assert (rows["bob"]["group"], rows["bob"]["games against ann"]) == ("'10b", "2")
    assert (rows["'=1+1"]["state"], rows["'=1+1"]["points"]) == ("absent", "")
    error = (await got(cup, "cup/grades.csv?reference=anne", 400)).json()["error"]
    assert error == "'anne' takes no part in 'Cup'; did you mean 'ann'?"


async def test_games_are_given_by_round(cup: Site) -> None:
    response = await got(cup, "cup/games.pgn")
    assert response.headers["content-type"].startswith("application/vnd.chess-pgn")
    assert re.findall(r'\[Round "(.*)"\]', response.text) == ["1.1.1", "1.1.2", "1.2.1", "1.2.2", "2.4.1"]
    assert {*re.findall(r'\[Event "(.*)"\]', response.text)} == {"Cup"}
    lines = (await got(cup, "cup/games.jsonl?round=2&stage=1")).text.splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["5"]


@pytest.mark.parametrize(
    ("query", "error"), [("round=3", "from 1 to 2"), ("round=x", "round"), ("stage=3", "stage")]
)
async def test_round_that_there_is_not_is_an_error(cup: Site, query: str, error: str) -> None:
    assert error in (await got(cup, f"cup/games.pgn?{query}", 400)).json()["error"]


@pytest.mark.parametrize("file", ["grades.csv", "games.pgn", "games.jsonl"])
async def test_tournament_that_there_is_not_is_404_with_the_one_that_was_meant(cup: Site, file: str) -> None:
    error = (await got(cup, f"cub/{file}", 404)).json()["error"]
    assert error == "there is no tournament 'cub'; did you mean 'cup'?"


async def test_many_games_are_all_given_in_order(site: Site) -> None:
    count = 300
    names = [f"p{number}" for number in range(25)]
    pairs = [(one, two, 1) for two in range(len(names)) for one in range(two)][:count]
    lost = [
        played(number, game, (names[one], names[two]) if game == 0 else (names[two], names[one]))
        for number, (one, two, _) in enumerate(pairs)
        for game in (1, 0)
    ]
    add(site.database, file_of(), [*begun(names), Paired(pairs)], lost)
    text = (await got(site, "cup/games.pgn")).text
    expected = [f"1.{number}.{game}" for number in range(1, count + 1) for game in (1, 2)]
    assert re.findall(r'\[Round "(.*)"\]', text) == expected
