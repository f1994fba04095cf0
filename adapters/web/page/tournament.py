"""The views of tournaments: all of them, one of them, and its standings for the projector.

The view of one tournament is complete without scripts. The page's script reads it again every few seconds.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from urllib.parse import urlencode

import trio
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adapters.web.answers import tournament_list, tournament_named
from adapters.web.live.channel import Wanted
from adapters.web.live.live import UnavailableError
from adapters.web.live.state import Json
from adapters.web.page import charts
from adapters.web.page.rendering import Renderer
from adapters.web.page.sentences import FORMAT_TITLES, TIE_BREAK_NAMES, progress, rules
from adapters.web.query import BadRequestError, Given, name_of, parameters, whole
from adapters.web.site import Site
from gateway.store.statistics import Score
from gateway.tournament.report import described
from gateway.tournament.standings import TIE_BREAKS

ACROSS = 40
"""The most players in the cross-table."""
PROJECTED = 10
"""The most rows of the standings on the projector."""
LIVE = 100
"""The most games at the tournament's table that are marked."""
FRESH = 1.0
"""Seconds for which a report is used again."""

Report: TypeAlias = Mapping[str, Any]
"""A value of `gateway.tournament.report.described`."""


@dataclass(slots=True)
class Cell:
    """A cell of the cross-table: the games of one player against another one."""

    points: float = 0.0
    lost: float = 0.0
    """The points of the other player."""
    games: list[str] = field(default_factory=list)
    """The ids of the games."""
    is_on: bool = False

    @property
    def step(self) -> str:
        """The style of the cell; empty before the first result."""
        # A score counts whole games, so each half point stands for a game that was won or lost.
        score = Score(games=round(2 * (self.points + self.lost)), won=round(2 * self.points), drawn=0)
        return charts.step(score) if score.games else ""


def cross_table(pairings: Sequence[Mapping[str, Any]], on: Mapping[int, Json]) -> dict[tuple[str, str], Cell]:
    """Return the cells by the names of the player and of its opponent.

    `on` are the live games by the numbers of their pairings.
    """
    cells = dict[tuple[str, str], Cell]()
    for each in pairings:
        for side in (0, 1):
            cell = cells.setdefault((each["players"][side], each["players"][1 - side]), Cell())
            cell.points += each["points"][side]
            cell.lost += each["points"][1 - side]
            cell.games += [game["game"] for game in each["games"]]
            cell.is_on = cell.is_on or each["number"] in on
    return cells


def live_pairings(pairings: Sequence[Mapping[str, Any]], games: Sequence[Json]) -> dict[int, Json]:
    """Return the live games, each by the number of its pairing. `games` are as in the live stream."""
    waiting = dict[frozenset[str], int]()
    for each in pairings:
        if each["state"] == "waiting":  # of several pairings of the same players the first one is played
            waiting.setdefault(frozenset(each["players"]), each["number"])
    found = dict[int, Json]()
    for game in games:
        number = waiting.get(frozenset(player["name"] for player in game["players"]))
        if number is not None and game["reason"] is None:
            found[number] = game
    return found


def routes(site: Site, renderer: Renderer) -> list[Route]:
    """Return the routes of these views."""
    view = _Tournaments(site, renderer)
    return [
        Route("/tournaments", view.list),
        Route("/tournament/{name:path}", view.page),
        Route("/board/tournament", view.projected),
    ]


class _Tournaments:
    """The answers for tournaments."""

    def __init__(self, site: Site, renderer: Renderer) -> None:
        self._site = site
        self._renderer = renderer
        self._reports: dict[str, tuple[float, Report]] = {}
        """The latest report on each tournament, by its key, and when it was made."""

    async def list(self, request: Request) -> Response:
        """Answer with the list of all tournaments."""
        given = parameters(request.scope["query_string"], ())

        def rendered() -> Response:
            found = tournament_list(self._site.reading, given)
            return self._renderer.page(
                request, "tournaments.html", tab="tournaments", found=found, formats=FORMAT_TITLES
            )

        return await self._site.do(rendered)

    async def page(self, request: Request) -> Response:
        given = parameters(request.scope["query_string"], ("name", "round"))
        try:
            name = name_of(request.path_params["name"]) or given.get("name", "")
        except BadRequestError as error:  # names are always UTF-8
            raise HTTPException(404, "there is no such tournament") from error
        report = await self._report(name)
        games = await self._live(report)

        def rendered() -> Response:
            context = _context(report, live_pairings(report["pairings"], games), given)
            return self._renderer.page(request, "tournament.html", tab="tournaments", **context)

        return await self._site.do(rendered)  # a long page takes time

    async def projected(self, request: Request) -> Response:
        """Answer with the standings for the projector, which a script inserts."""
        report = await self._report(parameters(request.scope["query_string"], ("name",)).get("name", ""))
        return self._renderer.page(
            request, "tournament_projected.html", t=report, ties=_ties(report), most=PROJECTED
        )

    async def _report(self, name: str) -> Report:
        """Return the report on a tournament, at most `FRESH` seconds old. Many viewers ask for it.

        Raises NoTournamentError.
        """
        made, report = self._reports.get(name.casefold(), (-math.inf, {}))
        if trio.current_time() >= made + FRESH:
            report = await self._site.do(lambda: described(tournament_named(self._site.reading, name)))
            self._reports[name.casefold()] = trio.current_time(), report
        return report

    async def _live(self, report: Report) -> Sequence[Json]:
        """Return the games that are shown live at the table of the tournament; none if they are not known."""
        if report["state"] not in ("running", "paused"):
            return ()
        try:
            state = await self._site.live.state(Wanted(table=report["name"], most=LIVE))
        except UnavailableError:
            return ()
        games: Sequence[Json] = state["games"]
        return games


def _context(report: Report, on: Mapping[int, Json], given: Given) -> dict[str, Any]:
    """Return the template's values; `on` are the live games by the numbers of their pairings.

    The parameter ``round`` chooses a round; by default it is the first one that is not over.
    """
    pairings, latest = report["pairings"], max(1, report["round"])
    open_rounds = {each["round"] for each in pairings if each["state"] == "waiting"}
    chosen = whole(given, "round", min(open_rounds, default=latest), latest)
    live_rounds = {each["round"] for each in pairings if each["number"] in on}
    is_knockout = report["format"] == "knockout"
    names = TIE_BREAK_NAMES
    return {
        "t": report,
        "on": on,
        "rules": rules(report),
        "progress": progress(report),
        "ties": _ties(report),
        "explained": [(names[tie][1], TIE_BREAKS[tie]) for tie in report["settings"]["tie_breaks"]],
        "round": chosen,
        "rounds": [
            {
                "number": number,
                "link": f"?{urlencode({**given, 'round': number}, errors='surrogatepass')}",
                "sign": "●" if number in live_rounds else "" if number in open_rounds else "✓",
            }
            for number in range(1, report["round"] + 1)
        ],
        "pairings": [each for each in pairings if each["round"] == chosen],
        "byes": [each["player"] for each in report["byes"] if each["round"] == chosen],
        "across": [] if is_knockout else report["standings"][:ACROSS],
        "cells": cross_table(pairings, on),
        "may_enter": report["state"] == "open"
        or (report["state"] != "over" and report["settings"]["late"] and not is_knockout),
    }


def _ties(report: Report) -> list[tuple[str, str, str]]:
    """Return the tie-breaks in their order: the title of the column, the name in a sentence, the key.

    Faults are left out, because they have a column in any case.
    """
    return [(*TIE_BREAK_NAMES[tie], tie) for tie in report["settings"]["tie_breaks"] if tie != "faults"]
