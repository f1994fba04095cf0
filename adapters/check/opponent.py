"""The opponent in a bot's game: a seat in the hub, as the house players have, that follows a scenario.

Knows the hub, and what each deed takes there. Does not know dialects: the hub tells the bot of a deed as it
would of any opponent's.
"""

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Protocol

import trio

from adapters.check.checkup import Task
from adapters.check.scenarios import Deed
from gateway.game.board import COLUMNS, Board, Side, other
from gateway.game.commands import Leave, Play
from gateway.game.events import Ended, Event, Moved, Started, ToMove
from gateway.game.manners import Afterwards, Manners
from gateway.hub.hub import HubForPlayers

NAME = "checker"
_TURN = 2
"""The opponent's request to move at which its deed is due: by then both have moved."""
_FAR = 1e9
"""Seconds that are more than any clock has."""


class Player(Protocol):
    """The bot, as its opponent knows it."""

    slow: float
    """Seconds that a slow opponent takes."""
    nursery: trio.Nursery

    def begins(self, side: Side, leave: Callable[[], None]) -> Task | None:
        """Take note that a game begins, with the bot on this side; return what is to be played.

        Nothing is, if all has been. `leave` lets the opponent leave soon.
        """

    def moved(self, board: Board) -> None:
        """Take note of the bot's legal move."""

    def deed_done(self) -> None:
        """Take note that the opponent has done what is odd about it."""

    async def relay(self) -> None:
        """Tell the bot of an illegal move as the original server does, and give it time to read that."""

    def ping(self) -> None:
        """Ping the bot, where its dialect has pings."""

    def over(self, ended: Ended) -> None:
        """Take note of a game's end."""


class Opponent:
    """Plays one series, of which each game has a scenario of its own."""

    is_reachable = True

    def __init__(self, player: Player, hub: HubForPlayers, manners: Manners) -> None:
        self._player, self._hub, self._lot = player, hub, Random(1)
        self._task: Task | None = None
        self._side: Side = 0
        self._requests = 0
        self._request: ToMove | None = None
        self._has_done_it = False
        ends = manners.afterwards is Afterwards.HANG_UP
        self._manners = replace(
            manners,
            afterwards=Afterwards.HANG_UP if ends else Afterwards.STAND_BY,
            unique_name=False,
            strict_entry=False,
            entry_limit=None,
            house=True,
        )
        self.seat = hub.open(self, self._manners, trio.current_time())

    @property
    def deed(self) -> Deed:
        """What is odd about this opponent in the game that is on."""
        return Deed.NOTHING if self._task is None else self._task.scenario.deed

    def deliver(self, event: Event) -> None:
        """Begin to move when a move is asked for, and tell the player's side what happens."""
        match event:
            case Started(_, side):
                self._side, self._requests, self._has_done_it = side, 0, False
                self._task = self._player.begins(other(side), self.leave_soon)
            case ToMove():
                self._requests, self._request = self._requests + 1, event
                self._player.nursery.start_soon(self._move, event)
            case Moved(_, mover, _, board) if mover != self._side:
                self._player.moved(board)
            case Ended(column=column, board=board):
                if column is not None and board.turn == self._side:
                    self._player.moved(board)
                self._player.over(event)
            case _:
                pass

    def resume(self) -> None:
        """Do nothing: the opponent never asks to enter."""

    def probe(self) -> None:
        """Do nothing: the opponent keeps nobody out."""

    async def settle(self) -> None:
        """Return at once."""
        await trio.lowlevel.checkpoint()

    def leave_soon(self) -> None:
        """Leave, while the bot is to move."""
        self._player.nursery.start_soon(self._leave)

    async def _move(self, request: ToMove) -> None:
        await trio.lowlevel.checkpoint()  # the hub is not done yet
        is_due = self._requests >= (1 if self.deed is Deed.ABORT else _TURN) and not self._has_done_it
        if self._task is None:
            return
        if is_due and self.deed in (Deed.LEAVE, Deed.ABORT):
            await self._leave()
        elif is_due and self.deed is Deed.LOSE_ON_TIME:
            self._player.deed_done()
            self._hub.handed(self.seat, request, trio.current_time() - _FAR)
        else:
            if is_due and self.deed is Deed.DAWDLE:
                await self._dawdle()
            self._hub.handed(self.seat, request, trio.current_time())
            if is_due and self.deed is Deed.CHEAT:
                self._has_done_it = True
                self._player.deed_done()
                if self._task.scenario.as_original:
                    await self._player.relay()
                self._play(COLUMNS)
            if request is self._request:  # no other has come meanwhile
                self._play(self._task.scenario.strategy(request.board, self._lot))

    async def _dawdle(self) -> None:
        self._has_done_it = True
        self._player.deed_done()
        await trio.sleep(self._player.slow / 2)
        self._player.ping()
        await trio.sleep(self._player.slow / 2)

    async def _leave(self) -> None:
        await trio.lowlevel.checkpoint()
        self._player.deed_done()
        self._hub.submit(self.seat, Leave(), trio.current_time())

    def _play(self, column: int) -> None:
        self._hub.submit(self.seat, Play(column), trio.current_time())
