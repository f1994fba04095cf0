"""What went on between a bot and the check: plain values, in the order in which they happened.

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
"""How the words of a fault begin that is about this."""
KEPT = 14
"""Lines that are shown of what led to a fault."""
_LONGEST = 160


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that a bot did wrong."""

    topic: Topic
    words: str
    scenario: str = ""
    """The title of the game in which it happened; empty outside of any."""
    exchange: tuple[str, ...] = ()
    """What went over the wire until then, as lines for people."""
    is_grave: bool = True
    """Whether the bot is wrong; otherwise it is only remarked."""
    is_stall: bool = False
    """Whether it is that the bot did not go on."""
    crash: str = ""
    """How the bot's process failed, where that is why the bot hung up."""

    @property
    def seen(self) -> str:
        """What was seen, for people: the words, and how the bot crashed if it did."""
        return f"{self.words.replace(HUNG_UP, 'it crashed', 1)}: {self.crash}" if self.crash else self.words


@dataclass(frozen=True, slots=True)
class Task:
    """A scenario that is to be played."""

    scenario: Scenario
    tries: int = 1
    suspected: Fault | None = None
    """Why it is played again, as the first game of a connection."""
    was_first: bool = False
    """Whether it was the first one when that was seen."""
    after: frozenset[Topic] = frozenset()
    """What the game before had shown, where the bot did nothing at all in this one."""
    spoiled: int = 0
    """How often it was cut short by something else that the bot did wrong."""

    @property
    def is_first(self) -> bool:
        """Whether it has to be the first game of a connection."""
        return self.suspected is not None or self.is_late

    @property
    def is_late(self) -> bool:
        """Whether the bot has to wait for its opponent."""
        return self.scenario.conduct is Conduct.COME_LATE


# What happens.


class Mark(Enum):
    """Something that happens, of which there is nothing more to say."""

    ENTERED = auto()
    """The bot asks for a game."""
    DECLINED = auto()
    """That is refused, to see what comes next."""
    KEPT_WAITING = auto()
    """The opponent comes late."""
    ODD = auto()
    """The opponent has done what is odd about it."""
    CLOSING = auto()
    """The server is about to hang up. Nothing that follows counts, but how the bot takes this."""
    DISMISSED = auto()
    """The server has hung up."""
    HUNG_UP = auto()
    """The bot has, before the server."""


Way: TypeAlias = Literal["->", "<-", "--"]
"""Where a text went: from the bot, to it, or nowhere, as a note for those who read the record."""


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
    """Where there is nothing to play, that of `NO_GAME`."""
    number: int = 1
    """The game's, among all of the bot's."""
    place: int = 1
    """The game's, among those of its connection."""
    opens: bool = False
    """Whether the bot moves first."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """What the bot said was not carried out."""

    sent: ClientText
    objections: Objection


@dataclass(frozen=True, slots=True)
class Late:
    """The bot did what was expected, but took longer than its patience."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Overdue:
    """The bot did not do what was expected, for as long as bots are given that may be slow."""

    topic: Topic | None
    words: str
    unfinished: bytes = b""
    """What it has said without an end."""


@dataclass(frozen=True, slots=True)
class Closed:
    """The connection is over."""

    pings: int = 0
    has_ponged: bool = False
    has_hung_up: bool = True
    """Whether the bot has ended it, first or in answer."""
    limit: float = 0.0
    """Seconds that it had for that."""


@dataclass(frozen=True, slots=True)
class Crashed:
    """The bot's process has failed when it hung up."""

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
    | Overdue
    | Closed
    | Crashed
)


def lines(record: Iterable[What]) -> tuple[str, ...]:
    """Return the latest of what went over the wire, for people."""
    return tuple(str(what) for what in record if isinstance(what, Line))[-KEPT:]


@dataclass(frozen=True, slots=True)
class Part:
    """A game, and what happened on its connection until the next one; or what came before the first."""

    whats: Sequence[What] = ()

    @classmethod
    def latest(cls, record: Sequence[What]) -> "Part":
        """Return the latest part of a record."""
        backwards = range(len(record) - 1, 0, -1)
        return cls(record[next((index for index in backwards if isinstance(record[index], Began)), 0) :])

    @property
    def began(self) -> Began:
        """How the game began; place 0 before the first."""
        first = self.whats[0] if self.whats else None
        return first if isinstance(first, Began) else Began(number=0, place=0)

    @property
    def scenario(self) -> Scenario:
        """What is played."""
        return self.began.task.scenario

    @property
    def side(self) -> Side:
        """The bot's."""
        return FIRST if self.began.opens else SECOND

    @property
    def is_on(self) -> bool:
        """Whether the game is on."""
        is_over = any(isinstance(what, Ended | Closed) or what is Mark.CLOSING for what in self.whats)
        return self.scenario is not NO_GAME and not is_over

    @property
    def turns(self) -> Sequence[ToMove | Moved]:
        """The bot's requests to move, and its moves."""
        return [what for what in self.whats if isinstance(what, ToMove | Moved)]

    @property
    def board(self) -> Board:
        """The board when the bot was last asked to move, or has moved."""
        return self.turns[-1].board if self.turns else Board()

    @property
    def has_moved(self) -> bool:
        """Whether the bot has made a legal move."""
        return any(isinstance(turn, Moved) for turn in self.turns)

    @property
    def is_odd(self) -> bool:
        """Whether what the scenario is about has happened."""
        end = next((what for what in self.whats if isinstance(what, Ended)), None)
        if end is not None and self.is_out_of_time(end):
            has_happened = self.scenario.conduct is Conduct.BOT_LOSES_ON_TIME
        else:
            has_happened = self.scenario.conduct is Conduct.COME_LATE or Mark.ODD in self.whats
        return has_happened or self.scenario.pace is not Pace.MESSAGES

    def is_out_of_time(self, ended: Ended) -> bool:
        """Whether the bot has lost on time."""
        return ended.reason is Reason.TIME and ended.winner != self.side
