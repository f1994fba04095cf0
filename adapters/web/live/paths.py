"""Live games by HTTP: once as JSON, and as a stream of server-sent events.

Knows starlette; does not know the contents of events. When the server stops, each stream ends after a
complete event.
"""

import json
from collections.abc import Mapping

import trio
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from adapters.web.live.channel import Wanted
from adapters.web.live.live import Live
from adapters.web.query import BadRequestError, Given, game_named, parameters, whole
from gateway.game.commands import LONGEST_NAME

PARAMETERS = ("player", "table", "game", "most", "first")
MOST = 100
"""The most games in a stream."""
USUAL = 60
"""The default value of the parameter ``most``."""
CHOSEN = 20
"""The most names in the parameter ``first``."""
SILENCE = 15.0
"""Seconds without an event after which a comment is sent, so that proxies keep the connection."""


def routes(live: Live, headers: Mapping[str, str]) -> list[Route]:
    """Return the routes; each answer gets `headers`."""

    async def state(request: Request) -> Response:
        body = json.dumps(await live.state(_wanted(request))).encode()
        return Response(body, media_type="application/json", headers=headers)

    async def events(request: Request) -> Response:
        return Events(live, _wanted(request), request.headers.get("last-event-id", ""), headers)

    return [Route("/api/live", state), Route("/api/live/events", events)]


class Events(Response):
    """A stream of server-sent events, until the client is gone or the server stops."""

    def __init__(self, live: Live, wanted: Wanted, last: str, headers: Mapping[str, str]) -> None:
        """`last` is the id of the latest event that the client has received."""
        about = {**headers, "X-Accel-Buffering": "no"}  # otherwise nginx would buffer events
        super().__init__(media_type="text/event-stream", headers=about)
        del self.headers["content-length"]
        self._live = live
        self._wanted = wanted
        self._last = last

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send events until the client is gone. Raises UnavailableError before the answer begins."""
        async with self._live.viewer(self._wanted) as channel, trio.open_nursery() as nursery:
            nursery.start_soon(_end_when_gone, receive, nursery.cancel_scope)
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            number = channel.number_in(self._last)
            while not (self._live.is_stopping or scope["method"] == "HEAD"):
                events = channel.since(number, trio.current_time())
                number = channel.number
                await send({"type": "http.response.body", "body": events or b":\n\n", "more_body": True})
                if number == channel.number and not self._live.is_stopping:
                    with trio.move_on_after(SILENCE):
                        await channel.news.park()
            await send({"type": "http.response.body", "body": b"", "more_body": False})
            nursery.cancel_scope.cancel()


def wanted(given: Given) -> Wanted:
    """Return which games the parameters ask for. Raises BadRequestError."""
    for name in ("player", "table"):
        if len(given.get(name, "")) > LONGEST_NAME:
            raise BadRequestError(f"{name} has {LONGEST_NAME} characters at most")
    return Wanted(
        player=given.get("player"),
        table=given.get("table"),
        game=game_named(given["game"]) if "game" in given else None,
        most=whole(given, "most", USUAL, MOST),
        first=_first(given.get("first", "[]")),
    )


def _first(text: str) -> tuple[str, ...]:
    """Return the names in the parameter ``first``, which is JSON, because a name may contain anything."""
    try:
        names = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadRequestError('first is not a list of names such as ["alice","bob"]') from error
    if not (isinstance(names, list) and len(names) <= CHOSEN and all(map(_is_name, names))):
        raise BadRequestError(f"first is not a list of up to {CHOSEN} names")
    return tuple(names)


def _is_name(value: object) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST_NAME


def _wanted(request: Request) -> Wanted:
    return wanted(parameters(request.scope["query_string"], PARAMETERS))


async def _end_when_gone(receive: Receive, streaming: trio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    streaming.cancel()
