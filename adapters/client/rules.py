"""The rules of a dialect for its clients, as data.

A topic is a requirement that dialects have in common. The `Requirements` of a dialect have a rule for each of
its topics: the clause of its PROTOCOL.md, what a bot has to do, and what to change in a bot that breaks the
rule. Does not know clients or sockets.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from adapters.client.contract import Codec, Translator
from gateway.game.board import COLUMNS, Board
from gateway.game.events import Objection


class Topic(Enum):
    """A requirement that bots are checked for. In the descriptions below, "it" is the bot."""

    TRANSPORT = auto()
    """It uses the dialect's transport."""
    ENDS = auto()
    """Its messages have an end."""
    WORDS = auto()
    """It sends only valid messages."""
    ENTRY = auto()
    """It asks for a game."""
    NAME = auto()
    """Its name is valid."""
    AGAIN = auto()
    """It does not ask for a game while it plays or waits for one."""
    REFUSED = auto()
    """It goes on after a refusal of its request for a game."""
    WAIT = auto()
    """It waits until there is an opponent."""
    OPENING = auto()
    """It moves when it is asked to move first."""
    REPLY = auto()
    """It answers the opponent's move with a move."""
    FORMAT = auto()
    """It gives the column as an integer."""
    COLUMN = auto()
    """It gives a column from 0 to 6."""
    FULL = auto()
    """It plays a column that has room."""
    TURN = auto()
    """It moves only when it is asked, and then only once."""
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
    """It goes on when its opponent leaves on the opponent's turn."""
    LEFT_ASKED = auto()
    """It goes on when its opponent leaves on the bot's turn."""
    ABORTED = auto()
    """It goes on when its opponent leaves before both have moved."""
    LATE = auto()
    """It goes on when its opponent's time is up."""
    TIME = auto()
    """It goes on when its own time is up."""
    SLOW = auto()
    """It waits for a slow opponent."""
    PING = auto()
    """It answers pings."""
    SPLIT = auto()
    """It joins the pieces of a message."""
    MERGED = auto()
    """It separates messages that come together."""
    QUIRK = auto()
    """It goes on when an opponent leaves and the server acts like an original server."""
    RELAY = auto()
    """It goes on after the server passes on an opponent's illegal move, as the original does."""
    CLOSE = auto()
    """It hangs up when the server does."""
    BACK = auto()
    """It comes back after its connection broke, and goes on with the game."""


ENDINGS = (Topic.WIN, Topic.LOSS, Topic.DRAW)
"""The results that a game can have."""
ORIGINALS = (Topic.QUIRK, Topic.RELAY)
"""Topics about a behavior of original servers that this server imitates only on request."""
PROHIBITIONS = (Topic.ENDS, Topic.WORDS, Topic.FORMAT, Topic.COLUMN, Topic.TURN, Topic.IDLE)
"""Topics that forbid something. A bot that has moved, and has not broken such a rule, has kept the rule."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What one clause requires of a bot."""

    clause: str
    """The number of the clause in PROTOCOL.md."""
    duty: str
    """What a bot has to do."""
    change: str
    """What to change in a bot that breaks the rule."""
    is_grave: bool = True
    """Whether a breach is an error; otherwise it is only a remark."""
    behind: Topic | None = None
    """The topic of a related rule. If a bot breaks that rule, a breach of this one is not reported."""


def websocket_rules(*, close: str, packets: str) -> dict[Topic, Rule]:
    """Return the rules for clients that use websockets. The clause about the transport is 1.1.

    `close` is the clause about the end of a connection, and `packets` the clause about frames and packets.
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
    Objection.UNFIT: "the request is not valid",
    Objection.TABLE_EMPTY: "nobody was at that table",
    Objection.NO_NAME: "it had no name",
    Objection.NAME_RESERVED: "the name is that of one of the server's players",
}


def in_words(objections: Objection) -> str:
    """Return the reasons for a refusal in words."""
    names = (_IN_WORDS.get(each, str(each.name).lower().replace("_", " ")) for each in objections)
    return " and ".join(names)


@dataclass(frozen=True, slots=True)
class ClientText:
    """A text from a client."""

    text: str
    message: Any = None
    """The dialect's message in the text; None if the text is not a valid message."""
    hint: str = ""
    """Words that name the other dialect to which the text belongs; empty if there is none."""


@dataclass(frozen=True, slots=True)
class Requirements:
    """A dialect's rules for checking its clients."""

    rules: Mapping[Topic, Rule]
    offence: Callable[[ClientText, Objection], Topic | None]
    """Returns the topic that a refused text breaks; None if it breaks none."""
    codec: Callable[[], Codec[Any, Any]]
    translator: Callable[[Any, str, bool], Translator[Any, Any]]
    """Takes the dialect's own options, the target of the request, and whether to imitate the original
    server."""
    relay: str = ""
    """The text about an opponent's illegal move that the original server sends before the end of the game;
    empty if it sends none."""


def silent_at(board: Board) -> Topic:
    """Return the topic that a bot probably failed at, if it did not move on this board."""
    if has_full_column(board):
        return Topic.FULL
    return Topic.REPLY if board.moves else Topic.OPENING


def has_full_column(board: Board) -> bool:
    """Whether a column has no room."""
    return any(not board.has_room(column) for column in range(COLUMNS))


def first_of(offences: Sequence[tuple[Objection, Topic]], objections: Objection, other: Topic) -> Topic:
    """Return the topic of the first offence whose objection is in `objections`; `other` if there is none."""
    return next((topic for objection, topic in offences if objections & objection), other)
