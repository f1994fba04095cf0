"""The views of tournaments: all of them, one of them, and the projector's.

The address of a view of one tournament has the stage, the round and the form, and stays valid. A view is
complete without scripts. The page's script reads it again every few seconds.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import quote, urlencode

import trio
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adapters.web.answers import tournament as tournament_report
from adapters.web.answers import tournament_list
from adapters.web.live.channel import Wanted
from adapters.web.live.live import UnavailableError
from adapters.web.live.state import Json
from adapters.web.page import charts
from adapters.web.page.bracket import Match, Round, bracket
from adapters.web.page.crosstable import cross_table
from adapters.web.page.pairs import done, joined, live_pairings, outcomes, pair, with_sides
from adapters.web.page.rendering import Renderer
from adapters.web.page.sentences import (
    FAULT_TEXTS,
    TIE_BREAK_NAMES,
    address,
    came_through,
    current_round,
    following,
    plain,
    progress,
    round_title,
    rules,
    stage_title,
    stage_titles,
)
from adapters.web.query import BadRequestError, Given, name_of, one_of, parameters, whole
from adapters.web.site import Site
from gateway.game.commands import folded
from gateway.game.ids import GameId
from gateway.store import games as stored_games
from gateway.store.records import GameRecord
from gateway.store.statistics import Standing, players_named
from gateway.tournament.formats import Field, Meeting, Pairing
from gateway.tournament.standings import TIE_BREAKS, standings

ACROSS = 40
"""The most players in a cross-table."""
LISTED = 8
"""The most games that a cell of a cross-table lists."""
RATING = 104
"""The width of a rating bar, in pixels."""
PROJECTED = 4
"""The most boards on the projector."""
MATCHES = 13
"""The most matches of a knockout that the projector shows beside these boards."""
LIVE = 100
"""The most live games that are asked for."""
FRESH = 1.0
"""Seconds for which a report is used again."""
AT_ONCE = 250
"""Games that one query reads."""
REMEMBERED = 4_000
"""Stored games that are remembered."""
LATEST = 12
"""The most pairings of a ladder that are shown, the latest first."""
TABS = 12
"""The most rounds with a tab each; of more, those at the ends and around the chosen one have one."""

FORMS = {
    "bracket": "Bracket",
    "standings": "Standings",
    "crosstable": "Cross-table",
    "pairs": "Rounds",
    "faults": "Faults",
    "log": "Log",
}
"""The forms of a tournament's view, by their words in an address."""

Report: TypeAlias = Mapping[str, Any]
"""A value of `gateway.tournament.report.described`."""


Stored: TypeAlias = Mapping[GameId, GameRecord]


def ranks_before(stage: Mapping[str, Any], report: Report) -> dict[str, int]:
    """Return the ranks of the players of a stage before its latest round; empty before the second round."""
    names = [each["name"] for each in stage["standings"]]
    numbers = {name: number for number, name in enumerate(names)}
    earlier = [
        each
        for each in (*report["pairings"], *report["byes"])
        if each["stage"] == stage["number"] and each["round"] < stage["round"]
    ]
    if not earlier:
        return {}
    meetings = []
    for each in earlier:
        if "player" in each:
            free = Pairing(numbers[each["player"]], None, each["round"])
            meetings.append(Meeting(free, True, (float(report["settings"]["games"]), 0.0)))
            continue
        one, two = (numbers[name] for name in each["players"])
        made = [0, 0]
        for game in each["games"]:
            if game["fault"] is not None and game["winner"]:  # the loser made it
                winner = each["players"].index(game["first"]) ^ (game["winner"] == 2)
                made[1 - winner] += 1
        points = each["points"]
        met = Pairing(one, two, each["round"])
        is_over = each["state"] == "over"
        meetings.append(Meeting(met, is_over, (points[0], points[1]), faults=(made[0], made[1])))
    rows = standings(Field(len(names), {*range(len(names))}), meetings, report["settings"]["tie_breaks"])
    return {names[row.player]: row.rank for row in rows}


class Entrants(NamedTuple):
    """The players of a group before the beginning, by name."""

    group: str | None
    """The group's name in the roster; None for players that have none."""
    rows: Sequence[Mapping[str, Any]]
    """Those who have entered."""
    missing: Sequence[tuple[str, str]]
    """Those who have not, with the state of their latest test; empty without one."""


def entrants(report: Report) -> list[Entrants]:
    """Return who has entered a tournament and who is missing, by group."""
    roster = report["settings"]["roster"]
    tests = {folded(each["player"]): each["state"] for each in report["tests"]}
    rows = sorted(report["standings"], key=lambda each: each["name"].casefold())
    missing = sorted(report["missing"], key=str.casefold)
    groups = {each["group"] for each in rows} | {roster.get(name) or None for name in missing}
    return [
        Entrants(
            group,
            [each for each in rows if each["group"] == group],
            [(each, tests.get(folded(each), "")) for each in missing if (roster.get(each) or None) == group],
        )
        for group in sorted(groups, key=lambda group: (group is None, group or ""))
    ]


def tournament_address(name: str, **given: str | int | None) -> str:
    """Return the address of a tournament's view with these parameters, without those that are None."""
    chosen = {key: str(value) for key, value in given.items() if value is not None}
    path = f"/tournament/{address(name)}"
    if not chosen:
        return path
    return f"{path}{'&' if '?' in path else '?'}{urlencode(chosen, errors='surrogatepass')}"


def faults_address(tournament: str, player: str) -> str:
    """Return the address of the page that shows a player its faults in a tournament."""
    return f"/tournament/{quote(tournament, safe='')}/player/{address(player)}"


def forms_of(stage: Mapping[str, Any]) -> dict[str, str]:
    """Return the forms in which a stage can be seen, the usual one first."""
    if stage["format"] == "knockout":
        names = ["bracket", "pairs", "standings", "faults", "log"]
        return {name: FORMS[name] for name in names} | {"pairs": "Pairs"}
    names = ["standings", "crosstable", "pairs", "faults", "log"]
    if stage["format"] == "swiss":  # the standings have the pairs of a round beside them
        names.remove("pairs")
    return {name: FORMS[name] for name in names}


def shown_rounds(last: int, chosen: int, latest: int) -> list[int | None]:
    """Return the rounds that have a tab; None stands for some that have none."""
    if last <= TABS:
        return [*range(1, last + 1)]
    kept = {1, last, latest} | {*range(chosen - 2, chosen + 3)}
    found = list[int | None]()
    for number in range(1, last + 1):
        if number in kept:
            found.append(number)
        elif found and found[-1] is not None:
            found.append(None)
    return found


@dataclass(frozen=True, slots=True)
class Shown:
    """What is shown of a tournament: a stage, in one of `FORMS`, and one of its rounds."""

    report: Report
    stage: Mapping[str, Any]
    form: str
    round: int
    is_chosen: bool
    """Whether the address has the round."""
    pairings: Sequence[Mapping[str, Any]]
    """The pairings of the stage."""

    @classmethod
    def of(cls, report: Report, given: Given) -> "Shown":
        """Return what the parameters ask for. Raises BadRequestError.

        By default these are the current stage, its usual form, and the first round that is not over.
        """
        stage = report["stages"][whole(given, "stage", report["stage"], len(report["stages"])) - 1]
        forms = forms_of(stage)
        form = one_of(given, "view", FORMS, next(iter(forms)))
        if form not in forms and form != "pairs":  # such as the bracket of a Swiss system
            form = next(iter(forms))
        pairings = [each for each in report["pairings"] if each["stage"] == stage["number"]]
        latest = max(1, stage["round"])
        first = min((each["round"] for each in pairings if each["state"] == "waiting"), default=latest)
        chosen = whole(given, "round", first, max(latest, stage["rounds"] or 1))
        return cls(report, stage, form, chosen, "round" in given, pairings)

    def link(self, **changes: str | int | None) -> str:
        """Return the address of this with changes."""
        usual = next(iter(forms_of(self.stage)))
        parameters: dict[str, str | int | None] = {
            "stage": None if self.stage["number"] == self.report["stage"] else self.stage["number"],
            "view": self.form,
            "round": self.round if self.is_chosen else None,
        }
        parameters |= changes
        if parameters["view"] == usual:
            parameters["view"] = None
        return tournament_address(self.report["name"], **parameters)

    def tabs(self, on: Mapping[int, Json]) -> list[tuple[int, str, str] | None]:
        """Return the number, the address and the state of each round that has a tab; None for a gap.

        `on` are the live games by the numbers of their pairings.
        """
        live = {each["round"] for each in self.pairings if each["number"] in on}
        waiting = {each["round"] for each in self.pairings if each["state"] == "waiting"}
        latest = max(1, self.stage["round"])

        def state(number: int) -> str:
            if number > self.stage["round"]:
                return "coming"
            return "on" if number in live else "open" if number in waiting else "over"

        return [
            None if number is None else (number, self.link(round=number), state(number))
            for number in shown_rounds(max(latest, self.stage["rounds"] or 1), self.round, latest)
        ]

    def across(self, most: int) -> list[Mapping[str, Any]]:
        """Return the pairings of the players in the cross-tables, which have up to `most` each."""
        tables = self.stage["groups"] or [self.stage]
        names = {each["name"] for table in tables for each in table["standings"][:most]}
        return [each for each in self.pairings if names.issuperset(each["players"])]


def _heading(report: Report, shown: Shown) -> dict[str, Any]:
    """Return the values for the head of the view, and for the links in it."""
    stage, stages = shown.stage, report["stages"]
    watched = urlencode({"table": report["name"], "most": LIVE})
    return {
        "t": report,
        "stage": stage,
        "is_current": stage["number"] == report["stage"],
        "stages": [
            (
                each,
                stage_title(report, each["number"]),
                tournament_address(
                    report["name"], stage=None if each["number"] == report["stage"] else each["number"]
                ),
            )
            for each in (stages if len(stages) > 1 else ())
        ],
        "came_through": came_through(report),
        "through": {each["name"] for each in stages[-1]["standings"]}
        if stage["number"] < len(stages)
        else (),
        "form": shown.form,
        "forms": [(name, title, shown.link(view=name)) for name, title in forms_of(stage).items()],
        "link": shown.link,
        "rules": rules(report),
        "counted": _counted(stage, shown.pairings, report),
        "progress": progress(report),
        "following": following(report),
        **_due(report),
        "stream": f"/api/live/events?{watched}" if report["state"] in ("running", "paused") else "",
        "api": f"/api/tournaments/{quote(report['name'], safe='')}",
        "may_enter": _may_enter(report),
        "entrants": entrants(report) if report["begun"] is None else (),
        "tests": [*{(each["player"], each["house"]): each for each in report["tests"]}.values()],
    }


def _may_enter(report: Report) -> bool:
    """Whether players can enter by themselves, early or late."""
    if report["state"] in ("open", "over"):
        return bool(report["state"] == "open")
    return bool(report["settings"]["late"] and report["stage"] == 1 and report["format"] != "knockout")


def routes(site: Site, renderer: Renderer) -> list[Route]:
    """Return the routes of these views."""
    view = _Tournaments(site, renderer)
    return [
        Route("/tournaments", view.list),
        Route("/tournament/{name:path}", view.page),
        Route("/board/tournament", view.projected),
    ]


class _Tournaments:
    """The answers for tournaments."""

    def __init__(self, site: Site, renderer: Renderer) -> None:
        self._site = site
        self._renderer = renderer
        self._reports: dict[str, tuple[float, Report]] = {}
        """The latest report on each tournament, by its key, and when it was made."""
        self._games: dict[GameId, GameRecord] = {}
        """Stored games that were shown lately. They never change."""

    async def list(self, request: Request) -> Response:
        """Answer with the list of all tournaments."""
        given = parameters(request.scope["query_string"], ())

        def rendered() -> Response:
            found = tournament_list(self._site.reading, given)
            return self._renderer.page(
                request, "tournaments.html", tab="tournaments", found=found, titles=stage_titles
            )

        return await self._site.do(rendered)

    async def page(self, request: Request) -> Response:
        given = parameters(request.scope["query_string"], ("name", "view", "stage", "round"))
        try:
            name = name_of(request.path_params["name"]) or given.get("name", "")
        except BadRequestError as error:  # names are always UTF-8
            raise HTTPException(404, "there is no such tournament") from error
        report = await self._report(name)
        games = await self._live(report)

        def rendered() -> Response:
            context = self._context(report, games, given)
            return self._renderer.page(request, "tournament.html", tab="tournaments", **context)

        return await self._site.do(rendered)  # a long page takes time

    async def projected(self, request: Request) -> Response:
        """Answer with the standings and the pairs for the projector, which a script inserts."""
        report = await self._report(parameters(request.scope["query_string"], ("name",)).get("name", ""))
        games = await self._live(report)

        def rendered() -> Response:
            context = self._projected(report, games)
            return self._renderer.page(request, "tournament_projected.html", **context)

        return await self._site.do(rendered)

    async def _report(self, name: str) -> Report:
        """Return the report on a tournament, at most `FRESH` seconds old. Many viewers ask for it.

        Raises NoTournamentError.
        """
        made, report = self._reports.get(name.casefold(), (-math.inf, {}))
        if trio.current_time() >= made + FRESH:
            report = await self._site.do(lambda: tournament_report(self._site.reading, name))
            self._reports[name.casefold()] = trio.current_time(), report
        return report

    async def _live(self, report: Report) -> Sequence[Json]:
        """Return the games that are shown live at the table of the tournament; none if they are not known."""
        if report["state"] not in ("running", "paused"):
            return ()
        try:
            state = await self._site.live.state(Wanted(table=report["name"], most=LIVE))
        except UnavailableError:
            return ()
        games: Sequence[Json] = state["games"]
        return games

    def _stored(self, pairings: Iterable[Mapping[str, Any]]) -> Stored:
        """Return the stored games of these pairings."""
        wanted = [game["game"] for each in pairings for game in each["games"]]
        missing = [each for each in wanted if each not in self._games]
        found = {each: self._games[each] for each in wanted if each in self._games}
        for start in range(0, len(missing), AT_ONCE):
            with self._site.reading() as connection:
                rows = stored_games.rows_of(connection, missing[start : start + AT_ONCE])
            found |= {row.game: GameRecord.of_row(row) for row in rows}
        self._games = dict(islice((found | self._games).items(), REMEMBERED))
        return found

    def _players(self, report: Report) -> dict[str, Standing]:
        with self._site.reading() as connection:
            return players_named(connection, [each["name"] for each in report["standings"]])

    def _context(self, report: Report, games: Sequence[Json], given: Given) -> dict[str, Any]:
        """Return the template's values. `games` are the live games at the table."""
        shown = Shown.of(report, given)
        stage, form, settings = shown.stage, shown.form, report["settings"]
        on, players = live_pairings(report["pairings"], games), self._players(report)
        is_knockout = stage["format"] == "knockout"
        shows_pairs = form == "standings" and not is_knockout and not stage["groups"] and stage["round"] > 0
        shows_round = shows_pairs or (form == "pairs" and stage["round"] > 0)
        pairings = [each for each in shown.pairings if each["round"] == shown.round] if shows_round else []
        is_ladder = stage["format"] == "ladder"
        if is_ladder:  # which has no rounds, and no end
            pairings = pairings[::-1][:LATEST]
        if is_knockout:
            pairings = joined(pairings, settings["games"])
        across = form == "crosstable"
        stored = self._stored(shown.across(ACROSS) if across else pairings)
        pairs = [pair(each, on.get(each["number"]), stored) for each in pairings]
        drawn, beside = None, None
        if form == "bracket" and stage["bracket"]:
            drawn = bracket(stage, shown.pairings, on, settings)
            numbers = {each["number"]: each for each in shown.pairings}
            if drawn.live is not None and drawn.live.number is not None:
                beside = pair(numbers[drawn.live.number], drawn.live.live, {})
        current = report["stages"][report["stage"] - 1]
        return {
            **_heading(report, shown),
            "is_boxed": report["state"] != "running"
            or (current["format"] in ("swiss", "knockout") and not current["groups"])
            or _due(report)["due"] is not None,
            "tables": stage["groups"] or [{"name": None, "standings": stage["standings"]}],
            "goes_on": _going_on(report, stage),
            "ties": _ties(report),
            "explained": [(*TIE_BREAK_NAMES[tie][1:], TIE_BREAKS[tie]) for tie in settings["tie_breaks"]],
            "kinds_of": _kinds(report, players, games),
            "ratings": {name: each.rating for name, each in players.items()},
            "scale": charts.rating_scale(each.rating for each in players.values()),
            "rating_width": RATING,
            "rounds": shown.tabs(on) if shows_round or drawn else [],
            "rounds_shown": shows_round and not is_ladder,
            "shows_pairs": shows_pairs,
            "round": shown.round,
            "round_title": round_title(stage, shown.round),
            "title_of": round_title,
            "pairs": pairs,
            "boards_on": sum(each.is_on for each in pairs),
            "byes": _byes(report, stage, shown.round),
            "bracket": drawn,
            "bracket_pair": beside,
            "across": ACROSS,
            "listed": LISTED,
            "cross_ties": _one_tie(report, "sonneborn-berger"),
            "cells": cross_table(shown.pairings, on, stored) if across else {},
            "faults": FAULT_TEXTS,
            "at_fault": sorted(
                (each for each in report["standings"] if any(each["faults"].values())),
                key=lambda each: -sum(each["faults"].values()),
            ),
            "faults_address": faults_address,
        }

    def _projected(self, report: Report, games: Sequence[Json]) -> dict[str, Any]:
        """Return the values for the projector's template."""
        stage = report["stages"][report["stage"] - 1]
        pairings = [each for each in report["pairings"] if each["stage"] == stage["number"]]
        on = live_pairings(report["pairings"], games)
        ranks = {each["name"]: place for place, each in enumerate(report["standings"], 1)}
        is_swiss, is_knockout = stage["format"] == "swiss", stage["format"] == "knockout"
        if is_knockout:
            shown = joined(pairings, report["settings"]["games"])
        else:
            chosen = current_round(report, stage)
            shown = [each for each in pairings if each["round"] == chosen]
            if stage["format"] == "ladder":
                shown = [each for each in shown[-LATEST:] if each["number"] not in on]
            if not is_swiss:
                listed = {each["number"] for each in shown}
                shown += [each for each in pairings if each["number"] in on and each["number"] not in listed]
        shown.sort(
            key=lambda each: (
                each["number"] not in on,
                -each["round"] if is_knockout else 0,
                sorted(ranks.get(name, 0) for name in each["players"]),
            )
        )
        stored = self._stored(shown[:PROJECTED])
        pairs = [with_sides(pair(each, on.get(each["number"]), stored)) for each in shown[:PROJECTED]]
        before = ranks_before(stage, report) if is_swiss else {}
        ties = _one_tie(report, "buchholz") if is_swiss else _ties(report)
        return {
            "t": report,
            "stage": stage,
            "note": _note(report, stage, pairings),
            "tables": stage["groups"] or [{"name": None, "standings": stage["standings"]}],
            "goes_on": _going_on(report, stage),
            "rounds": _latest_rounds(report, stage, pairings, on),
            "tie": next(iter(ties), None),
            "pairs": pairs,
            "outcomes": [outcomes(each, stored) for each in pairs],
            "kinds_of": _kinds(report, self._players(report), games),
            "changes": {
                each["name"]: before[each["name"]] - each["rank"]
                for each in stage["standings"]
                if each["name"] in before
            },
            "boards_on": len(on),
            "next_words": _next_words(report, stage),
            "may_enter": _may_enter(report),
            "entrants": entrants(report) if report["begun"] is None else (),
            **_due(report),
        }


def _going_on(report: Report, stage: Mapping[str, Any]) -> int:
    """Return how many of each table of a stage go on to the next one; 0 if all do, or none follows."""
    most: int = report["settings"]["advance"]
    return most if stage["number"] < len(report["stages"]) else 0


def _latest_rounds(
    report: Report, stage: Mapping[str, Any], pairings: Sequence[Mapping[str, Any]], on: Mapping[int, Json]
) -> list[tuple[Round, list[Match]]]:
    """Return the rounds of a knockout and their matches for the projector, the latest round first.

    There are at most `MATCHES`; of the first of these rounds those that are over come last.
    """
    if not stage["bracket"]:
        return []
    found, room = list[tuple[Round, list[Match]]](), MATCHES
    for each in reversed(bracket(stage, pairings, on, report["settings"]).rounds):
        matches = [match for match in each.matches if match.state != "coming"]
        if not matches or (found and len(matches) > room):
            continue
        matches.sort(key=lambda match: match.state == "over")
        found.append((each, matches[:MATCHES]))
        room -= len(matches)
    return found


def _due(report: Report) -> dict[str, Any]:
    """Return when the tournament or its next round begins, and whether this is no estimate.

    The time is in milliseconds of Unix time; None if it is not known.
    """
    start, coming = report["settings"]["start"], report["next"]
    if report["state"] == "open":
        return {"due": None if start is None else round(1000 * start), "is_exact": True}
    if coming is None or report["state"] != "running":
        return {"due": None, "is_exact": False}
    if report["stages"][coming["stage"] - 1]["format"] == "knockout" and coming["stage"] == report["stage"]:
        return {"due": None, "is_exact": False}  # each of its pairs begins for itself
    is_exact = coming["at"] is not None
    return {"due": coming["at" if is_exact else "about"], "is_exact": is_exact}


def _note(report: Report, stage: Mapping[str, Any], pairings: Sequence[Mapping[str, Any]]) -> str:
    """Return how far a tournament is, for the projector."""
    if report["state"] == "over":
        return plain(progress(report))
    if report["state"] == "open":
        missing = f", {len(report['missing'])} not yet" if report["missing"] else ""
        return f"{report['players']} entered{missing}"
    if report["state"] not in ("running", "paused") or not stage["round"]:
        state: str = report["state"]
        return state
    note = _counted(stage, pairings, report) or round_title(stage, current_round(report, stage))
    if stage["format"] == "swiss":
        note = f"{note.lower()} of {stage['rounds']}"
    return f"{note}, paused" if report["state"] == "paused" else note


def _next_words(report: Report, stage: Mapping[str, Any]) -> str:
    """Return what begins next, for the projector."""
    coming = report["next"]
    if report["state"] == "open":
        return "it begins"
    if coming is None:
        return ""
    if coming["stage"] != stage["number"]:
        return stage_title(report, coming["stage"]).lower()
    return round_title(stage, coming["round"], single=True).lower()


def _kinds(report: Report, players: Mapping[str, Standing], games: Iterable[Json]) -> dict[str, str]:
    """Return the kind of each player, as far as it is known."""
    kinds = {name: each.kind for name, each in players.items()}
    for game in games:
        kinds |= {each["name"]: each["kind"] for each in game["players"]}
    return kinds | {each["name"]: "house" for each in report["standings"] if each["house"]}


def _counted(stage: Mapping[str, Any], pairings: Sequence[Mapping[str, Any]], report: Report) -> str:
    """Return how many games of a stage are played; empty if not all of its pairs are known."""
    if stage["format"] not in ("round-robin", "gauntlet") or not pairings:
        return ""
    played = sum(done(each) for each in pairings)
    return f"{played} of {len(pairings) * report['settings']['games']} games played"


def _byes(report: Report, stage: Mapping[str, Any], chosen: int) -> list[tuple[str, int]]:
    """Return who is free in a round, and for which time."""
    own = [each for each in report["byes"] if each["stage"] == stage["number"] and each["round"] <= chosen]
    return [
        (each["player"], sum(other["player"] == each["player"] for other in own))
        for each in own
        if each["round"] == chosen
    ]


def _ties(report: Report) -> list[tuple[str, str, str]]:
    """Return the tie-breaks in their order: the title of the column, the name in a sentence, the key.

    Faults are left out, because they have a column in any case.
    """
    return [(*TIE_BREAK_NAMES[tie][:2], tie) for tie in report["settings"]["tie_breaks"] if tie != "faults"]


def _one_tie(report: Report, wanted: str) -> list[tuple[str, str, str]]:
    """Return one tie-break as `_ties` does, if possible the wanted one, for a table with no more room."""
    return sorted(_ties(report), key=lambda each: each[2] != wanted)[:1]
