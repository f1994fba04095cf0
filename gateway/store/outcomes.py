"""How a game ended, in words, for commands and pages.

Knows sides and reasons. Does not know names, because a terminal and a page show them differently.
"""

from dataclasses import dataclass

from gateway.game.board import Side, other
from gateway.game.events import Reason
from gateway.store.records import GameRecord


@dataclass(frozen=True, slots=True)
class Outcome:
    """A sentence about two players: one's name, `verb`, the other's name, `how`."""

    subject: Side
    """The side that is named first: the winner, or the loser if it made a mistake."""
    verb: str
    how: str


_WON = {Reason.FOUR: "with four in a row"}
_LOST = {Reason.TIME: "on time", Reason.LEFT: "by leaving", Reason.ILLEGAL: "by an illegal move"}
_NEITHER = {
    Reason.FULL: "drew on a full board",
    Reason.ABORTED: "did not finish: one left before both had moved",
    Reason.STOPPED: "were cut off by the server",
}


def outcome(record: GameRecord) -> Outcome:
    """Return the sentence for a game."""
    if record.winner is None:
        return Outcome(
            0, "and", _NEITHER.get(record.reason, f"ended without a winner: {record.reason.value}")
        )
    if record.reason in _LOST:
        return Outcome(other(record.winner), "lost to", _LOST[record.reason])
    return Outcome(record.winner, "beat", _WON.get(record.reason, f"by {record.reason.value}"))
