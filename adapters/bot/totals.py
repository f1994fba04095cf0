"""What has been played: how many games, with what results, in how much time.

Counts, and words for the counts. Games that were cut off have no result and are not among those played.
"""

from collections import Counter

from adapters.client.talk import Over, Result
from gateway.game.board import FIRST, SECOND, Side

_SIDES = (FIRST, SECOND)
_RESULTS = (Result.WON, Result.LOST, Result.DRAWN, Result.LEFT)


class Totals:
    """The games of one run of the bot."""

    def __init__(self, wanted: int = 0) -> None:
        self._wanted = wanted
        self._games: Counter[tuple[Side | None, Result]] = Counter()
        self._moves = 0
        self._seconds = 0.0
        self.cut_off = 0
        """Games without a result."""

    @property
    def played(self) -> int:
        """Games with a result."""
        return self._games.total()

    @property
    def begun(self) -> int:
        """Games, with a result or without."""
        return self.played + self.cut_off

    @property
    def is_complete(self) -> bool:
        """Whether as many games as were wanted are played; 0 are never enough."""
        return 0 < self._wanted <= self.played

    def add(self, over: Over) -> None:
        """Count a game."""
        if over.result is Result.CUT_OFF:
            self.cut_off += 1
        else:
            self._games[over.side, over.result] += 1

    def moved(self, seconds: float) -> None:
        """Count a move that took so long."""
        self._moves += 1
        self._seconds += seconds

    def summary(self) -> str:
        """Return what there is to say at the end, in lines."""
        lines = [f"{_games(self.played)}: {self._results(FIRST, SECOND, None)}"]
        for side, order in zip(_SIDES, ("first", "second"), strict=True):
            if played := sum(self._games[side, result] for result in _RESULTS):
                lines.append(f"moving {order}, {_games(played)}: {self._results(side)}")
        if self.cut_off:
            lines.append(f"cut off before their end: {self.cut_off}")
        if self._moves:
            lines.append(f"mean time a move: {self._seconds / self._moves:.3f} s")
        return "\n".join(lines)

    def _results(self, *sides: Side | None) -> str:
        counts = {result: sum(self._games[side, result] for side in sides) for result in _RESULTS}
        return ", ".join(
            f"{count} {result.value}"
            for result, count in counts.items()
            if count or result is not Result.LEFT
        )


def _games(count: int) -> str:
    return "1 game" if count == 1 else f"{count} games"
