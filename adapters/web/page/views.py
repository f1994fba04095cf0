"""The projector and the view Play. The larger views are modules of their own."""

from functools import partial
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adapters.web.answers import tournament_named
from adapters.web.page import director, faults, game, games, live, player, search, standings, tournament
from adapters.web.page.assets import assets
from adapters.web.page.rendering import Renderer
from adapters.web.query import parameters
from adapters.web.site import Site

# The projector: the live games, and standings.
#
# Knows the parameters of the address, and the address of the stream. Does not know the games: the browser
# reads them from the stream, so rendering the page never waits for the server.

PROJECTED = 6
"""The most games that the projector draws: two rows of three."""


async def _projector(site: Site, renderer: Renderer, request: Request) -> Response:
    """Show the live games and the standings of all games in turns; or those of one tournament together."""
    given = parameters(request.scope["query_string"], ("player", "table", "tournament"))
    filters = {**given}
    name = filters.pop("tournament", None)
    if name is None:
        source = live.stream(filters, PROJECTED)
        return renderer.page(
            request, "projector.html", stream=source, most=PROJECTED, standings="/board/standings"
        )
    found = await site.do(partial(tournament_named, site.reading, name))
    name = filters["table"] = found.settings.name
    source = f"/board/tournament?{urlencode({'name': name})}"
    stream = live.stream(filters, tournament.LIVE)
    return renderer.page(request, "projector_tournament.html", name=name, source=source, stream=stream)


# The view Play: a person plays against a house player, or against another player in the lobby.
#
# This module only renders the page. The page's script is a client like any other, and speaks the arena
# dialect (adapters/arena/PROTOCOL.md).

DIALECT = "arena"
"""The dialect that the page speaks. It needs only websockets and JSON, which all browsers have."""
HOUSE = {
    "random": "any column, at once",
    "aimafast": "looks ahead for 0.01 s a move",
    "aima": "looks ahead for 0.5 s a move",
    "aima10": "looks ahead for 10 s a move",
    "perfect": "never gives a won game away",
}
"""The house players, the weakest first, each with a description."""


async def _play(site: Site, renderer: Renderer, request: Request) -> Response:
    parameters(request.scope["query_string"], ())
    opponents = [(name, words) for name, words in HOUSE.items() if name in site.house]
    return renderer.page(
        request, "play.html", tab="play", dialect=DIALECT, opponents=opponents, idle=site.idle
    )


# All views.


def routes(site: Site, renderer: Renderer) -> list[Route]:
    """Return the routes of all views."""
    return [
        Route("/static/{version}/{name}", assets().serve),
        *search.routes(site, renderer),
        Route("/board", partial(_projector, site, renderer)),
        Route("/play", partial(_play, site, renderer)),
        *live.routes(site, renderer),
        *game.routes(site, renderer),
        *games.routes(site, renderer),
        *standings.routes(site, renderer),
        *player.routes(site, renderer),
        *director.routes(site, renderer),
        *faults.routes(site, renderer),  # before those of tournaments
        *tournament.routes(site, renderer),
    ]
