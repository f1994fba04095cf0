"""How a match stands, as lines for people and as an object for programs.

Knows what was counted and what it says. Does not know where the text goes.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from math import isfinite
from random import Random
from typing import Any

from gateway.game.events import Reason
from gateway.game.text import aligned, printable
from gateway.match.joint import Rating, ratings
from gateway.match.pairs import Strength, strength
from gateway.match.sprt import Decision, Sprt
from gateway.match.tally import Meeting, Player, Tally
from gateway.store.records import WORDS

SAMPLES = 1000
"""Samples of the bootstrap at the end."""
_FEW = 4
"""Players for whom there are as many samples as were asked for."""
_STRENGTH = ("Elo", "95 %", "better")
_COUNTS = (
    *("games", "points", "won", "drawn", "lost", "first", "second", "s/move", "late"),
    *("time", "illegal", "left"),
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
    failed: Mapping[int, str] = field(default_factory=dict)
    """The players, by number, whose games say nothing of their strength, and why."""

    @property
    def rate(self) -> float:
        """Games a second."""
        return self.played / self.seconds if self.seconds > 0 else 0.0


def standing(tally: Tally, progress: Progress, test: Sprt | None, samples: int = SAMPLES) -> list[str]:
    """Return how it stands, in lines: of two players their difference first, and no other Elo."""
    is_duel, failed = len(tally.players) == 2, progress.failed
    rated = [None, None] if is_duel else _rated(tally, samples, failed)
    order = sorted(range(len(rated)), key=lambda each: _rank(tally.players[each], rated[each]))
    rows = [("", "player", *(() if is_duel else _STRENGTH), *_COUNTS)]
    for rank, number in enumerate(order, 1):
        below = order[rank] if rank < len(order) else None
        strong = () if is_duel else _strong(rated[number], below if below is None or rated[below] else None)
        player = tally.players[number]
        rows.append((str(rank), printable(player.name), *strong, *_counts(player)))
    short = summary(tally, progress, test)
    first = [short.pop(0), ""] if is_duel else []
    return [*first, *aligned(rows, left=(1,)).splitlines(), "", *short]


def summary(tally: Tally, progress: Progress, test: Sprt | None) -> list[str]:
    """Return how it stands in few lines, without the table."""
    names, failed = [printable(each.name) for each in tally.players], progress.failed
    return [
        *([_against(tally, 0, failed)] if len(names) == 2 else ()),
        _games(tally, progress),
        *(f"no result for {names[each]}: {printable(why)}" for each, why in failed.items()),
        *(_test(tally.meetings[0], test, failed) if test else ()),
    ]


def details(tally: Tally, failed: Collection[int] = ()) -> list[str]:
    """Return what each pairing of several players says, and who scored what moving first, in lines."""
    names = [printable(each.name) for each in tally.players]
    lines = []
    if len(names) > 2:
        lines = [*(_against(tally, number, failed) for number in range(len(tally.pairings))), ""]
    rows = [["first \\ second", *names]]
    for one, name in enumerate(names):
        cells = [tally.cross.get((one, two)) for two in range(len(names))]
        rows.append([name, *("-" if each is None else f"{each.points:g}/{each.games}" for each in cells)])
    return [*lines, *aligned(rows, left=(0,)).splitlines()]


def as_object(tally: Tally, progress: Progress, test: Sprt | None) -> dict[str, Any]:
    """Return all of it as what JSON can say."""
    failed = progress.failed
    rated = _rated(tally, SAMPLES, failed)
    found = {
        "games": tally.games,
        "games_wanted": progress.games,
        "different_games": tally.different,
        "games_per_second": progress.rate,
        "first_mover": _score(tally.firsts),
        "players": [
            {**_player(player, rating, tally), "no_result": failed.get(number)}
            for number, (player, rating) in enumerate(zip(tally.players, rated, strict=True))
        ],
        "pairings": [
            {
                "players": [tally.players[each].name for each in pairing],
                **_pairing(meeting, says_something=failed.keys().isdisjoint(pairing)),
            }
            for pairing, meeting in zip(tally.pairings, tally.meetings, strict=True)
        ],
        "sprt": None if test is None else _tested(tally.meetings[0], test, failed),
    }
    rounded: dict[str, Any] = _rounded(found)
    return rounded


def decided(tally: Tally, test: Sprt | None, failed: Collection[int] = ()) -> bool:
    """Whether no further game is needed: the test is decided, or cannot be, and nobody has failed."""
    if test is None or failed:
        return False
    meeting = tally.meetings[0]
    return bool(meeting.repeats) or test.decision(test.ratio(meeting.cells)) is not Decision.GOES_ON


def _rated(tally: Tally, samples: int, failed: Collection[int]) -> list[Rating | None]:
    """Return the players' ratings, without the games of those who failed; None for who has no others.

    That of two players is their difference. Of many players it comes from fewer samples, because each takes
    longer.
    """
    table = {
        pairing: cells
        for pairing, cells in tally.crosstable.items()
        if sum(cells) and set(pairing).isdisjoint(failed)
    }
    players = len(tally.players)
    if players == 2 and table:
        found = strength(tally.meetings[0].cells)
        (low, high), better = found.interval, found.superiority
        return [
            Rating(found.elo, (low, high), (0.5, better)),
            Rating(-found.elo, (-high, -low), (1 - better, 0.5)),
        ]
    fewer = samples * _FEW // max(_FEW, players)
    met = {player for pairing in table for player in pairing}
    rated = ratings(players, table, max(1, fewer), Random(samples))
    return [rating if player in met else None for player, rating in enumerate(rated)]


def _rank(player: Player, rating: Rating | None) -> tuple[bool, float, float]:
    return rating is None, 0.0 if rating is None else -rating.elo, -player.total.points


def _strong(rating: Rating | None, below: int | None) -> tuple[str, str, str]:
    """Return the cells on a player's strength, beside those of the player `below` it in the table."""
    if rating is None:
        return "-", "-", ""
    better = "" if below is None else f"{100 * _likely(rating.superiority[below]):.1f} %"
    return _signed(rating.elo), " to ".join(map(_signed, rating.interval)), better


def _counts(player: Player) -> tuple[str, ...]:
    total, first = player.total, player.first
    return (
        *(str(total.games), f"{total.points:g}", str(total.won), str(total.drawn), str(total.lost)),
        *(_share(first.points, first.games), _share(total.points - first.points, total.games - first.games)),
        *(f"{_seconds(player):.4f}", str(player.late)),
        *(str(player.faults[each]) for each in _FAULTS),
    )


def _likely(share: float) -> float:
    """Return a likelihood, kept from 0 and 1: no number of games makes one certain."""
    return min(max(share, 0.001), 0.999)


def _signed(elo: float) -> str:
    return f"{round(elo):+d}" if round(elo) else "0"


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


def _against(tally: Tally, number: int, failed: Collection[int]) -> str:
    """Return what the games of a pairing say of the difference between the two, in a line."""
    pairing, meeting = tally.pairings[number], tally.meetings[number]
    names = " against ".join(printable(tally.players[each].name) for each in pairing)
    if not set(pairing).isdisjoint(failed):
        return f"{names}: no result"
    if not sum(meeting.cells):
        return f"{names}: no pair of games is over"
    return f"{names}: {_difference(strength(meeting.cells), meeting)}"


def _difference(found: Strength, meeting: Meeting) -> str:
    low, high = found.interval
    normalized = (
        f"{found.normalized:+.1f} ± {found.normalized_error:.1f}" if isfinite(found.normalized) else "-"
    )
    better = f" (95 %: {low:+.1f} to {high:+.1f}), better with {100 * _likely(found.superiority):.1f} %"
    if low == high:  # pairs that went alike, be they one or a hundred, say neither
        better = ""
    text = (
        f"Elo {found.elo:+.1f}{better}; normalized {normalized};"
        f" pairs with 0 to 2 points: {' '.join(map(str, meeting.cells))}"
    )
    return f"{text}; {meeting.repeats}" if meeting.repeats else text


def _test(meeting: Meeting, test: Sprt, failed: Collection[int]) -> list[str]:
    named = f"SPRT {test.model} elo0={test.elo0:g} elo1={test.elo1:g}"
    if failed:
        return [f"{named}: no verdict"]
    if meeting.repeats:
        return [f"{named}: refused, because {meeting.repeats}; engines can start from --openings"]
    ratio, (low, high) = test.ratio(meeting.cells), test.bounds
    return [f"{named}: LLR {ratio + 0.0:.2f} ({low:.2f} to {high:.2f}), {test.decision(ratio).value}"]


def _tested(meeting: Meeting, test: Sprt, failed: Collection[int]) -> dict[str, Any]:
    about = {"model": test.model, "elo0": test.elo0, "elo1": test.elo1, "bounds": test.bounds}
    if failed or meeting.repeats:
        return {**about, "refused": meeting.repeats or "a player failed"}
    ratio = test.ratio(meeting.cells)
    return {**about, "llr": ratio, "decision": test.decision(ratio).name}


def _score(score: Any) -> dict[str, float]:
    return {"won": score.won, "drawn": score.drawn, "lost": score.lost, "points": score.points}


def _player(player: Player, rating: Rating | None, tally: Tally) -> dict[str, Any]:
    says_something = rating is not None and rating.interval[0] < rating.interval[1]
    better = {
        other.name: _likely(rating.superiority[number]) if rating and says_something else None
        for number, other in enumerate(tally.players)
        if other is not player
    }
    return {
        "name": player.name,
        "elo": rating.elo if rating else None,
        "interval": rating.interval if rating and says_something else None,
        "better_than": better,
        "total": _score(player.total),
        "moving_first": _score(player.first),
        "seconds_per_move": _seconds(player),
        "late_moves": player.late,
        "lost_by": {WORDS[each]: player.faults[each] for each in _FAULTS},
    }


def _pairing(meeting: Meeting, *, says_something: bool) -> dict[str, Any]:
    if not says_something or not sum(meeting.cells):
        return {"pairs": meeting.cells}
    found = strength(meeting.cells)
    low, high = found.interval
    return {
        "pairs": meeting.cells,
        "different_pairs": len(meeting.pairs),
        "elo": found.elo,
        "interval": found.interval if low < high else None,
        "normalized_elo": found.normalized if isfinite(found.normalized) else None,
        "superiority": _likely(found.superiority) if low < high else None,
    }


def _rounded(value: Any) -> Any:
    """Return the same with four decimals at most, and 0 for what is as good as that, such as -1e-15."""
    match value:
        case float():
            return round(value, 4) + 0.0
        case dict():
            return {key: _rounded(each) for key, each in value.items()}
        case list() | tuple():
            return [_rounded(each) for each in value]
    return value
