"""The time of the two sides in one game.

Reads no clock: the time comes in as `now`, in seconds of the hub's clock. A side's time runs from when its
request to move was sent until its move arrived.
"""

from dataclasses import dataclass

from gateway.game.board import Side

GRACE = 0.1
"""The most time, in seconds, that a player has left after a move that took longer than its remaining time."""


@dataclass(frozen=True, slots=True)
class TimeControl:
    """The time of a side."""

    budget: float
    """Seconds, more than 0."""
    renewed: bool = False
    """Whether the budget is for each move, and not for all moves of a game."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The time rules of all games of a server, in seconds."""

    clock: float = 42.0
    """A side's time for a whole game, in games on a clock."""
    penalty: float = 1.0
    """The seconds deducted for an illegal move of a player with `Illegal.PENALTY`."""
    idle: float = 300.0
    """A side's time for one move, in games without a clock."""
    rejoin: float = 10.0
    """How long a seat is kept for a player that has to ask for the next game."""
    grace: float = 0.0
    """How long a seat is kept during a game for a player whose connection broke; 0 if it is not kept."""

    def control(self, *, clocked: bool) -> TimeControl:
        """Return the time control of a game, which depends on whether the game is on a clock."""
        return TimeControl(self.clock) if clocked else TimeControl(self.idle, renewed=True)


class Clock:
    """The two sides' time in one game."""

    __slots__ = ("_control", "_rest", "_since", "_spent", "running")

    def __init__(self, control: TimeControl) -> None:
        self._control = control
        self._rest = [control.budget, control.budget]
        self._spent = [0.0, 0.0]
        self._since = 0.0
        self.running: Side | None = None
        """The side whose time runs; None while the clock is stopped."""

    @property
    def deadline(self) -> float | None:
        """When the flag of the running side falls; None while no side's time runs."""
        return None if self.running is None else self._since + self._rest[self.running]

    def rest(self, side: Side) -> float:
        """Return the seconds left to `side` after the latest start, stop or penalty."""
        return self._rest[side]

    def spent(self, side: Side) -> float:
        """Return the seconds that `side` has thought in this game so far, without penalties."""
        return self._spent[side]

    def start(self, side: Side, now: float) -> float:
        """Start the clock of `side`; return when its flag falls."""
        rest, control = self._rest, self._control
        if control.renewed:
            rest[side] = control.budget
        self.running = side
        self._since = now
        return now + rest[side]

    def running_for(self, now: float) -> float:
        """Return the seconds since the running clock was started; 0 if none runs."""
        return 0.0 if self.running is None else max(0.0, now - self._since)

    def stop(self, now: float) -> float:
        """Stop the running clock; return how many seconds it ran.

        The move counts as in time even if it took more than the remaining time. In that case at most `GRACE`
        seconds remain.
        """
        side = self.running
        if side is None:
            return 0.0
        self.running = None
        thought = now - self._since
        if thought <= 0:
            return 0.0
        left = self._rest[side] - thought
        self._spent[side] += thought
        self._rest[side] = left if left > 0 else min(GRACE, self._rest[side])
        return thought

    def charge(self, side: Side, seconds: float) -> bool:
        """Deduct a penalty of `seconds` from `side`; return whether nothing is left."""
        self._rest[side] = max(0.0, self._rest[side] - seconds)
        return self._rest[side] == 0
