"""The acts of the operator on a running server: which there are, and what each may be given.

Pure. Shared by those who ask for an act, those who pass it on and the one who carries it out.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

About: TypeAlias = Mapping[str, str]
"""The parameters of an act. None is empty."""
Found: TypeAlias = Mapping[str, Any]
"""What came of an act, as JSON."""

WHO = "who"
"""The one that changes nothing."""
ACTS: Mapping[str, tuple[str, ...]] = {
    WHO: ("who",),
    "kick": ("who",),
    "ban": ("who", "notes"),
    "unban": ("who",),
}
"""The parameters of each."""
NEEDED: Mapping[str, str] = {"kick": "who", "ban": "who", "unban": "who"}
"""The parameter without which an act makes no sense."""


class NotDoneError(Exception):
    """An act is not carried out. Its text says why."""
