"""The boundary behind which a mistake of ours ends: it costs one game, and nobody else anything.

Knows which seats a step of the hub is about, their series, and where else the hub remembers them. Does not
know what went wrong. The rules it keeps: what a fault has hit is not to be trusted, so its game ends without
a winner and both players are hung up on; each part of that is done even where another one fails; and nothing
is tried twice.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TypeAlias

from gateway.game.events import Dismissed, Why
from gateway.hub.admission import Admission
from gateway.hub.seat import Gone, Seat, Seated, Series
from gateway.hub.series import SeriesRunner
from gateway.hub.timers import Timers

OnFault: TypeAlias = Callable[[Sequence[str | None]], object]
"""Told of a fault while its exception is handled, with the names of those who were hung up on."""


def reraise(_: Sequence[str | None]) -> None:
    """Raise the exception that is being handled: for who would rather know than go on."""
    raise  # noqa: PLE0704  there is one wherever a fault is told of


class Boundary:
    """Ends what a fault has hit."""

    def __init__(
        self,
        seats: dict[Seat, None],
        admission: Admission,
        runner: SeriesRunner,
        timers: Timers,
        on_fault: OnFault,
    ) -> None:
        """`seats` are those of the hub."""
        self._seats = seats
        self._admission = admission
        self._runner = runner
        self._timers = timers
        self._on_fault = on_fault

    @contextmanager
    def around(self, now: float, *seats: Seat) -> Iterator[None]:
        """Let an exception in the block cost these seats their connections and their games, and end here."""
        try:
            yield
        except Exception:
            self.cut_off(seats, now)

    def cut_off(self, seats: Sequence[Seat], now: float) -> None:
        """Hang up on seats that a fault has hit, and on whom they play. To be called while it is handled."""
        series = dict.fromkeys(found for seat in seats if (found := _series_of(seat)) is not None)
        hit = dict.fromkeys((*seats, *(seat for each in series for seat in each.seats)))
        going = [seat for seat in hit if not isinstance(seat.situation, Gone)]
        for each in series:
            self._attempt(partial(self._timers.flags.forget, each))
            self._attempt(partial(self._runner.forget, each))
            self._attempt(partial(self._runner.stop, each, now))
        for seat in going:
            self.let_go(seat, Dismissed(Why.FAULT))
        self._on_fault([seat.name for seat in going])

    def let_go(self, seat: Seat, farewell: Dismissed) -> None:
        """Hang up on a seat that is in no series, or was cut off."""
        self._attempt(partial(self._admission.let_out, seat))
        self._attempt(partial(self._timers.forget, seat))
        self._seats.pop(seat, None)
        self._attempt(partial(seat.dismiss, farewell))

    def _attempt(self, step: Callable[[], object]) -> None:
        try:
            step()
        except Exception:
            self._on_fault(())


def _series_of(seat: Seat) -> Series | None:
    return seat.situation.series if isinstance(seat.situation, Seated) else None
