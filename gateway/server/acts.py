"""The acts of the operator on a running server: which there are, and what each may be given.

Pure. Shared by those who ask for an act, those who pass it on and the one who carries it out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from gateway.game.text import is_visible

Parameters: TypeAlias = Mapping[str, str]
"""The parameters of an act. None is empty."""
Outcome: TypeAlias = Mapping[str, Any]
"""What came of an act, as JSON."""

WHO = "who"
"""The one that changes nothing."""
ACTS: Mapping[str, tuple[str, ...]] = {
    WHO: ("who",),
    "kick": ("who",),
    "ban": ("who", "notes"),
    "unban": ("who",),
    "announce": ("text",),
    "pause": (),
    "resume": (),
    "drain": ("seconds",),
}
"""The parameters of each."""
NEEDED: Mapping[str, str] = {"kick": "who", "ban": "who", "unban": "who"}
"""The parameter without which an act makes no sense."""
LONGEST_TEXT = 200
"""Characters of an announcement."""
LONGEST_DRAIN = 1_000_000
DRAIN = 600
"""Seconds for which games may go on, unless something else is asked for."""


class NotDoneError(Exception):
    """An act is not carried out. Its text says why."""


@dataclass(frozen=True, slots=True)
class Notice:
    """What everybody who looks at the page is told of the server; the same on all nodes."""

    text: str = ""
    """The announcement; empty for none."""
    paused: bool = False
    """Whether nobody is paired."""
    made: float = 0.0
    """When it was, by the clock of the node that made it; the latest counts."""


def announcement(text: str) -> str:
    """Return a text as it is announced. Raises ValueError where it cannot be."""
    text = text.strip()
    if len(text) > LONGEST_TEXT or not all(map(is_visible, text)):
        raise ValueError(f"an announcement is one line of up to {LONGEST_TEXT} visible characters")
    return text


def seconds_of(text: str) -> int:
    """Return for how many seconds a drain is to last. Raises ValueError."""
    if not (text.isascii() and text.isdecimal()) or not 1 <= int(text[:8]) <= LONGEST_DRAIN:
        raise ValueError(f"the seconds of a drain are a whole number from 1 to {LONGEST_DRAIN}")
    return int(text)
