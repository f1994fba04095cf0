"""The views, each a module that gives its routes."""

from functools import partial

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from adapters.web.page import game, live, play, player, standings
from adapters.web.page.assets import assets
from adapters.web.page.rendering import HEADERS, Renderer, address
from adapters.web.query import BadRequestError, game_named, parameters
from adapters.web.site import Site
from gateway.store.errors import NotKeptError
from gateway.store.games import NoGameError


def routes(site: Site, renderer: Renderer) -> list[Route]:
    """Return the routes of all views."""
    return [
        Route("/static/{version}/{name}", assets().serve),
        Route("/search", partial(_search, site)),
        *live.routes(site, renderer),
        *game.routes(site, renderer),
        *standings.routes(site, renderer),
        *player.routes(site, renderer),
        *play.routes(site, renderer),
    ]


async def _search(site: Site, request: Request) -> Response:
    """Send the browser to the game or the player that was typed."""
    typed = parameters(request.scope["query_string"], ("for",)).get("for", "").strip()

    def found() -> str:
        player = f"/player/{address(typed)}"
        try:
            game = game_named(typed)
            site.reader.game(game)
        except BadRequestError:
            return player
        except NotKeptError:
            pass  # it may be on
        except NoGameError:
            if game.isdecimal() or site.reader.profile(typed) is not None:
                return player
        return f"/game/{game}"

    return RedirectResponse(await site.threads.do(found) if typed else "/", 303, HEADERS)
