"""What clients were told against what is in the database, pure.

Knows results by names, moves and winner. Games that nobody was told of may be stored or not; of the others
each has to be there once.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from conformance.dialects.script import Game
from conformance.lab.kills.games import Result


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of a run. Games are meant by all numbers."""

    told: int
    """That at least one of the two players was told the result of."""
    stored: int
    untold: int
    """Stored, and nobody was told."""
    missing: Sequence[Result]
    """Told of, and not stored as they were told."""
    twice: Sequence[Result]
    strange: Sequence[Result]
    """Stored, but never played."""

    @property
    def is_good(self) -> bool:
        """Whether what was told is stored, once, and nothing else but games that were played."""
        return not (self.missing or self.twice or self.strange)


def judge(told: Iterable[Result], stored: Sequence[Result], played: Mapping[str, Sequence[Game]]) -> Verdict:
    """Compare. `played` has the games that were to be played, by what both players' names begin with."""
    known, times = set(told), Counter(stored)
    return Verdict(
        told=len(known),
        stored=len(times),
        untold=len(times.keys() - known),
        missing=sorted(known - times.keys(), key=str),
        twice=[result for result, count in times.items() if count > 1],
        strange=[result for result in times if not _was_played(result, played)],
    )


def _was_played(result: Result, played: Mapping[str, Sequence[Game]]) -> bool:
    table = result.first[:-1]
    names = {result.first, result.second}
    return names == {table + "a", table + "b"} and result.game in played.get(table, ())
