"""The pairs of a tournament as rows: who has which side, clocks, points, and what their games came to.

Pure. A report is as `gateway.tournament.report.described` returns it. Live games are as in the live stream.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from adapters.web.live.state import Json
from adapters.web.page.sentences import Part, Text, badge, counted
from gateway.game.board import FIRST, SECOND, Side
from gateway.game.ids import GameId
from gateway.store.records import GameRecord

LINKED = 4
"""The most games of a pair that its row links one by one."""


@dataclass(frozen=True, slots=True)
class Row:
    """A player of a pair."""

    name: str
    side: Side | None
    """The side in the game that is on; None if none is."""
    points: float
    clock: str = ""
    runs: bool = False
    """Whether the player is to move."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A pair of a round."""

    number: int
    """Its number in the tournament."""
    group: str | None
    rows: tuple[Row, Row]
    """The two players; if a game is on, the second mover is first, as above a board."""
    is_over: bool
    is_on: bool
    game: GameId | None
    """The game that is on, or the latest one."""
    moves: str | None
    """The moves of that game; None without one."""
    first: str | None
    """The player that moved first in the latest game that is over; None without one."""
    count: int
    """The number of the game that is on among those of the pair; otherwise how many games are over."""
    linked: Sequence[tuple[str, GameId]]
    """The labels and ids of its games, unless there are too many of them."""
    notes: Text
    """What was decided without a game."""


def live_pairings(pairings: Sequence[Mapping[str, Any]], games: Sequence[Json]) -> dict[int, Json]:
    """Return the live games of pairings that are not over, each by the number of its pairing."""
    waiting = {each["number"] for each in pairings if each["state"] == "waiting"}
    return {game["pairing"]: game for game in games if game["pairing"] in waiting and game["reason"] is None}


def done(pairing: Mapping[str, Any]) -> int:
    """Return how many games of a pairing are over or will not be played."""
    decided = {each["number"] for each in (*pairing["games"], *pairing["awarded"])} | {*pairing["voided"]}
    return len(decided) + int(pairing["forfeited"])


def joined(pairings: Sequence[Mapping[str, Any]], games: int) -> list[Mapping[str, Any]]:
    """Return the pairings of one round, the further ones of a drawn pair of a knockout joined with its first.

    `games` is the number of games of each pairing. The pair has the number of its latest pairing. Its games
    are numbered on; `labels` has what each is called in commands, such as 12.2.
    """
    found = dict[frozenset[str], dict[str, Any]]()
    for each in pairings:
        names = frozenset(each["players"])
        before = found.get(names)
        own = {number: f"{each['number']}.{number}" for number in range(1, games + 1)}
        if before is None:
            found[names] = {**each, "pairings": 1, "labels": own}
            continue
        first = games * before["pairings"]
        points = dict(zip(each["players"], each["points"], strict=True))
        found[names] = before | {
            "number": each["number"],
            "pairings": before["pairings"] + 1,
            "labels": before["labels"] | {first + number: label for number, label in own.items()},
            "state": each["state"],
            "points": [
                own + points[name] for name, own in zip(before["players"], before["points"], strict=True)
            ],
            "forfeited": before["forfeited"] + each["forfeited"],
            "absent": [*dict.fromkeys([*before["absent"], *each["absent"]])],
            "voided": [*before["voided"], *(first + number for number in each["voided"])],
            "without_result": [*before["without_result"], *each["without_result"]],
            **{
                key: [*before[key], *({**one, "number": first + one["number"]} for one in each[key])]
                for key in ("awarded", "games")
            },
        }
    return [*found.values()]


def pair(pairing: Mapping[str, Any], live: Json | None, stored: Mapping[GameId, GameRecord]) -> Pair:
    """Return a pairing as a row. `live` is its live game, if one is on, and `stored` are the stored games."""
    points = dict(zip(pairing["players"], pairing["points"], strict=True))
    played = [(_label(pairing, each["number"]), each["game"]) for each in pairing["games"]]
    latest = pairing["games"][-1] if played else {"game": None, "first": None}
    game: GameId | None = latest["game"]
    moves: str | None = None
    if live is not None:
        game, moves = live["game"], live["moves"]
        # The names are those of the pairing: a client may have changed its name since it entered.
        swapped = (live["number"] - 1) % 2
        first, second = (_row(live, side, pairing["players"][side ^ swapped], points) for side in (0, 1))
        rows = second, first
    else:
        if game is not None and game in stored:
            moves = stored[game].moves
        one, two = (Row(name, None, points[name]) for name in pairing["players"])
        rows = one, two
    return Pair(
        number=pairing["number"],
        group=pairing["group"],
        rows=rows,
        is_over=pairing["state"] == "over",
        is_on=live is not None,
        game=game,
        moves=moves,
        first=latest["first"],
        count=done(pairing) + (live is not None),
        linked=played if len(played) <= LINKED else (),
        notes=_notes(pairing),
    )


def with_sides(shown: Pair) -> Pair:
    """Return a pair with the sides of its latest game, if no game is on: the second mover first."""
    if shown.is_on or shown.first is None:
        return shown
    second, first = sorted(shown.rows, key=lambda row: row.name == shown.first)
    return replace(shown, rows=(replace(second, side=SECOND), replace(first, side=FIRST)))


def outcomes(shown: Pair, stored: Mapping[GameId, GameRecord]) -> tuple[str, str]:
    """Return the words on the badges of a pair's two rows after its latest game; empty during a game.

    `shown` is a result of `with_sides`.
    """
    record = stored.get(shown.game or "")
    if shown.is_on or record is None:
        return "", ""
    upper, lower = (badge(record, row.side or 0) for row in shown.rows)
    return upper, lower


def _label(pairing: Mapping[str, Any], number: int) -> str:
    """Return what a game of a pair is called: its number, with that of the pairing if there are several."""
    return pairing["labels"][number] if pairing.get("pairings", 1) > 1 else str(number)


def _row(live: Json, side: Side, name: str, points: Mapping[str, float]) -> Row:
    runs = live["to_move"] == side
    thinking = live["thinking"] if runs else 0.0
    clock = ""
    if live["left"] is not None:
        left = max(0.0, live["left"][side] - thinking)
        clock = f"{int(10 * left) / 10:.1f}" if left < 100 else _minutes(left)
    elif runs:
        clock = _minutes(thinking)
    return Row(name, side, points[name], clock, runs)


def _minutes(seconds: float) -> str:
    return f"{int(seconds // 60)}:{int(seconds % 60):02}"


def _notes(pairing: Mapping[str, Any]) -> Text:
    """Return what was decided without a game, as one line."""
    found = list[str | Part]()
    if pairing["forfeited"]:
        found.append(f"{counted(pairing['forfeited'], 'game')} forfeited by ")
        for place, name in enumerate(pairing["absent"]):
            found += [" and "] * bool(place) + [Part("name", name)]
    for number in pairing["voided"]:
        found += ["; "] * bool(found) + [f"game {_label(pairing, number)} is void"]
    for each in pairing["awarded"]:
        found += ["; "] * bool(found) + [f"game {_label(pairing, each['number'])} was awarded "]
        found += ["as a draw"] if each["winner"] is None else ["to ", Part("name", each["winner"])]
    for place, game in enumerate(pairing["without_result"][-LINKED:]):
        found += ["; "] * bool(found and not place) + [", " if place else "not counted: ", Part("game", game)]
    return found
