"""The client's side of nac4: a connection to any server of the dialect, and a player's dialogue on it.

The server sends boards, not moves, so `Nac4Talk` finds the moves by comparing boards. The original server
sends no message when an opponent leaves; its next message is `newgame` (PROTOCOL.md 5.10).
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from ssl import SSLContext
from typing import TypeAlias, assert_never

from adapters.client.contract import WireError
from adapters.client.dial import Client, open_websocket
from adapters.client.talk import Asked, Began, Dialogue, Entry, News, Over, Refused, Result, Talk
from adapters.nac4.codec import Nac4ClientCodec
from adapters.nac4.messages import (
    ClientMessage,
    Connect,
    Connected,
    EndGame,
    GenMove,
    NewGame,
    NotConnected,
    PlayMove,
    ServerMessage,
)
from gateway.game.board import CELLS, COLUMNS, FIRST, SECOND, Board, Side

Nac4Client: TypeAlias = Client[ClientMessage, ServerMessage]

_TEMPORARY = (" already used", "table is full", "not available now")
"""The last words of refusals after which the same request may succeed later."""
_SIDES: dict[str, Side] = {"R": FIRST, "Y": SECOND}
_MOST_TRIED = 20_000
"""The most boards that are tried to find out how a board came about, which takes up to a second."""
_REASONS = {"Ok": "", "Timeout": "out of time", "Disconnected": "disconnected"}


@asynccontextmanager
async def open_client(
    url: str, token: str | None = None, tls: SSLContext | None = None
) -> AsyncIterator[Nac4Client]:
    """Connect to a server, such as ``ws://127.0.0.1:8080``. Raises OSError, PeerGone."""
    async with open_websocket(url, token, tls) as line:
        yield Client(line, Nac4ClientCodec())


@asynccontextmanager
async def open_dialogue(entry: Entry) -> AsyncIterator[Dialogue[ClientMessage, ServerMessage]]:
    """Connect to a server as a player. Raises OSError, PeerGone."""
    url = entry.address.url(table=entry.table, against=entry.against)
    async with open_client(url, entry.token, entry.tls) as client:
        yield Dialogue(client, Nac4Talk(entry.name))


class Nac4Talk(Talk[ClientMessage, ServerMessage]):
    """A player's dialogue on one connection. The server begins the next game by itself (PROTOCOL.md 5.9)."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._board = Board()
        self._recalled = Board()
        """The board at the latest request to move on an earlier connection."""
        self._side: Side | None = None
        self._playing = False

    def hello(self) -> Sequence[ClientMessage]:
        """Return the first messages to send."""
        return [Connect(self._name)]

    def move(self, column: int) -> ClientMessage:
        """Return the message for a move."""
        return PlayMove(column)

    def recall(self, board: Board) -> None:
        """Use `board` to tell in which order the discs were dropped if the player comes back to a game."""
        self._recalled = board

    def hear(self, message: ServerMessage) -> Iterator[News | ClientMessage]:
        """Yield the news that a message has for the player. Raises Refused, WireError."""
        match message:
            case Connected():
                pass
            case NotConnected(info):
                raise Refused(info, passes=info.endswith(_TEMPORARY))
            case NewGame():
                yield from self._began(message)
            case GenMove(cells, color, _, time):
                self._side = _SIDES[color]
                self._board = self._explained(cells)
                yield Asked(self._board, time)
            case EndGame():
                if self._playing:
                    yield self._over(message)
            case _:
                assert_never(message)

    def _began(self, game: NewGame) -> Iterator[News]:
        if self._playing:
            yield Over(Result.CUT_OFF, self._board, self._side)
        self._board = Board()
        self._playing = True
        names = [game.red, game.yellow]
        if names.count(self._name) == 1:
            self._side = FIRST if game.red == self._name else SECOND
            names.remove(self._name)
            yield Began(self._side, names[0])
        else:  # both players have this name: the first `genmove` shows this player's side
            self._side = None
            yield Began()

    def _over(self, end: EndGame) -> Over:
        self._playing = False
        if end.status == "Tie":
            result = Result.DRAWN
        elif end.status.startswith("Play"):
            result = Result.LEFT
        else:
            result = Result.WON if end.status == f"Win{end.color}" else Result.LOST
        with suppress(WireError):  # the result counts even if the board cannot be explained
            self._board = self._explained(end.board)
        return Over(result, self._board, _SIDES[end.color], _REASONS[end.battle])

    def _explained(self, cells: str) -> Board:
        """Return the board that `cells` shows, with the moves that led to it. Raises WireError.

        A player that comes back to a game hears of many moves at once (PROTOCOL.md 8.3).
        """
        if self._board.moves:
            return followed(self._board, cells)
        for board in (self._board, self._recalled):
            with suppress(WireError):
                return followed(board, cells)
        return rebuilt(cells)


def followed(board: Board, cells: str) -> Board:
    """Return the board that `cells` shows: `board`, or one that follows from it by one or two moves.

    Raises WireError if there is no such board.
    """
    boards = [board]
    for _ in range(3):
        for each in boards:
            if _shown(each) == cells:
                return each
        boards = [
            each.drop(column)
            for each in boards
            if not each.over
            for column in range(COLUMNS)
            if each.has_room(column)
        ]
    raise WireError("the board does not follow from the one before")


def rebuilt(cells: str) -> Board:
    """Return the board that `cells` shows. Its moves are in any order that the rules allow.

    Raises WireError if there is no such order, or if finding it would take too long.
    """
    columns = [cells[column::COLUMNS].rstrip(".") for column in range(COLUMNS)]
    size = sum(map(len, columns))
    seen, boards = set[tuple[int, int]](), [Board()]
    for _ in range(_MOST_TRIED):
        if not boards:
            break
        board = boards.pop()
        if len(board.moves) == size:
            return board
        # The board that is tried first is the last one: that of the column with most discs to come
        for missing, column in sorted(
            (len(discs) - board.moves.count(column), column) for column, discs in enumerate(columns)
        ):
            if missing and not board.over and columns[column][-missing] == "RY"[board.turn]:
                after = board.drop(column)
                if after.discs not in seen:
                    seen.add(after.discs)
                    boards.append(after)
    raise WireError("the board cannot come about")


def _shown(board: Board) -> str:
    cells = ["."] * CELLS
    for column, row, side in board.placed():
        cells[row * COLUMNS + column] = "RY"[side]
    return "".join(cells)
