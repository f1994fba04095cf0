"""What a dialect asks of its clients, as data.

A topic is something that every dialect asks for in its own words. A dialect's `Requirements` have a rule for
each topic that it knows: the clause of its PROTOCOL.md, what a bot has to do, and what to change in one that
does not. Knows no client, no socket and no game.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from adapters.client.contract import Codec, Translator
from gateway.game.events import Objection


class Topic(Enum):
    """What a bot is checked for."""

    TRANSPORT = auto()
    """It comes by the dialect's transport."""
    ENDS = auto()
    """Its messages have an end."""
    WORDS = auto()
    """It says nothing that is no message."""
    ENTRY = auto()
    """It asks for a game."""
    NAME = auto()
    """Its name is one."""
    AGAIN = auto()
    """It does not ask for a game while it has one, or waits for one."""
    REFUSED = auto()
    """It copes with a refusal when it asks for a game."""
    WAIT = auto()
    """It waits until there is an opponent."""
    OPENING = auto()
    """It moves when it is asked to move first."""
    REPLY = auto()
    """It answers a move."""
    FORMAT = auto()
    """The column is a number."""
    COLUMN = auto()
    """The number is one of a column."""
    FULL = auto()
    """The column has room."""
    TURN = auto()
    """It moves once, and only when it is asked."""
    IDLE = auto()
    """It does not move while there is no game."""
    WIN = auto()
    LOSS = auto()
    DRAW = auto()
    NEXT = auto()
    """It plays a further game on the same connection."""
    ILLEGAL = auto()
    """It goes on after an opponent's illegal move."""
    LEFT = auto()
    """It goes on when its opponent leaves while the opponent is to move."""
    LEFT_ASKED = auto()
    """The same while the bot is to move."""
    ABORTED = auto()
    """The same before both have moved."""
    LATE = auto()
    """It goes on when its opponent's time is up."""
    TIME = auto()
    """It goes on when its own time is up."""
    SLOW = auto()
    """It waits for a slow opponent."""
    PING = auto()
    """It answers pings."""
    SPLIT = auto()
    """It puts together what comes in pieces."""
    MERGED = auto()
    """It takes apart what comes together."""
    QUIRK = auto()
    """It copes with what the original server does otherwise when an opponent leaves."""
    RELAY = auto()
    """It copes with an illegal move that the original passes on."""
    CLOSE = auto()
    """It hangs up when the server does."""


ENDINGS = (Topic.WIN, Topic.LOSS, Topic.DRAW)
"""The results that a game can have."""
ORIGINALS = (Topic.QUIRK, Topic.RELAY)
"""What only original servers do, unless this one is asked to."""
PROHIBITIONS = (Topic.ENDS, Topic.WORDS, Topic.FORMAT, Topic.COLUMN, Topic.TURN, Topic.IDLE)
"""What a bot obeys by not doing it. It did nothing of the kind if it has moved."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What one clause asks of a bot."""

    clause: str
    """Its number in PROTOCOL.md."""
    duty: str
    """What a bot has to do."""
    change: str
    """What to change in one that does not."""
    is_grave: bool = True
    """Whether a bot that does not is wrong; otherwise that is only remarked."""
    behind: Topic | None = None
    """A rule that is about the same message: who breaks that one is not asked about this one, too."""


def websocket_rules(*, close: str, packets: str) -> dict[Topic, Rule]:
    """Return the rules for clients that come by websocket, whose PROTOCOL.md has that in clause 1.1.

    `close` is the clause about the end of a connection, `packets` the one about frames and packets.
    """
    put_together = "puts a frame together that comes in several packets"
    closes = "answer a close frame, and close the connection"
    return {
        Topic.TRANSPORT: Rule("1.1", "comes by websocket", "connect by websocket, to ws://HOST:PORT/"),
        Topic.PING: Rule("1.1", "answers pings", "read the websocket also while the opponent thinks"),
        Topic.CLOSE: Rule(close, "hangs up when the server does", closes),
        Topic.SPLIT: Rule(packets, put_together, "read until the frame has its whole length"),
        Topic.MERGED: Rule(
            packets, "takes all frames of one packet", "handle each frame of what arrives, in order"
        ),
    }


_IN_WORDS = {
    Objection.NOT_ENTERED: "it had asked for no game",
    Objection.WAITING: "no game was on",
    Objection.PLAYING: "a game was on",
    Objection.NOT_YOUR_TURN: "it was not its turn",
    Objection.NOT_A_COLUMN: "that is no integer",
    Objection.OUTSIDE: "there is no such column",
    Objection.COLUMN_FULL: "the column was full",
    Objection.UNFIT: "there is no such thing to ask for",
    Objection.NO_NAME: "it had given no name",
    Objection.NAME_RESERVED: "the name is that of a player of the server's",
}


def in_words(objections: Objection) -> str:
    """Return why a message was refused."""
    names = (_IN_WORDS.get(each, str(each.name).lower().replace("_", " ")) for each in objections)
    return " and ".join(names)


@dataclass(frozen=True, slots=True)
class ClientText:
    """A text of a client's."""

    text: str
    message: Any = None
    """The message of the dialect that it is; None where it is none."""
    hint: str = ""
    """Which other dialect it is of, as the end of a sentence, if it is of one."""


@dataclass(frozen=True, slots=True)
class Requirements:
    """A dialect, as far as its clients are checked."""

    rules: Mapping[Topic, Rule]
    offence: Callable[[ClientText, Objection], Topic | None]
    """Returns what a client offends against by what it said, and was refused; None if any may say that."""
    codec: Callable[[], Codec[Any, Any]]
    translator: Callable[[Any, str, bool], Translator[Any, Any]]
    """Takes the dialect's own options, the target of the request, and whether to speak as the original."""
    relay: str = ""
    """What the original tells of an opponent's illegal move before the end; empty where it says nothing."""


def first_of(offences: Sequence[tuple[Objection, Topic]], objections: Objection, other: Topic) -> Topic:
    """Return the first topic of which an objection was raised; `other` if there is none."""
    return next((topic for objection, topic in offences if objections & objection), other)
