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
from gateway.game.ids import GameId
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
        try:
            named = game_named(typed)
        except BadRequestError:
            return f"/player/{address(typed)}"
        return f"/player/{address(typed)}" if self._is_rather_a_player(named, typed) else f"/game/{named}"

    def _is_rather_a_player(self, game: GameId, typed: str) -> bool:
        """Return whether a player has this name, and no stored game this id; one that is on may."""
        try:
            self._site.reader.game(game)
        except NotKeptError:
            return False
        except NoGameError:
            return self._site.reader.profile(typed) is not None
        return False
