"""Renders pages from templates.

Knows Jinja2, and the headers that protect a page. Does not know the content of a view. Escaping is always on,
so a client's text never becomes markup. Scripts, styles and pictures come only from this server, and never
inline.
"""

import time
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import Response

from adapters.web.page import boards, sentences
from adapters.web.page.assets import assets
from adapters.web.site import Front, Site
from gateway.access.heads import host_in, port_in
from gateway.game.text import visible
from gateway.store.records import moment

FILTERS: Mapping[str, Callable[..., Any]] = {
    "number": sentences.number,
    "counted": sentences.counted,
    "how_many": sentences.how_many,
    "signed": sentences.signed,
    "thought": sentences.thought,
    "percent": sentences.percent,
    "points": sentences.points,
    "points_of": sentences.points_of,
    "against": sentences.against,
    "results": sentences.results,
    "games_that_count": sentences.games_that_count,
    "quarters": sentences.quarters,
    "faults": sentences.faults,
    "sentence": sentences.sentence,
    "address": sentences.address,
    "moment": moment,
    "position": boards.position,
    "plain": sentences.plain,
    "visible": lambda text: type(text)(visible(text)),  # for texts in which no <bdi> can isolate a name
    "ago": lambda at: sentences.ago(at, round(1000 * time.time())),
    "age": lambda at: sentences.age(at, round(1000 * time.time())),
    "reason": lambda word: sentences.REASON_TEXTS.get(word, word),
}

HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src {connect}; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


class Renderer:
    """Renders the pages of one site."""

    def __init__(self, site: Site, played: str) -> None:
        """`played` is the name of the dialect in which the page itself plays."""
        self._site = site
        self._environment = Environment(
            loader=PackageLoader(__package__), autoescape=True, undefined=StrictUndefined
        )
        self._environment.trim_blocks = self._environment.lstrip_blocks = True
        self._kinds = {each.name: (each.mark, each.title) for each in site.fronts}
        self._kinds["house"] = "@", "the house"
        self._environment.filters |= {
            **FILTERS,
            "mark": lambda kind: self._kinds.get(kind, ("?",))[0],
            "dialect": self.dialect,
        }
        self._plays = any(each.name == played and each.port is not None for each in site.fronts)
        self._environment.globals |= {
            "asset": assets().address,
            "imported": assets().imported,
            "plays": self._plays,
            "keeps": site.database is not None,
            "holes": boards.HOLES,
            "games_address": sentences.games_address,
            "evaluates": site.evaluates,
        }

    def dialect(self, kind: str) -> str:
        """Return the title of a kind of player."""
        return self._kinds.get(kind, ("", kind))[1]

    def page(self, request: Request, template: str, status: int = 200, **context: Any) -> Response:
        """Return the page that a template renders with `context`.

        Every template also gets these values:

        - `tab`: the current link of the header, or an empty string
        - `fronts`: the addresses for players, and `offer`: the sentence that lists them
        - `kinds`: the mark and the title of each kind of player
        - `notice`: the operator's announcement
        - `plays`: whether people can play here, `keeps`: whether results are kept, and `evaluates`: whether
          viewers may know who is winning a game that is on; also in macros
        """
        fronts = [
            {"name": each.name, "title": each.title, "url": _url(each, request)}
            for each in self._site.fronts
            if each.port is not None
        ]
        offer = sentences.offer([(each["url"], each["title"]) for each in fronts], plays=self._plays)
        known: dict[str, Any] = {"tab": "", "fronts": fronts, "offer": offer}
        known |= {"kinds": self._kinds, "notice": self._site.notice}
        text = self._environment.get_template(template).render(known | context)
        body = text.encode("utf-8", "replace")  # names may contain halves of surrogate pairs
        sockets = [each["url"] for each in fronts if each["url"].startswith(("ws://", "wss://"))]
        headers = HEADERS | {
            "Content-Security-Policy": _POLICY.format(connect=" ".join(["'self'", *sockets]))
        }
        return Response(body, status, headers, media_type="text/html; charset=utf-8")

    def error(
        self, request: Request, status: int, text: str, headers: Mapping[str, str] | None = None
    ) -> Response:
        """Return the page for an error."""
        title = HTTPStatus(status).phrase.capitalize()
        if status == HTTPStatus.NOT_FOUND:  # what is missing says it all
            title, text = sentences.sentence(text).removesuffix("."), ""
        response = self.page(request, "error.html", status, title=title, text=text)
        response.headers.update(headers or {})
        return response


def reads_html(request: Request) -> bool:
    """Whether the client is a browser that shows pages, and not a program."""
    return "text/html" in request.headers.get("accept", "")


def host_of(request: Request) -> str:
    """Return the host by which the client reached this server, without the port; IPv6 in brackets."""
    return host_in(request.headers.get("host", "")) or "localhost"


def _url(front: Front, request: Request) -> str:
    """Return the address at which bots reach a dialect, on the page's port if the dialect shares it."""
    is_secure = request.url.scheme == "https"
    host = host_of(request)
    place, path = f"{host}:{front.port}", ""
    if front.is_shared:  # take the port that the client used, because a proxy may have another
        port = port_in(request.headers.get("host", "")) or (443 if is_secure else 80)
        place, path = f"{host}:{port}", f"/{front.name}"
    scheme = f"{front.scheme}s" if is_secure else front.scheme
    return f"{scheme}://{place}{path}" if front.scheme else place
