"""The JSON of each path: a reader of the store and parameters in, plain values out.

Knows the store; does not know HTTP, threads, or how JSON is written. None means that there is no such thing.
Every function blocks while the database works.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any, TypeAlias
from urllib.parse import urlencode

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
from gateway.store import presentation
from gateway.store.comparing import ORDERS, Choice
from gateway.store.formats import jsonl
from gateway.store.games import NoGameError
from gateway.store.reader import Reader

Json: TypeAlias = dict[str, Any] | list[Any]
Answer: TypeAlias = Callable[[Reader, Given], Json]

_COUNTS = ("kicked", "more")
"""What is counted on each node."""
_LINES = 100
"""Games in one piece of an export: 40 KB."""


def games(reader: Reader, given: Given) -> Json:
    """Return a page of games, and where the next one is."""
    page = part(given)
    try:
        found = reader.page(wanted(given), replace(page, limit=page.limit + 1))
    except NoGameError as error:
        raise BadRequestError(str(error)) from error
    shown = found[: page.limit]
    follow = None
    if len(found) > len(shown):
        towards = {"before" if page.newest_first else "after": shown[-1].game}
        follow = f"/api/games?{urlencode({**given, **towards})}"
    return {"games": [jsonl.as_object(game) for game in shown], "next": follow}


def game(reader: Reader, name: str) -> Json | None:
    """Return one game, with what is kept of the exchange on either side."""
    try:
        found, both = reader.game(name)
    except NoGameError:
        return None
    return {**jsonl.as_object(found), "evidence": [presentation.of_exchange(exchange) for exchange in both]}


def players(reader: Reader, given: Given) -> Json:
    """Return a page of players by name, and where the next one is."""
    most = limit(given, USUAL)
    found = reader.players(given.get("after"), most + 1)
    follow = None
    if len(found) > most:
        follow = f"/api/players?{urlencode({**given, 'after': found[most - 1].name})}"
    return {"players": [presentation.of_standing(player) for player in found[:most]], "next": follow}


def player(reader: Reader, name: str) -> Json | None:
    """Return all of one player."""
    profile = reader.profile(name)
    return None if profile is None else presentation.of_profile(profile)


def standings(reader: Reader, given: Given) -> Json:
    """Return the standings of all games or of some."""
    choice = Choice(moment(given, "since"), given.get("table"))
    least, order = whole(given, "least", 1, LEAST), one_of(given, "sort", ORDERS, "rating")
    return presentation.of_standings(*reader.standings(limit(given, USUAL), choice, least=least, order=order))


def export(reader: Reader, given: Given) -> Iterator[str]:
    """Yield the lines of the wanted games, the oldest first, many lines in a piece.

    Raises BadRequestError with the first piece.
    """
    lines = jsonl.write(reader.every(wanted(given)))
    while piece := "".join(islice(lines, _LINES)):
        yield piece


def of_nodes(found: Mapping[str, str]) -> Json:
    """Return what came of an act, by what came of it on each node: lists and counts added up.

    What some nodes have not done stands in ``not_done``, with the reason of each.
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
