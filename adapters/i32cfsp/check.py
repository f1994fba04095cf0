"""The rules of PROTOCOL.md that `c4gateway check` applies to I32CFSP clients.

Knows the clauses that a client can keep or break, and which clause a refused line breaks.
"""

from adapters.client.rules import ClientText, Requirements, Rule, Topic, first_of
from adapters.i32cfsp.codec import I32cfspCodec
from adapters.i32cfsp.messages import AiGame, Drop, Hello, Pop
from adapters.i32cfsp.translator import I32cfspTranslator
from gateway.game.events import Objection

_RULES = {
    Topic.TRANSPORT: Rule("1.1", "comes by TCP, and sends lines", "connect by plain TCP, and send lines"),
    Topic.ENDS: Rule("1.2", "ends each line with CR LF", r"write '\r\n' after each line, and flush"),
    Topic.SPLIT: Rule(
        "1.4",
        "puts a line together that comes in several packets",
        "read lines, as by makefile().readline(); one recv() is not one line",
    ),
    Topic.MERGED: Rule(
        "1.4",
        "takes all lines of one packet",
        "read lines, as by makefile().readline(); keep what has come after the line",
    ),
    Topic.WORDS: Rule("1.6", "sends only lines of the protocol", "send only the lines of section 2"),
    Topic.ENTRY: Rule(
        "2.1",
        "sends I32CFSP_HELLO, and AI_GAME after the answer",
        "send I32CFSP_HELLO and a name after you have connected, and AI_GAME 7 6 after WELCOME",
    ),
    Topic.NAME: Rule(
        "2.3", "has a name that the server admits", "take a name that is not one of the server's players"
    ),
    Topic.AGAIN: Rule("1.7", "says I32CFSP_HELLO and AI_GAME once", "send each of the two once"),
    Topic.WAIT: Rule(
        "3.4",
        "waits for READY",
        "do not let the socket time out after AI_GAME: an opponent may take hours to come",
        behind=Topic.SLOW,
    ),
    Topic.OPENING: Rule("3.5", "moves first when it hears READY", "answer the first READY with DROP"),
    Topic.REPLY: Rule("4.3", "answers READY with a move", "answer each READY with one DROP"),
    Topic.FORMAT: Rule("4.6", "drops discs, and pops none", "send DROP; this server has no POP"),
    Topic.COLUMN: Rule("4.5", "plays columns 1 to 7", "count columns from 1 to 7"),
    Topic.FULL: Rule(
        "4.5",
        "plays columns that have room",
        "keep the board, with both players' moves, and choose among columns with fewer than six discs",
    ),
    Topic.TURN: Rule("4.7", "moves only after READY, and once", "wait for READY before each DROP"),
    Topic.IDLE: Rule("1.7", "does not move before its game", "wait for READY before the first DROP"),
    Topic.WIN: Rule("5.2", "ends at WINNER_RED in answer to its move", "take WINNER_RED instead of OKAY"),
    Topic.LOSS: Rule(
        "5.3",
        "ends at WINNER_YELLOW after the opponent's move",
        "take WINNER_YELLOW instead of READY after the opponent's DROP",
    ),
    Topic.DRAW: Rule(
        "5.4",
        "ends when the server hangs up after the move that fills the board",
        "an empty line read is the end of the stream: close the socket",
    ),
    Topic.LEFT: Rule(
        "5.5",
        "copes with WINNER_RED when the opponent leaves before it moves",
        "let a winner end the game wherever it comes, also after OKAY",
        is_grave=False,
    ),
    Topic.LEFT_ASKED: Rule(
        "5.5",
        "copes with WINNER_RED while it is to move, when the opponent leaves",
        "let a winner end the game wherever it comes; it may be the answer to the next DROP",
        is_grave=False,
        behind=Topic.LEFT,
    ),
    Topic.ABORTED: Rule(
        "5.6",
        "copes with WINNER_RED when the opponent leaves at the beginning of a game",
        "let a winner end the game also if the opponent has not moved yet",
        is_grave=False,
        behind=Topic.LEFT,
    ),
    Topic.LATE: Rule(
        "5.5",
        "copes with WINNER_RED when the opponent's time is up",
        "let a winner end the game wherever it comes, also after OKAY",
        is_grave=False,
        behind=Topic.LEFT,
    ),
    Topic.TIME: Rule(
        "6.2",
        "copes with WINNER_YELLOW while it thinks, when its time is up",
        "let a winner end the game wherever it comes; it may be the answer to the next DROP",
        is_grave=False,
        behind=Topic.LEFT,
    ),
    Topic.SLOW: Rule(
        "6.1",
        "waits for an opponent that takes its time",
        "do not let the socket time out while the opponent thinks, for 300 seconds",
    ),
    Topic.CLOSE: Rule(
        "5.1", "hangs up after the game", "close the socket when the game is over, or the stream has ended"
    ),
}
_OFFENCES = (
    (Objection.NOT_YOUR_TURN, Topic.TURN),
    (Objection.OUTSIDE, Topic.COLUMN),
    (Objection.COLUMN_FULL, Topic.FULL),
)
"""The objections to a `DROP`, each with the topic that it breaks. Out of turn it costs the game."""


def _offence(sent: ClientText, objections: Objection) -> Topic | None:
    match sent.message:
        case Drop():
            return first_of(_OFFENCES, objections, Topic.IDLE)
        case Pop():
            return Topic.TURN if Objection.NOT_YOUR_TURN in objections else Topic.FORMAT
        case Hello() if objections & (Objection.NAME_RESERVED | Objection.TOO_LONG):
            return Topic.NAME
        case AiGame() if Objection.NO_NAME in objections:
            return Topic.ENTRY
        case Hello() | AiGame():
            return Topic.AGAIN
        case _:
            return Topic.WORDS


def _translator(options: object, target: str, original: bool) -> I32cfspTranslator:
    return I32cfspTranslator()


REQUIREMENTS = Requirements(_RULES, _offence, I32cfspCodec, _translator)
