"""The client's side of RPI: a connection to any server of the dialect, and a player's dialogue on it.

The server sends only the opponent's moves, and not the one that wins, so `RpiTalk` keeps the board.
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from ssl import SSLContext
from typing import TypeAlias, assert_never

from adapters.client.contract import WireError
from adapters.client.dial import Client, open_websocket
from adapters.client.talk import Asked, Began, Dialogue, Entry, News, Over, Refused, Result, Talk
from adapters.rpi.codec import RpiClientCodec
from adapters.rpi.messages import (
    ClientMessage,
    Connect,
    Error,
    Opponent,
    Play,
    PlayerMessage,
    Ready,
    Start,
    Word,
)
from gateway.game.board import FIRST, SECOND, Board, Side

RpiClient: TypeAlias = Client[ClientMessage, PlayerMessage]

_NOT_READY = "ERROR:INVALID:READY"
"""The answer to a `READY` at a table that is full (PROTOCOL.md 4.6)."""
_RESULTS = {
    Word.WINS: Result.WON,
    Word.LOSS: Result.LOST,
    Word.DRAW: Result.DRAWN,
    Word.TERMINATED: Result.LEFT,
}


@asynccontextmanager
async def open_client(
    url: str, token: str | None = None, tls: SSLContext | None = None
) -> AsyncIterator[RpiClient]:
    """Connect to a server, such as ``ws://127.0.0.1:8002``. Raises OSError, PeerGone."""
    async with open_websocket(url, token, tls) as line:
        yield Client(line, RpiClientCodec())


@asynccontextmanager
async def open_dialogue(entry: Entry) -> AsyncIterator[Dialogue[ClientMessage, PlayerMessage]]:
    """Connect to a server as a player. Raises OSError, PeerGone."""
    url = entry.address.url(table=entry.table, against=entry.against)
    async with open_client(url, entry.token, entry.tls) as client:
        yield Dialogue(client, RpiTalk(entry.name))


class RpiTalk(Talk[ClientMessage, PlayerMessage]):
    """A player's dialogue on one connection. Each game begins with a `READY`."""

    replays = True  # it connects by CONNECT, since it may not know the board (PROTOCOL.md 8.5)

    def __init__(self, name: str) -> None:
        self._name = name
        self._board = Board()
        self._side: Side = FIRST
        self._playing = False
        self._has_name = False
        self._complaint = ""

    def hello(self) -> Sequence[ClientMessage]:
        """Return the first messages to send."""
        return [Connect(self._name)]

    def again(self) -> tuple[float, Sequence[ClientMessage]]:
        """Return how to ask for another game.

        The result is enough to know that the game is over: outside a tournament the original sends no
        `TOURNAMENT:END` after it.
        """
        return 0, [Ready()]

    def move(self, column: int) -> ClientMessage:
        """Return the message for a move. The server does not answer it (PROTOCOL.md 5.2)."""
        self._board = self._board.drop(column)
        return Play(column)

    def hear(self, message: PlayerMessage) -> Iterator[News | ClientMessage]:
        """Yield the news in a message, and the answers to send. Raises Refused, WireError."""
        match message:
            case Word.CONNECTED:
                self._has_name = True
                yield Ready()
            case Start(is_first):
                yield from self._began(FIRST if is_first else SECOND)
            case Opponent(column):
                yield self._opponent(column)
            case Word.WINS | Word.LOSS | Word.DRAW | Word.TERMINATED:
                if self._playing:
                    self._playing = False
                    yield Over(_RESULTS[message], self._board, self._side, self._complaint)
            case Error(text):
                if not self._has_name:
                    raise Refused(text)
                if not self._playing and text == _NOT_READY:
                    raise Refused(text, passes=True)
                self._complaint = text
            case Word.READY | Word.RECONNECTED | Word.DISCONNECTED | Word.END:
                pass
            case _:
                assert_never(message)

    def _began(self, side: Side) -> Iterator[News]:
        if self._playing:
            yield Over(Result.CUT_OFF, self._board, self._side)
        self._board, self._side, self._complaint = Board(), side, ""
        self._playing = True
        yield Began(side)
        if side == FIRST:
            yield Asked(self._board)

    def _opponent(self, column: int) -> News:
        try:
            self._board = self._board.drop(column)
        except ValueError as error:
            raise WireError(f"the opponent's move is not legal: {error}") from None
        return Asked(self._board)
