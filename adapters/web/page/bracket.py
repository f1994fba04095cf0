"""The bracket of a knockout: its matches, and the lines between them.

Pure. Lengths are in pixels. A report is as `gateway.tournament.report.described` returns it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from adapters.web.live.state import Json
from adapters.web.page.pairs import done
from adapters.web.page.sentences import counted, quarters, round_title
from gateway.tournament.formats import order_seeds

APART = 77
"""From the middle of a match of the first round to that of the next one."""
ROW = 16
"""From the middle of a match to that of one of its two rows."""


@dataclass(frozen=True, slots=True)
class Player:
    """A row of a match."""

    seed: int | None
    name: str | None
    words: str = ""
    """What stands in place of the name."""
    points: float | None = None
    """None before the first game."""
    won: bool = False


@dataclass(frozen=True, slots=True)
class Match:
    """A match of the bracket."""

    players: tuple[Player, Player]
    state: str
    """``over``, ``on``, ``waits`` for its next game, or ``coming``."""
    number: int | None
    """The number of its latest pairing; None without one."""
    live: Json | None = None
    game: int = 0
    """The number of the game that is on."""
    words: str = ""
    """Why a further pair is being played, after a drawn one; otherwise empty."""


@dataclass(frozen=True, slots=True)
class Round:
    """A round of the bracket."""

    number: int
    title: str
    words: str
    """How far it is."""
    sign: str
    matches: Sequence[Match]
    lines: Sequence[tuple[int | None, str]] = ()
    """The lines to the next round: the seed of the player that goes on, and the attribute ``d`` of a path.

    The path is in a space that is 100 wide.
    """


@dataclass(frozen=True, slots=True)
class Bracket:
    """A bracket."""

    rounds: Sequence[Round]
    height: int
    leader: Player | None
    """The champion, or the player that came furthest; None before the first match is over."""
    leader_words: str = ""
    final_words: str = ""
    """What the final waits for."""
    live: Match | None = None
    """The match of the strongest players of which a game is on."""
    on: int = 0
    """The number of matches of which a game is on."""


@dataclass(slots=True)
class _Known:
    """What the matches are made from."""

    stage: Mapping[str, Any]
    extra: int
    on: Mapping[int, Json]
    pairings: dict[tuple[int, frozenset[str]], list[Mapping[str, Any]]] = field(default_factory=dict)
    """The pairings of a round and two players."""


def bracket(
    stage: Mapping[str, Any],
    pairings: Sequence[Mapping[str, Any]],
    on: Mapping[int, Json],
    settings: Mapping[str, Any],
) -> Bracket:
    """Return the bracket of a stage.

    `pairings` are those of the stage, and `on` its live games by the numbers of their pairings.
    """
    known = _Known(stage, settings["extra"], on)
    for each in pairings:
        known.pairings.setdefault((each["round"], frozenset(each["players"])), []).append(each)
    slots = stage["bracket"]
    order = [seed + 1 for seed in order_seeds(2 * len(slots[0]))]
    places = dict[str, int]()
    for number, slot in enumerate(slots[0]):
        for seed, name in zip(order[2 * number : 2 * number + 2], slot["players"], strict=True):
            if name is not None:
                places[name] = seed
    matches = list[list[Match]]()
    for number, found in enumerate(slots, 1):
        before = matches[-1] if matches else []
        matches.append(
            [_match(known, places, number, index, slot, before) for index, slot in enumerate(found)]
        )
    height = max(2 * APART, APART * len(slots[0]))
    rounds = []
    for number, found in enumerate(matches, 1):
        lines = _lines(found, height) if number < len(matches) else []
        rounds.append(_round(known, number, found, lines))
    live = [each for found in matches for each in found if each.state == "on"]
    live.sort(key=lambda match: sum(player.seed or 0 for player in match.players))
    leader, words = _leader(stage, matches)
    return Bracket(
        rounds,
        height,
        leader,
        words,
        _waits_for(stage, matches, settings),
        live[0] if live else None,
        len(live),
    )


def _match(
    known: _Known,
    places: Mapping[str, int],
    number: int,
    index: int,
    slot: Mapping[str, Any],
    before: Sequence[Match],
) -> Match:
    names = slot["players"]
    found = known.pairings.get((number, frozenset(names)), [])
    live = next((known.on[each["number"]] for each in found if each["number"] in known.on), None)
    players = []
    for side, name in enumerate(names):
        if name is None:
            words = "free" if not before else _winner_of(known.stage, number - 1, 2 * index + side, before)
            players.append(Player(None, None, words))
            continue
        points = [each["points"][each["players"].index(name)] for each in found]
        won = slot["winner"] == name
        players.append(Player(places.get(name), name, points=sum(points) if found else None, won=won))
    state = "over" if slot["winner"] is not None else "on" if live else "waits" if found else "coming"
    over = sum(done(each) for each in found)
    words = ""
    if live and len(found) > 1:
        score = " : ".join(quarters(player.points or 0.0) for player in players)
        words = f"{score} after {counted(over, 'game')}, so a further pair is played"
        words += "; then the faster wins." if len(found) > known.extra else "."
    one, two = players
    return Match((one, two), state, found[-1]["number"] if found else None, live, over + 1, words)


def _winner_of(stage: Mapping[str, Any], number: int, index: int, before: Sequence[Match]) -> str:
    return f"winner of {_name(stage, number, index, before[index])}"


def _name(stage: Mapping[str, Any], number: int, index: int, match: Match) -> str:
    """Return how a match is called: by the number of its pairing, or by its place in its round."""
    if match.number is not None:
        return f"pair {match.number}"
    title = round_title(stage, number, single=True).lower()
    return f"{title}, pair {index + 1}" if title.startswith("round") else f"{title} {index + 1}"


def _lines(matches: Sequence[Match], height: int) -> list[tuple[int | None, str]]:
    """Return the lines from the matches of a round to those of the next one."""
    apart = height / len(matches)
    found = []
    for index, match in enumerate(matches):
        start = round((index + 0.5) * apart, 1)
        end = round((index // 2 + 0.5) * 2 * apart, 1) + (ROW if index % 2 else -ROW)
        winner = next((player.seed for player in match.players if player.won), None)
        found.append((winner, f"M0 {start:g}H50V{end:g}H100"))
    return found


def _round(
    known: _Known, number: int, matches: Sequence[Match], lines: Sequence[tuple[int | None, str]]
) -> Round:
    states = [each.state for each in matches]
    over, on = states.count("over"), states.count("on")
    sign, words = "", ""
    if over == len(matches):
        sign, words = "✓", "over"
    elif on:
        sign, words = "●", f"{counted(on, 'pair')} on"
    elif over:
        words = f"{over} of {len(matches)} over"
    title = round_title(known.stage, number)
    return Round(number, title, words, sign, matches, lines)


def _leader(stage: Mapping[str, Any], matches: Sequence[Sequence[Match]]) -> tuple[Player | None, str]:
    """Return the player that came furthest, the strongest one of several, and what it has reached."""
    for number, found in reversed([*enumerate(matches, 1)]):
        winners = [player for match in found for player in match.players if player.won]
        if winners:
            best = min(winners, key=lambda player: player.seed or 0)
            if number == len(matches):
                return best, "won"
            title = round_title(stage, number + 1).lower()
            return best, f"is in the {title}"
    return None, ""


def _waits_for(
    stage: Mapping[str, Any], matches: Sequence[Sequence[Match]], settings: Mapping[str, Any]
) -> str:
    """Return what the final waits for; empty if it has begun."""
    games = f"{settings['games']} games of each pair."
    (final,) = matches[-1]
    if final.state != "coming":
        return ""
    before = [(number, found) for number, found in enumerate(matches, 1)][-2:-1]
    for number, found in before:
        names = [
            _name(stage, number, index, match) for index, match in enumerate(found) if match.state != "over"
        ]
        if len(names) == 1:
            return f"Begins when {names[0]} is over. {games}"
        if names:
            return f"Begins when the {round_title(stage, number).lower()} are over. {games}"
    return games
