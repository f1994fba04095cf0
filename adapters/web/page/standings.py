"""The view Standings: places, scores and a cross-table, of all games or of some.

The address contains the viewer's choices, so they work without scripts, and can be shared. The choices limit
which games are counted. Ratings, and the order by rating, always come from all games.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from adapters.web.page import charts
from adapters.web.page.assets import Library
from adapters.web.page.rendering import HEADERS, Renderer
from adapters.web.page.sentences import REASON_TEXTS, count, nobody, places, points
from adapters.web.query import LEAST, Given, moment, one_of, parameters, whole
from adapters.web.site import Site
from gateway.game.events import Reason
from gateway.store import statistics
from gateway.store.records import LOSSES, WORDS
from gateway.store.statistics import MERITS, ORDERS, Choice, Comparison, Ranked, Score, Standing

ROWS = 100
"""Players on one page."""
ACROSS = 24
"""Columns of the cross-table."""
DRAWN = 4
"""Players in the page's own picture of ratings."""
PLOTTED = 10
"""Players in the plot of ratings."""
LISTED = 30
"""Players in the plot of games between players."""
POINTS = 60
"""The most points of one line."""
PAIRED = 16
"""Players in the table of games between players."""
PROJECTED = 8
"""Rows in each of the projector's two tables."""
COUNTED = 100
"""The projector shows the number of players only if it is less than this."""

FORMS = {"cross": "Cross-table", "side": "By side", "reason": "By reason"}
SPANS = {"all": "All", "week": "Week", "today": "Today"}
_DAY = 86_400_000
_LINES = charts.Frame(560, 240, left=44, right=130, top=12, bottom=34)
_USUAL = {"form": "cross", "since": "all", "table": "", "least": "1", "sort": "rating", "page": "1"}
_FORMER = {"sure": "rating", "score": "share"}
"""The names of orders in addresses of version 0.2, and their present names."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The viewer's choices, from an address."""

    given: Mapping[str, str]
    """The value of each parameter in `_USUAL`, from the address or by default."""
    choice: Choice
    least: int
    """The least number of games of a listed player."""
    page: int

    @property
    def order(self) -> str:
        """The value that the table is sorted by, one of `ORDERS`."""
        return self.given["sort"].removeprefix("-")

    @property
    def is_reversed(self) -> bool:
        """Whether the order is reversed."""
        return self.given["sort"].startswith("-")

    def address(self, path: str = "/standings", **changes: str) -> str:
        """Return the address for these choices with `changes`.

        It is for the first page, unless `changes` contains `page`.
        """
        wished = {**self.given, "page": "1", **changes}
        kept = {name: value for name, value in wished.items() if value != _USUAL[name]}
        return f"{path}?{urlencode(kept, errors='surrogatepass')}" if kept else path

    def sorting(self, order: str) -> tuple[str, str | None]:
        """Return the link that sorts the table by `order`, and the ``aria-sort`` of that column."""
        if order != self.order:
            return self.address(sort=order), None
        ascends = (order == "name") != self.is_reversed
        other = order if self.is_reversed else f"-{order}"
        return self.address(sort=other), "ascending" if ascends else "descending"


def asked(given: Given, now: int) -> Asked:
    """Return the choices in an address; `now` is in milliseconds of Unix time. Raises BadRequestError."""
    wished = {**_USUAL, **given}
    sort = wished["sort"].removeprefix("-")
    wished["sort"] = wished["sort"].removesuffix(sort) + _FORMER.get(sort, sort)
    one_of(wished, "form", FORMS)
    one_of(wished, "sort", [*ORDERS, *(f"-{order}" for order in ORDERS)])
    match wished["since"]:
        case "all":
            since = None
        case "week":
            since = now - 7 * _DAY
        case "today":
            since = now - now % _DAY
        case _:
            since = moment(wished, "since")
    choice = Choice(since=since, table=wished["table"] or None)
    return Asked(wished, choice, whole(wished, "least", 1, LEAST), whole(wished, "page", 1, LEAST))


def listed(found: Sequence[Standing], wish: Asked) -> list[Ranked]:
    """Return the players with enough games, in the chosen order."""
    rows = statistics.ranked(statistics.with_games(found, wish.least), wish.order)
    return rows[::-1] if wish.is_reversed else rows


def routes(site: Site, renderer: Renderer) -> list[Route]:
    """Return the routes of this view."""
    view = _Standings(site, renderer)
    return [
        Route("/standings", view.page),
        Route("/standings/plots", view.plots),
        Route("/board/standings", view.projected),
        *view.library.routes(),
    ]


class _Standings:
    """The answers for standings."""

    def __init__(self, site: Site, renderer: Renderer) -> None:
        self._site = site
        self._renderer = renderer
        self.library = Library()

    async def page(self, request: Request) -> Response:
        wish = _asked(request)

        def rendered() -> Response:
            return self._renderer.page(request, "standings.html", tab="standings", **self._context(wish))

        return await self._site.do(rendered)  # a long page takes time

    async def plots(self, request: Request) -> Response:
        """Answer with the data of the plots."""
        wish = _asked(request)
        return JSONResponse(await self._site.do(partial(self._plots, wish)), headers=HEADERS)

    async def projected(self, request: Request) -> Response:
        """Answer with the projector's tables, which a script inserts."""

        def rendered() -> Response:
            with self._site.reading() as connection:
                found, firsts = statistics.standings(connection, limit=COUNTED)
            shown = found[: 2 * PROJECTED]
            return self._renderer.page(
                request,
                "projected.html",
                charts=charts,
                standings=shown,
                rows_at_once=PROJECTED,
                scale=charts.rating_scale((row.standing.rating for row in shown), 150),
                players=len(found) if len(found) < COUNTED else None,
                games=firsts.games,
            )

        return await self._site.do(rendered)

    def _context(self, wish: Asked) -> dict[str, Any]:
        form, since = wish.given["form"], wish.choice.since
        with self._site.reading() as connection:
            found = statistics.compare(connection, wish.choice, by_reason=form == "reason")
            lines = listed(found.standings, wish)
            first = ROWS * (wish.page - 1)
            rows = lines[first : first + ROWS]
            end = first + len(rows)
            by_place = sorted(lines, key=lambda line: line.rank)
            across = by_place[:ACROSS] if form == "cross" else []
            names, paired = _names(rows), _names(by_place[:PAIRED])
            scores = statistics.scores(connection, found.choice, names, _names(across)) if across else {}
            is_there = across and {*paired} <= {*names}
            met = scores if is_there else statistics.scores(connection, found.choice, paired, paired)
            drawn = _names(by_place[:DRAWN])
            curves = [(name, statistics.curve(connection, name, POINTS, since)) for name in drawn]
        firsts = sum((each.record.first for each in found.standings), Score(0, 0, 0))
        is_chosen = wish.given["since"] != "all" or wish.given["table"] or wish.page > 1
        merit = wish.order if wish.order in MERITS else "rating"
        return {
            "asked": wish,
            "charts": charts,
            "ranks": merit,
            "places": places(merit, is_everything=wish.choice.is_everything),
            "sum": count(len(lines), firsts),
            "nobody": nobody(wish.least, wish.page) if firsts.games or is_chosen else "",
            "forms": FORMS,
            "spans": SPANS,
            "tables": found.tables,
            "rows": rows,
            "across": across,
            "scores": scores,
            "endings": found.endings,
            "ways": [(reason, WORDS[reason]) for reason in LOSSES],
            "full": Reason.FULL,
            "more": (end + 1, min(end + ROWS, len(lines))) if rows and end < len(lines) else None,
            "scale": charts.rating_scale((line.standing.rating for line in rows), 150),
            "ends": charts.bars(_reasons(found)),
            "slowest": charts.bars(_slowest(by_place)),
            "lines": charts.lines(
                {name: [(float(each.ended), each.rating.sure) for each in points] for name, points in curves},
                _LINES,
            ),
            "paired": paired,
            "met": {pair: score.games for pair, score in met.items() if {*pair} <= {*paired}},
            "library": self.library.address,
        }

    def _plots(self, wish: Asked) -> dict[str, Any]:
        with self._site.reading() as connection:
            all_of_them = statistics.compare(connection, wish.choice)
            names = [each.name for each in statistics.with_games(all_of_them.standings, wish.least)][:LISTED]
            since = wish.choice.since
            drawn = names[:PLOTTED]
            curves = [(name, statistics.curve(connection, name, POINTS, since)) for name in drawn]
            scores = statistics.scores(connection, all_of_them.choice, names, names)
        return {
            "players": names,
            "ratings": [
                {
                    "player": name,
                    "at": each.ended,
                    "game": each.number,
                    "sure": round(each.rating.sure, 2),
                    "mean": round(each.rating.mean, 2),
                    "deviation": round(each.rating.deviation, 2),
                }
                for name, found in curves
                for each in found
            ],
            "meetings": [
                {"player": one, "opponent": other, "games": score.games, "points": points(score)}
                for (one, other), score in scores.items()
            ],
        }


def _names(lines: Sequence[Ranked]) -> list[str]:
    return [line.standing.name for line in lines]


def _asked(request: Request) -> Asked:
    return asked(parameters(request.scope["query_string"], (*_USUAL,)), round(1000 * time.time()))


def _reasons(found: Comparison) -> dict[str, float]:
    counts = {reason: found.reasons.get(reason, 0) for reason in (*LOSSES, Reason.FULL)}
    order = sorted(counts, key=lambda reason: -counts[reason])
    return {REASON_TEXTS[WORDS[reason]]: counts[reason] for reason in order}


def _slowest(by_place: Sequence[Ranked]) -> dict[str, float]:
    slowest = sorted(by_place, key=lambda line: ORDERS["time"](line.standing))[:8]
    return {line.standing.name: line.standing.record.mean_thought for line in slowest}
