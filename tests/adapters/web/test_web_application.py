"""Paths and statuses, from the request to the database and back."""

import json
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import cast
from urllib.parse import quote

import httpx
import pytest
import trio
from game_records import BEGAN, drawn, game, numbered
from sqlalchemy import Connection, event
from starlette.types import Message
from web_world import NASTY, TOKEN, Site, keep, said

from adapters.web.admin import Admin
from adapters.web.api import CLEAR_LIMIT
from adapters.web.application import Application
from adapters.web.health import Health
from gateway.game.events import Reason
from gateway.store import StoreError
from gateway.store.database import Database
from gateway.store.formats import jsonl
from gateway.store.games import PAGE, Filter, every
from gateway.store.records import Cleared

LISTS = ("/api/results", "/api/users-vg", "/api/games-vg", "/api/games", "/api/players", "/api/standings")
READABLE = (
    *LISTS,
    "/api/games/1",
    "/api/players/alice",
    "/api/export.jsonl",
    "/healthz",
    "/api/openapi.json",
)


async def got(site: Site, path: str, status: int = 200) -> httpx.Response:
    async with site.client() as client:
        response = await client.get(path)
    assert response.status_code == status, response.text
    return response


async def ids(site: Site, path: str) -> list[str]:
    return [each["id"] for each in (await got(site, path)).json()["games"]]


def refusal(response: httpx.Response) -> str:
    """Return what is wrong."""
    assert response.headers["content-type"] == "application/json"
    body = response.json()
    assert list(body) == ["error"]
    return str(body["error"])


# Games.


async def test_games_are_listed_newest_first_as_the_export_words_them(site: Site) -> None:
    keep(site.database, [game(), drawn("bob", "carol")])
    body = (await got(site, "/api/games")).json()
    assert [each["id"] for each in body["games"]] == ["2", "1"]
    assert body["games"][1] == json.loads(json.dumps(jsonl.as_object(game())))
    assert body["next"] is None


async def test_who_reads_on_from_a_game_sees_those_after_it_in_order(site: Site) -> None:
    keep(site.database, [game() for _ in range(5)])
    body = (await got(site, "/api/games?after=1&limit=2")).json()
    assert [each["id"] for each in body["games"]] == ["2", "3"]
    assert await ids(site, body["next"]) == ["4", "5"]
    assert await ids(site, "/api/games?after=0&limit=3") == ["1", "2", "3"]
    assert await ids(site, "/api/games?after=1&before=5") == ["4", "3", "2"]
    assert refusal(await got(site, "/api/games?after=6", 400)) == "there is no game 6"


async def test_filters_leave_the_games_that_are_asked_for(site: Site) -> None:
    keep(
        site.database,
        [
            game(),
            drawn("bob", "carol", ended=BEGAN + 60_000),
            game("carol", "alice", winner=1, reason=Reason.TIME),
        ],
    )
    for query, expected in (
        ("player=alice", "31"),
        ("player=alice&opponent=bob", "1"),
        ("player=alice&opponent=nobody", ""),
        ("reason=time", "3"),
        ("since=2023-11-14T22:14:00Z", "2"),
        ("until=2023-11-14T22:14:00Z", "31"),
        ("player=&reason=", "321"),
    ):
        assert await ids(site, f"/api/games?{query}") == [*expected]
        lines = (await got(site, f"/api/export.jsonl?{query}")).text.splitlines()
        assert [json.loads(line)["id"] for line in lines] == [*expected[::-1]]


async def test_game_has_its_moves_and_what_was_said_on_either_side(site: Site) -> None:
    keep(site.database, [game()], (said('{"x":"</script>"}'), ()))
    keep(site.database, [game()])
    body = (await got(site, "/api/games/1")).json()
    assert body["moves"] == "0101010"
    assert body["evidence"] == [
        [
            {"at": 5, "direction": "in", "text": '{"x":"</script>"}', "verdict": "refused: cannot be read"},
            {"at": 6, "direction": "out", "text": "no", "verdict": ""},
        ],
        [],
    ]
    assert (await got(site, "/api/games/2")).json()["evidence"] == [None, None]


@pytest.mark.parametrize("number", ["0", "2", "-1", "x", "1.0", "99999999999999999999", "9" * 5000])
async def test_game_that_there_is_not_is_404(site: Site, number: str) -> None:
    keep(site.database, [game()])
    assert refusal(await got(site, f"/api/games/{number}", 404)) == "there is no such game"


# Players.


@pytest.mark.parametrize("name", NASTY)
async def test_any_name_can_be_had_and_breaks_out_of_nothing(site: Site, name: str) -> None:
    keep(site.database, [game(name, "bob", table=name)], (said(name), said(name)))
    dots = quote(name, safe="").replace(".", "%2E")
    for path in (f"/api/players/{dots}", f"/api/games?player={quote(name, safe='')}", *LISTS):
        response = await got(site, path)
        assert response.content.isascii()
        assert response.headers["x-content-type-options"] == "nosniff"
        assert json.dumps(name) in response.text
    (line,) = (await got(site, "/api/export.jsonl")).content.splitlines()
    assert json.loads(line)["players"][0]["name"] == name
    assert (await got(site, "/api/games/1")).json()["evidence"][0][0]["text"] == name


async def test_player_has_totals_rating_reasons_and_opponents(site: Site) -> None:
    keep(site.database, [game(), drawn()])
    body = (await got(site, "/api/players/bob")).json()
    assert (body["games"], body["won"], body["drawn"], body["lost"]) == (2, 0, 1, 1)
    assert {reason: record["games"] for reason, record in body["reasons"].items()} == {"four": 1, "full": 1}
    assert [(each["name"], each["games"]) for each in body["opponents"]] == [("alice", 2)]


async def test_players_are_listed_by_name_page_by_page(site: Site) -> None:
    names = sorted(name for name in NASTY if "\0" not in name)
    keep(site.database, [game(names[0], name) for name in names[1:]])
    path, seen = "/api/players?limit=3", []
    while path:
        body = (await got(site, path)).json()
        seen += [each["name"] for each in body["players"]]
        path = body["next"]
    assert seen == names


async def test_standings_are_those_of_the_games_that_are_asked_for(site: Site) -> None:
    keep(site.database, [game("a", "b")] * 3 + [game("c", "a", table="Round 2")] * 2 + [game("c", "d")])

    async def rows(query: str) -> list[tuple[int, str, float]]:
        found = (await got(site, f"/api/standings?{query}")).json()["standings"]
        return [(each["rank"], each["name"], each["points"]) for each in found]

    assert await rows("sort=points") == [(1, "c", 3), (1, "a", 3), (3, "d", 0), (3, "b", 0)]
    assert await rows("sort=points&limit=1") == [(1, "c", 3)]
    assert await rows("table=round%202") == [(1, "c", 2), (2, "a", 0)]
    assert {name for _, name, _ in await rows("table=lobby")} == {*"abcd"}
    assert await rows("least=4") == [(1, "a", 3)]
    assert await rows("since=2023-11-15") == await rows("since=90m") == await rows("table=none") == []
    for wrong in ("sort=weight", "since=soon", "least=0", "table=a&table=b"):
        refusal(await got(site, f"/api/standings?{wrong}", 400))


# nac4's.


async def test_nac4_documents_tell_of_the_games_that_count(site: Site) -> None:
    uncounted = game("TEST-1", "bob", counted=False)
    keep(site.database, [game(), drawn("bob", "alice"), uncounted])
    results = (await got(site, "/api/results")).json()
    assert [(row["_rUserR"], row["_rStatus"]) for row in results] == [("bob", "Tie"), ("alice", "WinR")]
    assert len((await got(site, "/api/results?limit=1")).json()) == 1
    users = (await got(site, "/api/users-vg")).json()
    assert [(row["uUser"], row["uGames"], row["uWins"], row["uTies"]) for row in users] == [
        ("alice", 2, 1, 1),
        ("bob", 2, 0, 1),
    ]
    assert (await got(site, "/api/games-vg")).json() == [
        {"gNbGames": 1, "gUserR": "alice", "gUserY": "bob"},
        {"gNbGames": 1, "gUserR": "bob", "gUserY": "alice"},
    ]


# The export.


async def test_export_reads_back_as_the_games_that_were_stored(site: Site) -> None:
    games = [game(), drawn("\u2028", "\n"), game(table="green", series=3, round=2)]
    keep(site.database, games)
    response = await got(site, "/api/export.jsonl")
    assert response.headers["content-type"].startswith("application/x-ndjson")
    lines = response.text.removesuffix("\n").split("\n")
    assert [record for line in lines for record in jsonl.read(line)] == numbered(games)


async def test_head_of_an_export_reads_no_more_than_its_beginning(site: Site) -> None:
    keep(site.database, [game()] * (PAGE + 1))
    begun: list[Connection] = []
    event.listen(site.database.engine, "begin", begun.append)
    async with site.client() as client:
        assert (await client.head("/api/export.jsonl")).status_code == 200
        assert len(begun) == 1
        assert (await client.get("/api/export.jsonl")).text.count("\n") == PAGE + 1
        assert len(begun) == 3


async def test_export_that_fails_midway_lacks_its_end_and_is_logged(
    site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    keep(site.database, [game()] * (PAGE + 1))
    reads, sent = count(1), list[Message]()

    def fail(_: Connection) -> None:
        if next(reads) == 2:
            raise StoreError("the disk is gone")

    async def receive() -> Message:
        await trio.sleep_forever()
        raise AssertionError

    async def send(message: Message) -> None:
        sent.append(message)

    event.listen(site.database.engine, "begin", fail)
    path = "/api/export.jsonl"
    scope = {"type": "http", "method": "GET", "path": path, "raw_path": path.encode()}
    await site.application({**scope, "query_string": b"", "headers": []}, receive, send)
    begun, *pieces = sent
    assert begun["status"] == 200
    assert pieces
    assert all(each["more_body"] for each in pieces)
    assert "the disk is gone" in caplog.text


# What is refused.


@pytest.mark.parametrize("path", ["/x", "/x//", "/api/", "/api/games/", "/api/games/1/", "/clear", "/%00"])
async def test_path_that_there_is_not_is_404(site: Site, path: str) -> None:
    refusal(await got(site, path, 404))


async def test_who_looks_for_the_api_is_pointed_at_its_description(site: Site) -> None:
    there = (await got(site, "/api")).json()["openapi"]
    assert (await got(site, there)).json()["openapi"].startswith("3.")
    assert there in refusal(await got(site, "/api/standing", 404))


@pytest.mark.parametrize("path", READABLE)
async def test_every_page_has_a_head_and_can_only_be_read(site: Site, path: str) -> None:
    keep(site.database, [game()])
    async with site.client() as client:
        assert (await client.head(path)).status_code == 200
        for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "FROB"):
            response = await client.request(method, path)
            assert response.status_code == 405
            assert set(response.headers["allow"].split(", ")) == {"GET", "HEAD"}
            refusal(response)


@pytest.mark.parametrize("path", READABLE)
async def test_parameter_that_a_page_does_not_know_is_400(site: Site, path: str) -> None:
    assert "'frob'" in refusal(await got(site, f"{path}?frob=1", 400))


@pytest.mark.parametrize("headers", [{"content-length": "1025"}, {"transfer-encoding": "chunked"}])
async def test_request_with_much_of_a_body_is_413(site: Site, headers: dict[str, str]) -> None:
    async with site.client() as client:
        response = await client.post("/api/clear", headers=headers)
    assert response.status_code == 413
    refusal(response)


async def test_database_that_cannot_be_read_is_503_without_a_word_on_it(site: Site, tmp_path: Path) -> None:
    (tmp_path / "games.db").rename(tmp_path / "away.db")
    for path in (*LISTS, "/api/games/1", "/api/players/alice", "/api/export.jsonl"):
        said_of_it = refusal(await got(site, path, 503))
        assert said_of_it == "the database cannot be used at the moment"
    (tmp_path / "away.db").rename(tmp_path / "games.db")
    await got(site, "/api/standings")


async def test_mistake_of_ours_is_500_without_a_word_on_it(
    site: Site,
) -> None:
    broken = replace(site.shown, database=cast(Database, object()))
    application = Application(broken, site.health, None)
    transport = httpx.ASGITransport(application, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://site") as client:
        response = await client.get("/api/standings")
    assert response.status_code == 500
    assert refusal(response) == "internal error"


# Figures.


async def test_requests_are_counted_by_kind_of_path_and_status(site: Site) -> None:
    for path, status in (("/standings", 200), ("/api/games", 200), ("/api/games/x?y", 400), ("/none", 404)):
        await got(site, path, status)
    counted = {key: sum(each.counts()) for key, each in site.application.requests.delays.items()}
    assert counted == {("page", 200): 1, ("api", 200): 1, ("api", 400): 1, ("page", 404): 1}


# Health.


async def test_health_is_bad_while_results_wait_too_long(site: Site) -> None:
    site.queue.waiting, site.queue.behind = 17, True
    body = (await got(site, "/healthz", 503)).json()
    assert (body["ok"], body["waiting"]) == (False, 17)
    assert site.probes == 0


# Clearing.


async def test_clear_with_the_token_removes_everything_and_says_so(site: Site) -> None:
    keep(site.database, [game(), drawn("bob", "carol")], (said("x"), said("y")))
    async with site.client() as client:
        response = await client.post("/api/clear", headers={"Authorization": f"Bearer {TOKEN}"})
    assert response.json() == {"removed": {"games": 2, "players": 3}}
    assert (await got(site, "/api/games")).json()["games"] == []
    assert (await got(site, "/api/players")).json()["players"] == []
    await got(site, "/api/games/1", 404)


@pytest.mark.parametrize(
    "shown", [None, "", "Bearer", "Bearer ", "Bearer sesam", "sesame", "Basic sesame", "Bearer é"]
)
async def test_clear_without_the_token_is_403_and_removes_nothing(
    site: Site, autojump_clock: trio.abc.Clock, shown: str | None
) -> None:
    keep(site.database, [game()])
    headers = {} if shown is None else {"Authorization": shown.encode()}
    async with site.client() as client:
        response = await client.post("/api/clear", headers=headers)
    assert response.status_code == 403
    refusal(response)
    assert [*every(site.database.reading, Filter())] != []


class Slow:
    """Clears the results when it is too late, or not at all."""

    def __init__(self, *, too_late: bool) -> None:
        self.given_up_at = -1.0
        self._too_late = too_late

    async def clear(self, given_up: trio.Event) -> Cleared:
        await given_up.wait()
        self.given_up_at = trio.current_time()
        if self._too_late:
            return Cleared(5, 3)
        raise StoreError("it was withdrawn")


@pytest.mark.parametrize("too_late", [False, True])
async def test_clear_that_takes_too_long_is_given_up_and_what_came_of_it_told(
    tmp_path: Path, autojump_clock: trio.abc.Clock, too_late: bool
) -> None:
    site, slow = Site(tmp_path), Slow(too_late=too_late)
    admin, begun = Admin(TOKEN, slow.clear, site.act, str(tmp_path / "audit")), trio.current_time()
    site.application = Application(site.shown, Health(site.queue.condition, site.probe), admin)
    async with site.client() as client:
        response = await client.post("/api/clear", headers={"Authorization": f"Bearer {TOKEN}"})
    assert slow.given_up_at == begun + CLEAR_LIMIT
    if too_late:
        assert response.json() == {"removed": {"games": 5, "players": 3}}
    else:
        assert response.status_code == 503
        assert refusal(response) == "nothing was removed: the database cannot be used at the moment"
    site.database.close()


async def test_clear_is_given_up_when_its_client_has_gone(site: Site, tmp_path: Path) -> None:
    slow = Slow(too_late=False)
    admin = Admin(TOKEN, slow.clear, site.act, str(tmp_path / "audit"))
    application = Application(site.shown, Health(site.queue.condition, site.probe), admin)
    headers = [(b"authorization", f"Bearer {TOKEN}".encode())]
    scope = {"type": "http", "method": "POST", "path": "/api/clear", "raw_path": b"/api/clear"}
    told = iter([{"type": "http.request"}, {"type": "http.disconnect"}])

    async def receive() -> Message:
        return next(told)

    async def send(_: Message) -> None:
        """Nobody hears of it."""

    await application({**scope, "query_string": b"", "headers": headers}, receive, send)
    assert slow.given_up_at >= 0


async def test_clear_does_not_exist_where_there_is_no_token(tmp_path: Path) -> None:
    site = Site(tmp_path, token=None)
    async with site.client() as client:
        for method in ("GET", "POST"):
            response = await client.request(method, "/api/clear", headers={"Authorization": "Bearer None"})
            assert response.status_code == 404
    site.database.close()
