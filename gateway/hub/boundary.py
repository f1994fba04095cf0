"""The boundary at which a mistake of ours ends: it costs one game, and nobody else anything.

Each step of the hub that is about one game or one player stands in ``with boundary.contain(seat, now)``;
where every move comes by, the hub says the same without that. Nothing else in this package catches an
exception, but the feed. What a mistake has hit is not to be trusted, so its game ends without a winner and
both players are hung up on; each part of that is done even if another one fails; and nothing is tried twice.
"""

from collections.abc import Callable, Sequence
from functools import partial
from types import TracebackType
from typing import TypeAlias

from gateway.game.events import Dismissed, Why
from gateway.game.facts import Left
from gateway.hub.interfaces import Outgoing
from gateway.hub.remote import Away
from gateway.hub.seat import Gone, Seat, Seated
from gateway.hub.series import SeriesRunner
from gateway.hub.timers import Timers
from gateway.matchmaking.matchmaker import Matchmaker

OnFault: TypeAlias = Callable[[Sequence[str | None]], object]
"""Told of a mistake while its exception is handled, with the names of those who were hung up on."""


Subject: TypeAlias = Seat | Outgoing | Matchmaker
"""What a step is about: a seat, that of a mailbox, or the one that the matchmaker suspects."""


def reraise(_: Sequence[str | None]) -> None:
    """Raise the exception that is being handled: for those who want to know rather than go on."""
    raise  # noqa: PLE0704  there is one wherever a mistake is told of


class Boundary:
    """Ends what a mistake has hit."""

    def __init__(
        self,
        seats: dict[int, Seat],
        matchmaker: Matchmaker,
        runner: SeriesRunner,
        timers: Timers,
        on_fault: OnFault,
    ) -> None:
        """`seats` are those of the hub."""
        self._seats = seats
        self._matchmaker = matchmaker
        self._runner = runner
        self._timers = timers
        self._on_fault = on_fault

    def contain(self, subject: Subject, now: float) -> "Contained":
        """Return a block in which a mistake costs the subject its game and connection, its opponent too."""
        return Contained(self, subject, now)

    def cut_off(self, subject: Subject, now: float) -> bool:
        """Hang up on whoever a step was about, and on the opponent; return whether that was anybody.

        To be called while the exception is handled.
        """
        seats = self._seats_of(subject)
        series = dict.fromkeys(seat.situation.series for seat in seats if isinstance(seat.situation, Seated))
        hit = dict.fromkeys((*seats, *(seat for each in series for seat in each.seats)))
        going = [seat for seat in hit if not isinstance(seat.situation, Gone)]
        for each in series:
            self._attempt(partial(self._timers.flags.forget, each))
            self._attempt(partial(self._matchmaker.finished, each.match))
            self._attempt(partial(self._runner.stop, each, now))
        for seat in going:
            self.let_go(seat, Dismissed(Why.FAULT))
        self._on_fault([seat.name for seat in going])
        return bool(going)

    def let_go(self, seat: Seat, farewell: Dismissed) -> None:
        """Hang up on a seat that is in no series, or was cut off."""
        if isinstance(seat.situation, Away):
            self._attempt(seat.situation.game.leave)
        if seat.name is not None:
            self._attempt(partial(self._runner.feed.publish, Left(seat.number)))
        self._attempt(partial(self._matchmaker.leave, seat.number))
        self._attempt(partial(self._timers.forget, seat))
        self._seats.pop(seat.number, None)
        self._attempt(partial(seat.dismiss, farewell))

    def _seats_of(self, subject: Subject) -> list[Seat]:
        if isinstance(subject, Seat):
            return [subject]
        if subject is self._matchmaker:
            number = self._matchmaker.suspect()
            return [seat for seat in self._seats.values() if seat.number == number]
        return [seat for seat in self._seats.values() if seat.mailbox is subject]

    def _attempt(self, step: Callable[[], object]) -> None:
        try:
            step()
        except Exception:
            self._on_fault(())


class Contained:
    """The block around a step of the hub."""

    __slots__ = ("_boundary", "_now", "_subject", "has_hit")

    def __init__(self, boundary: Boundary, subject: Subject, now: float) -> None:
        self._boundary = boundary
        self._subject = subject
        self._now = now
        self.has_hit = False
        """Whether a mistake in the block has hit anybody."""

    def __enter__(self) -> "Contained":
        """Begin the step."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> bool:
        """End what a mistake has hit, if there was one."""
        if not isinstance(error, Exception):
            return False
        self.has_hit = self._boundary.cut_off(self._subject, self._now)
        return True
