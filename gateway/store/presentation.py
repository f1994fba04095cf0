"""The end of a game in words, and statistics as JSON, for commands and pages.

Knows sides, reasons and evidence. The caller puts the players' names into a sentence, because a terminal and
a page show them differently.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gateway.game.board import Side, other
from gateway.game.events import Reason
from gateway.game.text import printable
from gateway.store.evidence import Both, Exchange, find_moves
from gateway.store.records import WORDS, GameRecord
from gateway.store.statistics import Profile, Ranked, Record, Score, Standing

REFUSED = "refused: "
"""The beginning of the server's remark on a text that it refused."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The parts of the sentence about a game's end: the name of `subject`, `verb`, the other name, `how`."""

    subject: Side
    """The side that is named first: the winner; or the loser by time, by leaving or by an illegal move."""
    verb: str
    how: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """The last refused text of a player that lost the game without another move."""

    text: str
    """The text in printable form."""
    why: str
    before: int
    """The time from the text to the end of the game, in milliseconds."""

    @property
    def words(self) -> str:
        """The time from the text to the end of the game in words, such as ``18 s after a refused move``."""
        seconds = self.before / 1000
        what = "move" if any(each in self.why for each in _OF_MOVES) else "message"
        return f"{seconds:.{0 if seconds >= 10 else 1}f} s after a refused {what}"


_OF_MOVES = ("not your turn", "not a column", "outside the board", "column is full")
_WON = {Reason.FOUR: "with four in a row"}
_LOST = {Reason.TIME: "on time", Reason.LEFT: "by leaving", Reason.ILLEGAL: "by an illegal move"}
_NEITHER = {
    Reason.FULL: "drew on a full board",
    Reason.ABORTED: "did not finish: one left before both had moved",
    Reason.STOPPED: "were cut off by the server",
    Reason.REPLAYED: "did not finish: a connection broke, so the game was played again",
}


def refusal(record: GameRecord, both: Both) -> Refusal | None:
    """Return the refused text after which a player left or ran out of time; None if there is none.

    Returns None, too, if the player made a move after the text, or if the evidence does not show whether it
    did.
    """
    if record.reason not in (Reason.TIME, Reason.LEFT) or record.winner is None:
        return None
    loser = other(record.winner)
    lines = both[loser]
    if lines is None:
        return None
    moved = [index for (side, index) in find_moves(record.moves, record.thought, both).marks if side == loser]
    if len(moved) < len(record.moves[loser::2]):
        return None
    for line in reversed(lines[max(moved, default=-1) + 1 :]):
        if line.verdict.startswith(REFUSED):
            before = max(0, record.ended - record.began - line.at)
            return Refusal(printable(line.text.rstrip("\r\n")), line.verdict.removeprefix(REFUSED), before)
    return None


def outcome(record: GameRecord, both: Both = (None, None)) -> Outcome:
    """Return the parts of the sentence about a game's end. `both` is the game's evidence, if available."""
    if record.winner is None:
        return Outcome(
            0, "and", _NEITHER.get(record.reason, f"ended without a winner: {record.reason.value}")
        )
    if record.reason in _LOST:
        last = refusal(record, both)
        how = _LOST[record.reason] + (f", {last.words}" if last else "")
        return Outcome(other(record.winner), "lost to", how)
    return Outcome(record.winner, "beat", _WON.get(record.reason, f"by {record.reason.value}"))


# Each of these functions returns its argument as a JSON value. Times are milliseconds.


def of_exchange(exchange: Exchange | None) -> list[dict[str, Any]] | None:
    """Return one side's evidence as a JSON array; None without evidence."""
    if exchange is None:
        return None
    return [line._asdict() for line in exchange]


def of_score(score: Score) -> dict[str, int]:
    """Return a score as a JSON object."""
    return {"games": score.games, "won": score.won, "drawn": score.drawn, "lost": score.lost}


def of_record(record: Record) -> dict[str, Any]:
    """Return a player's scores and thinking times as a JSON object."""
    return {
        **of_score(record.total),
        "first": of_score(record.first),
        "second": of_score(record.second),
        "thought": record.thought,
        "moves": record.moves,
        "mean_thought": round(record.mean_thought, 3),
    }


def of_standing(standing: Standing) -> dict[str, Any]:
    """Return a player's standing as a JSON object."""
    rating = standing.rating
    return {
        "name": standing.name,
        "kind": standing.kind,
        "house": standing.house,
        "rating": {"mean": rating.mean, "deviation": rating.deviation, "sure": rating.sure},
        **of_record(standing.record),
    }


def of_standings(found: Sequence[Ranked], first_movers: Score) -> dict[str, Any]:
    """Return standings and the score of first movers as a JSON object."""
    rows = [
        {"rank": row.rank, "points": row.standing.record.total.points, **of_standing(row.standing)}
        for row in found
    ]
    return {"standings": rows, "first_movers": of_score(first_movers)}


def of_profile(profile: Profile) -> dict[str, Any]:
    """Return a player's profile as a JSON object."""
    return {
        **of_standing(profile.standing),
        "reasons": {WORDS[reason]: of_record(record) for reason, record in profile.reasons.items()},
        "opponents": [{"name": name, **of_record(record)} for name, record in profile.opponents.items()],
    }
