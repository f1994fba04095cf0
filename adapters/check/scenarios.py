"""The games that a bot has to play, and what is odd about each.

Knows topics and strategies. Does not know dialects, nor how anything odd is done.
"""

from dataclasses import dataclass
from enum import Enum, auto

from adapters.check.strategies import Strategy, balance, beat, fill, give
from adapters.client.rules import Topic


class Pace(Enum):
    """How what the bot is told is divided into packets."""

    MESSAGES = auto()
    """One for each message."""
    BYTES = auto()
    """One for each byte; of a long message, for some bytes in its middle."""
    TOGETHER = auto()
    """One for all that there is to tell."""


class Deed(Enum):
    """What the opponent does beside moving."""

    NOTHING = auto()
    CHEAT = auto()
    """Play a column that there is not."""
    LEAVE = auto()
    LEAVE_ASKED = auto()
    """Leave while the bot is to move."""
    ABORT = auto()
    """Leave before both have moved."""
    COME_LATE = auto()
    """Let the bot wait before its first game on a connection."""
    DAWDLE = auto()
    """Take its time, and ping meanwhile."""
    LOSE_ON_TIME = auto()
    BOT_LOSES_ON_TIME = auto()


@dataclass(frozen=True, slots=True)
class Scenario:
    """One game."""

    topic: Topic
    title: str
    strategy: Strategy
    bot_opens: bool | None = None
    """Whether the bot moves first; None where that makes no difference."""
    tries: int = 1
    """How often it is played until the bot is seen in the situation that the topic is about."""
    deed: Deed = Deed.NOTHING
    pace: Pace = Pace.MESSAGES
    as_original: bool = False
    """Whether the bot is told what the original server would tell."""


ONE_MORE = Scenario(Topic.NEXT, "one more game", beat)
"""Shows whether a bot goes on."""
SCENARIOS = (
    Scenario(Topic.OPENING, "a plain game, the bot moves first", give, bot_opens=True),
    Scenario(Topic.REPLY, "a plain game, the bot moves second", beat, bot_opens=False),
    Scenario(Topic.WAIT, "the opponent comes late", beat, deed=Deed.COME_LATE),
    Scenario(Topic.LOSS, "the bot loses", beat, tries=4),
    Scenario(Topic.WIN, "the bot wins", give, tries=6),
    Scenario(Topic.FULL, "columns fill up", fill, tries=4),
    Scenario(Topic.DRAW, "a draw", balance, tries=10),
    Scenario(Topic.LEFT, "the opponent leaves while it is to move", balance, deed=Deed.LEAVE),
    Scenario(
        Topic.LEFT_ASKED, "the opponent leaves while the bot is to move", balance, deed=Deed.LEAVE_ASKED
    ),
    Scenario(Topic.ABORTED, "the opponent leaves before it has moved", balance, True, deed=Deed.ABORT),
    Scenario(Topic.ILLEGAL, "the opponent plays an illegal move", balance, deed=Deed.CHEAT),
    Scenario(Topic.LATE, "the opponent's time is up", balance, deed=Deed.LOSE_ON_TIME),
    Scenario(Topic.TIME, "the bot's time is up", balance, tries=3, deed=Deed.BOT_LOSES_ON_TIME),
    Scenario(Topic.SLOW, "a slow opponent", beat, deed=Deed.DAWDLE),
    Scenario(Topic.SPLIT, "messages come in pieces", beat, pace=Pace.BYTES),
    Scenario(Topic.MERGED, "messages come together", beat, pace=Pace.TOGETHER),
    Scenario(
        Topic.QUIRK,
        "the opponent leaves, as the original tells it",
        balance,
        deed=Deed.LEAVE,
        as_original=True,
    ),
    Scenario(
        Topic.RELAY, "an illegal move, as the original tells it", balance, deed=Deed.CHEAT, as_original=True
    ),
    ONE_MORE,
)
"""In the order in which they are played, as far as the bot lets the opponent choose who moves first."""
