"""The outcome of a playback, as data for the reports.

Must not know how a transcript is played or how a report is printed.
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
    """A playback failed at `line`, counted from 1. `why` may be empty.

    `exchange`: everything sent and received, oldest first.
    """

    line: int
    expected: str
    got: str
    why: str = ""
    exchange: tuple[str, ...] = ()


Outcome = Passed | Skipped | Failed


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of one transcript. `seconds`: how long the playback took."""

    transcript: Transcript | Broken
    outcome: Outcome
    seconds: float = 0.0

    @property
    def id(self) -> str:
        return self.transcript.id
