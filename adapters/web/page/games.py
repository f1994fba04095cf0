"""The view Games: the stored games that match the filters in the address, ten on a page.

The filters are links and forms, so they work without scripts, and each selection has an address that can be
shared. Knows stored games; does not know how the database finds them (`gateway.store.games`).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adapters.web.answers import EXPORT_TYPES
from adapters.web.page.mistakes import Mistake, mistake_in
from adapters.web.page.rendering import Renderer
from adapters.web.page.sentences import REASON_TEXTS, badge, games_address, result_for, selection
from adapters.web.page.timeline import timeline
from adapters.web.page.tournament import tournament_address
from adapters.web.query import FILTERS, RESULTS, Given, parameters, wanted, whole
from adapters.web.site import Site
from gateway.engines.perfect import has_book
from gateway.game.board import Side, other
from gateway.game.events import Reason
from gateway.game.ids import GameId
from gateway.game.text import COMPARED, similar
from gateway.store import analyses, games, names, statistics, tournaments
from gateway.store.database import Connected
from gateway.store.games import COUNTED, LOBBY, Filter, Page
from gateway.store.records import FAULTS, WORDS, GameRecord, Participant, moment
from gateway.store.tournaments import NoTournamentError

ROWS = 10
"""Games on one page."""
PAGES = COUNTED // ROWS
"""The most pages of one selection."""
SPANS = {"today": "today", "yesterday": "yesterday", "week": "7 days"}
"""The points in time that the menu offers, by the value of ``since``."""
MENU = 12
"""The most names in a menu."""
SUGGESTED = 100
"""The most names that a field suggests."""
_DATE = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
_AROUND = 2
"""Pages before and after the current one that have a link."""
_REMEMBERED = 10_000
"""The most games of tournaments whose rounds are remembered."""


@dataclass(frozen=True, slots=True)
class Wish:
    """The viewer's choices, from an address."""

    given: Given
    """The filters. Without a result, the mistakes of a player are the games that it lost."""
    filter: Filter
    page: int = 1

    def address(self, page: int = 1, **changes: str | None) -> str:
        """Return the address for these choices with `changes`; None removes a filter."""
        wished = {**self.given, **changes, "page": None if page == 1 else str(page)}
        return games_address(**wished)

    def without(self, name: str) -> str:
        """Return the address for these choices without a filter, and without those that need it."""
        needing = {"player": ("opponent", "moving", "result"), "result": ("mistake",)}
        dropped = (name, *(needing.get(name, ()) if self.filter.player is not None else ()))
        return games_address(**{**self.given, **dict.fromkeys(dropped)})

    @property
    def download(self) -> Mapping[str, str]:
        """The address of these games in each format."""
        query = games_address(**self.given).partition("/games")[2]
        return {form: f"/api/export.{form}{query}" for form in EXPORT_TYPES}


@dataclass(frozen=True, slots=True)
class Row:
    """One game, as seen from one side."""

    record: GameRecord
    side: Side
    """The side of the chosen player; otherwise that of the winner."""
    mistake: Mistake | None
    tournament: tuple[str, str] | None
    """The words for the game's place in its tournament, and the address; None for any other game."""

    @property
    def players(self) -> tuple[tuple[Side, Participant], ...]:
        """Both players with their sides, the one whose result is shown first."""
        return tuple((side, self.record.players[side]) for side in (self.side, other(self.side)))

    @property
    def badge(self) -> str:
        """The word on the badge; empty for a game without a result."""
        return badge(self.record, self.side)

    @property
    def verb(self) -> str:
        """What the first of the players did to the other one."""
        verbs = {"won": "beat", "drawn": "drew with", "lost": "lost to"}
        return verbs.get(result_for(self.record, self.side), "met")

    @property
    def reason(self) -> str:
        """How the game ended."""
        return REASON_TEXTS[WORDS[self.record.reason]]


def asked(given: Given) -> Wish:
    """Return the choices in an address. Raises BadRequestError."""
    filters = {name: given[name] for name in FILTERS if name in given}
    found = wanted(filters)
    if found.result is not None:
        filters["result"] = found.result
    return Wish(filters, found, whole(given, "page", 1, PAGES))


def routes(site: Site, renderer: Renderer) -> list[Route]:
    """Return the route of this view."""
    return [Route("/games", _Games(site, renderer).page)]


class _Games:
    """The answers for games."""

    def __init__(self, site: Site, renderer: Renderer) -> None:
        self._site = site
        self._renderer = renderer
        self._rounds: dict[tuple[str, int, int], tuple[str, str]] = {}
        """The words and the address for each place in a tournament, as `tournaments.places` returns it."""

    async def page(self, request: Request) -> Response:
        """Show the games that the address asks for."""
        wish = asked(parameters(request.scope["query_string"], (*FILTERS, "page")))

        def rendered() -> Response:
            with self._site.reading() as connection:
                context = self._context(connection, wish)
            return self._renderer.page(request, "games.html", tab="games", **context)

        return await self._site.do(rendered)

    def _context(self, connection: Connected, wish: Wish) -> dict[str, Any]:
        part = Page(limit=ROWS, skipped=ROWS * (wish.page - 1))
        found, count = games.page(connection, wish.filter, part), games.count(connection, wish.filter)
        total = count if wish.filter == Filter() and count < COUNTED else games.total(connection)
        last = -(-count // ROWS)
        older = None
        if wish.page == PAGES and found and count == COUNTED:
            older = wish.address(until=moment(found[-1].ended + 1))
        return {
            "wish": wish,
            "filter": wish.filter,
            "head": selection(wish.given, count, total),
            "rows": self._rows(connection, wish, found),
            "count": count,
            "total": total,
            "unknown": games.unanalysed(connection, wish.filter) if wish.filter.mistake else 0,
            "only_faults": wish.filter.mistake
            and wish.filter.reason in (None, Reason.FOUR)
            and not (has_book() or games.has_analyses(connection)),
            "pages": _pages(wish.page, last),
            "last": last,
            "older": older,
            "drops": () if count else _drops(connection, wish),
            "alike": {} if count else _alike(connection, wish),
            "players": names.most_active(connection, SUGGESTED),
            "opponents": _opponents(connection, wish.filter),
            "tables": [LOBBY, *statistics.tables(connection, MENU)],
            "results": RESULTS,
            "spans": SPANS,
            "days": {name: _day(wish.given.get(name, "")) for name in ("since", "until")},
            "most": MENU,
            "named": lambda found: [(each, each) for each in found],
            "reasons": REASON_TEXTS,
            "counted_to": COUNTED,
        }

    def _rows(self, connection: Connected, wish: Wish, found: Sequence[GameRecord]) -> list[Row]:
        rounds = self._places(connection, [each.game for each in found if each.table is not None])
        analysed = analyses.of(connection, [each.game for each in found])
        rows = []
        for record in found:
            attempt = None
            if record.reason in FAULTS:
                attempt = timeline(record, games.evidence_of(connection, record.game)).attempt
            mistake = mistake_in(record, analysed.get(record.game), attempt)
            rows.append(Row(record, _side(record, wish.filter), mistake, rounds.get(record.game)))
        return rows

    def _places(self, connection: Connected, ids: Sequence[GameId]) -> dict[GameId, tuple[str, str]]:
        """Return the words and the address for the place of each game of a tournament.

        The round of a pairing never changes. So a tournament, which takes long to read, is read only for
        pairings that are shown for the first time.
        """
        placed = tournaments.places(connection, ids)
        found = {place: words for place in placed.values() if (words := self._rounds.get(place)) is not None}
        for key, began in {place[:2] for place in placed.values() if place not in found}:
            try:
                tournament = tournaments.named(connection, key)
            except NoTournamentError:
                continue  # of a newer version
            name = tournament.settings.name
            for number, each in enumerate(tournament.pairings):
                round = each.pairing.round
                address = tournament_address(name, stage=each.stage + 1, round=round)
                found[key, began, number] = f"{name}, round {round}", address
        if len(self._rounds) > _REMEMBERED:
            self._rounds = {}  # not cleared, because other threads may read it
        self._rounds.update(found)
        return {game: found[place] for game, place in placed.items() if place in found}


def _side(record: GameRecord, wanted: Filter) -> Side:
    """Return the side from which a game is shown: that of the chosen player, or of the winner."""
    if wanted.player is None:
        return record.winner or 0
    if record.players[0].name == record.players[1].name:  # the result tells which of the two is meant
        return 0 if result_for(record, 0) in (wanted.result, "") else 1
    return record.side_of(wanted.player)


def _day(value: str) -> str:
    """Return the value of a date field; empty for a time that is no date."""
    return value if _DATE.fullmatch(value) else ""


def _pages(page: int, last: int) -> list[int | None]:
    """Return the numbers of the pages that have a link; None for a gap."""
    shown = {1, last, *range(page - _AROUND, page + _AROUND + 1)}
    found = list[int | None]()
    for number in sorted(each for each in shown if 1 <= each <= last):
        if found and number - 1 != found[-1]:
            found.append(None)
        found.append(number)
    return found


def _drops(connection: Connected, wish: Wish) -> list[tuple[str, str, int]]:
    """Return the filters without which there are games: their names, the address without, and the number."""
    found = []
    for name in wish.given:
        query = wish.without(name).partition("?")[2]
        rest = asked(parameters(query.encode(), FILTERS))
        count = games.count(connection, rest.filter)
        if count:
            found.append((name, wish.without(name), count))
    return sorted(found, key=lambda each: each[2])


def _alike(connection: Connected, wish: Wish) -> dict[str, list[str]]:
    """Return, for each filter that names an unknown player or table, similar names."""
    chosen = {name: wish.given[name] for name in ("player", "opponent") if name in wish.given}
    known = names.known(connection, [*chosen.values()])
    unknown = {each: name for each, name in chosen.items() if name not in known}
    compared = names.most_active(connection, COMPARED) if unknown else []
    found = {each: similar(name, compared) for each, name in unknown.items()}
    table = wish.filter.table
    if table is not None and table.casefold() != LOBBY and not games.spellings(connection, table):
        found["table"] = similar(table, games.all_tables(connection))
    return found


def _opponents(connection: Connected, wanted: Filter) -> list[str]:
    """Return the most frequent opponents of the chosen player."""
    return [] if wanted.player is None else names.opponents(connection, wanted.player, SUGGESTED)
