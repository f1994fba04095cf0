"""A player's dialogue with a server, in any dialect.

A `Talk` implements a player's side of one dialect without I/O. It turns the server's messages into news, such
as `Began`. Each dialect's talk is in `client.py` in the dialect's folder. A `Dialogue` runs a talk on a
connection. It sends one packet at a time, so that a move and an answer never mix.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import Enum
from ssl import SSLContext
from typing import Any, Generic, TypeAlias, TypeVar

import trio

from adapters.client.contract import Codec, PeerGone
from adapters.client.dial import Client, Endpoint, open_lines
from gateway.game.board import Board, Side

C = TypeVar("C")
"""A dialect's client messages."""
S = TypeVar("S")
"""A dialect's server messages."""

DOUBT = 1.0
"""Seconds of silence after which a player asks whether its messages arrived, if the dialect allows that."""
PATIENCE = 10.0
"""Seconds after `DOUBT` in which a server has to send its first message."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A player's request to play: the server, the player's name, and the wanted opponent and table."""

    address: Endpoint
    name: str
    against: str | None = None
    table: str | None = None
    encoding: str | None = None
    """The encoding to use, if the dialect has a choice."""
    token: str | None = field(default=None, repr=False)
    """The player's token for a protected name."""
    tls: SSLContext | None = field(default=None, repr=False)
    """The trusted authorities, if the connection uses TLS."""


class Result(Enum):
    """The result of a game for this player."""

    WON = "won"
    LOST = "lost"
    DRAWN = "drawn"
    LEFT = "left by the opponent"
    """The opponent left, and the server named no winner."""
    CUT_OFF = "cut off"
    """The game has no result: the server did not say how it ended."""


@dataclass(frozen=True, slots=True)
class Began:
    """A game began."""

    side: Side | None = None
    """The player's side; None if the server does not say."""
    opponent: str | None = None
    """The opponent's name; None if the server does not say."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The player has to move."""

    board: Board
    seconds: float | None = None
    """The seconds that the player has left for the game; None if the server does not say."""


@dataclass(frozen=True, slots=True)
class Over:
    """The game ended."""

    result: Result
    board: Board
    side: Side | None = None
    """The player's side, if it is known."""
    why: str = ""
    """Why the game ended, if the board does not show it."""


@dataclass(frozen=True, slots=True)
class Spent:
    """This connection cannot be used for further games."""


News: TypeAlias = Began | Asked | Over | Spent


class Refused(Exception):
    """The server refuses this player. The exception's text is the server's."""

    def __init__(self, words: str, *, passes: bool = False) -> None:
        """`passes` says whether the server may let the player in later."""
        super().__init__(words)
        self.passes = passes


class Talk(ABC, Generic[C, S]):
    """A player's side of a dialect, on one connection."""

    may_end = False
    """Whether the server may hang up now."""
    may_be_silent = False
    """Whether the server may send nothing until the opponent has moved."""
    replays = False
    """Whether the server plays a game again from the start, once, if the player comes back to it."""

    @abstractmethod
    def hello(self) -> Sequence[C]:
        """Return the first messages to send."""

    @abstractmethod
    def hear(self, message: S) -> Iterable[News | C]:
        """Return the news in a message, and the answers to send. Raises Refused, WireError."""

    @abstractmethod
    def move(self, column: int) -> C:
        """Return the message for a move."""

    def again(self) -> tuple[float, Sequence[C]]:
        """Return how to ask for another game: the pause in seconds, and the messages."""
        return 0, []

    def doubt(self) -> Sequence[C]:
        """Return messages that ask whether the first messages have arrived.

        Return no messages if the dialect cannot ask that, or if this was called before.
        """
        return []

    def recall(self, board: Board) -> None:
        """Use `board` to tell in which order the discs were dropped if the player comes back to a game.

        It is the latest board that the player knows. By default, do nothing: the server sends the moves.
        """


class Dialogue(Generic[C, S]):
    """Runs a talk over a connection to a server."""

    def __init__(self, client: Client[C, S], talk: Talk[C, S]) -> None:
        self._client = client
        self._talk = talk
        self._saying = trio.Lock()
        self.understood = False
        """Whether the server has sent a message of the dialect."""

    @property
    def may_end(self) -> bool:
        """Whether the server may hang up now."""
        return self._talk.may_end

    @property
    def replays(self) -> bool:
        """As `Talk.replays`."""
        return self._talk.replays

    @property
    def has_farewell(self) -> bool:
        """As `Line.has_farewell`."""
        return self._client.has_farewell

    def recall(self, board: Board) -> None:
        """As `Talk.recall`."""
        self._talk.recall(board)

    async def hello(self) -> None:
        """Send the first messages. Raises PeerGone."""
        await self._say(self._talk.hello())

    async def hear(self) -> list[News]:
        """Return the news in the next message. Raises PeerGone, Flooded, Refused, WireError."""
        message = await self._message()
        news: list[News] = []
        answers: list[C] = []
        for item in self._talk.hear(message):
            if isinstance(item, Began | Asked | Over | Spent):
                news.append(item)
            else:
                answers.append(item)
        self.understood = True
        await self._say(answers)
        return news

    async def move(self, column: int) -> None:
        """Make a move. Raises PeerGone."""
        await self._say([self._talk.move(column)])

    async def again(self) -> None:
        """Ask for another game. Raises PeerGone."""
        pause, messages = self._talk.again()
        if messages:
            await trio.sleep(pause)
            await self._say(messages)

    async def _message(self) -> S:
        with trio.move_on_after(DOUBT):
            return await self._client.receive()
        await self._say(self._talk.doubt())
        with trio.move_on_after(math.inf if self.understood or self._talk.may_be_silent else PATIENCE):
            return await self._client.receive()
        raise PeerGone

    async def _say(self, messages: Sequence[C]) -> None:
        if messages:
            async with self._saying:
                await self._client.send(*messages)


@asynccontextmanager
async def dialogue_by_lines(
    entry: Entry, codec: Codec[S, C], talk: Talk[C, S]
) -> AsyncIterator[Dialogue[C, S]]:
    """Run a talk with a server that uses lines until the block ends. Raises OSError."""
    async with open_lines(entry.address.host, entry.address.port, entry.tls) as line:
        yield Dialogue(Client(line, codec), talk)


AnyDialogue: TypeAlias = Dialogue[Any, Any]
"""A dialogue in any dialect. Only the dialect itself knows the types of its messages."""
