"""How much time a bot has used for its moves, as far as it can know; arithmetic alone.

When a message came is known to within two looks at the sockets: it had not come at the look before, and was
read after the present one. So what a bot has used is known by two bounds, and so is whose fault a loss is.
"""

from dataclasses import dataclass, field
from enum import Enum


@dataclass(frozen=True, slots=True)
class Look:
    """When a loop looked at its sockets. Seconds of `time.perf_counter`."""

    now: float
    """When what it found is being dealt with."""
    before: float
    """When it had looked at all of them before: what it finds now had not come by then."""


class Fault(Enum):
    """Whose fault a loss on time is."""

    SERVER = "the server's"
    """The bot's time was not up."""
    PLAYER = "the bot's own"
    """Its time was up."""
    UNKNOWN = "nobody can tell"
    """The bots' own process was too busy to know."""


@dataclass(slots=True)
class UsedTime:
    """One bot's time in one game. In seconds."""

    clock: float
    """What it has: for all moves of a game, or for each where `renewed`."""
    renewed: bool
    moves: int = 0
    """Answers whose bytes the system has taken."""
    least: float = 0.0
    """What it has used at least, for answered requests."""
    most: float = 0.0
    _asked: Look | None = field(default=None, repr=False)
    """When the request that is open was read."""

    @property
    def is_open(self) -> bool:
        """Whether a request waits for its answer."""
        return self._asked is not None

    def asked(self, look: Look) -> None:
        """Note that a request to move was read."""
        if self.renewed:
            self.least = self.most = 0.0
        self._asked = look

    def answered(self, now: float) -> None:
        """Note that the system has taken all bytes of the answer."""
        if self._asked is not None:
            self.least += now - self._asked.now
            self.most += now - self._asked.before
            self._asked = None
            self.moves += 1

    def lost(self, look: Look) -> Fault:
        """Return whose fault it is that the server has told of a loss on time."""
        least, most = self.least, self.most
        if self._asked is not None:
            least += max(0.0, look.before - self._asked.now)
            most += look.now - self._asked.before
        if most < self.clock:
            return Fault.SERVER
        return Fault.PLAYER if least >= self.clock else Fault.UNKNOWN

    def __str__(self) -> str:
        state = "had not answered" if self.is_open else f"had answered within {self.least:.3f} s"
        return f"{state}, after {self.moves} moves, of {self.clock:g} s"
