"""What a player hears and says, whatever its dialect.

News is what a server's messages mean to a player. A `Talk` is one dialect, seen from its player: messages
in, news out, and no I/O; each dialect's is in its folder (`client.py`). A `Dialogue` runs a talk over a
client. The rule it keeps: everything for the server is sent here, one packet at a time, so that a move and
an answer never mix.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from ssl import SSLContext
from typing import Any, Generic, TypeAlias, TypeVar

import trio

from adapters.client.contract import PeerGone
from adapters.client.dial import Client, Endpoint
from gateway.game.board import Board, Side

C = TypeVar("C")
"""A dialect's client messages."""
S = TypeVar("S")
"""A dialect's server messages."""

DOUBT = 1.0
"""Seconds of silence after which a player asks whether it was heard, where its dialect can ask."""
PATIENCE = 10.0
"""Seconds after that in which a server has to say something for the first time."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Who wants to play, where, and against whom."""

    address: Endpoint
    name: str
    against: str | None = None
    table: str | None = None
    encoding: str | None = None
    """How to write, where the dialect gives a choice."""
    token: str | None = field(default=None, repr=False)
    """What lets the player bear a protected name."""
    tls: SSLContext | None = field(default=None, repr=False)
    """Who is trusted, where the connection is to be with TLS."""


class Result(Enum):
    """How a game ended, for this player."""

    WON = "won"
    LOST = "lost"
    DRAWN = "drawn"
    LEFT = "left by the opponent"
    """The server names no winner."""
    CUT_OFF = "cut off"
    """It has no result: the server did not say how it ended."""


@dataclass(frozen=True, slots=True)
class Began:
    """A game began."""

    side: Side | None = None
    """Which of the two this player is; None where the server does not say."""
    opponent: str | None = None
    """None where the server does not say."""


@dataclass(frozen=True, slots=True)
class Asked:
    """It is this player's move."""

    board: Board
    seconds: float | None = None
    """The seconds that this player has left for the game; None where the server does not say."""


@dataclass(frozen=True, slots=True)
class Over:
    """The game ended."""

    result: Result
    board: Board
    side: Side | None = None
    """Which of the two this player was, where that is known."""
    why: str = ""
    """What ended it, if it was not the board."""


@dataclass(frozen=True, slots=True)
class Spent:
    """This connection is of no more use; another one is needed for more games."""


News: TypeAlias = Began | Asked | Over | Spent


class Refused(Exception):
    """The server does not let this player in, or play; in the server's words."""

    def __init__(self, words: str, *, passes: bool = False) -> None:
        """`passes` says whether the server may let the player in later."""
        super().__init__(words)
        self.passes = passes


class Talk(ABC, Generic[C, S]):
    """A dialect as its player hears and speaks it, on one connection."""

    may_end = False
    """Whether it is in order that the server hangs up now."""

    @abstractmethod
    def hello(self) -> Sequence[C]:
        """Return what is said first."""

    @abstractmethod
    def hear(self, message: S) -> Iterable[News | C]:
        """Return what a message means, and what is to be answered. Raises Refused, WireError."""

    @abstractmethod
    def move(self, column: int) -> C:
        """Return the move."""

    def again(self) -> tuple[float, Sequence[C]]:
        """Return how to ask for another game: after how many seconds, and with what."""
        return 0, []

    def doubt(self) -> Sequence[C]:
        """Return what asks whether the server has heard, or nothing. Asks once."""
        return []


class Dialogue(Generic[C, S]):
    """A talk over a client."""

    def __init__(self, client: Client[C, S], talk: Talk[C, S]) -> None:
        self._client = client
        self._talk = talk
        self._saying = trio.Lock()
        self.understood = False
        """Whether any message so far was one of the dialect's."""

    @property
    def may_end(self) -> bool:
        """Whether it is in order that the server hangs up now."""
        return self._talk.may_end

    async def hello(self) -> None:
        """Ask to be let in. Raises PeerGone."""
        await self._say(self._talk.hello())

    async def hear(self) -> list[News]:
        """Return the news that the next message brings. Raises PeerGone, Flooded, Refused, WireError."""
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
        with trio.move_on_after(math.inf if self.understood else PATIENCE):
            return await self._client.receive()
        raise PeerGone

    async def _say(self, messages: Sequence[C]) -> None:
        if messages:
            async with self._saying:
                await self._client.send(*messages)


AnyDialogue: TypeAlias = Dialogue[Any, Any]
"""A dialogue in any dialect: its messages are known to nothing outside it."""
