"""The house players: an adapter without connections.

A house player is the mailbox of its seat. Like any client, it answers a request to move with a command. The
hub opens one house player for each series. House players think in worker processes.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import trio

from adapters.client.boundary import contained
from adapters.house.thinking import Game, Thinker
from gateway.engines.catalogue import engine_named, is_installed
from gateway.game.commands import HOUSE_PLAYERS, NO_HOUSE, AtTable, Command, Enter, Leave, Play
from gateway.game.events import Dismissed, Ended, Event, ToMove
from gateway.game.manners import Afterwards, Illegal, Manners
from gateway.hub.hub import HubForPlayers
from gateway.hub.seats import Seat
from gateway.matchmaking.matchmaker import Opponent

MANNERS = Manners(
    kind="house", illegal=Illegal.FORFEIT, afterwards=Afterwards.HANG_UP, hears_itself=False, house=True
)


STAND_IN = "aimafast"
"""The house player for opponents that need one, on a server that offers none in the lobby."""
RESIDENT = replace(MANNERS, afterwards=Afterwards.STAND_BY, stays=True)
"""The manners of a house player at the table of a tournament."""


class House:
    """All house players of a server."""

    def __init__(
        self, hub: HubForPlayers, nursery: trio.Nursery, thinker: Thinker, lobby: Sequence[str] = ()
    ) -> None:
        self._hub = hub
        self._nursery = nursery
        self._thinker = thinker
        self._lobby = deque(name for name in lobby if name != NO_HOUSE)
        self._stand_in = None if NO_HOUSE in lobby else STAND_IN

    def has(self, name: str, opponent: Opponent) -> bool:
        """Return whether the player called `name` is installed and has enough time to play `opponent`."""
        return name in HOUSE_PLAYERS and is_installed(name) and self._thinker.fits(name, opponent)

    def open_seat(self, name: str, opponent: Opponent, now: float) -> Seat:
        """Open a seat in the hub for the player called `name`, against `opponent`, and return it."""
        game = self._thinker.begin(name, opponent)
        return HousePlayer(game, self._thinker, self._hub, self._nursery, now).seat

    def sit_down(self, name: str, table: str, now: float) -> Seat:
        """Seat the player called `name` at the table of a tournament, where it stays; return its seat.

        Raises EngineUnavailable if its engine is not installed.
        """
        engine_named(name)
        # Its opponents are not known yet, so it has the time limits of a game on a clock.
        game = self._thinker.begin(name, Opponent("", table, clocked=True))
        seat = HousePlayer(game, self._thinker, self._hub, self._nursery, now, RESIDENT).seat
        self._hub.submit(seat, Enter(AtTable(table), name), now)
        return seat

    def lobby_player(self, opponent: Opponent) -> str | None:
        """Return the next house player for an opponent from the lobby; None if no player has enough time."""
        for name in tuple(self._lobby):
            self._lobby.rotate(-1)
            if self._thinker.fits(name, opponent):
                return name
        stand_in = self._stand_in if opponent.needs_house and not self._lobby else None
        return stand_in if stand_in is not None and self._thinker.fits(stand_in, opponent) else None


class HousePlayer:
    """One house player: in one series, or at the table of a tournament."""

    is_reachable = True

    def __init__(
        self,
        game: Game,
        thinker: Thinker,
        hub: HubForPlayers,
        nursery: trio.Nursery,
        now: float,
        manners: Manners = MANNERS,
    ) -> None:
        self._game = game
        self._thinker = thinker
        self._hub = hub
        self._nursery = nursery
        self._search = trio.CancelScope()
        self.seat = hub.open(self, manners, now)

    def deliver(self, event: Event) -> None:
        """Start to think when asked to move; stop when the game is over."""
        match event:
            case ToMove():
                self._search = trio.CancelScope()
                self._nursery.start_soon(contained, "house", partial(self._move, event, self._search))
            case Ended():
                self._search.cancel()
            case Dismissed():
                self._search.cancel()
                self._thinker.end(self._game)
            case _:
                pass

    def resume(self) -> None:
        """Do nothing: a house player waits for no answer."""

    def probe(self) -> None:
        """Do nothing: the hub probes only seats that may belong to an earlier connection of a client."""

    def move_to(self, seat: Seat) -> None:
        """Do nothing: the connection of a house player never breaks."""

    def conclude(self, ended: Ended, *, is_last: bool) -> None:
        """Do nothing: the connection of a house player never breaks."""

    async def settle(self) -> None:
        """Return at once: a house player submits its move as soon as the engine has found it."""
        await trio.lowlevel.checkpoint()

    async def _move(self, request: ToMove, search: trio.CancelScope) -> None:
        self._hub.handed(self.seat, request, trio.current_time())
        answer: Command = Leave()  # if the engine fails
        try:
            with search:
                answer = Play(await self._thinker.column(self._game, request.board, request.rest))
        finally:
            if not search.cancelled_caught:
                self._hub.submit(self.seat, answer, trio.current_time())
