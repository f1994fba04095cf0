"""A table at which at least one player is a bot on a wire: two ports, and a process for each player.

It takes some games of its pairing at a time, so that all tables end together. A bot that ends after a game,
as it should or not, is started again; one that fails several times without a game in between plays no more,
and all others go on.
"""

import trio

from adapters.match import bots
from adapters.match.match import PATIENCE, TRIES, Match
from adapters.match.server import HOST
from adapters.match.tables import Series
from gateway.game.ids import GameId
from gateway.game.text import quoted
from gateway.match.worker import MARGIN
from gateway.options.terminal import in_one_line
from gateway.runtime import children

NOTICE = 10.0
"""Seconds until it is told that a bot asks for no game: it may be looking for one elsewhere."""
SHOWN = 80
"""Characters of such a text that are shown."""


class _Seated:
    """What changes of one player at a table: whether it has a place."""

    def __init__(self) -> None:
        self.there = trio.Event()
        self.gone = trio.Event()
        self.gone.set()

    def change(self, *, there: bool) -> None:
        before, after = (self.gone, self.there) if there else (self.there, self.gone)
        if before.is_set():
            if there:
                self.gone = trio.Event()
            else:
                self.there = trio.Event()
        after.set()


class WireTable:
    """Two players of whom at least one is a bot on a wire."""

    def __init__(self, match: Match, number: int, pairing: int) -> None:
        self.pairing = pairing
        self.unplayed: list[int] = []
        """The games that the table has taken and that are not over."""
        self._match = match
        self._number = number
        self._players = match.schedule.pairings[pairing]
        self._seated = (_Seated(), _Seated())
        self._failures = [0, 0]
        """Of each player's process, without a game between them."""
        self._not_played = [0, 0]
        """Games that each player left or lost before it began to play, one after the other."""
        self._late = [0, 0]
        """Late moves in the game that is on."""
        self._games = [0, 0]
        """Games of each player, with those that its opponent left or lost before it began to play."""
        self._over = trio.Event()

    async def run(self) -> None:
        """Play until the pairing has no more games. Raises OSError."""
        server = self._match.server
        names = [f"{self._number}.{self.pairing}.{side}" for side in (0, 1)]
        self._match.opened(self)
        try:
            async with trio.open_nursery() as nursery:
                for side, name in enumerate(names):
                    port = await server.listen(nursery, name, self, side)
                    nursery.start_soon(self._keep, side, port)
                await self._over.wait()
                nursery.cancel_scope.cancel()
        finally:
            self._match.closed(self)
            for name in names:
                server.close(name)

    def stop_if_dropped(self, player: int) -> None:
        """Play no more if that is one of its players."""
        if player in self._players:
            self.unplayed = []
            self._over.set()

    # What the matchmaker asks and tells.

    def plan(self) -> Series | None:
        """Return the games that can follow each other: colours swap with each of them."""
        if not self._has_more():
            return None
        first = self.unplayed[0]
        games = 1
        while games < len(self.unplayed) and (self.unplayed[games] - first) % 2 == games % 2:
            games += 1
        return Series(first % 2, games)

    def _has_more(self) -> bool:
        """Whether there is a game to be played; if none, the table is over."""
        self.unplayed = self.unplayed or self._match.schedule.take(self.pairing)
        if not self.unplayed:
            self._over.set()
        return bool(self.unplayed)

    def seated(self, side: int, *, there: bool) -> None:
        """Note that a player has a place, or has none any more."""
        self._seated[side].change(there=there)

    def started(self, game: GameId, opener: int) -> None:
        """Note that a game began: the next one in which this side opens."""
        number = next((each for each in self.unplayed if each % 2 == opener), None)
        self._late = [0, 0]
        if number is not None:
            self._match.started(game, self, number)

    def ended(self) -> None:
        """Note that a game has a result."""
        self._games = [games + 1 for games in self._games]
        self._failures = [0, 0]
        self._not_played = [0, 0]

    def not_played(self, side: int, why: str) -> None:
        """Play the game again, unless that has been so too often."""
        self._games[1 - side] += 1
        self._not_played[side] += 1
        if self._not_played[side] == TRIES:
            self._match.drop(self._players[side], f"{TRIES} times in a row {why}")

    def moved(self, side: int, seconds: float) -> bool:
        """Note how long a move took; return whether it is too late to be played."""
        plan = self._match.plan
        is_engine = not bots.is_command(plan.players[self._players[side]][1])
        if not is_engine or plan.think is None or seconds <= plan.think + MARGIN:
            return False
        self._late[side] += 1
        self._tell(side, f"took {seconds:.2f} s for a move, with --think {plan.think:g}")
        return plan.strict

    def late_moves(self) -> tuple[int, int]:
        """Return how many late moves the players made in the game that is on."""
        return self._late[0], self._late[1]

    def unreadable(self, side: int, text: str) -> None:
        """Tell of a text that is no message."""
        self._tell(side, f"sent what is no message of its dialect: {quoted(text[:SHOWN])}")

    # The processes.

    async def _keep(self, side: int, port: int) -> None:
        """Start a player's process, and start it again when it ends, until it fails too often."""
        name, text = self._match.plan.players[self._players[side]]
        if bots.is_command(text):
            words = bots.command(text, name, HOST, port)
        else:
            words = bots.engine(text, name, f"{HOST}:{port}", self._match.plan.think)
        log = self._match.log(name)
        while self._failures[side] < TRIES and self._has_more():
            since, games = children.size(log), self._games[side]
            try:
                async with children.process(words, log) as process:
                    ending = await self._ending(process, side, port)
                if ending or games == self._games[side]:
                    ending = f"{ending or 'ended without a game'}: {children.last_words(log, since)}"
            except OSError as error:
                ending = f"cannot be started: {in_one_line(error)}"
            if ending:
                self._failures[side] += 1
                self._tell(side, ending)
        if self._failures[side] == TRIES:
            self._match.drop(self._players[side], f"failed {TRIES} times in a row before its first move")

    async def _ending(self, process: trio.Process, side: int, port: int) -> str:
        """Wait for a process's end; return what is wrong with it, if anything is."""
        said = ""
        async with trio.open_nursery() as nursery:

            async def watch() -> None:
                nonlocal said
                if await self._stays_away(side):
                    said = f"asked for no game within {PATIENCE:g} s"
                    nursery.cancel_scope.cancel()

            nursery.start_soon(watch)
            if not self._failures[side]:
                nursery.start_soon(self._remind, side, port)
            status = await process.wait()
            said = children.how_it_ended(status) if status else ""
            nursery.cancel_scope.cancel()
        return said

    async def _remind(self, side: int, port: int) -> None:
        """Tell of a player that has no place after a while."""
        with trio.move_on_after(NOTICE) as waiting:
            await self._seated[side].there.wait()
        if waiting.cancelled_caught:
            where = f"asks for no game at {HOST}:{port} yet"
            self._tell(side, f"{where}; does it go to the port that {{port}} in its command says?")

    async def _stays_away(self, side: int) -> bool:
        """Return once a player has had no place for too long."""
        seated = self._seated[side]
        while True:
            with trio.move_on_after(PATIENCE):
                await seated.there.wait()
                await seated.gone.wait()
                continue
            if not seated.there.is_set():
                return True
            await seated.gone.wait()

    def _tell(self, side: int, what: str) -> None:
        player = self._players[side]
        self._match.complain(player, what, self._match.log(self._match.plan.names[player]))
