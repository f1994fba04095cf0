"""How a playback went, as data for the reports.

Knows what there is to tell; neither how it came about nor how it is printed.
"""

from dataclasses import dataclass

from conformance.steps import Broken, Transcript


@dataclass(frozen=True, slots=True)
class Passed:
    pass


@dataclass(frozen=True, slots=True)
class Skipped:
    reason: str


@dataclass(frozen=True, slots=True)
class Failed:
    """`line` counts from 1. `why` may be empty. `exchange`: what went over the wires, oldest first."""

    line: int
    expected: str
    got: str
    why: str = ""
    exchange: tuple[str, ...] = ()


Outcome = Passed | Skipped | Failed


@dataclass(frozen=True, slots=True)
class Result:
    """`seconds`: how long it took to play."""

    transcript: Transcript | Broken
    outcome: Outcome
    seconds: float = 0.0

    @property
    def id(self) -> str:
        return self.transcript.id
