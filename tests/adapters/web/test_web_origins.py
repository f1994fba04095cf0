"""Which websites may read the API in a browser."""

import httpx
import pytest
from web_world import TOKEN, Site

from adapters.web.application import Application
from adapters.web.origins import Origins

pytestmark = pytest.mark.trio
ORIGIN = "https://c4.example"
HEADER = "access-control-allow-origin"


async def asked(site: Site, origins: Origins, path: str, verb: str = "GET", **headers: str) -> httpx.Response:
    """Return the answer of a server that shares with `origins`."""
    application = Application(site.shown, site.health, site.admin, origins)
    about = {name.replace("_", "-"): value for name, value in headers.items()}
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(application), base_url="http://site"
    ) as client:
        return await client.request(verb, path, headers=about)


def only(*origins: str) -> Origins:
    return Origins(frozenset(origins))


@pytest.mark.parametrize(
    "path", ["/api/games", "/healthz", "/api/export.jsonl", "/api/none", "/api/games?x=1"]
)
async def test_origin_that_was_named_may_read_answers_and_errors(site: Site, path: str) -> None:
    for verb in ("GET", "HEAD"):
        answer = await asked(site, only(ORIGIN, "http://other"), path, verb, origin=ORIGIN)
        assert (answer.headers[HEADER], answer.headers["vary"]) == (ORIGIN, "Origin")


@pytest.mark.parametrize("origin", ["https://c4.example.evil", "http://c4.example", "null", ""])
async def test_other_origins_may_not(site: Site, origin: str) -> None:
    answer = await asked(site, only(ORIGIN), "/api/games", origin=origin)
    assert (HEADER in answer.headers, answer.headers["vary"]) == (False, "Origin")


async def test_all_may_where_all_are_allowed(site: Site) -> None:
    assert (await asked(site, only("*"), "/api/games", origin="null")).headers[HEADER] == "*"


@pytest.mark.parametrize(
    "path",
    [
        *("/search?for=x", "/api/clear", "/api/admin/who", "/api/admin/kick", "/static/x/y", "/healthz/"),
        "/api/tournaments/a%2Fb/director",
    ],
)
async def test_nothing_else_is_shared(site: Site, path: str) -> None:
    assert HEADER not in (await asked(site, only("*"), path, origin=ORIGIN)).headers


@pytest.mark.parametrize("path", ["/api/clear", "/api/admin/kick?who=ann"])
async def test_what_changes_something_is_shared_with_nobody(site: Site, path: str) -> None:
    answer = await asked(site, only("*"), path, "POST", origin=ORIGIN, authorization=f"Bearer {TOKEN}")
    assert (answer.status_code, HEADER in answer.headers) == (200, False)
    for each in (path, "/api/tournaments/cup/end"):
        asking = {"origin": ORIGIN, "access_control_request_method": "POST"}
        assert HEADER not in (await asked(site, only("*"), each, "OPTIONS", **asking)).headers


async def test_browser_that_asks_first_is_told_what_it_may_do(site: Site) -> None:
    asking = {"origin": ORIGIN, "access_control_request_method": "GET"}
    answer = await asked(site, only(ORIGIN), "/api/games", "OPTIONS", **asking)
    assert (answer.status_code, answer.headers[HEADER]) == (204, ORIGIN)
    assert answer.headers["access-control-allow-methods"] == "GET, HEAD"
    assert (await asked(site, only(ORIGIN), "/api/games", "OPTIONS")).status_code == 405


async def test_without_the_option_nobody_hears_of_it(site: Site) -> None:
    asking = {"origin": ORIGIN, "access_control_request_method": "GET"}
    answers = [
        await asked(site, only(), "/api/games", "OPTIONS", **asking),
        await asked(site, only(), "/api/games", origin=ORIGIN),
    ]
    assert [answer.status_code for answer in answers] == [405, 200]
    assert not {HEADER, "vary"} & {name for answer in answers for name in answer.headers}


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("evil.example", 421),
        ("evil.example:80", 421),
        ("a+b.evil.example", 421),
        ("evil.example:", 421),
        ("", 200),
        ("C4.example", 200),
        ("localhost:1", 200),
        ("[::1]", 200),
    ],
)
async def test_local_server_answers_to_no_foreign_name_that_it_was_not_told_of(
    site: Site, host: str, status: int
) -> None:
    local = Origins(frozenset([ORIGIN]), is_local=True)
    assert (await asked(site, local, "/api/games", host=host)).status_code == status
    assert (await asked(site, only(ORIGIN), "/api/games", host=host)).status_code == 200
