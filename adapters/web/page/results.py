"""The latest results, each as a sentence, with what was remarkable about it; and the best game of today.

Knows stored games and standings. Functions that read the database block.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from adapters.web.page.sentences import Part, Text, counted, ordinal, result_of, turning
from gateway.game.evaluation import Turned
from gateway.game.events import Reason
from gateway.game.ids import GameId
from gateway.game.results import WITHOUT_RESULT
from gateway.store import analyses, games, statistics
from gateway.store.analyses import Analysis
from gateway.store.database import Connected
from gateway.store.games import Filter, Page
from gateway.store.records import FAULTS, WORDS, GameRecord, from_moment

UPSET = 8
"""The least number of ranks between the players of an upset."""


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a game."""

    game: GameId
    moves: str
    mistake: int | None
    """The number of the loser's last mistake; None if there is none, or it is not known."""
    ended: int
    """When the game ended, in milliseconds of Unix time."""
    sentence: Text
    """Who beat whom."""
    badge: str
    """``upset``, ``blunder``, the fault that ended the game (``illegal``, ``time``, ``left``), or empty."""
    detail: Text
    """How."""


def latest(connection: Connected, limit: int) -> list[Result]:
    """Return up to `limit` of the latest results, the newest first. Games without a result are left out."""
    recent = games.page(connection, Filter(), Page(limit=3 * limit))
    found = [record for record in recent if record.reason not in WITHOUT_RESULT][:limit]
    places = statistics.places(connection, [each.name for record in found for each in record.players])
    ranks = {name: rank for name, (rank, _) in places.items()}
    shortest = games.shortest(connection, from_moment("today"))
    known = analyses.of(connection, [record.game for record in found])
    results = []
    for record in found:
        analysis = known.get(record.game)
        mistake = None if analysis is None or analysis.mistake is None else analysis.mistake.move
        badge, detail = _remarkable(record, ranks, analysis)
        if record.game == shortest:
            detail = (*detail, ", the shortest today")
        results.append(
            Result(record.game, record.moves, mistake, record.ended, result_of(record), badge, detail)
        )
    return results


@dataclass(frozen=True, slots=True)
class Best:
    """The best game of a day."""

    record: GameRecord
    sentence: Text
    """Who beat whom, and at which move."""
    detail: Text
    """How often it turned, and where it was lost."""
    turns: Sequence[tuple[int, Text]]
    """The moves that turned the game: the number of each, and a sentence on it."""
    analysis: Analysis | None
    """None if the game has not been analysed."""


def best_of_today(connection: Connected) -> Best | None:
    """Return the game of today that turned most often, and of these the longest; None without a game."""
    game = games.best(connection, from_moment("today"))
    if game is None:
        return None
    record, analysis = games.one(connection, game), analyses.of(connection, [game]).get(game)
    places = statistics.places(connection, [player.name for player in record.players])
    sentence = (*result_of(record), f" at move {len(record.moves)}")
    turned = () if analysis is None else analysis.turned
    words = [_order(record, {name: rank for name, (rank, _) in places.items()})]
    if turned:
        words.append(f"the game turned {counted(len(turned), 'time')}")
    last = turned[-1].move if turned else 0
    mistake = f" Move {last}, column {record.moves[last - 1]}, was the last mistake." if last else ""
    detail = ", and ".join(filter(None, words))
    detail = f"{detail[:1].upper()}{detail[1:]}.{mistake}" if detail else ""
    return Best(record, sentence, (detail,), _turns(record, turned), analysis)


def _order(record: GameRecord, ranks: Mapping[str, int]) -> str:
    """Return the ranks of both players as ``2nd beat 1st``; empty if one has none."""
    first, second = (ranks.get(player.name) for player in record.players)
    if first is None or second is None:
        return ""
    if record.winner is None:
        return f"{ordinal(first)} drew with {ordinal(second)}"
    winner, loser = (first, second) if record.winner == 0 else (second, first)
    return f"{ordinal(winner)} beat {ordinal(loser)}"


def _turns(record: GameRecord, turned: Sequence[Turned]) -> list[tuple[int, Text]]:
    """Return the number of each move that turned the game, and a sentence on it."""
    found = list[tuple[int, Text]]()
    before: Turned | None = None
    for each in turned:
        own, other = record.players[each.side].name, record.players[1 - each.side].name
        words = turning(each.was, each.became, other)
        if each.became == "lose" and before is not None and before.became == "lose":
            words = ("gave it back to ", Part("name", other))
        found.append((each.move, (Part("name", own), " ", *words)))
        before = each
    return found


def _remarkable(record: GameRecord, ranks: Mapping[str, int], analysis: Analysis | None) -> tuple[str, Text]:
    """Return the badge and the detail of a result; `ranks` are those of the players that have one."""
    if record.winner is None:
        return "", _ending(record)
    winner, loser = record.players[record.winner], record.players[1 - record.winner]
    fault = WORDS[record.reason] if record.reason in FAULTS else ""
    if ranks.get(winner.name, 0) - ranks.get(loser.name, math.inf) >= UPSET:
        return fault or "upset", (f"{_order(record, ranks)}; ", *_ending(record))
    if not fault and analysis is not None and analysis.mistake is not None:
        last = analysis.mistake
        return "blunder", (f"move {last.move} ", *turning(last.was, last.became, winner.name))
    return fault, _ending(record)


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
            return (loser, f" left after {counted(number, 'move')}")
        case _:
            return (f"four at move {number}",)
