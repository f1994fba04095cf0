"""The API: paths under ``/api/``, their methods and parameters, and ``/healthz``.

Knows starlette, and the threads that read the database. Does not know what is in an answer. The rule it
keeps: the event loop never waits for the database, and never encodes what was read there.
"""

import json
import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from functools import partial
from importlib.resources import files

import trio
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adapters.web import answers, nac4
from adapters.web.admin import Admin
from adapters.web.health import Health
from adapters.web.live import paths
from adapters.web.perfect import BusyError, NotInstalledError, as_object
from adapters.web.query import (
    FILTERS,
    PAGING,
    BadRequestError,
    Given,
    game_named,
    name_of,
    parameters,
    wanted,
)
from adapters.web.site import Site
from adapters.web.streaming import Pieces
from gateway.game.ids import GameId
from gateway.server.acts import ACTS, NEEDED, WHO, NotDoneError
from gateway.store import StoreError
from gateway.store.games import NoGameError, every
from gateway.store.records import Cleared
from gateway.store.statistics import meetings

CLEAR_LIMIT = 10.0
"""Seconds after which a request to clear the results is withdrawn."""
DESCRIPTION = "/api/openapi.json"
NO_GAME = "there is no such game"
HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}

logger = logging.getLogger(__name__)


def routes(site: Site, health: Health, admin: Admin | None) -> list[Route]:
    """Return the routes of the API; without `admin` there is none for the operator."""
    api = _Api(site, health)
    lists: Mapping[str, tuple[answers.Answer, tuple[str, ...]]] = {
        **nac4.DOCUMENTS,
        "/api/games": (answers.games, (*FILTERS, *PAGING)),
        "/api/players": (answers.players, ("after", "limit")),
        "/api/standings": (answers.standings, ("sort", "since", "table", "least", "limit")),
    }
    made = [Route(path, partial(api.list, *about)) for path, about in lists.items()]
    made += [
        Route("/api/games/{game}", api.game),
        Route("/api/games/{game}/perfect", api.perfect),
        Route("/api/players/{name:path}", api.player),
        Route("/api/export.jsonl", api.export),
        Route("/api/games-vg", api.pairs),
        Route("/api", api.start),
        Route("/api/notice", api.notice),
        Route(DESCRIPTION, api.description),
        Route("/healthz", api.healthz),
        *paths.routes(site.live, HEADERS),
    ]
    if admin is not None:
        made.append(Route("/api/clear", partial(api.clear, admin), methods=["POST"]))
        for act in ACTS:
            method = "GET" if act == WHO else "POST"
            made.append(Route(f"/api/admin/{act}", partial(api.act, admin, act), methods=[method]))
    return made


def as_json(value: answers.Json, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return an answer in JSON."""
    return _json(_encode(value), status, headers)


class _Api:
    """Answers, each for one path."""

    def __init__(self, site: Site, health: Health) -> None:
        self._site = site
        self._health = health

    async def list(self, answer: answers.Answer, known: tuple[str, ...], request: Request) -> Response:
        given = _given(request, *known)
        return await self._answer(lambda: answer(self._site.reading, given))

    async def game(self, request: Request) -> Response:
        game = _game(request)
        return await self._answer(lambda: answers.game(self._site.reading, game), NO_GAME)

    async def perfect(self, request: Request) -> Response:
        game = _game(request)
        try:
            record = await self._site.threads.do(partial(self._site.game, game))
            found = await self._site.perfect.scores(record)
        except NoGameError as error:
            raise HTTPException(404, NO_GAME) from error
        except NotInstalledError as error:
            raise HTTPException(501, str(error)) from error
        except BusyError as error:
            raise HTTPException(503, "other games are being solved; try again later") from error
        return as_json(as_object(record.moves, found))

    async def player(self, request: Request) -> Response:
        _given(request)
        name = name_of(request.path_params["name"])
        return await self._answer(lambda: answers.player(self._site.reading, name), "there is no such player")

    async def export(self, request: Request) -> Response:
        filtered = wanted(_given(request, *FILTERS))
        pieces = answers.export(every(self._site.reading, filtered))
        return await self._stream("application/x-ndjson", pieces)

    async def pairs(self, request: Request) -> Response:
        _given(request)
        return await self._stream("application/json", nac4.pairs(meetings(self._site.reading)))

    async def start(self, request: Request) -> Response:
        _given(request)
        return as_json({"openapi": DESCRIPTION})

    async def notice(self, request: Request) -> Response:
        _given(request)
        return as_json(asdict(self._site.notice))

    async def description(self, request: Request) -> Response:
        _given(request)
        return _json(files(__package__).joinpath("openapi.json").read_bytes())

    async def healthz(self, request: Request) -> Response:
        _given(request)
        condition = await self._health.condition()
        known = {name: value for name, value in asdict(condition).items() if value is not None}
        ok = condition.error is None
        return as_json({"ok": ok, **known}, 200 if ok else 503)

    async def clear(self, admin: Admin, request: Request) -> Response:
        _given(request)
        origin = await admin.admit(request)
        given_up = trio.Event()
        removed: Cleared | None = None
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_give_up, request, given_up)
            fault = "the database cannot be used at the moment"
            try:
                removed = await admin.clear(given_up, origin)
            except StoreError:
                pass  # the server logs it
            except OSError as error:
                fault = "the audit log cannot be written"
                about = {"event": "not_audited", "error": str(error)}
                logger.error("the results are not cleared: %s: %s", fault, error, extra=about)
            nursery.cancel_scope.cancel()
        if removed is None:
            return as_json({"error": f"nothing was removed: {fault}"}, 503)
        return as_json({"removed": asdict(removed)})

    async def act(self, admin: Admin, what: str, request: Request) -> Response:
        about = _given(request, *ACTS[what])
        origin = await admin.admit(request)
        if what in NEEDED and NEEDED[what] not in about:
            raise HTTPException(400, f"the parameter {NEEDED[what]} is missing")
        try:
            found = await admin.carry_out(what, about, origin)
        except NotDoneError as error:
            return as_json({"error": str(error)}, 409)
        except OSError as error:
            fault = "the audit log cannot be written"
            logger.error(
                "%s is not done: %s: %s",
                *(what, fault, error),
                extra={"event": "not_audited", "error": str(error)},
            )
            return as_json({"error": f"nothing was done: {fault}"}, 503)
        return as_json(answers.of_nodes(found))

    async def _stream(self, media_type: str, pieces: Iterator[str]) -> Response:
        first = await self._site.threads.do(partial(next, pieces, ""))  # errors come before the answer
        return Pieces(media_type, HEADERS, first, pieces, self._site.threads)

    async def _answer(self, work: Callable[[], answers.Json | None], missing: str = "") -> Response:
        """Return what `work` makes in a thread. If it makes None, answer 404 with `missing`."""

        def encoded() -> bytes | None:
            made = work()
            return None if made is None else _encode(made)

        body = await self._site.threads.do(encoded)
        if body is None:
            raise HTTPException(404, missing)
        return _json(body)


async def _give_up(request: Request, given_up: trio.Event) -> None:
    """Set `given_up` when the client has gone, or after `CLEAR_LIMIT`."""
    with trio.move_on_after(CLEAR_LIMIT):
        while (await request.receive())["type"] != "http.disconnect":
            pass
    given_up.set()


def _game(request: Request) -> GameId:
    """Return the id in a path that takes no parameters. Raises HTTPException if it is not an id."""
    _given(request)
    try:
        return game_named(request.path_params["game"])
    except BadRequestError as error:
        raise HTTPException(404, NO_GAME) from error


def _given(request: Request, *known: str) -> Given:
    return parameters(request.scope["query_string"], known)


def _encode(found: answers.Json) -> bytes:
    return json.dumps(found).encode()


def _json(body: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    about = {**HEADERS, **(headers or {})}
    return Response(body, status, media_type="application/json", headers=about)
