"""Statistics and evidence as what JSON can say: the one wording for commands and web pages.

Times are milliseconds.
"""

from collections.abc import Sequence
from typing import Any

from gateway.store.comparing import Ranked
from gateway.store.evidence import Exchange
from gateway.store.records import WORDS
from gateway.store.statistics import Profile, Record, Score, Standing
from gateway.store.totals import Rating


def of_exchange(exchange: Exchange | None) -> list[dict[str, Any]] | None:
    """Return one side's exchange; None where none is kept."""
    if exchange is None:
        return None
    return [line._asdict() for line in exchange]


def of_score(score: Score) -> dict[str, int]:
    """Return a score."""
    return {"games": score.games, "won": score.won, "drawn": score.drawn, "lost": score.lost}


def of_record(record: Record) -> dict[str, Any]:
    """Return what a player did in some games."""
    return {
        **of_score(record.total),
        "first": of_score(record.first),
        "second": of_score(record.second),
        "thought": record.thought,
        "moves": record.moves,
        "mean_thought": round(record.mean_thought, 3),
    }


def of_rating(rating: Rating) -> dict[str, float]:
    """Return a rating."""
    return {"mean": rating.mean, "deviation": rating.deviation, "sure": rating.sure}


def of_standing(standing: Standing) -> dict[str, Any]:
    """Return where a player stands."""
    return {
        "name": standing.name,
        "kind": standing.kind,
        "house": standing.house,
        "rating": of_rating(standing.rating),
        **of_record(standing.record),
    }


def of_standings(found: Sequence[Ranked], first_movers: Score) -> dict[str, Any]:
    """Return standings, and how first movers did."""
    rows = [
        {"rank": row.rank, "points": row.standing.record.total.points, **of_standing(row.standing)}
        for row in found
    ]
    return {"standings": rows, "first_movers": of_score(first_movers)}


def of_profile(profile: Profile) -> dict[str, Any]:
    """Return all of one player."""
    return {
        **of_standing(profile.standing),
        "reasons": {WORDS[reason]: of_record(record) for reason, record in profile.reasons.items()},
        "opponents": [{"name": name, **of_record(record)} for name, record in profile.opponents.items()],
    }
