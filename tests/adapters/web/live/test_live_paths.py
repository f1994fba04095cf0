"""What is on by HTTP: once, and as a stream; over real sockets where it is about these."""

import json
import resource
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Any, TypeAlias

import pytest
import trio
import trio.testing
from jsonschema import Draft202012Validator
from live_world import NASTY, Browser, game, identity, move, over
from test_web_server import GET, Endpoint, opened
from web_world import Site

from adapters.web import server, serving
from adapters.web.live import live as live_module
from adapters.web.live import paths
from gateway.game.fact_encoding import encode_fact
from gateway.game.facts import Came, Cause, Hindered, Obstacle, Waits
from gateway.runtime.accepting import RESERVE

DOCUMENT = json.loads(files("adapters.web").joinpath("openapi.json").read_text())
SCHEMAS = {
    "snapshot": "LiveSnapshot",
    "started": "LiveGame",
    "moved": "LiveMove",
    "ended": "LiveEnd",
    "gone": "LiveGone",
    "counts": "LiveCounts",
}
Clock: TypeAlias = trio.testing.MockClock
OVER = encode_fact(over(1))


def check(kind: str, data: Any) -> None:
    """Hold the data of an event against its schema."""
    schema = {**DOCUMENT["components"]["schemas"][SCHEMAS[kind]], "components": DOCUMENT["components"]}
    Draft202012Validator(schema).validate(data)


@asynccontextmanager
async def watched(site: Site) -> AsyncIterator[Endpoint]:
    """The site on a real port; what is on can be watched."""
    async with trio.open_nursery() as nursery, opened(site) as endpoint:
        nursery.start_soon(site.live.run)
        yield endpoint
        nursery.cancel_scope.cancel()


class Stream:
    """A browser's end of a stream."""

    def __init__(self, client: trio.SocketStream) -> None:
        self.browser = Browser()
        self.comments = 0
        self._client = client
        self._data = b""
        self.head = b""

    async def ask(self, target: bytes = b"/api/live/events") -> None:
        last = b"Last-Event-ID: %s\r\n" % self.browser.last.encode() if self.browser.last else b""
        await self._client.send_all(GET % (target, last))
        while b"\r\n\r\n" not in self._data:
            self._data += await self._client.receive_some()
        self.head, _, self._data = self._data.partition(b"\r\n\r\n")

    async def read(self) -> bool:
        """Take in one piece; return False at the end of the stream."""
        while b"\r\n" not in self._data:
            self._data += await self._some()
        size, _, self._data = self._data.partition(b"\r\n")
        length = int(size, 16) + 2
        while len(self._data) < length:
            self._data += await self._some()
        piece, self._data = self._data[: length - 2], self._data[length:]
        self.comments += piece.startswith(b":")
        self.browser.read(piece)
        return bool(piece)

    async def read_to(self, kind: str) -> Browser:
        """Read until an event of this kind has come."""
        while kind not in self.browser.kinds:
            assert await self.read()
        return self.browser

    async def _some(self) -> bytes:
        data = bytes(await self._client.receive_some())
        assert data, "the stream has ended"
        return data


async def test_what_is_on_is_answered_at_once(site: Site) -> None:
    site.on = [encode_fact(Came(7, "eve", "one")), encode_fact(Waits(7, "x", 3.0))]
    site.on.append(encode_fact(Hindered(7, "eve", Obstacle(Cause.ALONE, "x"), is_first=True)))
    site.on += [encode_fact(game(number, table="y")) for number in (1, 2)]
    async with site.client() as client:
        found = (await client.get("/api/live")).json()
        assert [each["game"] for each in found["games"]] == [identity(2), identity(1)]
        check("snapshot", found)
        assert found["lobby"][0]["name"] == "eve"
        assert found["lobby"][0]["why"] == {"cause": "alone", "name": "x", "alike": None}
        for query, count in (("?most=1", 1), ("?player=ann", 2), ("?player=eve", 0), ("?table=y&game=1", 0)):
            assert len((await client.get("/api/live" + query)).json()["games"]) == count


@pytest.mark.parametrize("path", ["/api/live", "/api/live/events"])
@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("most=0", "most is not a whole number from 1 to 100"),
        ("most=101", "most is not a whole number from 1 to 100"),
        ("most=x", "most is not a whole number from 1 to 100"),
        ("player=" + "x" * 257, "player has 256 characters at most"),
        ("table=" + "x" * 257, "table has 256 characters at most"),
        ("game=x", "not the id of a game"),
        ("opponent=ann", "there is no parameter 'opponent'; possible: player, table, game, most"),
    ],
)
async def test_what_cannot_be_watched_is_refused(site: Site, path: str, query: str, words: str) -> None:
    async with site.client() as client:
        answer = await client.get(f"{path}?{query}")
    assert (answer.status_code, answer.json()) == (400, {"error": words})


@pytest.mark.parametrize("path", ["/api/live", "/api/live/events"])
async def test_viewer_is_sent_away_where_nothing_is_told(
    site: Site, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_module, "PATIENCE", 0.01)
    site.is_silent = True
    async with site.client() as client:
        answer = await client.get(path)
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "2"
    assert answer.json() == {"error": "the games are not known yet; try again in a few seconds"}


async def test_stream_tells_a_game_as_it_is_described(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_module, "TICK", 0.01)
    monkeypatch.setattr("adapters.web.live.state.HELD", 0.05)
    async with watched(site) as endpoint, await endpoint.dial() as client:
        stream = Stream(client)
        await stream.ask()
        assert stream.head.startswith(b"HTTP/1.1 200")
        for header in (b"text/event-stream", b"no-store", b"x-accel-buffering: no"):
            assert header in stream.head.lower()
        await stream.read_to("snapshot")
        assert [*site.application.requests.delays] == [("live", 200)]  # a stream counts when it begins
        site.tell(encode_fact(Came(7, "eve", "one")), encode_fact(Waits(7, "x", 3.0)))
        site.tell(encode_fact(game(1, clock=42.0)), encode_fact(move(1, 0, left=41.0)), OVER)
        browser = await stream.read_to("gone")
        await stream.read_to("counts")
    assert {*browser.kinds} == {*SCHEMAS}
    for kind, data in browser.told:
        check(kind, data)


@pytest.mark.parametrize("name", NASTY)
async def test_name_is_carried_as_it_is(site: Site, name: str) -> None:
    site.on = [encode_fact(game(1, (name, "bob"), name))]
    async with watched(site) as endpoint, await endpoint.dial() as client:
        stream = Stream(client)
        await stream.ask()
        browser = await stream.read_to("snapshot")
        assert browser.games[0]["players"][0]["name"] == name


async def test_stream_that_was_cut_goes_on_where_it_was(site: Site) -> None:
    site.on = [encode_fact(game(1))]
    async with watched(site) as endpoint:
        async with await endpoint.dial() as client:
            stream = Stream(client)
            await stream.ask()
            await stream.read_to("snapshot")
        browser = stream.browser
        site.tell(encode_fact(move(1, 0)), encode_fact(move(1, 1)))
        async with await endpoint.dial() as client:
            stream = Stream(client)
            stream.browser = browser
            await stream.ask()
            await stream.read()
    assert [kind for kind in browser.kinds if kind != "counts"] == ["snapshot", "moved", "moved"]


async def test_silence_is_broken_by_comments(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "SILENCE", 0.01)
    async with watched(site) as endpoint, await endpoint.dial() as client:
        stream = Stream(client)
        await stream.ask()
        while stream.comments < 2:
            await stream.read()


async def test_head_of_a_stream_ends(site: Site) -> None:
    async with watched(site) as endpoint, await endpoint.dial() as client:
        await client.send_all(b"HEAD /api/live/events HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        data = b"".join([bytes(chunk) async for chunk in client])
        assert data.startswith(b"HTTP/1.1 200")
        assert data.endswith(b"\r\n\r\n")


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nothing be told that does not happen."""
    monkeypatch.setattr(live_module, "TICK", 1000.0)
    monkeypatch.setattr(paths, "SILENCE", 1000.0)


@pytest.mark.usefixtures("quiet")
async def test_streams_end_at_once_when_the_server_stops(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "PARTING", 0.01)
    async with watched(site) as endpoint, await endpoint.dial() as client:
        stream = Stream(client)
        await stream.ask()
        await stream.read_to("snapshot")
        site.live.stop()
        endpoint.web.stop()
        while await stream.read():
            pass
        await endpoint.left.wait()


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("behind", [b"", GET % (b"/healthz", b"")])
async def test_viewer_that_has_gone_is_let_go_of(site: Site, behind: bytes) -> None:
    async with watched(site) as endpoint:
        async with await endpoint.dial() as client:
            stream = Stream(client)
            await stream.ask()
            await stream.read_to("snapshot")
            await client.send_all(behind)
        await endpoint.left.wait()
        assert site.live.watching == 0


async def test_viewer_that_stops_reading_is_hung_up_on_and_costs_nobody_anything(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "SEND_LIMIT", 0.1)
    monkeypatch.setattr(server, "PARTING", 0.01)
    site.on = [encode_fact(game(1))]
    async with watched(site) as endpoint, await endpoint.dial() as stuck, await endpoint.dial() as client:
        await Stream(stuck).ask()
        quick = Stream(client)
        await quick.ask()
        [channel] = site.live.channels.values()
        while not endpoint.left.is_set():
            channel.put(b"event: counts\ndata: {%s}\n\n" % (b" " * 60_000))
            await quick.read()
        assert site.live.watching == 1


async def test_viewers_do_not_make_room_and_others_get_in_beside_them(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_module, "VIEWERS", 1)
    async with watched(site) as endpoint, await endpoint.dial() as client, await endpoint.dial() as other:
        stream = Stream(client)
        await stream.ask()
        await stream.read_to("snapshot")
        await other.send_all(GET % (b"/api/live/events", b""))
        assert (await other.receive_some()).startswith(b"HTTP/1.1 503")
        endpoint.web.make_room()
        endpoint.web.make_room()
        site.tell(encode_fact(game(1)))
        await stream.read_to("started")


def test_all_connections_together_are_more_than_those_who_may_watch() -> None:
    assert serving.MOST >= live_module.VIEWERS + 256


def test_connections_leave_the_page_files_for_its_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    for most, room in ((1024, 1024 - RESERVE), (1 << 20, serving.MOST)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, most=most: (most, most))
        assert serving.places() <= room
    assert serving.places() == serving.MOST
