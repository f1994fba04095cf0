"""Plays on one connection: receives news from the server, and answers with columns.

Speaks no dialect and opens no connection. One task listens all the time. A second task thinks about a
requested move, and is cancelled when the move is no longer needed. The end of play is returned and not
raised, because no kind of end is an error of this program. A game whose connection broke may go on in the
play on a later connection.
"""

from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import assert_never

import trio

from adapters.bot.choosers import Chooser, EndOfInput, EngineFailed
from adapters.bot.screen import Phase, Screen, Totals, Waiting
from adapters.client.contract import Flooded, PeerGone, WireError
from adapters.client.talk import AnyDialogue, Asked, Began, News, Over, Refused, Result, Spent
from adapters.dialects import all_dialects
from gateway.game.board import Board, Side
from gateway.options.terminal import listed

BACK_LIMIT = 8.0
"""Seconds in which a game has to go on after the player has come back. A server may take 6 to find out that
the earlier connection is dead."""

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
    BROKEN = auto()
    """The connection broke in the middle of a game, to which the player may come back."""
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


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A game whose connection broke, and to which the player may come back."""

    since: float
    """When the connection broke."""
    board: Board
    """The board at the latest request to move, since the player's answer may be lost. Empty if the game is
    played again from the start."""
    side: Side | None
    """The player's side; None if it is not known."""
    opponent: str | None
    """The opponent's name; None if the server does not say."""

    def may_go_on_as(self, began: Began) -> bool:
        """Return whether this may be the game that begins now, by what the server says at its beginning."""
        return (began.side, began.opponent) in ((self.side, self.opponent), (None, None))

    def goes_on_at(self, board: Board, side: Side | None) -> bool:
        """Return whether a later board may be of this game, in which the player plays `side`."""
        are_there = [mine & ~later == 0 for mine, later in zip(self.board.discs, board.discs, strict=True)]
        return all(are_there) and (None in (side, self.side) or side == self.side)


def hint() -> str:
    """Return the sentence to add if the port may be the wrong one."""
    return f"c4gateway has {listed([f'{each.name} at port {each.port}' for each in all_dialects()], 'and')}."


def what_leaving_means(board: Board) -> str:
    """Return what it means to leave a game with this board."""
    return _LOST if len(board.moves) > 1 else f"left a game: {_EARLY}"


class Play:
    """The play on one connection."""

    def __init__(
        self,
        dialogue: AnyDialogue,
        chooser: Chooser,
        totals: Totals,
        screen: Screen,
        waiting: Waiting,
        unfinished: Unfinished | None = None,
    ) -> None:
        """`unfinished` is a game of an earlier connection that may go on."""
        self._dialogue = dialogue
        self._chooser = chooser
        self._totals = totals
        self._screen = screen
        self._waiting = waiting
        self._connected = trio.current_time()
        self.unfinished = unfinished
        """The game of an earlier connection, until the server shows that it goes on or is over. After `run`,
        the game to which the player may come back, if there is one."""
        self._board: Board | None = None
        """The latest board of the game that is on."""
        self._asked = Board()
        """The board at the latest request to move in this game."""
        self._side: Side | None = None
        self._opponent: str | None = None
        self._is_replay = False
        """Whether this game is played again from the start."""
        self._thought = trio.CancelScope()
        self._thinks_of: Board | None = None
        self._ended_by_player: Ending | None = None

    async def run(self) -> Ending:
        """Play until all games are played, or the connection can no longer be used."""
        ending = Ending(Kind.LEFT)
        try:
            async with trio.open_nursery() as nursery:
                if self.unfinished is not None:
                    self._dialogue.recall(self.unfinished.board)
                    nursery.start_soon(self._wait_for, self.unfinished)
                ending = await self._listen(nursery)
                nursery.cancel_scope.cancel()
        finally:
            if ending.kind is Kind.BROKEN:
                since = trio.current_time()
                if self.unfinished is None:
                    board = Board() if self._dialogue.replays else self._asked
                    self.unfinished = Unfinished(since, board, self._side, self._opponent)
                else:
                    self.unfinished = replace(self.unfinished, since=since)
            elif self._board is not None:
                self.unfinished = None  # the game that is on may be this one; one game counts once
                self._totals.add(Over(Result.CUT_OFF, self._board))
                if ending.kind is Kind.LEFT and not self._board.over:
                    self._screen.warn(what_leaving_means(self._board))
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
            kind, words = Kind.LOST, "the server hung up"
            # A game that is played again is not played a third time
            if self._board is not None and not self._is_replay and not self._dialogue.has_farewell:
                kind, words = Kind.BROKEN, "the connection broke in the middle of a game"
            elif not self._dialogue.understood:
                words = f"the server gives no answer. {hint()}"
            return Ending(kind, words)
        except Refused as refusal:
            return Ending(Kind.LOST if refusal.passes else Kind.REFUSED, f"the server refused: {refusal}")
        except (WireError, Flooded):
            return Ending(Kind.REFUSED, f"the server speaks another dialect. {hint()}")

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
            case Began(side, opponent):
                self._thought.cancel()
                self._board, self._asked, self._side, self._opponent = Board(), Board(), side, opponent
                self._is_replay = False
                if self.unfinished is None or not self._come_back(self.unfinished, news):
                    self._screen.began(news)
            case Asked(board):
                if board != self._thinks_of:
                    self._thought.cancel()
                    self._side = board.turn
                    self._settle(board, self._side)
                    self._board = self._thinks_of = self._asked = board
                    self._thought = trio.CancelScope()
                    self._screen.position(board)
                    nursery.start_soon(self._answer, news, self._thought, nursery)
            case Over(result, board, side):
                self._thought.cancel()
                if result is Result.CUT_OFF:
                    self.unfinished = None  # the board may be unknown, and one game counts once
                else:
                    self._settle(board, side)
                self._board = self._thinks_of = None
                self._totals.add(news)
                self._screen.over(news)
            case Spent():
                pass
            case _:
                assert_never(news)

    def _come_back(self, game: Unfinished, began: Began) -> bool:
        """Say that the player is back. Return whether its unfinished game seems to go on where it broke off.

        A game may look like the unfinished one at its beginning, and its first board show that it is not.
        """
        if not game.may_go_on_as(began):
            self._lose(game, self._back(game))
            return False
        self._board, self._is_replay = game.board, self._dialogue.replays
        what = "a game begins, which counts as the same one" if self._is_replay else "the game goes on"
        self._screen.warn(f"{self._back(game)}; {what}")
        return not self._is_replay

    async def _wait_for(self, game: Unfinished) -> None:
        """Give up the unfinished game if no game begins soon."""
        await trio.sleep(BACK_LIMIT)
        if self.unfinished is not None and self._board is None:
            self._lose(game, self._back(game))

    def _settle(self, board: Board, side: Side | None) -> None:
        """Find out by a board, as soon as there is one, whether the unfinished game goes on."""
        game, self.unfinished = self.unfinished, None
        if game is not None and not game.goes_on_at(board, side):
            self._lose(game, "another game has begun")

    def _back(self, game: Unfinished) -> str:
        return f"back after {self._connected - game.since:.1f} s"

    def _lose(self, game: Unfinished, words: str) -> None:
        """Count the unfinished game as one without a result. `words` say how that was found out."""
        self.unfinished = None
        self._totals.add(Over(Result.CUT_OFF, game.board))
        self._screen.warn(f"{words}; the game whose connection broke is over, and its result is not known")

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
