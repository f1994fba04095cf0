"""Decides which websites may read the server's answers, from the headers ``Origin`` and ``Host``.

Knows headers; does not know the answers. A website may read answers only if the operator allows its origin.
It may read ``/healthz`` and the API, except the operator's paths, and only by the methods GET and HEAD.
"""

import re
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Send

from gateway.access.heads import is_known
from gateway.options.names import ALL_ORIGINS

_READS = ("GET", "HEAD")
_OPERATOR = re.compile("/api/(clear|admin/|tournaments/[^/]+/[^/.]+$)")
"""Matches the paths that no website may read. Those of a tournament are its director's; files have a dot."""


@dataclass(frozen=True, slots=True)
class Origins:
    """The origins that may read the answers."""

    allowed: frozenset[str] = frozenset()
    """Such as ``https://example.org``; ``*`` stands for all."""
    is_local: bool = False
    """Whether the server listens only on its own machine."""

    def knows(self, request: Request) -> bool:
        """Return whether the header ``Host`` names this server; always True unless `is_local`."""
        return not self.is_local or is_known(request.headers.get("host", ""), self.allowed)

    def permission(self, request: Request) -> Response | None:
        """Return the answer to a preflight request; None for any other request."""
        asked = request.headers.get("access-control-request-method")
        if request.method != "OPTIONS" or asked is None or not self._shares(request):
            return None
        about = {
            "Access-Control-Allow-Methods": ", ".join(_READS),
            "Access-Control-Allow-Headers": "Last-Event-ID",
        }
        return Response(status_code=204, headers=self._headers(request) | about)

    def sharing(self, request: Request, send: Send) -> Send:
        """Return a `send` that adds CORS headers, which let the allowed websites read the answer."""
        if request.method not in _READS or not self._shares(request):
            return send
        headers = [(name.lower().encode(), value.encode()) for name, value in self._headers(request).items()]

        async def send_shared(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *headers]
            await send(message)

        return send_shared

    def _shares(self, request: Request) -> bool:
        path = request.scope["path"]
        is_public = path == "/healthz" or (path.startswith("/api/") and _OPERATOR.match(path) is None)
        return is_public and bool(self.allowed)

    def _headers(self, request: Request) -> dict[str, str]:
        if ALL_ORIGINS in self.allowed:
            return {"Access-Control-Allow-Origin": ALL_ORIGINS}
        origin = request.headers.get("origin", "")
        granted = {"Access-Control-Allow-Origin": origin} if origin in self.allowed else {}
        return {"Vary": "Origin", **granted}
