"""Where a game was lost, in a sentence: the fault that ended it, or the last move that gave it away.

Pure. Knows stored games, what their evidence shows, and their analyses.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from adapters.web.page.sentences import Part, Text, counted, thought
from adapters.web.page.timeline import Attempt
from gateway.game.board import Side, other
from gateway.game.evaluation import Turned
from gateway.game.events import Objection, Reason
from gateway.store.analyses import Analysis
from gateway.store.evidence import objections_in
from gateway.store.records import FAULTS, GameRecord


@dataclass(frozen=True, slots=True)
class Mistake:
    """The mistake that lost a game."""

    kind: Literal["fault", "turn", "none"]
    """It broke a rule; or it turned the game; or there was none, since the game was lost from the start."""
    move: int
    """The number of the move at which the view of the game shows it."""
    words: Text


def mistake_in(record: GameRecord, analysis: Analysis | None, attempt: Attempt | None) -> Mistake | None:
    """Return the loser's mistake; None if the game was not lost, or the mistake is not known."""
    if record.winner is None:
        return None
    if record.reason in FAULTS:
        words = (*_fault(record, attempt), _worth(record, analysis, other(record.winner)))
        return Mistake("fault", len(record.moves), words)
    if analysis is None:
        return None
    if analysis.mistake is None:
        return Mistake("none", 0, ("None: it was lost from the start.",))
    return Mistake("turn", analysis.mistake.move, (_gave_away(record, analysis, analysis.mistake),))


def _gave_away(record: GameRecord, analysis: Analysis, last: Turned) -> str:
    before = analysis.evaluations[last.move - 1]
    if last.was == "win" and before is not None:
        return f"Move {last.move} gave away a win at move {before.at}."
    by = f"by column {record.moves[last.move - 1]}"
    return f"Move {last.move} gave away a {last.was}, {by}; {_columns(last.better)} held it."


def _columns(columns: Sequence[int]) -> str:
    """Return columns as ``columns 0, 3 and 5``."""
    *others, last = map(str, columns)
    return f"columns {', '.join(others)} and {last}" if others else f"column {last}"


def _worth(record: GameRecord, analysis: Analysis | None, loser: Side) -> str:
    """Return the end of a sentence on a fault: what the game was worth to the player that made it."""
    known = None if analysis is None else analysis.evaluations[-1]
    if known is None:
        return "."
    comma = "" if record.reason is Reason.TIME else ","
    if known.winner is None:
        return f"{comma} while it was a draw."
    return f"{comma} while it was {f'winning at move {known.at}' if known.winner == loser else 'losing'}."


def _fault(record: GameRecord, attempt: Attempt | None) -> Text:
    """Return what a player did that the rules do not allow, as the beginning of a sentence."""
    match record.reason:
        case Reason.TIME:
            used = None if attempt is None else attempt.used
            return ("No move in time" if used is None else f"No move for {thought(used)}",)
        case Reason.LEFT:
            return (f"Left after {counted(len(record.moves), 'move')}",)
    if attempt is None or not attempt.text:
        return ("Its move was illegal",)
    objections = objections_in(attempt.why)
    if attempt.column and objections in (Objection.COLUMN_FULL, Objection.OUTSIDE):
        which = "was full" if objections is Objection.COLUMN_FULL else "does not exist"
        return (f"Said column {attempt.column}, which {which}",)
    return ("Sent ", Part("quoted", attempt.text), f", which was refused: {attempt.why}")
