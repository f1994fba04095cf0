"""The client's side of the arena dialect: a connection to any server of it, and a player's part in the talk.

A `start` asks for every game. The talk minds three weaknesses of the original, which costs nothing where
they are not: it may lose the first message of a connection, so after a silence the player asks whether it
was heard; two players that start again at the same moment wait for ever, so the sides start again at
different moments; and a connection whose opponent left is in confusion from then on (PROTOCOL.md 4), which
shows by a `state` out of turn before `disconnected`: then another connection is needed.
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from ssl import SSLContext
from typing import TypeAlias, assert_never

from adapters.arena.codec import ArenaClientCodec
from adapters.arena.messages import (
    ClientMessage,
    Disconnected,
    Encoding,
    End,
    Ignored,
    Move,
    Said,
    ServerMessage,
    Start,
    State,
    StateRequest,
)
from adapters.client.contract import WireError
from adapters.client.dial import Client, open_websocket
from adapters.client.talk import Asked, Began, Dialogue, Entry, News, Over, Refused, Result, Spent, Talk
from gateway.game.board import FIRST, SECOND, Board, Side

ArenaClient: TypeAlias = Client[ClientMessage, ServerMessage]

PAUSES = (0.1, 0.3)
"""Seconds between `end` and the next `start`, for the one who moved first, and for the other."""
PATIENCE = 10
"""How often in a row a server may ignore what has its place."""

_UNHEARD = "Only start messages allowed in current state"
_WAITING = "Waiting for match"
_PASSING = ("Table is full", "This player is not available now")
"""Reasons that may be gone later."""
_SAID = Said("{}")


@asynccontextmanager
async def open_client(
    url: str, encoding: Encoding, token: str | None = None, tls: SSLContext | None = None
) -> AsyncIterator[ArenaClient]:
    """Connect to a server, such as ``ws://127.0.0.1:8001``. Raises OSError, PeerGone."""
    async with open_websocket(url, token, tls) as line:
        yield Client(line, ArenaClientCodec(encoding))


@asynccontextmanager
async def open_dialogue(entry: Entry) -> AsyncIterator[Dialogue[ClientMessage, ServerMessage]]:
    """Connect to a server as a player. Raises OSError, PeerGone."""
    encoding = Encoding(entry.encoding or Encoding.JSON)
    async with open_client(entry.address.url(), encoding, entry.token, entry.tls) as client:
        yield Dialogue(client, ArenaTalk(entry))


class ArenaTalk(Talk[ClientMessage, ServerMessage]):
    """The conversation on one connection."""

    def __init__(self, entry: Entry) -> None:
        self._start = Start(_SAID, entry.name, entry.against, entry.table)
        self._board = Board()
        self._side: Side = FIRST
        self._playing = False
        self._final: State | None = None
        self._moved_on: Board | None = None
        """The board that was answered with a move."""
        self._asked = False
        """Whether a `state_request` is open."""
        self._out_of_turn = False
        """Whether the latest message was a `state` that tells nothing new and was not asked for."""
        self._may_doubt = False
        self._ignored = 0

    def hello(self) -> Sequence[ClientMessage]:
        """Return what is said first."""
        return self._starting()

    def again(self) -> tuple[float, Sequence[ClientMessage]]:
        """Return the next `start`."""
        return PAUSES[self._side], self._starting()

    def move(self, column: int) -> ClientMessage:
        """Return the move."""
        self._moved_on = self._board
        return Move(_SAID, column)

    def doubt(self) -> Sequence[ClientMessage]:
        """Return a `state_request`, whose answer tells whether the `start` was heard."""
        if not self._may_doubt:
            return []
        self._may_doubt = False
        return [self._state_request()]

    def hear(self, message: ServerMessage) -> Iterator[News | ClientMessage]:
        """Yield what a message means, and what is to be answered. Raises Refused, WireError."""
        self._may_doubt = False
        match message:
            case State():
                yield from self._state(message)
            case Ignored(_, reason):
                yield from self._was_ignored(reason)
            case Disconnected():
                self._asked = False
                if self._playing:
                    self._playing = False
                    yield Over(Result.LEFT, self._board, self._side, "disconnected")
                if self._out_of_turn:
                    yield Spent()
            case End():
                yield self._end()
            case _:
                assert_never(message)

    def _starting(self) -> list[ClientMessage]:
        self._may_doubt = True
        return [self._start]

    def _state_request(self) -> StateRequest:
        self._asked = True
        return StateRequest(_SAID)

    def _state(self, state: State) -> Iterator[News]:
        self._board = _replayed(state.moves)
        self._side = FIRST if state.you == 1 else SECOND
        self._ignored = 0
        self._out_of_turn = (
            self._playing and not self._asked and state.last_move is None and state.winner is None
        )
        self._asked = False
        if not self._playing:
            self._playing, self._moved_on = True, None
            yield Began(self._side)
        if state.winner is not None:
            self._final = state
        elif state.turn == state.you and self._board != self._moved_on:
            yield Asked(self._board)

    def _was_ignored(self, reason: str) -> Iterator[ClientMessage]:
        doubted, self._asked = self._asked, False
        self._ignored += 1
        if self._ignored > PATIENCE:
            raise Refused(reason)
        if self._playing:  # a move was not taken: perhaps the game is another than it seemed
            self._moved_on = None
            yield self._state_request()
        elif reason == _UNHEARD:
            if doubted:  # otherwise it was a move that crossed the end of its game, and the start was heard
                yield from self._starting()
        elif reason != _WAITING:
            raise Refused(reason, passes=reason in _PASSING)

    def _end(self) -> News:
        if not self._playing:
            return Spent()
        final, self._final = self._final, None
        self._playing = False
        if final is None:
            return Over(Result.CUT_OFF, self._board, self._side)
        why = "" if self._board.over else "out of time, or forfeited"
        if final.winner == 0:
            return Over(Result.DRAWN, self._board, self._side, why)
        result = Result.WON if final.winner == final.you else Result.LOST
        return Over(result, self._board, self._side, why)


def _replayed(moves: Sequence[int]) -> Board:
    board = Board()
    try:
        for column in moves:
            board = board.drop(column)
    except ValueError as error:
        raise WireError(f"moves that are none: {error}") from None
    return board
