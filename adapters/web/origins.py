"""Which websites' pages may read what is served: what a browser's headers ``Origin`` and ``Host`` decide.

Knows headers; does not know what is in an answer. The rules it keeps:

- Only what everybody may read is shared, the API and ``/healthz``, and only with the origins that the
  operator named. Nothing that changes anything is shared with anybody.
- A server that listens on its own machine alone does not answer to a domain name of somebody else's. By one
  that leads to this machine, a website could otherwise pass for this server's own pages (DNS rebinding).
"""

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Send

from adapters.hosts import host_in, is_domain

_READS = ("GET", "HEAD")
_ANY = "*"


@dataclass(frozen=True, slots=True)
class Origins:
    """Whom the server shares its answers with."""

    allowed: frozenset[str] = frozenset()
    """Such as ``https://example.org``; ``*`` stands for all."""
    is_local: bool = False
    """Whether the server listens on its own machine alone."""

    def knows(self, request: Request) -> bool:
        """Return whether the client means this server by its ``Host``."""
        header = request.headers.get("host", "")
        host = host_in(header)
        if not self.is_local or not header:  # a browser always gives one
            return True
        if host is None:  # browsers take names for hosts that cannot be read here, such as ``a+b.example``
            return False
        if not is_domain(host):
            return True
        named = {host_in(origin.partition("://")[2]) for origin in self.allowed}
        return host.lower() in named

    def permission(self, request: Request) -> Response | None:
        """Return the answer to a browser that asks what it may ask for; None for any other request."""
        asked = request.headers.get("access-control-request-method")
        if request.method != "OPTIONS" or asked is None or not self._shares(request):
            return None
        about = {
            "Access-Control-Allow-Methods": ", ".join(_READS),
            "Access-Control-Allow-Headers": "Last-Event-ID",
        }
        return Response(status_code=204, headers=self._headers(request) | about)

    def sharing(self, request: Request, send: Send) -> Send:
        """Return a `send` that says, before an answer, which websites may read it."""
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
        is_public = path == "/healthz" or (path.startswith("/api/") and path != "/api/clear")
        return is_public and bool(self.allowed)

    def _headers(self, request: Request) -> dict[str, str]:
        if _ANY in self.allowed:
            return {"Access-Control-Allow-Origin": _ANY}
        origin = request.headers.get("origin", "")
        granted = {"Access-Control-Allow-Origin": origin} if origin in self.allowed else {}
        return {"Vary": "Origin", **granted}
