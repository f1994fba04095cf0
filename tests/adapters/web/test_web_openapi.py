"""The description, held against the real answers."""

import json
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import httpx
import pytest
from game_records import drawn, game
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate
from starlette.routing import Route
from tournament_news import KNOCKOUT, SWISS, SWISS_GAMES, add
from web_world import NASTY, TOKEN, Site, keep, said
from worlds.tournaments import file_of

from adapters.web import api
from adapters.web.answers import EXPORT_TYPES
from adapters.web.application import Application
from adapters.web.live import paths
from adapters.web.perfect import BusyError
from adapters.web.query import FILTERS, MOST, PAGING, USUAL
from adapters.web.solver import NotInstalledError
from gateway.game.events import Reason
from gateway.server import acts
from gateway.store.records import WORDS
from gateway.store.statistics import ORDERS
from gateway.tournament import acts as tournament_acts

PLAYER = {
    "name": "ann",
    "kind": "arena",
    "address": "192.0.2.1",
    "seconds": 1.5,
    "doing": "plays",
    "against": "bob",
    "table": None,
    "node": None,
}
ACTS: dict[str, dict[str, object]] = {
    "who": {"players": [PLAYER, {**PLAYER, "name": None, "doing": "idle", "against": None}], "more": 0},
    "kick": {"kicked": 1},
    "ban": {"changed": True, "kicked": 0},
    "unban": {"changed": True},
    "announce": {"announcement": "Round 2 at 14:00", "paused": False},
    "pause": {"announcement": None, "paused": True},
    "resume": {"announcement": None, "paused": False},
    "drain": {"seconds": 600},
}
"""What may come of each act."""
SEEN = {
    "players": [
        {
            "name": "ann",
            "kind": "nac4",
            "house": False,
            "state": "away",
            "for": 3.0,
            "of": 30.0,
            "against": "bob",
            "game": "9k3fm-000001",
            "pairing": 1,
            "number": 2,
            "faults": 1,
            "in_a_row": 1,
            "most": 3,
        }
    ],
    "needs": [
        {
            "game": "9k3fm-000001",
            "pairing": 1,
            "number": 2,
            "players": ["bob", "ann"],
            "who": "ann",
            "other": "bob",
            "why": "away",
            "seconds": 3.0,
            "words": "ann lost its connection, for 3 s of 30",
        }
    ],
    "house": ["random"],
    "testers": ["aima", "random"],
    "is_pairing": True,
}
"""What the director of a tournament sees of its players."""
TOKEN_SHOWN = {"Authorization": f"Bearer {TOKEN}"}
DOCUMENT = json.loads(files("adapters.web").joinpath("openapi.json").read_text())


def resolved(about: dict[str, Any]) -> dict[str, Any]:
    """Return a parameter or an answer of the description, which may stand among the components."""
    if "$ref" not in about:
        return about
    _, _, kind, name = about["$ref"].split("/")
    found: dict[str, Any] = DOCUMENT["components"][kind][name]
    return found


def schema_of(path: str, method: str, response: httpx.Response) -> dict[str, object]:
    """Return what the description says of this answer."""
    about = resolved(DOCUMENT["paths"][path][method]["responses"][str(response.status_code)])
    kind = response.headers["content-type"].partition(";")[0]
    schema: dict[str, object] = about["content"][kind]["schema"]
    return schema


def check(path: str, method: str, response: httpx.Response) -> None:
    """Hold an answer against its schema."""
    schema = schema_of(path, method, response)
    validator = Draft202012Validator({**schema, "components": DOCUMENT["components"]})
    if response.headers["content-type"].startswith("text/event-stream"):
        validator.validate(response.text)
        return  # test_live_paths.py reads the events in it
    if response.headers["content-type"].startswith(("text/csv", "text/plain", "application/vnd.chess-pgn")):
        validator.validate(response.text)
        return
    lines = response.text.splitlines() if path.endswith(".jsonl") and response.is_success else [response.text]
    for line in lines:
        validator.validate(json.loads(line))


def test_description_is_one() -> None:
    validate(DOCUMENT)


def test_description_is_served_as_it_is_and_names_every_path_and_no_other(site: Site) -> None:
    routes = {
        route.path.replace(":path", "")
        for route in api.routes(site.shown, site.health, site.admin)
        if isinstance(route, Route)
    }
    assert {*DOCUMENT["paths"]} == routes


def test_description_has_our_words_for_reasons() -> None:
    for schema in (
        DOCUMENT["components"]["schemas"]["Game"]["properties"]["reason"],
        DOCUMENT["components"]["parameters"]["reason"]["schema"],
    ):
        assert set(schema["enum"]) == {WORDS[reason] for reason in Reason}


def test_description_has_every_act_of_a_director_and_its_parameters() -> None:
    name, act, *others = DOCUMENT["paths"]["/api/tournaments/{name}/{act}"]["post"]["parameters"]
    assert (resolved(name)["name"], act["schema"]["enum"]) == ("name", [*tournament_acts.ACTS])
    known = {each for act in tournament_acts.ACTS.values() for each in act.parameters}
    assert {each["name"] for each in others} == known | {"by", "why"}


def test_description_has_every_parameter_of_the_lists() -> None:
    def named(path: str) -> set[str]:
        found = DOCUMENT["paths"][path]["get"].get("parameters", [])
        return {resolved(each)["name"] for each in found}

    assert named("/api/games") == {*FILTERS, *PAGING}
    for form in EXPORT_TYPES:
        assert named(f"/api/export.{form}") == {*FILTERS}
    sort, *_ = DOCUMENT["paths"]["/api/standings"]["get"]["parameters"]
    assert sort["schema"]["enum"] == [*ORDERS]
    assert named("/api/live") == {*paths.PARAMETERS}
    assert named("/api/live/events") == {*paths.PARAMETERS, "Last-Event-ID"}
    limit = DOCUMENT["components"]["parameters"]["limit"]["schema"]
    assert (limit["default"], limit["maximum"]) == (USUAL, MOST)


@pytest.mark.parametrize("empty", [True, False])
async def test_every_answer_is_as_described(site: Site, *, empty: bool) -> None:
    if not empty:
        stopped = game("ann", "bob", winner=None, reason=Reason.STOPPED, moves="", counted=False, table="x")
        replayed = game("ann", "bob", winner=None, reason=Reason.REPLAYED, moves="33", counted=False)
        records = [game(), drawn(), stopped, replayed, *(game(name, "bob") for name in NASTY)]
        keep(site.database, records, (said("x"), ()))
        keep(site.database, [game()])
        add(site.database, file_of(format="swiss", rounds=3), SWISS, SWISS_GAMES)
        add(site.database, file_of(name="KO", format="knockout"), KNOCKOUT)
    targets = {path: [path] for path in DOCUMENT["paths"]}
    targets["/api/games/{game}"] = ["/api/games/1", "/api/games/15", "/api/games/99"]
    targets["/api/games/{game}/perfect"] = ["/api/games/1/perfect", "/api/games/99/perfect"]
    targets["/api/games/{game}/line"] = [
        f"/api/games/{number}/line?{query}"
        for number, query in ((1, "after=1&columns=23"), (1, "after=6&columns=0"), (1, "after=9"), (99, ""))
    ]
    targets["/api/live/games/{game}/evaluation"] = [
        f"/api/live/games/{number}/evaluation" for number in (1, "x")
    ]
    targets["/api/players/{name}"] = [
        "/api/players/alice",
        "/api/players/bob",
        "/api/players/x",
        "/api/players/%FF",
    ]
    targets["/api/tournaments/{name}"] = [f"/api/tournaments/{name}" for name in ("cup", "ko", "x", "%FF")]
    targets["/api/tournaments/{name}/standings.csv"] = ["/api/tournaments/cup/standings.csv"]
    targets["/api/tournaments/{name}/grades.csv"] = [
        f"/api/tournaments/cup/grades.csv{query}" for query in ("", "?reference=ann", "?reference=x")
    ]
    for form in ("pgn", "jsonl"):
        targets[f"/api/tournaments/{{name}}/games.{form}"] = [
            f"/api/tournaments/cup/games.{form}{query}" for query in ("", "?round=1", "?round=9&stage=2")
        ]
    targets["/api/standings"] += ["/api/standings?sort=points&since=2h&table=x&least=2"]
    targets["/api/games"] += ["/api/games?limit=1", "/api/games?limit=0"]
    targets["/api/players"] += ["/api/players?limit=1"]
    site.live.stop()  # or the stream of events would have no end
    async with site.client() as client:
        for path, operations in DOCUMENT["paths"].items():
            for method in operations:
                for target in targets[path]:
                    check(path, method, await client.request(method, target))
                    more = "&" if "?" in target else "?"
                    check(path, method, await client.request(method, f"{target}{more}frob=1"))
                    await client.get("/api/admin/who", headers=TOKEN_SHOWN)
        check("/api/clear", "post", await client.post("/api/clear", headers=TOKEN_SHOWN))
        for act, found in ACTS.items():
            site.came_of_it = {"": json.dumps(found)}
            path, method = f"/api/admin/{act}", "get" if act == "who" else "post"
            about = dict.fromkeys(acts.ACTS[act], "5")
            check(path, method, await client.request(method, path, params=about, headers=TOKEN_SHOWN))
        path, site.came_of_it = "/api/tournaments/{name}/director", {"": json.dumps(SEEN)}
        for name in ("cup", "x"):
            check(path, "get", await client.get(path.format(name=name), headers=TOKEN_SHOWN))
        path, site.came_of_it = "/api/tournaments/{name}/{act}", {"": json.dumps({"done": "Paused"})}
        for act in ("withdraw", "undo", "x"):
            target = path.format(name="cup", act=act)
            for query in ("", "?by=nora&why=lunch", "?frob=1", "?player=ann"):
                check(path, "post", await client.post(f"{target}{query}", headers=TOKEN_SHOWN))


async def test_where_no_results_are_kept_the_answers_say_so_as_described(site: Site) -> None:
    shown = replace(site.shown, database=None)
    transport = httpx.ASGITransport(Application(shown, site.health, site.admin))
    async with httpx.AsyncClient(transport=transport, base_url="http://site") as client:
        for path, operations in DOCUMENT["paths"].items():
            if "404" in operations.get("get", {}).get("responses", {}) and "/live" not in path:
                response = await client.get(path.format(game="9k3fm-000001", name="x"), headers=TOKEN_SHOWN)
                assert response.status_code == 404
                assert "start the server with --db FILE" in response.json()["error"]
                check(path, "get", response)


@pytest.mark.parametrize(("trouble", "status"), [(NotInstalledError("no solver"), 501), (BusyError(), 503)])
async def test_answers_without_perfect_play_are_as_described(
    site: Site, trouble: Exception, status: int
) -> None:
    keep(site.database, [game()])
    site.worth = trouble
    async with site.client() as client:
        response = await client.get("/api/games/1/perfect")
    assert response.status_code == status
    check("/api/games/{game}/perfect", "get", response)


async def test_answers_of_an_outage_are_as_described(site: Site) -> None:
    site.queue.behind = True
    Path(site.database.label).unlink()  # noqa: ASYNC240
    async with site.client() as client:
        for path, operations in DOCUMENT["paths"].items():
            if "503" in operations.get("get", {}).get("responses", {}) and "/live" not in path:
                response = await client.get(path.format(game=1, name="x"), headers=TOKEN_SHOWN)
                assert response.status_code == 503
                check(path, "get", response)
