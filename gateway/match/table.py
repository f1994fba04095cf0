"""How a match stands, as lines for people and as an object for programs.

Knows what was counted and what it says. Does not know where the text goes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from random import Random
from typing import Any

from gateway.game.events import Reason
from gateway.game.text import printable
from gateway.match.joint import Rating, ratings
from gateway.match.pairs import strength
from gateway.match.sprt import Decision, Sprt
from gateway.match.tally import Meeting, Player, Tally
from gateway.store.records import WORDS

SAMPLES = 1000
"""Samples of the bootstrap at the end."""
_FEW = 4
"""Players for whom there are as many samples as were asked for."""
_HEAD = (
    *("", "player", "Elo", "95 %", "better", "games", "points", "won", "drawn", "lost", "first", "second"),
    *("s/move", "time", "illegal", "left"),
)
_FAULTS = (Reason.TIME, Reason.ILLEGAL, Reason.LEFT)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a match has come."""

    games: int
    """All that it has."""
    played: int
    """Games of this run of the command."""
    seconds: float
    """That it has run."""
    left: int
    """Games still to be played."""

    @property
    def rate(self) -> float:
        """Games a second."""
        return self.played / self.seconds if self.seconds > 0 else 0.0


def standing(tally: Tally, progress: Progress, test: Sprt | None, samples: int = SAMPLES) -> list[str]:
    """Return how it stands, in lines."""
    return [
        *aligned([_HEAD, *_rows(tally, _rated(tally, samples))], left=(1,)),
        "",
        _games(tally, progress),
        *(_test(tally.meetings[0], test) if test else ()),
    ]


def details(tally: Tally) -> list[str]:
    """Return what each pairing says, and who scored what moving first, in lines."""
    names = [printable(each.name) for each in tally.players]
    lines = []
    for (one, two), meeting in zip(tally.pairings, tally.meetings, strict=True):
        if sum(meeting.cells):
            lines.append(f"{names[one]} against {names[two]}: {_meeting(meeting)}")
    rows = [["first \\ second", *names]]
    for one, name in enumerate(names):
        cells = [tally.cross.get((one, two)) for two in range(len(names))]
        rows.append([name, *("-" if each is None else f"{each.points:g}/{each.games}" for each in cells)])
    return [*lines, "", *aligned(rows, left=(0,))]


def as_object(tally: Tally, progress: Progress, test: Sprt | None) -> dict[str, Any]:
    """Return all of it as what JSON can say."""
    rated = _rated(tally, SAMPLES)
    return {
        "games": tally.games,
        "games_wanted": progress.games,
        "different_games": tally.different,
        "games_per_second": progress.rate,
        "first_mover": _score(tally.firsts),
        "players": [_player(each, rating, tally) for each, rating in zip(tally.players, rated, strict=True)],
        "pairings": [
            {"players": [tally.players[each].name for each in pairing], **_pairing(meeting)}
            for pairing, meeting in zip(tally.pairings, tally.meetings, strict=True)
        ],
        "sprt": None if test is None else _tested(tally.meetings[0], test),
    }


def aligned(rows: Sequence[Sequence[str]], left: Sequence[int]) -> list[str]:
    """Return rows with their columns below each other; those of the numbers `left` begin at their left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if number in left else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def decided(tally: Tally, test: Sprt | None) -> bool:
    """Whether no further game is needed: the test is decided, or cannot be."""
    if test is None:
        return False
    meeting = tally.meetings[0]
    return bool(meeting.repeats) or test.decision(test.ratio(meeting.cells)) is not Decision.GOES_ON


def _rated(tally: Tally, samples: int) -> list[Rating]:
    """Return the players' ratings; of many players, from fewer samples, because each takes longer."""
    players = len(tally.players)
    fewer = samples * _FEW // max(_FEW, players)
    return ratings(players, tally.crosstable, max(1, fewer), Random(samples))


def _rows(tally: Tally, rated: Sequence[Rating]) -> list[Sequence[str]]:
    order = sorted(range(len(rated)), key=lambda each: -rated[each].elo)
    rows = list[Sequence[str]]()
    for rank, number in enumerate(order, 1):
        player, rating, total = tally.players[number], rated[number], tally.players[number].total
        below = order[rank : rank + 1]
        rows.append(
            (
                *(str(rank), printable(player.name), _signed(rating.elo)),
                " to ".join(map(_signed, rating.interval)),
                *(f"{100 * rating.superiority[each]:.1f} %" for each in below or ()),
                *(() if below else ("",)),
                *(str(total.games), f"{total.points:g}", str(total.won), str(total.drawn), str(total.lost)),
                *(_share(player.first.points, player.first.games), _second(player)),
                f"{_seconds(player):.4f}",
                *(str(player.faults[each]) for each in _FAULTS),
            )
        )
    return rows


def _signed(elo: float) -> str:
    return f"{round(elo):+d}" if round(elo) else "0"


def _second(player: Player) -> str:
    games = player.total.games - player.first.games
    return _share(player.total.points - player.first.points, games)


def _seconds(player: Player) -> float:
    return player.thought / 1000 / player.moves if player.moves else 0.0


def _share(points: float, games: int) -> str:
    return f"{100 * points / games:.1f} %" if games else "-"


def _games(tally: Tally, progress: Progress) -> str:
    rest = ""
    if progress.left and progress.rate:
        minutes, seconds = divmod(round(progress.left / progress.rate), 60)
        rest = f", {minutes}:{seconds:02} left"
    return (
        f"{tally.games} of {progress.games} games, {tally.different} of them different;"
        f" first movers scored {_share(tally.firsts.points, tally.firsts.games)},"
        f" {_share(tally.firsts.drawn, tally.firsts.games)} drawn; {progress.rate:.1f} games/s{rest}"
    )


def _meeting(meeting: Meeting) -> str:
    found = strength(meeting.cells)
    low, high = found.interval
    normalized = (
        f"{found.normalized:+.1f} ± {found.normalized_error:.1f}" if isfinite(found.normalized) else "-"
    )
    interval, better = f" ({low:+.1f} to {high:+.1f})", f", better with {100 * found.superiority:.1f} %"
    if low == high:  # pairs that went alike, be they one or a hundred, say neither
        interval = better = ""
    text = (
        f"Elo {found.elo:+.1f}{interval}, normalized {normalized}{better};"
        f" pairs with 0 to 2 points: {' '.join(map(str, meeting.cells))}"
    )
    return f"{text}; {meeting.repeats}" if meeting.repeats else text


def _test(meeting: Meeting, test: Sprt) -> list[str]:
    named = f"SPRT {test.model} elo0={test.elo0:g} elo1={test.elo1:g}"
    if meeting.repeats:
        return [f"{named}: refused, because {meeting.repeats}; engines can start from --openings"]
    ratio, (low, high) = test.ratio(meeting.cells), test.bounds
    return [f"{named}: LLR {ratio:.2f} ({low:.2f} to {high:.2f}), {test.decision(ratio).value}"]


def _tested(meeting: Meeting, test: Sprt) -> dict[str, Any]:
    about = {"model": test.model, "elo0": test.elo0, "elo1": test.elo1, "bounds": test.bounds}
    if meeting.repeats:
        return {**about, "refused": meeting.repeats}
    ratio = test.ratio(meeting.cells)
    return {**about, "llr": ratio, "decision": test.decision(ratio).name}


def _score(score: Any) -> dict[str, float]:
    return {"won": score.won, "drawn": score.drawn, "lost": score.lost, "points": score.points}


def _player(player: Player, rating: Rating, tally: Tally) -> dict[str, Any]:
    better = {
        other.name: likely
        for other, likely in zip(tally.players, rating.superiority, strict=True)
        if other is not player
    }
    return {
        "name": player.name,
        "elo": rating.elo,
        "interval": rating.interval,
        "better_than": better,
        "total": _score(player.total),
        "moving_first": _score(player.first),
        "seconds_per_move": _seconds(player),
        "lost_by": {WORDS[each]: player.faults[each] for each in _FAULTS},
    }


def _pairing(meeting: Meeting) -> dict[str, Any]:
    if not sum(meeting.cells):
        return {"pairs": meeting.cells}
    found = strength(meeting.cells)
    low, high = found.interval
    return {
        "pairs": meeting.cells,
        "different_pairs": len(meeting.pairs),
        "elo": found.elo,
        "interval": found.interval,
        "normalized_elo": found.normalized if isfinite(found.normalized) else None,
        "superiority": found.superiority if low < high else None,
    }
