"""The API: paths under ``/api/``, their methods and parameters, and ``/healthz``.

Knows starlette. Does not know the content of an answer. Threads read the database and encode what they read,
so the event loop does neither.
"""

import json
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import asdict
from functools import partial
from importlib.resources import files
from typing import TypeAlias, TypeVar

import trio
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from adapters.web import answers, nac4
from adapters.web.admin import Admin
from adapters.web.answers import Json
from adapters.web.health import Health
from adapters.web.live import paths
from adapters.web.live.evaluations import SecretError
from adapters.web.live.evaluations import as_object as evaluations_as_object
from adapters.web.perfect import BusyError, as_object, worths
from adapters.web.query import (
    FILTERS,
    PAGING,
    BadRequestError,
    Given,
    game_named,
    line_of,
    name_of,
    parameters,
    wanted,
)
from adapters.web.search import search
from adapters.web.secrecy import ahead_of_others, is_near, withheld
from adapters.web.site import Site
from adapters.web.solver import NotInstalledError
from gateway.game.board import COLUMNS
from gateway.game.ids import GameId
from gateway.server.acts import ACTS, DIRECTOR, NEEDED, TOURNAMENT, WHO, NotDoneError
from gateway.store import StoreError
from gateway.store.analyses import Analysis
from gateway.store.formats import sheet
from gateway.store.games import NoGameError, every
from gateway.store.records import GameRecord
from gateway.store.statistics import meetings
from gateway.tournament import acts as tournament_acts

CLEAR_LIMIT = 10.0
"""Seconds after which a request to clear the results is withdrawn."""
SUGGESTED = 8
"""The most players that a search returns."""
DESCRIPTION = "/api/openapi.json"
NO_GAME = "there is no such game"
HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
_PARTS = ("round", "stage")
"""The parameters that choose games of a tournament."""
_NOT_AUDITED = "the audit log cannot be written"

T = TypeVar("T")
_Answer: TypeAlias = Callable[[Request, Given], Awaitable[Response]]

logger = logging.getLogger(__name__)


def routes(site: Site, health: Health, admin: Admin | None) -> list[Route]:
    """Return the routes of the API; without `admin`, none for the operator."""
    api = _Api(site, health)
    lists: Mapping[str, tuple[answers.Answer, tuple[str, ...]]] = {
        **nac4.DOCUMENTS,
        "/api/games": (answers.games, (*FILTERS, *PAGING)),
        "/api/players": (answers.players, ("after", "limit")),
        "/api/standings": (answers.standings, ("sort", "since", "table", "least", "limit")),
        "/api/tournaments": (answers.tournament_list, ()),
    }
    made = [_route(path, partial(api.list, answer), *known) for path, (answer, known) in lists.items()]
    made += [
        _route("/api/games/{game}", api.game),
        _route("/api/games/{game}/perfect", api.perfect),
        _route("/api/games/{game}/line", api.line, "after", "columns"),
        _route("/api/live/games/{game}/evaluation", api.evaluation),
        _route("/api/players/{name:path}", api.player),
        _route("/api/tournaments/{name}", api.tournament),
        _route("/api/tournaments/{name}/standings.csv", api.tournament_sheet),
        _route("/api/tournaments/{name}/grades.csv", api.tournament_grades, "reference"),
        *(
            _route(f"/api/tournaments/{{name}}/games.{form}", partial(api.tournament_games, form), *_PARTS)
            for form in answers.TOURNAMENT_FORMATS
        ),
        *(
            _route(f"/api/export.{form}", partial(api.export, form), *FILTERS)
            for form in answers.EXPORT_TYPES
        ),
        _route("/api/games-vg", api.pairs),
        _route("/api/search", api.search, "for"),
        _route("/api", api.start),
        _route("/api/notice", api.notice),
        _route(DESCRIPTION, api.description),
        _route("/healthz", api.healthz),
        *paths.routes(site.live, HEADERS),
    ]
    if admin is not None:
        made.append(_route("/api/clear", partial(_clear, admin), method="POST"))
        for act, known in ACTS.items():
            method = "GET" if act == WHO else "POST"
            made.append(_route(f"/api/admin/{act}", partial(_act, admin, act), *known, method=method))
        made.append(_route("/api/tournaments/{name}/director", partial(api.director, admin)))
        all_known = {name for act in tournament_acts.ACTS.values() for name in act.parameters}
        answer = partial(_direct, admin)
        path = "/api/tournaments/{name}/{act}"
        made.append(_route(path, answer, *sorted(all_known), "by", "why", method="POST"))
    return made


def as_json(value: Json, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return an answer in JSON."""
    return _json(json.dumps(value).encode(), status, headers)


def _json(body: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    about = {**HEADERS, **(headers or {})}
    return Response(body, status, media_type="application/json", headers=about)


def _route(path: str, answer: _Answer, *known: str, method: str = "GET") -> Route:
    """Return the route for a path whose requests may have the `known` parameters."""

    async def answered(request: Request) -> Response:
        return await answer(request, parameters(request.scope["query_string"], known))

    return Route(path, answered, methods=[method])


class _Api:
    """The answers, one method for each path."""

    def __init__(self, site: Site, health: Health) -> None:
        self._site = site
        self._health = health

    async def list(self, answer: answers.Answer, request: Request, given: Given) -> Response:
        return await self._answer(lambda: answer(self._site.reading, given))

    async def game(self, request: Request, given: Given) -> Response:
        game = _game(request)
        return await self._answer(lambda: answers.game(self._site.reading, game), NO_GAME)

    async def perfect(self, request: Request, given: Given) -> Response:
        record, analysis = await self._analysed(request)
        found = analysis.scores if analysis else await _solved(self._site.perfect.game(record))
        near, secret = await withheld(self._site, record.moves)
        return as_json(as_object(record.moves, found, near, secret))

    async def line(self, request: Request, given: Given) -> Response:
        record, _ = await self._analysed(request)
        boards = line_of(record.moves, given)
        if is_near(boards, [each.moves for each in await self._site.live.games()]):
            raise HTTPException(409, "a game that is on is near this position; try again when it is over")
        asked = ["".join(map(str, board.moves)) for board in boards if not board.over]
        found = await _solved(self._site.perfect.positions(asked))
        positions = [worths(scores, len(columns)) for columns, scores in zip(asked, found, strict=True)]
        if boards[-1].over:
            positions.append([None] * COLUMNS)
        return as_json({"positions": positions})

    async def evaluation(self, request: Request, given: Given) -> Response:
        evaluations = self._site.evaluations
        if evaluations is None:
            raise HTTPException(403, "this server does not show who is winning a game that is on")
        game = await self._site.live.game(_game(request))
        if game is None:
            raise HTTPException(404, "no such game is on")
        try:
            found = await _solved(evaluations.of(game))
        except SecretError as error:
            raise HTTPException(403, str(error)) from error
        ahead = await ahead_of_others(self._site, game)
        return as_json(
            evaluations_as_object([None if at in ahead else each for at, each in enumerate(found)])
        )

    async def _analysed(self, request: Request) -> tuple[GameRecord, Analysis | None]:
        """Return the stored game in the request's path, and its analysis. Raises HTTPException."""
        game = _game(request)
        try:
            return await self._site.do(partial(self._site.analysed, game))
        except NoGameError as error:
            raise HTTPException(404, NO_GAME) from error

    async def player(self, request: Request, given: Given) -> Response:
        name = name_of(request.path_params["name"])
        return await self._answer(lambda: answers.player(self._site.reading, name), "there is no such player")

    async def tournament(self, request: Request, given: Given) -> Response:
        name = name_of(request.path_params["name"])
        return await self._answer(lambda: answers.tournament(self._site.reading, name))

    async def director(self, admin: Admin, request: Request, given: Given) -> Response:
        origin = await admin.admit(request)
        name = name_of(request.path_params["name"])
        report = await self._site.do(lambda: answers.tournament(self._site.reading, name))
        found = await _carry_out(admin, DIRECTOR, {"name": name}, origin)
        return as_json(answers.director_view(report, found))

    async def tournament_sheet(self, request: Request, given: Given) -> Response:
        name = name_of(request.path_params["name"])

        def written() -> str:
            report = answers.tournament(self._site.reading, name)
            return "".join(sheet.lines(answers.standings_rows(report)))

        return Response(await self._site.do(written), headers=HEADERS, media_type="text/csv")

    async def tournament_grades(self, request: Request, given: Given) -> Response:
        name = name_of(request.path_params["name"])
        text = await self._site.do(lambda: answers.tournament_grades(self._site.reading, name, given))
        return Response(text, headers=HEADERS, media_type="text/csv")

    async def tournament_games(self, form: str, request: Request, given: Given) -> Response:
        pieces = answers.tournament_games(
            self._site.reading, name_of(request.path_params["name"]), form, given
        )
        return await self._pieces(answers.EXPORT_TYPES[form], pieces)

    async def export(self, form: str, request: Request, given: Given) -> Response:
        pieces = answers.export(form, every(self._site.reading, wanted(given)))
        return await self._pieces(answers.EXPORT_TYPES[form], pieces)

    async def pairs(self, request: Request, given: Given) -> Response:
        return await self._pieces("application/json", nac4.pairs(meetings(self._site.reading)))

    async def search(self, request: Request, given: Given) -> Response:
        return as_json(answers.found(await search(self._site, given.get("for", "").strip(), SUGGESTED)))

    async def start(self, request: Request, given: Given) -> Response:
        return as_json({"openapi": DESCRIPTION})

    async def notice(self, request: Request, given: Given) -> Response:
        notice = self._site.notice
        return as_json({"announcement": notice.text or None, "paused": notice.paused})

    async def description(self, request: Request, given: Given) -> Response:
        return _json(files(__package__).joinpath("openapi.json").read_bytes())

    async def healthz(self, request: Request, given: Given) -> Response:
        condition = await self._health.condition()
        return as_json(condition, 200 if condition["ok"] else 503)

    async def _pieces(self, media_type: str, pieces: Iterator[str]) -> Response:
        first = await self._site.do(partial(next, pieces, ""))  # an error must come before the answer begins
        return Pieces(media_type, first, pieces, self._site)

    async def _answer(self, work: Callable[[], Json | None], missing: str = "") -> Response:
        """Run `work` in a thread, and return its result as JSON.

        Raises HTTPException, with status 404 and the text `missing`, if the result is None.
        """

        def encoded() -> bytes | None:
            made = work()
            return None if made is None else json.dumps(made).encode()

        body = await self._site.do(encoded)
        if body is None:
            raise HTTPException(404, missing)
        return _json(body)


class Pieces(Response):
    """An answer in pieces. A thread makes each piece after the previous one was sent.

    An empty piece ends the answer.
    """

    def __init__(self, media_type: str, first: str, rest: Iterator[str], site: Site) -> None:
        super().__init__(media_type=media_type, headers=HEADERS)
        del self.headers["content-length"]
        self._first = first
        self._rest = rest
        self._site = site

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send all pieces. If the database fails, leave the answer incomplete, so that the client notices."""
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        piece = "" if scope["method"] == "HEAD" else self._first
        try:
            while piece:
                await send({"type": "http.response.body", "body": piece.encode(), "more_body": True})
                piece = await self._site.do(partial(next, self._rest, ""))
        except StoreError as error:
            about = {"event": "answer_cut_off", "error": str(error)}
            logger.warning("an answer was cut off: %s", error, extra=about)
        else:
            await send({"type": "http.response.body", "body": b"", "more_body": False})


# The operator's requests.


async def _clear(admin: Admin, request: Request, given: Given) -> Response:
    origin = await admin.admit(request)
    given_up, removed = trio.Event(), None

    async def give_up() -> None:
        """Set `given_up` when the client is gone, or after `CLEAR_LIMIT` seconds."""
        with trio.move_on_after(CLEAR_LIMIT):
            while (await request.receive())["type"] != "http.disconnect":
                pass
        given_up.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(give_up)
        fault = "the database cannot be used at the moment"
        try:
            removed = await admin.clear(given_up, origin)
        except StoreError:
            pass  # the server logs it
        except OSError as error:
            fault = _NOT_AUDITED
            about = {"event": "not_audited", "error": str(error)}
            logger.error("the results are not cleared: %s: %s", fault, error, extra=about)
        nursery.cancel_scope.cancel()
    if removed is None:
        return as_json({"error": f"nothing was removed: {fault}"}, 503)
    return as_json({"removed": asdict(removed)})


async def _act(admin: Admin, what: str, request: Request, given: Given) -> Response:
    origin = await admin.admit(request)
    if what in NEEDED and NEEDED[what] not in given:
        raise HTTPException(400, f"the parameter {NEEDED[what]} is missing")
    return as_json(answers.of_nodes(await _carry_out(admin, what, given, origin)))


async def _direct(admin: Admin, request: Request, given: Given) -> Response:
    """Carry out an act of the director of a tournament."""
    origin = await admin.admit(request)
    if await request.body():
        raise HTTPException(400, "the parameters of an act are in the address, after a ?, not in the body")
    act = request.path_params["act"]
    if act not in tournament_acts.ACTS:
        raise HTTPException(404, f"there is no such act; the acts are {', '.join(tournament_acts.ACTS)}")
    known = (*tournament_acts.ACTS[act].parameters, "by", "why")
    for name in given:
        if name not in known:
            raise HTTPException(400, f"{act} has no parameter {name}; possible: {', '.join(known)}")
    about = {"name": name_of(request.path_params["name"]), "act": act, **given}
    outcome = json.loads((await _carry_out(admin, TOURNAMENT, about, origin))[""])
    return as_json({"error": outcome["fault"]}, 503) if "fault" in outcome else as_json(outcome)


async def _carry_out(admin: Admin, what: str, about: Given, origin: str) -> Mapping[str, str]:
    """Carry out an act; return the outcome on each node, as JSON. Raises HTTPException if it is not done."""
    try:
        return await admin.carry_out(what, about, origin)
    except NotDoneError as error:
        raise HTTPException(409, str(error)) from error
    except OSError as error:
        fields = {"event": "not_audited", "error": str(error)}
        word = f"tournament {about['act']}" if what == TOURNAMENT else what
        logger.error("%s is not done: %s: %s", word, _NOT_AUDITED, error, extra=fields)
        raise HTTPException(503, f"nothing was done: {_NOT_AUDITED}") from error


async def _solved(work: Awaitable[T]) -> T:
    """Return what a solver found. Raises HTTPException if it is busy or not installed."""
    try:
        return await work
    except NotInstalledError as error:
        raise HTTPException(501, str(error)) from error
    except BusyError as error:
        raise HTTPException(503, "other games are being solved; try again later") from error


def _game(request: Request) -> GameId:
    """Return the id of the game in the request's path. Raises HTTPException if it is not an id."""
    try:
        return game_named(request.path_params["game"])
    except BadRequestError as error:
        raise HTTPException(404, NO_GAME) from error
