"""Which known names somebody may have meant who typed another one. Pure."""

from collections.abc import Iterable
from difflib import get_close_matches

from gateway.game.text import quoted

COMPARED = 5_000
"""Names that are compared letter by letter, the first of all: 30 ms. Case is looked at in all."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ``; did you mean 'robot'?`` with up to three of the known names; nothing if none is similar."""
    names = [*known]
    found = [each for each in names if each.casefold() == name.casefold()][:3]
    if not found:
        spelled = {each.casefold(): each for each in reversed(names[:COMPARED])}
        found = [spelled[each] for each in get_close_matches(name.casefold(), spelled)]
    return f"; did you mean {' or '.join(map(quoted, found))}?" if found else ""
