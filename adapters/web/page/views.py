"""The views Live, the projector, Play and the search. The larger views are modules of their own."""

from functools import partial
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from adapters.web.live.paths import wanted
from adapters.web.page import game, player, standings
from adapters.web.page.assets import assets
from adapters.web.page.rendering import HEADERS, Renderer
from adapters.web.page.sentences import address
from adapters.web.query import BadRequestError, game_named, parameters
from adapters.web.site import Site
from gateway.store import NotKeptError, statistics
from gateway.store.games import NoGameError

# The views Live and projector: the live games.
#
# Knows the parameters of the address, and the address of the stream. Does not know the games: the browser
# reads them from the stream, so rendering the page never waits for the server.

MOST = 56
"""The most games that Live draws. They fill rows of two, of four and of seven."""
PROJECTED = 6
"""The most games that the projector draws: two rows of three."""


async def _page(renderer: Renderer, template: str, most: int, request: Request) -> Response:
    given = parameters(request.scope["query_string"], ("player", "table"))
    asked = {**given, "most": str(most)}
    wanted(asked)  # raises the error that the stream would raise, so that a person sees it
    stream = f"/api/live/events?{urlencode(asked)}"
    return renderer.page(request, template, tab="live", stream=stream, most=most, given=given)


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
        Route("/search", partial(_search, site)),
        Route("/", partial(_page, renderer, "live.html", MOST)),
        Route("/board", partial(_page, renderer, "projector.html", PROJECTED)),
        Route("/play", partial(_play, site, renderer)),
        *game.routes(site, renderer),
        *standings.routes(site, renderer),
        *player.routes(site, renderer),
    ]


async def _search(site: Site, request: Request) -> Response:
    """Redirect the browser to the page of the game or the player that was typed."""
    typed = parameters(request.scope["query_string"], ("for",)).get("for", "").strip()

    def found() -> str:
        player = f"/player/{address(typed)}"
        try:
            game = game_named(typed)
            site.game(game)
        except BadRequestError:
            return player
        except NotKeptError:
            pass  # it may be a live game
        except NoGameError:
            if game.isdecimal():
                return player
            with site.reading() as connection:
                if statistics.profile(connection, typed) is not None:
                    return player
        return f"/game/{game}"

    return RedirectResponse(await site.do(found) if typed else "/", 303, HEADERS)
