"""Paths, methods and statuses: the application that the web server runs.

Knows starlette, and the threads in which the database is asked. Does not know sockets, nor what is in an
answer. The rules it keeps: the event loop never waits for the database, nor makes JSON of what is read there;
every error is answered in JSON, ``{"error": "..."}``, without a word on our insides.
"""

import hmac
import json
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from importlib.resources import files
from typing import TypeVar

import trio
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from adapters.web import answers
from adapters.web.health import Health
from adapters.web.nac4 import DOCUMENTS
from adapters.web.query import FILTERS, PAGING, BadRequestError, Given, game_named, name_of, parameters
from gateway.store.errors import StoreError
from gateway.store.outage import Throttle
from gateway.store.reader import Reader
from gateway.store.records import Cleared

THREADS = 3
"""How many ask the database at once."""
BODY_LIMIT = 1_024
"""Bytes of a request's body; none is needed anywhere."""
CLEAR_LIMIT = 10.0
"""Seconds after which results that could not be cleared will not be."""

T = TypeVar("T")

_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Admin:
    """What only the operator may do."""

    token: str
    """What shows that a client may. Never empty."""
    clear: Callable[[trio.Event], Awaitable[Cleared]]
    """Removes all results, unless the event comes first. Raises StoreError where it did not."""


class Threads:
    """Up to `most` threads in which to wait for the database; what comes when all are busy waits for one."""

    def __init__(self, most: int) -> None:
        self._limiter = trio.CapacityLimiter(most)

    async def do(self, work: Callable[[], T]) -> T:
        """Return what `work` returns. A cancelled caller leaves it running, and its thread busy."""
        return await trio.to_thread.run_sync(work, limiter=self._limiter, abandon_on_cancel=True)


class Application:
    """Answers requests (ASGI)."""

    def __init__(self, reader: Reader, health: Health, admin: Admin | None) -> None:
        """Read from `reader`; where there is no `admin`, its paths do not exist."""
        self._reader = reader
        self._threads = Threads(THREADS)
        self._health = health
        self._admin = admin
        self._words = Throttle(10.0)
        self._starlette = Starlette(routes=self._routes(), exception_handlers=self._refusals())
        self._starlette.router.redirect_slashes = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "http" and _body_is_too_large(dict(scope["headers"])):
            await _error(413, f"a body has {BODY_LIMIT} bytes at most")(scope, receive, send)
            return
        # Its patterns are for paths as they were sent: decoded, a name may hold anything, a line break too.
        sent = scope["raw_path"].decode("ascii") if "raw_path" in scope else "/"
        await self._starlette({**scope, "path": sent}, receive, send)

    def _routes(self) -> list[Route]:
        lists: Mapping[str, tuple[answers.Answer, tuple[str, ...]]] = {
            **DOCUMENTS,
            "/api/games": (answers.games, (*FILTERS, *PAGING)),
            "/api/players": (answers.players, ("after", "limit")),
            "/api/standings": (answers.standings, ("limit",)),
        }
        routes = [Route(path, partial(self._list, *about)) for path, about in lists.items()]
        routes += [
            Route("/api/games/{game}", self._game),
            Route("/api/players/{name:path}", self._player),
            Route("/api/export.jsonl", self._export),
            Route("/api/openapi.json", self._description),
            Route("/healthz", self._healthz),
        ]
        if self._admin is not None:
            routes.append(Route("/api/clear", partial(self._clear, self._admin), methods=["POST"]))
        return routes

    def _refusals(self) -> dict[type[Exception], Callable[[Request, Exception], Awaitable[Response]]]:
        return {
            HTTPException: self._refused,
            BadRequestError: self._misunderstood,
            StoreError: self._unavailable,
            Exception: self._failed,
        }

    # What is answered.

    async def _list(self, answer: answers.Answer, known: tuple[str, ...], request: Request) -> Response:
        given = _given(request, *known)
        return await self._answer(lambda: answer(self._reader, given))

    async def _game(self, request: Request) -> Response:
        _given(request)
        try:
            game = game_named(request.path_params["game"])
        except BadRequestError as error:
            raise HTTPException(404, "there is no such game") from error
        return await self._answer(lambda: answers.game(self._reader, game), "there is no such game")

    async def _player(self, request: Request) -> Response:
        _given(request)
        name = name_of(request.path_params["name"])
        return await self._answer(lambda: answers.player(self._reader, name), "there is no such player")

    async def _export(self, request: Request) -> Response:
        pieces = answers.export(self._reader, _given(request, *FILTERS))
        first = await self._threads.do(partial(next, pieces, ""))  # what is wrong has no answer begun yet
        return Pieces(first, pieces, self._threads, _HEADERS)

    async def _description(self, request: Request) -> Response:
        _given(request)
        return _json(files(__package__).joinpath("openapi.json").read_bytes())

    async def _healthz(self, request: Request) -> Response:
        _given(request)
        condition = await self._health.condition()
        known = {name: value for name, value in asdict(condition).items() if value is not None}
        ok = condition.error is None
        return _json(_encode({"ok": ok, **known}), 200 if ok else 503)

    async def _clear(self, admin: Admin, request: Request) -> Response:
        _given(request)
        shown = request.headers.get("authorization", "").encode()
        if not hmac.compare_digest(shown, f"Bearer {admin.token}".encode()):
            raise HTTPException(403, "this needs the admin token")
        given_up = trio.Event()
        removed: Cleared | None = None
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_give_up, request, given_up)
            with suppress(StoreError):  # of which the server's log tells
                removed = await admin.clear(given_up)
            nursery.cancel_scope.cancel()
        if removed is None:
            return _error(503, "nothing was removed: the database cannot be used at the moment")
        return _json(_encode({"removed": asdict(removed)}))

    async def _answer(self, work: Callable[[], answers.Json | None], missing: str = "") -> Response:
        """Return what `work` makes, done in a thread; where it makes None, say what is missing."""

        def encoded() -> bytes | None:
            made = work()
            return None if made is None else _encode(made)

        body = await self._threads.do(encoded)
        if body is None:
            raise HTTPException(404, missing)
        return _json(body)

    # What goes wrong.

    async def _refused(self, _: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return _error(error.status_code, error.detail, error.headers)

    async def _misunderstood(self, _: Request, error: Exception) -> Response:
        return _error(400, str(error))

    async def _unavailable(self, _: Request, error: Exception) -> Response:
        if self._words.passes(trio.current_time()):
            about = {"event": "web_unavailable", "error": str(error)}
            logger.warning("a web page cannot be had: %s", error, extra=about)
        return _error(503, "the database cannot be used at the moment")

    async def _failed(self, _: Request, error: Exception) -> Response:
        return _error(500, "internal error")  # `server` logs what it was


class Pieces(Response):
    """An answer in pieces, each made in a thread when the one before has left; an empty piece is the end.

    Between two pieces it notices that a client has gone. It never cancels anything for that: starlette's own
    streaming cancels the task in which hypercorn closes, or renews, the connection, which then can stay open
    for ever.
    """

    def __init__(self, first: str, rest: Iterator[str], threads: Threads, headers: dict[str, str]) -> None:
        super().__init__(media_type="application/x-ndjson", headers=headers)
        del self.headers["content-length"]
        self._first = first
        self._rest = rest
        self._threads = threads
        self._gone = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send all of it, or as much as the client stays for."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._listen, receive)
            await send(
                {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
            )
            piece = "" if scope["method"] == "HEAD" else self._first
            while piece and not self._gone:
                await send({"type": "http.response.body", "body": piece.encode(), "more_body": True})
                piece = await self._threads.do(partial(next, self._rest, ""))
            await send({"type": "http.response.body", "body": b"", "more_body": False})
            nursery.cancel_scope.cancel()

    async def _listen(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._gone = True


async def _give_up(request: Request, given_up: trio.Event) -> None:
    """Say so when the client has gone, or has waited for long enough."""
    with trio.move_on_after(CLEAR_LIMIT):
        while (await request.receive())["type"] != "http.disconnect":
            pass
    given_up.set()


def _given(request: Request, *known: str) -> Given:
    return parameters(request.scope["query_string"], known)


def _body_is_too_large(headers: Mapping[bytes, bytes]) -> bool:
    length = headers.get(b"content-length", b"0")
    return b"transfer-encoding" in headers or not length.isdigit() or int(length[:20]) > BODY_LIMIT


def _encode(found: answers.Json) -> bytes:
    return json.dumps(found).encode()


def _json(body: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    about = {**_HEADERS, **(headers or {})}
    return Response(body, status, media_type="application/json", headers=about)


def _error(status: int, text: str, headers: Mapping[str, str] | None = None) -> Response:
    return _json(_encode({"error": text}), status, headers)
