"""Plays on one connection: receives news from the server, and answers with columns.

Speaks no dialect and opens no connection. One task listens all the time. A second task thinks about a
requested move, and is cancelled when the move is no longer needed. The end of play is returned and not
raised, because no kind of end is an error of this program.
"""

from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, auto
from typing import assert_never

import trio

from adapters.bot.choosers import Chooser, EndOfInput, EngineFailed
from adapters.bot.screen import Phase, Screen, Totals, Waiting
from adapters.client.contract import Flooded, PeerGone, WireError
from adapters.client.talk import AnyDialogue, Asked, Began, News, Over, Refused, Result, Spent
from adapters.dialects import DIALECTS
from gateway.game.board import Board
from gateway.options.terminal import listed

HINT = f"c4gateway has {listed([f'{each.name} at port {each.port}' for each in DIALECTS], 'and')}."
"""The hint to give if the port may be the wrong one."""

_LOST = "left in the middle of a game, which counts as lost"
_EARLY = "c4gateway counts no game that is left before both have moved, another server may count it as lost"


class Kind(Enum):
    """How the play on one connection can end."""

    PLAYED = auto()
    """All games are played."""
    LEFT = auto()
    """The play was stopped by a signal, or by the end of the input at the prompt."""
    SPENT = auto()
    """The next game needs another connection. This is no error."""
    LOST = auto()
    """The server is not there, is gone, or has no room for this player now."""
    REFUSED = auto()
    """The server refused this player, speaks another dialect, or is not trusted."""
    FAILED = auto()
    """The engine failed."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How the play on one connection ended."""

    kind: Kind
    words: str = ""
    """A description of the end, for people."""


class Play:
    """The play on one connection."""

    def __init__(
        self, dialogue: AnyDialogue, chooser: Chooser, totals: Totals, screen: Screen, waiting: Waiting
    ) -> None:
        self._dialogue = dialogue
        self._chooser = chooser
        self._totals = totals
        self._screen = screen
        self._waiting = waiting
        self._board: Board | None = None
        """The latest board of the game that is on."""
        self._thought = trio.CancelScope()
        self._thinks_of: Board | None = None
        self._ended_by_player: Ending | None = None

    async def run(self) -> Ending:
        """Play until all games are played, or the connection can no longer be used."""
        ending = Ending(Kind.LEFT)
        try:
            async with trio.open_nursery() as nursery:
                ending = await self._listen(nursery)
                nursery.cancel_scope.cancel()
        finally:
            if self._board is not None:
                self._totals.add(Over(Result.CUT_OFF, self._board))
                if ending.kind is Kind.LEFT and not self._board.over:
                    self._screen.warn(_LOST if len(self._board.moves) > 1 else f"left a game: {_EARLY}")
        return self._ended_by_player or ending

    async def _listen(self, nursery: trio.Nursery) -> Ending:
        try:
            await self._dialogue.hello()
            while True:
                news = await self._hear()
                for item in news:
                    self._take(item, nursery)
                self._waiting.at(self._phase())
                if self._totals.is_complete:
                    return Ending(Kind.PLAYED)
                if Spent() in news:
                    return Ending(Kind.SPENT)
                if any(isinstance(item, Over) for item in news):
                    await self._dialogue.again()
        except PeerGone:
            if self._dialogue.may_end:
                return Ending(Kind.SPENT)
            words = (
                "the server hung up" if self._dialogue.understood else f"the server gives no answer. {HINT}"
            )
            return Ending(Kind.LOST, words)
        except Refused as refusal:
            return Ending(Kind.LOST if refusal.passes else Kind.REFUSED, f"the server refused: {refusal}")
        except (WireError, Flooded):
            return Ending(Kind.REFUSED, f"the server speaks another dialect. {HINT}")

    def _phase(self) -> Phase | None:
        """Return the phase in which the player waits; None while a game is on."""
        if self._board is not None:
            return None
        return Phase.LOOKING if self._dialogue.understood else Phase.GREETING

    async def _hear(self) -> list[News]:
        while True:
            try:
                return await self._dialogue.hear()
            except WireError as error:
                if not self._dialogue.understood:
                    raise
                self._screen.warn(f"cannot understand the server: {error}")

    def _take(self, news: News, nursery: trio.Nursery) -> None:
        match news:
            case Began():
                self._thought.cancel()
                self._board = Board()
                self._screen.began(news)
            case Asked(board):
                if board != self._thinks_of:
                    self._thought.cancel()
                    self._board = self._thinks_of = board
                    self._thought = trio.CancelScope()
                    self._screen.position(board)
                    nursery.start_soon(self._answer, news, self._thought, nursery)
            case Over():
                self._thought.cancel()
                self._board = self._thinks_of = None
                self._totals.add(news)
                self._screen.over(news)
            case Spent():
                pass
            case _:
                assert_never(news)

    async def _answer(self, asked: Asked, thought: trio.CancelScope, nursery: trio.Nursery) -> None:
        """Think, and move. A move is sent whole, because half a message would break the connection."""
        start = trio.current_time()
        try:
            with thought:
                column = await self._chooser.choose(asked)
        except EndOfInput:
            self._ended_by_player = Ending(Kind.LEFT)
        except EngineFailed as failure:
            self._screen.report(failure.report)
            self._ended_by_player = Ending(Kind.FAILED, str(failure))
        if self._ended_by_player is not None:
            nursery.cancel_scope.cancel()
        elif not thought.cancel_called:
            self._thinks_of = None
            self._totals.moved(trio.current_time() - start)
            self._board = asked.board.drop(column)
            if not self._board.over:  # the result shows the final board
                self._screen.position(self._board)
            await self._send(column)

    async def _send(self, column: int) -> None:
        with suppress(PeerGone):  # the listening task will notice
            await self._dialogue.move(column)
