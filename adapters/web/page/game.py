"""The view of one game: who won and why, every position, and the messages of both sides.

Knows stored games, live games and the templates. Does not know how the table of messages is made
(`timeline`), or how positions are solved. The address of a game never changes. Other spellings of its id are
redirected to it.
"""

import time
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from adapters.web.live.channel import Wanted
from adapters.web.live.state import Json
from adapters.web.page.rendering import HEADERS, Renderer, reads_html
from adapters.web.page.sentences import Part, Text, badge, headline, unkept, why
from adapters.web.page.timeline import timeline
from adapters.web.query import BadRequestError, game_named
from adapters.web.site import Site
from gateway.game.events import Reason
from gateway.game.ids import GameId
from gateway.game.results import WITHOUT_RESULT
from gateway.game.text import printable
from gateway.store import NotKeptError, games, tournaments
from gateway.store.database import Reading
from gateway.store.evidence import NEW, Exchange, Turn
from gateway.store.formats import FORMATS
from gateway.store.games import Filter, NoGameError, Page
from gateway.store.presentation import outcome, refusal
from gateway.store.records import WORDS, GameRecord
from gateway.store.tournaments import NoTournamentError
from gateway.tournament.log import Awarded, Voided

_TYPES = {"csv": "text/csv", "jsonl": "application/x-ndjson", "pgn": "application/vnd.chess-pgn"}


def routes(site: Site, renderer: Renderer) -> list[Route]:
    """Return the routes of the view."""
    view = _View(site, renderer)
    return [Route("/game/{game}.{form}", view.download), Route("/game/{game}", view.page)]


class _View:
    """The answers for games."""

    def __init__(self, site: Site, renderer: Renderer) -> None:
        self._site = site
        self._renderer = renderer

    async def page(self, request: Request) -> Response:
        """Show a game; redirect another spelling of its id."""
        typed = request.path_params["game"]
        game = _named(typed)
        if game != typed:
            return RedirectResponse(f"/game/{game}", 301, HEADERS)
        response = await self._site.do(lambda: self._stored(request, game))
        if response is None:
            response = await self._on(request, game)
        if response is None:  # it may have been stored meanwhile
            response = await self._site.do(
                lambda: self._stored(request, game) or self._missing(request, game)
            )
        return response

    async def download(self, request: Request) -> Response:
        """Return a game as a file in one of the export formats."""
        game, form = _named(request.path_params["game"]), request.path_params["form"]
        if form not in FORMATS:
            raise HTTPException(404, f"there is no such format; possible: {', '.join(FORMATS)}")
        try:
            record = await self._site.do(partial(self._site.game, game))
        except NoGameError as error:
            raise HTTPException(404, str(error)) from error
        headers = HEADERS | {"Content-Disposition": f'attachment; filename="{game}.{form}"'}
        body = "".join(FORMATS[form]([record])).encode("utf-8", "surrogatepass")
        return Response(body, headers=headers, media_type=_TYPES.get(form, "text/plain"))

    def _stored(self, request: Request, game: GameId) -> Response | None:
        try:
            with self._site.reading() as connection:
                record, both = games.one(connection, game), games.evidence_of(connection, game)
        except (NoGameError, NotKeptError):
            return None
        context = _shown(record, both, self._renderer.dialect) | {
            "ruling": _ruling(self._site.reading, record)
        }
        return self._renderer.page(request, "game.html", tab="live", **context)

    async def _on(self, request: Request, game: GameId) -> Response | None:
        """Show a live game, or one that has ended but is not stored yet."""
        if game.isdecimal():  # only old games have such an id
            return None
        state = await self._site.live.state(Wanted(game=game, most=1))
        for found in state["games"]:
            shown = _live(found, is_kept=self._site.database is not None)
            return self._renderer.page(request, "game.html", tab="live", **shown)
        return None

    def _missing(self, request: Request, game: GameId) -> Response:
        if not reads_html(request):
            raise HTTPException(404, f"there is no game {game}")
        with self._site.reading() as connection:
            newest = games.page(connection, Filter(), Page(limit=1))
        text = f"The newest is game {newest[0].game}" if newest else "No game has been stored yet"
        return self._renderer.page(request, "error.html", 404, title=f"There is no game {game}", text=text)


def _named(text: str) -> GameId:
    try:
        return game_named(text)
    except BadRequestError as error:
        raise HTTPException(404, "there is no such game: an id looks like 9k3fm-00002a") from error


def _ruling(reading: Reading, record: GameRecord) -> Text:
    """Return a sentence on why the result of a game does not count in its tournament; empty if it does."""
    if record.table is None or record.reason in WITHOUT_RESULT:
        return ()
    try:
        with reading() as connection:
            tournament = tournaments.named(connection, record.table)
    except NoTournamentError:
        return ()
    for pairing in tournament.pairings:
        number = next((each.number for each in pairing.broken if each.game == record.game), None)
        if number is None:
            continue
        match pairing.decided.get(number):
            case Awarded(winner=None):
                decision: Text = ("awarded as a draw",)
            case Awarded(winner=int(winner)):
                decision = ("awarded to ", Part("name", tournament.name_of(winner)))
            case Voided():
                decision = ("made void",)
            case _:
                decision = ("played again",)
        return (" In the tournament ", Part("name", tournament.settings.name), " it was ", *decision, ".")
    return ()


def _live(found: Json, *, is_kept: bool) -> dict[str, Any]:
    """Return the template's values for a live game. `found` is as in the live stream.

    `is_kept` is whether its result will be stored.
    """
    names = [player["name"] for player in found["players"]]
    return {
        "is_on": True,
        "game": found,
        "headline": headline([*map(printable, names)], None),
        "badges": ["", ""],
        "is_kept": is_kept,
        "data": {
            "names": names,
            "moves": found["moves"],
            "turns": [asdict(Turn()) for _ in found["moves"]],  # unknown
            "attempt": None,
            "reason": None,
            "game": found["game"],
            "stream": f"/api/live/events?game={found['game']}&most=1",
            "is_kept": is_kept,
        },
    }


def _shown(
    record: GameRecord, both: tuple[Exchange | None, Exchange | None], dialect: Callable[[str], str]
) -> dict[str, Any]:
    """Return the template's values for a stored game; `both` is its evidence.

    `dialect` returns the title of a kind of player.
    """
    lines, end, refused = timeline(record, both), outcome(record, both), refusal(record, both)
    names = [player.name for player in record.players]
    is_new = 1000 * time.time() - record.ended < NEW
    attempt = lines.attempt
    return {
        "is_on": False,
        "game": record,
        "outcome": end,
        "headline": headline([*map(printable, names)], end),
        "why": why(record, lines, refused, dialect),
        "badges": [badge(record, 0), badge(record, 1)],
        "lines": lines,
        "is_line_refused": refused or (attempt and record.reason is Reason.ILLEGAL),
        "is_refused": refused or (attempt and attempt.text),
        "kept": [exchange is not None for exchange in both],
        "unkept": unkept(record, is_new=is_new),
        "is_new": is_new,
        "formats": FORMATS,
        "data": {
            "game": record.game,
            "names": names,
            "moves": record.moves,
            "turns": [asdict(turn) for turn in lines.turns],
            "attempt": None if attempt is None else {"column": attempt.column, "used": attempt.used},
            "thought": record.thought,
            "winner": record.winner,
            "reason": WORDS[record.reason],
        },
    }
