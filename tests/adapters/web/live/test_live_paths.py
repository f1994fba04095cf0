"""What is on by HTTP: once, and as a stream; and when the server is asked to tell it."""

import json
from collections.abc import AsyncIterator, Collection
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.resources import files
from typing import Any, TypeAlias

import pytest
import trio
import trio.testing
from jsonschema import Draft202012Validator
from live_world import Browser, away, back, game, identity, move, over
from starlette.types import Message
from web_world import Site

from adapters.web.live.channel import Wanted
from adapters.web.live.live import RATED, VIEWERS, UnavailableError
from gateway.game.fact_encoding import encode_fact
from gateway.game.facts import Came, Cause, Hindered, Obstacle, Waits

DOCUMENT = json.loads(files("adapters.web").joinpath("openapi.json").read_text())
SCHEMAS = {
    "snapshot": "LiveSnapshot",
    "started": "LiveGame",
    "moved": "LiveMove",
    "away": "LiveAway",
    "rated": "LiveRated",
    "ended": "LiveEnd",
    "gone": "LiveGone",
    "counts": "LiveCounts",
}
Clock: TypeAlias = trio.testing.MockClock
ALL = Wanted()
EVENTS = "/api/live/events"


def check(kind: str, data: Any) -> None:
    """Hold the data of an event against its schema."""
    schema = {**DOCUMENT["components"]["schemas"][SCHEMAS[kind]], "components": DOCUMENT["components"]}
    Draft202012Validator(schema).validate(data)


class Stream:
    """A stream of events, from the application to a browser."""

    def __init__(self, browser: Browser, method: str) -> None:
        self.browser = browser
        self.headers: dict[bytes, bytes] = {}
        self.comments = 0
        self.ended = trio.Event()
        self.gone = trio.Event()
        """Set when the client is to go."""
        last = [(b"last-event-id", browser.last.encode())] if browser.last else []
        self.scope = {"type": "http", "method": method, "path": EVENTS, "raw_path": EVENTS.encode()}
        self.scope |= {"query_string": b"", "headers": last}

    async def receive(self) -> Message:
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            assert message["status"] == 200
            self.headers = dict(message["headers"])
            return
        self.comments += message["body"].startswith(b":")
        self.browser.read(message["body"])
        if not message["more_body"]:
            self.ended.set()


@asynccontextmanager
async def streaming(site: Site, browser: Browser | None = None, method: str = "GET") -> AsyncIterator[Stream]:
    """Watch what is on, from where a browser has come to that watched before."""
    stream = Stream(browser or Browser(), method)
    async with trio.open_nursery() as nursery:
        if browser is None:
            nursery.start_soon(site.live.run)
        nursery.start_soon(site.application, stream.scope, stream.receive, stream.send)
        await trio.testing.wait_all_tasks_blocked()
        yield stream
        nursery.cancel_scope.cancel()


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
        found = (await client.get("/api/live", params={"most": 1, "first": '["bob"]'})).json()
        assert len(found["games"]) == 1


@pytest.mark.parametrize(
    "query",
    [
        *("most=0", "most=101", "player=" + "x" * 257, "table=" + "x" * 257, "game=x", "opponent=ann"),
        f"first={'[' * 1500}",
        *("first=ann", "first=7", "first=[7]", f"first={json.dumps(['a'] * 21)}", f'first=["{"x" * 257}"]'),
    ],
)
async def test_what_cannot_be_watched_is_refused(site: Site, query: str) -> None:
    async with site.client() as client:
        for path in ("/api/live", EVENTS):
            answer = await client.get(f"{path}?{query}")
            assert answer.status_code == 400
            assert query.partition("=")[0] in answer.json()["error"]


@pytest.mark.parametrize("path", ["/api/live", EVENTS])
async def test_viewer_is_sent_away_where_nothing_is_told(
    site: Site, path: str, autojump_clock: Clock
) -> None:
    site.is_silent = True
    async with site.client() as client:
        answer = await client.get(path)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
    assert [*answer.json()] == ["error"]


async def test_stream_tells_a_game_as_it_is_described(site: Site, autojump_clock: Clock) -> None:
    async with streaming(site) as stream:
        assert stream.headers[b"content-type"].startswith(b"text/event-stream")
        assert stream.headers[b"cache-control"] == b"no-store"
        assert stream.headers[b"x-accel-buffering"] == b"no"
        assert [*site.application.requests.delays] == [("live", 200)]  # a stream counts when it begins
        site.tell(encode_fact(Came(7, "eve", "one")), encode_fact(Waits(7, "x", 3.0)))
        site.tell(encode_fact(game(1, clock=42.0)), encode_fact(move(1, 0, left=41.0)))
        site.live.rate({"ann": {"rank": 2, "sure": -1.5, "mean": 12}})
        site.tell(encode_fact(away(1, 1)), encode_fact(back(1, 1)), encode_fact(over(1)))
        await trio.sleep(12)
    assert {*stream.browser.kinds} == {*SCHEMAS}
    for kind, data in stream.browser.told:
        check(kind, data)
    assert stream.browser.games == {}


async def test_stream_that_was_cut_goes_on_where_it_was(site: Site) -> None:
    site.on = [encode_fact(game(1))]
    async with streaming(site) as stream:
        stream.gone.set()
        await trio.testing.wait_all_tasks_blocked()
        assert site.live.watching == 0
        site.tell(encode_fact(move(1, 0)), encode_fact(move(1, 1)))
        async with streaming(site, stream.browser):
            assert stream.browser.kinds == ["snapshot", "moved", "moved"]


async def test_silence_is_broken_by_comments(site: Site, autojump_clock: Clock) -> None:
    async with streaming(site) as stream:
        await trio.sleep(50)
        assert stream.comments == 3


async def test_head_of_a_stream_ends(site: Site) -> None:
    async with streaming(site, method="HEAD") as stream:
        assert stream.ended.is_set()
        assert stream.browser.kinds == []


async def test_streams_end_at_once_when_the_server_stops(site: Site) -> None:
    async with streaming(site) as stream:
        assert not stream.ended.is_set()
        site.live.stop()
        await trio.testing.wait_all_tasks_blocked()
        assert stream.ended.is_set()


# When the server is asked.


async def test_server_is_asked_while_somebody_watches_and_for_some_seconds_after(
    site: Site, autojump_clock: Clock
) -> None:
    async with site.client():
        await trio.sleep(1000)
        assert site.asked == []
        async with site.live.viewer(ALL), site.live.viewer(Wanted(most=1)):
            await trio.sleep(1000)
        await trio.sleep(10)
        assert site.asked == [1]
        await trio.sleep(20)
        assert site.asked == [1, 0]
        await site.live.state(ALL)
        assert site.asked == [1, 0, 2]
        await trio.sleep(1000)
        assert (site.live.watching, len(site.live.channels)) == (0, 0)


async def test_ratings_are_read_while_somebody_watches(site: Site, autojump_clock: Clock) -> None:
    asked: list[set[str]] = []

    async def read(names: Collection[str]) -> dict[str, dict[str, float]] | None:
        asked.append({*names})
        return {"ann": {"rank": 1, "sure": len(asked), "mean": 25}} if len(asked) < 3 else None

    site.on = [encode_fact(game(1))]
    async with site.client(), trio.open_nursery() as nursery:
        nursery.start_soon(site.live.keep_ratings, read)
        await trio.sleep(100)
        assert not asked
        async with site.live.viewer(ALL) as channel:
            await trio.sleep(3 * RATED)
            [found] = channel.state(0)["games"]
        assert found["ratings"] == [{"rank": 1, "sure": 2, "mean": 25}, None]  # the latest that were read
        await trio.sleep(100)
        before = len(asked)
        assert asked == [{"ann", "bob"}] * before
        await trio.sleep(100)
        assert len(asked) == before
        nursery.cancel_scope.cancel()


async def test_what_was_told_for_an_earlier_request_changes_nothing(
    site: Site, autojump_clock: Clock
) -> None:
    async with site.client():
        site.on = [encode_fact(game(1))]
        await site.live.state(ALL)
        await trio.sleep(1000)
        site.is_silent = True
        site.live.begin(1)
        site.tell(*site.on)
        site.live.complete()
        site.tell(encode_fact(move(1, 0)))
        with pytest.raises(UnavailableError):
            await site.live.state(ALL)
        site.is_silent, site.on = False, [encode_fact(game(2))]
        await site.watch(site.asked[-1])
        assert [each["game"] for each in (await site.live.state(ALL))["games"]] == [identity(2)]


async def test_viewers_are_bounded_and_one_who_goes_makes_room(site: Site, autojump_clock: Clock) -> None:
    async with site.client():
        for _ in range(2):
            async with AsyncExitStack() as stack:
                for _ in range(VIEWERS):
                    await stack.enter_async_context(site.live.viewer(ALL))
                with pytest.raises(UnavailableError):
                    await stack.enter_async_context(site.live.viewer(ALL))
