"""The view of one game: who won and why, every position, and the messages of both sides.

Knows stored games, live games and the templates. Does not know how the table of messages is made
(`timeline`), or how positions are solved. The address of a game never changes. Other spellings of its id are
redirected to it.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from adapters.web.answers import EXPORT_TYPES
from adapters.web.live.channel import Wanted
from adapters.web.live.state import Json
from adapters.web.page import charts
from adapters.web.page.rendering import HEADERS, Renderer, reads_html
from adapters.web.page.sentences import (
    Part,
    Text,
    badge,
    by_rating,
    counted,
    headline,
    ordinal,
    plain,
    result_for,
    signed,
    unkept,
    why,
)
from adapters.web.page.timeline import timeline
from adapters.web.query import BadRequestError, game_named
from adapters.web.site import Site
from gateway.engines import EngineUnavailable
from gateway.engines.perfect import require
from gateway.game.events import Reason
from gateway.game.ids import GameId
from gateway.game.results import WITHOUT_RESULT
from gateway.game.text import printable, visible
from gateway.store import NotKeptError, analyses, games, statistics, tournaments
from gateway.store.database import Reading
from gateway.store.evidence import NEW, Exchange, Turn
from gateway.store.formats import FORMATS
from gateway.store.games import Filter, NoGameError, Page
from gateway.store.presentation import outcome, refusal
from gateway.store.records import WORDS, GameRecord
from gateway.store.statistics import Score
from gateway.store.tournaments import NoTournamentError
from gateway.tournament.log import Awarded, Voided

LAST = 5
"""The latest games of the two players that the view of a live game lists."""
RECENT = 600_000
"""Milliseconds after the end of a game in which its view looks for the next game of the two players."""
ROUNDS = 5
"""The most rounds of a series that a view lists, those nearest to the game."""
_UNKNOWN: dict[str, Any] = dict.fromkeys(("series", "score", "chance", "scale"))
_UNKNOWN |= {"places": ("", ""), "ratings": (), "last": (), "outcome": (), "meetings": 0}
"""The template's values for a live game whose players are not known, since no results are kept."""


def routes(site: Site, renderer: Renderer) -> list[Route]:
    """Return the routes of the view."""
    view = _View(site, renderer)
    return [Route("/game/{game}.{form}", view.download), Route("/game/{game}", view.page)]


@dataclass(frozen=True, slots=True)
class _Series:
    """A series of games, as seen from the first mover of its first game."""

    number: int
    names: tuple[str, str]
    score: Score
    rounds: Sequence[GameRecord]
    """The rounds that are listed."""


@dataclass(frozen=True, slots=True)
class _Move:
    """An entry of the list of moves: a move, or the illegal or missing one that lost the game."""

    number: int
    column: str
    used: int | None
    """The milliseconds that it took; None if unknown."""
    is_bad: bool = False


class _View:
    """The answers for games."""

    def __init__(self, site: Site, renderer: Renderer) -> None:
        self._site = site
        self._renderer = renderer

    async def page(self, request: Request) -> Response:
        """Show a game; redirect another spelling of its id."""
        typed = request.path_params["game"]
        game = _named(typed)
        if game != typed:
            return RedirectResponse(f"/game/{game}", 301, HEADERS)
        response = await self._site.do(lambda: self._stored(request, game))
        if response is None:
            response = await self._on(request, game)
        if response is None:  # it may have been stored meanwhile
            response = await self._site.do(
                lambda: self._stored(request, game) or self._missing(request, game)
            )
        return response

    async def download(self, request: Request) -> Response:
        """Return a game as a file in one of the export formats."""
        game, form = _named(request.path_params["game"]), request.path_params["form"]
        if form not in FORMATS:
            raise HTTPException(404, f"there is no such format; possible: {', '.join(FORMATS)}")
        try:
            record = await self._site.do(partial(self._site.game, game))
        except NoGameError as error:
            raise HTTPException(404, str(error)) from error
        headers = HEADERS | {"Content-Disposition": f'attachment; filename="{game}.{form}"'}
        body = "".join(FORMATS[form]([record])).encode("utf-8", "surrogatepass")
        return Response(body, headers=headers, media_type=EXPORT_TYPES[form])

    def _stored(self, request: Request, game: GameId) -> Response | None:
        try:
            with self._site.reading() as connection:
                record, both = games.one(connection, game), games.evidence_of(connection, game)
                between = Filter(player=record.players[0].name, opponent=record.players[1].name)
                around: dict[str, Any] = {
                    "neighbours": games.neighbours(connection, game),
                    "series": _series(games.series_of(connection, record), record),
                    "meetings": games.count(connection, between),
                    "solves": bool(analyses.of(connection, [game])) or _solves(),
                }
        except (NoGameError, NotKeptError):
            return None
        around["ruling"] = _ruling(self._site.reading, record)
        context = _shown(record, both, self._renderer.dialect)
        return self._renderer.page(request, "game.html", tab="games", **context, **around)

    async def _on(self, request: Request, game: GameId) -> Response | None:
        """Show a live game, or one that has ended but is not stored yet."""
        if game.isdecimal():  # only old games have such an id
            return None
        state = await self._site.live.state(Wanted(game=game, most=1))
        for found in state["games"]:
            is_kept = self._site.database is not None
            known = await self._site.do(partial(self._known, found)) if is_kept else _UNKNOWN
            shown = {**_live(found, is_kept=is_kept, evaluates=self._site.evaluates), **known}
            return self._renderer.page(request, "game_on.html", tab="live", **shown)
        return None

    def _known(self, found: Json) -> dict[str, Any]:
        """Return what the database has about the players of a live game."""
        names = [player["name"] for player in found["players"]]
        with self._site.reading() as connection:
            between = Filter(player=names[0], opponent=names[1])
            last = games.page(connection, between, Page(limit=LAST))
            meetings = games.count(connection, between)
            scores = statistics.scores(connection, statistics.EVERYTHING, names[:1], names[1:])
            places = statistics.places(connection, names)
            is_next = bool(last) and (last[0].table, last[0].round) == (found["table"], found["round"] - 1)
            series = _series(games.series_of(connection, last[0]), last[0]) if is_next else None
        score = scores.get((names[0], names[1]), Score(0, 0, 0))
        ratings = [(side, places[name][1]) for side, name in enumerate(names) if name in places]
        about = [places.get(name) for name in names]
        return {
            "series": series,
            "meetings": meetings,
            "places": [each and f"{ordinal(each[0])}, sure {signed(each[1].sure)}" for each in about],
            "score": score,
            "outcome": charts.outcome(score, 254) if score.games else [],
            "ratings": ratings,
            "scale": charts.rating_scale([rating for _, rating in ratings]),
            "chance": by_rating(names, *(rating for _, rating in ratings)) if len(ratings) > 1 else (),
            "last": [(each, side := each.side_of(names[0]), badge(each, side)) for each in last],
        }

    def _missing(self, request: Request, game: GameId) -> Response:
        if not reads_html(request):
            raise HTTPException(404, f"there is no game {game}")
        with self._site.reading() as connection:
            newest = games.page(connection, Filter(), Page(limit=1))
        text: Text = ("No game has been stored yet.",)
        if newest:
            text = ("The newest is game ", Part("game", newest[0].game), ".")
        return self._renderer.page(request, "error.html", 404, title=f"There is no game {game}", text=text)


def _named(text: str) -> GameId:
    try:
        return game_named(text)
    except BadRequestError as error:
        raise HTTPException(404, "there is no such game: an id looks like 9k3fm-00002a") from error


def _ruling(reading: Reading, record: GameRecord) -> Text:
    """Return a sentence on why the result of a game does not count in its tournament; empty if it does."""
    if record.table is None or record.reason in WITHOUT_RESULT:
        return ()
    try:
        with reading() as connection:
            tournament = tournaments.named(connection, record.table)
    except NoTournamentError:
        return ()
    for pairing in tournament.pairings:
        number = next((each.number for each in pairing.broken if each.game == record.game), None)
        if number is None:
            continue
        match pairing.decided.get(number):
            case Awarded(winner=None):
                decision: Text = ("awarded as a draw",)
            case Awarded(winner=int(winner)):
                decision = ("awarded to ", Part("name", tournament.name_of(winner)))
            case Voided():
                decision = ("made void",)
            case _:
                decision = ("played again",)
        return (" In the tournament ", Part("name", tournament.settings.name), " it was ", *decision, ".")
    return ()


def _series(games: Sequence[GameRecord], record: GameRecord) -> _Series | None:
    """Return the series of a stored game; None if the game is alone in it, or in none."""
    if len(games) < 2 or not record.series:
        return None
    names = games[0].players[0].name, games[0].players[1].name
    results = [*filter(None, (result_for(each, each.side_of(names[0])) for each in games))]
    score = Score(len(results), results.count("won"), results.count("drawn"))
    start = max(0, min(games.index(record) - ROUNDS // 2, len(games) - ROUNDS))
    return _Series(record.series, names, score, games[start : start + ROUNDS])


def _live(found: Json, *, is_kept: bool, evaluates: bool) -> dict[str, Any]:
    """Return the template's values for a live game. `found` is as in the live stream.

    `is_kept` is whether its result will be stored, and `evaluates` whether viewers may know who is winning.
    """
    names = [player["name"] for player in found["players"]]
    return {
        "is_on": True,
        "game": found,
        "headline": headline([*map(printable, names)], None),
        "description": f"On now, round {found['round']}, after {counted(len(found['moves']), 'move')}.",
        "is_kept": is_kept,
        "solves": evaluates,
        "data": {
            "names": names,
            "moves": found["moves"],
            "turns": [asdict(Turn(used=round(1000 * used))) for used in found["used"]],
            "attempt": None,
            "reason": None,
            "game": found["game"],
            "stream": f"/api/live/events?game={found['game']}&most=1",
            "is_kept": is_kept,
        },
    }


def _shown(
    record: GameRecord, both: tuple[Exchange | None, Exchange | None], dialect: Callable[[str], str]
) -> dict[str, Any]:
    """Return the template's values for a stored game; `both` is its evidence.

    `dialect` returns the title of a kind of player.
    """
    lines, end, refused = timeline(record, both), outcome(record, both), refusal(record, both)
    names = [player.name for player in record.players]
    age = 1000 * time.time() - record.ended
    is_new = age < NEW
    attempt = lines.attempt
    reasons = why(record, lines, refused, dialect)
    title = headline([*map(printable, names)], end)
    moves = [
        _Move(number, column, turn.used)
        for number, (column, turn) in enumerate(zip(record.moves, lines.turns, strict=True), 1)
    ]
    if attempt is not None:
        moves.append(_Move(len(moves) + 1, attempt.column, attempt.used, is_bad=True))
    return {
        "is_on": False,
        "game": record,
        "outcome": end,
        "headline": title,
        "description": visible(f"{title}, {counted(len(record.moves), 'move')}. {plain(reasons)}"),
        "why": reasons,
        "badges": [badge(record, 0), badge(record, 1)],
        "lines": lines,
        "moves": moves,
        "is_line_refused": any(row.refused for row in lines.rows)
        and bool(refused or (attempt and record.reason in (Reason.ILLEGAL, Reason.TIME))),
        "kept": [exchange is not None for exchange in both],
        "unkept": unkept(record, is_new=is_new),
        "is_new": is_new,
        "is_recent": age < RECENT,
        "formats": FORMATS,
        "position": record.position,
        "data": {
            "game": record.game,
            "names": names,
            "moves": record.moves,
            "turns": [asdict(turn) for turn in lines.turns],
            "attempt": None if attempt is None else {"column": attempt.column, "used": attempt.used},
            "thought": record.thought,
            "winner": record.winner,
            "reason": WORDS[record.reason],
        },
    }


def _solves() -> bool:
    try:
        require()
    except EngineUnavailable:
        return False
    return True
