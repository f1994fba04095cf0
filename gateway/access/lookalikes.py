"""Names that look like others, by Unicode's technical standard 39, as with ``m`` and ``rn``.

Knows the standard's table of confusable characters, which it takes from the package `confusable_homoglyphs`:
from its file, for its module keeps 27,000 objects that the garbage collector would look through. The rule it
keeps: a look at a name takes microseconds, for others wait for their moves meanwhile.
"""

import json
import unicodedata
from collections.abc import Mapping
from functools import cache, lru_cache

from gateway.game.commands import LONGEST_NAME, folded, plain

_MARK = "\u200e"
"""What stands around what is written from right to left in that file."""


class Lookalikes:
    """Finds names that look like one of those that were added."""

    def __init__(self) -> None:
        self._looks: dict[str, str] = {}
        """The added names, by what they look like."""
        load()  # now, as names may be added while games are on

    def add(self, name: str) -> None:
        """Add a name. It looks the same in upper case, too: case makes no difference where it is compared."""
        spelled = plain(name)
        looks = (*map(_skeleton, (spelled, folded(name), spelled.upper())), _in_any_case(spelled))
        self._looks |= dict.fromkeys(looks, name)

    def like(self, name: str, key: str) -> str | None:
        """Return an added name that `name`, which folded is `key`, looks like; None for any other.

        A name longer than `LONGEST_NAME` once its signs are written out looks like none.
        """
        if not self._looks or len(key) > LONGEST_NAME:
            return None
        spelled = plain(name)
        looks = (*map(_skeleton, (key, spelled, name)), _in_any_case(spelled), _in_any_case(name))
        return next((self._looks[look] for look in looks if look in self._looks), None)

    def let_go(self) -> None:
        """Forget all names. A thread that does it lets others run between any two."""
        while self._looks:
            self._looks.popitem()


@lru_cache(1000)  # players come back for each game
def looks_of(name: str) -> frozenset[str]:
    """Return what `name` looks like as it is, and whatever its case; nothing for one too long written out."""
    if len(unicodedata.normalize("NFKC", name)) > LONGEST_NAME:
        return frozenset()
    spelled = plain(name)
    return frozenset((_skeleton(spelled), _in_any_case(spelled)))


def load() -> None:
    """Read the table, which takes 50 ms, before the first name is looked at."""
    _prototypes()


def _skeleton(text: str) -> str:
    """Return what `text` has in common with all that look like it (TS 39, 4: skeleton)."""
    decomposed = unicodedata.normalize("NFD", text)
    return unicodedata.normalize("NFD", decomposed.translate(_prototypes()))


def _in_any_case(text: str) -> str:
    """Return what a text looks like whatever the case of its letters, those of other scripts included.

    Here the ASCII letters stand for themselves: of these, small and capital ones look like different others.
    """
    latin = "".join(each if each.isascii() and each.isalpha() else _skeleton(each) for each in text)
    return _skeleton(latin.casefold())


@cache
def _prototypes() -> Mapping[int, str]:
    """Return the sign, or signs, that stand for each character that looks like others.

    The file has each pair of the table both ways. A sign that stands for others has many; between two that
    have only each other the shorter code is as good as any.
    """
    from importlib.resources import files  # noqa: PLC0415  takes time, and not every command compares names

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
