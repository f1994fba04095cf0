"""The rules of PROTOCOL.md that `c4gateway check` applies to RPI clients.

Knows the clauses that a client can keep or break, and which clause a refused message breaks.
"""

from collections.abc import Iterable

from adapters.client.rules import ClientText, Requirements, Rule, Topic, first_of, websocket_rules
from adapters.rpi.codec import RpiCodec
from adapters.rpi.messages import ClientMessage, Connect, Invalid, Play, Ready, Reconnect, ServerMessage, Word
from adapters.rpi.translator import RpiTranslator
from gateway.game.commands import LOBBY, AtTable
from gateway.game.events import Ended, Event, Objection

_RULES = websocket_rules(close="1.4", packets="1.2") | {
    Topic.ENDS: Rule("1.3", "sends one message a frame", "send each message in a frame of its own"),
    Topic.WORDS: Rule("2.5", "sends nothing but messages", "send only the messages of section 2"),
    Topic.NAME: Rule(
        "3.2",
        "sends CONNECT with a name that it may have, before READY",
        "send CONNECT:NAME first, with a name that has none of : , | and is not one of the server's players",
    ),
    Topic.ENTRY: Rule("4.2", "sends READY after CONNECT:ACK", "answer CONNECT:ACK with READY"),
    Topic.AGAIN: Rule(
        "4.5",
        "does not send READY or CONNECT in a game",
        "send READY once for each game: after CONNECT:ACK, and after a result or TOURNAMENT:END",
        is_grave=False,
    ),
    Topic.REFUSED: Rule(
        "4.6",
        "tries again, or hangs up, when its READY is refused",
        "look for ERROR after READY: no game comes; send READY again later, or end",
        is_grave=False,
    ),
    Topic.WAIT: Rule(
        "4.2",
        "waits after READY:ACK until an opponent comes",
        "do not time out between READY:ACK and GAME:START: an opponent may take hours to come",
        behind=Topic.SLOW,
    ),
    Topic.NEXT: Rule(
        "4.7",
        "plays the next game on the same connection, from an empty board",
        "answer TOURNAMENT:END with READY, and forget the board at each GAME:START",
    ),
    Topic.OPENING: Rule("5.1", "moves first after GAME:START:1", "answer GAME:START:1 with PLAY:COLUMN"),
    Topic.REPLY: Rule("5.2", "answers OPPONENT with PLAY", "answer each OPPONENT:COLUMN with one PLAY"),
    Topic.LOSS: Rule(
        "5.3",
        "copes with GAME:LOSS, without the move that won",
        "let GAME:LOSS end the game whatever the board",
    ),
    Topic.WIN: Rule("5.3", "copes with GAME:WINS", "move no more after GAME:WINS"),
    Topic.DRAW: Rule("5.4", "copes with GAME:DRAW", "GAME:DRAW is a result like the others"),
    Topic.LEFT: Rule(
        "5.5",
        "copes with GAME:WINS in the middle of a game, when the opponent leaves",
        "let a result end the game whatever the board says, also while it is the opponent's move",
    ),
    Topic.LEFT_ASKED: Rule(
        "5.5",
        "copes with GAME:WINS while it thinks about a move",
        "let a result end the game also while you think; a PLAY that is late for it costs nothing",
        behind=Topic.LEFT,
    ),
    Topic.ABORTED: Rule(
        "5.6",
        "copes with GAME:TERMINATED at the beginning of a game",
        "let GAME:TERMINATED end the game like a result",
        behind=Topic.LEFT,
    ),
    Topic.QUIRK: Rule(
        "5.5",
        "copes with GAME:TERMINATED when an opponent leaves, as the original sends it",
        "let GAME:TERMINATED end the game like a result",
        is_grave=False,
        behind=Topic.LEFT,
    ),
    Topic.COLUMN: Rule("5.7", "plays columns 0 to 6", "count columns from 0 to 6"),
    Topic.FULL: Rule(
        "5.7",
        "plays columns that have room",
        "keep the board, with both players' moves, and choose among columns with fewer than six discs",
        behind=Topic.TURN,
    ),
    Topic.TURN: Rule(
        "5.7", "moves only when it is its turn, and once", "send one PLAY for GAME:START:1 and each OPPONENT"
    ),
    Topic.FORMAT: Rule("5.9", "gives PLAY a column in digits", "send the column in digits, as in PLAY:3"),
    Topic.IDLE: Rule(
        "5.10",
        "does not move while there is no game",
        "send PLAY only after GAME:START:1 and OPPONENT",
        is_grave=False,
        behind=Topic.TURN,
    ),
    Topic.SLOW: Rule(
        "5.11", "waits for an opponent that takes its time", "do not time out while the opponent thinks"
    ),
    Topic.TIME: Rule(
        "5.12",
        "copes with GAME:LOSS while it thinks, when its time is up",
        "let a result end the game also while you think",
        behind=Topic.LATE,
    ),
    Topic.LATE: Rule(
        "5.12",
        "copes with GAME:WINS when the opponent's time is up",
        "let a result end the game whatever the board says",
        behind=Topic.LEFT,
    ),
    Topic.ILLEGAL: Rule(
        "5.8",
        "copes with GAME:WINS after an opponent's illegal move",
        "let GAME:WINS end the game without a preceding OPPONENT",
        behind=Topic.LEFT,
    ),
    Topic.BACK: Rule(
        "8.2",
        "comes back after its connection broke, and goes on with the game",
        "connect again, and send RECONNECT:NAME to go on, or CONNECT:NAME to begin again",
        is_grave=False,
    ),
}
_OFFENCES = (
    (Objection.UNFIT, Topic.FORMAT),
    (Objection.NOT_ENTERED | Objection.WAITING, Topic.IDLE),
    (Objection.NOT_YOUR_TURN, Topic.TURN),
    (Objection.OUTSIDE, Topic.COLUMN),
    (Objection.COLUMN_FULL, Topic.FULL),
)


class _Original(RpiTranslator):
    """Like the original server, says that a game is terminated when the opponent leaves (PROTOCOL.md 5.5)."""

    def observe(self, event: Event, asked: ClientMessage | str | None = None) -> Iterable[ServerMessage]:
        """Return the messages to send for an event."""
        messages = super().observe(event, asked)
        if isinstance(event, Ended) and event.leaver is not None:
            return (Word.TERMINATED, Word.END)
        return messages


def _offence(sent: ClientText, objections: Objection) -> Topic | None:
    topic: Topic | None = None
    match sent.message:
        case None if len(sent.text.strip().splitlines()) > 1:
            topic = Topic.ENDS
        case Play():
            topic = first_of(_OFFENCES, objections, Topic.TURN)
        case Ready() if Objection.NO_NAME in objections:
            topic = Topic.NAME
        case Ready() if Objection.WAITING in objections:
            pass  # PROTOCOL.md 4.3
        case Connect() | Reconnect() if not objections & (Objection.WAITING | Objection.PLAYING):
            topic = Topic.NAME
        case Ready() | Connect() | Reconnect():
            topic = Topic.AGAIN
        case None | Invalid():
            topic = Topic.WORDS
        case _:
            pass
    return topic


def _translator(options: object, target: str, original: bool) -> RpiTranslator:
    # Outside a table the server would hang up after an illegal move, and see nothing more
    place = AtTable(target) if "table=" in target else LOBBY
    return (_Original if original else RpiTranslator)(place)


REQUIREMENTS = Requirements(_RULES, _offence, RpiCodec, _translator)
