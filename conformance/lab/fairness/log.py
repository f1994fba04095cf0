"""What the gateway says on stderr of games that were lost on time; pure.

Knows one line of its log: `game 'x' beats 'y': time (after 1.502 s, the server was deaf for 0.003 s), moving
...`.
"""

import re
from dataclasses import dataclass, field

_LOSS = re.compile(r"game '(?P<winner>[^']*)' beats '(?P<loser>[^']*)': time(?P<rest>.*)")
_DELAY = re.compile(r" \(after (?P<used>[0-9.]+) s, the server was deaf for (?P<deaf>[0-9.]+) s\), moving ")


@dataclass(frozen=True, slots=True)
class Loss:
    """A line on a loss on time. Times in seconds."""

    loser: str
    used: float | None
    """None where the line does not say it."""
    deaf: float | None
    """The longest time in that game in which the server did not listen."""


@dataclass(slots=True)
class Log:
    """Reads what comes, in pieces of any size."""

    losses: list[Loss] = field(default_factory=list)
    _rest: bytes = b""

    def hear(self, data: bytes) -> None:
        """Take in some bytes."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            loss = loss_in(line.decode(errors="replace"))
            if loss is not None:
                self.losses.append(loss)


def loss_in(line: str) -> Loss | None:
    """Return what a line says of a loss on time; None where it is about something else."""
    found = _LOSS.search(line)
    if found is None:
        return None
    delay = _DELAY.match(found["rest"])
    if delay is None:
        return Loss(found["loser"], None, None)
    return Loss(found["loser"], float(delay["used"]), float(delay["deaf"]))
