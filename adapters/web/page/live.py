"""The views Live and projector: the games that are being played.

Knows the parameters of the address, and the stream for them. Does not know the games: the browser reads them
from the stream, so a page never waits for the server.
"""

from functools import partial
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adapters.web.live.paths import wanted
from adapters.web.page.rendering import Renderer
from adapters.web.query import parameters
from adapters.web.site import Site

MOST = 56
"""Games that Live draws: whole rows of two, four and seven."""
PROJECTED = 6
"""Games that the projector draws: two rows of three."""


def routes(site: Site, renderer: Renderer) -> list[Route]:
    """Return the routes of Live and of the projector."""
    return [
        Route("/", partial(_page, renderer, "live.html", MOST)),
        Route("/board", partial(_page, renderer, "projector.html", PROJECTED)),
    ]


async def _page(renderer: Renderer, template: str, most: int, request: Request) -> Response:
    given = parameters(request.scope["query_string"], ("player", "table"))
    asked = {**given, "most": str(most)}
    wanted(asked)  # refuses here what the stream would refuse, where a person can read it
    stream = f"/api/live/events?{urlencode(asked)}"
    return renderer.page(request, template, tab="live", stream=stream, most=most, given=given)
