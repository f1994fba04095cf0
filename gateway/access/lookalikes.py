"""Finding names that look alike, such as ``com`` and ``corn``, by Unicode Technical Standard 39.

Knows the standard's table of confusable characters, from the package `confusable_homoglyphs`. A comparison
runs in the event loop during games, so it must not take longer than microseconds.
"""

import json
import unicodedata
from collections.abc import Mapping
from functools import cache, lru_cache

from gateway.game.commands import LONGEST_NAME, folded, plain

_MARK = "\u200e"
"""The left-to-right mark, which surrounds right-to-left characters in the package's file."""


class Lookalikes:
    """A collection of names, which finds the name that a given name looks like."""

    def __init__(self) -> None:
        self._looks: dict[str, str] = {}
        """The added names, by each of their skeletons."""
        load()  # now, so that it does not delay games when a name is added

    def add(self, name: str) -> None:
        """Add a name. Its upper case is added, too, since names are compared without regard to case."""
        spelled = plain(name)
        looks = (*map(_skeleton, (spelled, folded(name), spelled.upper())), _in_any_case(spelled))
        self._looks |= dict.fromkeys(looks, name)

    def like(self, name: str, key: str) -> str | None:
        """Return the added name that `name` looks like, None if there is none. `key` is `name` folded.

        Returns None if `key` is longer than `LONGEST_NAME`.
        """
        if not self._looks or len(key) > LONGEST_NAME:
            return None
        spelled = plain(name)
        looks = (*map(_skeleton, (key, spelled, name)), _in_any_case(spelled), _in_any_case(name))
        return next((self._looks[look] for look in looks if look in self._looks), None)

    def clear(self) -> None:
        """Remove all names, one at a time, so that other threads can run meanwhile."""
        while self._looks:
            self._looks.popitem()


@lru_cache(1000)  # players come back for each game
def looks_of(name: str) -> frozenset[str]:
    """Return the skeletons of `name`, as spelled and without case; none if its NFKC form is too long."""
    if len(unicodedata.normalize("NFKC", name)) > LONGEST_NAME:
        return frozenset()
    spelled = plain(name)
    return frozenset((_skeleton(spelled), _in_any_case(spelled)))


def load() -> None:
    """Read the table now. It takes 50 ms, so do it before the first comparison."""
    _prototypes()


def _skeleton(text: str) -> str:
    """Return the skeleton of `text`, the same for all texts that look alike (UTS 39, section 4)."""
    decomposed = unicodedata.normalize("NFD", text)
    return unicodedata.normalize("NFD", decomposed.translate(_prototypes()))


def _in_any_case(text: str) -> str:
    """Return the skeleton of a text without regard to case, in all scripts.

    ASCII letters are folded without the table. In the table, a small letter and its capital letter have
    different look-alikes.
    """
    latin = "".join(each if each.isascii() and each.isalpha() else _skeleton(each) for each in text)
    return _skeleton(latin.casefold())


@cache
def _prototypes() -> Mapping[int, str]:
    """Return the prototype, one or more characters, of each confusable character.

    The file has each pair of characters in both directions. A character with several look-alikes is their
    prototype. If two characters look only like each other, the one with the lower code is the prototype.
    """
    from importlib.resources import files  # noqa: PLC0415  takes time, and not every command compares names

    # The package's own module would keep 27,000 objects for the garbage collector to traverse.
    text = files("confusable_homoglyphs").joinpath("confusables.json").read_text(encoding="utf-8")
    alike = {
        sign.replace(_MARK, ""): [each["c"].replace(_MARK, "") for each in others]
        for sign, others in json.loads(text).items()
    }
    return {
        ord(sign): others[0]
        for sign, others in alike.items()
        if len(sign) == len(others) == 1
        and (len(alike[others[0]]) > 1 or len(others[0]) > 1 or others[0] < sign)
    }
