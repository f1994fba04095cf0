"""The rules of PROTOCOL.md that `c4gateway check` applies to tutorial clients.

Knows the clauses that a client can keep or break, and which clause a refused message breaks. If the server
answers a mistake with an error and the game goes on, the mistake is only a remark.
"""

from adapters.client.accepted import asked_in
from adapters.client.rules import ClientText, Requirements, Rule, Topic, first_of, websocket_rules
from adapters.tutorial.codec import TutorialCodec
from adapters.tutorial.messages import PlayRequest
from adapters.tutorial.translator import TutorialTranslator, new_key, place_in
from gateway.game.events import Objection

_RULES = websocket_rules(close="1.1", packets="1.1") | {
    Topic.WORDS: Rule(
        "2.1", "sends nothing but init and play", 'send {"type": "init"} and {"type": "play", "column": 3}'
    ),
    Topic.FORMAT: Rule("2.4", "moves with a column that is an integer", 'send {"type": "play", "column": 3}'),
    Topic.ENTRY: Rule("3.1", "asks for a game with init", 'send {"type": "init"} first'),
    Topic.REFUSED: Rule(
        "3.8",
        "ends, or tries again, at an error before its game",
        "look at the answer to init: after an error no game comes; connect again, or end",
        is_grave=False,
    ),
    Topic.NAME: Rule("3.9", "has a name that it may have", "choose a name that is not a server's player's"),
    Topic.WAIT: Rule(
        "3.2",
        "waits after init until an opponent comes",
        "do not time out after init: an opponent may take hours to come",
        behind=Topic.SLOW,
    ),
    Topic.AGAIN: Rule(
        "3.7", "sends init once for each game", "send init once, and again only after the game"
    ),
    Topic.OPENING: Rule("4.1", "moves first if it is red", "as red, send play without waiting for anything"),
    Topic.REPLY: Rule(
        "5.1", "answers the opponent's play with its own", "move after each play of the other colour"
    ),
    Topic.TURN: Rule(
        "5.3",
        "moves only when it is its turn",
        "wait until your own play has come back, and then the other colour's",
        is_grave=False,
    ),
    Topic.COLUMN: Rule("5.3", "plays columns 0 to 6", "count columns from 0 to 6", is_grave=False),
    Topic.FULL: Rule(
        "5.3",
        "plays columns that have room",
        "keep the board, with both players' discs",
        is_grave=False,
        behind=Topic.TURN,
    ),
    Topic.WIN: Rule("6.1", "goes on after it has won", "after win send init for another game, or hang up"),
    Topic.LOSS: Rule("6.1", "goes on after it has lost", "after win send init for another game, or hang up"),
    Topic.DRAW: Rule(
        "6.2",
        "notices a full board, about which no message comes",
        "count the discs: after the 42nd the game is over, with or without win",
    ),
    Topic.LEFT: Rule(
        "6.3",
        "copes with win in the middle of a game, when the opponent leaves",
        "let win end the game whatever the board says, also while it is the opponent's move",
    ),
    Topic.LEFT_ASKED: Rule(
        "6.3",
        "copes with win while it thinks about a move",
        "let win end the game also while you think; a play that is late for it is answered with an error",
        behind=Topic.LEFT,
    ),
    Topic.ABORTED: Rule(
        "6.3",
        "copes with win at the beginning of a game, when the opponent leaves",
        "let win end the game also if the opponent has not moved yet",
        behind=Topic.LEFT,
    ),
    Topic.NEXT: Rule(
        "6.5",
        "plays another game, from an empty board",
        "forget the board at each init with player, and after each game",
    ),
    Topic.IDLE: Rule(
        "6.6",
        "does not move after the game",
        "move no more after win, or after the 42nd disc",
        is_grave=False,
    ),
    Topic.SLOW: Rule(
        "9.1", "waits for an opponent that takes its time", "do not time out while the opponent thinks"
    ),
    Topic.LATE: Rule(
        "9.2",
        "copes with win when the opponent's time is up",
        "let win end the game whatever the board says",
        behind=Topic.LEFT,
    ),
    Topic.TIME: Rule(
        "9.2",
        "copes with win while it thinks, when its time is up",
        "let win end the game also while you think",
        behind=Topic.LATE,
    ),
    Topic.ILLEGAL: Rule("10.2", "waits while the opponent plays illegal moves", "wait for the next play"),
    Topic.BACK: Rule(
        "8.2",
        "comes back after its connection broke, and goes on with the game",
        "connect again, with the same name and to the same table; take the board from the plays that come",
        is_grave=False,
    ),
}
_OFFENCES = (
    (Objection.NOT_ENTERED, Topic.IDLE),
    (Objection.NOT_YOUR_TURN, Topic.TURN),
    (Objection.NOT_A_COLUMN, Topic.FORMAT),
    (Objection.OUTSIDE | Objection.WAITING, Topic.COLUMN),
    (Objection.COLUMN_FULL, Topic.FULL),
)


def _offence(sent: ClientText, objections: Objection) -> Topic | None:
    match sent.message:
        case None:
            return Topic.WORDS
        case PlayRequest():
            return first_of(_OFFENCES, objections, Topic.TURN)
        case _ if objections & (Objection.WAITING | Objection.PLAYING):
            return Topic.AGAIN
        case _:
            return Topic.NAME


def _translator(options: object, target: str, original: bool) -> TutorialTranslator:
    # Connections without a name are those of one player, since the check could not tell them apart.
    place = place_in(asked_in(target, "table"), asked_in(target, "against"))
    return TutorialTranslator(asked_in(target, "name") or "guest", new_key(), place)


REQUIREMENTS = Requirements(_RULES, _offence, TutorialCodec, _translator)
