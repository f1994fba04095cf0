"""Makes the plain values that each path returns as JSON, from its parameters and the database.

Knows the store; does not know HTTP, threads, or how JSON is written. A function returns None for something
that does not exist. Functions that read the database block.
"""

import json
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import islice
from typing import Any, TypeAlias
from urllib.parse import quote, urlencode

from adapters.web.query import (
    LEAST,
    USUAL,
    BadRequestError,
    Given,
    limit,
    moment,
    one_of,
    part,
    wanted,
    whole,
)
from adapters.web.search import Found
from gateway.game.results import FAULT_WORDS
from gateway.store import games as stored
from gateway.store import presentation, statistics, tournament_files, tournaments
from gateway.store.database import Reading
from gateway.store.formats import FORMATS, jsonl, sheet
from gateway.store.games import NoGameError
from gateway.store.records import GameRecord
from gateway.store.statistics import ORDERS, Choice
from gateway.tournament.grades import grades
from gateway.tournament.report import described, summary
from gateway.tournament.tournament import Tournament

Json: TypeAlias = dict[str, Any] | list[Any]
Answer: TypeAlias = Callable[[Reading, Given], Json]

_TYPES = {"csv": "text/csv", "jsonl": "application/x-ndjson", "pgn": "application/vnd.chess-pgn"}
EXPORT_TYPES = {form: _TYPES.get(form, "text/plain") for form in FORMATS}
"""The formats in which games are exported, and their media types."""
TOURNAMENT_FORMATS = ("pgn", "jsonl")
"""Those in which the games of one tournament are exported."""
_COUNTS = ("kicked", "more")
"""Fields whose counts are added up over all nodes."""
_LINES = 100
"""Games in one piece of an export: 40 KB."""


def games(reading: Reading, given: Given) -> Json:
    """Return a page of games, and the address of the next page."""
    page, filtered = part(given), wanted(given)
    try:
        with reading() as connection:
            found = stored.page(connection, filtered, replace(page, limit=page.limit + 1))
    except NoGameError as error:
        raise BadRequestError(str(error)) from error
    shown = found[: page.limit]
    follow = None
    if len(found) > len(shown):
        towards = {"before" if page.newest_first else "after": shown[-1].game}
        follow = f"/api/games?{urlencode({**given, **towards})}"
    return {"games": [jsonl.as_object(game) for game in shown], "next": follow}


def game(reading: Reading, name: str) -> Json | None:
    """Return one game, with the stored evidence of both sides; None if there is no such game."""
    try:
        with reading() as connection:
            found, both = stored.one(connection, name), stored.evidence_of(connection, name)
    except NoGameError:
        return None
    return {**jsonl.as_object(found), "evidence": [presentation.of_exchange(exchange) for exchange in both]}


def players(reading: Reading, given: Given) -> Json:
    """Return a page of players by name, and the address of the next page."""
    most = limit(given, USUAL)
    with reading() as connection:
        found = statistics.players_by_name(connection, given.get("after"), most + 1)
    follow = None
    if len(found) > most:
        follow = f"/api/players?{urlencode({**given, 'after': found[most - 1].name})}"
    return {"players": [presentation.of_standing(player) for player in found[:most]], "next": follow}


def player(reading: Reading, name: str) -> Json | None:
    """Return a player's profile; None if there is no such player."""
    with reading() as connection:
        profile = statistics.profile(connection, name)
    return None if profile is None else presentation.of_profile(profile)


def found(result: Found) -> Json:
    """Return what a search found."""
    players = [asdict(each) for each in result.players]
    return {"game": result.game, "players": players, "similar": [*result.similar]}


def ratings(reading: Reading, names: Collection[str]) -> dict[str, dict[str, float]]:
    """Return the rank and the rating of each of these players that has one, as in the live stream."""
    with reading() as connection:
        found = statistics.places(connection, names)
    return {
        name: {"rank": rank, "sure": round(rating.sure, 2), "mean": round(rating.mean, 2)}
        for name, (rank, rating) in found.items()
    }


def standings(reading: Reading, given: Given) -> Json:
    """Return the standings of the games that the parameters select, by default of all games."""
    choice, most = Choice(moment(given, "since"), given.get("table")), limit(given, USUAL)
    least, order = whole(given, "least", 1, LEAST), one_of(given, "sort", ORDERS, "rating")
    with reading() as connection:
        found, firsts = statistics.standings(connection, choice, least=least, order=order, limit=most)
    return presentation.of_standings(found, firsts)


def tournament_list(reading: Reading, given: Given) -> Json:
    """Return the tournaments, the newest first, without those that this version cannot read."""
    with reading() as connection:
        found = tournaments.without_games(connection)
    listed = list[dict[str, Any]]()
    for news in reversed(found):
        try:
            about = summary(Tournament.of(news))
        except ValueError:
            continue
        listed.append({**about, "url": f"/api/tournaments/{quote(about['name'], safe='')}"})
    return {"tournaments": listed}


def tournament_named(reading: Reading, name: str) -> Tournament:
    """Return the tournament with this name, in upper or lower case. Raises NoTournamentError."""
    with reading() as connection:
        return tournaments.named(connection, name)


def tournament(reading: Reading, name: str) -> dict[str, Any]:
    """Return the report on a tournament. Raises NoTournamentError."""
    return described(tournament_named(reading, name), time.time())


def director_view(report: Mapping[str, Any], found: Mapping[str, str]) -> Json:
    """Return what the director's view of a tournament shows: the report, and its players and games.

    `found` are the outcomes of the act `DIRECTOR` on all nodes. The node that pairs knows who is here; only
    the node on which a game is played knows whether its players are away or silent.
    """
    nodes = [part for text in found.values() if "error" not in (part := json.loads(text))]
    nodes.sort(key=lambda part: not part["is_pairing"])
    players = {each["name"]: each for each in nodes[0]["players"]}
    for part in nodes[1:]:
        players |= {each["name"]: each for each in part["players"] if each["game"] is not None}
    kinds = {each["name"]: each["kind"] for part in nodes for each in part["players"] if each["kind"]}
    return {
        "report": report,
        "players": [
            {**players[each["name"]], "kind": kinds.get(each["name"])} for each in nodes[0]["players"]
        ],
        "needs": [need for part in nodes for need in part["needs"] if need["game"] or part is nodes[0]],
        "house": nodes[0]["house"],
        "testers": nodes[0]["testers"],
    }


def standings_rows(report: Mapping[str, Any]) -> Iterator[Sequence[object]]:
    """Yield the names of the columns and the rows of a tournament's standings, for `sheet.lines`.

    `report` is a value of `described`.
    """
    ties = report["settings"]["tie_breaks"]
    yield (
        *("rank", "player", "house", "points", *(f"tie_break_{name}" for name in ties)),
        *("games", "won", "drawn", "lost", *FAULT_WORDS, "withdrawn"),
    )
    for each in report["standings"]:
        yield (
            *(each["rank"], sheet.text(each["name"]), int(each["house"]), each["points"]),
            *(each["tie_breaks"][name] for name in ties),
            *(each["games"], each["won"], each["drawn"], each["lost"], *each["faults"].values()),
            "no" if each["withdrawn"] is None else sheet.text(each["withdrawn"]),
        )


def tournament_grades(reading: Reading, name: str, given: Given) -> str:
    """Return the grades of a tournament as CSV. Raises NoTournamentError and BadRequestError."""
    found = tournament_named(reading, name)
    try:
        made = grades(described(found, time.time()), found.settings, given.get("reference"))
    except ValueError as error:
        raise BadRequestError(str(error)) from error
    return "".join(tournament_files.grades_sheet(made))


def tournament_games(reading: Reading, name: str, form: str, given: Given) -> Iterator[str]:
    """Yield a tournament's games by round, in a format of `TOURNAMENT_FORMATS`, `_LINES` of them at a time.

    The parameters ``round`` and ``stage`` choose games. Raises NoTournamentError and BadRequestError.
    """
    report = described(tournament_named(reading, name), time.time())
    stage = whole(given, "stage", 1, 2) if "stage" in given else None
    latest = tournament_files.rounds(report, stage)
    round = whole(given, "round", 1, latest) if "round" in given else None
    found = tournament_files.placed(reading, report, round, stage)
    yield from _together(tournament_files.FORMATS[form](report, found))


def export(form: str, found: Iterable[GameRecord]) -> Iterator[str]:
    """Yield the games in a format of `EXPORT_TYPES`, `_LINES` of them at a time."""
    yield from _together(FORMATS[form](found))


def _together(lines: Iterator[str]) -> Iterator[str]:
    """Yield the texts of games, `_LINES` of them at a time."""
    while piece := "".join(islice(lines, _LINES)):
        yield piece


def of_nodes(found: Mapping[str, str]) -> Json:
    """Combine the outcomes of an act on all nodes: join the lists and add up the counts.

    ``not_done`` maps each node that did not carry out the act to the reason.
    """
    answer: dict[str, Any] = {"not_done": {}}
    for node, text in found.items():
        part = json.loads(text)
        if "error" in part:
            answer["not_done"][node] = part["error"]
            continue
        for name, value in part.items():
            before = answer.get(name)
            if isinstance(value, bool):
                answer[name] = value or bool(before)
            elif isinstance(value, list) or name in _COUNTS:
                answer[name] = value if before is None else before + value
            else:
                answer.setdefault(name, value)
    return answer
