"""Stages: the parts of a tournament, each with a format and players of its own.

Pure. Formats and standings number the players of a stage from 0, by seed. Everything else has the numbers of
the tournament; this module translates between the two.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

from gateway.tournament import formats
from gateway.tournament.formats import Field, Meeting, Pairing, Slot
from gateway.tournament.settings import Settings
from gateway.tournament.standings import Row, standings


@dataclass(slots=True)
class Stage:
    """A part of a tournament."""

    format: str
    """One of `gateway.tournament.settings.FORMATS`."""
    first: int = 0
    """The number of its first pairing."""
    players: list[int] = field(default_factory=list)
    """Its players by seed."""
    groups: list[list[int]] = field(default_factory=list)
    """The players of each group, by seed; empty without groups."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What further pairings of a stage depend on, beside its meetings."""

    settings: Settings
    rounds: int
    """The number of Swiss rounds."""
    stage: Stage
    present: AbstractSet[int]
    """The players of the tournament that have not withdrawn."""
    forbidden: AbstractSet[frozenset[int]]
    """The pairs of players that are not to be paired."""


def further_pairings(plan: Plan, meetings: Sequence[Meeting]) -> Sequence[Pairing]:
    """Return the pairings that the format of a stage adds, from all its meetings so far.

    A Swiss round of `MOST_PLAYERS` players may take a second.
    """
    settings, players = plan.settings, plan.stage.players
    places = {player: place for place, player in enumerate(players)}
    match plan.stage.format:
        case "round-robin":
            groups = [[places[player] for player in group] for group in plan.stage.groups]
            form = formats.round_robin(settings.cycles, groups)
        case "gauntlet":
            form = formats.gauntlet(settings.cycles)
        case "swiss":
            form = formats.swiss(plan.rounds)
        case _:
            form = formats.knockout(settings.extra)
    added = form(_field(players, plan.present, plan.forbidden), _renumbered(meetings, places))
    return [
        Pairing(players[first], None if second is None else players[second], round)
        for first, second, round in added
    ]


def ranked(
    players: Sequence[int], meetings: Sequence[Meeting], tie_breaks: Sequence[str], *, is_knockout: bool
) -> list[Row]:
    """Return the standings of some players by all meetings among them, the best player first."""
    places = {player: place for place, player in enumerate(players)}
    rows = standings(
        _field(players, {*players}), _renumbered(meetings, places), tie_breaks, is_knockout=is_knockout
    )
    return [row._replace(player=players[row.player]) for row in rows]


def bracket(
    stage: Stage, present: AbstractSet[int], meetings: Sequence[Meeting], extra: int
) -> list[list[Slot]]:
    """Return the slots of each round of a knockout, as `gateway.tournament.formats.bracket_of`."""
    players = stage.players
    places = {player: place for place, player in enumerate(players)}
    rounds = formats.bracket_of(_field(players, present), _renumbered(meetings, places), extra)
    return [
        [Slot(*(None if place is None else players[place] for place in slot)) for slot in slots]
        for slots in rounds
    ]


def _field(
    players: Sequence[int], present: AbstractSet[int], forbidden: AbstractSet[frozenset[int]] = frozenset()
) -> Field:
    places = {player: place for place, player in enumerate(players)}
    return Field(
        len(players),
        {place for place, player in enumerate(players) if player in present},
        {frozenset(map(places.__getitem__, pair)) for pair in forbidden if pair <= places.keys()},
    )


def _renumbered(meetings: Sequence[Meeting], places: dict[int, int]) -> list[Meeting]:
    if all(player == place for player, place in places.items()):
        return [*meetings]
    found = []
    for each in meetings:
        first, second, round = each.pairing
        pairing = Pairing(places[first], None if second is None else places[second], round)
        found.append(replace(each, pairing=pairing))
    return found
