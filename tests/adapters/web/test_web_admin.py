"""What the operator may do, how fast anybody may guess the token of that, and what is recorded of it."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from ipaddress import ip_network
from pathlib import Path

import httpx
import pytest
import trio
from game_records import game
from starlette.requests import Request
from web_world import TOKEN, Site, keep

from adapters.web.admin import WAITING, Admin
from gateway.server.acts import NotDoneError, Parameters
from gateway.store.games import Filter, every

HERE, ELSEWHERE = "203.0.113.5", "198.51.100.7"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    site = Site(tmp_path)
    keep(site.database, [game()])
    yield site
    site.database.close()


async def cleared(site: Site, token: str = "guess", host: str = HERE, **headers: str) -> httpx.Response:
    async with site.client(host) as client:
        return await client.post("/api/clear", headers={"Authorization": f"Bearer {token}", **headers})


async def admitted(admin: Admin | None, host: str, forwarded: str = "") -> str:
    """Return where a client with the right token is."""
    headers = [(b"authorization", f"Bearer {TOKEN}".encode()), (b"x-forwarded-for", forwarded.encode())]
    assert admin is not None
    return await admin.admit(Request({"type": "http", "client": (host, 4242), "headers": headers}))


async def test_each_wrong_token_of_an_address_waits_twice_as_long_for_its_answer_up_to_eight_seconds(
    site: Site, autojump_clock: trio.abc.Clock
) -> None:
    waits = []
    for _ in range(8):
        began = trio.current_time()
        assert (await cleared(site)).status_code == 403
        waits.append(trio.current_time() - began)
    assert waits == pytest.approx([0.25, 0.5, 1, 2, 4, 8, 8, 8])
    assert site.refused == 8
    assert [*every(site.database.reading, Filter())] != []


async def test_many_wrong_tokens_at_once_are_not_looked_at(
    site: Site, autojump_clock: trio.abc.Clock
) -> None:
    """Neither is the right one among them: else whoever sends thousands at once would find it."""
    answers = []

    async def guess(token: str) -> None:
        answers.append((await cleared(site, token)).status_code)

    async with trio.open_nursery() as nursery:
        for _ in range(WAITING):
            nursery.start_soon(guess, "guess")
        await trio.testing.wait_all_tasks_blocked()
        await guess(TOKEN)
    assert answers == [429, *[403] * WAITING]
    assert site.refused == WAITING + 1
    assert (await cleared(site, TOKEN)).status_code == 200


async def test_first_wrong_token_of_an_address_is_a_line_of_the_log(
    site: Site, autojump_clock: trio.abc.Clock, caplog: pytest.LogCaptureFixture
) -> None:
    for host in (HERE, HERE, ELSEWHERE, HERE):
        await cleared(site, host=host)
    refused = [each for each in caplog.records if vars(each).get("event") == "admin_refused"]
    assert [vars(each)["origin"] for each in refused] == [HERE, ELSEWHERE]
    assert "guess" not in caplog.text


async def test_behind_a_trusted_proxy_it_is_the_client_that_waits(
    site: Site, autojump_clock: trio.abc.Clock
) -> None:
    assert site.admin is not None
    site.admin = replace(site.admin, trusted=[ip_network(HERE)])
    site.show()
    async with trio.open_nursery() as nursery:
        for _ in range(2 * WAITING):
            nursery.start_soon(lambda: cleared(site, **{"X-Forwarded-For": ELSEWHERE}))
        await trio.testing.wait_all_tasks_blocked()
        began = trio.current_time()
        assert await admitted(site.admin, HERE, forwarded="192.0.2.1") == "192.0.2.1"
        assert trio.current_time() == began


async def test_clear_is_a_line_of_the_audit_log_with_the_time_and_the_address(
    site: Site, tmp_path: Path
) -> None:
    assert (await cleared(site, TOKEN)).status_code == 200
    [line] = (tmp_path / "audit").read_text().splitlines()
    assert re.fullmatch(rf"\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\dZ\tadmin\tclear\t{re.escape(HERE)}", line)


async def test_nothing_is_cleared_where_that_cannot_be_audited(site: Site, tmp_path: Path) -> None:
    (tmp_path / "audit").mkdir()
    response = await cleared(site, TOKEN)
    assert response.status_code == 503
    assert response.json() == {"error": "nothing was removed: the audit log cannot be written"}
    assert [*every(site.database.reading, Filter())] != []


# The acts on a running server.


async def acted(site: Site, act: str, token: str = TOKEN, method: str = "POST") -> httpx.Response:
    async with site.client(HERE) as client:
        headers = {"Authorization": f"Bearer {token}"}
        response: httpx.Response = await client.request(method, f"/api/admin/{act}", headers=headers)
        return response


async def test_act_is_a_line_of_the_audit_log_before_it_is_done(site: Site, tmp_path: Path) -> None:
    lines = []

    async def act(what: str, about: Parameters) -> Mapping[str, str]:
        lines.append((tmp_path / "audit").read_text())
        return {"": "{}"}

    assert site.admin is not None
    site.admin = replace(site.admin, act=act)
    site.show()
    assert (await acted(site, "kick?who=an%0An")).status_code == 200
    assert [each.split("\t")[1:] for each in lines] == [["admin", "kick", HERE, "an\\nn\n"]]


async def test_who_is_here_is_asked_without_a_line_of_the_audit_log(site: Site, tmp_path: Path) -> None:
    assert (await acted(site, "who", method="GET")).status_code == 200
    assert site.acts == [("who", {})]
    assert not (tmp_path / "audit").exists()


@pytest.mark.parametrize("act", ["kick?who=ann", "ban?who=ann", "unban?who=ann"])
async def test_nothing_is_done_without_the_token_or_the_audit_log(
    site: Site, tmp_path: Path, act: str, autojump_clock: trio.abc.Clock
) -> None:
    assert (await acted(site, act, "guess")).status_code == 403
    (tmp_path / "audit").mkdir()
    response = await acted(site, act)
    assert (response.status_code, response.json()) == (
        503,
        {"error": "nothing was done: the audit log cannot be written"},
    )
    assert site.acts == []


@pytest.mark.parametrize(
    ("act", "status", "words"),
    [
        ("kick", 400, "the parameter who is missing"),
        ("kick?name=ann", 400, "there is no parameter 'name'"),
        ("kick?who=%ff", 400, "cannot be read"),
        ("frob", 404, "there is no such path"),
    ],
)
async def test_act_that_makes_no_sense_is_refused(site: Site, act: str, status: int, words: str) -> None:
    response = await acted(site, act)
    assert response.status_code == status
    assert words in response.json()["error"]
    assert site.acts == []


async def test_act_that_is_not_done_says_why_and_is_not_audited(site: Site, tmp_path: Path) -> None:
    async def act(what: str, about: Parameters) -> Mapping[str, str]:
        raise NotDoneError("not a name")

    assert site.admin is not None
    site.admin = replace(site.admin, act=act)
    site.show()
    response = await acted(site, "kick?who=x")
    assert (response.status_code, response.json()) == (409, {"error": "not a name"})
    assert (tmp_path / "audit").read_text() == ""


async def test_what_came_of_an_act_on_several_nodes_is_added_up(site: Site) -> None:
    site.came_of_it = {
        "": '{"changed": false, "kicked": 1, "players": [1], "seconds": 600}',
        "b": '{"changed": true, "kicked": 2, "players": [2], "seconds": 600}',
        "c": '{"error": "no answer"}',
    }
    assert (await acted(site, "ban?who=x")).json() == {
        "changed": True,
        "kicked": 3,
        "players": [1, 2],
        "seconds": 600,
        "not_done": {"c": "no answer"},
    }
