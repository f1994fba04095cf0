"""The rules of PROTOCOL.md that `c4gateway check` applies to Droidcon clients.

Knows the clauses that a client can keep or break, and which clause a refused command breaks.
"""

from collections.abc import Iterable

from adapters.client.rules import ClientText, Requirements, Rule, Topic, first_of
from adapters.droidcon.codec import DroidconCodec
from adapters.droidcon.messages import ClientMessage, Join, Name, Put, ServerMessage
from adapters.droidcon.options import DroidconOptions
from adapters.droidcon.translator import DroidconTranslator
from gateway.game.events import Ended, Event, Objection

_RULES = {
    Topic.TRANSPORT: Rule("1.1", "comes by TCP, and sends lines", "connect by plain TCP, and send lines"),
    Topic.ENDS: Rule(
        "1.2", "ends each command with LF or CR LF", "send a newline after each command, at once"
    ),
    Topic.SPLIT: Rule(
        "1.4",
        "puts a message together that comes in several packets",
        "collect what arrives until there is a newline; one recv() is not one message",
    ),
    Topic.MERGED: Rule(
        "1.4",
        "takes all messages of one packet",
        "split what arrives at newlines and handle each line; keep what is after the last newline",
    ),
    Topic.WORDS: Rule("2.10", "sends nothing but NAME, JOIN and PUT", "send only the commands of section 2"),
    Topic.ENTRY: Rule(
        "3.1", "sends NAME and JOIN without being asked", "send NAME and JOIN after you have connected"
    ),
    Topic.NAME: Rule(
        "3.2",
        "sends NAME, with a name of its own, before JOIN",
        "send NAME first, with a word that is not the name of a server's player",
    ),
    Topic.REFUSED: Rule(
        "3.3",
        "joins again, or hangs up, when a channel is full",
        "look at the answer to JOIN: after an Error join another channel, try again later, or end",
        is_grave=False,
    ),
    Topic.AGAIN: Rule(
        "3.4", "joins once", "send JOIN once for each connection; the seat is kept from game to game"
    ),
    Topic.WAIT: Rule(
        "3.1",
        "waits in its channel until an opponent comes",
        "do not let the socket time out between JOIN and NEW_GAME: an opponent may take hours to come",
        behind=Topic.SLOW,
    ),
    Topic.OPENING: Rule(
        "4.1", "moves first when it hears YOUR_MOVE", "answer YOUR_MOVE after NEW_GAME with PUT"
    ),
    Topic.REPLY: Rule("4.3", "answers YOUR_MOVE with PUT", "answer each YOUR_MOVE with one PUT"),
    Topic.WIN: Rule(
        "4.4", "goes on after YOU_WON", "wait for NEW_GAME, or the end of the stream, after YOU_WON"
    ),
    Topic.LOSS: Rule(
        "4.4", "goes on after YOU_LOST", "wait for NEW_GAME, or the end of the stream, after YOU_LOST"
    ),
    Topic.DRAW: Rule(
        "4.5", "goes on after DRAW", "DRAW is a result like the others; wait for NEW_GAME after it"
    ),
    Topic.NEXT: Rule(
        "4.6",
        "plays the next round of a series, from an empty board",
        "stay connected after a result; forget the board and whose turn it is at each NEW_GAME",
    ),
    Topic.CLOSE: Rule(
        "4.7",
        "hangs up when the server has",
        "an empty recv() is the end: close the socket, and what makefile() made of it, and connect again",
    ),
    Topic.LEFT: Rule(
        "4.8",
        "copes with YOU_WON in the middle of a game, when the opponent leaves",
        "let a result end the game whatever the board says, also while it is the opponent's move",
    ),
    Topic.LEFT_ASKED: Rule(
        "4.11",
        "copes with YOU_WON while it thinks about a move",
        "let a result end the game also while you think; a PUT that is late for it is dropped",
        behind=Topic.LEFT,
    ),
    Topic.ABORTED: Rule(
        "4.13",
        "copes with YOU_WON at the beginning of a game, when the opponent leaves",
        "let a result end the game also if the opponent has not moved yet",
        behind=Topic.LEFT,
    ),
    Topic.QUIRK: Rule(
        "4.8",
        "copes with NEW_GAME in the middle of a game, as the original sends it when an opponent has left",
        "begin a new game at NEW_GAME, whether or not the game before has had a result",
        is_grave=False,
    ),
    Topic.RELAY: Rule(
        "5.2",
        "copes with an illegal PUT of the opponent's, as the original passes it on",
        "do not fail at a PUT of a column that does not exist, or is full: YOU_WON follows",
        is_grave=False,
        behind=Topic.SLOW,
    ),
    Topic.ILLEGAL: Rule(
        "5.2",
        "copes with YOU_WON and a hang-up after an opponent's illegal move",
        "let YOU_WON end the game without a preceding PUT of the opponent; connect again for another series",
        behind=Topic.LEFT,
    ),
    Topic.FORMAT: Rule("5.4", "gives PUT an integer", "send the column in digits, as in PUT 3"),
    Topic.COLUMN: Rule("5.5", "plays columns 0 to 6", "count columns from 0 to 6"),
    Topic.FULL: Rule(
        "5.6",
        "plays columns that have room",
        "keep the board, with both players' moves, and choose among columns with fewer than six discs",
        behind=Topic.TURN,
    ),
    Topic.TURN: Rule(
        "5.7", "moves only when it is its turn, and once", "send one PUT for each YOUR_MOVE, and none at PUT"
    ),
    Topic.IDLE: Rule(
        "5.8",
        "does not move while there is no game",
        "wait for YOUR_MOVE; NEW_GAME alone asks for no move",
        behind=Topic.TURN,
    ),
    Topic.SLOW: Rule(
        "6.1",
        "waits for an opponent that takes its time",
        "do not let the socket time out while the opponent thinks, for 300 seconds",
    ),
    Topic.TIME: Rule(
        "6.4",
        "copes with YOU_LOST while it thinks, when its time is up",
        "let a result end the game also while you think",
    ),
    Topic.LATE: Rule(
        "6.5",
        "copes with YOU_WON when the opponent's time is up",
        "let a result end the game whatever the board says, also while it is the opponent's move",
        behind=Topic.LEFT,
    ),
    Topic.BACK: Rule(
        "8.3",
        "comes back after its connection broke, and goes on with the game",
        "connect again, and send the same NAME and JOIN; the game begins again",
        is_grave=False,
    ),
}
_OFFENCES = (
    (Objection.NOT_A_COLUMN, Topic.FORMAT),
    (Objection.OUTSIDE, Topic.COLUMN),
    (Objection.COLUMN_FULL, Topic.FULL),
    (Objection.NOT_YOUR_TURN, Topic.TURN),
)
"""The objections in the order of PROTOCOL.md 5.10, each with the topic that it breaks."""


def _offence(sent: ClientText, objections: Objection) -> Topic | None:
    match sent.message:
        case Put():
            return first_of(_OFFENCES, objections, Topic.IDLE)
        case Name():
            return Topic.NAME
        case Join() if Objection.NO_NAME in objections:
            return Topic.NAME
        case Join() if objections & (Objection.WAITING | Objection.PLAYING):
            return Topic.AGAIN
        case _:
            return Topic.WORDS


class _Original(DroidconTranslator):
    """Like the original server, sends nothing when the opponent leaves (PROTOCOL.md 4.8)."""

    def observe(self, event: Event, asked: ClientMessage | str | None = None) -> Iterable[ServerMessage]:
        """Return the messages to send for an event."""
        messages = super().observe(event, asked)
        return () if isinstance(event, Ended) and event.leaver is not None else messages


def _translator(options: DroidconOptions, target: str, original: bool) -> DroidconTranslator:
    return (_Original if original else DroidconTranslator)(options.rounds)


REQUIREMENTS = Requirements(_RULES, _offence, DroidconCodec, _translator, relay="PUT 7\n")
