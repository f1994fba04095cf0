"""The view Play: a person plays against one of the server's own players, or against somebody in the lobby.

This module only renders the page. In the browser it is a client like any other, and speaks the arena dialect
(adapters/arena/PROTOCOL.md).
"""

from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adapters.web.page.rendering import Renderer
from adapters.web.query import parameters
from adapters.web.site import Site

DIALECT = "arena"
"""The dialect that the page speaks. Browsers have websockets and JSON, and this dialect needs no more."""
HOUSE = {
    "random": "any column, at once",
    "aimafast": "looks ahead for 0.01 s a move",
    "aima": "looks ahead for 0.5 s a move",
    "aima10": "looks ahead for 10 s a move",
    "perfect": "never gives a won game away",
}
"""The server's own players, the weakest first, each with a description."""


def routes(site: Site, renderer: Renderer) -> list[Route]:
    """Return the routes of this view."""
    return [Route("/play", partial(_play, site, renderer))]


async def _play(site: Site, renderer: Renderer, request: Request) -> Response:
    parameters(request.scope["query_string"], ())
    opponents = [(name, words) for name, words in HOUSE.items() if name in site.house]
    return renderer.page(
        request, "play.html", tab="play", dialect=DIALECT, opponents=opponents, idle=site.idle
    )
