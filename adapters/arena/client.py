"""The client's side of arena: a connection to any server of the dialect, and a player's dialogue on it.

`ArenaTalk` works around three weaknesses of the original server. A comment beside the code describes each.
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
"""Seconds between `end` and the next `start`: for the player who moved first, and for the other.

The pauses differ because two players that start again at the same moment on the original server wait forever.
"""
PATIENCE = 10
"""How many messages in a row a server may ignore before the player gives up."""

_NOT_ENTERED = "Only start messages allowed in current state"
_WAITING = "Waiting for match"
_TEMPORARY = ("Table is full", "This player is not available now")
"""Reasons for which a `start` is refused now and may be accepted later."""
_NO_COPY = Said("{}")


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
    """A player's dialogue on one connection. Each game begins with a `start`."""

    def __init__(self, entry: Entry) -> None:
        self._start = Start(_NO_COPY, entry.name, entry.against, entry.table)
        self._board = Board()
        self._side: Side = FIRST
        self._playing = False
        self._final: State | None = None
        self._moved_on: Board | None = None
        """The board on which the player made its latest move."""
        self._asked = False
        """Whether a `state_request` has not been answered yet."""
        self._out_of_turn = False
        """Whether the latest message was a `state` that reports nothing new and that the player did not
        request."""
        self._may_doubt = False
        self._ignored = 0

    def hello(self) -> Sequence[ClientMessage]:
        """Return the first messages to send."""
        return self._starting()

    def again(self) -> tuple[float, Sequence[ClientMessage]]:
        """Return the pause before the next `start`, in seconds, and that `start`."""
        return PAUSES[self._side], self._starting()

    def move(self, column: int) -> ClientMessage:
        """Return the message for a move."""
        self._moved_on = self._board
        return Move(_NO_COPY, column)

    def doubt(self) -> Sequence[ClientMessage]:
        """Return a `state_request`, once. The answer to it shows whether the server received the `start`.

        The original may lose the first message of a connection.
        """
        if not self._may_doubt:
            return []
        self._may_doubt = False
        return [self._state_request()]

    def hear(self, message: ServerMessage) -> Iterator[News | ClientMessage]:
        """Yield the news in a message, and the answers to send. Raises Refused, WireError."""
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
                # The original sends a `state` out of turn before `disconnected`. After that, the connection
                # cannot be used any more (PROTOCOL.md 4).
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
        return StateRequest(_NO_COPY)

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
        if self._playing:  # a move was not accepted: the server's board may differ
            self._moved_on = None
            yield self._state_request()
        elif reason == _NOT_ENTERED:
            if doubted:  # otherwise a late move was ignored, and the server has the `start`
                yield from self._starting()
        elif reason != _WAITING:
            raise Refused(reason, passes=reason in _TEMPORARY)

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
        raise WireError(f"the moves are no legal game: {error}") from None
    return board
