"""The view Play: a person plays against one of the server's own players, or somebody in the lobby.

Gives the page, and no more: in the browser it is a client like any other, and speaks the arena dialect
(adapters/arena/PROTOCOL.md). The server keeps nothing for it.
"""

from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adapters.web.page.rendering import Renderer
from adapters.web.query import parameters
from adapters.web.site import Site

DIALECT = "arena"
"""The dialect that the page speaks: a websocket's, which browsers have, and its messages can be JSON."""
HOUSE = {
    "random": "any column, at once",
    "aimafast": "looks ahead for 0.01 s a move",
    "aima": "looks ahead for 0.5 s a move",
    "aima10": "looks ahead for 10 s a move",
    "perfect": "never gives a won game away",
}
"""The server's own players, the weakest first, and what there is to say of each."""


def routes(site: Site, renderer: Renderer) -> list[Route]:
    """Return the routes of this view."""
    return [Route("/play", partial(_play, site, renderer))]


async def _play(site: Site, renderer: Renderer, request: Request) -> Response:
    parameters(request.scope["query_string"], ())
    opponents = [(name, words) for name, words in HOUSE.items() if name in site.house]
    return renderer.page(
        request, "play.html", tab="play", dialect=DIALECT, opponents=opponents, idle=site.idle
    )
