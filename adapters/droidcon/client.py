"""The client's side of Droidcon: a connection to any server of the dialect, and a player's dialogue on it.

The server sends only the opponent's moves, so `DroidconTalk` keeps the board.
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from ssl import SSLContext
from typing import TypeAlias, assert_never

from adapters.client.dial import Client, open_lines
from adapters.client.dialect import Opening
from adapters.client.talk import Asked, Began, Entry, News, Over, Refused, Result, Talk, dialogue_by_lines
from adapters.droidcon.codec import DroidconClientCodec
from adapters.droidcon.messages import ClientMessage, Error, Join, Name, Put, ServerMessage, Word
from gateway.game.board import COLUMNS, SECOND, Board, Side

DroidconClient: TypeAlias = Client[ClientMessage, ServerMessage]

LOBBY = "lobby"
"""The channel of a player that asks for no table and no opponent."""

_TEMPORARY = (Error.CHANNEL_IS_FULL, Error.PLAYER_NOT_AVAILABLE)
"""Errors after which the same command may succeed later."""
_RESULTS = {Word.YOU_WON: Result.WON, Word.YOU_LOST: Result.LOST, Word.DRAW: Result.DRAWN}


@asynccontextmanager
async def open_client(host: str, port: int, tls: SSLContext | None = None) -> AsyncIterator[DroidconClient]:
    """Connect to a server, such as 127.0.0.1 and 4242. Raises OSError."""
    async with open_lines(host, port, tls) as line:
        yield Client(line, DroidconClientCodec())


def open_dialogue(entry: Entry) -> Opening:
    """Connect to a server as a player until the block ends. Raises OSError."""
    channel = entry.table or LOBBY if entry.against is None else f"@{entry.against}"
    talk = DroidconTalk(entry.name, channel, entry.token)
    return dialogue_by_lines(entry, DroidconClientCodec(), talk)


class DroidconTalk(Talk[ClientMessage, ServerMessage]):
    """A player's dialogue on one connection. The server begins the next round by itself (PROTOCOL.md 4.6)."""

    replays = True  # PROTOCOL.md 8.3

    def __init__(self, name: str, channel: str, token: str | None = None) -> None:
        self._name = Name(name, token)
        self._channel = channel
        self._board = Board()
        self._side: Side | None = None
        self._playing = False
        self._complaint = ""
        self.may_end = False  # True after a result: the server hangs up after a series (PROTOCOL.md 4.7)

    def hello(self) -> Sequence[ClientMessage]:
        """Return the first messages to send."""
        return [self._name, Join(self._channel)]

    def move(self, column: int) -> ClientMessage:
        """Return the message for a move. The server does not answer it (PROTOCOL.md 4.3)."""
        self._board = self._board.drop(column)
        return Put(column)

    def hear(self, message: ServerMessage) -> Iterator[News | ClientMessage]:
        """Yield the news that a message has for the player. Raises Refused."""
        match message:
            case Word.SUCCESS:
                pass
            case Word.NEW_GAME:
                yield from self._began()
            case Word.YOUR_MOVE:
                self._side = self._board.turn
                yield Asked(self._board)
            case Word.YOU_WON | Word.YOU_LOST | Word.DRAW:
                if self._playing:
                    yield self._over(_RESULTS[message])
            case Put(column):
                self._put(column)
            case Error():
                if not self._playing and not self.may_end:
                    raise Refused(message.value, passes=message in _TEMPORARY)
                self._complaint = message.value
            case _:
                assert_never(message)

    def _began(self) -> Iterator[News]:
        # The original sends only NEW_GAME when an opponent has left (PROTOCOL.md 4.8).
        if self._playing:
            yield Over(Result.CUT_OFF, self._board, self._side)
        self._board, self._side = Board(), None
        self._playing, self.may_end = True, False
        self._complaint = ""
        yield Began()

    def _put(self, column: int | None) -> None:
        if self._side is None:
            self._side = SECOND
        if column is None or not 0 <= column < COLUMNS or self._board.turn == self._side:
            # The original passes an illegal PUT on before it announces the winner (PROTOCOL.md 5.2).
            return
        if self._board.has_room(column) and not self._board.over:
            self._board = self._board.drop(column)

    def _over(self, result: Result) -> Over:
        self._playing, self.may_end = False, True
        return Over(result, self._board, self._side, self._complaint)
