"""The operator's acts on a running server, such as kicking a player, and their parameters.

Has only constants and pure functions. Commands, the web process and other nodes request acts; the process
that plays carries them out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from gateway.game.text import is_visible

Parameters: TypeAlias = Mapping[str, str]
"""The parameters of an act, by name. No value is empty."""
Outcome: TypeAlias = Mapping[str, Any]
"""The result of an act, as a JSON object."""

WHO = "who"
"""The act that lists the connected players. No other one of `ACTS` changes nothing."""
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
"""The names of the acts, and for each act the names of its parameters."""
NEEDED: Mapping[str, str] = {"kick": "who", "ban": "who", "unban": "who"}
"""For each act with a required parameter, the name of that parameter."""
TOURNAMENT = "tournament"
"""The act that carries out one of `gateway.tournament.acts`. It is not in `ACTS`. Only the node that is asked
carries it out."""
DIRECTOR = "director"
"""The act that returns what the director of a tournament sees. It is not in `ACTS`, and changes nothing."""
LONGEST_TEXT = 200
"""The maximum length of an announcement, in characters."""
LONGEST_DRAIN = 1_000_000
"""The maximum length of a drain, in seconds."""
DRAIN = 600
"""The default length of a drain, in seconds."""


class NotDoneError(Exception):
    """An act was not carried out. The error text has the reason."""


@dataclass(frozen=True, slots=True)
class Notice:
    """The operator's notice to the players. It is the same on all nodes."""

    text: str = ""
    """The announcement; empty if there is none."""
    paused: bool = False
    """Whether pairing is paused."""
    made: float = 0.0
    """The time at which a node made the notice, by that node's clock. The latest notice is valid."""


def announcement(text: str) -> str:
    """Return the text of an announcement without surrounding space. Raises ValueError if it is not valid."""
    text = text.strip()
    if len(text) > LONGEST_TEXT or not all(map(is_visible, text)):
        raise ValueError(f"an announcement is one line of up to {LONGEST_TEXT} visible characters")
    return text


def seconds_of(text: str) -> int:
    """Parse the seconds of a drain. Raises ValueError."""
    if not (text.isascii() and text.isdecimal()) or not 1 <= int(text[:8]) <= LONGEST_DRAIN:
        raise ValueError(f"the seconds of a drain are a whole number from 1 to {LONGEST_DRAIN}")
    return int(text)
