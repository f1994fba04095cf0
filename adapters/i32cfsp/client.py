"""The client's side of I32CFSP: a connection to any server of the dialect, and a player's dialogue on it.

A connection has one game, in which the player moves first. The server sends only the opponent's moves, so
`I32cfspTalk` keeps the board.
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from ssl import SSLContext
from typing import TypeAlias, assert_never

from adapters.client.contract import WireError
from adapters.client.dial import Client, open_lines
from adapters.client.talk import Asked, Began, Dialogue, Entry, News, Over, Refused, Result, Spent, Talk
from adapters.i32cfsp.codec import I32cfspClientCodec
from adapters.i32cfsp.messages import AiGame, ClientMessage, Drop, Hello, ServerMessage, Welcome, Word
from gateway.game.board import FIRST, Board

I32cfspClient: TypeAlias = Client[ClientMessage, ServerMessage]


@asynccontextmanager
async def open_client(host: str, port: int, tls: SSLContext | None = None) -> AsyncIterator[I32cfspClient]:
    """Connect to a server, such as 127.0.0.1 and 4444. Raises OSError."""
    async with open_lines(host, port, tls) as line:
        yield Client(line, I32cfspClientCodec())


@asynccontextmanager
async def open_dialogue(entry: Entry) -> AsyncIterator[Dialogue[ClientMessage, ServerMessage]]:
    """Connect to a server as a player. Raises OSError."""
    async with open_client(entry.address.host, entry.address.port, entry.tls) as client:
        yield Dialogue(client, I32cfspTalk(entry.name, entry.token))


class I32cfspTalk(Talk[ClientMessage, ServerMessage]):
    """A player's dialogue on one connection, for one game (PROTOCOL.md 5.1)."""

    def __init__(self, name: str, token: str | None = None) -> None:
        self._hello = Hello(name, token)
        self._board = Board()
        self._dropped: int | None = None
        """The player's column that the server has not answered yet."""
        self._playing = False
        self.may_end = False  # True after the game

    def hello(self) -> Sequence[ClientMessage]:
        """Return the first message to send. The request for a game follows the answer."""
        return [self._hello]

    def move(self, column: int) -> ClientMessage:
        """Return the message for a move."""
        self._dropped = column
        return Drop(column + 1)

    def hear(self, message: ServerMessage) -> Iterator[News | ClientMessage]:
        """Yield the news that a message has for the player. Raises Refused, WireError."""
        match message:
            case Welcome():
                yield AiGame()
            case Word.READY:
                if not self._playing:
                    self._playing = True
                    yield Began(FIRST)
                yield Asked(self._board)
            case Word.OKAY:
                self._board, self._dropped = self._with_own(), None
            case Word.INVALID:
                self._dropped = None  # READY follows, which asks again
            case Drop(column):
                yield from self._take(column - 1)
            case Word.WINNER_RED | Word.WINNER_YELLOW:
                after = self._with_own()  # PROTOCOL.md 5.2: the result is instead of OKAY
                self._board = self._board if after.winner is None else after
                yield from self._over(Result.WON if message is Word.WINNER_RED else Result.LOST)
            case Word.ERROR:
                if not self._playing:
                    raise Refused(message.value)
                yield from self._over(Result.LOST, "ERROR")
            case _:
                assert_never(message)

    def _with_own(self) -> Board:
        """Return the board after the player's move that the server has not answered yet, if there is one."""
        column, board = self._dropped, self._board
        return board if column is None or board.over else board.drop(column)

    def _take(self, column: int) -> Iterator[News]:
        try:
            self._board = self._board.drop(column)
        except ValueError:
            raise WireError(f"the server has dropped a disc that is illegal here: {column + 1}") from None
        if self._board.over and self._board.winner is None:
            yield from self._over(Result.DRAWN)  # PROTOCOL.md 5.4: no word follows

    def _over(self, result: Result, why: str = "") -> Iterator[News]:
        self._playing, self.may_end = False, True
        yield Over(result, self._board, FIRST, why)
        yield Spent()
