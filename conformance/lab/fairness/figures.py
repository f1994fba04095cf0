"""What a stretch of games came to, beside what was asked for; arithmetic and words alone."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from conformance.lab.fairness.log import Loss
from conformance.lab.fairness.used import Fault
from conformance.lab.figures import aligned

_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Figures:
    """One stretch of games."""

    name: str
    games: int
    moves: int
    seconds: float
    stalls: int
    slept: int
    """Players who did not answer, on purpose."""
    told: int
    """Players that heard of a loss on time."""
    losers: Sequence[str]
    """The names of these players."""
    faults: Mapping[Fault, Sequence[str]]
    """What the bots know of those who had not slept, or had lost before their time was up."""
    losses: Sequence[Loss]
    """What the server's log says."""

    @property
    def unlogged(self) -> list[str]:
        """Return the names of players that heard of a loss which is not in the log."""
        return sorted((Counter(self.losers) - Counter(loss.loser for loss in self.losses)).elements())

    @property
    def without_delay(self) -> list[str]:
        """Names of those whose loss was logged without the server's own delay."""
        return [loss.loser for loss in self.losses if loss.deaf is None]

    def complaints(self) -> Iterator[str]:
        """Yield what is not as it should be."""
        for said, found in (
            ("lost on time by the server's fault", self.faults[Fault.SERVER]),
            ("lost on time, and nobody can tell by whose fault", self.faults[Fault.UNKNOWN]),
            ("lost on time, which the log does not say", self.unlogged),
            ("logged without the server's delay", self.without_delay),
        ):
            if found:
                yield from (f"{self.name}: {said}: {one}" for one in found[:_SHOWN])
                if len(found) > _SHOWN:
                    yield f"{self.name}: {said}: {len(found) - _SHOWN} more"
        if self.told < self.slept:
            yield f"{self.name}: {self.slept - self.told} players slept and were not told that they had lost"
        if not self.slept:
            yield f"{self.name}: nobody slept, so that a loss on time was not seen to be seen"


def table(measured: Sequence[Figures]) -> str:
    """Return the figures, a column for each stretch, as lines with their ends."""
    columns = [_column(one) for one in measured]
    rows = [(what, *(column[what] for column in columns)) for what in columns[0]]
    return aligned([("", *(one.name for one in measured)), *rows]) + "\n"


def _column(one: Figures) -> dict[str, str]:
    delays = [loss.deaf for loss in one.losses if loss.deaf is not None]
    found = {
        "games": one.games,
        "moves": one.moves,
        "seconds": f"{one.seconds:.1f}",
        "stalls": one.stalls,
        "slept on purpose": one.slept,
        "told that they had lost on time": one.told,
        "others who lost on time": len(one.losers) - one.told,
        "by the server's fault": len(one.faults[Fault.SERVER]),
        "by their own": len(one.faults[Fault.PLAYER]),
        "nobody can tell": len(one.faults[Fault.UNKNOWN]),
        "losses on time in the log": len(one.losses),
        "with the server's delay": len(delays),
        "longest delay there (s)": f"{max(delays):.3f}" if delays else "-",
    }
    return {what: str(value) for what, value in found.items()}
