"""The application that the web server runs: the API and the page, and what becomes of errors.

Knows starlette, and what an answer to an error looks like. Does not know sockets, nor what is in an answer.
The rule it keeps: every error is answered in the form that the client reads, a page or JSON,
``{"error": "..."}``, without a word on our insides.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping

import trio
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from adapters.web import api
from adapters.web.api import Admin, as_json
from adapters.web.health import Health
from adapters.web.origins import Origins
from adapters.web.page import views
from adapters.web.page.rendering import Renderer, reads_html
from adapters.web.query import BadRequestError
from adapters.web.site import Site
from gateway.store.errors import NotKeptError, StoreError
from gateway.store.outage import Throttle

BODY_LIMIT = 1_024
"""Bytes of a request's body; none is needed anywhere."""

_NOT_KNOWN = "the server does not know this name; use localhost, or start it with --allow-origin http://NAME"
"""Said to who gives it a name of somebody else's."""

logger = logging.getLogger(__name__)


class Application:
    """Answers requests (ASGI)."""

    def __init__(
        self, site: Site, health: Health, admin: Admin | None, origins: Origins | None = None
    ) -> None:
        """Show `site`; where there is no `admin`, its paths do not exist."""
        self._origins = origins or Origins()
        self._renderer = Renderer(site)
        self._words = Throttle(10.0)
        routes = [*api.routes(site, health, admin), *views.routes(site, self._renderer)]
        self._starlette = Starlette(routes=routes, exception_handlers=self._refusals())
        self._starlette.router.redirect_slashes = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        # Its patterns are for paths as they were sent: decoded, a name may hold anything, a line break too.
        scope["path"] = scope["raw_path"].decode("ascii") if "raw_path" in scope else "/"
        if scope["type"] == "http":
            request = Request(scope)
            send = self._origins.sharing(request, send)
            if response := self._at_once(request):
                await response(scope, receive, send)
                return
        await self._starlette(scope, receive, send)

    def _at_once(self, request: Request) -> Response | None:
        """Return the answer to a request that its head alone decides."""
        if not self._origins.knows(request):
            return self._error(request, 421, _NOT_KNOWN)
        if _body_is_too_large(dict(request.scope["headers"])):
            return self._error(request, 413, f"a body has {BODY_LIMIT} bytes at most")
        return self._origins.permission(request)

    def _refusals(self) -> dict[type[Exception], Callable[[Request, Exception], Awaitable[Response]]]:
        return {
            HTTPException: self._refused,
            BadRequestError: self._misunderstood,
            NotKeptError: self._not_kept,
            StoreError: self._unavailable,
            Exception: self._failed,
        }

    async def _refused(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        text = (
            "there is no such page" if error.detail == "Not Found" else error.detail
        )  # the framework's own word
        return self._error(request, error.status_code, text, error.headers)

    async def _misunderstood(self, request: Request, error: Exception) -> Response:
        return self._error(request, 400, str(error))

    async def _not_kept(self, request: Request, error: Exception) -> Response:
        return self._error(request, 404, str(error))

    async def _unavailable(self, request: Request, error: Exception) -> Response:
        if self._words.passes(trio.current_time()):
            about = {"event": "web_unavailable", "error": str(error)}
            logger.warning("a web page cannot be had: %s", error, extra=about)
        return self._error(request, 503, "the database cannot be used at the moment")

    async def _failed(self, request: Request, error: Exception) -> Response:
        return self._error(request, 500, "internal error")  # `server` logs what it was

    def _error(
        self, request: Request, status: int, text: str, headers: Mapping[str, str] | None = None
    ) -> Response:
        if reads_html(request) and not request.url.path.startswith("/api/"):
            return self._renderer.error(request, status, text, headers)
        return as_json({"error": text}, status, headers)


def _body_is_too_large(headers: Mapping[bytes, bytes]) -> bool:
    length = headers.get(b"content-length", b"0")
    return b"transfer-encoding" in headers or not length.isdigit() or int(length[:20]) > BODY_LIMIT
