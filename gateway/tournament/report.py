"""What is reported of a tournament: its state, standings, pairings and bracket, as values for JSON.

Pure. Players appear with their names; pairings, games and entries of the log are numbered from 1.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import count
from typing import Any

from gateway.game.commands import folded
from gateway.game.results import FAULT_WORDS
from gateway.tournament.acts import undoable
from gateway.tournament.log import (
    Awarded,
    Entered,
    Paired,
    StartRequested,
    Voided,
)
from gateway.tournament.pairings import PairingState
from gateway.tournament.standings import Row
from gateway.tournament.testing import PlayedTest
from gateway.tournament.tournament import Tournament

SHOWN = (
    "games", "players", "start", "cycles", "extra", "house", "expected", "late", "boards", "walkover",
    "faults", "rated", "tie_breaks", "groups", "then", "advance", "rest", "entry_test", "grace",
    "live_evaluation",
)  # fmt: skip
"""The settings that are reported."""
TESTS_SHOWN = 200
"""How many tests of players that have not entered are reported."""
FORM = 5
"""How many of the latest results of a player are reported."""


def summary(tournament: Tournament) -> dict[str, Any]:
    """Return the name, formats and state of a tournament, and its number of players.

    The log suffices for these values; the tournament's games may be missing.
    """
    return {
        "name": tournament.settings.name,
        "format": tournament.settings.format,
        "state": tournament.state,
        "begun": tournament.begun_at,
        "players": len(tournament.entrants),
        "then": tournament.settings.then,
        "groups": bool(tournament.settings.groups),
    }


def described(tournament: Tournament, now: float) -> dict[str, Any]:
    """Return the whole report on a tournament at `now`, in seconds of Unix time.

    The description of the API explains the fields.
    """
    settings = tournament.settings
    entered = {folded(each.name) for each in tournament.entrants}
    standing = _Standings(tournament)
    stages = [_stage(tournament, number, standing) for number in range(1 + bool(settings.then))]
    current = stages[len(tournament.stages) - 1]
    log = [_logged(tournament, number) for number in range(len(tournament.log))]
    undo = undoable(tournament, now)
    return {
        **summary(tournament),
        "stage": len(tournament.stages),
        "stages": stages,
        **{key: current[key] for key in ("round", "rounds", "bracket")},
        "ended_early": tournament.ended is not None and tournament.ended.by_director,
        "settings": {
            **{name: getattr(settings, name) for name in SHOWN},
            "break": settings.break_,
            "roster": {**settings.roster},
        },
        "announcement": tournament.announcement or None,
        "next": _next(tournament, current, now),
        "next_set": [
            [tournament.name_of(player) for player in pair if player is not None]
            for pair in tournament.next_set
        ],
        "standings": standing.rows(tournament.standings()),
        "pairings": [
            _pairing(tournament, number, each)
            for number, each in enumerate(tournament.pairings)
            if each.pairing.second is not None
        ],
        "byes": [
            {
                "stage": each.stage + 1,
                "round": each.pairing.round,
                "player": tournament.name_of(each.pairing.first),
            }
            for each in tournament.pairings
            if each.pairing.second is None
        ],
        "missing": [
            name
            for name in dict.fromkeys((*tournament.settings.roster, *tournament.settings.expected))
            if folded(name) not in entered
        ],
        "forbidden": sorted(sorted(map(tournament.name_of, pair)) for pair in tournament.forbidden),
        "tests": _tests(tournament),
        "log": [each for number, each in enumerate(log) if not _is_routine(tournament, number)],
        "undo": None if undo is None else log[undo],
    }


def _stage(tournament: Tournament, number: int, standing: "_Standings") -> dict[str, Any]:
    """Return the report on a stage, also before it has begun."""
    if number >= len(tournament.stages):
        return {
            "number": number + 1, "format": tournament.settings.then, "state": "to come", "round": 0,
            "rounds": None, "players": None, "groups": [], "standings": [], "bracket": None,
        }  # fmt: skip
    stage = tournament.stages[number]
    is_current = number == len(tournament.stages) - 1
    is_over = not is_current or tournament.ended is not None
    pairings = [each for each in tournament.pairings if each.stage == number]
    return {
        "number": number + 1,
        "format": stage.format,
        "state": "over" if is_over else "to come" if tournament.begun_at is None else "on",
        "round": max((each.pairing.round for each in pairings), default=0),
        "rounds": _rounds(tournament, number, pairings),
        "players": len(stage.players) if tournament.begun_at is not None else len(tournament.entrants),
        "groups": [
            {"name": tournament.group_name(group), "standings": standing.rows(rows, number)}
            for group, rows in enumerate(tournament.group_standings() if stage.groups else ())
            if rows
        ],
        "standings": standing.rows(tournament.stage_standings(number), number),
        "bracket": _bracket(tournament, number),
    }


def _rounds(tournament: Tournament, number: int, pairings: Sequence[PairingState]) -> int | None:
    """Return the number of rounds that a stage has; None if it is not known."""
    stage = tournament.stages[number]
    match stage.format:
        case "swiss":
            return tournament.rounds_of(number)
        case "knockout" if tournament.begun_at is not None:
            return math.ceil(math.log2(max(2, len(stage.players))))
        case "round-robin" | "gauntlet" if pairings:
            return max(each.pairing.round for each in pairings)
    return None


class _Standings:
    """Makes the rows of standings, which have the results of all games of a player."""

    def __init__(self, tournament: Tournament) -> None:
        self._tournament = tournament
        self._games = Counter[tuple[int, int, str]]()
        """How often each player has had each result in each stage."""
        self._form = defaultdict[tuple[int, int], list[str]](list)
        """The results of the pairings of each player in each stage, in the order in which they ended."""
        over = [
            (state.finished_at, number)
            for number, state in enumerate(tournament.pairings)
            if state.pairing.second is not None and tournament.schedule.is_over(number)
        ]
        for _, number in sorted(over):
            state, score = tournament.pairings[number], tournament.meeting(number).score
            for player, points in zip(state.players, score, strict=True):
                result = "won" if points == 1 else "drawn" if points else "lost"
                self._form[player, state.stage].append(result)
        for state in tournament.pairings:
            for game in state.games.values():
                # The first player of the pairing moves first in its games 0, 2, 4 and so on.
                for place in (1, 2):
                    player = state.players[(place - 1 + game.number) % 2]
                    result = "drawn" if not game.result else "won" if game.result == place else "lost"
                    self._games[player, state.stage, result] += 1

    def rows(self, rows: Sequence[Row], stage: int | None = None) -> list[dict[str, Any]]:
        """Return the rows of the standings of one stage, or of all."""
        return [self._row(row, stage) for row in rows]

    def _row(self, row: Row, stage: int | None) -> dict[str, Any]:
        player = self._tournament.entrants[row.player]
        stages = range(len(self._tournament.stages)) if stage is None else (stage,)
        games = {
            result: sum(self._games[row.player, number, result] for number in stages)
            for result in ("won", "drawn", "lost")
        }
        form = [result for number in stages for result in self._form[row.player, number]]
        return {
            "rank": row.rank,
            "name": player.name,
            "house": player.house,
            "group": self._tournament.group_of_name(player.name),
            "points": row.points,
            "tie_breaks": {**row.tie_breaks},
            "wins": form.count("won"),
            "form": form[-FORM:],
            "games": sum(games.values()),
            **games,
            "faults": {fault: player.faults.get(fault, 0) for fault in FAULT_WORDS},
            "withdrawn": None if player.withdrawn is None else player.withdrawn.why,
            "may_return": player.withdrawn is not None and player.withdrawn.may_return,
        }


def _pairing(tournament: Tournament, number: int, state: PairingState) -> dict[str, Any]:
    first, second, round = state.pairing
    assert second is not None
    names = [tournament.name_of(first), tournament.name_of(second)]
    group = tournament.group_of(first) if state.stage == 0 else None
    absent = {player for each in state.forfeited.values() for player in each.absent}
    decided = sorted(state.decided.items())
    return {
        "number": number + 1,
        "stage": state.stage + 1,
        "group": None if group is None else tournament.group_name(group),
        "round": round,
        "players": names,
        "points": [*tournament.schedule.points(number)],
        "state": "over" if tournament.schedule.is_over(number) else "waiting",
        "forfeited": len(state.forfeited),
        "forfeits": [game + 1 for game in sorted(state.forfeited)],
        "absent": [tournament.name_of(player) for player in sorted(absent)],
        "voided": [game + 1 for game, each in decided if isinstance(each, Voided)],
        "awarded": [
            {"number": game + 1, "winner": None if each.winner is None else tournament.name_of(each.winner)}
            for game, each in decided
            if isinstance(each, Awarded)
        ],
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


def _bracket(tournament: Tournament, number: int) -> list[list[dict[str, Any]]] | None:
    """Return the rounds of a knockout that has begun, with their matches; None for any other stage."""
    if tournament.stages[number].format != "knockout" or tournament.begun_at is None:
        return None

    def named(player: int | None) -> str | None:
        return None if player is None else tournament.name_of(player)

    return [
        [{"players": [named(slot.first), named(slot.second)], "winner": named(slot.winner)} for slot in slots]
        for slots in tournament.bracket(number)
    ]


def _next(tournament: Tournament, current: dict[str, Any], now: float) -> dict[str, Any] | None:
    """Return when the next round or stage begins; None if none follows, or before the beginning.

    While games are on, this is an estimate.
    """
    if tournament.state not in ("running", "paused") or not current["round"]:
        return None
    rounds = [
        each.pairing.round
        for number, each in enumerate(tournament.pairings)
        if each.stage == current["number"] - 1 and not tournament.schedule.is_over(number)
    ]
    # A Swiss round follows all others; the rounds of a knockout overlap.
    latest = current["round"] if current["format"] == "swiss" else min(rounds, default=current["round"])
    if current["format"] in ("swiss", "knockout") and latest < current["rounds"]:
        follows = {"stage": current["number"], "round": latest + 1}
    elif current["number"] == 1 and tournament.settings.then:
        follows = {"stage": 2, "round": 1}
    else:
        return None
    is_round = follows["stage"] == current["number"]
    waits_for = [
        number
        for number in tournament.schedule.unfinished()
        if not is_round or current["format"] == "swiss" or tournament.pairings[number].pairing.round == latest
    ]
    if not waits_for:
        ends = tournament.break_ends()
        return {**follows, "at": None if ends is None else round(1000 * ends), "about": None, "waits_for": []}
    about = None if tournament.is_paused else _about(tournament, current, waits_for)
    if about is not None and (current["format"] == "swiss" or not is_round):
        about += round(1000 * tournament.settings.break_)
    about = about if about is not None and about > 1000 * now else None
    return {**follows, "at": None, "about": about, "waits_for": [number + 1 for number in waits_for]}


def _tests(tournament: Tournament) -> list[dict[str, Any]]:
    """Return the test games.

    Of tests that are not over only the last one of each player is left. Of players that have not entered
    only the latest `TESTS_SHOWN` tests are, since anybody may come.
    """
    tests = [each for _, each in sorted(tournament.tests.items())]
    entered = {each.name for each in tournament.entrants}
    left_out = max(0, sum(each.player not in entered for each in tests) - TESTS_SHOWN)
    others = count()
    tests = [each for each in tests if each.player in entered or next(others) >= left_out]
    latest = {(each.player, each.house): each for each in tests}
    tests = [each for each in tests if each.is_over or latest[each.player, each.house] is each]
    for player, house, latest_before in tournament.requested:
        name = tournament.name_of(player)
        is_begun = any((each.player, each.house, each.is_over) == (name, house, False) for each in tests)
        if not is_begun and not tournament.is_tested(player, house, latest_before):
            tests.append(PlayedTest(name, house))
    return [
        {
            "player": each.player,
            "house": each.house,
            "games": [game.game for _, game in sorted(each.games.items())],
            "points": each.points,
            "state": "passed" if each.is_passed else "failed" if each.fault is not None else "waits",
            "why": each.why,
        }
        for each in tests
    ]


def _is_routine(tournament: Tournament, number: int) -> bool:
    """Whether an entry of the log is one of the server's that nobody needs to read."""
    made, (entry, by, _), _ = tournament.log[number]
    if by:
        return False
    is_late = tournament.begun_at is not None and made > tournament.begun_at
    return isinstance(entry, Paired | StartRequested) or (isinstance(entry, Entered) and not is_late)


def _about(tournament: Tournament, current: dict[str, Any], waits_for: Sequence[int]) -> int | None:
    """Return about when these pairings of a stage will be over; None before the first one is.

    In a round robin the pairings that are left take as long, in proportion, as those that are over; in other
    stages a pairing takes as long as the longest one so far, from the moment at which it was paired.
    """
    stage = [each for each in tournament.pairings if each.stage == current["number"] - 1]
    over = [
        each
        for each in stage
        if each.pairing.second is not None and len(each.points) == tournament.settings.games
    ]
    if not over:
        return None
    latest = max(each.finished_at for each in over)
    if current["format"] == "round-robin":
        begun = min(each.made for each in stage)
        ends = latest + (latest - begun) * len(waits_for) / len(over)
    else:
        longest = max(each.finished_at - each.made for each in over)
        boards = tournament.settings.boards or len(waits_for)
        ends = max(tournament.pairings[number].made for number in waits_for) + longest
        ends += longest * (math.ceil(len(waits_for) / boards) - 1)
    return round(ends)


def _logged(tournament: Tournament, number: int) -> dict[str, Any]:
    made, (entry, by, reason), words = tournament.log[number]
    return {
        "number": number + 1,
        "made": made,
        "by": by or None,
        "act": entry.word,
        "words": words,
        "why": reason,
        "undone": number in tournament.undone,
    }
