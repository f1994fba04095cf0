"""What is reported of a tournament: its state, standings, pairings and bracket, as values for JSON.

Pure. Players appear with their names; pairings and games are numbered from 1.
"""

import math
from collections import Counter
from typing import Any

from gateway.game.results import FAULT_WORDS
from gateway.tournament.formats import bracket_of
from gateway.tournament.standings import Row
from gateway.tournament.tournament import PairingState, Tournament

SHOWN = (
    "games", "players", "start", "cycles", "extra", "house", "expected", "late", "boards", "walkover",
    "faults", "rated", "tie_breaks",
)  # fmt: skip
"""The settings that are reported."""


def summary(tournament: Tournament) -> dict[str, Any]:
    """Return the name, format and state of a tournament, and its number of players.

    The log suffices for these values; the tournament's games may be missing.
    """
    return {
        "name": tournament.settings.name,
        "format": tournament.settings.format,
        "state": tournament.state,
        "begun": tournament.begun_at,
        "players": len(tournament.entrants),
    }


def described(tournament: Tournament) -> dict[str, Any]:
    """Return the whole report on a tournament. The description of the API explains the fields."""
    pairings, settings = tournament.pairings, tournament.settings
    results = _results(tournament)
    return {
        **summary(tournament),
        "round": max((each.pairing.round for each in pairings), default=0),
        "rounds": _rounds(tournament),
        "ended_early": tournament.ended is not None and tournament.ended.by_organiser,
        "settings": {name: getattr(settings, name) for name in SHOWN},
        "standings": [_standing(tournament, row, results) for row in tournament.standings()],
        "pairings": [
            _pairing(tournament, number, each)
            for number, each in enumerate(pairings)
            if each.pairing.second is not None
        ],
        "byes": [
            {"round": each.pairing.round, "player": tournament.entrants[each.pairing.first].name}
            for each in pairings
            if each.pairing.second is None
        ],
        "bracket": _bracket(tournament),
    }


def _rounds(tournament: Tournament) -> int | None:
    """Return the number of rounds to be played; None if it is not known."""
    match tournament.settings.format:
        case "swiss":
            return tournament.rounds
        case "knockout" if tournament.begun_at is not None:
            return math.ceil(math.log2(max(2, len(tournament.entrants))))
    return None


def _results(tournament: Tournament) -> Counter[tuple[int, str]]:
    """Return how many games each player has won, drawn and lost, without forfeited games."""
    counts = Counter[tuple[int, str]]()
    for state in tournament.pairings:
        for game in state.games.values():
            # The first player of the pairing moves first in its games 0, 2, 4 and so on.
            for place in (1, 2):
                player = state.pairing[(place - 1 + game.number) % 2]
                assert player is not None
                counts[player, "drawn" if not game.result else "won" if game.result == place else "lost"] += 1
    return counts


def _standing(tournament: Tournament, row: Row, results: Counter[tuple[int, str]]) -> dict[str, Any]:
    player = tournament.entrants[row.player]
    games = {result: results[row.player, result] for result in ("won", "drawn", "lost")}
    return {
        "rank": row.rank,
        "name": player.name,
        "house": player.house,
        "points": row.points,
        "tie_breaks": {**row.tie_breaks},
        "games": sum(games.values()),
        **games,
        "faults": {fault: player.faults.get(fault, 0) for fault in FAULT_WORDS},
        "withdrawn": None if player.withdrawn is None else player.withdrawn.why,
        "may_return": player.withdrawn is not None and player.withdrawn.may_return,
    }


def _pairing(tournament: Tournament, number: int, state: PairingState) -> dict[str, Any]:
    first, second, round = state.pairing
    assert second is not None
    names = [tournament.entrants[first].name, tournament.entrants[second].name]
    absent = {player for each in state.forfeited.values() for player in each.absent}
    return {
        "number": number + 1,
        "round": round,
        "players": names,
        "points": [*tournament.schedule.points(number)],
        "state": "over" if tournament.schedule.is_over(number) else "waiting",
        "forfeited": len(state.forfeited),
        "absent": [tournament.entrants[player].name for player in sorted(absent)],
        "games": [
            {
                "number": game.number + 1,
                "game": game.game,
                "first": names[game.number % 2],
                "winner": game.result,
                "reason": game.reason,
                "fault": game.fault,
            }
            for _, game in sorted(state.games.items())
        ],
        "without_result": [game.game for game in state.broken],
    }


def _bracket(tournament: Tournament) -> list[list[dict[str, Any]]] | None:
    """Return the rounds of a knockout that has begun, with their matches; None for any other tournament."""
    settings = tournament.settings
    if settings.format != "knockout" or tournament.begun_at is None:
        return None

    def named(player: int | None) -> str | None:
        return None if player is None else tournament.entrants[player].name

    rounds = bracket_of(tournament.field, tournament.meetings(), settings.extra)
    return [
        [{"players": [named(slot.first), named(slot.second)], "winner": named(slot.winner)} for slot in slots]
        for slots in rounds
    ]
