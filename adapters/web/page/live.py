"""The view Live: the games that are on, the latest results, and what there is while nobody plays.

A script fills in the boards from the live stream, and inserts again the parts that this module renders from
the stored games: all viewers get the same parts, which are read at most once in some seconds. Rendering the
page waits for the state of the live games for a moment only.
"""

import json
import math
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlencode

import trio
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adapters.web.health import Known
from adapters.web.live.live import UnavailableError
from adapters.web.live.paths import wanted
from adapters.web.live.state import Json
from adapters.web.page.rendering import Renderer
from adapters.web.page.results import Best, Result, best_of_today, latest
from adapters.web.page.sentences import Part, Text, badge, points, stage_titles
from adapters.web.query import BadRequestError, Given, parameters
from adapters.web.site import Site
from gateway.game.board import CELLS
from gateway.store import StoreError, games, statistics, tournaments
from gateway.store.database import Reading
from gateway.store.games import Filter
from gateway.store.records import from_moment
from gateway.store.statistics import EVERYTHING, Score
from gateway.tournament.report import summary
from gateway.tournament.tournament import Tournament

MOST = 56
"""The most games that Live draws. They fill rows of two, of four and of seven."""
RESULTS = 9
"""The latest results that are listed."""
FRESH = 2.0
"""Seconds for which the latest results are reused."""
LASTING = 10.0
"""Seconds for which the other things that are shown while nobody plays are reused."""
PATIENCE = 0.5
"""Seconds that rendering waits for the state of the live games."""


@dataclass(frozen=True, slots=True)
class Stored:
    """What Live shows of the stored games."""

    results: list[Result]
    today: int
    """The number of games that ended since midnight, UTC."""


@dataclass(frozen=True, slots=True)
class Slot:
    """The evaluation after one move, as a part of a strip."""

    number: int
    what: str
    """``first``, ``second`` or ``draw``; empty if it is not known."""
    height: float
    """From a quarter to 1, the more the sooner the win comes; 0 for a draw."""


@dataclass(frozen=True, slots=True)
class Coming:
    """The tournament that begins next."""

    name: str
    title: str
    start: int | None
    """When it begins, in milliseconds of Unix time; None if that is not known."""
    players: int


def routes(site: Site, renderer: Renderer) -> list[Route]:
    """Return the routes of this view, and of its parts."""
    view = _Live(site, renderer)
    return [
        Route("/", view.page),
        Route("/live/results", view.results),
        Route("/live/idle", view.idle),
        Route("/live/meetings", view.meetings),
    ]


def stream(given: Given, most: int) -> str:
    """Return the address of the stream of these games. Raises the error that the stream would raise."""
    asked = {**given, "most": str(most)}
    wanted(asked)
    return f"/api/live/events?{urlencode(asked)}"


class _Live:
    """The answers for Live."""

    def __init__(self, site: Site, renderer: Renderer) -> None:
        self._site = site
        self._renderer = renderer
        self._stored = Known(FRESH, partial(site.do, self._read_stored))
        self._best = Known(LASTING, partial(site.do, self._read_best))
        self._coming = Known(LASTING, partial(site.do, partial(next_tournament, site.reading)))

    async def page(self, request: Request) -> Response:
        given = parameters(request.scope["query_string"], ("player", "table", "stay", "with"))
        if ("stay" in given) != ("with" in given):
            raise BadRequestError("stay and with are the names of two players")
        chosen = {name: given[name] for name in ("player", "table") if name in given}
        pair = json.dumps([given["stay"], given["with"]]) if "stay" in given else ""
        address = stream(chosen, MOST)
        state = await self._state({**chosen, "most": str(MOST)})
        is_idle = state is not None and not chosen and not state["playing"] and not state["games"]
        return self._renderer.page(
            request,
            "live.html",
            tab="live",
            stream=address,
            most=MOST,
            given=chosen,
            pair=pair,
            state=state,
            is_idle=is_idle,
            **(await self._context(is_idle=is_idle)),
        )

    async def results(self, request: Request) -> Response:
        """Answer with the latest results, which a script inserts."""
        return self._renderer.page(request, "live_results.html", **(await self._context(is_idle=False)))

    async def idle(self, request: Request) -> Response:
        """Answer with what there is while nobody plays, which a script inserts."""
        return self._renderer.page(request, "live_idle.html", **(await self._context(is_idle=True)))

    async def meetings(self, request: Request) -> Response:
        """Answer with a sentence on all games between two players, which a script inserts."""
        given = parameters(request.scope["query_string"], ("first", "second"))
        if len(given) < 2:
            raise BadRequestError("first and second are the names of two players")
        one, other = given["first"], given["second"]

        def read() -> Text:
            with self._site.reading() as connection:
                found = statistics.scores(connection, EVERYTHING, [one], [other])
            return head_to_head(one, other, found.get((one, other)))

        text = await self._site.do(read)
        return self._renderer.page(request, "live_meetings.html", text=text)

    async def _state(self, asked: Given) -> Json | None:
        """Return the state of the live games; None if it is not known soon."""
        with trio.move_on_after(PATIENCE):
            try:
                return await self._site.live.state(wanted(asked))
            except UnavailableError:
                pass  # the stream says so, and the browser tries again
        return None

    async def _context(self, *, is_idle: bool) -> dict[str, Any]:
        """Return the values of templates that come from the database; None for each that cannot be read."""
        values: dict[str, Any] = dict.fromkeys(("stored", "best", "strip", "badges", "coming"))
        if self._site.database is None:
            return values
        try:
            values["stored"] = await self._stored.value()
            if is_idle:
                values["best"] = best = await self._best.value()
                if best is not None:
                    values["strip"] = strip(best)
                    values["badges"] = [badge(best.record, side) for side in (0, 1)]
                values["coming"] = await self._coming.value()
        except StoreError:
            pass  # the live games do not need the database
        return values

    def _read_stored(self) -> Stored:
        with self._site.reading() as connection:
            today = games.count(connection, Filter(since=from_moment("today")))
            return Stored(latest(connection, RESULTS), today)

    def _read_best(self) -> Best | None:
        with self._site.reading() as connection:
            return best_of_today(connection)


def strip(best: Best) -> list[Slot]:
    """Return the evaluations after each move of a game; none if the game has not been analysed."""
    if best.analysis is None:
        return []
    slots = []
    for number, found in enumerate(best.analysis.evaluations[1:], 1):
        if found is None or found.winner is None or found.at is None:
            slots.append(Slot(number, "" if found is None else "draw", 0.0))
        else:  # as `extent` in evaluation.js
            height = 1 - 0.75 * (found.at - number) / CELLS
            slots.append(Slot(number, ("first", "second")[found.winner], round(height, 2)))
    return slots


def next_tournament(reading: Reading) -> Coming | None:
    """Return the tournament that begins next; None if none is open."""
    with reading() as connection:
        every = tournaments.without_games(connection)
    found = list[tuple[float, Tournament]]()
    for news in every:
        try:
            tournament = Tournament.of(news)
        except ValueError:
            continue  # of a later version
        if tournament.state == "open":
            start = tournament.settings.start
            found.append((math.inf if start is None else start, tournament))
    if not found:
        return None
    start, tournament = min(found, key=lambda each: each[0])
    return Coming(
        tournament.settings.name,
        stage_titles(summary(tournament)),
        None if start == math.inf else round(1000 * start),
        len(tournament.entrants),
    )


def head_to_head(one: str, other: str, score: Score | None) -> Text:
    """Return a sentence on the score of one player against another one."""
    if score is None:
        return ("They have not met before.",)
    name, best = (one, score) if score.won > score.lost else (other, score.opposite)
    words = f"Head to head {points(best)}\N{EN DASH}{points(best.opposite)}"
    return (f"{words}.",) if score.won == score.lost else (f"{words} for ", Part("name", name), ".")
