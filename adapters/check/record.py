"""The record of a connection: values that describe the events, in the order in which they happened.

Knows texts, boards, and the games that are to be played. Does not know what is right or wrong.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Literal, TypeAlias

from adapters.check.scenarios import NO_GAME, Conduct, Pace, Scenario
from adapters.client.rules import ClientText, Topic
from gateway.game.board import FIRST, SECOND, Board, Side
from gateway.game.events import Ended, Moved, Objection, Overlooked, Reason, Shown, ToMove

HUNG_UP = "it hung up"
"""The first words of a fault if the bot hung up."""
KEPT = 14
"""The most lines of the preceding exchange that a fault has."""
_LONGEST = 160


@dataclass(frozen=True, slots=True)
class Fault:
    """A mistake of a bot."""

    topic: Topic
    words: str
    scenario: str = ""
    """The title of the game in which the fault happened; empty outside of games."""
    exchange: tuple[str, ...] = ()
    """The latest lines on the wire before the fault, for people."""
    is_grave: bool = True
    """Whether the fault counts as wrong; otherwise it is a remark."""
    is_stall: bool = False
    """Whether the fault is that the bot did not go on."""
    crash: str = ""
    """How the bot's process failed, if that is why the bot hung up."""

    @property
    def seen(self) -> str:
        """The fault in words, for people. If the bot crashed, the words say how."""
        return f"{self.words.replace(HUNG_UP, 'it crashed', 1)}: {self.crash}" if self.crash else self.words


@dataclass(frozen=True, slots=True)
class Task:
    """A scenario that is to be played."""

    scenario: Scenario
    tries: int = 1
    suspected: Fault | None = None
    """The probable fault, if the scenario is played again because of it. The repeated game has to be the
    first of a connection."""
    was_first: bool = False
    """Whether the scenario was the first game of its connection when that fault was seen."""
    after: frozenset[Topic] = frozenset()
    """The topics that the previous game covered, if the bot did not go on after that game."""
    spoiled: int = 0
    """How many times another mistake of the bot ended the scenario early."""

    @property
    def is_first(self) -> bool:
        """Whether the scenario has to be the first game of a connection."""
        return self.suspected is not None or self.is_late

    @property
    def is_late(self) -> bool:
        """Whether the bot has to wait for its opponent."""
        return self.scenario.conduct is Conduct.COME_LATE

    @property
    def is_last(self) -> bool:
        """Whether the scenario is played when nothing else is left, since the bot may not come back."""
        return self.scenario.conduct is Conduct.CUT


# What happens.


class Mark(Enum):
    """An event without further details."""

    ENTERED = auto()
    """The bot asked for a game."""
    DECLINED = auto()
    """The server refused the bot's request for a game, as the check requires."""
    KEPT_WAITING = auto()
    """The opponent comes late."""
    ODD = auto()
    """The scenario's special event has happened."""
    CLOSING = auto()
    """The server is about to hang up. From then on, only the bot's reaction to the hang-up counts."""
    DISMISSED = auto()
    """The server has hung up."""
    HUNG_UP = auto()
    """The bot has hung up, before the server."""
    CUT = auto()
    """The connection was cut, as the scenario requires. The record goes on with the bot's next connection."""


Way: TypeAlias = Literal["->", "<-", "--"]
"""The direction of a text: from the bot, or to the bot. The third value marks a note for people."""


@dataclass(frozen=True, slots=True)
class Line:
    """A text that went over the wire, or a note."""

    at: float
    """Seconds since the bot connected."""
    way: Way
    text: str

    def __str__(self) -> str:
        text = self.text.rstrip("\r\n")
        if len(text) > _LONGEST:
            text = f"{text[:_LONGEST]}... ({len(text)} characters)"
        return f"{1000 * self.at:7.0f}  {self.way}  {text}"


@dataclass(frozen=True, slots=True)
class Began:
    """A game began."""

    task: Task = Task(NO_GAME)
    """The task of the game. Its scenario is `NO_GAME` if the bot has no game left to play."""
    number: int = 1
    """The number of the game among all games of the bot, from 1."""
    place: int = 1
    """The number of the game on its connection, from 1."""
    opens: bool = False
    """Whether the bot moves first."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A message of the bot that was refused."""

    sent: ClientText
    objections: Objection


@dataclass(frozen=True, slots=True)
class Late:
    """The bot acted as expected, but took longer than its patience."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Returned:
    """The bot has come back to the game in which its connection was cut."""

    seconds: float
    """The seconds since the cut."""


@dataclass(frozen=True, slots=True)
class Overdue:
    """The bot did not act as expected, not even within the time that slow bots get."""

    topic: Topic | None
    words: str
    unfinished: bytes = b""
    """The bytes that the bot sent after its last complete message."""


@dataclass(frozen=True, slots=True)
class Closed:
    """The connection is over."""

    pings: int = 0
    has_ponged: bool = False
    has_hung_up: bool = True
    """Whether the bot has closed the connection, before or after the server."""
    limit: float = 0.0
    """Seconds that the bot had for closing the connection."""


@dataclass(frozen=True, slots=True)
class Crashed:
    """The bot hung up because its process failed."""

    words: str


What: TypeAlias = (
    Mark
    | Line
    | Began
    | Refusal
    | Shown
    | ToMove
    | Moved
    | Overlooked
    | Ended
    | Late
    | Returned
    | Overdue
    | Closed
    | Crashed
)


def lines(record: Iterable[What]) -> tuple[str, ...]:
    """Return the latest `KEPT` lines on the wire, for people."""
    return tuple(str(what) for what in record if isinstance(what, Line))[-KEPT:]


@dataclass(frozen=True, slots=True)
class Part:
    """The entries from the start of one game to the start of the next, or those before the first game."""

    whats: Sequence[What] = ()

    @classmethod
    def latest(cls, record: Sequence[What]) -> "Part":
        """Return the latest part of a record."""
        backwards = range(len(record) - 1, 0, -1)
        return cls(record[next((index for index in backwards if isinstance(record[index], Began)), 0) :])

    @property
    def began(self) -> Began:
        """The beginning of the game. Its `place` is 0 before the first game."""
        first = self.whats[0] if self.whats else None
        return first if isinstance(first, Began) else Began(number=0, place=0)

    @property
    def scenario(self) -> Scenario:
        """The scenario of the game."""
        return self.began.task.scenario

    @property
    def side(self) -> Side:
        """The side of the bot."""
        return FIRST if self.began.opens else SECOND

    @property
    def is_on(self) -> bool:
        """Whether the game has begun and is not over, and the bot is connected."""
        is_over = any(isinstance(what, Ended | Closed) or what is Mark.CLOSING for what in self.whats)
        return self.scenario is not NO_GAME and not is_over and not self.is_cut

    @property
    def is_cut(self) -> bool:
        """Whether the connection was cut, and the bot has not come back."""
        backwards = reversed(self.whats)
        latest = next((what for what in backwards if what is Mark.CUT or isinstance(what, Returned)), None)
        return latest is Mark.CUT

    @property
    def turns(self) -> Sequence[ToMove | Moved]:
        """The server's requests to move, and the bot's moves."""
        return [what for what in self.whats if isinstance(what, ToMove | Moved)]

    @property
    def board(self) -> Board:
        """The board at the bot's latest move, or at the latest request to move if that came later."""
        return self.turns[-1].board if self.turns else Board()

    @property
    def has_moved(self) -> bool:
        """Whether the bot has made a legal move."""
        return any(isinstance(turn, Moved) for turn in self.turns)

    @property
    def is_odd(self) -> bool:
        """Whether the scenario's special event has happened."""
        end = next((what for what in self.whats if isinstance(what, Ended)), None)
        if end is not None and self.is_out_of_time(end):
            has_happened = self.scenario.conduct is Conduct.BOT_LOSES_ON_TIME
        else:
            has_happened = self.scenario.conduct is Conduct.COME_LATE or Mark.ODD in self.whats
        return has_happened or self.scenario.pace is not Pace.MESSAGES

    def is_out_of_time(self, ended: Ended) -> bool:
        """Return whether the bot has lost on time."""
        return ended.reason is Reason.TIME and ended.winner != self.side
