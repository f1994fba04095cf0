"""Games as text, one module for each format.

`write` makes an iterator of pieces of text, each whole lines, out of an iterator of games; it holds one game
at most. No format writes a character that nobody sees.
"""

import re
from collections.abc import Callable, Iterable, Iterator

from gateway.store.formats import jsonl, pgn, sheet
from gateway.store.records import GameRecord

ONLY_OUT = re.compile(
    rb'(?P<csv>(\xef\xbb\xbf)?"?id"?[,;\t]"?began)|(?P<pgn>\[Event ")|(?P<arena>[0-2][0-6]*\s*$)'
)
"""How an export begins that cannot be read back."""


def arena_lines(games: Iterable[GameRecord]) -> Iterator[str]:
    """Yield c4-arena's own record of each game: the digit of its result, and the columns."""
    return (f"{game.result}{game.moves}\n" for game in games)


FORMATS: dict[str, Callable[[Iterable[GameRecord]], Iterator[str]]] = {
    "csv": sheet.write,
    "jsonl": jsonl.write,
    "pgn": pgn.write,
    "arena": arena_lines,
}
