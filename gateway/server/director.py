"""What the director of a tournament sees of its players and games, beside the report that everybody sees.

Has only pure functions. The process that plays knows who is here, who is away, and which games are on.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gateway.game.board import other
from gateway.game.results import Scheduled
from gateway.hub.seats import Seat, Series
from gateway.tournament.table import TournamentTable
from gateway.tournament.testing import TESTS
from gateway.tournament.tournament import Tournament

SILENT = 15.0
"""Seconds of thinking about one move after which a game needs the director."""
AWAY = 3.0
"""Seconds of absence after which a player needs the director, if its opponent waits."""


@dataclass(frozen=True, slots=True)
class GameOn:
    """A game of a tournament that is on at this node."""

    pairing: int
    number: int
    """The number of the game in its pairing, from 0."""
    series: Series
    names: tuple[str, str]
    """The names under which both players have entered, in the order of the session's players."""

    @classmethod
    def of(cls, tournament: Tournament, scheduled: Scheduled, series: Series) -> "GameOn":
        """Return the game that is on in a series of the tournament."""
        one, two = (each.name for each in series.session.players)
        if scheduled.pairing < len(tournament.pairings):
            # A client may have changed its name since it sat down.
            one, two = map(tournament.name_of, tournament.pairings[scheduled.pairing].players)
            if scheduled.first % 2:
                one, two = two, one
        return cls(scheduled.pairing, scheduled.first + series.session.round - 1, series, (one, two))

    def seat(self, name: str) -> Seat:
        """Return the seat of a player."""
        return self.series.seats[self.names.index(name)]


def seen_by_director(
    table: TournamentTable,
    games: Sequence[GameOn],
    kinds: Mapping[str, str],
    installed: Sequence[str],
    now: float,
) -> dict[str, Any]:
    """Return the players and what needs the director, at `now` by the hub's clock, as a JSON object.

    `games` are the games that are on at this node. `kinds` are the dialects of the players that are connected
    to it, by name. `installed` are the house players whose engines are installed. This node does not know who
    is away from a game at another node.
    """
    tournament = table.tournament
    tests = [each for each in games if each.pairing >= TESTS]
    games = [each for each in games if each.pairing < TESTS]
    house = {*tournament.house_players}
    on = {name: game for game in tests for name in game.names if name not in house}
    on |= {name: game for game in games for name in game.names}
    players = [_player(table, number, on, kinds, now) for number in range(len(tournament.entrants))]
    for number in tournament.out():
        if players[number]["state"] in ("waits", "absent"):
            players[number] |= {"state": "out", "for": None, "of": None}
    taken = {each.name for each in tournament.entrants}
    return {
        "players": players,
        "needs": [*_silent(games, now), *_missing(table, players)],
        "house": [name for name in installed if name not in taken],
        "testers": [*installed],
    }


def _player(
    table: TournamentTable, number: int, on: Mapping[str, GameOn], kinds: Mapping[str, str], now: float
) -> dict[str, Any]:
    tournament = table.tournament
    entrant, game = tournament.entrants[number], on.get(tournament.entrants[number].name)
    seat = None if game is None else game.seat(entrant.name)
    state, seconds, limit = table.presence(entrant.name), None, None
    if entrant.withdrawn is not None:
        state = "withdrawn"
    elif seat is not None and seat.absence is not None:
        state, seconds, limit = "away", now - seat.absence.since, seat.absence.grace
    elif state == "absent" and (since := table.absent_since(entrant.name)) is not None:
        seconds, limit = now - since, tournament.settings.walkover
    kind = "house" if entrant.house else kinds.get(entrant.name) if seat is None else seat.manners.kind
    against = None if game is None else game.names[1 - game.names.index(entrant.name)]
    place = None if game is None or game.pairing >= TESTS else (game.pairing + 1, game.number + 1)
    return {
        "name": entrant.name,
        "kind": kind,
        "house": entrant.house,
        "state": state,
        "for": None if seconds is None else round(max(0.0, seconds), 1),
        "of": limit,
        "against": against,
        "game": None if game is None else game.series.session.game,
        "pairing": None if place is None else place[0],
        "number": None if place is None else place[1],
        "faults": sum(entrant.faults.values()),
        "in_a_row": entrant.faults_in_a_row,
        "most": tournament.settings.faults,
    }


def _silent(games: Sequence[GameOn], now: float) -> Iterator[dict[str, Any]]:
    """Yield the games in which a player that is connected has not moved for long."""
    for game in games:
        session = game.series.session
        mover, standing = session.to_move, session.standing(now)
        if mover is None or standing.thinking < SILENT or game.series.seats[mover].absence is not None:
            continue
        side = session.side(mover)
        left = None if standing.left is None else max(0.0, standing.left[side] - standing.thinking)
        name, words = game.names[mover], f"has not moved for {standing.thinking:.0f} s"
        if left is not None:
            words += f"; its clock has {left:.0f} s"
        yield {
            **_about(game),
            "who": name,
            "other": game.names[other(mover)],
            "why": "stall",
            "seconds": round(standing.thinking, 1),
            "words": f"{name} is connected but {words}",
        }


def _missing(table: TournamentTable, players: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the players that are away from a game, or absent although an opponent waits for them."""
    tournament = table.tournament
    here = {*table.here}
    for each in players:
        if each["for"] is None or each["for"] < AWAY:
            continue
        number, other = None if each["pairing"] is None else each["pairing"] - 1, each["against"]
        if each["state"] == "absent":
            due = _due_pairing(table, each["name"], here)
            if due is None:
                continue
            number, other = due
        elif number is None:
            continue  # a test game
        limit = f"{each['for']:.0f} s of {each['of']:g}"
        words = "lost its connection" if each["state"] == "away" else "is not at the table"
        assert number is not None
        yield {
            "game": each["game"],
            "pairing": number + 1,
            "number": each["number"] or tournament.unplayed(number)[0] + 1,
            "players": [tournament.name_of(player) for player in tournament.pairings[number].players],
            "who": each["name"],
            "other": other,
            "why": each["state"],
            "seconds": each["for"],
            "words": f"{each['name']} {words}, for {limit}",
        }


def _due_pairing(table: TournamentTable, name: str, here: set[str]) -> tuple[int, str] | None:
    """Return an open pairing of an absent player whose opponent is here, and that opponent."""
    tournament = table.tournament
    player = tournament.number_of(name)
    assert player is not None
    for number in filter(tournament.schedule.is_open, tournament.entrants[player].pairings):
        opponent = next(each for each in tournament.pairings[number].players if each != player)
        if tournament.name_of(opponent) in here:
            return number, tournament.name_of(opponent)
    return None


def _about(game: GameOn) -> dict[str, Any]:
    """Return which game it is."""
    session = game.series.session
    return {
        "game": session.game,
        "pairing": game.pairing + 1,
        "number": game.number + 1,
        "players": [*game.names],
    }
