"""The paths of the API for the director of a tournament: who may act, what is recorded, what is answered."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
import trio
from tournament_news import SWISS, add
from web_world import TOKEN, Site
from worlds.tournaments import file_of

from gateway.server.acts import NotDoneError, Parameters

SHOWN = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    site = Site(tmp_path)
    add(site.database, file_of(name="Cup", format="swiss", rounds=3), SWISS)
    site.came_of_it = {"": '{"done": "Withdrew bob"}'}
    yield site
    site.database.close()


def seen(*names: str, game: str | None = None, is_pairing: bool = False) -> str:
    """Return what a node answers about players, all of whom play `game` there, if there is one."""
    kind = None if game is None else "nac4"
    players = [{"name": name, "kind": kind, "game": game, "node": is_pairing} for name in names]
    needs = [{"who": name, "game": game} for name in names]
    found = {"players": players, "needs": needs, "house": ["random"], "testers": ["random"]}
    return json.dumps({**found, "is_pairing": is_pairing})


def audited(tmp_path: Path) -> list[list[str]]:
    """Return the lines of the audit log, without their times."""
    file = tmp_path / "audit"
    return [line.split("\t")[1:] for line in file.read_text().splitlines()] if file.exists() else []


async def test_act_is_passed_on_and_recorded_with_who_and_why(site: Site, tmp_path: Path) -> None:
    async with site.client("203.0.113.5") as client:
        query = {"player": "bob", "by": "nora", "why": "cheated"}
        response = await client.post("/api/tournaments/Cup/withdraw", params=query, headers=SHOWN)
    assert (response.status_code, response.json()) == (200, {"done": "Withdrew bob"})
    assert site.acts == [("tournament", {"name": "Cup", "act": "withdraw", **query})]
    words = ["admin", "tournament withdraw", "203.0.113.5", "Cup", "bob", "by: nora", "why: cheated"]
    assert audited(tmp_path) == [words]


async def test_nobody_acts_or_sees_without_the_token(
    site: Site, tmp_path: Path, autojump_clock: trio.abc.Clock
) -> None:
    async with site.client() as client:
        answers = [
            await client.post("/api/tournaments/Cup/end"),
            await client.post("/api/tournaments/Cup/end", headers={"Authorization": "Bearer guess"}),
            await client.get("/api/tournaments/Cup/director"),
        ]
    assert [each.status_code for each in answers] == [403] * 3
    assert (site.acts, audited(tmp_path)) == ([], [])


async def test_act_that_is_refused_says_why_and_is_not_recorded(site: Site, tmp_path: Path) -> None:
    async def refuse(what: str, about: Parameters) -> Mapping[str, str]:
        raise NotDoneError("'eve' takes no part in 'Cup'")

    assert site.admin is not None
    site.admin = replace(site.admin, act=refuse)
    site.show()
    async with site.client() as client:
        response = await client.post("/api/tournaments/Cup/withdraw?player=eve", headers=SHOWN)
        view = await client.get("/api/tournaments/Cup/director", headers=SHOWN)
    for each in (response, view):
        assert (each.status_code, each.json()) == (409, {"error": "'eve' takes no part in 'Cup'"})
    assert audited(tmp_path) == []


@pytest.mark.parametrize(
    ("target", "status", "error"),
    [
        ("kick", 404, "there is no such act; the acts are start, pause"),
        ("withdraw?player=bob&game=1.1", 400, "withdraw has no parameter game; possible: player, by, why"),
        ("withdraw?frob=1", 400, "there is no parameter 'frob'"),
    ],
)
async def test_request_for_no_act_is_an_error(site: Site, target: str, status: int, error: str) -> None:
    async with site.client() as client:
        response = await client.post(f"/api/tournaments/Cup/{target}", headers=SHOWN)
    assert (response.status_code, site.acts) == (status, [])
    assert error in response.json()["error"]


async def test_parameters_in_the_body_are_an_error_and_not_left_out(site: Site) -> None:
    async with site.client() as client:
        response = await client.post("/api/tournaments/Cup/announce", data={"text": "Lunch"}, headers=SHOWN)
    assert (response.status_code, site.acts) == (400, [])
    assert "in the address" in response.json()["error"]


async def test_director_sees_the_report_and_the_players_as_the_nodes_know_them(site: Site) -> None:
    """The node that pairs knows who is here; the node of a game knows whether its players are away."""
    site.came_of_it = {
        "": seen("ann", "bob"),
        "pairing": seen("ann", "bob", "cat", is_pairing=True),
        "other": seen("bob", game="9k3fm-000001"),
        "gone": '{"error": "no answer"}',
    }
    async with site.client() as client:
        found = (await client.get("/api/tournaments/cup/director", headers=SHOWN)).json()
        report = (await client.get("/api/tournaments/cup")).json()
    assert found["report"] == report
    assert [(each["name"], each["kind"], each["game"], each["node"]) for each in found["players"]] == [
        ("ann", None, None, True),
        ("bob", "nac4", "9k3fm-000001", False),
        ("cat", None, None, True),
    ]
    assert [each["who"] for each in found["needs"]] == ["ann", "bob", "cat", "bob"]
    assert (found["house"], found["testers"]) == (["random"], ["random"])
