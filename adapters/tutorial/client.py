"""The client's side of the tutorial dialect: a connection to any server of it, and a player's dialogue.

The original server knows no URL and no further game on a connection. `TutorialTalk` finds out by the key in
the first `init` which server it has.
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from ssl import SSLContext
from typing import TypeAlias, assert_never

from adapters.client.contract import WireError
from adapters.client.dial import Client, open_websocket
from adapters.client.talk import Asked, Began, Dialogue, Entry, News, Over, Refused, Result, Spent, Talk
from adapters.tutorial.codec import TutorialClientCodec
from adapters.tutorial.messages import (
    COLORS,
    FULL,
    IS_FULL,
    NO_RESULT,
    NOT_AVAILABLE,
    NOT_FOUND,
    NOT_YOUR_TURN,
    OVER,
    ClientMessage,
    Color,
    Error,
    Init,
    InitRequest,
    Play,
    PlayRequest,
    ServerMessage,
    Win,
)
from gateway.game.board import CELLS, FIRST, SECOND, Board, Side

TutorialClient: TypeAlias = Client[ClientMessage, ServerMessage]

LOBBY = "lobby"
"""The table in the URL of a player that asks for no table and no opponent."""
PATIENCE = 10
"""How many errors in a row a player accepts in a game."""

_LATE = (OVER, FULL, NOT_YOUR_TURN)
"""Errors about a move that has crossed the end of its game (PROTOCOL.md 6.2, 6.6)."""
_TEMPORARY = (IS_FULL, NOT_AVAILABLE, NOT_FOUND)
"""Errors after which the same request may succeed later."""


@asynccontextmanager
async def open_client(
    url: str, token: str | None = None, tls: SSLContext | None = None
) -> AsyncIterator[TutorialClient]:
    """Connect to a server, such as ``ws://127.0.0.1:8003``. Raises OSError, PeerGone."""
    async with open_websocket(url, token, tls) as line:
        yield Client(line, TutorialClientCodec())


@asynccontextmanager
async def open_dialogue(entry: Entry) -> AsyncIterator[Dialogue[ClientMessage, ServerMessage]]:
    """Connect to a server as a player. Raises OSError, PeerGone.

    The parameter `join` of the server's URL is the key of a game to join, as in the URL of the tutorial's
    page.
    """
    join = entry.address.asked("join")
    table = entry.table
    if join is None and table is None and entry.against is None and entry.address.asked("table") is None:
        table = LOBBY
    url = entry.address.url(table=table, against=entry.against)
    async with open_client(url, entry.token, entry.tls) as client:
        yield Dialogue(client, TutorialTalk(entry.name, table or entry.address.asked("table"), join))


class TutorialTalk(Talk[ClientMessage, ServerMessage]):
    """A player's dialogue on one connection. Each game begins with an `init`."""

    def __init__(self, name: str, table: str | None = None, join: str | None = None) -> None:
        """`table` is that in the URL. `join` is the key of a game to join; None for no key."""
        self._request = InitRequest(join, name=name)
        self._table = None if table is None or table.casefold() == LOBBY else table
        self._joins = join is not None
        self.may_be_silent = self._joins  # the first message may be the opponent's move (PROTOCOL.md 3.3)
        self._board = Board()
        self._side: Side = FIRST
        self._playing = False
        self._told = 0
        """How many moves of the game were played before the server began to tell them."""
        self._errors = 0
        self._is_original = False
        """Whether the server took no notice of the URL."""

    def hello(self) -> Sequence[ClientMessage]:
        """Return the first messages to send."""
        return [self._request]

    def again(self) -> tuple[float, Sequence[ClientMessage]]:
        """Return the request for another game, which is sent at once."""
        return 0, [self._request]

    def move(self, column: int) -> ClientMessage:
        """Return the message for a move. The server tells the move also to the player that made it."""
        return PlayRequest(column)

    def hear(self, message: ServerMessage) -> Iterator[News | ClientMessage]:
        """Yield the news that a message has for the player. Raises Refused, WireError."""
        if not isinstance(message, Error):
            self._errors = 0
        match message:
            case Init():
                yield from self._init(message)
            case Play():
                yield from self._disc(message)
            case Win(player):
                if self._playing:
                    yield from self._over(Result.WON if player is COLORS[self._side] else Result.LOST)
            case Error(words):
                yield from self._refused(words)
            case _:
                assert_never(message)

    def _init(self, init: Init) -> Iterator[News]:
        if init.player is not None:
            yield from self._began(SECOND if init.player is Color.YELLOW else FIRST, init.moves)
        elif not self._joins and init.join is not None and not self._is_own_table(init.join):
            # The original has begun a game of this player's own, and says nothing when the opponent comes.
            self._is_original = True
            yield from self._began(FIRST)

    def _is_own_table(self, key: str) -> bool:
        return self._table is not None and key.casefold() == self._table.strip().casefold()

    def _began(self, side: Side, told: int = 0) -> Iterator[News]:
        if self._playing:
            yield Over(Result.CUT_OFF, self._board, self._side)
        self._playing, self._side, self._board, self._told = True, side, Board(), told
        yield Began(side)
        yield from self._asked()

    def _disc(self, play: Play) -> Iterator[News]:
        if not self._playing:
            if not self._joins or self._board.over:
                return  # the original goes on after the end
            yield from self._began(SECOND)
        board = self._board
        if play.player is not COLORS[board.turn] or play.row != board.moves.count(play.column):
            raise WireError("the disc does not fit the board")
        self._board = board = board.drop(play.column)
        if board.winner is None and len(board.moves) == CELLS:
            yield from self._over(Result.DRAWN)  # PROTOCOL.md 6.2
        yield from self._asked()

    def _asked(self) -> Iterator[News]:
        board = self._board
        is_current = len(board.moves) >= self._told
        if self._playing and is_current and not board.over and board.turn == self._side:
            yield Asked(board)

    def _refused(self, words: str) -> Iterator[News]:
        if not self._playing and words in _LATE:
            return
        self._errors += 1
        if not self._playing or self._errors > PATIENCE:
            raise Refused(words, passes=words in _TEMPORARY)
        if words == NO_RESULT:
            yield from self._over(Result.LEFT)
        else:
            yield from self._asked()

    def _over(self, result: Result) -> Iterator[News]:
        self._playing = False
        why = "" if self._board.over else "left, or out of time"
        yield Over(result, self._board, self._side, why)
        if self._is_original:
            yield Spent()
