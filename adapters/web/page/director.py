"""The view in which the operator directs a tournament.

Its script draws it from templates in the page, in a browser that has the admin token. Any other browser goes
on to the tournament's own view.
"""

from functools import partial
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adapters.web.answers import tournament_named
from adapters.web.page.rendering import Renderer
from adapters.web.query import BadRequestError, name_of, parameters
from adapters.web.site import Site


def routes(site: Site, renderer: Renderer) -> list[Route]:
    """Return the route of this view. It must precede that of a tournament, whose name may be any path."""
    return [Route("/tournament/{name:path}/director", partial(_director, site, renderer))]


async def _director(site: Site, renderer: Renderer, request: Request) -> Response:
    parameters(request.scope["query_string"], ())
    try:
        name = name_of(request.path_params["name"])
    except BadRequestError as error:  # names are always UTF-8
        raise HTTPException(404, "there is no such tournament") from error
    name = (await site.do(partial(tournament_named, site.reading, name))).settings.name
    quoted = quote(name, safe="")
    return renderer.page(
        request,
        "director.html",
        tab="tournaments",
        name=name,
        home=f"/tournament/{quoted}",
        api=f"/api/tournaments/{quoted}",
    )
