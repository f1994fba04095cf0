"""The application that the web server runs: the API, the page, and the answers to errors.

Knows starlette, and how to answer errors. Does not know sockets, or the content of other answers. The answer
to an error is a page for a browser, and ``{"error": "..."}`` for a program and in the API. It reveals nothing
about the code.
"""

import logging
from collections.abc import Mapping

import trio
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from adapters.web import api
from adapters.web.admin import Admin
from adapters.web.api import as_json
from adapters.web.compression import compressing
from adapters.web.health import Health
from adapters.web.live.live import UnavailableError
from adapters.web.origins import Origins
from adapters.web.page import views
from adapters.web.page.rendering import Renderer, reads_html
from adapters.web.query import BadRequestError
from adapters.web.site import Site
from gateway.access.heads import NOT_KNOWN
from gateway.runtime.throttle import Throttle
from gateway.server.metrics.requests import Requests, kind_of
from gateway.store import NotKeptError, StoreError
from gateway.store.tournaments import NoTournamentError

BODY_LIMIT = 1_024
"""The most bytes in the body of a request. No path needs a body."""

logger = logging.getLogger(__name__)


class Application:
    """Answers requests (ASGI)."""

    def __init__(
        self, site: Site, health: Health, admin: Admin | None, origins: Origins | None = None
    ) -> None:
        """Serve `site`. Without `admin`, the paths for the operator do not exist."""
        self._origins = origins or Origins()
        self.requests = Requests()
        """Counts of the requests that were answered."""
        self._renderer = Renderer(site, views.DIALECT)
        self._warnings = Throttle(10.0)
        routes = [*api.routes(site, health, admin), *views.routes(site, self._renderer)]
        errors = (HTTPException, BadRequestError, UnavailableError, StoreError, Exception)
        self._starlette = Starlette(routes=routes, exception_handlers=dict.fromkeys(errors, self._refuse))
        self._starlette.router.redirect_slashes = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        # Routes match the path as it was sent. Decoded, a name could contain anything, even a line break.
        scope["path"] = scope["raw_path"].decode("ascii") if "raw_path" in scope else "/"
        if scope["type"] == "http":
            request = Request(scope)
            send = self._origins.sharing(request, self._counting(scope["path"], send))
            send = compressing(scope, send)
            if response := self._at_once(request):
                await response(scope, receive, send)
                return
        await self._starlette(scope, receive, send)

    def _counting(self, path: str, send: Send) -> Send:
        """Return a `send` that counts the request when its answer begins, because a stream possibly never
        ends."""
        begun = trio.current_time()

        async def send_counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                self.requests.add(kind_of(path), message["status"], trio.current_time() - begun)
            await send(message)

        return send_counted

    def _at_once(self, request: Request) -> Response | None:
        """Return the answer if the head of the request alone determines it; otherwise None."""
        if not self._origins.knows(request):
            return self._error(request, 421, NOT_KNOWN)
        headers = dict(request.scope["headers"])
        length = headers.get(b"content-length", b"0")
        is_short = b"transfer-encoding" not in headers and length.isdigit() and int(length[:20]) <= BODY_LIMIT
        if not is_short:
            return self._error(request, 413, f"a body has {BODY_LIMIT} bytes at most")
        return self._origins.permission(request)

    async def _refuse(self, request: Request, error: Exception) -> Response:
        """Return the answer to a request that raised `error`."""
        headers: Mapping[str, str] | None = None
        match error:
            case HTTPException(status_code=status, detail=text, headers=headers):
                if text == "Not Found":  # starlette's text for a path without a route
                    is_api = request.url.path.startswith("/api/")
                    text = f"there is no such path; {api.DESCRIPTION} has all"
                    text = text if is_api else "there is no such page"
            case BadRequestError():
                status, text = 400, str(error)
            case UnavailableError():
                status, text = 503, f"{error}; try again in a few seconds"
                headers = {"Retry-After": "2"}
            case NotKeptError():
                if _is_page(request):  # the view exists, and says how to keep results
                    tab = "games" if request.url.path == "/games" else "standings"
                    return self._renderer.page(request, "unkept.html", tab=tab)
                status, text = 404, str(error)
            case NoTournamentError():
                status, text = 404, str(error)
            case StoreError():
                status, text = 503, "the database cannot be used at the moment"
                if self._warnings.passes(trio.current_time()):
                    about = {"event": "web_unavailable", "error": str(error)}
                    logger.warning("a web page cannot be had: %s", error, extra=about)
            case _:  # `server` logs the traceback
                status, text = 500, "internal error"
        return self._error(request, status, text, headers)

    def _error(
        self, request: Request, status: int, text: str, headers: Mapping[str, str] | None = None
    ) -> Response:
        if _is_page(request):
            return self._renderer.error(request, status, text, headers)
        return as_json({"error": text}, status, headers)


def _is_page(request: Request) -> bool:
    return reads_html(request) and not request.url.path.startswith("/api/")
