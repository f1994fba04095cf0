"""The rules of PROTOCOL.md that `c4gateway check` applies to nac4 clients.

Knows the clauses that a client can keep or break, and which clause a refused message breaks.
"""

from adapters.client.rules import ClientText, Requirements, Rule, Topic, first_of, websocket_rules
from adapters.nac4.codec import Nac4Codec
from adapters.nac4.messages import PlayMove
from adapters.nac4.options import Nac4Options
from adapters.nac4.translator import Nac4Translator
from gateway.game.commands import LOBBY
from gateway.game.events import Objection

_RULES = websocket_rules(close="1.11", packets="1.2") | {
    Topic.ENDS: Rule("1.5", "sends one message a frame", "send each message in a frame of its own"),
    Topic.NAME: Rule(
        "3.2",
        "has a name of 1 to 64 letters, digits, - and _",
        "send connect and one word of ASCII letters, digits, - and _",
    ),
    Topic.ENTRY: Rule("3.1", "sends connect and its name first", "send connect NAME before anything else"),
    Topic.REFUSED: Rule(
        "4.3",
        "ends, or tries again, at not-connected",
        "look at the first answer: after not-connected no game comes; connect again, or end",
        is_grave=False,
    ),
    Topic.WAIT: Rule(
        "4.1",
        "waits after connected until an opponent comes",
        "do not time out between connected and newgame: an opponent may take hours to come",
        behind=Topic.SLOW,
    ),
    Topic.OPENING: Rule("5.1", "moves first at genmove with an empty board", "answer genmove with playmove"),
    Topic.REPLY: Rule("5.2", "answers genmove with playmove", "answer each genmove with one playmove"),
    Topic.COLUMN: Rule("5.3", "plays columns 0 to 6", "count columns from 0 to 6"),
    Topic.FULL: Rule(
        "5.3",
        "plays columns that have room",
        "look at the board of each genmove: row 0, at the bottom, comes first, 7 characters a row",
        behind=Topic.TURN,
    ),
    Topic.TURN: Rule(
        "5.5",
        "sends playmove once for each genmove, and at no other time",
        "send one playmove for each genmove, and no other",
    ),
    Topic.AGAIN: Rule("5.6", "sends connect once", "send connect once for each connection"),
    Topic.WORDS: Rule("5.6", "sends nothing but connect and playmove", "send only the messages of section 2"),
    Topic.WIN: Rule("5.7", "goes on after a won game", "wait for newgame after endgame"),
    Topic.LOSS: Rule("5.7", "goes on after a lost game", "wait for newgame after endgame"),
    Topic.DRAW: Rule(
        "5.8", "goes on after Tie", "Tie is a status like WinR and WinY; wait for newgame after it"
    ),
    Topic.NEXT: Rule(
        "5.9",
        "plays the next game on the same connection, from an empty board",
        "stay connected after endgame; at each newgame forget board and colour, which genmove tells",
    ),
    Topic.LEFT: Rule(
        "5.10",
        "copes with endgame with Disconnected, while the opponent is to move",
        "let endgame end the game whatever its last word: Ok, Timeout or Disconnected;"
        " for a client that cannot, the server has --nac4-original",
    ),
    Topic.QUIRK: Rule(
        "5.11",
        "copes with endgame with Ok in the middle of a game, as the original sends it",
        "trust the status, not the board: the opponent has left",
    ),
    Topic.LEFT_ASKED: Rule(
        "5.12",
        "copes with endgame while it thinks about a move",
        "let endgame end the game also while you think; a playmove that is late for it is dropped",
        behind=Topic.LEFT,
    ),
    Topic.ABORTED: Rule(
        "5.14",
        "copes with endgame at the beginning of a game, when the opponent leaves",
        "let endgame end the game also if the opponent has not moved yet",
        behind=Topic.LEFT,
    ),
    Topic.SLOW: Rule(
        "6.2", "waits for an opponent that takes its time", "do not time out while the opponent thinks"
    ),
    Topic.TIME: Rule(
        "6.4",
        "copes with endgame with Timeout, when its own time is up",
        "let endgame end the game also while you think",
        behind=Topic.LATE,
    ),
    Topic.LATE: Rule(
        "6.5",
        "copes with endgame with Timeout, when the opponent's time is up",
        "let endgame end the game whatever its last word: Ok, Timeout or Disconnected",
    ),
    Topic.ILLEGAL: Rule(
        "7.12",
        "waits while the opponent plays illegal moves",
        "wait for genmove or endgame, whatever takes so long",
    ),
    Topic.BACK: Rule(
        "8.3",
        "comes back after its connection broke, and goes on with the game",
        "connect again, by the same name and to the same URL; take the board from genmove",
        is_grave=False,
    ),
}
_OFFENCES = (
    (Objection.NOT_YOUR_TURN | Objection.NOT_ENTERED | Objection.WAITING, Topic.TURN),
    (Objection.OUTSIDE, Topic.COLUMN),
    (Objection.COLUMN_FULL, Topic.FULL),
)


def _offence(sent: ClientText, objections: Objection) -> Topic | None:
    match sent.message:
        case None if len(sent.text.strip().splitlines()) > 1:
            return Topic.ENDS
        case None:
            return Topic.NAME if sent.text.split()[:1] == ["connect"] else Topic.WORDS
        case PlayMove():
            return first_of(_OFFENCES, objections, Topic.TURN)
        case _:
            return Topic.AGAIN


def _translator(options: Nac4Options, target: str, original: bool) -> Nac4Translator:
    return Nac4Translator(LOBBY, original=original or options.nac4_original)


REQUIREMENTS = Requirements(_RULES, _offence, Nac4Codec, _translator)
