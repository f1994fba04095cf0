"""What to change in a bot that has lost a game by a fault.

Pure. The rules of the bot's dialect have the words, which `c4gateway check` reports, too.
"""

from collections.abc import Mapping

from adapters.client.contract import WireError
from adapters.client.rules import ClientText, Requirements, Rule, Topic, silent_at
from gateway.game.board import Board
from gateway.game.events import Objection

GENERAL: Mapping[str, str] = {
    "illegal": "play only columns from 0 to 6 that have room",
    "time": "decide in less time: stop the search by the clock, and keep a reserve for the network",
    "stall": "send a move each time one is asked for; a program that waits for something else, or has crashed"
    " behind an open connection, is silent",
    "crash": "stay connected until the game is over; look at the last lines that the program wrote",
    "walkover": "stay at the table, or come back to it, until the tournament is over",
}
"""What to change after a fault, in any dialect, by `gateway.game.results.FAULT_WORDS`."""
_BACK = ("crash", "walkover")
"""Faults of a bot that is not connected."""


def remedies(
    fault: str,
    requirements: Requirements | None,
    board: Board,
    refused: tuple[str, Objection] | None,
) -> list[tuple[str, str]]:
    """Return what to change, each with the clause of the dialect that says so, or an empty text.

    `requirements` are those of the bot's dialect, None if it is not known. `board` is the position in which
    the bot made the fault, and `refused` its last text if that was refused, with the reasons.
    """
    found = [(GENERAL[fault], "")]
    if requirements is None:
        return found
    topics = [_offence(requirements, *refused)] if refused is not None else []
    if fault == "stall" and not topics:
        topics.append(silent_at(board))
    if fault in _BACK:
        topics.append(Topic.BACK)
    rules = [
        rule for topic in topics if topic is not None and (rule := _rule(requirements, topic)) is not None
    ]
    return [(rule.change, rule.clause) for rule in rules] + ([] if refused is not None and rules else found)


def _rule(requirements: Requirements, topic: Topic) -> Rule | None:
    return requirements.rules.get(topic)


def _offence(requirements: Requirements, text: str, objections: Objection) -> Topic | None:
    try:
        message = requirements.codec().decode(text)
    except WireError:
        message = None
    return requirements.offence(ClientText(text, message), objections)
