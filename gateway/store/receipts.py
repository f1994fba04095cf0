"""A receipt for a game that was handed in: it says what became of it, to whoever waits to tell the players.

To whoever has told them it is the way for the evidence of this very game.

Knows trio, and belongs to the event loop's thread alone.
"""

from collections.abc import Callable, Sequence
from enum import Enum, auto

import trio

from gateway.game.board import Side
from gateway.game.events import Spoken


class Outcome(Enum):
    """What became of a game, as far as is known."""

    WAITING = auto()
    """It is not stored yet."""
    STORED = auto()
    """It is on disk."""
    LOGGED = auto()
    """It is in the log only, and will not be stored."""


class Receipt:
    """What became of one game."""

    __slots__ = ("_enclose", "_event", "_late", "_until", "outcome")

    def __init__(
        self, until: float, late: Callable[[], None], enclose: Callable[[Side, Sequence[Spoken]], None]
    ) -> None:
        """Let nobody wait beyond `until`, in trio's time; call `late` for each who did.

        Evidence goes to `enclose`.
        """
        self.outcome = Outcome.WAITING
        self._until = until
        self._late = late
        self._enclose = enclose
        self._event: trio.Event | None = None

    @property
    def is_open(self) -> bool:
        """Whether the game is not stored yet, and it is worth waiting until it is."""
        return self.outcome is Outcome.WAITING and trio.current_time() < self._until

    async def settled(self) -> Outcome:
        """Wait until the game is stored, for as long as it is worth waiting; return what is known then.

        Of any number who wait none holds up another.
        """
        if self.is_open:
            if self._event is None:
                self._event = trio.Event()
            with trio.move_on_at(self._until):
                await self._event.wait()
            if self.outcome is Outcome.WAITING:
                self._late()
        return self.outcome

    def enclose(self, side: Side, said: Sequence[Spoken]) -> None:
        """Hand in what one side said and heard. Never blocks. Of a game that is only logged it is dropped."""
        if self.outcome is not Outcome.LOGGED:
            self._enclose(side, said)

    def settle(self, outcome: Outcome) -> None:
        """Say what became of the game, once."""
        self.outcome = outcome
        if self._event is not None:
            self._event.set()
