"""Makes the plain values that each path returns as JSON, from its parameters and the database.

Knows the store; does not know HTTP, threads, or how JSON is written. A function returns None for something
that does not exist. Functions that read the database block.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
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
from gateway.game.results import FAULT_WORDS
from gateway.store import games as stored
from gateway.store import presentation, statistics, tournaments
from gateway.store.database import Reading
from gateway.store.formats import jsonl, sheet
from gateway.store.games import NoGameError
from gateway.store.records import GameRecord
from gateway.store.statistics import ORDERS, Choice
from gateway.tournament.report import described, summary
from gateway.tournament.tournament import Tournament

Json: TypeAlias = dict[str, Any] | list[Any]
Answer: TypeAlias = Callable[[Reading, Given], Json]

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


def tournament(reading: Reading, name: str) -> Json:
    """Return the report on a tournament. Raises NoTournamentError."""
    return described(tournament_named(reading, name))


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


def export(found: Iterable[GameRecord]) -> Iterator[str]:
    """Yield the games as lines of JSON, `_LINES` of them at a time."""
    lines = jsonl.write(found)
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
