"""The house: players of the server's own, as an adapter without a wire.

A house player is the mailbox of its seat and answers a request to move with a command, like any client.
The hub summons one for each series; it thinks in a worker process and is gone with its series.
"""

from collections.abc import Sequence
from functools import partial
from itertools import cycle

import trio

from adapters.connection import guarded
from adapters.house.thinking import Thinker
from gateway.commands import HOUSE_PLAYERS, Command, Leave, Play
from gateway.desk import Desk
from gateway.engines import EngineUnavailable
from gateway.engines.catalogue import engine_named
from gateway.events import Dismissed, Ended, Event, ToMove
from gateway.manners import Afterwards, Illegal, Manners
from gateway.seat import Seat

MANNERS = Manners(
    kind="house", illegal=Illegal.FORFEIT, afterwards=Afterwards.HANG_UP, hears_itself=False, house=True
)


class House:
    """All house players of a server."""

    def __init__(
        self, desk: Desk, nursery: trio.Nursery, thinker: Thinker, lobby: Sequence[str] = ()
    ) -> None:
        self._desk = desk
        self._nursery = nursery
        self._thinker = thinker
        self._lobby = cycle(lobby) if lobby else None

    def has(self, name: str) -> bool:
        """Whether the player called `name` can come."""
        return name in HOUSE_PLAYERS and is_installed(name)

    def summon(self, name: str, now: float) -> Seat:
        """Open a seat in the hub for the player called `name`, and return it."""
        return HousePlayer(name, self._desk, self._nursery, self._thinker, now).seat

    def lobby_player(self) -> str | None:
        """Return who is to meet a player whom nobody else meets, somebody else each time, or nobody."""
        return None if self._lobby is None else next(self._lobby)


class HousePlayer:
    """One house player in one series."""

    def __init__(self, name: str, desk: Desk, nursery: trio.Nursery, thinker: Thinker, now: float) -> None:
        self._name = name
        self._desk = desk
        self._nursery = nursery
        self._thinker = thinker
        self._search = trio.CancelScope()
        self.seat = desk.open(self, MANNERS, now)

    def deliver(self, event: Event) -> None:
        """Start to think when a move is asked for; stop when the game is over."""
        match event:
            case ToMove():
                self._search = trio.CancelScope()
                self._nursery.start_soon(guarded, "house", partial(self._move, event, self._search))
            case Ended() | Dismissed():
                self._search.cancel()
            case _:
                pass

    async def settle(self) -> None:
        """Return at once: a house player's move is submitted the moment it is found."""
        await trio.lowlevel.checkpoint()

    async def _move(self, request: ToMove, search: trio.CancelScope) -> None:
        self._desk.handed(self.seat, request, trio.current_time())
        answer: Command = Leave()  # what happens where the engine fails
        try:
            with search:
                answer = Play(await self._thinker.column(self._name, request.board, request.rest))
        finally:
            if not search.cancelled_caught:
                self._desk.submit(self.seat, answer, trio.current_time())


def is_installed(name: str) -> bool:
    """Whether what the player called `name` needs is there."""
    try:
        engine_named(name)
    except EngineUnavailable:
        return False
    return True
