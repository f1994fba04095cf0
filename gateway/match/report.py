"""Reports about a match: lines for people and a JSON object for programs.

Knows the tally and its statistics; does not know where the text is shown.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from random import Random
from typing import Any

from gateway.game.text import aligned, printable
from gateway.match.elo import Rating, ratings, strength
from gateway.match.sprt import Sprt
from gateway.match.tally import MatchTally, Player, Score
from gateway.store.records import FAULTS, WORDS

SAMPLES = 1000
"""The number of bootstrap samples in the last report of a match."""
_FEW = 4
"""The maximum number of players for which all samples are used."""
_STRENGTH = ("Elo", "95 %", "better")
_COUNTS = (
    *("games", "points", "won", "drawn", "lost", "first", "second", "s/move", "late"),
    *(WORDS[each] for each in FAULTS),
)


@dataclass(frozen=True, slots=True)
class Report:
    """The state of a match."""

    tally: MatchTally
    test: Sprt | None
    games: int
    """The number of games of the match."""
    left: int
    """The number of games still to be played."""
    played: int
    """The number of games played by this run of the command."""
    seconds: float
    """The duration of this run of the command, in seconds."""
    failed: Mapping[int, str] = field(default_factory=dict)
    """The numbers of the players whose games do not show their strength, and the reasons."""

    def lines(self, samples: int = SAMPLES) -> list[str]:
        """Return the report with the table of players. With two players, their Elo difference comes first."""
        players, is_duel = self.tally.players, len(self.tally.players) == 2
        rated = [None, None] if is_duel else self._ratings(samples)

        def rank(number: int) -> tuple[bool, float, float]:
            rating = rated[number]
            return rating is None, 0.0 if rating is None else -rating.elo, -players[number].total.points

        order = sorted(range(len(players)), key=rank)
        rows = [("", "player", *(() if is_duel else _STRENGTH), *_COUNTS)]
        for place, number in enumerate(order, 1):
            rating, strong = rated[number], ("-", "-", "")
            if rating is not None:
                below = order[place] if place < len(order) and rated[order[place]] is not None else None
                better = "" if below is None else f"{100 * _likely(rating.superiority[below]):.1f} %"
                strong = _signed(rating.elo), " to ".join(map(_signed, rating.interval)), better
            name = printable(players[number].name)
            rows.append((str(place), name, *(() if is_duel else strong), *_counts(players[number])))
        short = self.summary()
        first = [short.pop(0), ""] if is_duel else []
        return [*first, *aligned(rows, left=(1,)).splitlines(), "", *short]

    def summary(self) -> list[str]:
        """Return the report without the table."""
        tally, firsts = self.tally, self.tally.firsts
        rate, rest = self._rate(), ""
        if self.left and rate:
            minutes, seconds = divmod(round(self.left / rate), 60)
            rest = f", {minutes}:{seconds:02} left"
        games = (
            f"{tally.games} of {self.games} games, {tally.different} of them different; first movers scored"
            f" {_share(firsts.points, firsts.games)}, {_share(firsts.drawn, firsts.games)} drawn;"
            f" {rate:.1f} games/s{rest}"
        )
        return [
            *([self._difference(0)] if len(tally.players) == 2 else ()),
            games,
            *(
                f"no result for {printable(tally.players[each].name)}: {printable(why)}"
                for each, why in self.failed.items()
            ),
            *([self._verdict(self.test)] if self.test else ()),
        ]

    def details(self) -> list[str]:
        """Return a line for each pairing, if there are several, and the table of points by first mover."""
        names = [printable(each.name) for each in self.tally.players]
        lines = []
        if len(names) > 2:
            lines = [*map(self._difference, range(len(self.tally.pairings))), ""]
        rows = [["first \\ second", *names]]
        for one, name in enumerate(names):
            cells = [self.tally.cross.get((one, two)) for two in range(len(names))]
            rows.append([name, *("-" if each is None else f"{each.points:g}/{each.games}" for each in cells)])
        return [*lines, *aligned(rows, left=(0,)).splitlines()]

    def as_object(self) -> dict[str, Any]:
        """Return the report as a JSON object."""
        tally = self.tally
        rated = self._ratings(SAMPLES)
        figures: dict[str, Any] = _rounded(
            {
                "games": tally.games,
                "games_wanted": self.games,
                "different_games": tally.different,
                "games_per_second": self._rate(),
                "first_mover": _score(tally.firsts),
                "players": [
                    self._player(number, rating) | {"no_result": self.failed.get(number)}
                    for number, rating in enumerate(rated)
                ],
                "pairings": [self._pairing(number) for number in range(len(tally.pairings))],
                "sprt": None if self.test is None else self._tested(self.test),
            }
        )
        return figures

    def _rate(self) -> float:
        """Return the number of games per second in this run."""
        return self.played / self.seconds if self.seconds > 0 else 0.0

    def _ratings(self, samples: int) -> list[Rating | None]:
        """Return the players' ratings; None for a player without games. Games of failed players do not count.

        The ratings of two players are computed from their difference. With many players fewer samples are
        used, because each sample takes longer.
        """
        table = {
            pairing: meeting.cells
            for pairing, meeting in zip(self.tally.pairings, self.tally.meetings, strict=True)
            if sum(meeting.cells) and self.failed.keys().isdisjoint(pairing)
        }
        players = len(self.tally.players)
        if players == 2 and table:
            lead = strength(self.tally.meetings[0].cells)
            (low, high), better = lead.interval, lead.superiority
            return [
                Rating(lead.elo, (low, high), (0.5, better)),
                Rating(-lead.elo, (-high, -low), (1 - better, 0.5)),
            ]
        fewer = samples * _FEW // max(_FEW, players)
        met = {player for pairing in table for player in pairing}
        rated = ratings(players, table, max(1, fewer), Random(samples))
        return [rating if player in met else None for player, rating in enumerate(rated)]

    def _difference(self, number: int) -> str:
        """Return a line with the difference in strength of the two players of a pairing."""
        pairing, meeting = self.tally.pairings[number], self.tally.meetings[number]
        names = " against ".join(printable(self.tally.players[each].name) for each in pairing)
        if not self.failed.keys().isdisjoint(pairing):
            return f"{names}: no result"
        if not sum(meeting.cells):
            return f"{names}: no pair of games is over"
        lead = strength(meeting.cells)
        low, high = lead.interval
        normalized = (
            f"{lead.normalized:+.1f} ± {lead.normalized_error:.1f}" if isfinite(lead.normalized) else "-"
        )
        better = f" (95 %: {low:+.1f} to {high:+.1f}), better with {100 * _likely(lead.superiority):.1f} %"
        if low == high:  # there is no interval, since all pairs had the same result
            better = ""
        text = (
            f"{names}: Elo {lead.elo:+.1f}{better}; normalized {normalized};"
            f" pairs with 0 to 2 points: {' '.join(map(str, meeting.cells))}"
        )
        return f"{text}; {meeting.repeats}" if meeting.repeats else text

    def _verdict(self, test: Sprt) -> str:
        """Return a line with the state or the result of the sequential test."""
        meeting = self.tally.meetings[0]
        named = f"SPRT {test.model} elo0={test.elo0:g} elo1={test.elo1:g}"
        if self.failed:
            return f"{named}: no verdict"
        if meeting.repeats:
            return f"{named}: refused, because {meeting.repeats}; engines can start from --openings"
        ratio, (low, high) = test.ratio(meeting.cells), test.bounds
        return f"{named}: LLR {ratio + 0.0:.2f} ({low:.2f} to {high:.2f}), {test.decision(ratio).value}"

    def _tested(self, test: Sprt) -> dict[str, Any]:
        meeting = self.tally.meetings[0]
        figures = {"model": test.model, "elo0": test.elo0, "elo1": test.elo1, "bounds": test.bounds}
        if self.failed or meeting.repeats:
            return {**figures, "refused": meeting.repeats or "a player failed"}
        ratio = test.ratio(meeting.cells)
        return {**figures, "llr": ratio, "decision": test.decision(ratio).name}

    def _player(self, number: int, rating: Rating | None) -> dict[str, Any]:
        player = self.tally.players[number]
        is_certain = rating is not None and rating.interval[0] < rating.interval[1]
        return {
            "name": player.name,
            "elo": rating.elo if rating else None,
            "interval": rating.interval if rating and is_certain else None,
            "better_than": {
                other.name: _likely(rating.superiority[each]) if rating and is_certain else None
                for each, other in enumerate(self.tally.players)
                if each != number
            },
            "total": _score(player.total),
            "moving_first": _score(player.by_colour[0]),
            "seconds_per_move": _seconds(player),
            "late_moves": player.late,
            "lost_by": {WORDS[each]: player.faults[each] for each in FAULTS},
        }

    def _pairing(self, number: int) -> dict[str, Any]:
        pairing, meeting = self.tally.pairings[number], self.tally.meetings[number]
        counted = {"players": [self.tally.players[each].name for each in pairing], "pairs": meeting.cells}
        if not self.failed.keys().isdisjoint(pairing) or not sum(meeting.cells):
            return counted
        lead = strength(meeting.cells)
        low, high = lead.interval
        return {
            **counted,
            "different_pairs": len(meeting.pairs),
            "elo": lead.elo,
            "interval": lead.interval if low < high else None,
            "normalized_elo": lead.normalized if isfinite(lead.normalized) else None,
            "superiority": _likely(lead.superiority) if low < high else None,
        }


def _counts(player: Player) -> tuple[str, ...]:
    """Return the cells that follow the rating in a player's row."""
    total = player.total
    return (
        *(str(total.games), f"{total.points:g}", str(total.won), str(total.drawn), str(total.lost)),
        *(_share(score.points, score.games) for score in player.by_colour),
        *(f"{_seconds(player):.4f}", str(player.late)),
        *(str(player.faults[each]) for each in FAULTS),
    )


def _likely(share: float) -> float:
    """Return a likelihood limited to the range from 0.001 to 0.999, since games give no certainty."""
    return min(max(share, 0.001), 0.999)


def _signed(elo: float) -> str:
    return f"{round(elo):+d}" if round(elo) else "0"


def _seconds(player: Player) -> float:
    return player.thought / 1000 / player.moves if player.moves else 0.0


def _share(points: float, games: int) -> str:
    return f"{100 * points / games:.1f} %" if games else "-"


def _score(score: Score) -> dict[str, float]:
    return {"won": score.won, "drawn": score.drawn, "lost": score.lost, "points": score.points}


def _rounded(value: Any) -> Any:
    """Return a JSON value with all numbers rounded to four decimals, and 0.0 in place of -0.0."""
    match value:
        case float():
            return round(value, 4) + 0.0
        case dict():
            return {key: _rounded(each) for key, each in value.items()}
        case list() | tuple():
            return [_rounded(each) for each in value]
    return value
