"""The rules of PROTOCOL.md that `c4gateway check` applies to arena clients.

Knows the clauses that a client can keep or break, and which clause an ignored message breaks. If the server
ignores a mistake and the game goes on, the mistake is only a remark.
"""

from collections.abc import Iterable

from adapters.arena.codec import ArenaCodec
from adapters.arena.messages import (
    ClientMessage,
    Disconnected,
    End,
    Move,
    ServerMessage,
    Start,
    State,
    StateRequest,
)
from adapters.arena.translator import ArenaTranslator
from adapters.client.rules import ClientText, Requirements, Rule, Topic, first_of, websocket_rules
from gateway.game.events import Event, Moved, Objection

_RULES = websocket_rules(close="1.1", packets="1.1") | {
    Topic.WORDS: Rule(
        "2.7", "sends nothing but maps in JSON or EDN", "send one map in each frame, and check it"
    ),
    Topic.ENTRY: Rule("3.1", "asks for a game with start", 'send {"type": "start", "id": "NAME"} first'),
    Topic.WAIT: Rule(
        "3.1",
        "waits after start until an opponent comes",
        "do not time out between start and the first state: an opponent may take hours to come",
        behind=Topic.SLOW,
    ),
    Topic.FORMAT: Rule("3.3", "moves with a column that is an integer", 'send {"type": "move", "move": 3}'),
    Topic.OPENING: Rule("4.2", "moves first where turn is you in the first state", "move where turn is you"),
    Topic.REPLY: Rule("4.4", "moves where turn is you", "answer each state in which turn is you with a move"),
    Topic.WIN: Rule(
        "4.6", "copes with a state with winner, and end, when it has won", "move no more once turn is 0"
    ),
    Topic.LOSS: Rule(
        "4.6", "copes with a state with winner, and end, when it has lost", "move no more once turn is 0"
    ),
    Topic.DRAW: Rule(
        "4.7",
        "copes with winner 0, a draw",
        "winner 0 is a draw: look whether the key is there, not at its value",
    ),
    Topic.LEFT: Rule(
        "4.8",
        "copes with disconnected, while the opponent is to move",
        "let disconnected end the game like end; neither state nor end comes with it",
    ),
    Topic.LEFT_ASKED: Rule(
        "4.8",
        "copes with disconnected while it thinks about a move",
        "let disconnected end the game also while you think; a move that is late for it is ignored",
        behind=Topic.LEFT,
    ),
    Topic.NEXT: Rule(
        "4.10",
        "plays the next game on the same connection, from an empty board",
        "forget board and number at each start; take them from state",
    ),
    Topic.ABORTED: Rule(
        "4.11",
        "copes with disconnected at the beginning of a game",
        "let disconnected end the game also if the opponent has not moved yet",
        behind=Topic.LEFT,
    ),
    Topic.NAME: Rule(
        "5.3",
        "starts with an id that it may have",
        "send an id that is a string, and not a reference player's",
    ),
    Topic.REFUSED: Rule(
        "5.7",
        "starts again, or hangs up, when its start is ignored",
        "look for ignored after start: no game comes; start again, elsewhere or later, or end",
        is_grave=False,
    ),
    Topic.AGAIN: Rule(
        "5.8",
        "starts once for each game",
        "send start once, and again only after end or disconnected",
        is_grave=False,
    ),
    Topic.IDLE: Rule(
        "5.2", "does not move while there is no game", "move only where turn is you", behind=Topic.TURN
    ),
    Topic.TURN: Rule("5.10", "moves once for each turn", "send one move for each state in which turn is you"),
    Topic.COLUMN: Rule("5.11", "plays columns 0 to 6", "count columns from 0 to 6"),
    Topic.FULL: Rule(
        "5.11",
        "plays columns that have room",
        "look at the state, column by column from the bottom, and choose among columns whose sixth cell is 0",
        is_grave=False,
        behind=Topic.TURN,
    ),
    Topic.SLOW: Rule(
        "8.1", "waits for an opponent that takes its time", "do not time out while the opponent thinks"
    ),
    Topic.LATE: Rule(
        "8.1",
        "copes with a state with winner but no last-move, when the opponent's time is up",
        "do not rely on last-move in a state that has winner",
    ),
    Topic.TIME: Rule(
        "8.2",
        "copes with a state with winner while it thinks, when its time is up",
        "let a state with winner end the game also while you think",
        behind=Topic.LATE,
    ),
    Topic.ILLEGAL: Rule("9.2", "waits while the opponent plays illegal moves", "wait for the next state"),
    Topic.QUIRK: Rule(
        "4.11",
        "copes with state, disconnected and end at once, as the original sends them",
        "send start once: after disconnected, and not after the end that follows it",
        is_grave=False,
        behind=Topic.LEFT,
    ),
    Topic.BACK: Rule(
        "10.3",
        "comes back after its connection broke, and goes on with the game",
        "connect again, and start with the same id; take the board from state",
        is_grave=False,
    ),
}
_OFFENCES = (
    (Objection.NOT_ENTERED | Objection.WAITING, Topic.IDLE),
    (Objection.NOT_YOUR_TURN, Topic.TURN),
    (Objection.NOT_A_COLUMN, Topic.FORMAT),
    (Objection.OUTSIDE, Topic.COLUMN),
    (Objection.COLUMN_FULL, Topic.FULL),
)


class _Original(ArenaTranslator):
    """Sends the original server's messages when an opponent leaves (PROTOCOL.md 4)."""

    _latest: State | None = None

    def observe(self, event: Event, asked: ClientMessage | str | None = None) -> Iterable[ServerMessage]:
        """Return the messages to send for an event."""
        messages = [*super().observe(event, asked)]
        if isinstance(event, Moved) and isinstance(messages[0], State):
            self._latest = messages[0]
        if messages == [Disconnected()] and self._latest is not None:
            return [self._latest, *messages, End()]
        return messages


def _offence(sent: ClientText, objections: Objection) -> Topic | None:
    match sent.message:
        case Move():
            return first_of(_OFFENCES, objections, Topic.TURN)
        case Start():
            return Topic.NAME if Objection.UNFIT in objections else Topic.AGAIN
        case StateRequest():
            return None
        case _:
            return Topic.WORDS


def _translator(options: object, target: str, original: bool) -> ArenaTranslator:
    return (_Original if original else ArenaTranslator)(None, None)


REQUIREMENTS = Requirements(_RULES, _offence, ArenaCodec, _translator)
