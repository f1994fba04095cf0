"""The hub as it is used by those outside it: connections, house players, the timekeeper.

Knows which mailboxes got something. Does not know what a mailbox is. While the hub works, events wait in
the mailboxes; when it is done, and only then, each mailbox that got any may pass them on. So an answer
leaves in the same turn of the loop in which its cause came in, and still the hub never calls anybody.

Whatever goes wrong behind the dispatcher, by a mistake of ours, ends here or before: it raises nothing.
"""

import random
from collections.abc import Iterator
from typing import Protocol

from gateway.game.commands import Command
from gateway.game.ids import GameId
from gateway.game.results import Results
from gateway.hub.boundary import OnFault, reraise
from gateway.hub.hub import Hub, Rules
from gateway.hub.seat import Mailbox, Seat


class Outgoing(Mailbox, Protocol):
    """A mailbox that can pass on at once what it holds."""

    def flush(self) -> None:
        """Pass on what leaves without waiting. MUST NOT block or raise.

        Of the hub it MAY call `handed` alone.
        """


class Dispatcher(Hub):
    """A hub whose news leave when it is done."""

    def __init__(
        self,
        rules: Rules,
        lot: random.Random,
        results: Results | None = None,
        on_fault: OnFault = reraise,
        games: Iterator[GameId] | None = None,
    ) -> None:
        super().__init__(rules, lot, results, on_fault, games)
        self._unsent: list[Outgoing] = []

    def expect(self, mailbox: Outgoing) -> None:
        """Flush `mailbox` when the hub is done: it has just got something."""
        self._unsent.append(mailbox)

    def submit(self, seat: Seat, command: Command, now: float) -> None:
        """Carry out or refuse a command; see `Hub.submit`."""
        try:
            super().submit(seat, command, now)
        except Exception:
            self._boundary.cut_off((seat,), now)
        self._pass_on(now)

    def tick(self, now: float) -> list[Seat]:
        """Do what is due, and return the seats whose time is up; see `Hub.tick`."""
        seats = super().tick(now)
        self._pass_on(now)
        return seats

    def flag(self, seat: Seat, now: float) -> None:
        """Let the seat lose on time, unless its move has been read meanwhile; see `Hub.flag`."""
        with self._boundary.around(now, seat):
            super().flag(seat, now)
        self._pass_on(now)

    def fail(self, seat: Seat, now: float) -> None:
        """Hang up on a seat and whom it plays, for a mistake of ours: the one that is being handled."""
        self._boundary.cut_off((seat,), now)
        self._pass_on(now)

    def close(self, now: float) -> None:
        """Say good-bye to everybody; see `Hub.close`."""
        super().close(now)
        self._pass_on(now)

    def _pass_on(self, now: float) -> None:
        while self._unsent:
            mailbox = self._unsent.pop()
            try:
                mailbox.flush()
            except Exception:
                self._boundary.cut_off([seat for seat in self._seats if seat.mailbox is mailbox], now)
