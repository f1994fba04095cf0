"""The latest results, each as a sentence, with what was remarkable about it.

Knows stored games and standings. Functions that read the database block.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection

from adapters.web.page.sentences import Part, Text, ordinal, result_of
from gateway.game.events import Reason
from gateway.game.ids import GameId
from gateway.game.results import WITHOUT_RESULT
from gateway.store import games, statistics
from gateway.store.games import Filter, Page
from gateway.store.records import FAULTS, WORDS, GameRecord, from_moment

UPSET = 8
"""The least number of ranks between the players of an upset."""


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a game."""

    game: GameId
    moves: str
    ended: int
    """When the game ended, in milliseconds of Unix time."""
    sentence: Text
    """Who beat whom."""
    badge: str
    """``upset``, ``blunder``, the fault that ended the game (``illegal``, ``time``, ``left``), or empty."""
    detail: Text
    """How."""


def latest(connection: Connection, limit: int) -> list[Result]:
    """Return up to `limit` of the latest results, the newest first. Games without a result are left out."""
    recent = games.page(connection, Filter(), Page(limit=3 * limit))
    found = [record for record in recent if record.reason not in WITHOUT_RESULT][:limit]
    places = statistics.places(connection, [each.name for record in found for each in record.players])
    ranks = {name: rank for name, (rank, _) in places.items()}
    shortest = games.shortest(connection, from_moment("today"))
    return [_result(record, ranks, is_shortest=record.game == shortest) for record in found]


def _result(record: GameRecord, ranks: Mapping[str, int], *, is_shortest: bool) -> Result:
    """Return the result of a game; `ranks` are those of the players that have one."""
    badge = WORDS[record.reason] if record.reason in FAULTS else ""
    detail = _ending(record)
    if is_shortest:
        detail = (*detail, ", the shortest today")
    if record.winner is not None:
        winner = ranks.get(record.players[record.winner].name)
        loser = ranks.get(record.players[1 - record.winner].name)
        if winner is not None and loser is not None and winner - loser >= UPSET:
            badge = badge or "upset"
            detail = (f"{ordinal(winner)} beat {ordinal(loser)}; ", *detail)
    return Result(record.game, record.moves, record.ended, result_of(record), badge, detail)


def _ending(record: GameRecord) -> Text:
    """Return how a game ended, in a few words."""
    number = len(record.moves)
    loser = Part("name", record.players[1 - (record.winner or 0)].name)
    match record.reason:
        case Reason.FULL:
            return ("the board is full",)
        case Reason.ILLEGAL:
            return (f"move {number + 1} of ", loser, " was illegal")
        case Reason.TIME:
            return (loser, f" ran out of time at move {number + 1}")
        case Reason.LEFT:
            return (loser, f" left after {number} moves")
        case _:
            return (f"four at move {number}",)
