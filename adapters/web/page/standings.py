"""The view Standings: places, scores and a cross-table, of all games or of some.

The address contains the viewer's choices, so they work without scripts, and can be shared. The choices limit
which games are counted. Ratings, and the order by rating, always come from all games.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adapters.web.page import charts
from adapters.web.page.rendering import Renderer
from adapters.web.page.sentences import games_address, nobody, places
from adapters.web.query import LEAST, Given, moment, one_of, parameters, whole
from adapters.web.site import Site
from gateway.game.events import Reason
from gateway.store import statistics
from gateway.store.records import LOSSES, REASONS, WORDS
from gateway.store.statistics import MERITS, ORDERS, Choice, Ranked, Score, Standing

ROWS = 100
"""Players on one page."""
ACROSS = 24
"""Columns of the cross-table."""
DRAWN = 4
"""Players in the chart of ratings."""
POINTS = 60
"""The most points of a player's ratings that are read for the chart."""
SLOWEST = 8
"""Players in the chart of the times of moves."""
SAMPLE = 20
"""The number of a player's games, the latest ones, from which that chart takes the times."""
PROJECTED = 8
"""Rows in each of the projector's two tables."""
COUNTED = 100
"""The projector shows the number of players only if it is less than this."""

FORMS = {"rating": "Rating", "cross": "Cross-table", "side": "By side", "reason": "By reason"}
"""On a wide screen the forms `rating` and `cross` are one."""
SPANS = {"all": "All", "week": "Week", "today": "Today"}
_USUAL = {
    "form": "rating",
    "since": "all",
    "table": "",
    "least": "1",
    "sort": "rating",
    "page": "1",
    "columns": "1",
}
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
    columns: int
    """The part of the cross-table, from 1: which players have a column."""

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

        It is for the first page of rows and of columns, unless `changes` contains `page` or `columns`.
        """
        wished = {**self.given, "page": "1", "columns": "1", **changes}
        kept = {name: value for name, value in wished.items() if value != _USUAL[name]}
        return f"{path}?{urlencode(kept, errors='surrogatepass')}" if kept else path

    def games(self, **filters: str) -> str:
        """Return the address of the chosen games that also match `filters`, and that count as these do."""
        since = "" if self.given["since"] == "all" else self.given["since"]
        return games_address(**filters, table=self.given["table"], since=since, counted="1")

    def sorting(self, order: str) -> tuple[str, str | None]:
        """Return the link that sorts the table by `order`, and the ``aria-sort`` of that column."""
        if order != self.order:
            return self.address(sort=order), None
        ascends = (order == "name") != self.is_reversed
        other = order if self.is_reversed else f"-{order}"
        return self.address(sort=other), "ascending" if ascends else "descending"


def asked(given: Given) -> Asked:
    """Return the choices in an address. Raises BadRequestError."""
    wished = {**_USUAL, **given}
    sort = wished["sort"].removeprefix("-")
    wished["sort"] = wished["sort"].removesuffix(sort) + _FORMER.get(sort, sort)
    one_of(wished, "form", FORMS)
    one_of(wished, "sort", [*ORDERS, *(f"-{order}" for order in ORDERS)])
    since = None if wished["since"] == "all" else moment(wished, "since")
    choice = Choice(since=since, table=wished["table"] or None)
    least, page, columns = (whole(wished, name, 1, LEAST) for name in ("least", "page", "columns"))
    return Asked(wished, choice, least, page, columns)


def listed(found: Sequence[Standing], wish: Asked) -> list[Ranked]:
    """Return the players with enough games, in the chosen order."""
    rows = statistics.ranked(statistics.with_games(found, wish.least), wish.order)
    return rows[::-1] if wish.is_reversed else rows


def routes(site: Site, renderer: Renderer) -> list[Route]:
    """Return the routes of this view."""
    view = _Standings(site, renderer)
    return [
        Route("/standings", view.page),
        Route("/board/standings", view.projected),
    ]


class _Standings:
    """The answers for standings."""

    def __init__(self, site: Site, renderer: Renderer) -> None:
        self._site = site
        self._renderer = renderer

    async def page(self, request: Request) -> Response:
        wish = _asked(request)

        def rendered() -> Response:
            return self._renderer.page(request, "standings.html", tab="standings", **self._context(wish))

        return await self._site.do(rendered)  # a long page takes time

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
                scale=charts.rating_scale(row.standing.rating for row in shown),
                players=len(found) if len(found) < COUNTED else None,
                games=firsts.games,
            )

        return await self._site.do(rendered)

    def _context(self, wish: Asked) -> dict[str, Any]:
        form, since = wish.given["form"], wish.choice.since
        with self._site.reading() as connection:
            found = statistics.compare(connection, wish.choice)
            lines = listed(found.standings, wish)
            first = ROWS * (wish.page - 1)
            rows = lines[first : first + ROWS]
            end = first + len(rows)
            by_place = sorted(lines, key=lambda line: line.rank)
            across = _across(by_place, wish.columns) if form in ("rating", "cross") else []
            names, others = _names(rows), _names(across)
            scores = statistics.scores(connection, found.choice, names, others) if across else {}
            endings = statistics.endings(connection, found.choice, names) if form == "reason" else {}
            curves = {
                name: statistics.curve(connection, name, POINTS, since) for name in _names(by_place[:DRAWN])
            }
            slowest = sorted(by_place, key=lambda line: ORDERS["time"](line.standing))[:SLOWEST]
            taken = {name: statistics.thinking(connection, name, SAMPLE) for name in _names(slowest)}
        firsts = sum((each.record.first for each in found.standings), Score(0, 0, 0))
        is_chosen = wish.given["since"] != "all" or wish.given["table"] or wish.page > 1
        merit = wish.order if wish.order in MERITS else "rating"
        ends = {WORDS[reason]: found.reasons.get(reason, 0) for reason in (*LOSSES, Reason.FULL)}
        return {
            "asked": wish,
            "charts": charts,
            "ranks": merit,
            "places": places(merit, is_everything=wish.choice.is_everything),
            "players": len(lines),
            "firsts": firsts,
            "nobody": nobody(wish.least, wish.page) if firsts.games or is_chosen else "",
            "forms": FORMS,
            "spans": SPANS,
            "tables": found.tables,
            "rows": rows,
            "across": across,
            "most_across": ACROSS,
            "scores": scores,
            "endings": endings,
            "ways": [*map(WORDS.__getitem__, (*LOSSES, Reason.FULL))],
            "reasons": REASONS,
            "more": (end + 1, min(end + ROWS, len(lines))) if rows and end < len(lines) else None,
            "scale": charts.rating_scale(line.standing.rating for line in rows),
            "ends": charts.bars({word: ends[word] for word in sorted(ends, key=lambda word: -ends[word])}),
            "ended": sum(ends.values()),
            "lines": charts.over_time(curves),
            "times": charts.ranges({name: each for name, each in taken.items() if each is not None}),
            "sample": SAMPLE,
        }


def _across(by_place: Sequence[Ranked], part: int) -> Sequence[Ranked]:
    """Return the players of a part of the cross-table's columns; of the last part if `part` is larger."""
    last = (len(by_place) - 1) // ACROSS
    first = ACROSS * min(part - 1, last)
    return by_place[first : first + ACROSS]


def _names(lines: Sequence[Ranked]) -> list[str]:
    return [line.standing.name for line in lines]


def _asked(request: Request) -> Asked:
    return asked(parameters(request.scope["query_string"], _USUAL))
