"""The view of one bot's faults in a tournament: what happened in each game, and what to change in the bot.

Knows tournaments, stored games and their evidence, and the rules of the bots' dialects.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adapters.client.remedies import remedies
from adapters.client.rules import Requirements
from adapters.dialects import all_dialects
from adapters.web.page.rendering import Renderer
from adapters.web.page.sentences import FAULT_TEXTS, Part, Text, counted, why
from adapters.web.page.timeline import timeline
from adapters.web.query import BadRequestError, name_of, parameters
from adapters.web.site import Site
from gateway.game.board import Board, Side
from gateway.game.events import Objection, Reason
from gateway.game.ids import GameId
from gateway.game.text import did_you_mean, quoted
from gateway.runtime.plugins import PluginError
from gateway.store import games, tournaments
from gateway.store.evidence import objections_in
from gateway.store.games import NoGameError
from gateway.store.presentation import refusal
from gateway.tournament.log import TournamentResult
from gateway.tournament.report import described
from gateway.tournament.testing import TESTS
from gateway.tournament.tournament import Tournament

SHOWN = 50
"""The most faults that are shown, the latest ones."""


class Fault(NamedTuple):
    """One fault."""

    place: str
    """Where in the tournament, such as ``Round 3, game 2``."""
    kind: str
    """One of `gateway.game.results.FAULT_WORDS`."""
    opponent: str
    game: GameId | None
    """None if it was not played."""
    about: Text
    """What happened."""
    changes: Sequence[tuple[str, str]]
    """What to change, each with the clause of the dialect, as `remedies` returns them."""
    dialect: str = ""
    """The kind of the player; empty if it is not known."""
    is_again: bool = False
    """Whether the game was played again."""
    after: int = 0
    """The number of moves in the position where it happened."""

    @property
    def title(self) -> str:
        """The fault in words."""
        return FAULT_TEXTS[self.kind]


Report: TypeAlias = Mapping[str, Any]
Order: TypeAlias = tuple[int, int, int]
"""By what faults are sorted: the pairing, the game, and when it was stored."""
About: TypeAlias = tuple[str, str, str]
"""The place, the kind and the opponent of a fault."""
Explain: TypeAlias = Callable[[], Fault]


def routes(site: Site, renderer: Renderer) -> list[Route]:
    """Return the route of this view. It has to come before that of a tournament, which takes any path.

    In an address a slash in a name is %2F, and routes match the address as it was sent. So no address that a
    page links to is that of another view, also if a tournament is called ``a/player/b``.
    """
    return [Route("/tournament/{name}/player/{player:path}", _View(site, renderer).page)]


class _View:
    """The answers for players of tournaments."""

    def __init__(self, site: Site, renderer: Renderer) -> None:
        self._site = site
        self._renderer = renderer

    async def page(self, request: Request) -> Response:
        given = parameters(request.scope["query_string"], ("name",))
        try:
            name = name_of(request.path_params["name"])
            player = name_of(request.path_params["player"]) or given.get("name", "")
        except BadRequestError as error:  # names are always UTF-8
            raise HTTPException(404, "there is no such tournament or player") from error

        def rendered() -> Response:
            context = self._context(name, player)
            return self._renderer.page(request, "faults.html", tab="tournaments", **context)

        return await self._site.do(rendered)

    def _context(self, name: str, player: str) -> dict[str, Any]:
        """Return the template's values. Raises NoTournamentError, and HTTPException without such a player."""
        with self._site.reading() as connection:
            tournament = tournaments.named(connection, name)
            ended = tournaments.faults(connection, name)
        report, roster = described(tournament, time.time()), tournament.settings.roster
        rows = {each["name"]: each for each in report["standings"]}
        tests = [each for each in report["tests"] if each["player"] == player]
        if player not in rows and player not in roster and not tests:
            hint = did_you_mean(player, [*rows, *roster])
            raise HTTPException(404, f"{quoted(player)} takes no part in {quoted(report['name'])}{hint}")
        found = [
            *self._in_games(report, ended, player),
            *self._absences(report, player, tournament),
        ]
        found.sort(key=lambda each: each[0], reverse=True)
        return {
            "t": report,
            "name": player,
            "row": rows.get(player),
            "place": _place(report, player),
            "faults": [explain() for _, explain in found[:SHOWN]],
            "more": len(found[SHOWN:]),
            "tests": tests,
            "address": f"/tournament/{quote(report['name'], safe='')}",
        }

    def _in_games(
        self, report: Report, ended: Sequence[TournamentResult], player: str
    ) -> Iterator[tuple[Order, Explain]]:
        """Yield the games that ended by a fault of the player. `ended` are those that did by any fault."""
        pairings = {each["number"]: each for each in report["pairings"]}
        for game in ended:
            pairing = pairings.get(game.pairing + 1)
            if game.culprit is None or game.fault is None:
                continue
            names, own, is_again = (game.first, game.second), int(game.culprit), False
            if pairing is not None:
                # By the pairing: a player keeps the name with which it entered, also if it was renamed since.
                names, own = pairing["players"], (game.culprit + game.number) % 2
                is_again = game.game in pairing["without_result"]
                place = f"{_round(report, pairing)}, game {game.number + 1}"
                order = pairing["number"], game.number, game.row
            elif game.pairing >= TESTS:
                place = f"Test game {game.number + 1}"
                order = 0, game.pairing, game.row
            else:
                continue
            if names[own] == player:
                about = place, game.fault, names[1 - own]
                yield order, partial(self._explained, game.game, game.culprit, about, is_again=is_again)

    def _absences(
        self, report: Report, player: str, tournament: Tournament
    ) -> Iterator[tuple[Order, Explain]]:
        """Yield the walkovers of the player, without those after it was withdrawn, which are no faults."""
        own = tournament.number_of(player)
        for pairing in report["pairings"]:
            ends = tournament.pairings[pairing["number"] - 1].ends
            is_fault = any(each.player == own and each.fault == "walkover" for each in ends)
            if pairing["forfeited"] and is_fault:
                other = next(each for each in pairing["players"] if each != player)
                count = counted(pairing["forfeited"], "game")
                what = f" was not at the table. It lost {count} without playing."
                about = _round(report, pairing), "walkover", other
                explain = partial(self._absence, report, player, about, what)
                yield (pairing["number"], pairing["forfeited"], 0), explain

    def _absence(self, report: Report, player: str, about: About, what: str) -> Fault:
        kind = self._kind(report, player)
        changes = remedies("walkover", _requirements(kind), Board(), None)
        return Fault(*about, None, (Part("name", player), what), changes, kind)

    def _kind(self, report: Report, player: str) -> str:
        """Return the kind of a player in its latest game; empty without a game."""
        played = [
            each["games"][-1]["game"]
            for each in report["pairings"]
            if each["games"] and player in each["players"]
        ]
        try:
            record = self._site.game(played[-1])
        except (IndexError, NoGameError):
            return ""
        return next((each.kind for each in record.players if each.name == player), "")

    def _explained(self, game: GameId, side: Side, about: About, *, is_again: bool = False) -> Fault:
        """Return the fault of a game's side."""
        _, kind, _ = about
        try:
            with self._site.reading() as connection:
                record, both = games.one(connection, game), games.evidence_of(connection, game)
        except NoGameError:
            return Fault(*about, None, ("The game was removed.",), remedies(kind, None, Board(), None))
        lines, last = timeline(record, both), refusal(record, both)
        refused: tuple[str, Objection] | None = None
        if lines.attempt is not None and lines.attempt.text:
            refused = lines.attempt.text, objections_in(lines.attempt.why)
        elif last is not None:
            refused = last.text, objections_in(last.why)
        dialect = record.players[side].kind
        changes = remedies(kind, _requirements(dialect), record.board(), refused)
        text: Text
        if record.reason is Reason.ABORTED:
            text = (Part("name", record.players[side].name), " left the game before both had moved.")
        else:
            text = why(record, lines, last, self._renderer.dialect)
        return Fault(*about, game, text, changes, dialect, is_again, len(record.moves))


def _place(report: Report, player: str) -> tuple[int, int, str | None]:
    """Return the place of a player, of how many, and in which group, if groups are played now."""
    current = report["stages"][report["stage"] - 1]
    for group in current["groups"]:
        for row in group["standings"]:
            if row["name"] == player:
                return row["rank"], len(group["standings"]), group["name"]
    ranks = {each["name"]: each["rank"] for each in report["standings"]}
    return ranks.get(player, 0), report["players"], None


def _round(report: Mapping[str, Any], pairing: Mapping[str, Any]) -> str:
    stage = f"Stage {pairing['stage']}, round" if len(report["stages"]) > 1 else "Round"
    return f"{stage} {pairing['round']}"


@cache
def _requirements(kind: str) -> Requirements | None:
    """Return the rules of a kind of player; None for the server's own, and for kinds that are not known."""
    try:
        return next((each.requirements() for each in all_dialects() if each.name == kind), None)
    except PluginError:
        return None
