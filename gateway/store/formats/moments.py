"""Points in time as people and programs write them: ISO 8601, UTC, to the millisecond."""

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def moment(at: int) -> str:
    """Return ``2026-11-21T12:00:00.250Z`` for milliseconds of Unix time. Raises OverflowError after 9999."""
    return f"{(_EPOCH + at * _MILLISECOND).replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"


def from_moment(text: str) -> int:
    """Undo `moment`; a day will do, and any precision; UTC where it does not say. Raises ValueError."""
    found = datetime.fromisoformat(text)
    return ((found if found.tzinfo else found.replace(tzinfo=UTC)) - _EPOCH) // _MILLISECOND
