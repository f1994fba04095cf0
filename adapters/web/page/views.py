"""The views, each a module that gives its routes."""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from adapters.web.page import game, live, play, player, standings
from adapters.web.page.assets import assets
from adapters.web.page.rendering import HEADERS, Renderer
from adapters.web.page.words import address
from adapters.web.query import BadRequestError, game_named, parameters
from adapters.web.site import Site
from gateway.store.errors import NotKeptError
from gateway.store.games import NoGameError


def routes(site: Site, renderer: Renderer) -> list[Route]:
    """Return the routes of all views."""
    return [
        Route("/static/{version}/{name}", assets().serve),
        Route("/search", _Search(site).found),
        *live.routes(site, renderer),
        *game.routes(site, renderer),
        *standings.routes(site, renderer),
        *player.routes(site, renderer),
        *play.routes(site, renderer),
    ]


class _Search:
    """Where the search field leads."""

    def __init__(self, site: Site) -> None:
        self._site = site

    async def found(self, request: Request) -> Response:
        """Send the browser on to the game or player that was typed."""
        typed = parameters(request.scope["query_string"], ("for",)).get("for", "").strip()
        where = await self._site.threads.do(lambda: self._where(typed)) if typed else "/"
        return RedirectResponse(where, 303, HEADERS)

    def _where(self, typed: str) -> str:
        player = f"/player/{address(typed)}"
        try:
            game = game_named(typed)
            self._site.reader.game(game)
        except BadRequestError:
            return player
        except NotKeptError:
            pass  # it may be on
        except NoGameError:
            if game.isdecimal() or self._site.reader.profile(typed) is not None:
                return player
        return f"/game/{game}"
