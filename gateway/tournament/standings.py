"""Standings: the players of a tournament in the order of their results. Only meetings that are over count."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from types import MappingProxyType
from typing import NamedTuple

from gateway.tournament.formats import Field, Meeting, bracket_of

TIE_BREAKS: Mapping[str, str] = MappingProxyType(
    {
        "game-points": "1 point for each game won, half a point for each game drawn.",
        "direct": "Match points from the meetings of tied players with each other, if all of them have met.",
        "buchholz": (
            "The sum of the match points of all opponents. "
            "A bye counts like an opponent with the player's own match points."
        ),
        "sonneborn-berger": (
            "The sum of the match points of all opponents that the player beat, and half of those of the "
            "opponents it drew with. A bye counts like a win against an opponent with the player's own "
            "match points."
        ),
        "faults": "The number of faults in all games. Fewer are better.",
    }
)
"""The names of the tie breaks, in their default order, and an explanation of each for users."""


class Row(NamedTuple):
    """A player's row of the standings."""

    player: int
    rank: int
    """One more than the number of better players. Only players that are equal in all criteria share it."""
    points: float
    """Match points: 1 for each meeting won and for each bye, 0.5 for each meeting drawn."""
    tie_breaks: Mapping[str, float]
    """The value of each tie break that is used, by its name."""
    reached: int = 0
    """The round that the player has reached in a knockout. For the winner of the final it is one more.

    It is 0 for a player without a place in the bracket, such as a latecomer, before the first pairing, and in
    other formats.
    """


def standings(
    field: Field,
    meetings: Sequence[Meeting],
    tie_breaks: Sequence[str] = tuple(TIE_BREAKS),
    *,
    is_knockout: bool = False,
) -> list[Row]:
    """Return a row for each player that has entered, the best one first, and equal ones by seed.

    Match points are the first criterion, and the tie breaks follow in their order. In a knockout, the round
    reached comes before all of these; `meetings` then has to contain all pairings that the format has
    returned. Raises KeyError if there is no such tie break.
    """
    played: list[list[_Result]] = [[] for _ in range(field.players)]
    for each in meetings:
        if each.is_over:
            first, second, _ = each.pairing
            played[first].append(_Result(second, each.score[0], each.points[0], each.faults[0]))
            if second is not None:
                played[second].append(_Result(first, each.score[1], each.points[1], each.faults[1]))
    points = [sum(each.score for each in results) for results in played]
    reached = _find_reached(field, meetings) if is_knockout else [0] * field.players

    # Players with the same key are equal in all criteria so far. Lower keys are better.
    keys: list[tuple[float, ...]] = [(-reached[player], -points[player]) for player in range(field.players)]
    columns = dict[str, list[float]]()
    for name in tie_breaks:
        groups = defaultdict[tuple[float, ...], set[int]](set)
        for player, key in enumerate(keys):
            groups[key].add(player)
        column = [_break_tie(name, player, groups[key], played, points) for player, key in enumerate(keys)]
        keys = [
            (*key, value if name == "faults" else -value) for key, value in zip(keys, column, strict=True)
        ]
        columns[name] = column

    ordered = sorted(keys)
    return [
        Row(
            player,
            ordered.index(keys[player]) + 1,
            points[player],
            {name: column[player] for name, column in columns.items()},
            reached[player],
        )
        for player in sorted(range(field.players), key=keys.__getitem__)
    ]


class _Result(NamedTuple):
    """What a player got from a meeting."""

    opponent: int | None
    score: float
    points: float
    faults: int


def _break_tie(
    name: str,
    player: int,
    tied: AbstractSet[int],
    played: Sequence[Sequence[_Result]],
    points: Sequence[float],
) -> float:
    """Return the value of a tie break for `player`, who is one of `tied`.

    `played` and `points` have the results and the match points of each player.
    """
    results = played[player]
    match name:
        case "game-points":
            return sum(each.points for each in results)
        case "direct":
            have_met = all(tied <= {one, *(each.opponent for each in played[one])} for one in tied)
            return sum(each.score for each in results if have_met and each.opponent in tied)
        case "buchholz":
            return sum(points[player if each.opponent is None else each.opponent] for each in results)
        case "sonneborn-berger":
            return sum(
                each.score * points[player if each.opponent is None else each.opponent] for each in results
            )
        case "faults":
            return sum(each.faults for each in results)
        case _:
            raise KeyError(name)


def _find_reached(field: Field, meetings: Sequence[Meeting]) -> list[int]:
    """Return the value of `Row.reached` for each player of a knockout."""
    reached = [0] * field.players
    if not meetings:
        return reached
    # The real number of extra pairings does not matter: one that is due is already among the meetings, and
    # open.
    rounds = bracket_of(field, meetings, extra=0)
    for number, slots in enumerate(rounds, 1):
        for slot in slots:
            for player in (slot.first, slot.second):
                if player is not None:
                    reached[player] = number
    if (winner := rounds[-1][0].winner) is not None:
        reached[winner] = len(rounds) + 1
    return reached
