"""The view of one player: place, games, openings, opponents, losses and thinking times.

A player has this page after it has finished a game. Before that, while the player is connected, it has a
simpler page, which says whether it waits or plays.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from adapters.web.live.state import Json
from adapters.web.page import charts
from adapters.web.page.rendering import Renderer, reads_html
from adapters.web.page.sentences import (
    REASON_TEXTS,
    Part,
    Text,
    games_address,
    playing,
    result_for,
    sentence,
    waiting,
)
from adapters.web.query import BadRequestError, name_of, parameters
from adapters.web.search import search
from adapters.web.site import Site
from gateway.game.board import Side
from gateway.store import NotKeptError, statistics
from gateway.store.games import Filter, Page, page
from gateway.store.records import FAULTS, LOSSES, WORDS, GameRecord, Participant
from gateway.store.statistics import Career

GAMES = 13
"""The latest games that are listed."""
WIDE = 460.0
"""The width of the middle card, in pixels."""
MEANT = 3
"""The most players that are suggested in place of one that does not exist."""
_UNKNOWN = "no player of that name is connected, or has finished a game here"


@dataclass(frozen=True, slots=True)
class Game:
    """One of the player's games, as seen from the player's side."""

    record: GameRecord
    side: Side

    @property
    def opponent(self) -> Participant:
        """The other player."""
        return self.record.players[1 - self.side]

    @property
    def result(self) -> str:
        """``won``, ``drawn`` or ``lost``; empty for a game without a result."""
        return result_for(self.record, self.side)

    @property
    def is_fault(self) -> bool:
        """Whether the player lost, but not by four in a row."""
        return self.result == "lost" and self.record.reason in FAULTS

    @property
    def reason(self) -> str:
        """The text for how the game ended."""
        return REASON_TEXTS[WORDS[self.record.reason]]


def routes(site: Site, renderer: Renderer) -> list[Route]:
    """Return the routes of this view."""
    return [Route("/player/{name:path}", _Player(site, renderer).page)]


class _Player:
    """The answers for players."""

    def __init__(self, site: Site, renderer: Renderer) -> None:
        self._site = site
        self._renderer = renderer

    async def page(self, request: Request) -> Response:
        given = parameters(request.scope["query_string"], ("name", "lost", "opponent"))
        try:
            name = name_of(request.path_params["name"]) or given.get("name", "")
        except BadRequestError as error:  # names are always UTF-8
            raise HTTPException(404, _UNKNOWN) from error
        if "lost" in given or "opponent" in given:  # as in addresses of version 0.3
            lost = given.get("lost", "")
            filters = {"opponent": given.get("opponent", ""), "reason": lost, "result": lost and "lost"}
            return RedirectResponse(games_address(player=name, **filters), 301)

        def rendered() -> Response | None:
            with self._site.reading() as connection:
                career = statistics.career(connection, name)
                if career is None:
                    return None
                records = page(connection, Filter(player=name), Page(limit=GAMES))
            context = self._context(name, career, records)
            return self._renderer.page(request, "player.html", tab="standings", **context)

        is_kept = self._site.database is not None
        response = await self._site.do(rendered) if is_kept else None
        return response or await self._new(request, name)

    async def _new(self, request: Request, name: str) -> Response:
        """Show a player that has finished no game yet."""
        about = await self._site.live.named(name)
        if not (about["players"] or about["games"]):
            if self._site.database is None:
                raise NotKeptError
            return await self._missing(request, name)
        kinds = sorted({each["kind"] for each in about["players"]})
        situation = _situation(name, about)
        return self._renderer.page(
            request, "new_player.html", tab="live", name=name, kinds=kinds, situation=situation
        )

    async def _missing(self, request: Request, name: str) -> Response:
        """Say that there is no such player, and who may be meant."""
        if not (name and reads_html(request)):
            raise HTTPException(404, _UNKNOWN)
        found = await search(self._site, name, MEANT)
        text = list[str | Part]()
        for place, each in enumerate([player.name for player in found.players] or found.similar):
            text += ["Did you mean " if place == 0 else " or ", Part("linked", each)]
        text += ["?"] if text else []
        return self._renderer.page(
            request, "error.html", 404, title=sentence(_UNKNOWN).removesuffix("."), text=text
        )

    def _context(self, name: str, career: Career, latest: Sequence[GameRecord]) -> dict[str, Any]:
        standing, reasons = career.profile.standing, career.profile.reasons
        lost = {reason: reasons[reason].total.lost if reason in reasons else 0 for reason in LOSSES}
        by_losses = sorted(LOSSES, key=lambda reason: -lost[reason])
        return {
            "charts": charts,
            "name": name,
            "career": career,
            "standing": standing,
            "games": [Game(each, each.side_of(name)) for each in latest],
            "scale": charts.rating_scale([standing.rating]),
            "icicles": [charts.icicle(each, WIDE) for each in career.openings],
            "width": WIDE,
            "curve": charts.over_time({name: career.curve}, charts.LOW),
            "losses": charts.bars({WORDS[reason]: lost[reason] for reason in by_losses}),
            "times": charts.times(career.move_times),
            "recent": statistics.RECENT,
        }


def _situation(name: str, about: Json) -> list[Text]:
    """Return sentences on what players of this name do now. `about` is the result of `Live.named`."""
    now = 1000 * time.time()
    waits = [
        waiting(each["table"], round(now - 1000 * each["waited"]), each["why"])
        for each in about["players"]
        if each["waited"] is not None
    ]
    situation = [*waits, *(playing(game, name) for game in about["games"])]
    return situation or [("It is connected, and neither waits nor plays.",)]
