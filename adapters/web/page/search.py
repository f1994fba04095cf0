"""The search: leads to the game or the player that was typed, or shows the players that may be meant."""

from functools import partial

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from adapters.web.page.rendering import HEADERS, Renderer
from adapters.web.page.sentences import address
from adapters.web.query import parameters
from adapters.web.search import Found, search
from adapters.web.site import Site

MOST = 50
"""The most players on the page."""


def routes(site: Site, renderer: Renderer) -> list[Route]:
    """Return the route of the search."""
    return [Route("/search", partial(_search, site, renderer))]


async def _search(site: Site, renderer: Renderer, request: Request) -> Response:
    typed = parameters(request.scope["query_string"], ("for",)).get("for", "").strip()
    if not typed:
        return RedirectResponse("/", 303, HEADERS)
    found = await search(site, typed, MOST)
    place = _only(found, typed)
    if place is not None:
        return RedirectResponse(place, 303, HEADERS)
    return renderer.page(request, "search.html", tab="", typed=typed, found=found, most=MOST)


def _only(found: Found, typed: str) -> str | None:
    """Return the address of what is meant beyond doubt; None if something else may be meant, too."""
    if found.is_stored:
        return f"/game/{found.game}"
    players = [each.name for each in found.players]
    if typed in players:
        return f"/player/{address(typed)}"
    alike = [name for name in players if name.casefold() == typed.casefold()] or players
    if len(alike) == 1:
        return f"/player/{address(alike[0])}"
    return None if found.game is None else f"/game/{found.game}"
