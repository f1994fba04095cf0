"""Live games by HTTP: once as JSON, and as a stream of server-sent events.

Knows starlette; does not know the contents of events. The rule it keeps: if a client has gone, only its wait
for the next event is cancelled. `adapters.web.site` gives the reason.
"""

import json
from collections.abc import Mapping

import trio
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from adapters.web.live.channel import Wanted
from adapters.web.live.live import Live, Viewer
from adapters.web.query import BadRequestError, Given, game_named, parameters, whole
from adapters.web.streaming import Streamed
from gateway.game.commands import LONGEST_NAME

PARAMETERS = ("player", "table", "game", "most")
MOST = 100
"""The most games that a stream carries."""
USUAL = 60
"""Games without the parameter ``most``."""
SILENCE = 15.0
"""Seconds without an event after which a comment is sent, so that proxies keep the connection."""


def routes(live: Live, headers: Mapping[str, str]) -> list[Route]:
    """Return the routes; each answer gets `headers`."""
    paths = _Paths(live, headers)
    return [Route("/api/live", paths.state), Route("/api/live/events", paths.events)]


class _Paths:
    """Answers, each for one path."""

    def __init__(self, live: Live, headers: Mapping[str, str]) -> None:
        self._live = live
        self._headers = headers

    async def state(self, request: Request) -> Response:
        body = json.dumps(await self._live.state(_wanted(request))).encode()
        return Response(body, media_type="application/json", headers=self._headers)

    async def events(self, request: Request) -> Response:
        last = request.headers.get("last-event-id", "")
        return Events(self._live, _wanted(request), last, self._headers)


class Events(Streamed):
    """A stream of server-sent events, until the client goes or the server stops."""

    def __init__(self, live: Live, wanted: Wanted, last: str, headers: Mapping[str, str]) -> None:
        """`last` is the id of the last event that the client got."""
        about = {**headers, "X-Accel-Buffering": "no"}  # or nginx would keep events back
        super().__init__("text/event-stream", about)
        self._live = live
        self._wanted = wanted
        self._last = last
        self._waiting = trio.CancelScope()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send events until the client goes. Raises UnavailableError before the answer begins."""
        async with self._live.viewer(self._wanted, self._last) as viewer, trio.open_nursery() as nursery:
            nursery.start_soon(self.listen, receive)
            nursery.start_soon(self._heed_stop)
            self.is_gone = scope["method"] == "HEAD"
            await self._send(viewer, send)
            nursery.cancel_scope.cancel()

    async def _send(self, viewer: Viewer, send: Send) -> None:
        await self.begin(send)
        while not self.is_gone:
            piece = viewer.take() or b":\n\n"
            await send({"type": "http.response.body", "body": piece, "more_body": True})
            with trio.CancelScope(deadline=trio.current_time() + SILENCE) as self._waiting:
                if not self.is_gone:
                    await viewer.news()
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _heed_stop(self) -> None:
        await self._live.stopping.wait()
        self.end()

    def end(self) -> None:
        """Send no further event, and wait for none."""
        super().end()
        self._waiting.cancel()


def wanted(given: Given) -> Wanted:
    """Return which games are wanted. Raises BadRequestError."""
    return Wanted(
        player=_name(given, "player"),
        table=_name(given, "table"),
        game=game_named(given["game"]) if "game" in given else None,
        most=whole(given, "most", USUAL, MOST),
    )


def _wanted(request: Request) -> Wanted:
    return wanted(parameters(request.scope["query_string"], PARAMETERS))


def _name(given: Given, name: str) -> str | None:
    text = given.get(name)
    if text is not None and len(text) > LONGEST_NAME:
        raise BadRequestError(f"{name} has {LONGEST_NAME} characters at most")
    return text
